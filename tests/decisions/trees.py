"""Decision functions drawn by hypothesis: any tests, any cuts, any shape."""

import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from dashboard.decisions import DecisionFunction, Leaf, Method, Node, Split, Test

METHODS = tuple(Method(f"m{index}", "any", 1024 * index) for index in range(4))
SIZES = ("comm_size", "message_size")
DERIVED = (*SIZES, "total_size", "even", "power_of_two")


def binary(attribute: str, cut: float, yes: Node, no: Node) -> Split:
    return Split((Test(attribute, cut),), (yes, no))


def decision_of(root: Node, **more: Any) -> DecisionFunction:
    return DecisionFunction("bcast", METHODS, root, **more)


def _cuts(attribute: str) -> st.SearchStrategy[float]:
    if attribute in {"even", "power_of_two"}:
        return st.sampled_from([-1.0, 0.0, 0.5, 1.0, math.inf])
    return st.one_of(st.integers(-2, 20).map(float), st.sampled_from([2.5, 1e6, 2.0**62, math.inf]))


def _tests(attributes: Sequence[str]) -> st.SearchStrategy[tuple[Test, ...]]:
    test = st.sampled_from(attributes).flatmap(lambda name: _cuts(name).map(lambda cut: Test(name, cut)))
    return st.lists(test, min_size=1, max_size=3).map(tuple)


def nodes(attributes: Sequence[str] = SIZES) -> st.SearchStrategy[Node]:
    """Draw trees of splits of one to three tests."""
    leaf = st.integers(0, len(METHODS) - 1).map(Leaf)

    def splits(children: Any) -> st.SearchStrategy[Split]:
        return _tests(attributes).flatmap(
            lambda tests: st.tuples(*[children] * 2 ** len(tests)).map(lambda below: Split(tests, below))
        )

    return st.recursive(leaf, splits, max_leaves=24)


def decisions(attributes: Sequence[str] = SIZES) -> st.SearchStrategy[DecisionFunction]:
    """Draw decision functions."""
    return nodes(attributes).map(lambda root: DecisionFunction("bcast", METHODS, root))


def follow(node: Node, values: Any) -> int:
    """Decide by the definition: child k has bit j set when test j is false."""
    while isinstance(node, Split):
        node = node.children[sum((values[test.attribute] > test.cut) << bit for bit, test in enumerate(node.tests))]
    return node.method


def values_of(comm_size: int, message_size: int, ppn: int = 1) -> dict[str, int]:
    """All attributes of a call, by their definitions."""
    return {
        "comm_size": comm_size,
        "message_size": message_size,
        "total_size": comm_size * message_size,
        "even": 1 if comm_size % 2 == 0 else 0,
        "power_of_two": 1 if comm_size in {2**k for k in range(63)} else 0,
        "ppn": ppn,
        "nodes": math.ceil(comm_size / max(1, ppn)),
        "data_per_node": message_size * max(1, ppn),
    }
