"""Intervals of message size: what dynamic programming finds is the best of all ways to cut, and grids must gain."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions.grown.families import family
from dashboard.decisions.grown.intervals import beyond_noise, intervals, penalties
from dashboard.decisions.measured.map import DIMS
from dashboard.decisions.measured.problem import Problem
from loaders import open_results

CELLS = st.one_of(st.integers(0, 40), st.just(None))


def brute(costs: np.ndarray, price: float, most: int) -> float:
    """The least costs and prices of all ways to cut the sizes and to choose methods."""
    sizes = costs.shape[1]
    least = np.inf
    for count in range(1, min(most, sizes) + 1):
        for inner in combinations(range(1, sizes), count - 1):
            ends = (0, *inner, sizes)
            each = [costs[:, a:b].sum(axis=1) for a, b in pairwise(ends)]
            least = min(least, sum(np.nanmin([*part, np.inf]) for part in each) + price * count)
    return float(least)


@given(
    st.integers(1, 6).flatmap(
        lambda sizes: st.lists(st.lists(CELLS, min_size=sizes, max_size=sizes), min_size=1, max_size=6)
    ),
    st.integers(0, 30),
    st.integers(1, 4),
)
def test_no_way_to_cut_is_better(rows: list[list[int | None]], price: int, most: int) -> None:
    costs = np.array([[np.nan if cell is None else float(cell) for cell in row] for row in rows])
    costs[:, np.isnan(costs).all(axis=0)] = 0.0
    cuts = intervals(costs, price, most)
    begins = [0, *(last + 1 for last, _ in cuts)]
    assert begins[-1] == costs.shape[1]
    total = sum(costs[method, begin : last + 1].sum() for begin, (last, method) in zip(begins, cuts, strict=False))
    least = brute(costs, price, most)
    if np.isfinite(least):
        assert len(cuts) <= most
        assert total + price * len(cuts) == pytest.approx(least)
    else:
        # Holes in the measurements need more intervals: never a method where it was not measured.
        assert np.isfinite(total)


def test_what_gains_little_is_no_better_than_the_original() -> None:
    times = np.array([[1.0, 1.0, 1.0], [0.99, 0.5, np.nan], [2.0, 0.499, 0.9]])
    costs = penalties(times, 0, 2.0)
    assert costs[:, 0].tolist() == [0.0, 0.0, 100.0]
    assert costs[2, 1] == 0.0
    assert np.isnan(costs[1, 2])
    assert intervals(costs, 0.0, first=0) == [(0, 0), (2, 2)]
    assert intervals(costs, 1000.0, first=0)[-1][0] == 2


def test_results_are_decided_exactly_and_with_fewer_intervals_for_a_price() -> None:
    problem = Problem.of(open_results(["sample_data/one-machine/results.jsonl"])["bcast"].to_dataset(), ppn=None)
    grown = [family("intervals").grow(problem, price=price, least_gain=0.0) for price in (0.0, 5.0, 1e9)]
    assert problem.summary(grown[0]).mean == pytest.approx(0.0, abs=1e-9)
    leaves = [decision.leaves for decision in grown]
    assert leaves[0] > leaves[1] > leaves[2] == problem.slices[0].cube.sizes["comm_size"]
    assert all(set(decision.attributes) <= {"comm_size", "message_size"} for decision in grown)


def test_what_is_faster_by_noise_alone_is_no_better_than_the_original() -> None:
    generator = np.random.default_rng(3)
    # At 1 kB 5 % less with a noise of 30 %, at 2 kB half the time: only that is beyond noise.
    means = np.array([[1.0, 1.0], [0.95, 0.5], [np.nan, np.nan]])
    samples = means[:, None, :, None] * np.exp(0.3 * generator.standard_normal((3, 1, 2, 20)))
    cube = xr.Dataset(
        {"time": (DIMS, np.median(samples, axis=-1)), "sample": ((*DIMS, "repetition"), samples)},
        {"method": ["default", "a", "b"], "comm_size": [4], "message_size": [1000, 2000]},
    )
    beyond = beyond_noise(cube, 0, 0.01)
    assert beyond.tolist() == [[[False, False]], [[False, True]], [[False, False]]]
    table = penalties(np.array([[1.0, 1.0], [0.95, 0.5]]), 0, 0.0, beyond[:2, 0])
    assert table.tolist() == [[0.0, 100.0], [0.0, 0.0]]
    labels = ["default", "a"]
    own = cube.isel(method=[0, 1]).assign_coords(algorithm=("method", labels)).assign_attrs(collective="bcast")
    decided = {
        level: family("intervals").grow(Problem.of(own), least_gain=0.0, significance=level).predict(4, [1000, 2000])
        for level in (0.01, 1e-30)
    }
    assert {level: methods.tolist() for level, methods in decided.items()} == {0.01: [0, 1], 1e-30: [0, 0]}
    assert not beyond_noise(cube.drop_vars("sample"), 0, 0.01).any()


@pytest.mark.parametrize(("time", "expected"), [(98.01, 0.0), (97.99, 100 * (100 / 97.99 - 1))])
def test_a_gain_counts_from_the_percent_that_were_asked_for(time: float, expected: float) -> None:
    assert penalties(np.array([[100.0], [time]]), 0, 2.0)[0].tolist() == [pytest.approx(expected)]
