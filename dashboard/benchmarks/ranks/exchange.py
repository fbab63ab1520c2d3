"""What each process of a call brings and what it must hold afterwards, from the collective's entry alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.domain.arrays import Array
from loaders.collectives import Collective

#: What a process sends to another, as ``block(rank, to, elements)``; where it sends all the same, to 0.
Block = Callable[[int, int, int], Array]
#: Result of the operation over arrays in the order of ranks.
Reduced = Callable[[Iterable[Array]], Array]


@dataclass(frozen=True)
class Exchange:
    """The data of one call, on a communicator or between two groups."""

    entry: Collective
    #: Elements of each block that a process exchanges; of a vector its elements, for each process the same.
    counts: Sequence[int]
    block: Block
    reduced: Reduced
    #: Processes of the group of this process, and of the one that brings what it gets (MPI 5.0, 6.2.2): on a
    #: communicator both are all. Between groups they are numbered over both, and blocks are equal.
    mine: Sequence[int]
    theirs: Sequence[int]

    @staticmethod
    def within(entry: Collective, counts: Sequence[int], block: Block, reduced: Reduced) -> Exchange:
        """On a communicator, given the elements of each process's block."""
        everyone = range(len(counts))
        return Exchange(entry, counts, block, reduced, everyone, everyone)

    @staticmethod
    def between_groups(
        entry: Collective, count: int, block: Block, reduced: Reduced, mine: Sequence[int], theirs: Sequence[int]
    ) -> Exchange:
        """Between groups, with blocks or a vector of so many elements.

        What is reduced and scattered is equally long in both.
        """
        scattered = entry.reduces and entry.by_block
        counts = [count * len(theirs)] * len(mine) if scattered else [count] * len(theirs)
        return Exchange(entry, counts, block, reduced, mine, theirs)

    def own(self, process: int) -> int:
        """Elements of a process's own block."""
        return self.counts[process if self.mine == self.theirs else 0]

    def between(self, rank: int) -> list[int]:
        """Elements that a process sends to each, and gets from each, where each has a block for each."""
        return [self.counts[(rank + other) % len(self.counts)] for other in range(len(self.counts))]

    def brings(self, rank: int) -> Array:
        """What a process of this group puts in, by its place there; with a root what it would, were it the root."""
        return self._brings(self.mine[rank])

    def _brings(self, process: int) -> Array:
        if self.entry.sends == "vector":
            return self.block(process, 0, self.counts[0])
        if self.entry.sends == "block":
            return self.block(process, 0, self.own(process))
        if self.entry.reduces:
            return self.block(process, 0, sum(self.counts))
        sizes = self.counts if self.entry.rooted else self.between(process)
        return np.concatenate([self.block(process, to, size) for to, size in zip(self.theirs, sizes, strict=True)])

    def gets(self, rank: int, root: int) -> Array | None:
        """What a process of this group must hold afterwards; None where the collective promises it nothing."""
        entry, process = self.entry, self.mine[rank]
        takes = process == root if entry.ends_at_root else not entry.rooted or root in self.theirs
        if entry.receives == "nothing" or not takes:
            return None
        if entry.reduces:
            return self._result(rank)
        if entry.in_one_buffer:
            return self._brings(root)
        if entry.receives == "block":
            return self.block(root, process, self.own(process))
        if entry.sends == "block":
            return np.concatenate([self._brings(other) for other in self.theirs])
        sizes = zip(self.theirs, self.between(rank), strict=True)
        return np.concatenate([self.block(other, process, size) for other, size in sizes])

    def _result(self, rank: int) -> Array | None:
        """What a process gets of a reduction; None where nobody is below it."""
        reach = {"all": len(self.theirs), "lower": rank + 1, "below": rank}[self.entry.reduces or "all"]
        if not reach:
            return None
        total = self.reduced(self._brings(other) for other in self.theirs[:reach])
        return np.split(total, starts_of(self.counts)[1:])[rank] if self.entry.receives == "block" else total


def starts_of(counts: Sequence[int]) -> list[int]:
    """First element of each block of so many elements, one after the other."""
    return [sum(counts[:place]) for place in range(len(counts))]
