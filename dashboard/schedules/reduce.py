"""Reductions (Table 4.8)."""

from collections.abc import Callable, Sequence

from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm
from dashboard.schedules.bcast import FAN_OUT
from dashboard.schedules.call import View
from dashboard.schedules.halving import gather_halves, halve, needs
from dashboard.schedules.parts import segments
from dashboard.schedules.rank import Rank
from dashboard.schedules.topologies import (
    Place,
    Topology,
    binary,
    chains,
    flat,
    in_order_binary,
    in_order_binomial,
    pipeline,
)

RESULT = 1


def combined(rank: Rank, jobs: Sequence[tuple[int, View]], after: Callable[[View, bool], None]) -> None:
    """Receive and combine pieces from ranks in turn, the next one already posted.

    `after` is called with each piece and whether no later job changes it.
    """
    if not jobs:
        return
    longest = max(piece.length for _, piece in jobs)
    pair = [rank.scratch(longest) for _ in jobs[:2]]
    coming = [rank.receive(pair[0].part(0, jobs[0][1].length), jobs[0][0])]
    last = {piece: number for number, (_, piece) in enumerate(jobs)}
    for number, (_, piece) in enumerate(jobs):
        if number + 1 < len(jobs):
            source, following = jobs[number + 1]
            coming.append(rank.receive(pair[(number + 1) % 2].part(0, following.length), source))
        rank.wait(coming[number])
        rank.combine(pair[number % 2].part(0, piece.length), piece)
        after(piece, last[piece] == number)


def up(rank: Rank, place: Place, result: View, *, by_child: bool = False) -> None:
    """Reduce up a tree of real ranks: each segment goes on as soon as it is complete.

    `by_child`: all segments of one child before those of the next (binomial), else all children of one segment.
    """
    pieces = segments(result, rank.segment)
    if by_child:
        jobs = [(child, piece) for child in place.children for piece in pieces]
    else:
        jobs = [(child, piece) for piece in pieces for child in place.children]

    def send(piece: View, complete: bool) -> None:  # noqa: FBT001 - what `combined` tells
        """Send a piece on when it is complete."""
        if complete and place.parent >= 0:
            rank.put(piece, place.parent)

    combined(rank, jobs, send)
    if not jobs and place.parent >= 0:
        for piece in pieces:
            rank.put(piece, place.parent)


def tree(topology: Topology, *, by_child: bool = False) -> Callable[[Rank], None]:
    """Reduce up a tree over virtual ranks."""

    def write(rank: Rank) -> None:
        """Write one rank."""
        place = topology(rank.virtual, rank.size)
        children = place.children[::-1] if by_child else place.children
        parent = rank.real(place.parent) if place.parent >= 0 else -1
        leaf = parent >= 0 and not children
        result = rank.input if leaf else rank.result(here=parent < 0)
        up(rank, Place(parent, tuple(map(rank.real, children))), result, by_child=by_child)

    return write


def linear_in_order(rank: Rank) -> None:
    """The root combines from the last rank down, so that the order of ranks is kept."""
    if rank.rank != rank.root:
        rank.put(rank.input, rank.root)
        return
    # In place the own operand stands where the result goes: it is computed elsewhere until the own turn is over.
    result = rank.scratch(rank.input.length) if rank.input == rank.output else rank.output
    spare = [rank.scratch(rank.input.length) for _ in range(min(2, rank.size - 1))]
    sources = [other for other in range(rank.size - 1, -1, -1) if other != rank.root]
    targets = [spare[number % 2] for number in range(len(sources))]
    if rank.root != rank.size - 1:
        targets[0] = result
    coming = [rank.receive(targets[0], sources[0])]
    for other in range(rank.size - 1, -1, -1):
        if other == rank.root:
            rank.copy(rank.input, result) if other == rank.size - 1 else rank.combine(rank.input, result)
            continue
        number = len(coming) - 1
        if number + 1 < len(sources):
            coming.append(rank.receive(targets[number + 1], sources[number + 1]))
        rank.wait(coming[number])
        if targets[number] != result:
            rank.combine(targets[number], result)
    rank.copy(result, rank.output)


def in_order(rank: Rank) -> None:
    """Up a binary tree that keeps the order of ranks; its root is the last one, which hands the result over."""
    last = rank.size - 1
    place = in_order_binary(rank.rank, rank.size)
    result = rank.result(here=rank.rank == rank.root) if place.children else rank.input
    up(rank, place, result)
    if rank.root != last and rank.rank == last:
        rank.put(result, rank.root, RESULT)
    elif rank.root != last and rank.rank == rank.root:
        rank.take(rank.output, last, RESULT)


def rabenseifner(rank: Rank) -> None:
    """Halves are exchanged and combined, then gathered at the root (Figure 4.8)."""
    result = rank.result(here=rank.rank == rank.root)
    gather_halves(rank, result, halve(rank, result))


def _tree(name: str, topology: Topology, source: str, *, by_child: bool = False) -> Algorithm:
    write = tree(topology, by_child=by_child)
    fallback = "linear_in_order" if name == "flat_tree" else "in_order_binary"
    return Algorithm("reduce", name, write, source, (SEGMENT_SIZE,), order="commutative", fallback=fallback)


ALGORITHMS = (
    _tree("flat_tree", flat, "Table 4.8"),
    _tree("pipeline", pipeline, "Table 4.8, Figure 4.1"),
    _tree("binomial", in_order_binomial, "Table 4.8, Figure 4.3", by_child=True),
    _tree("binary", binary, "Table 4.8, Figure 4.2"),
    Algorithm(
        "reduce",
        "rabenseifner",
        rabenseifner,
        "Table 4.8, Figure 4.8",
        least_count=needs,
        order="rank order",
        fallback="binomial",
    ),
    Algorithm(
        "reduce",
        "k_chain",
        lambda rank: tree(chains(rank["fan_out"]))(rank),
        "section A.1.2",
        (SEGMENT_SIZE, FAN_OUT),
        order="commutative",
        fallback="in_order_binary",
    ),
    Algorithm("reduce", "linear_in_order", linear_in_order, "section A.1.2", order="rank order"),
    Algorithm("reduce", "in_order_binary", in_order, "section A.1.2", (SEGMENT_SIZE,), order="rank order"),
)
