"""What each process of a call brings and what it must hold afterwards, from the collective's entry alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from loaders.collectives import Collective

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Exchange:
    """The data of one call.

    Attributes
    ----------
    entry
        The collective.
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


def starts_of(counts: Sequence[int]) -> list[int]:
    """First element of each block of so many elements, one after the other."""
    return [sum(counts[:place]) for place in range(len(counts))]
