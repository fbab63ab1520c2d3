"""Decisions that are there already: the library's default, rules files, and rules with better methods."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionFunction, Leaf, Method, OptionError, Split, Test
from dashboard.decisions.function.improve import improved, without
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.grown.given import GIVEN, MOST, MOST_BYTES, Given
from dashboard.decisions.judged import frontier as frontiers
from dashboard.decisions.judged.frontier import frontier
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.selection import without_methods
from tests.cubes import cube_of, synthetic_cube


def with_default(cube: Any) -> Any:
    """The cube with its first method called the library's default."""
    labels = ["default", *cube["method"].values[1:].tolist()]
    return cube.assign_coords(method=labels, algorithm=("method", ["default", *cube["algorithm"].values[1:].tolist()]))


def labels(decision: DecisionFunction, sizes: tuple[int, ...] = (1, 2, 4)) -> list[str]:
    return [decision.methods[decision.predict_one(4, size)].label for size in sizes]


def rules(problem: Problem, cut: int = 100) -> DecisionFunction:
    """Two regions: the first method up to a message size, the second beyond."""
    root = Split((Test("message_size", cut),), (Leaf(0), Leaf(1)))
    return DecisionFunction(problem.collective, problem.methods, root, kind="rules")


def test_the_default_is_what_was_measured_of_it() -> None:
    cube = with_default(synthetic_cube(4, 6, 3, 1))
    problem = Problem.of(cube)
    decision = FAMILIES["default"].grow(problem)
    penalty = 100 * (cube["time"].values[0] / cube["time"].values.min(axis=0) - 1)
    assert problem.summary(decision).mean == pytest.approx(penalty.mean())
    assert decision.leaves == 1


def test_a_default_that_was_not_measured_is_one_clear_error() -> None:
    with pytest.raises(OptionError, match="was not measured here; measure a method 'default'"):
        FAMILIES["default"].grow(Problem.of(synthetic_cube(3, 4, 2, 1)))


def test_of_a_default_that_is_left_out_the_error_says_that() -> None:
    cube = without_methods(with_default(synthetic_cube(3, 4, 2, 1)), ["default"])
    with pytest.raises(OptionError, match="is left out here; take 'default' back"):
        FAMILIES["default"].grow(Problem.of(cube))


def test_the_frontier_has_the_default_where_it_was_measured() -> None:
    cube = synthetic_cube(4, 6, 3, 2)
    assert "default" not in frontiers._suitable(Problem.of(cube))
    assert "default" in frontiers._suitable(Problem.of(with_default(cube)))
    table = frontier(Problem.of(with_default(cube)), families=["quadtree", "default"], held_out="lines").table
    (row,) = table[table["family"] == "default"].to_dict("records")
    # It was made from nothing, so that what is held out is no worse than what is not: the same cells twice.
    assert row["held_out_mean"] == pytest.approx(row["penalty_mean"])
    assert row["leaves"] == 1


def test_rules_are_judged_and_improved_on_the_frontier() -> None:
    problem = Problem.of(synthetic_cube(5, 8, 4, 3))
    GIVEN.put("two.conf", Given("two.conf", lambda problem, _version: rules(problem)))
    tried = {"rules": [{"file": "two.conf"}, {"file": "two.conf", "improve": True}]}
    front = frontier(problem, families=["quadtree"], further=tried, held_out="lines")
    part = front.table[front.table["family"] == "rules"]
    assert part["leaves"].tolist() == [2, 2]
    plain, better = part["penalty_mean"]
    assert plain == pytest.approx(problem.summary(rules(problem)).mean)
    assert better <= plain


def test_a_file_that_is_not_there_is_said() -> None:
    problem = Problem.of(synthetic_cube(3, 4, 2, 1))
    with pytest.raises(OptionError, match=r"rules file lost\.conf is not loaded here"):
        FAMILIES["rules"].grow(problem, file="lost.conf")
    with pytest.raises(OptionError, match="no rules file is chosen"):
        FAMILIES["rules"].grow(problem)


def test_only_so_many_files_and_bytes_are_kept() -> None:
    file = Given("file", lambda problem, _version: rules(problem))
    for number in range(MOST + 1):
        GIVEN.put(f"file-{number}", file)
    assert GIVEN.get("file-0") is None
    assert GIVEN.get(f"file-{MOST}") is file
    for name in ("first", "second", "third"):
        GIVEN.put(name, Given(name, lambda problem, _version: rules(problem), MOST_BYTES // 2))
    assert GIVEN.get("first") is None
    assert GIVEN.get("third") is not None


@given(st.integers(0, 200), st.integers(1, 2**20), st.floats(0, 0.4))
def test_improving_is_the_best_of_each_region(seed: int, cut: int, missing: float) -> None:
    problem = Problem.of(synthetic_cube(4, 7, 4, seed, missing=missing))
    old = rules(problem, cut)
    new = improved(problem, old)
    assert new.leaves == old.leaves
    (part,) = problem.slices
    time = part.counted()
    below = part.cube["message_size"].values <= cut
    for side, leaf in ((below, 0), (~below, 1)):
        times = time[:, :, side]
        measured = np.isfinite(times).any(axis=0)
        if not measured.any():
            assert new.tree.codes[new.tree.codes >= 0][leaf] == leaf
            continue
        cost = (times[:, measured] / times[:, measured].min(axis=0) - 1).sum(axis=1)
        chosen = int(new.tree.codes[new.tree.codes >= 0][leaf])
        assert cost[chosen] <= cost.min() + 1e-9


def test_regions_that_a_workload_never_calls_stay() -> None:
    cube = cube_of([[[2.0, 1.0]], [[1.0, 2.0]]], [4], [8, 1024])
    problem = Problem.of(cube, weights=np.array([[1.0, 0.0]]))
    new = improved(problem, rules(problem))
    assert labels(new, (8, 1024)) == ["binomial", "binomial"]
    assert improved(Problem.of(cube), rules(problem)).predict(4, np.array([8, 1024])).tolist() == [1, 0]


def test_what_is_not_allowed_is_replaced_and_the_rest_stays() -> None:
    cube = cube_of([[[1.0, 1.0]], [[2.0, 3.0]], [[3.0, 2.0]]], [4], [8, 1024])
    problem = Problem.of(cube)
    other = Method("other", "default")
    new, replaced = without(problem, rules(problem), {"binomial", "binary"}, other)
    assert replaced == {"linear": ["binomial"]}
    assert new.predict(4, np.array([8, 1024])).tolist() == [1, 1]
    none, replaced = without(problem, rules(problem), set(), other)
    assert replaced == {"linear": ["other"], "binomial": ["other"]}
    assert none.methods[int(none.predict(4, 8))] == other


def test_what_was_not_measured_replaces_nothing() -> None:
    cube = cube_of([[[1.0, 1.0]], [[np.nan, np.nan]], [[2.0, 3.0]]], [4], [8, 1024])
    problem, other = Problem.of(cube), Method("other", "default")
    # Of these two the rules have one that the table does not have, and the table one without a time.
    methods = [Method("ring", "ring"), *problem.methods]
    decision = DecisionFunction("bcast", methods, Split((Test("message_size", 100),), (Leaf(1), Leaf(0))))
    new, replaced = without(problem, decision, {"ring", "binomial"}, other)
    assert replaced == {"linear": ["other"]}
    assert labels(new, (8, 1024)) == ["other", "ring"]
    assert without(problem, decision, {"ring", "binomial", "binary"}, other)[1] == {"linear": ["binary"]}


def test_a_decision_by_rules_tells_what_makes_it_again() -> None:
    problem = Problem.of(synthetic_cube(3, 4, 2, 1))
    versions = []

    def decide(problem: Problem, version: str) -> DecisionFunction:
        versions.append(version)
        return rules(problem)

    GIVEN.put("again.conf", Given("again.conf", decide))
    grow = FAMILIES["rules"].grow
    assert grow(problem, file="again.conf").options == {"file": "again.conf"}
    options = {"file": "again.conf", "improve": True, "read_by": "6.0"}
    assert grow(problem, **options).options == options
    assert versions == ["5.0", "6.0"]


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
    reduced, replaced = without(problem, decision, {"binomial", "binary"}, Method("other", "default"))
    assert labels(reduced) == ["binary"] * 3
    assert replaced == {"linear": ["binary"]}
