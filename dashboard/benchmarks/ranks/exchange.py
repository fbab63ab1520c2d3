"""What each process of a call brings and what it must hold afterwards, from the collective's entry alone."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.domain.arrays import Array
from loaders.collectives import Collective


@dataclass(frozen=True)
class Exchange:
    """The data of one call.

    Attributes
    ----------
    counts
        Elements of each process's block; of a vector its elements, for each process the same.
    block
        What a process sends to another, as ``block(rank, to, elements)``; where it sends all the same, to 0.
    reduced
        Result of the operation over arrays in the order of ranks.
    """

    entry: Collective
    counts: Sequence[int]
    block: Callable[[int, int, int], Array]
    reduced: Callable[[Iterable[Array]], Array]

    @property
    def starts(self) -> list[int]:
        """First element of each block."""
        return starts_of(self.counts)

    def own(self, rank: int) -> int:
        """Elements of a process's own block."""
        return self.counts[rank]

    def between(self, rank: int) -> list[int]:
        """Elements that a process sends to each, and gets from each, where each has a block for each."""
        return [self.counts[(rank + other) % len(self.counts)] for other in range(len(self.counts))]

    def brings(self, rank: int) -> Array:
        """What a process puts in; of those with a root what it would, were it the root."""
        if self.entry.sends == "vector":
            return self.block(rank, 0, self.counts[0])
        if self.entry.sends == "block":
            return self.block(rank, 0, self.counts[rank])
        if self.entry.reduces:
            return self.block(rank, 0, sum(self.counts))
        blocks = self.counts if self.entry.rooted else self.between(rank)
        return np.concatenate([self.block(rank, to, count) for to, count in enumerate(blocks)])

    def gets(self, rank: int, root: int) -> Array | None:
        """What a process must hold afterwards; None where the collective promises it nothing."""
        entry, everyone = self.entry, range(len(self.counts))
        if entry.receives == "nothing" or (entry.ends_at_root and rank != root):
            return None
        if entry.reduces:
            return self._result(rank)
        if entry.in_one_buffer:
            return self.brings(root)
        if entry.receives == "block":
            return self.block(root, rank, self.counts[rank])
        if entry.sends == "block":
            return np.concatenate([self.brings(other) for other in everyone])
        sizes = enumerate(self.between(rank))
        return np.concatenate([self.block(other, rank, count) for other, count in sizes])

    def _result(self, rank: int) -> Array | None:
        """What a process gets of a reduction; None where nobody is below it."""
        reach = {"all": len(self.counts), "lower": rank + 1, "below": rank}[self.entry.reduces or "all"]
        if not reach:
            return None
        total = self.reduced(self.brings(other) for other in range(reach))
        start = self.starts[rank]
        return total[start : start + self.counts[rank]] if self.entry.receives == "block" else total


@dataclass(frozen=True)
class Across:
    """The data of one call between two groups: each brings what the other gets (MPI 5.0, 6.2.2); blocks are equal.

    Attributes
    ----------
    entry, block, reduced
        As of an `Exchange`, the processes numbered over both groups.
    count
        Elements of a block or of the vector.
    mine, theirs
        Processes of the group of this process and of the other, in their order there.
    """

    entry: Collective
    count: int
    block: Callable[[int, int, int], Array]
    reduced: Callable[[Iterable[Array]], Array]
    mine: Sequence[int]
    theirs: Sequence[int]

    @property
    def counts(self) -> list[int]:
        """Elements of the blocks that come from the other group, or of those that a reduction leaves in this one."""
        if self.entry.reduces and self.entry.by_block:
            return [self.own()] * len(self.mine)
        return [self.count] * len(self.theirs)

    def own(self, rank: int = 0) -> int:
        """Elements of a process's own block: what is reduced and scattered is equally long in both groups."""
        return self.count * len(self.theirs) if self.entry.reduces and self.entry.by_block else self.count

    def between(self, rank: int) -> list[int]:
        """Elements that a process sends to each of the other group."""
        return self.counts

    def brings(self, rank: int) -> Array:
        """What a process of this group puts in, by its place there."""
        return self._brings(self.mine[rank], self.theirs)

    def _brings(self, process: int, others: Sequence[int]) -> Array:
        if self.entry.reduces and self.entry.by_block:
            return self.block(process, 0, self.count * len(self.mine) * len(self.theirs))
        if self.entry.sends == "blocks":
            return np.concatenate([self.block(process, other, self.count) for other in others])
        return self.block(process, 0, self.count)

    def gets(self, rank: int, root: int) -> Array | None:
        """What a process of this group must hold afterwards; None where the collective promises it nothing."""
        entry, process = self.entry, self.mine[rank]
        gives = root in self.theirs
        if entry.receives == "nothing" or (entry.rooted and (process != root if entry.ends_at_root else not gives)):
            return None
        if entry.reduces:
            total = self.reduced(self._brings(other, self.mine) for other in self.theirs)
            return total[rank * self.own() :][: self.own()] if entry.receives == "block" else total
        if entry.rooted and gives:
            return self.block(root, process if entry.receives == "block" else 0, self.count)
        to = process if entry.sends == "blocks" else 0
        return np.concatenate([self.block(other, to, self.count) for other in self.theirs])


def starts_of(counts: Sequence[int]) -> list[int]:
    """First element of each block of so many elements, one after the other."""
    return [sum(counts[:place]) for place in range(len(counts))]
