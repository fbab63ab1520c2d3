"""Octrees: the quadtree's conventions with a third axis, against a recursion that has no thought of speed."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dashboard.decisions import Leaf, OptionError, Split, Test, quadtree
from dashboard.decisions.grown.octree import FAMILY, octree
from dashboard.decisions.grown.quadtree_family import EXACT, QUADTREE
from dashboard.decisions.measured.problem import Problem
from loaders import open_results
from tests.cubes import cube_of, synthetic_cube
from tests.decisions.reference import reference_tree
from tests.decisions.trees import SIZES


def cube_with(grid: Any, comm_sizes: Any = None, message_sizes: Any = None, ppn: Any = None) -> xr.Dataset:
    """Give a cube whose best methods are `grid` (communicator × message size × ppn), -1 = not measured."""
    grid = np.asarray(grid)
    time = np.where(np.arange(max(1, grid.max() + 1))[:, None, None, None] == grid, 1.0, 2.0)
    cube = cube_of(
        np.where(grid < 0, np.nan, time),
        np.arange(2, grid.shape[0] + 2) if comm_sizes is None else comm_sizes,
        2 ** np.arange(grid.shape[1]) if message_sizes is None else message_sizes,
    )
    return cube if ppn is None else cube.assign_coords(ppn=ppn)


def problem_of(grid: Any, **axes: Any) -> Problem:
    return Problem.of(cube_with(grid, **axes), ppn="all")


grids = st.tuples(st.integers(1, 6), st.integers(1, 9), st.integers(2, 5), st.integers(1, 5)).flatmap(
    lambda size: arrays(np.int64, size[:3], elements=st.integers(0, size[3] - 1))
)
depths = st.one_of(st.none(), st.integers(0, 5))
thresholds = st.one_of(st.sampled_from([0.0, 0.5, 0.75, 1.0]), st.floats(0, 1))


@given(grids, depths, thresholds)
def test_it_is_the_tree_of_the_recursion(grid: np.ndarray, max_depth: int | None, threshold: float) -> None:
    problem = problem_of(grid)
    cube = problem.slices[0].cube
    axes = [cube["comm_size"].values, cube["message_size"].values, np.arange(1, grid.shape[2] + 1)]
    expected = reference_tree(grid, axes, (*SIZES, "ppn"), max_depth=max_depth, threshold=threshold)
    decision = octree(problem, max_depth=max_depth, threshold=threshold)
    assert decision.root == expected
    assert decision.nodes * 7 == 8 * decision.leaves - 1


@given(grids)
def test_without_limits_every_measured_cell_gets_its_method(grid: np.ndarray) -> None:
    problem = problem_of(grid)
    decision = octree(problem)
    cube = problem.slices[0].cube
    predicted = decision.predict(
        cube["comm_size"].values[:, None, None],
        cube["message_size"].values[:, None],
        ppn=np.arange(1, grid.shape[2] + 1),
    )
    assert np.array_equal(np.broadcast_to(predicted, grid.shape), grid)
    assert problem.summary(decision).max == 0
    for number in range(1, grid.shape[2] + 1):
        part = decision.restricted(ppn=number)
        assert "ppn" not in part.attributes
        assert np.array_equal(
            part.predict(cube["comm_size"].values[:, None], cube["message_size"].values), grid[..., number - 1]
        )


@given(grids, depths, thresholds)
def test_a_single_slice_gives_the_quadtree(grid: np.ndarray, max_depth: int | None, threshold: float) -> None:
    problem = Problem.of(cube_with(grid), ppn=2)
    decision = octree(problem, max_depth=max_depth, threshold=threshold)
    expected = quadtree(problem.slices[0].dmap, max_depth=max_depth, threshold=threshold)
    assert decision.root == expected.root
    assert (decision.kind, decision.options, decision.needs) == ("octree", expected.options, ())


class TestConventions:
    def test_a_cube_of_two_splits_all_axes_at_once(self) -> None:
        decision = octree(
            problem_of(np.arange(8).reshape(2, 2, 2), comm_sizes=[4, 64], message_sizes=[1, 1024], ppn=[1, 16])
        )
        tests = (Test("comm_size", 4.0), Test("message_size", 1.0), Test("ppn", 1.0))
        assert decision.root == Split(tests, tuple(Leaf(method) for method in (0, 4, 2, 6, 1, 5, 3, 7)))
        assert (decision.kind, decision.needs, decision.leaves, decision.nodes) == ("octree", ("ppn",), 8, 9)

    def test_border_rules_hold_for_processes_per_node_too(self) -> None:
        decision = octree(problem_of([[[0, 1]], [[2, 3]]], ppn=[4, 8]))
        assert [decision.predict_one(2, 1, ppn=ppn) for ppn in (1, 4, 5, 8, 64)] == [0, 0, 1, 1, 1]

    def test_cells_that_were_not_measured_are_filled_within_their_layer(self) -> None:
        grid = np.array([[[0, 1], [-1, -1]], [[-1, -1], [2, 1]]])
        decision = octree(problem_of(grid))
        assert decision.predict([2, 2, 3, 3], [1, 2, 1, 2], ppn=1).tolist() == [0, 0, 2, 2]
        assert decision.restricted(ppn=2).root == Leaf(1)


class TestProblems:
    def test_several_collectives_are_refused(self) -> None:
        cube = synthetic_cube(3, 4, 2, 0)
        with pytest.raises(OptionError, match="octree decides one collective"):
            octree(Problem.of({"bcast": cube, "reduce": cube}))

    def test_mare_nostrum_at_one_and_four_processes_per_node(self, shared: Any) -> None:
        path = shared / "data" / "pico" / "pico_consolidated.csv"
        cube = open_results(path, system="mare_nostrum")["allreduce"].to_dataset()
        problem = Problem.of(cube, ppn="all")
        assert [part.given for part in problem.slices] == [{"ppn": 1}, {"ppn": 4}]
        decision = octree(problem)
        assert problem.summary(decision).max == 0
        assert (decision.depth, decision.nodes * 7) == (5, 8 * decision.leaves - 1)  # 6 × 17 × 2 in 32³
        one_for_both = octree(problem, max_depth=0)
        assert problem.summary(one_for_both).mean > 0


class TestFamilies:
    def test_octrees_grown_together_are_those_grown_one_by_one(self) -> None:
        problem = problem_of(np.arange(60).reshape(4, 5, 3) // 7)
        settings = list(FAMILY.path(problem))
        assert settings[:3] == [{"max_depth": 0}, {"max_depth": 1}, {"max_depth": 2}]
        assert FAMILY.grow_many is not None
        assert FAMILY.grow_many(problem, settings) == [octree(problem, **options) for options in settings]

    def test_the_quadtree_decides_one_slice_only(self) -> None:
        problem = problem_of(np.zeros((2, 2, 2), dtype=int))
        for family in (QUADTREE, EXACT):
            with pytest.raises(OptionError, match=f"{family.name} decides over communicator and message size only"):
                family.grow(problem)

    def test_grown_by_a_family_it_is_the_same_tree(self) -> None:
        problem = Problem.of(synthetic_cube(9, 12, 5, seed=4))
        grown = QUADTREE.grow(problem, max_depth=2, threshold=0.9)
        assert grown == quadtree(problem.slices[0].dmap, max_depth=2, threshold=0.9)
        assert EXACT.grow(problem).options == {}
