"""Regions kept, and in each the method that costs least there."""

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.function.improve import improved, without
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of

OTHERWISE = Method("library's own decision", "default")


def labels(decision: DecisionFunction) -> list[str]:
    return [decision.methods[decision.predict_one(4, size)].label for size in (1, 2, 4)]


def test_a_leaf_keeps_its_method_where_none_is_better_and_takes_any_that_was_measured() -> None:
    # At 1 B linear and binomial tie, at 2 B binary is the best.
    problem = Problem.of(cube_of([[[1.0, 3, 2]], [[1.0, 2, 2]], [[2.0, 1, 2]]], [4], [1, 2, 4]))
    tree = Split((Test("message_size", 1),), (Leaf(1), Leaf(1)))
    decision = DecisionFunction("bcast", problem.methods[:2], tree)
    assert labels(improved(problem, decision)) == ["binomial", "binary", "binary"]


def test_a_method_that_nobody_measured_gives_way_even_where_all_cost_the_same() -> None:
    problem = Problem.of(cube_of([[[1.0, 1, 1]]] * 2, [4], [1, 2, 4]))
    decision = DecisionFunction("bcast", [Method("unheard", "of")], Leaf(0))
    assert labels(improved(problem, decision)) == ["linear"] * 3


def test_a_leaf_that_nobody_measured_takes_what_costs_least_where_its_method_was_taken_too() -> None:
    # Linear may not be used: binary is the best instead of it at 1 B and 2 B, and nothing was measured above.
    problem = Problem.of(cube_of([[[1.0, 1]], [[3.0, 3]], [[2.0, 2]]], [4], [1, 2]))
    inner = Split((Test("message_size", 2),), (Leaf(0), Leaf(0)))
    decision = DecisionFunction("bcast", problem.methods, Split((Test("message_size", 1),), (Leaf(0), inner)))
    reduced, replaced = without(problem, decision, {"binomial", "binary"}, OTHERWISE)
    assert labels(reduced) == ["binary"] * 3
    assert replaced == {"linear": ["binary"]}
