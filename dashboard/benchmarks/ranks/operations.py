"""The collectives as the worker calls and verifies them. Communicators are mpi4py's; it is not imported here."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.ranks.exchange import Exchange, starts_of
from dashboard.domain.arrays import Array
from loaders.collectives import COLLECTIVES, Part

#: MPI's names of types of elements.
MPI_TYPES = {"uint8": "UINT8_T", "int32": "INT32_T", "float32": "FLOAT", "float64": "DOUBLE"}
#: What receive buffers hold before a verified call; no pattern gives it.
_POISON = 255
_BYTE_VALUES = 251
#: Small enough that sums of float32 over thousands of processes are exact in any order.
_REDUCED_VALUES = 8


@dataclass(frozen=True)
class Types:
    """Datatypes and the operation of reductions, handles of the MPI in use; if it does not commute, `keep_first`."""

    byte: Any
    reduced: Any
    sum: Any
    commutes: bool = True


class Operation:
    """One collective at one pair of sizes, with its buffers.

    Parameters
    ----------
    rank
        Of this process in the communicators that it will be called on.
    datatype
        Of reductions, one of `dashboard.domain.campaign.DATATYPES`.
    copies
        Pairs of buffers to rotate through.
    skew
        Whether blocks that may differ grow with the rank, see `skewed`; else all are equal.

    Attributes
    ----------
    rank, size
        Of this process, and of the communicators.
    dtype, handle, sum, commutes
        Of an element: numpy's type and MPI's; the operation of a reduction, and whether it commutes.
    count, counts
        Elements of the vector or of a block; of each block, where they may differ.
    exchange
        What each process brings and must hold.
    pairs
        What is sent and received in each turn.
    """

    def __init__(
        self, cell: Cell, rank: int, types: Types, datatype: str, copies: int = 1, *, skew: bool = False
    ) -> None:
        self.cell, self.rank, self.size = cell, rank, cell.comm_size
        self.entry = entry = COLLECTIVES[cell.collective]
        self.dtype = np.dtype(datatype) if entry.reduces else np.dtype(np.uint8)
        self.sum, self.commutes, self.copies = types.sum, types.commutes, copies
        self.handle = types.reduced if entry.reduces else types.byte
        self.count = cell.message_size // self.dtype.itemsize
        uneven = skew and entry.counts != "equal"
        self.counts = skewed(self.count, self.size) if uneven else [self.count] * self.size
        reduced = partial(reduce, np.add) if types.commutes else _first
        self.exchange = Exchange.within(entry, self.counts, self._block, reduced)
        self.pairs = [self._buffers() for _ in range(copies)]
        self._calls = [tuple(self._arguments(pair, leads) for leads in (False, True)) for pair in self.pairs]

    def _buffers(self) -> tuple[Array, Array]:
        """Memory for what is sent and received, every page of it touched: the first touch takes longer than a call."""
        elements = {"nothing": 0, "vector": self.count, "block": self.counts[self.rank], "blocks": sum(self.counts)}
        received = 0 if self.entry.in_one_buffer else elements[self.entry.receives]
        return np.ones(elements[self.entry.sends], self.dtype), np.ones(received, self.dtype)

    def _arguments(self, pair: tuple[Array, Array], leads: bool) -> list[Any]:  # noqa: FBT001 - of an index
        """Arguments of the call but the root, for the root itself and for others."""
        entry = self.entry
        sent = self._buffer(pair[0], entry.sends) if leads or not entry.starts_at_root else None
        received = self._buffer(pair[1], entry.receives) if leads or not entry.ends_at_root else None
        made = entry.arguments(sent, received, op=self.sum, counts=self.counts)
        return made[:-1] if entry.rooted else made

    def _buffer(self, array: Array, part: Part) -> list[Any]:
        """A buffer as mpi4py takes it."""
        if part == "blocks" and self.entry.counts == "equal":
            return [array, self.count, self.handle]
        if part != "blocks" or self.entry.reduces:
            return [array, array.size, self.handle]
        if self.entry.counts == "of ranks":
            return [array, np.array(self.counts, np.intc), self.handle]
        counts = self.exchange.between(self.rank)
        if self.entry.call != "Alltoallw":
            return [array, np.array(counts, np.intc), self.handle]
        places = [start * self.dtype.itemsize for start in starts_of(counts)]
        return [array, (counts, places), [self.handle] * self.size]

    def call(self, comm: Any, turn: int = 0, root: int = 0) -> None:
        """Call the collective once, with the buffers of this turn."""
        arguments = self._calls[turn % len(self._calls)][root == self.rank]
        if self.entry.rooted:
            getattr(comm, self.entry.call)(*arguments, root)
        else:
            getattr(comm, self.entry.call)(*arguments)

    def prepare(self, root: int) -> None:
        """Fill the buffers of the first turn: the pattern to send, poison where something is to arrive."""
        sent, received = self.pairs[0]
        received.fill(_POISON)
        if self.entry.in_one_buffer and self.rank != root:
            sent.fill(_POISON)
        elif sent.size:
            sent[:] = self.exchange.brings(self.rank)

    def right(self, root: int) -> bool:
        """Whether the buffers of the first turn hold what the collective promises after `prepare`."""
        expected = self.exchange.gets(self.rank, root)
        return expected is None or bool(np.array_equal(self.pairs[0][0 if self.entry.in_one_buffer else 1], expected))

    def _block(self, rank: int, to: int, count: int) -> Array:
        if self.entry.reduces:
            return ((np.arange(count) + 3 * rank) % _REDUCED_VALUES).astype(self.dtype)
        return ((np.arange(count) + 17 * rank + 31 * to) % _BYTE_VALUES).astype(self.dtype)


def _first(parts: Iterable[Array]) -> Array:
    return next(iter(parts))


def keep_first(lower: Any, into: Any, _: Any) -> None:
    """An operation that is associative and does not commute, as MPI calls it: the operand of the lower ranks stays."""
    into[:] = lower


def skewed(count: int, size: int) -> list[int]:
    """Blocks that grow in proportion to the rank + 1, in elements; `count` is their mean."""
    ends = [count * (rank + 1) * (rank + 2) // (size + 1) for rank in range(size)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
