"""Allgather (Table 4.6), also with a count for each rank.

Algorithms that send several blocks at once need them side by side: where there are gaps they work in scratch memory.
"""

from collections.abc import Callable
from typing import Any

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import Blocks, View
from dashboard.schedules.parts import powers
from dashboard.schedules.rank import Rank


def gathered(write: Callable[[Rank, View, Blocks], None]) -> Callable[[Rank], None]:
    """Let an algorithm fill dense blocks of a view that begins with the own one, wherever these are."""

    def program(rank: Rank) -> None:
        """Write one rank."""
        blocks = rank.call.blocks
        dense = Blocks.dense(blocks.lengths)
        view = rank.output if blocks.is_dense else rank.scratch(dense.end)
        rank.copy(rank.input, dense.of(view, rank.rank))
        write(rank, view, dense)
        if not blocks.is_dense:
            for other in range(rank.size):
                rank.copy(dense.of(view, other), blocks.of(rank.output, other))

    return program


def by_digits(rank: Rank, view: View, blocks: Blocks, radix: int, *, modelled: bool = False) -> None:
    """All blocks known go to the ranks 1, 2, … distances before, of as many as the radix less one at once.

    Place i is that of the rank i further on; `modelled`: the model counts that they are turned back.
    """
    turned = blocks.turned(rank.rank)
    places = rank.scratch(turned.end)
    rank.copy(blocks.of(view, rank.rank), turned.of(places, 0))
    for distance in powers(rank.size, radix):
        aheads = range(distance, min(distance * radix, rank.size), distance)
        counts = {ahead: min(distance, rank.size - ahead) for ahead in aheads}
        receives = [
            rank.receive(turned.of(places, ahead, count), (rank.rank + ahead) % rank.size)
            for ahead, count in counts.items()
        ]
        sends = [
            rank.send(turned.of(places, 0, count), (rank.rank - ahead) % rank.size) for ahead, count in counts.items()
        ]
        rank.wait(*receives, *sends)
    before = rank.size - rank.rank
    rank.copy(turned.of(places, 0, before), blocks.of(view, rank.rank, before), modelled=modelled)
    if rank.rank:
        rank.copy(turned.of(places, before, rank.rank), blocks.of(view, 0, rank.rank), modelled=modelled)


def bruck(rank: Rank, view: View, blocks: Blocks) -> None:
    """All blocks known go to the rank 1, 2, 4, … before (Figure 4.4)."""
    by_digits(rank, view, blocks, 2, modelled=True)


def recursive_doubling(rank: Rank, view: View, blocks: Blocks) -> None:
    """Partners at doubling distances exchange all that they have (Figure 4.5)."""
    for distance in powers(rank.size):
        mate = rank.rank ^ distance
        mine, other = (blocks.of(view, number // distance * distance, distance) for number in (rank.rank, mate))
        rank.exchange(mine, mate, other, mate)


def ring(rank: Rank, view: View, blocks: Blocks, begin: int = 0, tag: int = 0) -> None:
    """The block received last goes on to the right; `begin`: the own first block is so many ranks further on."""
    right, left = (rank.rank + 1) % rank.size, (rank.rank - 1) % rank.size
    for step in range(rank.size - 1):
        sent, received = ((rank.rank + begin - step - late) % rank.size for late in (0, 1))
        rank.exchange(blocks.of(view, sent), right, blocks.of(view, received), left, tag)


def neighbor_exchange(rank: Rank, view: View, blocks: Blocks) -> None:
    """One block with the first neighbour, then two at a time with either in turn (Figure 4.6)."""
    ahead = 1 if rank.rank % 2 == 0 else -1
    neighbors = (rank.rank + ahead) % rank.size, (rank.rank - ahead) % rank.size
    base = rank.rank & ~1
    rank.exchange(blocks.of(view, rank.rank), neighbors[0], blocks.of(view, neighbors[0]), neighbors[0])
    begins, steps, last = [base, base], (2 * ahead, -2 * ahead), base
    for step in range(1, rank.size // 2):
        side = step % 2
        begins[side] = (begins[side] + steps[side]) % rank.size
        mate = neighbors[side]
        rank.exchange(blocks.of(view, last, 2), mate, blocks.of(view, begins[side], 2), mate)
        last = begins[side]


def linear(rank: Rank, view: View, blocks: Blocks) -> None:
    """Each sends its block to all others."""
    others = [(rank.rank + ahead) % rank.size for ahead in range(1, rank.size)]
    receives = [rank.receive(blocks.of(view, other), other) for other in others]
    rank.wait(*receives, *[rank.send(blocks.of(view, rank.rank), other) for other in others])


def _of(collective: str) -> tuple[Algorithm, ...]:
    def entry(name: str, write: Callable[[Rank, View, Blocks], None], source: str, **needs: Any) -> Algorithm:
        return Algorithm(collective, name, gathered(write), source, **needs)

    return (
        entry("bruck", bruck, "Table 4.6, Figure 4.4"),
        entry("ring", ring, "Table 4.6"),
        entry("neighbor_exchange", neighbor_exchange, "Table 4.6, Figure 4.6", requires="even", fallback="ring"),
    )


ALGORITHMS = (
    *_of("allgather"),
    Algorithm(
        "allgather",
        "recursive_doubling",
        gathered(recursive_doubling),
        "Table 4.6, Figure 4.5",
        requires="power_of_two",
        fallback="bruck",
    ),
    *_of("allgatherv"),
    Algorithm("allgatherv", "linear", gathered(linear), "section 4.1.2"),
)
