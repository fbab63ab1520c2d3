"""Reduce_scatter (Table 4.9); the counts of the ranks may differ."""

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import Blocks, View
from dashboard.schedules.parts import fold, unfolded
from dashboard.schedules.rank import Rank

RESULT = 1


def _mine(rank: Rank, *, modelled: bool) -> tuple[View, Blocks, View]:
    """A copy of the input that can be computed on, its blocks, and where the own result goes."""
    blocks = Blocks.dense(rank.call.blocks.lengths)
    result = rank.scratch(blocks.end)
    rank.copy(rank.input, result, modelled=modelled)
    return result, blocks, rank.output.part(0, blocks.lengths[rank.rank])


def recursive_halving(rank: Rank) -> None:
    """Halves of the blocks left are exchanged, the farthest first (Figure 4.9)."""
    result, blocks, target = _mine(rank, modelled=False)
    own = fold(rank.rank, rank.size, stays=1)
    if own.number < 0:
        rank.put(result, own.mate)
        rank.take(target, own.mate, RESULT)
        return
    received = rank.scratch(result.length)
    if own.mate >= 0:
        rank.take(received, own.mate)
        rank.merge(received, result, lower=True)
    folded = rank.size - own.group
    begins = [number + min(number, folded) for number in range(own.group + 1)]
    low, high = 0, own.group
    while high - low > 1:
        middle = (low + high) // 2
        upper = own.number >= middle
        mine, other = ((middle, high), (low, middle)) if upper else ((low, middle), (middle, high))
        mate = unfolded(own.number ^ (middle - low), rank.size, stays=1)
        kept, sent = (blocks.of(result, begins[start], begins[end] - begins[start]) for start, end in (mine, other))
        coming = received.part(0, kept.length)
        rank.exchange(sent, mate, coming, mate)
        rank.merge(coming, kept, lower=upper)
        low, high = mine
    if own.mate >= 0:
        rank.put(blocks.of(result, own.mate), own.mate, RESULT)
    rank.copy(blocks.of(result, rank.rank), target)


def ring(rank: Rank) -> None:
    """A block goes round, each combines its part, and it ends where it belongs."""
    result, blocks, target = _mine(rank, modelled=True)
    right, left = (rank.rank + 1) % rank.size, (rank.rank - 1) % rank.size
    received = rank.scratch(max(blocks.lengths))
    for step in range(1, rank.size):
        sent, mine = (blocks.of(result, (rank.rank - step - late) % rank.size) for late in (0, 1))
        coming = received.part(0, mine.length)
        rank.exchange(sent, right, coming, left)
        rank.merge(coming, mine, lower=True)
    rank.copy(blocks.of(result, rank.rank), target)


ALGORITHMS = (
    Algorithm(
        "reduce_scatter",
        "recursive_halving",
        recursive_halving,
        "Table 4.9, Figure 4.9",
        order="commutative",
        fallback="reduce_scatter",
    ),
    Algorithm("reduce_scatter", "ring", ring, "Table 4.9", order="commutative", fallback="reduce_scatter"),
)
