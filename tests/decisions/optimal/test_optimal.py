"""Optimal trees against all trees there are, against other exact methods' figures, and what must always hold."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions import DecisionFunction, NothingMeasuredError, OptionError, decision_map
from dashboard.decisions.grown.family import Cancelled
from dashboard.decisions.grown.optimal import FAMILY, optimal, optimal_depth, optimal_frontier, optimal_price
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube
from tests.decisions.c45.files import problem_at
from tests.decisions.optimal.guillotine import least, penalties

SIZES = ("comm_size", "message_size")


@st.composite
def small(draw: Any, rows: int = 5, columns: int = 4) -> tuple[xr.Dataset, np.ndarray | None]:
    """A small cube, often with ties and missing cells, and weights for it or none."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, rows)), draw(st.integers(1, columns))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    time = random.integers(1, draw(st.sampled_from([3, 5, 1000])), shape).astype(float)
    time[random.random(shape) < draw(st.sampled_from([0, 0, 0.2, 0.6]))] = np.nan
    time[0, 0, 0] = 2.0
    weights = None
    if draw(st.booleans()):
        weights = random.integers(0, 4, shape[1:]).astype(float)
        weights[0, 0] = 1.0
    return cube_of(time, np.arange(2, shape[1] + 2), 2 ** np.arange(shape[2])), weights


def measured_weight(cube: xr.Dataset, weights: np.ndarray | None) -> float:
    measured = ~np.isnan(cube["time"].values).all(axis=0)
    return float((measured if weights is None else np.where(measured, weights, 0)).sum())


class TestPublishedFigures:
    def test_bcast27(self, shared: Path) -> None:
        # Found by two exact methods that share no code with this one.
        problem = problem_at(shared / "data" / "c45" / "bcast27")
        frontier = optimal_frontier(problem, 25)
        assert frontier.mean[[7, 14, 24]].round(2).tolist() == [4.70, 3.11, 2.59]
        assert frontier.proven.all()
        for leaves in (8, 15, 25):
            decision = frontier.decision(leaves)
            assert decision.leaves == leaves
            assert problem.summary(decision).mean == pytest.approx(frontier.mean[leaves - 1], abs=1e-6)

    def test_fast_ethernet(self, fast_ethernet_bcast: xr.Dataset) -> None:
        problem = Problem.of(fast_ethernet_bcast)
        for leaves, mean in ((3, 8.6), (15, 1.3)):
            decision = optimal(problem, leaves=leaves)
            assert round(problem.summary(decision).mean, 1) == mean
            assert decision.provenance["optimal"]["proven"]


class TestAgainstAllTrees:
    @given(small())
    def test_leaves(self, case: tuple[xr.Dataset, np.ndarray | None]) -> None:
        cube, weights = case
        problem, rows = Problem.of(cube, weights=weights), least(penalties(cube, weights))
        most = max(leaves for leaves, _ in rows)
        weight = measured_weight(cube, weights)
        best = [min(cost for (n, _), cost in rows.items() if n <= leaves) / weight for leaves in range(1, most + 1)]
        frontier = optimal_frontier(problem, most + 2)
        assert frontier.mean[:most] == pytest.approx(best, abs=1e-8)
        assert frontier.proven.all()
        for leaves in {1, (1 + most) // 2, most}:
            decision, summary = frontier.decision(leaves), problem.summary(frontier.decision(leaves))
            assert summary.mean == pytest.approx(best[leaves - 1], abs=1e-8)
            # Of equally good trees one of the fewest leaves.
            assert decision.leaves == 1 + next(n for n, cost in enumerate(best) if cost <= best[leaves - 1] + 1e-9)

    @pytest.mark.parametrize("shape", [(6, 8), (1, 12), (12, 1)])
    def test_cuts_that_the_bounds_do_not_rule_out_are_enough_on_a_larger_grid_and_on_one_row(
        self, shape: tuple[int, int]
    ) -> None:
        cube = synthetic_cube(*shape, 5, 3, noise=0.6)
        rows, cells = least(penalties(cube)), shape[0] * shape[1]
        most = min(20, cells)
        frontier = optimal_frontier(Problem.of(cube), most)
        best = [min(cost for (n, _), cost in rows.items() if n <= leaves) / cells for leaves in range(1, most + 1)]
        assert frontier.mean == pytest.approx(best, abs=1e-8)

    @given(small(), st.integers(0, 4))
    def test_depth(self, case: tuple[xr.Dataset, np.ndarray | None], max_depth: int) -> None:
        cube, weights = case
        problem, rows = Problem.of(cube, weights=weights), least(penalties(cube, weights))
        best = min(cost for (_, depth), cost in rows.items() if depth <= max_depth)
        decision = optimal_depth(problem, max_depth)
        assert decision.depth <= max_depth
        assert problem.summary(decision).mean == pytest.approx(best / measured_weight(cube, weights), abs=1e-8)
        assert decision.leaves == min(
            leaves for (leaves, depth), cost in rows.items() if depth <= max_depth and cost <= best + 1e-9
        )

    @given(small(), st.sampled_from([0.0, 0.01, 1.0, 7.5, 50.0, 1e6]))
    def test_price(self, case: tuple[xr.Dataset, np.ndarray | None], price: float) -> None:
        cube, weights = case
        problem, rows = Problem.of(cube, weights=weights), least(penalties(cube, weights))
        weight = measured_weight(cube, weights)
        best = min(cost / weight + price * leaves for (leaves, _), cost in rows.items())
        decision = optimal_price(problem, price)
        assert problem.summary(decision).mean + price * decision.leaves == pytest.approx(best, abs=1e-7)
        assert decision.leaves == min(
            leaves for (leaves, _), cost in rows.items() if cost / weight + price * leaves <= best + 1e-7
        )


class TestProperties:
    @settings(max_examples=20)
    @given(st.integers(0, 1000), st.integers(2, 9), st.integers(2, 9))
    def test_more_leaves_never_cost_more_and_enough_give_the_exact_map(
        self, seed: int, rows: int, columns: int
    ) -> None:
        cube = synthetic_cube(rows, columns, 6, seed, noise=0.5)
        frontier = optimal_frontier(Problem.of(cube), rows * columns)
        assert (np.diff(frontier.mean) <= 0).all()
        assert frontier.total[-1] == 0
        exact = frontier.decision(rows * columns)
        chosen = exact.predict(cube["comm_size"].values[:, None], cube["message_size"].values)
        assert np.array_equal(chosen, decision_map(cube)["best"].values)

    def test_depth_and_price_agree_with_leaves(self, fast_ethernet_bcast: xr.Dataset) -> None:
        problem = Problem.of(fast_ethernet_bcast)
        frontier = optimal_frontier(problem, 40)
        for max_depth in (1, 2, 3):
            decision = optimal_depth(problem, max_depth)
            assert problem.summary(decision).mean >= frontier.mean[2**max_depth - 1] - 1e-7
        for price in (0.2, 1.0):
            decision = optimal_price(problem, price)
            assert problem.summary(decision).mean + price * decision.leaves == pytest.approx(
                (frontier.mean + price * frontier.leaves).min(), abs=1e-7
            )

    def test_it_saves_and_loads(self) -> None:
        problem = Problem.of(synthetic_cube(5, 6, 3, 1))
        for decision in (optimal(problem, leaves=np.int64(4)), optimal_depth(problem, 2), optimal_price(problem, 1)):
            assert DecisionFunction.from_json(decision.to_json()).provenance == decision.provenance

    def test_a_cut_is_at_the_last_size_of_the_lower_side(self) -> None:
        cube = cube_of([[[1, 1, 9], [1, 1, 9]], [[2, 2, 1], [2, 2, 1]]], [4, 32], [100, 3000, 10**6])
        decision = optimal(Problem.of(cube), leaves=2)
        assert [decision.predict_one(4, size) for size in (0, 3000, 3001, 10**9)] == [0, 0, 1, 1]


class TestOddInput:
    def test_one_cell(self) -> None:
        problem = Problem.of(cube_of([[[2.0]], [[1.0]]], [4], [8]))
        for decision in (optimal(problem), optimal_depth(problem, 3), optimal_price(problem, 0)):
            assert (decision.leaves, decision.predict_one(4, 8)) == (1, 1)

    def test_constant_times_and_one_method_need_one_leaf(self) -> None:
        for cube in (cube_of(np.ones((3, 4, 5)), range(2, 6), range(1, 6)), synthetic_cube(4, 5, 1, 0)):
            assert optimal(Problem.of(cube), leaves=30).leaves == 1
            assert optimal_depth(Problem.of(cube), 6).leaves == 1
            assert optimal_price(Problem.of(cube), 0.0).leaves == 1

    def test_a_workload_that_calls_nothing_measured(self) -> None:
        cube = cube_of([[[1.0, np.nan]]], [2], [1, 2])
        with pytest.raises(NothingMeasuredError, match="calls none"):
            optimal(Problem.of(cube, weights=[[0.0, 1.0]]))

    def test_what_was_measured_nowhere_near_costs_a_hundred_points_more_than_the_slowest(self) -> None:
        first, second = [[1.0, np.nan, 1.0]], [[np.nan, 1.0, np.nan]]
        problem = Problem.of(cube_of([first, second], [2], [1, 2, 3]))
        # The first method lies between two of its own sizes, the second at none: 0 + 0 + 0 against 100 + 0 + 100.
        decision = optimal(problem, leaves=1)
        assert decision.predict_one(2, 1) == 0
        assert problem.summary(decision)[2:6] == (0, 0, 1, 3)

    def test_penalties_of_very_different_size(self) -> None:
        time = np.ones((3, 6, 6))
        time[0, :3] = 1e9
        time[1, 3:] = 1 + 1e-6
        time[2] = 1.5
        frontier = optimal_frontier(Problem.of(cube_of(time, range(2, 8), range(1, 7))), 3)
        assert frontier.mean[0] == pytest.approx(50e-6)
        assert frontier.mean[1] == 0

    @pytest.mark.parametrize("leaves", [0, -1, 1.5, True])
    def test_leaves_that_are_no_number_of_leaves(self, leaves: Any) -> None:
        with pytest.raises(OptionError, match="expected a whole number from 1"):
            optimal(Problem.of(synthetic_cube(2, 2, 2, 0)), leaves=leaves)

    def test_it_can_be_cancelled(self) -> None:
        shares = []

        def stop(share: float, _what: str) -> None:
            shares.append(share)
            if len(shares) > 5:
                raise Cancelled

        with pytest.raises(Cancelled):
            optimal(Problem.of(synthetic_cube(12, 12, 4, 0)), progress=stop)
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] <= 1


class TestFamily:
    def test_the_options_choose_what_is_limited(self, fast_ethernet_bcast: xr.Dataset) -> None:
        problem = Problem.of(fast_ethernet_bcast)
        assert FAMILY.grow(problem, **FAMILY.checked({})) == optimal(problem, leaves=8)
        assert FAMILY.grow(problem, **FAMILY.checked({"max_depth": 2})) == optimal_depth(problem, 2)
        assert FAMILY.grow(problem, **FAMILY.checked({"price": 0.5})) == optimal_price(problem, 0.5)
        with pytest.raises(OptionError, match="leaves 3, max_depth 2 are given"):
            FAMILY.grow(problem, leaves=3, max_depth=2)

    def test_many_at_once_are_the_same_as_one_by_one(self, fast_ethernet_bcast: xr.Dataset) -> None:
        problem = Problem.of(fast_ethernet_bcast)
        settings = [{"leaves": 2}, {"price": 1.0}, {"leaves": 9}, {}, {"max_depth": 1}]
        shares: list[float] = []
        many = FAMILY.grow_many(problem, settings, progress=lambda share, _what: shares.append(share))
        assert many == [FAMILY.grow(problem, **options) for options in settings]
        assert all(a <= b + 1e-12 for a, b in itertools.pairwise(shares))

    def test_the_path_goes_from_small_to_large(self, fast_ethernet_bcast: xr.Dataset) -> None:
        path = [options["leaves"] for options in FAMILY.path(Problem.of(fast_ethernet_bcast))]
        assert path == sorted(path)
        assert path[0] == 1


def test_more_leaves_than_cells_take_no_more_memory_than_so_many() -> None:
    problem = Problem.of(synthetic_cube(4, 5, 3, seed=3))
    many = optimal_frontier(problem, 10**15)
    assert many.leaves.size == many.mean.size == 20
    decision = many.decision(10**15)
    assert decision.options == {"leaves": 10**15}
    assert decision.to_text() == optimal(problem, leaves=20).to_text()
