"""Broadcasts (Table 4.3): segments go down a tree; two receives are in flight (section 4.1.2)."""

from collections.abc import Callable, Sequence

from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm, Parameter
from dashboard.schedules.call import View
from dashboard.schedules.parts import segments
from dashboard.schedules.rank import Rank
from dashboard.schedules.topologies import Topology, binary, binomial, chains, flat, k_ary, pipeline

LEFT, RIGHT = 0, 1
OTHER_HALF = 1
FAN_OUT = Parameter("fan_out", 4, (2, 4, 8), least=1)


def down(topology: Topology) -> Callable[[Rank], None]:
    """Broadcast along a tree."""

    def write(rank: Rank) -> None:
        """Write one rank."""
        place = topology(rank.virtual, rank.size)
        pieces = segments(rank.output, rank.segment)
        forward(rank, place.parent, [(child, pieces) for child in place.children], pieces)

    return write


def forward(rank: Rank, parent: int, children: Sequence[tuple[int, Sequence[View]]], pieces: Sequence[View]) -> None:
    """Receive pieces from the parent, if there is one, and send each child its own in turn; virtual ranks."""
    coming = [] if parent < 0 else [rank.receive(pieces[0], rank.real(parent))]
    for step in range(max(len(pieces), *(len(own) for _, own in children), 0)):
        if parent >= 0:
            if step + 1 < len(pieces):
                coming.append(rank.receive(pieces[step + 1], rank.real(parent)))
            rank.wait(coming[step])
        rank.wait(*[rank.send(own[step], rank.real(child)) for child, own in children if step < len(own)])


def split_binary(rank: Rank) -> None:
    """Halves go down the two subtrees, then pairs exchange them; the last of an even number gets the root's."""
    count = rank.output.length
    if rank.size < 3 or count < 2:
        down(binary)(rank)
        return
    first = (count + 1) // 2
    halves = rank.output.part(0, first), rank.output.part(first, count - first)
    pieces = [segments(half, rank.segment) for half in halves]
    place = binary(rank.virtual, rank.size)
    side = LEFT if rank.virtual % 2 else RIGHT
    if rank.virtual == 0:
        forward(rank, -1, [(child, pieces[LEFT if child % 2 else RIGHT]) for child in place.children], ())
    else:
        forward(rank, place.parent, [(child, pieces[side]) for child in place.children], pieces[side])
    single = rank.size - 1 if rank.size % 2 == 0 else 0
    if rank.virtual == 0 and single:
        rank.put(halves[RIGHT], rank.real(single), OTHER_HALF)
    elif rank.virtual == single and single:
        rank.take(halves[RIGHT], rank.root, OTHER_HALF)
    elif rank.virtual:
        mate = rank.real(rank.virtual + 1 if side == LEFT else rank.virtual - 1)
        rank.exchange(halves[side], mate, halves[1 - side], mate, OTHER_HALF)


def _bcast(name: str, topology: Topology, figure: str) -> Algorithm:
    return Algorithm("bcast", name, down(topology), f"Table 4.3, {figure}", (SEGMENT_SIZE,))


ALGORITHMS = (
    _bcast("linear", flat, "section 4.1.1"),
    _bcast("pipeline", pipeline, "Figure 4.1"),
    _bcast("binomial", binomial, "Figure 4.3"),
    _bcast("binary", binary, "Figure 4.2"),
    Algorithm("bcast", "split_binary", split_binary, "Table 4.3, Figure 4.16", (SEGMENT_SIZE,)),
    Algorithm(
        "bcast", "k_chain", lambda rank: down(chains(rank["fan_out"]))(rank), "section A.1.2", (SEGMENT_SIZE, FAN_OUT)
    ),
    Algorithm(
        "bcast", "k_ary", lambda rank: down(k_ary(rank["fan_out"]))(rank), "section 4.1.1", (SEGMENT_SIZE, FAN_OUT)
    ),
)
