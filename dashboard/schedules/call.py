"""One call of a collective as a schedule is made for it: processes, root, counts and what the operation allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, cast

from dashboard.schedules.errors import ScheduleError
from loaders.collectives import COLLECTIVES as ENTRIES
from loaders.collectives import Collective, Part

#: A call of reduce_scatter whose counts are equal is one of reduce_scatter_block.
COLLECTIVES = tuple(name for name in ENTRIES if name != "reduce_scatter_block")
#: Collectives that have a root; a barrier's is the rank that the reports of a fan-in go to.
ROOTED = tuple(name for name in COLLECTIVES if ENTRIES[name].rooted or name == "barrier")
#: Collectives with a block for each pair of ranks, and the others with blocks; counts may differ, see `Call.counts`.
BETWEEN = tuple(name for name in COLLECTIVES if (ENTRIES[name].sends, ENTRIES[name].receives) == ("blocks", "blocks"))
BLOCKS = tuple(name for name in COLLECTIVES if ENTRIES[name].by_block and name not in BETWEEN)

Counts = tuple[int, ...]
Matrix = tuple[Counts, ...]


class View(NamedTuple):
    """Elements of a buffer: which buffer, the first element and how many."""

    buffer: int
    offset: int
    length: int

    def part(self, start: int, length: int) -> View:
        """Elements `start` to `start + length` of these."""
        return View(self.buffer, self.offset + start, length)


class Blocks(NamedTuple):
    """Where the block of each rank stands in a buffer, and how long it is, in elements."""

    offsets: Counts
    lengths: Counts

    @classmethod
    def dense(cls, lengths: Sequence[int]) -> Blocks:
        """Blocks one after the other in rank order, without gaps."""
        return cls(tuple(accumulate(lengths, initial=0))[:-1], tuple(lengths))

    def turned(self, first: int) -> Blocks:
        """Dense blocks in turn from that of the rank `first` on."""
        return Blocks.dense(self.lengths[first:] + self.lengths[:first])

    @property
    def is_dense(self) -> bool:
        """Whether there is nothing between the blocks and they are in rank order."""
        return self == Blocks.dense(self.lengths)

    @property
    def end(self) -> int:
        """Elements from the buffer's begin to the end of the last block."""
        return max((start + length for start, length in zip(*self, strict=True)), default=0)

    def of(self, view: View, first: int, number: int = 1) -> View:
        """The block `first` in a view; of dense blocks those up to `first + number`."""
        return view.part(self.offsets[first], sum(self.lengths[first : first + number]))


@dataclass(frozen=True)
class Call:
    """A call of a collective.

    Attributes
    ----------
    collective
        One of `COLLECTIVES`.
    processes
        Ranks of the communicator.
    count
        Elements: of the vector for bcast, reduce, allreduce, scan and exscan, of the block of each rank for the others.
    root
        Rank, where the collective has one.
    element_size
        Bytes of data of an element; gaps in it do not count.
    in_place
        Whether the input is where the result goes (``MPI_IN_PLACE``).
    commutative
        Whether the operation of a reduction commutes.
    counts
        Elements of each rank's block, where they differ; of alltoallv and alltoallw those from each rank (row) to each.
    displacements
        First elements of the blocks, where there are gaps between them; of these two, two tables, of the input and of
        the output of each rank (row).

    Raises
    ------
    ScheduleError
        When a value is outside its range; the message names it.
    """

    collective: str
    processes: int
    count: int = 0
    root: int = 0
    element_size: int = 1
    in_place: bool = False
    commutative: bool = True
    counts: Counts | Matrix | None = None
    displacements: Counts | tuple[Matrix, Matrix] | None = None

    def __post_init__(self) -> None:
        if self.collective not in COLLECTIVES:
            raise ScheduleError(f"there are no schedules of {self.collective!r}, known are {', '.join(COLLECTIVES)}")
        for name, least in (("processes", 1), ("count", 0), ("element_size", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ScheduleError(f"{name} is {value!r}; expected a whole number of at least {least}")
        if type(self.root) is not int or not 0 <= self.root < self.processes:
            raise ScheduleError(f"root is {self.root}; expected a rank from 0 to {self.processes - 1}")
        if self.root and self.collective not in ROOTED:
            raise ScheduleError(f"{self.collective} has no root; expected 0, found {self.root}")
        if self.counts is not None and self.collective not in BLOCKS + BETWEEN:
            raise ScheduleError(f"{self.collective} has one count, not one for each rank")
        if self.counts is not None and len(self.counts) != self.processes:
            raise ScheduleError(f"{len(self.counts)} counts for {self.processes} processes; expected one for each")

    @property
    def entry(self) -> Collective:
        """What the collective is."""
        return ENTRIES[self.collective]

    @cached_property
    def blocks(self) -> Blocks:
        """Blocks of the ranks: of the result of gather and allgather, of the input of scatter and reduce_scatter."""
        lengths = (self.count,) * self.processes if self.counts is None else cast("Counts", self.counts)
        if self.displacements is not None:
            return Blocks(cast("Counts", self.displacements), lengths)
        return Blocks.dense(lengths)

    def sent(self, rank: int) -> Blocks:
        """Blocks that a rank has for each in an alltoall; in another collective those of all ranks."""
        if self.collective not in BETWEEN:
            return self.blocks
        lengths = (self.count,) * self.processes if self.counts is None else cast("Matrix", self.counts)[rank]
        return self._placed(0, rank, lengths)

    def received(self, rank: int) -> Blocks:
        """Blocks that a rank gets from each in an alltoall; in another collective those of all ranks."""
        if self.collective not in BETWEEN:
            return self.blocks
        if self.counts is None:
            return self._placed(1, rank, (self.count,) * self.processes)
        return self._placed(1, rank, tuple(row[rank] for row in cast("Matrix", self.counts)))

    def _placed(self, which: int, rank: int, lengths: Counts) -> Blocks:
        if self.displacements is None:
            return Blocks.dense(lengths)
        return Blocks(cast("tuple[Matrix, Matrix]", self.displacements)[which][rank], lengths)

    def held_by(self, size: int) -> int:
        """Elements that a segment of so many bytes holds: never less than one (dissertation 5.2.2)."""
        return max(1, size // max(1, self.element_size))

    @property
    def elements(self) -> int:
        """Elements that limit how far the algorithm can cut: of the vector, or of all blocks together."""
        if self.collective in BLOCKS:
            return sum(self.blocks.lengths)
        return self.count

    def input_length(self, rank: int) -> int:
        """Elements that a rank brings, were it not in place."""
        if self.entry.in_one_buffer or (self.entry.starts_at_root and rank != self.root):
            return 0
        return self._length(self.entry.sends, self.sent(rank), rank)

    def output_length(self, rank: int) -> int:
        """Elements that a rank's result takes; in place also what it brings."""
        entry = self.entry
        if entry.ends_at_root and rank != self.root:
            return 0
        return self._length(
            entry.sends if self.in_place and entry.reduces else entry.receives, self.received(rank), rank
        )

    def _length(self, part: Part, blocks: Blocks, rank: int) -> int:
        return {"nothing": 0, "vector": self.count, "block": blocks.lengths[rank], "blocks": blocks.end}[part]
