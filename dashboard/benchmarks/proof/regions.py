"""Regions of a decision function, each with the sizes at which a library is to be watched."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.benchmarks.campaigns.plan import buffer_bytes
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.decisions import DecisionFunction, Method, Rule
from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, attribute, compute_one

Bounds = Mapping[str, tuple[float, float]]
_TOTAL = "total_size"
#: Above the first size of a region without an end, or one too far off: enough for several segments.
_BEYOND, _FACTOR = 1 << 16, 4
#: So many communicator sizes are looked at for the smallest one of a region.
_FAR = 1 << 16


@dataclass(frozen=True)
class Region:
    """Sizes for which one method is asked."""

    collective: str
    #: ``low < attribute <= high`` by attribute; what is not named is not bounded.
    bounds: Bounds
    #: What the rules ask for.
    method: Method
    #: Where the library is to be watched: at the first and last sizes of the region that can be run.
    cells: tuple[Cell, ...]
    #: Why there is no such cell; empty when there is one.
    why_not: str = ""
    #: Processes that it takes, where that is why.
    needs: int = 0


def regions_of(decision: DecisionFunction, ranks: int, memory: int, per_node: int = 1) -> list[Region]:
    """Give the regions of a decision function, by communicator and message size.

    Parameters
    ----------
    decision
        Of one collective, as a rules file was read.
    memory
        Bytes of buffers that one process may hold.
    per_node
        Processes on each node: where a region has communicators of whole nodes, several of them, these are watched.
    """
    regions = [_region(decision, rule, ranks, memory, per_node) for rule in decision.rules()]
    names = (COMM_SIZE, MESSAGE_SIZE, _TOTAL)
    return sorted(regions, key=lambda region: [region.bounds.get(name, (-math.inf,))[0] for name in names])


def _region(decision: DecisionFunction, rule: Rule, ranks: int, memory: int, per_node: int) -> Region:
    name, method = decision.collective, decision.methods[rule.method]
    if decision.needs:
        why = f"depends on {', '.join(decision.needs)}, which is not tried"
        return Region(name, rule.bounds, method, (), why)
    every = [size for size in range(2, ranks + 1) if holds_for(rule.bounds, size)]
    sizes = [size for size in every if per_node > 1 and size > per_node and not size % per_node] or every
    candidates: list[Cell] = []
    reasons: list[str] = []
    for size in sizes:
        cells, why = _cells(name, rule.bounds, size, memory)
        candidates += cells
        reasons += [why] if why else []
    if candidates:
        tried = {candidates[place].comm_size for place in (0, len(candidates) // 2, -1)}
        return Region(name, rule.bounds, method, tuple(cell for cell in candidates if cell.comm_size in tried))
    if reasons:
        return Region(name, rule.bounds, method, (), reasons[0])
    return _out_of_reach(Region(name, rule.bounds, method, ()), ranks)


def holds_for(bounds: Bounds, comm_size: int) -> bool:
    """Whether a communicator size is inside of all bounds that depend on nothing else."""
    for name, (low, high) in bounds.items():
        if name in (MESSAGE_SIZE, _TOTAL):
            continue
        known = attribute(name)
        value = compute_one(name, dict.fromkeys(known.base or (name,), comm_size))
        if not low < value <= high:
            return False
    return True


def _out_of_reach(region: Region, ranks: int) -> Region:
    """The region with the reason why none of its communicators can be made."""
    low, high = region.bounds.get(COMM_SIZE, (-math.inf, math.inf))
    if high < 2:
        return replace(region, why_not="one process alone sends nothing")
    first = max(2, int(low) + 1) if math.isfinite(low) else 2
    needed = next((size for size in range(first, first + _FAR) if holds_for(region.bounds, size)), None)
    if needed is None:
        return replace(region, why_not="holds for no communicator of two or more processes")
    return replace(region, why_not=f"needs {needed} processes, more than the {ranks} allowed (--ranks)", needs=needed)


def _cells(collective: str, bounds: Bounds, comm_size: int, memory: int) -> tuple[list[Cell], str]:
    """First and last message size of a region at one communicator size, or why there is none."""
    if collective == "barrier":
        return [Cell(collective, comm_size, 0)], ""
    low, high = messages_of(bounds, comm_size)
    first, most = max(low, 1), memory // max(1, buffer_bytes(Cell(collective, comm_size, 1)))
    if first > high:
        return [], "holds for empty messages only, which are not sent"
    if first > most:
        held = buffer_bytes(Cell(collective, comm_size, int(first)))
        return [], f"needs {held:,} B of buffers in each process, more than the {memory:,} B allowed (--memory)"
    last = high if high <= most else min(most, max(_FACTOR * first, _BEYOND))
    return [Cell(collective, comm_size, int(size)) for size in sorted({first, last})], ""


def messages_of(bounds: Bounds, comm_size: int) -> tuple[float, float]:
    """Smallest and largest message size in the bounds at one communicator size; 0 and infinity: without bounds."""
    low, high = 0.0, math.inf
    for name, share in ((MESSAGE_SIZE, 1), (_TOTAL, comm_size)):
        under, upto = bounds.get(name, (-math.inf, math.inf))
        if math.isfinite(under):
            low = max(low, under // share + 1)
        if math.isfinite(upto):
            high = min(high, upto // share)
    return low, high
