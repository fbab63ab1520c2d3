"""The performance penalty against measurements."""

import math
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import (
    DecisionError,
    DecisionFunction,
    Leaf,
    Method,
    Split,
    Test,
    decision_map,
    exact,
    methods_of,
    penalty,
    quadtree,
    summarise,
)
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube

NAN = np.nan


def always(cube: xr.Dataset, method: int) -> DecisionFunction:
    return DecisionFunction("bcast", methods_of(cube), Leaf(method))


def test_it_is_the_percentage_above_the_best_time() -> None:
    cube = cube_of([[[1.0, 2.0, 3.0]], [[2.0, 2.0, 2.0]]], [4], [1, 2, 3])
    result = penalty(cube, always(cube, 0))
    assert result["penalty"].values.tolist() == [[0.0, 0.0, 50.0]]
    assert result["chosen"].values.tolist() == [[0, 0, 0]]
    assert result["chosen_time"].values.tolist() == [[1.0, 2.0, 3.0]]
    assert result["best"].values.tolist() == [[0, 0, 1]]
    assert result["best_time"].values.tolist() == [[1.0, 2.0, 2.0]]
    assert result["penalty"].attrs["units"] == "%"


class TestUnmeasured:
    """Where the chosen method was not measured and another was: `dashboard.domain.unmeasured.RULE`."""

    def test_it_counts_as_its_other_sizes_tell(self) -> None:
        # Of 1 s at 1 B and 4 s at 4 B, 2 s at 2 B: log-log linear.
        cube = cube_of([[[1.0, NAN, 4.0]], [[1.0, 1.0, 1.0]]], [4], [1, 2, 4])
        result = penalty(cube, always(cube, 0))
        assert result["penalty"].values[0] == pytest.approx([0, 100, 300])
        assert result["unmeasured"].values.tolist() == [[False, True, False]]
        assert summarise(result)[4:6] == (1, 3)

    def test_also_those_of_other_communicator_sizes(self) -> None:
        cube = cube_of([[[1.0, 1.0], [1.0, NAN], [1.0, 4.0]], [[1.0, 1.0]] * 3], [4, 8, 16], [1, 2])
        assert penalty(cube, always(cube, 0))["penalty"].values[:, 1] == pytest.approx([0, 100, 300])

    def test_it_is_never_faster_than_the_fastest_that_was_measured(self) -> None:
        cube = cube_of([[[1.0, NAN, 1.0]], [[9.0, 9.0, 9.0]]], [4], [1, 2, 4])
        assert penalty(cube, always(cube, 0))["penalty"].values.tolist() == [[0, 0, 0]]

    def test_beyond_its_sizes_it_costs_10_points_more_for_each_doubling_from_the_nearest_one(self) -> None:
        cube = cube_of([[[NAN, 3.0, NAN, NAN]], [[4.0, 2.0, NAN, 3.0]]], [4], [1, 2, 4, 16])
        result = penalty(cube, always(cube, 0))
        assert result["penalty"].values[0] == pytest.approx([60, 50, NAN, 80], nan_ok=True)
        assert result.attrs["unmeasured"] == 2  # where nothing was measured, nothing was missed

    def test_what_was_measured_nowhere_costs_100_points_more_than_the_slowest(self) -> None:
        cube = cube_of([[[NAN, NAN, NAN]], [[2.0, 2.0, NAN]], [[3.0, 2.0, NAN]]], [4], [1, 2, 3])
        result = penalty(cube, always(cube, 0))
        assert result["penalty"].values[0] == pytest.approx([150, 100, NAN], nan_ok=True)

    def test_a_method_that_the_results_do_not_have_has_no_penalty(self) -> None:
        cube = cube_of([[[1.0, 2.0]]], [4], [1, 2])
        stranger = DecisionFunction("bcast", [Method("unheard", "of")], Leaf(0))
        summary = summarise(penalty(cube, stranger))
        assert all(math.isnan(value) for value in summary[:4])
        assert summary[4:6] == (2, 0)

    @given(st.integers(0, 50), st.floats(0, 0.9), st.integers(0, 3))
    def test_all_decisions_are_judged_on_all_that_was_measured(self, seed: int, missing: float, method: int) -> None:
        cube = synthetic_cube(5, 7, 4, seed, missing=missing)
        result = penalty(cube, always(cube, method))
        assert np.array_equal(np.isnan(result["penalty"].values), result["best"].values < 0)
        assert (np.nan_to_num(result["penalty"].values) >= 0).all()

    def test_measured_times_stay_as_they_are(self) -> None:
        cube = synthetic_cube(5, 7, 4, 1, missing=0.3)
        before = cube["time"].values.copy()
        problem = Problem.of(cube)
        times, measured = problem.slices[0].counted(), ~np.isnan(before)
        assert np.array_equal(times[measured], before[measured])
        assert np.array_equal(cube["time"].values, before, equal_nan=True)


def test_minimum_maximum_mean_and_median() -> None:
    cube = cube_of([[[2.0, 3.0, 1.0, 1.5]], [[1.0, 1.0, 1.0, 1.0]]], [4], [1, 2, 3, 4])
    assert summarise(penalty(cube, always(cube, 0))) == (0.0, 200.0, 87.5, 75.0, 0, 4, 200.0)


class TestWeights:
    cube = cube_of([[[2.0, 3.0, 1.0]], [[1.0, 1.0, 1.0]]], [4], [1, 2, 3])

    def test_cells_count_as_often_as_they_are_used(self) -> None:
        summary = summarise(penalty(self.cube, always(self.cube, 0), weights=[[3, 1, 0]]))
        assert summary == (100.0, 200.0, 125.0, 100.0, 0, 2, 200.0)

    def test_equal_weights_give_the_plain_figures(self) -> None:
        plain = summarise(penalty(self.cube, always(self.cube, 0)))
        assert summarise(penalty(self.cube, always(self.cube, 0), weights=np.full((1, 3), 0.25))) == plain

    def test_labelled_weights_are_laid_as_the_map(self) -> None:
        weights = xr.DataArray([[3.0], [1.0], [0.0]], dims=("message_size", "comm_size"), coords={"comm_size": [4]})
        assert summarise(penalty(self.cube, always(self.cube, 0), weights=weights)).mean == 125.0
        with pytest.raises(DecisionError, match="other values of comm_size"):
            penalty(self.cube, always(self.cube, 0), weights=weights.assign_coords(comm_size=[8]))

    @pytest.mark.parametrize("weights", [[[1, 2]], [[0, 0, 0]], [[1, -1, 1]], [[1, NAN, 1]]])
    def test_weights_that_make_no_sense_are_refused(self, weights: Any) -> None:
        with pytest.raises(DecisionError, match="weights"):
            penalty(self.cube, always(self.cube, 0), weights=weights)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=9))
def test_whole_weights_are_repetitions(cells: list[tuple[int, int]]) -> None:
    """A weight of 3 must mean what the cell three times over would mean."""
    slow = [float(time) for time, _ in cells]
    cube = cube_of([[slow], [[1.0] * len(slow)]], [4], np.arange(len(slow)))
    weighted = summarise(penalty(cube, always(cube, 0), weights=[[weight for _, weight in cells]]))
    repeated = [time for time, weight in cells for _ in range(weight)]
    many = cube_of([[[float(time) for time in repeated]], [[1.0] * len(repeated)]], [4], np.arange(len(repeated)))
    plain = summarise(penalty(many, always(many, 0)))
    assert weighted[:4] == pytest.approx(plain[:4])


@given(st.integers(0, 50), st.floats(0, 0.9))
def test_the_exact_tree_costs_nothing(seed: int, missing: float) -> None:
    cube = synthetic_cube(5, 7, 4, seed, missing=missing)
    result = penalty(cube, exact(decision_map(cube)))
    assert summarise(result)[:5] == (0, 0, 0, 0, 0)
    assert np.array_equal(
        result["chosen"].values[result["best"].values >= 0], result["best"].values[result["best"].values >= 0]
    )


def test_methods_are_matched_by_label() -> None:
    cube = cube_of([[[1.0]], [[2.0]]], [4], [1])
    elsewhere = DecisionFunction(
        "bcast",
        [Method("binomial", "binomial"), Method("unheard", "of")],
        Split((Test("comm_size", 4),), (Leaf(0), Leaf(1))),
    )
    result = penalty(cube, elsewhere)
    assert (int(result["chosen"][0, 0]), float(result["penalty"][0, 0])) == (1, 100.0)
    other = penalty(cube.assign_coords(comm_size=[5]), elsewhere)
    assert int(other["chosen"][0, 0]) == -1
    assert other.attrs["unmeasured"] == 1


def test_a_lazy_cube_gives_the_same() -> None:
    cube = synthetic_cube(6, 9, 4, 1, missing=0.2)
    decision = quadtree(decision_map(cube), max_depth=1)
    xr.testing.assert_identical(penalty(cube.chunk(comm_size=2), decision), penalty(cube, decision))


def test_processes_per_node_go_to_decisions_that_test_them() -> None:
    time = np.array([[[[1.0, 2.0]]], [[[3.0, 1.0]]]])
    cube = cube_of(time, [4], [8])
    decision = DecisionFunction("bcast", methods_of(cube), Split((Test("ppn", 1),), (Leaf(0), Leaf(1))))
    assert float(penalty(cube, decision, ppn=1)["penalty"][0, 0]) == 0
    assert int(penalty(cube, decision, ppn=2)["chosen"][0, 0]) == 1
    assert float(penalty(cube, always(cube, 0), ppn=2)["penalty"][0, 0]) == 100
    with pytest.raises(DecisionError, match="needs ppn, but"):
        penalty(cube_of(time[..., 0], [4], [8]), decision)
