"""The figures of Tables 6.4 and 6.5."""

import json

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, decision_map, exact, penalty, quadtree, statistics
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
    cube["time"][:, 0, 1] = np.nan
    assert statistics(cube, exact(decision_map(cube)))["depth"]["expected"] == 1.0


def test_figures_that_do_not_exist_are_none() -> None:
    cube = cube_of([[[1.0]]], [4], [1])
    figures = statistics(cube, DecisionFunction("bcast", [Method("unheard", "of")], Leaf(0)))
    assert figures["penalty"] == {"min": None, "max": None, "mean": None, "median": None, "unmeasured": 1}


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


def test_each_ppn_has_the_figures_of_its_own_results() -> None:
    cube = cube_of(np.random.default_rng(0).random((3, 4, 5, 2)) + 1, [2, 3, 4, 5], [1, 2, 3, 4, 5])
    for ppn in (1, 2):
        alone = cube.sel(ppn=ppn)
        decision = quadtree(decision_map(alone), max_depth=1)
        assert statistics(cube, decision, ppn=ppn) == statistics(alone, decision)
