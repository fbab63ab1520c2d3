"""Allreduce (Table 4.10)."""

from collections.abc import Mapping
from typing import Any

from dashboard.schedules import allgather
from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm
from dashboard.schedules.call import Call, View
from dashboard.schedules.halving import halve, needs, spread_halves
from dashboard.schedules.parts import even_parts, fold, powers, unfolded
from dashboard.schedules.rank import Rank

RESULT = 1


def recursive_doubling(rank: Rank) -> None:
    """Partners at doubling distances exchange the vector (Figure 4.10)."""
    result = rank.result(here=True)
    own = fold(rank.rank, rank.size, stays=1)
    if own.number < 0:
        rank.put(result, own.mate)
        rank.take(result, own.mate, RESULT)
        return
    received = rank.scratch(result.length)
    if own.mate >= 0:
        rank.take(received, own.mate)
        rank.merge(received, result, lower=True)
    for distance in powers(own.group):
        mate = unfolded(own.number ^ distance, rank.size, stays=1)
        rank.exchange(result, mate, received, mate)
        rank.merge(received, result, lower=bool(own.number & distance))
    if own.mate >= 0:
        rank.put(result, own.mate, RESULT)


def computing_ring(rank: Rank, parts: list[list[View]]) -> None:
    """Blocks go round and are combined by each; afterwards each rank has that of the next one complete.

    `parts` are those of each block. All phases are on their way at once, part by part, so that one is combined while
    the others travel; a receive is posted ahead, and a part goes on when the one before it of its phase has gone.
    """
    right, left = (rank.rank + 1) % rank.size, (rank.rank - 1) % rank.size
    coming = [part for step in range(1, rank.size) for part in parts[(rank.rank - step) % rank.size]]
    spare = [rank.scratch(max(part.length for part in coming)) for _ in coming[:2]]
    sends = [rank.send(part, right) for part in parts[rank.rank]]
    receives = [rank.receive(spare[0].part(0, coming[0].length), left)]
    for number, mine in enumerate(coming):
        if number + 1 < len(coming):
            receives.append(rank.receive(spare[(number + 1) % 2].part(0, coming[number + 1].length), left))
        rank.wait(receives[number])
        rank.merge(spare[number % 2].part(0, mine.length), mine, lower=True)
        rank.wait(sends[number])
        if number + len(parts[0]) < len(coming):
            sends.append(rank.send(mine, right))


def phases(call: Call, values: Mapping[str, Any]) -> int:
    """How often the computing ring goes round: segments of the largest block."""
    size = values.get("segment_size", 0)
    largest = -(-call.count // call.processes)
    return max(1, -(-largest // call.held_by(size))) if size else 1


def ring(rank: Rank) -> None:
    """A ring that combines the blocks, in each phase a part of them, and one that tells the results (Figure 4.11)."""
    result = rank.result(here=True)
    blocks = even_parts(result.length, rank.size)
    number = phases(rank.call, rank.parameters)
    parts = [even_parts(length, number) for length in blocks.lengths]
    views = [blocks.of(result, block) for block in range(rank.size)]
    computing_ring(rank, [[parts[b].of(view, f) for f in range(number)] for b, view in enumerate(views)])
    allgather.ring(rank, result, blocks, begin=1, tag=RESULT)


def rabenseifner(rank: Rank) -> None:
    """Halves are exchanged and combined, then exchanged back."""
    result = rank.result(here=True)
    spread_halves(rank, result, halve(rank, result))


def _blocks(call: Call, values: Mapping[str, Any]) -> int:
    """Elements for a part of each block in each phase."""
    return call.processes * phases(call, values)


ALGORITHMS = (
    Algorithm(
        "allreduce",
        "recursive_doubling",
        recursive_doubling,
        "Table 4.10, Figure 4.10",
        order="rank order",
    ),
    Algorithm(
        "allreduce",
        "ring",
        ring,
        "Table 4.10, Figure 4.11",
        least_count=_blocks,
        order="commutative",
        fallback="recursive_doubling",
    ),
    Algorithm(
        "allreduce",
        "ring_segmented",
        ring,
        "Table 4.10, Figure 4.12",
        (SEGMENT_SIZE,),
        least_count=_blocks,
        order="commutative",
        fallback="ring",
    ),
    Algorithm(
        "allreduce",
        "rabenseifner",
        rabenseifner,
        "Table 4.10",
        least_count=needs,
        order="rank order",
        fallback="recursive_doubling",
    ),
)
