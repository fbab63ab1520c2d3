"""Memory that cases send from and receive into: known values in it, and poison around and between them."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.benchmarks.safety.cases import Layout

Values = npt.NDArray[np.uint32]
#: Of each layout: where its numbers lie in an element, and how many numbers an element spans.
SHAPES: Mapping[Layout, tuple[tuple[int, ...], int]] = {
    "plain": ((0,), 1),
    "strided": ((0, 2), 4),
    "pair": ((0, 1), 2),
    "matrix": ((0, 1, 2, 3), 4),
}
_POISON = 0xDEADBEEF
_GUARD = 64
_MODULUS = 251
_SIDE = 2


class Memory:
    """Elements of one layout with guards before and behind them."""

    def __init__(self, layout: Layout, count: int) -> None:
        self._fields, self._span = SHAPES[layout]
        self._all = np.full(2 * _GUARD + count * self._span, _POISON, np.uint32)
        self._mine = np.zeros(self._all.size, bool)
        self.elements = count

    @property
    def array(self) -> Values:
        """What a call is given: from the first element on, the guard behind the last one included."""
        return self._all[_GUARD:]

    def _places(self, start: int, count: int) -> npt.NDArray[np.int64]:
        elements: npt.NDArray[np.int64] = _GUARD + self._span * np.arange(start, start + count)
        return np.add.outer(elements, np.array(self._fields, np.int64))

    def put(self, start: int, values: Values) -> None:
        """Write elements, ``(count, numbers of an element)``."""
        places = self._places(start, len(values))
        self._all[places] = values
        self._mine[places] = True

    def expect(self, start: int, count: int) -> None:
        """Let a call write here."""
        self._mine[self._places(start, count)] = True

    def get(self, start: int, count: int) -> Values:
        """Read elements."""
        return self._all[self._places(start, count)]

    @property
    def unharmed(self) -> bool:
        """Whether nothing was written where nobody may write: guards, holes, and what no call was given."""
        return bool((self._all[~self._mine] == _POISON).all())


def block(layout: Layout, rank: int, to: int, count: int, turn: int = 0) -> Values:
    """What a process sends to another (0 where it sends all the same): ``(count, numbers of an element)``.

    Below 251, so that sums over millions of processes hold.
    """
    numbers = len(SHAPES[layout][0])
    first = 17 * rank + 31 * to + 7 * turn + 1
    return ((first + np.arange(count * numbers, dtype=np.uint32)) % _MODULUS).reshape(count, numbers).astype(np.uint32)


def reduced(layout: Layout, parts: Iterable[Values]) -> Values:
    """What a reduction of these, in the order of ranks, gives: sums, or of matrices the product."""
    return reduce(_product if layout == "matrix" else np.add, parts)


def _product(left: Values, right: Values) -> Values:
    """Products of 2 by 2 matrices modulo a prime: associative, as MPI asks, and not commutative."""
    pairs = (each.reshape(-1, _SIDE, _SIDE) for each in (left, right))
    made: Values = (np.matmul(*pairs) % _MODULUS).astype(np.uint32)
    return made.reshape(left.shape)


def operator(layout: Layout) -> Callable[[Any, Any, Any], None]:
    """The same as an operation of the program's own, as mpi4py calls it: left and right operand, the right replaced."""
    numbers = len(SHAPES[layout][0])

    def combine(left: Any, right: Any, _datatype: Any) -> None:
        first = np.frombuffer(left, np.uint32).reshape(-1, numbers)
        second = np.frombuffer(right, np.uint32).reshape(-1, numbers)
        second[:] = reduced(layout, [first, second])

    return combine
