"""Simplified trees: the same decisions, nothing that could be left out."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given

from dashboard.decisions import DecisionFunction, Leaf, Node, Split, Test, decision_map, quadtree
from tests.cubes import synthetic_cube
from tests.decisions.trees import DERIVED, METHODS, binary, decisions, nodes

COMM = np.arange(-3, 24)
MESSAGE = np.array([-1, 0, 1, 2, 3, 4, 5, 8, 12, 19, 20, 21, 10**6, 10**6 + 1, 2**40])


def simplified(root: Node) -> Node:
    return DecisionFunction("bcast", METHODS, root).simplified().root


def splits_of(node: Node) -> Iterator[Split]:
    if isinstance(node, Split):
        yield node
        for child in node.children:
            yield from splits_of(child)


@given(decisions(DERIVED))
def test_it_decides_the_same(decision: DecisionFunction) -> None:
    simple = decision.simplified()
    assert np.array_equal(simple.predict(COMM[:, None], MESSAGE), decision.predict(COMM[:, None], MESSAGE))


@given(nodes(DERIVED))
def test_splits_are_binary_and_no_siblings_are_equal(root: Node) -> None:
    for split in splits_of(simplified(root)):
        assert len(split.tests) == 1
        assert split.children[0] != split.children[1]


@given(nodes(DERIVED))
def test_simplifying_again_changes_nothing_for_the_worse(root: Node) -> None:
    once = DecisionFunction("bcast", METHODS, root).simplified()
    assert once.simplified().leaves <= once.leaves


def test_what_it_comes_from_is_kept() -> None:
    decision = quadtree(decision_map(synthetic_cube(5, 9, 4, 0)), max_depth=2)
    simple = decision.simplified()
    assert (simple.methods, simple.kind, simple.options) == (decision.methods, decision.kind, decision.options)
    assert simple.provenance == decision.provenance


def test_the_order_of_tests_with_fewer_leaves_is_chosen() -> None:
    tests = (Test("comm_size", 4), Test("message_size", 9))
    # Small messages decide alike for all communicators, large ones do not: message size first.
    by_message = Split(tests, (Leaf(0), Leaf(0), Leaf(1), Leaf(2)))
    expected = binary("message_size", 9, Leaf(0), binary("comm_size", 4, Leaf(1), Leaf(2)))
    assert simplified(by_message) == expected
    by_comm = Split(tests, (Leaf(0), Leaf(1), Leaf(0), Leaf(2)))
    assert simplified(by_comm) == binary("comm_size", 4, Leaf(0), binary("message_size", 9, Leaf(1), Leaf(2)))


def test_of_three_tests_made_together_too() -> None:
    tests = (Test("comm_size", 4), Test("message_size", 9), Test("ppn", 2))
    # Where more than two processes are on a node all is alike.
    split = Split(tests, (*map(Leaf, range(4)), *[Leaf(0)] * 4))
    assert DecisionFunction("bcast", METHODS, split).simplified().leaves == 5


def test_sides_that_are_equal_trees_are_joined() -> None:
    side = binary("message_size", 9, Leaf(0), Leaf(1))
    assert simplified(
        binary("ppn", 2, binary("comm_size", 4, side, Leaf(2)), binary("comm_size", 4, side, Leaf(2)))
    ) == (binary("comm_size", 4, side, Leaf(2)))


def test_tests_decided_above_are_left_out() -> None:
    inner = binary("comm_size", 8, Leaf(0), Leaf(1))
    assert simplified(binary("comm_size", 4, inner, Leaf(2))) == binary("comm_size", 4, Leaf(0), Leaf(2))
    assert simplified(binary("comm_size", 9, Leaf(2), inner)) == binary("comm_size", 9, Leaf(2), Leaf(1))


def test_tests_decided_by_the_attribute_are_left_out() -> None:
    assert simplified(binary("even", 1, Leaf(0), Leaf(1))) == Leaf(0)
    assert simplified(binary("even", -1, Leaf(0), Leaf(1))) == Leaf(1)
    assert simplified(binary("comm_size", float("inf"), Leaf(0), Leaf(1))) == Leaf(0)


def test_neighbours_that_decide_alike_are_joined() -> None:
    root = binary("message_size", 8, Leaf(0), binary("message_size", 16, Leaf(0), Leaf(1)))
    assert simplified(root) == binary("message_size", 16, Leaf(0), Leaf(1))
    root = binary("message_size", 16, binary("message_size", 8, Leaf(0), Leaf(1)), Leaf(1))
    assert simplified(root) == binary("message_size", 8, Leaf(0), Leaf(1))


def test_cuts_become_whole() -> None:
    assert simplified(binary("comm_size", 4.5, Leaf(0), Leaf(1))) == binary("comm_size", 4, Leaf(0), Leaf(1))
