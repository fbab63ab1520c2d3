"""The pieces of a decision function: methods, tests, leaves and splits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dashboard.domain.algorithm_names import means_default


@dataclass(frozen=True)
class Method:
    """An algorithm with its parameters.

    Attributes
    ----------
    label
        What people read, such as ``pipeline 8KiB``.
    algorithm
        Name of the algorithm.
    segment_size
        Bytes, 0 = not segmented.
    parameters
        Further parameters (fan-out, …), text or numbers.
    """

    label: str
    algorithm: str
    segment_size: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)


#: What stands where rules say nothing: the library decides by itself.
LEFT_ALONE = Method("default", "default", 0, {"library_id": 0})
#: The same as a substitute, for people.
OWN_DECISION = Method("the library's own decision", "default")


def default_of(methods: Sequence[Method]) -> int | None:
    """Position of the method that leaves the decision to the library; None where none does."""
    return next((place for place, method in enumerate(methods) if means_default(method.algorithm)), None)


@dataclass(frozen=True, slots=True)
class Test:
    """True when ``attribute <= cut``; a cut of infinity is always true."""

    __test__ = False  # pytest would take the name for a test case

    attribute: str
    cut: float = math.inf

    def __str__(self) -> str:
        return f"{self.attribute} <= {plain_number(self.cut)}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path: take this method (index into the decision function's methods)."""

    method: int


@dataclass(frozen=True, slots=True)
class Split:
    """Tests made together, and where each outcome leads."""

    #: At least one. A quadtree has two (communicator size, message size), a binary tree one.
    tests: tuple[Test, ...]
    #: ``2 ** len(tests)``; bit k of a child's position is set when ``tests[k]`` is false, so the first child is where
    #: all tests hold.
    children: tuple[Node, ...]

    def __post_init__(self) -> None:
        if not self.tests or len(self.children) != 2 ** len(self.tests):
            raise ValueError(
                f"a split of {len(self.tests)} tests with {len(self.children)} children; "
                "it needs at least one test and 2 ** (number of tests) children"
            )


Node = Leaf | Split


def search_tree(starts: Sequence[int], nodes: Sequence[Node], attribute: str) -> Node:
    """Give a balanced tree that leads to ``nodes[k]`` from ``starts[k]`` up; the first also from below it."""
    if len(nodes) == 1:
        return nodes[0]
    middle = len(nodes) // 2
    below = search_tree(starts[:middle], nodes[:middle], attribute)
    above = search_tree(starts[middle:], nodes[middle:], attribute)
    return Split((Test(attribute, starts[middle] - 1),), (below, above))


class Rule(NamedTuple):
    """One rule of a decision function."""

    #: For each attribute that is restricted: ``(low, high)``, meaning ``low < attribute <= high`` (-inf, inf = open).
    bounds: dict[str, tuple[float, float]]
    #: Index of the method.
    method: int


def plain_number(value: float) -> str:
    """Write a cut as people would: whole numbers without a point, infinity as ``inf``."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))
