"""Virtual processor grids: ordered factorizations of a number of processes, the groups of each phase and their calls.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from dashboard.schedules.call import Call
from dashboard.schedules.errors import ScheduleError
from loaders.collectives import COLLECTIVES

LEAST_DIMENSIONS = 2
#: Elements in memory: a `View` of a schedule, or an array.
Buffer = TypeVar("Buffer")


@dataclass(frozen=True)
class Grid:
    """Processes in a grid, row by row: the last coordinate of consecutive ranks differs.

    Raises
    ------
    ScheduleError
        When they are fewer or smaller.
    """

    #: Length of each dimension, at least 2 of at least 2.
    factors: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.factors) < LEAST_DIMENSIONS or any(factor < 2 for factor in self.factors):
            raise ScheduleError(f"grid {self}: expected two or more factors of at least 2, such as 2x4")

    def __str__(self) -> str:
        return "x".join(map(str, self.factors))

    @classmethod
    def of(cls, text: str) -> Grid:
        """Read a grid such as ``4x8``."""
        words = text.split("x")
        if not all(word.isascii() and word.isdecimal() for word in words):
            raise ScheduleError(f"grid {text!r}: expected factors with an x between them, such as 2x4")
        return cls(tuple(map(int, words)))

    @property
    def processes(self) -> int:
        """Product of the factors."""
        return math.prod(self.factors)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Distance of neighbours in each dimension: the ranks that one of its coordinates stands for."""
        return tuple(math.prod(self.factors[phase + 1 :]) for phase in range(len(self.factors)))

    def coordinate(self, rank: int, phase: int) -> int:
        """Coordinate of a rank in a dimension."""
        return rank // self.strides[phase] % self.factors[phase]

    def group(self, rank: int, phase: int) -> tuple[int, ...]:
        """Ranks that differ from one in this dimension only, by their coordinate in it."""
        first = rank - self.coordinate(rank, phase) * self.strides[phase]
        return tuple(first + place * self.strides[phase] for place in range(self.factors[phase]))

    def ranges(self, rank: int, phase: int) -> tuple[range, ...]:
        """For each member of the group the consecutive ranks that it stands for in this phase, ``strides`` many."""
        stride = self.strides[phase]
        first = rank - rank % (stride * self.factors[phase])
        starts = range(first, first + stride * self.factors[phase], stride)
        return tuple(range(start, start + stride) for start in starts)

    def leads(self, rank: int, root: int, phase: int) -> bool:
        """Whether a rank takes part in a phase of a rooted operation: all coordinates after it are the root's."""
        return rank % self.strides[phase] == root % self.strides[phase]


def layouts(processes: int, dimensions: int | None = None) -> list[Grid]:
    """All grids of so many processes, those of fewer dimensions first, then by growing factors.

    Parameters
    ----------
    dimensions
        Number of factors; None: any.

    Returns
    -------
    list of Grid
        Empty for primes and below 4 processes.
    """
    most = processes.bit_length()
    wanted = range(LEAST_DIMENSIONS, most) if dimensions is None else (dimensions,)
    return [Grid(each) for number in wanted if number >= LEAST_DIMENSIONS for each in _factored(processes, number)]


def _factored(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        if number > 1:
            yield (number,)
        return
    for factor in range(2, number // 2 + 1):
        if number % factor == 0:
            yield from ((factor, *rest) for rest in _factored(number // factor, parts - 1))


def balanced(processes: int) -> Grid | None:
    """The grid of two dimensions of nearly one length, the shorter one first; None where there is none."""
    pairs = [grid for grid in layouts(processes, 2) if grid.factors[0] <= grid.factors[1]]
    return pairs[-1] if pairs else None


@dataclass(frozen=True)
class Step(Generic[Buffer]):
    """A collective call of one rank in its group."""

    #: Number of the dimension whose group it is.
    phase: int
    #: What is called: with a v where the members' blocks differ.
    collective: str
    #: Buffers; of a broadcast both the same. None where MPI does not look at it.
    sent: Buffer | None
    received: Buffer | None
    #: Elements of each member's block; empty where there are no blocks.
    counts: tuple[int, ...] = ()
    #: Coordinate of the root.
    root: int = 0
    #: Whether what is sent stands in `received` already.
    in_place: bool = False

    def call(self, size: int, count: int, element_size: int, *, commutative: bool) -> Call:
        """The call of an own method.

        Parameters
        ----------
        size
            Of the group.
        count
            Elements of the vector, where there are no blocks.
        element_size, commutative
            As of `Call`.
        """
        return Call(
            self.collective.removesuffix("v"),
            size,
            0 if self.counts else count,
            self.root,
            element_size,
            in_place=self.in_place,
            commutative=commutative,
            counts=self.counts or None,
        )


@dataclass(frozen=True)
class Memory(Generic[Buffer]):
    """How buffers of one kind are handled."""

    #: Elements of the vector, of a collective that has no blocks.
    count: int
    #: Makes memory between phases, for so many elements.
    room: Callable[[int], Buffer]
    #: Elements of a buffer, from the first on so many.
    part: Callable[[Buffer, int, int], Buffer]


def group_steps(
    collective: str,
    grid: Grid,
    rank: int,
    buffers: tuple[Buffer | None, Buffer | None],
    lengths: Sequence[int],
    root: int,
    memory: Memory[Buffer],
    *,
    in_place: bool = False,
) -> Iterator[Step[Buffer]]:
    """Calls of a rank in its groups, in order.

    Parameters
    ----------
    collective
        ``bcast``, ``scatter``, ``gather``, ``reduce``, ``allreduce`` or ``allgather``, also with a v.
    buffers
        What the rank brings and gets; of a broadcast the same. Blocks of all ranks stand one after the other. None
        where the collective does not look at it.
    lengths
        Elements of the block of every rank, of collectives that have blocks.
    root
        Rank, where there is one.
    in_place
        Whether what is brought stands in what is got already, of allreduce and allgather.
    """
    entry, plain = COLLECTIVES[collective], collective.removesuffix("v")
    held, received = buffers
    numbers = range(len(grid.factors))
    for phase in numbers if plain in ("bcast", "scatter") else reversed(numbers):
        if entry.rooted and not grid.leads(rank, root, phase):
            continue
        at = grid.coordinate(root, phase)
        has = grid.coordinate(rank, phase) == at
        ranges = grid.ranges(rank, phase)
        counts = tuple(sum(lengths[each.start : each.stop]) for each in ranges) if entry.by_block else ()
        name = f"{plain}v" if len(set(counts)) > 1 else plain
        if plain == "bcast":
            yield Step(phase, name, held, held, root=at)
        elif plain == "scatter":
            last = phase == len(numbers) - 1
            target = received if last else memory.room(counts[grid.coordinate(rank, phase)])
            yield Step(phase, name, held if has else None, target, counts, at)
            held = target
        elif entry.rooted:
            size = sum(counts) if counts else memory.count
            target = None if not has else received if phase == 0 else memory.room(size)
            yield Step(phase, name, held, target, counts, at)
            held = target
        else:
            target = received
            if received is not None and counts:
                target = memory.part(received, sum(lengths[: ranges[0].start]), sum(counts))
            yield Step(phase, name, held, target, counts, in_place=in_place)
            in_place = True
