"""Algorithms of Open MPI that call other collectives: what these send follows their own rules, and adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.proof.order import PRIME, Key, Seen
from dashboard.benchmarks.proof.target import OWN, RULES, left_to_library
from dashboard.benchmarks.proof.verdict import Verdict

if TYPE_CHECKING:
    from dashboard.decisions import Method

#: By collective the algorithm (coll_base_allreduce.c and the like), and what it calls one after the other with the
#: first process as root, and whether with the blocks of all processes.
_PARTS: Mapping[str, tuple[str, tuple[tuple[str, bool], ...]]] = {
    "allreduce": ("nonoverlapping", (("reduce", False), ("bcast", False))),
    "allgather": ("linear", (("gather", False), ("bcast", True))),
    "allgatherv": ("linear", (("gatherv", False), ("bcast", True))),
    "reduce_scatter": ("non-overlapping", (("reduce", True), ("scatterv", False))),
    "reduce_scatter_block": ("basic_linear", (("reduce", True), ("scatter", False))),
}


def parts_of(method: Method, cell: Cell) -> tuple[Cell, ...]:
    """The calls of other collectives that an algorithm, or what the library decides by itself, may make at a size."""
    name, parts = _PARTS.get(cell.collective, ("", ()))
    if method.algorithm != name and not left_to_library(method):
        return ()
    return tuple(
        replace(cell, collective=name, message_size=cell.message_size * (cell.comm_size if blocks else 1))
        for name, blocks in parts
    )


def by_sum(verdict: Verdict, results: Mapping[Key, Seen]) -> Verdict:
    """Judge a region anew whose algorithm calls other collectives, where it was forced in a job without the rules.

    There these send what the library takes by itself, with the rules what their own rules say. So it is enough that
    together they send what was seen, and, in a region left to the library, that this algorithm is what it takes.
    """
    method = verdict.region.method
    asked = OWN if left_to_library(method) else method.label
    if verdict.state != "other":
        return verdict
    parts: tuple[Cell, ...] = ()
    for cell, point in zip(verdict.region.cells, verdict.points, strict=False):
        if point["seen"] == asked:
            continue
        parts = parts_of(method, cell)
        seen = [results.get((part, RULES), Seen("not called")) for part in parts]
        if not parts or not all(each.digest for each in seen):
            return verdict
        taken = results.get((cell, _PARTS[cell.collective][0]), Seen("not called"))
        if asked == OWN and taken.digest != results[cell, OWN].digest:
            return verdict
        sums = zip(*(each.graph["sum"] for each in seen), strict=True)
        if [sum(numbers) % PRIME for numbers in sums] != list(results[cell, RULES].graph.get("sum", ())):
            return verdict
    why = f"it calls {' and '.join(part.collective for part in parts)}, which send what their own rules say"
    return replace(verdict, state="proven", seen=asked, why=why)
