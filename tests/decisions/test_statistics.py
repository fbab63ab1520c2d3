"""The figures of Tables 6.4 and 6.5, and the sweeps of Figures 6.10 and 6.11."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.decisions import (
    DecisionFunction,
    Leaf,
    Method,
    OptionError,
    decision_map,
    exact,
    penalty,
    quadtree,
    statistics,
    sweep_depth,
    sweep_threshold,
)
from dashboard.decisions.function.statistics import expected_depth
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube


def test_they_have_the_shape_of_contract_3_and_go_into_json() -> None:
    cube = synthetic_cube(5, 9, 4, 0)
    figures = statistics(cube, quadtree(decision_map(cube), max_depth=2))
    assert {name: list(value) if isinstance(value, dict) else int for name, value in figures.items()} == {
        "depth": ["max", "min", "mean", "expected"],
        "leaves": int,
        "nodes": int,
        "penalty": ["min", "max", "mean", "median", "unmeasured"],
    }
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures


def test_mean_depth_is_over_leaves_expected_depth_over_measured_cells() -> None:
    # In a 4 × 4 square of which one row is measured: columns 0 and 1 are at depth 2, 2 (and its copy) at 1.
    cube = cube_of(np.where(np.eye(3)[:, None, :] == 1, 1.0, 2.0), [4], [1, 2, 3])
    figures = statistics(cube, exact(decision_map(cube)))
    assert figures["leaves"] == 10
    assert figures["depth"] == {"max": 2, "min": 1, "mean": 1.8, "expected": pytest.approx(5 / 3)}


def test_missing_cells_do_not_count_for_the_expected_depth() -> None:
    time = np.where(np.eye(3)[:, None, :] == 1, 1.0, 2.0)
    time[:, 0, 1] = np.nan
    cube = cube_of(time, [4], [1, 2, 3])
    assert statistics(cube, exact(decision_map(cube)))["depth"]["expected"] == 1.0


def test_figures_that_do_not_exist_are_none() -> None:
    cube = cube_of([[[1.0]]], [4], [1])
    figures = statistics(cube, DecisionFunction("bcast", [Method("unheard", "of")], Leaf(0)))
    assert figures["penalty"] == {"min": None, "max": None, "mean": None, "median": None, "unmeasured": 1}


def test_penalties_that_are_there_already_are_used() -> None:
    cube = synthetic_cube(5, 9, 4, 0)
    decision = quadtree(decision_map(cube), max_depth=1)
    assert statistics(cube, decision, penalties=penalty(cube, decision)) == statistics(cube, decision)


def test_weights_change_the_penalty_only() -> None:
    cube = synthetic_cube(5, 9, 4, 0)
    decision = quadtree(decision_map(cube), max_depth=1)
    weights = np.zeros((5, 9))
    weights[2, 3] = 1
    weighted = statistics(cube, decision, weights=weights)
    assert weighted["penalty"]["mean"] == float(penalty(cube, decision)["penalty"][2, 3])
    assert weighted["depth"] == statistics(cube, decision)["depth"]


def test_the_depth_that_is_expected_is_that_of_the_calls() -> None:
    cube = cube_of(np.where(np.eye(3)[:, None, :] == 1, 1.0, 2.0), [4], [1, 2, 3])
    decision = exact(decision_map(cube))
    problem = Problem.of(cube, weights=np.array([[3.0, 0.0, 1.0]]))
    assert expected_depth(decision, problem.penalties(decision)) == pytest.approx((3 * 2 + 1) / 4)
    uncalled = penalty(cube, decision).assign(weight=(("comm_size", "message_size"), np.zeros((1, 3))))
    assert expected_depth(decision, [uncalled]) is None


class TestSweeps:
    cube = synthetic_cube(9, 20, 6, 3, missing=0.1)
    columns = ("depth_max", "depth_mean", "leaves", "nodes", "penalty_mean", "penalty_max", "penalty_median")

    def test_depth_goes_from_0_to_the_exact_tree(self) -> None:
        sweep = sweep_depth(self.cube)
        assert tuple(sweep) == ("max_depth", *self.columns)
        assert sweep["max_depth"].tolist() == list(range(6))
        assert sweep["leaves"].is_monotonic_increasing
        assert sweep["penalty_max"].iloc[-1] == 0

    def test_each_row_is_the_tree_of_its_options(self) -> None:
        dmap = decision_map(self.cube)
        row = sweep_depth(self.cube, threshold=0.8).iloc[3]
        figures = statistics(self.cube, quadtree(dmap, max_depth=3, threshold=0.8))
        assert row["leaves"] == figures["leaves"]
        assert row["depth_mean"] == figures["depth"]["mean"]
        assert row["penalty_mean"] == figures["penalty"]["mean"]

    def test_threshold_ends_at_the_exact_tree(self) -> None:
        sweep = sweep_threshold(self.cube)
        assert tuple(sweep) == ("threshold", *self.columns)
        assert sweep["threshold"].iloc[-1] == 1
        assert sweep["leaves"].is_monotonic_increasing
        assert sweep["penalty_max"].iloc[-1] == 0

    def test_thresholds_and_depth_can_be_chosen(self) -> None:
        sweep = sweep_threshold(self.cube, [0.5, 1.0], max_depth=2)
        assert sweep["threshold"].tolist() == [0.5, 1.0]
        assert sweep["depth_max"].max() <= 2
        with pytest.raises(OptionError, match="threshold is 50"):
            sweep_threshold(self.cube, [50])

    def test_one_ppn_is_swept(self) -> None:
        cube = cube_of(np.random.default_rng(0).random((3, 4, 5, 2)) + 1, [2, 3, 4, 5], [1, 2, 3, 4, 5])
        for ppn in (1, 2):
            last = sweep_depth(cube, ppn=ppn).iloc[-1]
            assert (last["penalty_max"], last["max_depth"]) == (0, 3)

    @pytest.mark.parametrize("sweep", [sweep_depth, sweep_threshold])
    def test_each_ppn_has_the_trees_and_figures_of_its_own_results(self, sweep: Any) -> None:
        cube = cube_of(np.random.default_rng(0).random((3, 4, 5, 2)) + 1, [2, 3, 4, 5], [1, 2, 3, 4, 5])
        for ppn in (1, 2):
            alone = cube.sel(ppn=ppn)
            pd.testing.assert_frame_equal(sweep(cube, ppn=ppn), sweep(alone))
            decision = quadtree(decision_map(alone), max_depth=1)
            assert statistics(cube, decision, ppn=ppn) == statistics(alone, decision)
