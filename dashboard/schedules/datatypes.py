"""Types of elements that methods are verified with: four numbers with gaps between them, in turn or out of it.

Element k stands at origin + k · extent, whatever of it lies before its place or among its neighbours, as MPI has it. A
type holds the four numbers of a matrix of `dashboard.schedules.expectation`, so that one operation serves all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.errors import WrongResultError
from dashboard.schedules.expectation import SHAPE, Array, Held
from dashboard.schedules.in_process import Combine

Bytes = npt.NDArray[np.uint8]
#: What every byte holds that is no element's.
_GAP = 0xA5
#: Elements before and after each buffer.
_GUARDS = 2
#: Bytes between the numbers of a column: more than elements of any buffer.
APART = 1 << 15


@dataclass(frozen=True)
class Datatype:
    """A type of elements."""

    #: Of the constructor of MPI that makes it.
    name: str
    #: NumPy's format of each number, and its byte from the element's place on.
    formats: tuple[str, ...]
    places: tuple[int, ...]
    #: Bytes from an element to the next.
    extent: int

    @cached_property
    def size(self) -> int:
        """Bytes of data."""
        return sum(each.itemsize for _, each in self.numbers)

    @cached_property
    def numbers(self) -> list[tuple[int, np.dtype[Any]]]:
        """Place and type of each number."""
        return [(place, np.dtype(each)) for place, each in zip(self.places, self.formats, strict=True)]

    @cached_property
    def lower(self) -> int:
        """First byte of data, from the element's place on."""
        return min(self.places, default=0)

    @cached_property
    def span(self) -> int:
        """Bytes from the first of data to the last."""
        return max((place + each.itemsize for place, each in self.numbers), default=0) - self.lower


#: By name; those of `contiguous` elements are plain arrays.
CONTIGUOUS = "contiguous"
DATATYPES: Mapping[str, Datatype] = {
    each.name: each
    for each in (
        Datatype("vector", ("i4",) * 4, (0, 8, 16, 24), 28),
        Datatype("indexed", ("i2",) * 4, (0, 6, 8, 14), 16),
        Datatype("struct", ("i4", "f8", "i1", "i8"), (0, 8, 16, 24), 32),
        # Its first number stands before the element's place.
        Datatype("resized", ("i4",) * 4, (-4, 0, 8, 20), 32),
        Datatype("nested", ("i1", "i4", "i1", "i4"), (0, 4, 16, 20), 24),
        # Columns of a matrix: the numbers of each stand among those of the others.
        Datatype("column", ("i1",) * 4, (0, APART, 2 * APART, 3 * APART), 1),
        Datatype("empty", (), (), 0),
    )
}


class Elements:
    """Elements of a type in memory, cut and assigned like an array of them; what is between them is not touched.

    Parameters
    ----------
    datatype
        Of each.
    memory
        All bytes that they are part of.
    origin
        Byte of `memory` at which the first one has its place.
    """

    __slots__ = ("datatype", "length", "memory", "origin")

    def __init__(self, datatype: Datatype, memory: Bytes, origin: int, length: int) -> None:
        self.datatype, self.memory, self.origin, self.length = datatype, memory, origin, length

    @classmethod
    def new(cls, datatype: Datatype, length: int) -> Elements:
        """Elements with nothing but gaps."""
        size = datatype.span + max(length - 1, 0) * datatype.extent
        return cls(datatype, np.full(size, _GAP, np.uint8), -datatype.lower, length)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, cut: slice) -> Elements:
        start, end, _ = cut.indices(self.length)
        origin = self.origin + start * self.datatype.extent
        return Elements(self.datatype, self.memory, origin, max(end - start, 0))

    def __setitem__(self, everything: EllipsisType, given: Elements) -> None:
        for into, number in zip(self._numbers(), given._numbers(), strict=True):
            into[...] = number

    def copy(self) -> Elements:
        """The same elements elsewhere, as a message has them on its way."""
        made = Elements.new(self.datatype, self.length)
        made[...] = self
        return made

    @property
    def raw(self) -> Bytes:
        """Memory from the first element's place on, as MPI takes it."""
        return self.memory[self.origin :]

    def read(self) -> Array:
        """Matrices of the elements."""
        numbers = np.zeros((self.length, 4), np.int64)
        for place, number in enumerate(self._numbers()):
            numbers[:, place] = number
        return numbers.reshape(-1, *SHAPE)

    def write(self, matrices: Array) -> None:
        """Put matrices into the elements."""
        flat = matrices.reshape(-1, 4)
        for place, number in enumerate(self._numbers()):
            number[...] = flat[:, place]

    def _numbers(self) -> list[npt.NDArray[Any]]:
        """Each of the numbers, of all elements."""
        known, length = self.datatype, self.length
        origin, shape, strides = self.origin, (length,), (known.extent,)
        # Of none, the place may lie beyond the memory's end.
        return [
            np.ndarray(shape, form, self.memory, origin + place if length else 0, strides)
            for place, form in known.numbers
        ]


def by_elements(combine: Combine) -> Combine:
    """An operation over matrices as one over elements."""

    def combined(lower: Any, into: Any) -> None:
        result = into.read()
        combine(lower.read(), result)
        into.write(result)

    return combined


def raw(view: Any) -> Any:
    """What MPI takes of an array or of elements: memory that begins where the first one has its place."""
    return view.raw if isinstance(view, Elements) else view


class GuardedElements:
    """Buffers of one rank for one turn, as `dashboard.schedules.verification.Guarded`, of elements with gaps."""

    def __init__(self, held: Held, scratch: int, datatype: Datatype) -> None:
        self._held, self._datatype = held, datatype
        lengths = (*map(len, held), scratch)
        self._all = [Elements.new(datatype, length + 2 * _GUARDS) for length in lengths]
        for elements, content in zip(self.memory, held, strict=False):
            elements.write(content)

    @property
    def memory(self) -> tuple[Elements, Elements, Elements]:
        """Input, output and scratch memory."""
        source, target, scratch = (each[_GUARDS : len(each) - _GUARDS] for each in self._all)
        return source, target, scratch

    def check(self, rank: int, expected: Array) -> None:
        """Raise `WrongResultError` when a guard, a gap, the input or the output is not as it must be."""
        contents = (self._held.input, expected, None)
        for name, each, content in zip(("input", "output", "scratch memory"), self._all, contents, strict=True):
            inner = slice(_GUARDS, len(each) - _GUARDS)
            right = Elements.new(self._datatype, len(each))
            if content is None:
                right[inner][...] = each[inner]
            else:
                right[inner].write(content)
            if np.array_equal(each.memory, right.memory):
                continue
            wrong = np.flatnonzero((each.read() != right.read()).any(axis=(1, 2)))
            inside = wrong[(wrong >= _GUARDS) & (wrong < len(each) - _GUARDS)]
            if len(wrong) == len(inside) and len(wrong) and name == "output":
                raise WrongResultError(f"rank {rank}: element {inside[0] - _GUARDS} of {len(expected)} is wrong")
            if len(inside) and name == "input":
                raise WrongResultError(f"rank {rank}: its input was written to")
            raise WrongResultError(f"rank {rank}: written beyond its {name}, or into gaps of it")
