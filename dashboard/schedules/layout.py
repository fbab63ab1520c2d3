"""Virtual processor grids: ordered factorizations of a number of processes, and the groups of each phase (K 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from dashboard.schedules.errors import ScheduleError

LEAST_DIMENSIONS = 2


@dataclass(frozen=True)
class Grid:
    """Processes in a grid, row by row: the last coordinate of consecutive ranks differs.

    Parameters
    ----------
    factors
        Length of each dimension, at least 2 of at least 2.

    Raises
    ------
    ScheduleError
        When they are fewer or smaller.
    """

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
        return tuple(
            range(first + place * stride, first + (place + 1) * stride) for place in range(len(self.group(rank, phase)))
        )

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
