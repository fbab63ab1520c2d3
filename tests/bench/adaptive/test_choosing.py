"""What is measured next: the expected loss falls, what cannot win is left out, and replays end near the best."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dashboard.benchmarks.adaptive.choosing import Step, beginning, first_columns, first_rows, following
from dashboard.benchmarks.adaptive.expected import Known

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


def test_the_first_lines_hold_both_ends_and_a_size_that_is_no_power_of_two() -> None:
    rows = [int(COMM_SIZES[place]) for place in first_rows(COMM_SIZES)]
    assert {2, 12} <= set(rows)
    assert any(size & (size - 1) for size in rows)
    assert rows == sorted(rows, reverse=True)
    columns = first_columns(MESSAGE_SIZES)
    assert columns[0] == 0
    assert columns[-1] == MESSAGE_SIZES.size - 1
    assert first_rows(np.array([4])) == first_columns(np.array([0])) == [0]


def test_what_cannot_be_the_best_is_not_measured_after_the_first_lines() -> None:
    known = begun(nothing(), truth())
    steps = following({"bcast": known}, cost)
    assert steps
    assert 2 not in {method for step in steps for _, methods in step.cells for method in methods}


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


def test_it_ends_where_the_expected_loss_is_low_enough() -> None:
    known = begun(nothing(), truth())
    assert following({"bcast": known}, cost, percent=known.mean_loss / 2)
    assert following({"bcast": known}, cost, percent=known.mean_loss) == []


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_the_expected_loss_is_that_of_draws(spread: float) -> None:
    known = nothing(2)
    logs = np.log(truth()[:2])
    known = replace(known, logs=logs, errors=np.full(logs.shape, spread))
    random = np.random.default_rng(5)
    drawn = logs + spread * random.standard_normal((4000, *logs.shape))
    decided = logs.argmin(axis=0)
    took = np.where(decided == 0, drawn[:, 0], drawn[:, 1])
    wanted = 100 * np.expm1(took - drawn.min(axis=1)).mean()
    assert known.mean_loss == pytest.approx(wanted, rel=0.15, abs=0.05)
