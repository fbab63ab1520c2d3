"""CART: scikit-learn's trees carried over exactly, and what counting penalties gains."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from dashboard.decisions import DecisionFunction, Leaf, Split
from dashboard.decisions.grown.binary import BinaryTree, Pruning
from dashboard.decisions.grown.cart import FAMILY, cart
from dashboard.decisions.measured.losses import losses
from dashboard.decisions.measured.problem import Problem
from tests.cubes import DEGENERATE, cube_of, synthetic_cube
from tests.decisions.c45.files import problem_at

COMPOSITE = ("comm_size", "message_size", "total_size", "even", "power_of_two")

problems = st.builds(
    lambda rows, columns, methods, seed, missing, weighed: Problem.of(
        synthetic_cube(rows, columns, methods, seed, missing, noise=0.3),
        weights=np.random.default_rng(seed).integers(0, 4, (rows, columns)) + np.eye(rows, columns)
        if weighed
        else None,
    ),
    st.integers(1, 9),
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.0, 0.3, 0.8]),
    st.booleans(),
)


def decided(problem: Problem, decision: DecisionFunction) -> np.ndarray:
    """The method of every measured cell, in the order of the problem's cases."""
    return decision.tree.codes[decision.tree.walk(problem.cases(decision.attributes).values.T)]


def fitted(problem: Problem, attributes: Any, **options: Any) -> tuple[DecisionTreeClassifier, np.ndarray]:
    """Scikit-learn's own tree on the values themselves, as anyone would call it."""
    cases = problem.cases(attributes)
    called = cases.weights > 0
    model = DecisionTreeClassifier(random_state=0, **options)
    model.fit(cases.values[called], cases.best[called], sample_weight=cases.weights[called])
    return model, model.predict(cases.values)


@given(
    problems,
    st.sampled_from([("comm_size", "message_size"), ("message_size",), COMPOSITE[:2] + COMPOSITE[3:]]),
    st.one_of(st.none(), st.integers(1, 8)),
    st.one_of(st.none(), st.integers(2, 20)),
    st.integers(1, 5),
    st.sampled_from(["gini", "entropy"]),
    st.sampled_from([0.0, 0.01, 0.05]),
)
def test_a_plain_tree_is_that_of_scikit_learn(
    problem: Problem,
    attributes: tuple[str, ...],
    depth: int | None,
    leaves: int | None,
    fewest: int,
    criterion: str,
    pruning: float,
) -> None:
    decision = cart(
        problem,
        max_depth=depth,
        max_leaves=leaves,
        min_cases=fewest,
        criterion=criterion,
        pruning=pruning,
        attributes=attributes,
    )
    model, predicted = fitted(
        problem,
        attributes,
        max_depth=depth,
        max_leaf_nodes=leaves,
        min_samples_leaf=fewest,
        criterion=criterion,
        ccp_alpha=pruning,
    )
    called = problem.cases().weights > 0
    assert np.array_equal(decided(problem, decision)[called], predicted[called])
    assert (decision.leaves, decision.depth) == (model.get_n_leaves(), model.get_depth())


@given(problems, st.one_of(st.none(), st.integers(0, 6)), st.one_of(st.none(), st.integers(1, 20)), st.booleans())
def test_limits_hold(problem: Problem, depth: int | None, leaves: int | None, cost_sensitive: bool) -> None:
    decision = cart(problem, max_depth=depth, max_leaves=leaves, cost_sensitive=cost_sensitive)
    assert depth is None or decision.depth <= depth
    assert leaves is None or decision.leaves <= leaves
    assert DecisionFunction.from_json(decision.to_json()) == decision


@given(problems, st.integers(1, 6))
def test_every_leaf_holds_the_fewest_cases(problem: Problem, fewest: int) -> None:
    decision = cart(problem, min_cases=fewest, cost_sensitive=True)
    cases = problem.cases(decision.attributes)
    leaves, held = np.unique(decision.tree.walk(cases.values[cases.weights > 0].T), return_counts=True)
    assert leaves.size == decision.leaves
    assert held.min() >= min(fewest, held.sum())


@given(problems)
def test_without_limits_nothing_is_lost(problem: Problem) -> None:
    for cost_sensitive in (False, True):
        summary = problem.summary(cart(problem, cost_sensitive=cost_sensitive))
        assert summary.mean == 0


@given(problems, st.one_of(st.none(), st.integers(0, 4)), st.one_of(st.none(), st.integers(1, 9)))
def test_counting_penalties_never_loses_more(problem: Problem, depth: int | None, leaves: int | None) -> None:
    """Against the plain tree of the same depth."""
    table, _ = losses(problem.cases())
    cases = np.arange(len(table))

    def lost(**options: Any) -> float:
        return float(table[cases, decided(problem, cart(problem, **options))].sum())

    assert lost(max_depth=depth, cost_sensitive=True) <= lost(max_depth=depth) * (1 + 1e-9)
    assert lost(max_leaves=leaves, cost_sensitive=True) <= lost(max_leaves=1, cost_sensitive=True) * (1 + 1e-9)


def brute_prunings(tree: BinaryTree, node: int = 0) -> list[tuple[int, ...]]:
    """The leaves of every pruned tree."""
    if tree.yes[node] < 0:
        return [(node,)]
    below = itertools.product(brute_prunings(tree, int(tree.yes[node])), brute_prunings(tree, int(tree.no[node])))
    return [(node,), *(yes + no for yes, no in below)]


@st.composite
def random_trees(draw: Any) -> tuple[BinaryTree, np.ndarray]:
    """A random tree of at most 8 leaves, with what each node loses."""
    yes, no = [-1], [-1]
    for _ in range(draw(st.integers(0, 7))):
        ends = [node for node, child in enumerate(yes) if child < 0]
        node = draw(st.sampled_from(ends))
        yes[node], no[node] = len(yes), len(yes) + 1
        yes += [-1, -1]
        no += [-1, -1]
    lost = draw(st.lists(st.integers(0, 20), min_size=len(yes), max_size=len(yes)))
    zero = np.zeros(len(yes), dtype=np.int64)
    return BinaryTree(np.array(yes), np.array(no), zero, zero, zero), np.array(lost, dtype=float)


@given(random_trees(), st.sampled_from([0.0, 0.5, 2.0]), st.one_of(st.none(), st.integers(1, 8)))
def test_pruning_finds_the_best_pruned_tree(
    drawn: tuple[BinaryTree, np.ndarray], worth: float, leaves: int | None
) -> None:
    tree, lost = drawn
    every = [ends for ends in brute_prunings(tree) if leaves is None or len(ends) <= leaves]
    score, pruned = Pruning(tree, lost).best(worth, leaves)
    assert score == min(lost[list(ends)].sum() + worth * len(ends) for ends in every)
    kept = [int(node) for level in pruned.levels for node in level if pruned.yes[node] < 0]
    assert lost[kept].sum() + worth * len(kept) == score
    assert tuple(sorted(kept)) in {tuple(sorted(ends)) for ends in every}


def test_leaves_count_what_was_not_measured_by_the_rule() -> None:
    """The second method is a third faster where it is measured; the last size is 18 doublings away: 180 %."""
    time = np.array([[[1.2, 1.2, 1.2, 1.2]], [[1.0, 1.0, 1.0, np.nan]]])
    problem = Problem.of(cube_of(time, [4], [1, 2, 4, 1 << 20]))
    assert cart(problem, max_depth=0).root == Leaf(1)
    assert cart(problem, max_depth=0, cost_sensitive=True).root == Leaf(0)
    assert problem.summary(cart(problem, max_leaves=2, cost_sensitive=True))[:4] == (0, 0, 0, 0)


def test_a_costly_cell_outweighs_many_cheap_ones() -> None:
    time = np.array([[[1.00, 1.00, 1.00, 9.0]], [[1.01, 1.01, 1.01, 1.0]]])
    problem = Problem.of(cube_of(time, [4], [1, 2, 4, 8]))
    assert cart(problem, max_leaves=1).root == Leaf(0)
    assert cart(problem, max_leaves=1, cost_sensitive=True).root == Leaf(1)
    workload = Problem.of(cube_of(time, [4], [1, 2, 4, 8]), weights=np.array([[1e4, 1e4, 1e4, 1.0]]))
    assert cart(workload, max_leaves=1, cost_sensitive=True).root == Leaf(0)


@pytest.mark.parametrize(("calls", "cut"), [(1.0, 6), (100.0, 10)])
def test_the_calls_decide_where_a_single_test_is(calls: float, cut: int) -> None:
    """Three methods, each the best at some sizes; the last six are called so often."""
    time = np.full((3, 2, 12), 2.0)
    for method, sizes in enumerate((slice(0, 6), slice(6, 10), slice(10, 12))):
        time[method, :, sizes] = 1.0
    weights = np.ones((2, 12))
    weights[:, 6:] = calls
    problem = Problem.of(cube_of(time, [2, 4], np.arange(1, 13)), weights=weights)
    root = cart(problem, cost_sensitive=True, max_depth=1).root
    assert isinstance(root, Split)
    assert [test.cut for test in root.tests] == [cut]


def test_pruning_asks_each_leaf_for_its_worth() -> None:
    """One split gains 50 % in half of the cells, that is 25 % of mean penalty."""
    time = np.array([[[1.0, 1.5]], [[2.0, 1.0]]])
    problem = Problem.of(cube_of(time, [4], [1, 2]))
    assert cart(problem, cost_sensitive=True, pruning=24.9).leaves == 2
    assert cart(problem, cost_sensitive=True, pruning=25.1).leaves == 1


@pytest.mark.parametrize("dataset", ["bcast27", "allgat27c"])
def test_cost_sensitive_trees_cost_less_on_the_reference_maps(shared: Any, dataset: str) -> None:
    problem = problem_at(shared / "data" / "c45" / dataset)
    limits: list[dict[str, int]] = [{"max_depth": 3}, {"max_depth": 4}, {"max_leaves": 8}, {"max_leaves": 16}]
    plain = np.array([problem.summary(cart(problem, **limit)).mean for limit in limits])
    sensitive = np.array([problem.summary(cart(problem, **limit, cost_sensitive=True)).mean for limit in limits])
    assert (sensitive <= plain).all()
    assert sensitive.mean() < plain.mean()


def test_cost_sensitive_trees_cost_less_on_measured_broadcasts(fast_ethernet_bcast: Any) -> None:
    problem = Problem.of(fast_ethernet_bcast)
    plain = [problem.summary(cart(problem, max_leaves=leaves)).mean for leaves in (4, 8, 16)]
    sensitive = [problem.summary(cart(problem, max_leaves=leaves, cost_sensitive=True)).mean for leaves in (4, 8, 16)]
    assert (np.array(sensitive) < 0.7 * np.array(plain)).all()


def test_the_path_leads_from_one_leaf_to_no_penalty() -> None:
    problem = Problem.of(synthetic_cube(9, 12, 5, 3, noise=0.3))
    settings = list(FAMILY.path(problem))
    assert FAMILY.grow_many is not None
    decisions = FAMILY.grow_many(problem, settings)
    means = [problem.summary(decision).mean for decision in decisions]
    sizes = [decision.leaves for decision in decisions]
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    assert means == sorted(means, reverse=True)
    assert means[-1] == 0
    assert decisions[3] == FAMILY.grow(problem, **settings[3])


@pytest.mark.parametrize("cost_sensitive", [False, True])
@pytest.mark.parametrize("cube", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_results(cube: Any, cost_sensitive: bool) -> None:
    decision = cart(Problem.of(cube), cost_sensitive=cost_sensitive)
    assert Problem.of(cube).summary(decision)[1:4] == (0, 0, 0)
    assert decision.leaves <= 2


def test_a_quarter_million_cells() -> None:
    problem = Problem.of(synthetic_cube(500, 500, 3, 1))
    decision = cart(problem, max_leaves=64, cost_sensitive=True)
    assert decision.leaves == 64
    assert problem.summary(decision).cells == 250_000
