"""What is measured next: the expected loss falls, what cannot win is left out, and replays end near the best."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dashboard.benchmarks.adaptive.choosing import BEGIN, Step, apart, beginning, first_columns, first_rows, following
from dashboard.benchmarks.adaptive.expected import GROWN, Known, standard_error
from dashboard.benchmarks.adaptive.replay import Replay, within
from tests.cubes import cube_of

COMM_SIZES, MESSAGE_SIZES = np.arange(2, 13), 4 * 2 ** np.arange(12)


def truth() -> np.ndarray:
    """Seconds of three methods: the first is best for small messages, the second for large, the third never."""
    latency = np.log2(COMM_SIZES)[:, None]
    size = MESSAGE_SIZES[None, :]
    first = 1e-6 * (3 * latency + size * latency / 512)
    second = 1e-6 * (9 * latency + size / 400)
    return np.array([first, second, 20 * np.maximum(first, second)])


def nothing(methods: int = 3, incumbent: int | None = None) -> Known:
    empty = np.full((methods, COMM_SIZES.size, MESSAGE_SIZES.size), np.nan)
    able = np.ones(empty.shape, dtype=np.bool_)
    return Known(COMM_SIZES, MESSAGE_SIZES, empty, empty, able, able[0].astype(float), incumbent)


def measured(known: Known, step: Step, times: np.ndarray) -> Known:
    logs, errors = known.logs.copy(), known.errors.copy()
    for column, methods in step.cells:
        for method in methods:
            logs[method, step.row, column] = math.log(times[method, step.row, column])
            errors[method, step.row, column] = 0.01
    return replace(known, logs=logs, errors=errors)


def cost(_name: str, row: int, column: int) -> float:
    return float(truth()[:2, row, column].mean() * 30)


def begun(known: Known, times: np.ndarray) -> Known:
    while (step := next(beginning({"bcast": known}, cost), None)) is not None:
        known = measured(known, step, times)
    return known


def test_the_first_lines_hold_all_ends_of_what_can_be_measured() -> None:
    known = nothing()
    assert first_rows(known) == [COMM_SIZES.size - 1, 0]
    columns = first_columns(known, 0)
    assert (columns[0], columns[-1]) == (0, MESSAGE_SIZES.size - 1)
    able = known.able.copy()
    able[:, -1] = able[:, :, :2] = False
    known = replace(known, able=able)
    assert first_rows(known) == [COMM_SIZES.size - 2, 0]
    assert first_columns(known, 0)[0] == 2
    assert next(beginning({"bcast": known}, cost)).row == COMM_SIZES.size - 2
    assert list(beginning({}, cost)) == []


def test_where_choosing_is_to_be_quick_bands_are_worked_out_again_as_points_become_many() -> None:
    times = truth()
    known = begun(nothing(), times)
    known.calibration.quick = True
    assert known.loss.any()
    points = known.calibration.points
    assert points == known.measured.sum()
    while known.measured.sum() < GROWN * points:
        assert known.mean_loss >= 0
        assert known.calibration.points == points
        known = measured(known, following({"bcast": known}, cost)[0], times)
    assert known.mean_loss >= 0
    assert known.calibration.points == known.measured.sum() > points
    known.calibration.quick = False
    known = measured(known, following({"bcast": known}, cost)[0], times)
    assert known.mean_loss >= 0
    assert known.calibration.points == known.measured.sum()


def test_steps_apart_share_neither_sizes_nor_neighbours_of_one_collective() -> None:
    def step(collective: str, row: int, column: int) -> Step:
        return Step(collective, row, ((column, (0, 1)),), 1.0, 1.0)

    first = step("bcast", 2, 5)
    near = [step("bcast", 2, 6), step("bcast", 3, 4), step("bcast", 1, 5)]
    far = [step("bcast", 2, 9), step("bcast", 5, 5), step("reduce", 2, 5)]
    assert list(apart([first, *near, *far])) == [first, *far]


def test_longest_messages_that_take_most_of_a_campaign_are_left_for_later() -> None:
    def steep(_name: str, row: int, column: int) -> float:
        return float(4.0**column * (row + 1))

    steps = list(beginning({"bcast": nothing()}, steep))
    columns = {column for step in steps for column, _ in step.cells}
    every = 3 * sum(steep("", row, column) for row in range(COMM_SIZES.size) for column in range(MESSAGE_SIZES.size))
    assert 0 in columns
    assert 1 < max(columns) < MESSAGE_SIZES.size - 1
    assert sum(step.seconds for step in steps) <= BEGIN * every
    # What they cost is the reason: where all sizes cost alike the longest are among the first.
    alike = list(beginning({"bcast": nothing()}, lambda *_: 1.0))
    assert max(column for step in alike for column, _ in step.cells) == MESSAGE_SIZES.size - 1


def test_short_messages_of_further_communicators_do_not_wait_for_long_ones() -> None:
    known = begun(nothing(), truth())
    # A point costs as much as its message is long.
    first = following({"bcast": known}, lambda _, row, column: 1e-6 * float(MESSAGE_SIZES[column] + 1))[0]
    assert not known.cells[first.row].any()
    assert max(column for column, _ in first.cells) < MESSAGE_SIZES.size // 2


def test_a_method_that_turns_out_to_be_a_rival_later_is_measured_where_others_were() -> None:
    times = truth()
    times[2] = times[:2].min(axis=0) * np.random.default_rng(1).lognormal(0, 0.2, times[2].shape)
    logs = np.log(times)
    logs[2, 4] = np.nan
    known = replace(nothing(), logs=logs, errors=np.full(logs.shape, 0.01))
    steps = following({"bcast": known}, cost)
    assert {(step.row, methods) for step in steps for _, methods in step.cells} == {(4, (2,))}


def test_what_cannot_be_the_best_is_left_out_as_soon_as_that_is_known() -> None:
    times = truth()
    known = begun(nothing(), times)
    first = int(known.measured[2].sum())
    while steps := following({"bcast": known}, cost):
        known = measured(known, steps[0], times)
    further = known.measured.sum(axis=(1, 2)) - first
    assert further[2] < 0.25 * further[:2].min()


def test_the_librarys_own_decision_is_measured_wherever_anything_is() -> None:
    known = begun(nothing(incumbent=2), truth())
    steps = following({"bcast": known}, cost)
    assert all(2 in methods for step in steps for _, methods in step.cells)


def test_sizes_where_two_methods_cross_come_before_those_where_one_wins_by_far() -> None:
    times = truth()
    times[1] *= np.where(COMM_SIZES[:, None] > 6, 30.0, 1.0)
    known = begun(nothing(), times)
    loss = known.loss[~known.cells.any(axis=1)]
    rows = COMM_SIZES[~known.cells.any(axis=1)]
    assert loss[rows <= 5].mean() > 3 * loss[rows >= 8].mean()
    assert COMM_SIZES[following({"bcast": known}, lambda *_: 1.0)[0].row] <= 6


def test_a_replay_comes_near_the_best_with_a_part_of_the_points() -> None:
    times = truth()
    known = begun(nothing(), times)
    points = int(known.measured.sum())
    before = known.mean_loss
    while points < 0.4 * times.size and (steps := following({"bcast": known}, cost)):
        known, points = measured(known, steps[0], times), points + steps[0].points
    decided = known.predicted[0].argmin(axis=0)
    took = np.take_along_axis(times, decided[None], axis=0)[0]
    assert (took / times.min(axis=0) - 1).mean() < 0.01
    assert known.mean_loss < before


@pytest.mark.slow
@pytest.mark.parametrize("most", [0.02, 0.04])
def test_a_replay_spends_what_it_may_and_no_more(most: float) -> None:
    noise = np.random.default_rng(1).lognormal(0, 0.3, truth().shape)
    *_, end = Replay(cube_of(truth() * noise, COMM_SIZES, MESSAGE_SIZES)).course(within(most))
    assert most / 2 < end.share <= most


def test_it_ends_where_the_expected_loss_is_low_enough() -> None:
    known = begun(nothing(), truth())
    assert following({"bcast": known}, cost, percent=known.mean_loss / 2)
    assert following({"bcast": known}, cost, percent=known.mean_loss) == []


@pytest.mark.parametrize("repetitions", [5, 9, 101])
def test_the_error_of_a_time_is_that_of_medians_of_as_many_repetitions(repetitions: int) -> None:
    samples = np.exp(0.1 * np.random.default_rng(1).standard_normal((4000, repetitions)))
    assert standard_error(samples).mean() == pytest.approx(np.log(np.median(samples, axis=1)).std(), rel=0.08)


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0])
def test_the_expected_loss_is_that_of_draws(spread: float) -> None:
    known = nothing(2)
    logs = np.log(truth()[:2])
    known = replace(known, logs=logs, errors=np.full(logs.shape, spread))
    random = np.random.default_rng(5)
    drawn = logs + spread * random.standard_normal((4000, *logs.shape))
    decided = logs.argmin(axis=0)
    took = np.where(decided == 0, drawn[:, 0], drawn[:, 1])
    # What nobody would meet counts as five times the fastest.
    wanted = 100 * np.minimum(np.expm1(took - drawn.min(axis=1)), 5 - 1).mean()
    assert known.mean_loss == pytest.approx(wanted, rel=0.15, abs=0.05)


def test_what_was_measured_elsewhere_changes_as_the_others_do_and_is_no_choice_yet() -> None:
    known, times = nothing(methods=2), truth()[:2]
    # The first at all sizes of two processes, the second at a short message only, where it takes a third as long.
    logs, errors = known.logs.copy(), known.errors.copy()
    logs[0, 0], errors[0, 0] = np.log(times[0, 0]), 0.01
    logs[1, 0, 2], errors[1, 0, 2] = logs[0, 0, 2] - math.log(3), 0.01
    known = replace(known, logs=logs, errors=errors)
    assert np.exp(known.predicted[0][1, 0]) == pytest.approx(times[0, 0] / 3)
    # So what is decided now, the first, loses most of its time there, and the second is measured next.
    assert (known.loss[0, 3:] > 100).all()
    step = following({"bcast": known}, lambda *_: 1.0)[0]
    assert step.row == 0
    assert step.cells[0][1] == (1,)
