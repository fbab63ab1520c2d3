"""Recommendations: the smallest tree that is about as good as the best, with the reason in words."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, Method, OptionError
from dashboard.decisions.judged.frontier import Frontier, dominated, frontier
from dashboard.decisions.judged.recommend import falls_below, recommend
from dashboard.decisions.measured.problem import Problem
from tests.cubes import synthetic_cube

NAN = float("nan")


def frontier_of(points: list[tuple[str, int, float]], *, error: float = NAN, lacking: Any = 0) -> Frontier:
    """A frontier of (family, leaves, held-out mean)."""
    table = pd.DataFrame(points, columns=["family", "leaves", "held_out_mean"])
    table["options"] = [f'{{"leaves": {leaves}}}' for leaves in table["leaves"]]
    table["held_out_error"] = error
    table["held_out_leaves"] = 1.0 * table["leaves"]
    table["cells"] = 100 - np.asarray(lacking)
    table["dominated"] = dominated(table["leaves"], table["held_out_mean"])
    decisions = tuple(
        DecisionFunction("bcast", [Method(f"linear {row}", "linear")], Leaf(0), options={"row": row})
        for row in range(len(table))
    )
    return Frontier(table, decisions, "held_out_mean", scheme="lines")


POINTS = [("quadtree", 46, 4.0), ("c45", 41, 1.7), ("optimal", 13, 1.9), ("optimal", 8, 2.6), ("optimal", 60, 1.6)]


def test_the_smallest_within_one_standard_error_of_the_best() -> None:
    """Breiman, Friedman, Olshen, Stone 1984, 3.4.3."""
    advice = recommend(frontier_of(POINTS, error=0.4))
    assert (advice.row, advice.best, advice.limit) == (2, 4, pytest.approx(2.0))
    assert advice.decision.options == {"row": 2}
    assert advice.reason == (
        "13 leaves by Optimal tree, 1.9 % held-out mean penalty; within one standard error (0.40 points) of the best, "
        "1.6 % (Optimal tree, 60 leaves); the next better tree needs 41 (1.7 %)"
    )


@pytest.mark.parametrize(("within", "leaves"), [(0, 60), (0.1, 41), (0.3, 13), (1, 8), (100, 8)])
def test_or_within_some_points_of_it(within: float, leaves: int) -> None:
    advice = recommend(frontier_of(POINTS, error=0.4), within=within)
    assert POINTS[advice.row][1] == leaves
    assert (f"within {within:g} points of the best" in advice.reason) == (leaves != 60)


def test_the_best_of_all_says_so() -> None:
    assert recommend(frontier_of(POINTS), within=0).reason.endswith("; no tree that was tried is better")


def test_without_a_standard_error_it_is_one_point() -> None:
    assert "within 1 point of the best" in recommend(frontier_of(POINTS)).reason


def test_of_equal_size_the_lower_penalty_and_of_equal_ones_the_first() -> None:
    points = [("c45", 5, 2.0), ("cart", 5, 1.5), ("optimal", 5, 1.5), ("exact", 9, 1.4)]
    assert recommend(frontier_of(points), within=1).row == 1


def test_trees_do_not_win_by_methods_that_the_results_do_not_have() -> None:
    points = [("rules", 3, 0.1), ("cart", 5, 2.0), ("optimal", 7, 2.5)]
    advice = recommend(frontier_of(points, lacking=[20, 0, 0]))
    assert advice.row == 1
    assert advice.reason.endswith("; of lower penalty, but choosing methods that the results do not have: 1")


def test_the_recommended_tree_is_taken_where_it_is_judged() -> None:
    """As `decide` and the page do; only points that are asked for choose another one."""
    front = frontier_of([*POINTS, ("recommended", 20, 2.2)], error=0.4)
    front.table.loc[len(POINTS), "options"] = "{}"
    assert recommend(front).row == len(POINTS)
    assert recommend(front).reason == (
        "20 leaves by Recommended, 2.2 % held-out mean penalty, grown for sizes between the measured ones, too; by "
        "that penalty alone: 13 leaves by Optimal tree, 1.9 % held-out mean penalty; within one standard error "
        "(0.40 points) of the best, 1.6 % (Optimal tree, 60 leaves); the next better tree needs 41 (1.7 %)"
    )
    assert recommend(front, within=0.3).row == 2


def test_the_same_tree_that_was_grown_for_fewer_leaves_is_no_other() -> None:
    front = frontier_of([("recommended", 3, 1.1), ("recommended", 3, 1.4)], error=0.1)
    front.table.loc[1, "options"] = "{}"
    front = replace(front, decisions=(front.decisions[1], front.decisions[1]))
    assert recommend(front).reason == (
        "3 leaves by Recommended, 1.4 % held-out mean penalty, grown for sizes between the measured ones, too; grown "
        "for no more leaves it is the same tree, though not without the left-out sizes: 1.1 %"
    )


def test_bad_questions() -> None:
    with pytest.raises(OptionError, match="within is -1"):
        recommend(frontier_of(POINTS), within=-1)
    with pytest.raises(DecisionError, match="no tree has a penalty"):
        recommend(frontier_of([("c45", 3, NAN)]))


@given(
    st.lists(st.tuples(st.just("cart"), st.integers(1, 30), st.floats(0, 50)), min_size=1, max_size=20), st.floats(0, 9)
)
def test_what_is_recommended_is_good_enough_and_nothing_smaller_is(points: list[Any], within: float) -> None:
    advice = recommend(frontier_of(points), within=within)
    _, leaves, value = points[advice.row]
    assert value <= advice.limit
    assert advice.limit == min(point[2] for point in points) + within
    assert not any(n < leaves and v <= advice.limit for _, n, v in points)
    assert not any(n == leaves and v < value for _, n, v in points)


def test_where_each_family_falls_below_the_limits() -> None:
    table = falls_below(frontier_of([*POINTS, ("optimal", 99, 0.9), ("c45", 50, 1.0)])).set_index("family")
    assert table.loc["optimal", ["below_5", "below_1", "least", "least_leaves"]].tolist() == [8, 99, 0.9, 99]
    assert table.loc["c45", "below_5"] == 41
    assert table["below_1"].isna().tolist() == [True, True, False]


def test_a_real_frontier_is_recommended_from() -> None:
    problem = Problem.of(synthetic_cube(8, 12, 6, 4, noise=0.3))
    front = frontier(problem, families=["quadtree", "cart"], held_out="lines", folds=3)
    chosen = recommend(front)
    error = front.table["held_out_error"][chosen.best]
    assert chosen.limit == front.table["held_out_mean"].min() + error
    assert chosen.decision is front.decisions[chosen.row]
    assert json.loads(front.table["options"].iloc[chosen.row]).keys() <= chosen.decision.options.keys()
    in_sample = recommend(frontier(problem, families=["quadtree", "cart"]), within=0)
    assert "in-sample mean penalty" in in_sample.reason
    assert np.isclose(problem.summary(in_sample.decision).mean, 0)


def test_what_larger_trees_cost_held_out_is_no_figure_of_a_small_one() -> None:
    front = frontier_of([("quadtree", 1, 1.0), ("optimal", 1, 9.0), ("optimal", 8, 2.0)])
    assert recommend(front).row == 0
    front.table.loc[0, "held_out_leaves"] = 8.5
    assert recommend(front).row == 2
    assert recommend(front).reason.endswith("2.0 % held-out mean penalty; no tree that was tried is better")
    assert falls_below(front)["least"].isna().tolist() == [True, False]
