"""Quadtrees: the conventions of the dissertation, and what must hold on any map."""

import math
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dashboard.decisions import (
    DecisionError,
    DecisionFunction,
    Leaf,
    NothingMeasuredError,
    OptionError,
    QuadtreeBuilder,
    Split,
    Test,
    decision_map,
    exact,
    quadtree,
)
from tests.cubes import synthetic_cube
from tests.decisions.reference import reference_tree, square_of
from tests.decisions.trees import SIZES


def map_of(
    grid: np.ndarray, comm_sizes: Any = None, message_sizes: Any = None, methods: int | None = None
) -> xr.Dataset:
    """Lay best methods out as a decision map."""
    grid = np.asarray(grid)
    return xr.Dataset(
        {"best": (("comm_size", "message_size"), grid)},
        coords={
            "method": [f"m{index}" for index in range(methods or grid.max() + 1)],
            "comm_size": np.arange(2, grid.shape[0] + 2) if comm_sizes is None else comm_sizes,
            "message_size": 2 ** np.arange(grid.shape[1]) if message_sizes is None else message_sizes,
        },
        attrs={"collective": "bcast"},
    )


def axes_of(dmap: xr.Dataset) -> list[np.ndarray]:
    return [dmap[name].values for name in SIZES]


def predicted(decision: DecisionFunction, dmap: xr.Dataset) -> np.ndarray:
    return decision.predict(dmap["comm_size"].values[:, None], dmap["message_size"].values)


grids = st.tuples(st.integers(1, 18), st.integers(1, 18), st.integers(1, 5)).flatmap(
    lambda size: arrays(np.int64, size[:2], elements=st.integers(0, size[2] - 1))
)
smooth_grids = st.tuples(st.integers(1, 18), st.integers(1, 18), st.integers(0, 6), st.integers(0, 6)).map(
    lambda n: (np.arange(n[0])[:, None] * n[2] + np.arange(n[1]) * n[3]) // 16
)
any_grids = st.one_of(grids, smooth_grids)
depths = st.one_of(st.none(), st.integers(0, 6))
thresholds = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0, 1))


class TestConventions:
    def test_halves_are_of_indices_and_a_size_on_the_cut_goes_to_the_lower_half(self) -> None:
        dmap = map_of([[0, 1], [2, 3]], comm_sizes=[2, 100], message_sizes=[1, 1000])
        assert exact(dmap).root == Split(
            (Test("comm_size", 2.0), Test("message_size", 1.0)), (Leaf(0), Leaf(2), Leaf(1), Leaf(3))
        )

    def test_border_rules_hold_beyond_the_measured_range(self) -> None:
        decision = exact(map_of([[0, 1], [2, 3]], comm_sizes=[4, 8], message_sizes=[16, 64]))
        sizes = [(-1, 0), (1, 10**15), (10**6, 0), (10**6, 10**15), (4, 16), (5, 16), (4, 17), (5, 17)]
        assert [decision.predict_one(*size) for size in sizes] == [0, 1, 2, 3, 0, 2, 1, 3]

    def test_splits_within_the_padding_have_infinite_cuts(self) -> None:
        decision = exact(map_of([[0, 1, 2]]))  # one communicator size of a 4 × 4 square
        assert decision.root.tests == (Test("comm_size", math.inf), Test("message_size", 2.0))
        # Each half of the rows: columns 0 and 1 make a split of four leaves, column 2 and its copy one leaf.
        assert (decision.leaves, decision.nodes) == (10, 13)
        assert [rule.method for rule in decision.rules()] == [2, 0, 1]  # what the padding decides is never asked

    def test_the_square_repeats_the_last_row_and_column(self) -> None:
        # 3 × 3 in a 4 × 4 square: method 1 has 1 of 9 measured cells, but 4 of 4 in the last quarter.
        decision = exact(map_of([[0, 0, 0], [0, 0, 0], [0, 0, 1]]))
        assert decision.leaves == 4
        assert decision.depths().tolist() == [1, 1, 1, 1]

    def test_at_the_depth_limit_the_prevalent_method_is_taken_of_several_that_of_the_upper_right_cell(self) -> None:
        assert quadtree(map_of([[0, 1], [1, 1]]), max_depth=0).root == Leaf(1)
        assert quadtree(map_of([[0, 0], [1, 1]]), max_depth=0).root == Leaf(1)
        assert quadtree(map_of([[2, 1], [0, 2]]), max_depth=0).root == Leaf(2)

    def test_another_tie_goes_to_the_smallest_index(self) -> None:
        grid = np.repeat([5, 3, 4, 0], 4).reshape(4, 4)
        grid[3] = [5, 3, 3, 0]  # 5 and 3: five and six cells ...
        grid[0, 0] = 5
        grid[2, 0] = 5  # ... now six each; the corner has 0, which is rare
        assert quadtree(map_of(grid), max_depth=0).root == Leaf(3)

    def test_the_threshold_counts_cells_of_the_square_and_is_reached_at_equality(self) -> None:
        dmap = map_of([[0, 0], [0, 1]])
        assert quadtree(dmap, threshold=0.75).root == Leaf(0)
        assert quadtree(dmap, threshold=0.7501).leaves == 4

    def test_missing_cells_are_filled_for_building(self) -> None:
        assert exact(map_of([[0, -1], [-1, -1]], methods=2)).root == Leaf(0)

    def test_thirteen_leaves_of_which_one_is_at_depth_one_have_mean_depth_1_92(self) -> None:
        grid = np.arange(16).reshape(4, 4)
        grid[:2, :2] = 0
        decision = exact(map_of(grid))
        assert (decision.leaves, decision.nodes, round(decision.depths().mean(), 2)) == (13, 17, 1.92)

    def test_depth_of_the_exact_tree_is_at_most_that_of_the_square(self) -> None:
        builder = QuadtreeBuilder(map_of(np.arange(25 * 48).reshape(25, 48)))
        assert builder.levels == 6  # 25 × 48 in 64 × 64, as on Grig
        assert builder.build().depth == 6


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("max_depth", depth) for depth in (-1, 1.5, True)),
            *(("threshold", threshold) for threshold in (-0.1, 1.1, math.nan)),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, name: str, value: Any) -> None:
        with pytest.raises(OptionError, match=f"{name} is"):
            quadtree(map_of([[0]]), **{name: value})

    def test_a_map_with_nothing_measured_is_refused(self) -> None:
        with pytest.raises(NothingMeasuredError):
            quadtree(map_of([[-1, -1]], methods=1))

    def test_what_is_no_map_is_refused(self) -> None:
        with pytest.raises(DecisionError, match="make one with decision_map"):
            quadtree(synthetic_cube(2, 2, 2, 0))

    def test_the_decision_says_how_and_from_what_it_was_made(self) -> None:
        cube = synthetic_cube(3, 4, 2, 0)
        decision = quadtree(decision_map(cube), max_depth=2, threshold=0.9)
        assert decision.options == {"max_depth": 2, "threshold": 0.9}
        assert decision.provenance["digest"] == cube.attrs["digest"]
        assert decision.provenance["comm_size"] == [2, 4]
        assert decision.provenance["cells"] == 12
        assert (decision.collective, decision.kind) == ("bcast", "quadtree")


class TestOnAnyMap:
    @given(any_grids, depths, thresholds)
    def test_it_is_the_tree_of_the_conventions(self, grid: np.ndarray, max_depth: Any, threshold: float) -> None:
        dmap = map_of(grid)
        decision = quadtree(dmap, max_depth=max_depth, threshold=threshold)
        expected = reference_tree(grid, axes_of(dmap), SIZES, max_depth=max_depth, threshold=threshold)
        assert decision.root == expected
        assert 3 * decision.nodes == 4 * decision.leaves - 1
        assert decision.depths().size == decision.leaves

    @given(any_grids)
    def test_the_exact_tree_reproduces_every_cell(self, grid: np.ndarray) -> None:
        dmap = map_of(grid)
        assert np.array_equal(predicted(exact(dmap), dmap), grid)

    @given(any_grids, thresholds)
    def test_deeper_never_has_more_wrong_cells_of_the_square(self, grid: np.ndarray, threshold: float) -> None:
        # Sizes equal to positions in the square, so that its repeated cells can be asked for as well.
        square = square_of(grid)
        places = np.arange(square.shape[0])
        builder = QuadtreeBuilder(map_of(square, comm_sizes=places, message_sizes=places))
        wrong = [
            int((builder.build(max_depth=depth, threshold=threshold).predict(places[:, None], places) != square).sum())
            for depth in range(builder.levels + 1)
        ]
        assert wrong == sorted(wrong, reverse=True)

    @given(any_grids, depths)
    def test_regions_cover_every_cell_once(self, grid: np.ndarray, max_depth: Any) -> None:
        dmap = map_of(grid)
        decision = quadtree(dmap, max_depth=max_depth)
        regions = decision.regions()
        comm, message = dmap["comm_size"].values[:, None], dmap["message_size"].values
        coverage = np.zeros(grid.shape, dtype=int)
        for row in regions.itertuples():
            inside = (comm > row.comm_low) & (comm <= row.comm_high)
            inside = inside & (message > row.message_low) & (message <= row.message_high)
            coverage += inside
            assert (predicted(decision, dmap)[inside] == row.method).all()
            assert inside.any()
        assert (coverage == 1).all()


@pytest.mark.parametrize("side", [33, 64])
@pytest.mark.parametrize("methods", [2, 75, 300])
def test_large_blocks_are_counted_like_small_ones(side: int, methods: int | None) -> None:
    """Blocks above 8 × 8 are counted by histogram; the reference counts all alike."""
    random = np.random.default_rng(side * methods)
    grid = np.minimum(random.integers(0, methods, (side, side)), random.integers(0, methods, (side, side)))
    dmap = map_of(grid)
    for options in ({"threshold": 0.1}, {"threshold": 0.4}, {"max_depth": 1}, {"max_depth": 3, "threshold": 0.2}):
        assert quadtree(dmap, **options).root == reference_tree(grid, axes_of(dmap), SIZES, **options), options


def test_many_methods_on_a_large_map_reproduce_every_cell() -> None:
    grid = np.random.default_rng(0).integers(0, 75, (512, 512))
    dmap = map_of(grid, message_sizes=np.arange(512))
    decision = exact(dmap)
    assert decision.leaves > 200_000
    assert np.array_equal(predicted(decision, dmap), grid)
