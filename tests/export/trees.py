"""Random decision functions with methods that Open MPI has."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dashboard.decisions import DecisionFunction, Leaf, Method, Node, Split, Test
from dashboard.export.library_names import Choice, choice_of, takes_segments
from loaders.openmpi import algorithms

HIGHEST = 48
"""Largest communicator size that random trees know as measured."""


def methods_for(collective: str, version: str = "5.0") -> list[Method]:
    """All the library's algorithms that may be written, segmented ones in two segment sizes, and its own decision."""
    methods = [Method("default", "default")]
    for number, name in algorithms(collective, version).items():
        if name == "two_proc" or (collective, name) == ("allgather", "sparbit"):
            continue
        segments = (0, 8192) if takes_segments(collective, number) else (0,)
        methods += [Method(f"{name} {segment}", name, segment, {"library_id": number}) for segment in segments]
    return methods


def random_decision(
    collective: str, seed: int, attributes: Sequence[str] = ("comm_size", "message_size"), depth: int = 4
) -> DecisionFunction:
    """Draw a tree; communicator sizes up to `HIGHEST` are told apart."""
    random = np.random.default_rng(seed)
    methods = methods_for(collective)
    tops = {"comm_size": HIGHEST, "message_size": 1 << 22, "total_size": 1 << 26, "even": 1, "power_of_two": 1}

    def node(level: int) -> Node:
        if level == depth or random.random() < 0.15:
            return Leaf(int(random.integers(len(methods))))
        name = attributes[int(random.integers(len(attributes)))]
        cut = 0 if tops[name] == 1 else int(2 ** random.uniform(0, np.log2(tops[name]))) - int(random.integers(2))
        return Split((Test(name, cut),), (node(level + 1), node(level + 1)))

    facts: dict[str, Any] = {"comm_size": [2, HIGHEST], "message_size": [1, 1 << 22]}
    return DecisionFunction(collective, methods, node(0), provenance=facts)


def halves(collective: str, names: Sequence[str], cut: int, attribute: str = "message_size") -> DecisionFunction:
    """The first method up to a cut, the second above it."""
    methods = [Method(name, name.split()[0]) for name in names]
    return DecisionFunction(collective, methods, Split((Test(attribute, cut),), (Leaf(0), Leaf(1))))


def random_sizes(seed: int, count: int, highest: int = HIGHEST) -> tuple[Any, Any]:
    """Draw pairs of sizes: communicator sizes up to `highest`, message sizes log-uniform from 0 up."""
    random = np.random.default_rng(seed)
    comm = random.integers(1, highest + 1, count)
    message = np.floor(2 ** random.uniform(0, 23, count)).astype(np.int64) - 1
    return comm, message


def choices(decision: DecisionFunction, comm: Any, message: Any, version: str = "5.0") -> list[Choice]:
    """What the library is to do at each pair of sizes."""
    known = [choice_of(method, decision.collective, version) for method in decision.methods]
    return [known[method] for method in decision.predict(comm, message)]
