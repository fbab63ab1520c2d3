"""Surfaces: what is predicted between measured sizes, and how sure that is."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions.measured.map import select_ppn
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces import PREDICTORS, Surfaces, folding_of
from dashboard.decisions.surfaces.family import recommended
from dashboard.decisions.surfaces.judged import Judged
from dashboard.decisions.surfaces.lines import KINDS, between, limited_to, openness, weighed
from dashboard.decisions.surfaces.surface import UNTOLD, effective_number
from loaders import open_results

COMM = np.array([2, 3, 4, 6, 7, 8, 12, 16, 20, 32])
MESSAGE = np.array([0, 1, 8, 64, 1024, 4096, 65536])


def powers(exponents: tuple[float, float]) -> np.ndarray:
    """Times that grow as powers of both sizes, of one method."""
    p, m = exponents
    return 1e-6 * COMM[:, None] ** p * np.maximum(MESSAGE, 0.5)[None, :] ** m


@given(st.floats(0, 2), st.floats(0, 1))
def test_times_that_grow_as_powers_of_the_sizes_are_predicted_exactly(p: float, m: float) -> None:
    wanted = np.array([5, 9, 24, 64]), np.array([2, 100, 500, 10**6])
    predicted = Surfaces(powers((p, m))[None], COMM, MESSAGE).at(*wanted)
    exact = 1e-6 * wanted[0][:, None] ** p * wanted[1][None, :].astype(float) ** m
    assert np.allclose(np.exp(predicted.log_time[0]), exact, rtol=1e-9)


def test_beyond_the_longest_messages_bytes_decide_at_most() -> None:
    """The last two sizes lie astride of a step, or the longer one took less: neither goes on for ever."""
    times = np.repeat(powers((1.0, 0.5))[None], 2, axis=0)
    times[:, :, -1] = times[:, :, -2] * np.array([40.0, 0.5])[:, None]
    beyond = Surfaces(times, COMM, MESSAGE).at(COMM, MESSAGE[-1] * np.array([2, 8])).log_time
    assert np.allclose(np.exp(beyond), times[:, :, -1:] * np.array([[2, 8], [1, 1]])[:, None])


def test_sizes_of_as_many_bytes_in_all_tell_where_nothing_else_does() -> None:
    """Up to 1 KiB in all: of 64 B at 16 processes the sizes beside tell nothing, but 128 B at 8 and 32 B at 32 do."""
    comm, message = np.array([8, 32, 128]), np.array([8, 32, 128])
    in_all = np.outer(comm, message)
    times = np.stack([1e-9 * in_all * comm[:, None] ** 0.5, 1e-9 * in_all])
    times[:, in_all > 1024] = np.nan
    times[1, -1] = np.nan
    plain, by_totals = (Surfaces(times, comm, message, totals=totals) for totals in (False, True))
    wanted = np.array([4, 16, 20, 64]), np.array([10, 16, 48, 64])
    before, logs = (surfaces.at(*wanted).log_time for surfaces in (plain, by_totals))
    told = np.isnan(before) & np.isfinite(logs)
    # Of 640 B in all at 64 processes no smaller messages were measured at 128, and of 1,280 B in all none at all.
    assert told[0].tolist() == [[False] * 4, [False, False, True, True], [False, False, True, False], [0, 1, 0, 0]]
    assert told[1].tolist() == [*told[0].tolist()[:3], [False] * 4]
    exact = 1e-9 * np.outer(*wanted) * np.stack([wanted[0][:, None] ** 0.5 * np.ones(4), np.ones((4, 4))])
    assert np.exp(logs[told]) == pytest.approx(exact[told])
    assert np.array_equal(logs[~told], before[~told], equal_nan=True)


@given(st.integers(0, 4))
def test_at_measured_sizes_plain_surfaces_are_the_measurements(seed: int) -> None:
    times = np.random.default_rng(seed).lognormal(size=(3, COMM.size, MESSAGE.size))
    predicted = Surfaces(times, COMM, MESSAGE).at(COMM, MESSAGE)
    assert np.allclose(np.exp(predicted.log_time), times)


def test_a_method_that_is_slower_off_powers_of_two_has_two_curves() -> None:
    slow = np.where(COMM & (COMM - 1), 3.0, 1.0)[:, None] * powers((1.0, 0.5))
    even = np.where(COMM % 2, 3.0, 1.0)[:, None] * powers((1.0, 0.5))
    surfaces = Surfaces(np.stack([slow, even, powers((1.0, 0.5))]), COMM, MESSAGE)
    assert surfaces.kinds == ["power_of_two", "even", "all"]
    at_ten = np.exp(surfaces.at(np.array([10]), MESSAGE).log_time[:, 0])
    assert np.allclose(at_ten[0], 30e-6 * np.maximum(MESSAGE, 0.5) ** 0.5)
    assert np.allclose(at_ten[1], 10e-6 * np.maximum(MESSAGE, 0.5) ** 0.5)


def test_nothing_is_known_where_a_method_does_not_run() -> None:
    only_powers, short, late = (powers((1.0, 0.5)) for _ in range(3))
    only_powers[(COMM & (COMM - 1)) != 0] = np.nan
    short[:, MESSAGE > 1024] = np.nan
    late[COMM < 6] = np.nan
    surfaces = Surfaces(np.stack([only_powers, short, late, powers((1.0, 0.5))]), COMM, MESSAGE)
    logs = surfaces.at(np.array([4, 5, 10]), np.array([512, 2048])).log_time
    assert np.isfinite(logs).tolist() == [
        [[True, True], [False, False], [False, False]],
        [[True, False], [True, False], [True, False]],
        [[False, False], [False, False], [True, True]],
        [[True, True], [True, True], [True, True]],
    ]


@pytest.mark.parametrize(
    ("everywhere", "incumbent", "limits"),
    [(3, None, [1, 1, -1, -1, -1]), (2, None, [-1] * 5), (3, 1, [1, -1, -1, -1, -1]), (5, None, [-1] * 5)],
)
def test_what_most_methods_lack_was_not_asked_of_them(
    everywhere: int, incumbent: int | None, limits: list[int]
) -> None:
    """Methods that were measured at even communicator sizes alone, and at the end some at odd ones, too."""
    sizes, measured = np.array([2, 4, 6, 7, 9]), np.ones((5, 5, 3), dtype=np.bool_)
    measured[: 5 - everywhere, 3:] = False
    assert limited_to(measured, sizes, incumbent).tolist() == [[-1] * 5, limits]


def test_methods_of_odd_sizes_alone_run_at_no_even_ones() -> None:
    measured = np.ones((5, 5, 3), dtype=np.bool_)
    measured[:2, :3] = False
    assert limited_to(measured, np.array([2, 4, 6, 7, 9])).tolist() == [[0, 0, -1, -1, -1]] * 2


def test_a_gap_inside_a_method_is_filled_from_its_neighbours() -> None:
    times = powers((1.0, 0.5))
    times[4, 3] = np.nan
    predicted = Surfaces(times[None], COMM, MESSAGE).at(COMM, MESSAGE)
    assert np.allclose(np.exp(predicted.log_time[0]), powers((1.0, 0.5)))


@given(st.sets(st.integers(0, 4096), min_size=1, max_size=8), st.sets(st.integers(0, 9999), min_size=1, max_size=8))
def test_weights_of_known_sizes_sum_to_one(known: set[int], wanted: set[int]) -> None:
    sizes, asked = np.array(sorted(known)), np.array(sorted(wanted))
    assert np.allclose(between(sizes, asked).sum(axis=1), 1.0)
    assert (openness(sizes, sizes) == 0).all()


@pytest.mark.parametrize(
    ("known", "wanted", "weights"),
    [
        ([2, 3, 5, 6], 4, [0, 1 - np.log(4 / 3) / np.log(5 / 3), np.log(4 / 3) / np.log(5 / 3), 0]),
        ([2, 3, 5, 6], 2, [1, 0, 0, 0]),
        ([2, 4, 5, 6], 8, [-1, 2, 0, 0]),
    ],
)
def test_a_size_lies_on_the_curve_of_its_kind_where_two_sizes_tell_it(
    known: list[int], wanted: int, weights: list[float]
) -> None:
    assert between(np.array(known), np.array([wanted]), "power_of_two")[0] == pytest.approx(weights)


def test_sizes_are_as_open_as_they_are_far_from_measured_ones() -> None:
    """Halfway between two, or a gap beyond the last; of a single size all others are as far."""
    assert openness(np.array([2, 8]), np.array([1, 2, 4, 8, 16, 32])) == pytest.approx([0.5, 0, 1, 0, 0.5, 1])
    assert openness(np.array([2]), np.array([2, 4, 64])).tolist() == [0, 1, 1]


def coverage(cube: xr.Dataset) -> float:
    """Share of the times of left-out lines inside that lie in the bands; every fifth line is left out."""
    times = cube["time"].transpose("method", "comm_size", "message_size").values
    sizes = cube["comm_size"].values, cube["message_size"].values
    held = []
    for axis in (0, 1):
        lines = np.arange(sizes[axis].size)
        for first in range(min(5, lines.size - 2)):
            out = lines[1:-1][first::5]
            kept = np.setdiff1d(lines, out)
            learn, judge = [sizes[0], sizes[1]], [sizes[0], sizes[1]]
            learn[axis], judge[axis] = sizes[axis][kept], sizes[axis][out]
            predicted = Surfaces(np.take(times, kept, axis=1 + axis), *learn).at(*judge)
            off = np.abs(np.log(np.take(times, out, axis=1 + axis)) - predicted.log_time)
            held.append((off <= predicted.half_width)[np.isfinite(off)])
    return float(np.concatenate(held).mean())


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allreduce", "allgather", "alltoall"])
def test_nine_in_ten_left_out_times_lie_in_the_bands(collective: str, fast_ethernet: xr.DataTree) -> None:
    assert 0.85 <= coverage(fast_ethernet[collective].to_dataset()) <= 0.95


@pytest.mark.parametrize(
    ("system", "collective"), [("fugaku", "allreduce"), ("fugaku", "reduce_scatter"), ("mare_nostrum", "allreduce")]
)
def test_also_where_most_is_missing(shared: Path, system: str, collective: str) -> None:
    results = open_results(shared / "data" / "pico" / "pico_consolidated.csv", system=system)
    assert 0.85 <= coverage(select_ppn(results[collective].to_dataset())[0]) <= 0.95


def test_bands_are_as_wide_as_left_out_lines_need() -> None:
    """Smooth curves with a scatter of ten percent, and the same without: the bands follow."""
    sizes = np.arange(2, 14), 2 ** np.arange(12)
    smooth = 1e-6 * (1 + np.outer(np.log(sizes[0]), sizes[1] / 64.0))[None]
    scatter = np.exp(0.1 * np.random.default_rng(1).standard_normal((8, 12, 12)))
    wanted = sizes[0], 3 * 2 ** np.arange(10)
    narrow, wide = (Surfaces(np.repeat(smooth, 8, axis=0) * each, *sizes).at(*wanted) for each in (1.0, scatter))
    assert np.median(wide.half_width) > 0.1 > np.median(narrow.half_width)
    few = Surfaces(smooth[:, :3, :3], sizes[0][:3], sizes[1][:3])
    assert few.factors == (UNTOLD, UNTOLD)


def test_bands_hold_where_the_times_of_a_communicator_size_are_off_together() -> None:
    """Each communicator size is off by a factor of its own, as where it has another placement."""
    sizes = np.arange(2, 16), 2 ** np.arange(12)
    smooth = 1e-6 * (1 + np.outer(np.log(sizes[0]), sizes[1] / 64.0))
    held = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        times = smooth * np.exp(random.normal(0, 0.2, (1, 14, 1)) + random.normal(0, 0.03, (2, 14, 12)))
        out = np.arange(1, 13)[seed % 5 :: 5]
        kept = np.setdiff1d(np.arange(14), out)
        predicted = Surfaces(times[:, kept], sizes[0][kept], sizes[1]).at(sizes[0][out], sizes[1])
        held.append(np.abs(np.log(times[:, out]) - predicted.log_time) <= predicted.half_width)
    assert 0.88 <= np.mean(np.concatenate(held, axis=None)) <= 0.92


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=9))
def test_answers_that_go_together_in_each_line_count_as_that_many_lines(lines: list[list[bool]]) -> None:
    together = [np.full(4, line[0]) for line in lines]
    same = np.unique([line[0] for line in lines]).size == 1
    assert effective_number(together) == pytest.approx(4 * len(lines) if same else len(lines))
    assert 1 <= effective_number([np.array(line) for line in lines]) <= 4 * len(lines)


def test_predictors_are_told_apart() -> None:
    assert len({predictor.name for predictor in PREDICTORS}) == len(PREDICTORS)


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("known", [[7], [2, 9], [2, 3, 4, 8, 12, 16]])
def test_values_are_weighed_as_by_a_product(known: list[int], leave_out: bool) -> None:
    sizes = np.array(known)
    wanted = sizes if leave_out else np.arange(1, 20)
    for kind in KINDS:
        weights = between(sizes, wanted, kind, leave_out=leave_out)
        values = np.random.default_rng(1).normal(size=(3, sizes.size, 4))
        assert weighed(weights, values, 1) == pytest.approx(weights @ values)
        assert weighed(weights, values.swapaxes(1, 2), 2) == pytest.approx((weights @ values).swapaxes(1, 2))


@pytest.mark.parametrize(
    ("mean", "error", "words"),
    [
        (1.94, 0.31, "1.9 % ± 0.3"),
        (35.2, 17.4, "35 % ± 17"),
        (417.0, 398.2, "417 % ± 398"),
        (0.5, 0.0, "0.50 % ± 0.00"),
    ],
)
def test_a_mean_has_as_many_places_as_its_error_deserves(mean: float, error: float, words: str) -> None:
    assert Judged("by kind", mean, error).words() == f"by kind: {words}"


def test_off_powers_of_two_that_alone_were_measured_methods_that_fold_take_two_exchanges_more() -> None:
    """An exchange of 10 µs each step: of six processes two give theirs to others first, and get the result back."""
    steps = np.array([1.0, 2.0, 3.0])
    times = 1e-5 * np.stack([steps, steps])[:, :, None] * np.ones(2)
    sizes = np.array([2, 4, 8]), np.array([64, 128])
    surfaces = Surfaces(times, *sizes, folding=folding_of("allreduce", ["Recursive-Doubling", "ring"]))
    at_six = np.exp(surfaces.at(np.array([6]), sizes[1]).log_time[:, 0, 0])
    assert at_six[0] == pytest.approx(np.sqrt(4e-5 * at_six[1]))
    assert surfaces.kinds == ["power_of_two", "all"]
    assert np.exp(surfaces.at(*sizes).log_time) == pytest.approx(times)
    # What was measured there says it better.
    known = Surfaces(times[:, [0, 1, 1, 2]], np.array([2, 4, 6, 8]), sizes[1], folding=np.array([True, False]))
    assert np.exp(known.at(np.array([6]), sizes[1]).log_time) == pytest.approx(2e-5)
    assert not folding_of("bcast", ["recursive_doubling"]).any()


def test_of_powers_of_two_alone_what_is_decided_elsewhere_is_nearly_as_good(fast_ethernet: xr.DataTree) -> None:
    """It was 30 % off: methods that fold were taken where they take twice as long."""
    cube = fast_ethernet["allreduce"].to_dataset().transpose("method", "comm_size", "message_size", ...)
    power = (cube["comm_size"].values & (cube["comm_size"].values - 1)) == 0
    decision = recommended(Problem.of(cube.isel(comm_size=power)))
    penalties = Problem.of(cube).penalties(decision)[0]["penalty"].transpose("comm_size", "message_size").values
    assert penalties[~power].mean() < 6
    assert penalties[power].mean() < 1
