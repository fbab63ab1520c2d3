"""The collectives as the worker calls and verifies them. Communicators are mpi4py's; it is not imported here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.benchmarks.methods import REDUCING
from dashboard.benchmarks.plan import DATATYPES
from dashboard.benchmarks.protocol import Cell

Array = npt.NDArray[Any]
#: What receive buffers hold before a verified call; no pattern gives it.
_POISON = 255
_BYTE_VALUES = 251
#: Small enough that sums of float32 over thousands of processes are exact in any order.
_REDUCED_VALUES = 8


@dataclass(frozen=True)
class Types:
    """Datatypes and operation handles of the MPI in use."""

    byte: Any
    reduced: Any
    sum: Any


class Operation:
    """One collective at one pair of sizes, with its buffers.

    Parameters
    ----------
    cell
        What is called.
    rank
        Of this process in the communicators that it will be called on.
    types
        Handles of the MPI library.
    datatype
        Of reductions, one of `dashboard.benchmarks.plan.DATATYPES`.
    copies
        Pairs of buffers to rotate through.
    skew
        Whether the blocks of allgatherv and alltoallv grow with the rank, see `skewed`; else all are equal.

    Attributes
    ----------
    rank, size
        Of this process, and of the communicators.
    dtype, handle, sum
        Of an element: numpy's type and MPI's; the operation of a reduction.
    count, counts
        Elements of the vector or of a block; of each block of allgatherv and alltoallv.
    pairs
        What is sent and received in each turn.
    """

    def __init__(
        self, cell: Cell, rank: int, types: Types, datatype: str, copies: int = 1, *, skew: bool = False
    ) -> None:
        self.cell, self.rank, self.size = cell, rank, cell.comm_size
        reducing = cell.collective in REDUCING
        self.dtype = np.dtype(datatype) if reducing else np.dtype(np.uint8)
        self.sum, self.copies = types.sum, copies
        self.handle = types.reduced if reducing else types.byte
        self.count = cell.message_size // (DATATYPES[datatype] if reducing else 1)
        self.counts = skewed(self.count, self.size) if skew else [self.count] * self.size
        self.pairs = [self._buffers() for _ in range(copies)]
        self._specs = [tuple([array, array.size, self.handle] for array in pair) for pair in self.pairs]
        self._call = self._caller()

    def _buffers(self) -> tuple[Array, Array]:
        """Memory for what is sent and received, every page of it touched: the first touch takes longer than a call."""
        sent, received = {
            "barrier": (0, 0),
            "bcast": (self.count, 0),
            "scatter": (self.size * self.count, self.count),
            "gather": (self.count, self.size * self.count),
            "allgather": (self.count, self.size * self.count),
            "allgatherv": (self.counts[self.rank], sum(self.counts)),
            "alltoall": (self.size * self.count, self.size * self.count),
            "alltoallv": (sum(self.counts), sum(self.counts)),
            "reduce_scatter": (self.size * self.count, self.count),
        }.get(self.cell.collective, (self.count, self.count))
        return np.ones(sent, self.dtype), np.ones(received, self.dtype)

    def _between(self) -> list[int]:
        """Elements that alltoallv sends from this process to each, and to it from each."""
        return [self.counts[(self.rank + other) % self.size] for other in range(self.size)]

    def _caller(self) -> Callable[[Any, Any, Any, int], None]:
        add, counts = self.sum, [self.count] * self.size
        each, between = np.array(self.counts, np.intc), np.array(self._between(), np.intc)
        calls: dict[str, Callable[[Any, Any, Any, int], None]] = {
            "barrier": lambda comm, sent, received, root: comm.Barrier(),
            "bcast": lambda comm, sent, received, root: comm.Bcast(sent, root),
            "reduce": lambda comm, sent, received, root: comm.Reduce(sent, received, add, root),
            "allreduce": lambda comm, sent, received, root: comm.Allreduce(sent, received, add),
            "scan": lambda comm, sent, received, root: comm.Scan(sent, received, add),
            "gather": lambda comm, sent, received, root: comm.Gather(
                sent, [received[0], self.count, received[2]] if root == self.rank else None, root
            ),
            "scatter": lambda comm, sent, received, root: comm.Scatter(
                [sent[0], self.count, sent[2]] if root == self.rank else None, received, root
            ),
            "allgather": lambda comm, sent, received, root: comm.Allgather(
                sent, [received[0], self.count, received[2]]
            ),
            "allgatherv": lambda comm, sent, received, root: comm.Allgatherv(sent, [received[0], each, received[2]]),
            "alltoall": lambda comm, sent, received, root: comm.Alltoall(
                [sent[0], self.count, sent[2]], [received[0], self.count, received[2]]
            ),
            "alltoallv": lambda comm, sent, received, root: comm.Alltoallv(
                [sent[0], between, sent[2]], [received[0], between, received[2]]
            ),
            "reduce_scatter": lambda comm, sent, received, root: comm.Reduce_scatter(sent, received, counts, add),
        }
        return calls[self.cell.collective]

    def call(self, comm: Any, turn: int = 0, root: int = 0) -> None:
        """Call the collective once, with the buffers of this turn."""
        sent, received = self._specs[turn % len(self._specs)]
        self._call(comm, sent, received, root)

    def verify(self, comm: Any, root: int = 0) -> bool:
        """Call it once with a known pattern, and tell whether this process holds the right result."""
        self.prepare(root)
        self.call(comm, 0, root)
        return self.right(root)

    def prepare(self, root: int) -> None:
        """Fill the buffers of the first turn: the pattern to send, poison where something is to arrive."""
        sent, received = self.pairs[0]
        received.fill(_POISON)
        if self.cell.collective == "bcast" and self.rank != root:
            sent.fill(_POISON)
        elif self.cell.collective in ("alltoall", "scatter"):
            sent[:] = np.concatenate([self._pattern(self.rank, to) for to in range(self.size)])
        elif self.cell.collective == "alltoallv":
            blocks = enumerate(self._between())
            sent[:] = np.concatenate([self._pattern(self.rank, to, count) for to, count in blocks])
        elif self.cell.collective == "allgatherv":
            sent[:] = self._pattern(self.rank, 0, sent.size)
        elif self.cell.collective == "reduce_scatter":
            sent[:] = self._values(self.rank, sent.size)
        else:
            sent[:] = self._pattern(self.rank) if self.cell.collective not in REDUCING else self._values(self.rank)

    def right(self, root: int) -> bool:
        """Whether the buffers of the first turn hold what the collective promises after `prepare`."""
        expected = self._expected(root)
        sent, received = self.pairs[0]
        found = sent if self.cell.collective == "bcast" else received
        return expected is None or bool(np.array_equal(found, expected))

    def _expected(self, root: int) -> Array | None:
        """What this process must hold afterwards; None when the collective promises it nothing."""
        collective, everyone, whole = self.cell.collective, range(self.size), self.count * self.size
        mine = slice(self.rank * self.count, (self.rank + 1) * self.count)
        if collective == "barrier" or (collective in ("reduce", "gather") and self.rank != root):
            return None
        made: dict[str, Callable[[], Array]] = {
            "bcast": lambda: self._pattern(root),
            "scatter": lambda: self._pattern(root, self.rank),
            "gather": lambda: np.concatenate([self._pattern(rank) for rank in everyone]),
            "allgather": lambda: np.concatenate([self._pattern(rank) for rank in everyone]),
            "allgatherv": lambda: np.concatenate([self._pattern(r, 0, count) for r, count in enumerate(self.counts)]),
            "alltoall": lambda: np.concatenate([self._pattern(rank, self.rank) for rank in everyone]),
            "alltoallv": lambda: np.concatenate(
                [self._pattern(rank, self.rank, count) for rank, count in enumerate(self._between())]
            ),
            "scan": lambda: self._sum(range(self.rank + 1), self.count),
            "reduce_scatter": lambda: self._sum(everyone, whole)[mine],
        }
        return made.get(collective, lambda: self._sum(everyone, self.count))()

    def _pattern(self, rank: int, to: int = 0, count: int | None = None) -> Array:
        elements = np.arange(self.count if count is None else count)
        return ((elements + 17 * rank + 31 * to) % _BYTE_VALUES).astype(self.dtype)

    def _values(self, rank: int, count: int | None = None) -> Array:
        return ((np.arange(self.count if count is None else count) + 3 * rank) % _REDUCED_VALUES).astype(self.dtype)

    def _sum(self, ranks: range, count: int) -> Array:
        total = np.zeros(count, self.dtype)
        for rank in ranks:
            total += self._values(rank, count)
        return total


def skewed(count: int, size: int) -> list[int]:
    """Blocks that grow in proportion to the rank + 1, in elements; `count` is their mean."""
    ends = [count * (rank + 1) * (rank + 2) // (size + 1) for rank in range(size)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
