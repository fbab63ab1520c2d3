"""Barriers (Table 4.2): messages of no bytes."""

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import View
from dashboard.schedules.parts import power_below, powers
from dashboard.schedules.rank import OUTPUT, Rank
from dashboard.schedules.topologies import in_order_binomial

NOTHING = View(OUTPUT, 0, 0)


def flat_tree(rank: Rank) -> None:
    """All report to the root, which then lets all go."""
    if rank.rank != rank.root:
        rank.put(NOTHING, rank.root)
        rank.take(NOTHING, rank.root)
        return
    others = [other for other in range(rank.size) if other != rank.root]
    rank.wait(*[rank.receive(NOTHING, other) for other in others])
    rank.wait(*[rank.send(NOTHING, other) for other in others])


def double_ring(rank: Rank) -> None:
    """A token goes round twice."""
    right, left = (rank.rank + 1) % rank.size, (rank.rank - 1) % rank.size
    for _ in range(2):
        if rank.rank:
            rank.take(NOTHING, left)
        rank.put(NOTHING, right)
        if not rank.rank:
            rank.take(NOTHING, left)


def recursive_doubling(rank: Rank) -> None:
    """Partners exchange at doubling distances; a rank beyond the power of two reports to the one so far before it."""
    group = power_below(rank.size)
    if rank.rank >= group:
        rank.put(NOTHING, rank.rank - group)
        rank.take(NOTHING, rank.rank - group)
        return
    folded = rank.rank + group < rank.size
    if folded:
        rank.take(NOTHING, rank.rank + group)
    for distance in powers(group):
        rank.exchange(NOTHING, rank.rank ^ distance, NOTHING, rank.rank ^ distance)
    if folded:
        rank.put(NOTHING, rank.rank + group)


def bruck(rank: Rank) -> None:
    """Dissemination: a message to the rank 1, 2, 4, … further on."""
    for distance in powers(rank.size):
        to, source = (rank.rank + distance) % rank.size, (rank.rank - distance) % rank.size
        rank.exchange(NOTHING, to, NOTHING, source)


def binomial(rank: Rank) -> None:
    """Reports go up the in-order binomial tree, releases come down."""
    place = in_order_binomial(rank.virtual, rank.size)
    for child in place.children[::-1]:
        rank.take(NOTHING, rank.real(child))
    if place.parent >= 0:
        rank.put(NOTHING, rank.real(place.parent))
        rank.take(NOTHING, rank.real(place.parent))
    rank.wait(*[rank.send(NOTHING, rank.real(child)) for child in place.children])


ALGORITHMS = (
    Algorithm("barrier", "flat_tree", flat_tree, "Table 4.2"),
    Algorithm("barrier", "double_ring", double_ring, "Table 4.2"),
    Algorithm("barrier", "recursive_doubling", recursive_doubling, "Table 4.2"),
    Algorithm("barrier", "bruck", bruck, "Table 4.2"),
    Algorithm("barrier", "binomial", binomial, "section 4.1.2"),
)
