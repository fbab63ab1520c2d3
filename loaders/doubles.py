"""Methods that ran as another one, found by the messages that they sent.

A library falls back in silence: Open MPI's scatter_allgather runs linear where there are fewer elements than
processes. Two methods of a cell ran the same program when the same messages went the same ways and there is a program
that both can end up in; equal messages alone do not suffice, since algorithms differ in the order of messages too.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEFAULT = "default"


@dataclass(frozen=True)
class Ran:
    """What a method did in one cell."""

    #: Whatever tells it from the others.
    method: Hashable
    #: Of its messages.
    digest: str
    #: Those that the library may run when asked for it, its own first; none = any of them, as the library decides.
    programs: tuple[str, ...]
    #: Whether it has no further parameters: of two that ran the same, the plain one gives the name.
    plain: bool = True


def doubles(cell: Sequence[Ran]) -> dict[Hashable, Hashable]:
    """Find the methods of a cell that ran as another one.

    Parameters
    ----------
    cell
        Its methods in the order of the library, in which what others fall back to comes first.

    Returns
    -------
    dict
        For each double the method that it is a double of, which is none itself. The library's own decision is a
        double only where a single method sent its messages.
    """
    by_digest: dict[str, list[Ran]] = {}
    for run in cell:
        by_digest.setdefault(run.digest, []).append(run)
    double_of: dict[Hashable, Hashable] = {}
    for alike in by_digest.values():
        true: list[Ran] = []
        for run in sorted(alike, key=lambda run: (not run.programs, not run.plain)):
            same = [other for other in true if not run.programs or set(run.programs) & set(other.programs)]
            if len(same) == 1 or (same and run.programs):
                double_of[run.method] = same[0].method
            else:
                true.append(run)
    return double_of


def ran(method: Hashable, record: Mapping[str, Any]) -> Ran | None:
    """What a point of a run file tells of the messages; None when they were not recorded."""
    graph = record.get("graph")
    if not isinstance(graph, Mapping) or not isinstance(graph.get("digest"), str):
        return None
    programs = graph.get("programs")
    if not isinstance(programs, list) or not all(isinstance(name, str) for name in programs):
        return None
    if not programs and record.get("algorithm") != DEFAULT:
        return None
    return Ran(method, graph["digest"], tuple(programs), not record.get("parameters"))


def doubles_of(cells: Mapping[Hashable, Iterable[Ran]]) -> dict[tuple[Hashable, Any], Any]:
    """As `doubles` for many cells: ``(cell, method)`` to the method that it is a double of."""
    return {(cell, method): other for cell, there in cells.items() for method, other in doubles(list(there)).items()}
