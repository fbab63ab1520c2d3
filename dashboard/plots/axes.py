"""Axes in real sizes: where a measured size lies, where its cell ends, which ticks it gets.

Positions are the sizes themselves or their base-2 logarithms on an axis that is linear to the
drawing library. That allows a decision map to be one image, gives size 0 a place on a logarithmic
axis (one step below the smallest size), and leaves the tick labels to us.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import format_bytes

MAX_TICKS = 11
#: The size that is held while the other one runs.
OTHER = {"message_size": "comm_size", "comm_size": "message_size"}
#: Signs of a label beside which the next one has room at that number of ticks.
_TICK_SIGNS = 7


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a decision map."""

    #: Of the dimension, ``message_size`` or ``comm_size``.
    name: str
    #: For people.
    title: str
    #: Measured sizes, ascending, int64, shape (n,).
    sizes: IntArray
    #: Whether positions are base-2 logarithms.
    log: bool
    #: How one size is written.
    write: Callable[[float], str]

    def positions(self, sizes: ArrayLike) -> FloatArray:
        """Where sizes lie on the axis; 0 on a logarithmic axis lies one step below the smallest."""
        values = np.asarray(sizes, dtype=float)
        if not self.log:
            return values
        positive = self.sizes[self.sizes > 0]
        zero_at = np.log2(positive[0]) - 1 if positive.size else 0.0
        with np.errstate(divide="ignore"):
            return np.where(values > 0, np.log2(np.maximum(values, 1e-300)), zero_at)

    @cached_property
    def edges(self) -> FloatArray:
        """Borders of the cells, shape (n + 1,): half-way between neighbours, as far out at both ends."""
        at = self.positions(self.sizes)
        if at.size < 2:
            return np.array([at[0] - 0.5, at[0] + 0.5]) if at.size else np.array([0.0, 1.0])
        middles = (at[1:] + at[:-1]) / 2
        return np.concatenate([[2 * at[0] - middles[0]], middles, [2 * at[-1] - middles[-1]]])

    @property
    def centres(self) -> FloatArray:
        """Middles of the cells, shape (n,)."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def limits(self) -> tuple[float, float]:
        """Outer borders of the first and last cell."""
        return float(self.edges[0]), float(self.edges[-1])

    def index(self, position: float) -> int | None:
        """Cell that holds a position; None outside the map."""
        low, high = self.limits
        if not low <= position <= high:
            return None
        return int(min(np.searchsorted(self.edges, position, side="right") - 1, self.sizes.size - 1))

    def index_of(self, size: float) -> int | None:
        """Cell of a measured size; None if it was not measured."""
        places = np.flatnonzero(self.sizes == size)
        return int(places[0]) if places.size else None

    def borders(self, cuts: ArrayLike) -> FloatArray:
        """Where tests ``size <= cut`` divide the axis: the border after the last size that passes.

        Infinite cuts give the outer borders.
        """
        return self.edges[np.searchsorted(self.sizes, np.asarray(cuts, dtype=float), side="right")]

    def ticks(self, most: int = MAX_TICKS) -> list[tuple[float, str]]:
        """Measured sizes to label, at most about `most`: rounder ones first, none near another, long ones less so."""
        labels = [self.write(size) for size in self.sizes]
        at = self.positions(self.sizes)
        gap = (at[-1] - at[0]) / most if at.size > 1 else 0.0
        kept: list[int] = []
        for index in sorted(range(at.size), key=lambda i: (-_roundness(int(self.sizes[i]), log=self.log), i)):
            signs = [len(labels[index]) + len(labels[other]) for other in kept]
            wanted = [gap * max(1.0, both / (2 * _TICK_SIGNS)) for both in signs]
            if all(abs(at[index] - at[other]) >= room for other, room in zip(kept, wanted, strict=True)):
                kept.append(index)
        return [(float(at[i]), labels[i]) for i in sorted(kept)]


def _roundness(size: int, *, log: bool) -> float:
    # On a logarithmic axis 2^8 is rounder than 2^6, and that than 2^7: ticks then come in even steps.
    if size <= 0:
        return 100.0
    twos = (size & -size).bit_length() - 1
    if not log:
        return float(twos)
    if size != 1 << twos:
        return -1.0
    return 50.0 if twos == 0 else float((twos & -twos).bit_length())


def _is_geometric(sizes: IntArray) -> bool:
    """Whether sizes come in more even steps by ratio than by difference."""
    positive = sizes[sizes > 0].astype(float)
    if positive.size < 3:
        return bool(positive.size == 2 and positive[1] >= 4 * positive[0])

    def unevenness(values: FloatArray) -> float:
        steps = np.diff(values)
        return float(steps.std() / steps.mean())

    return unevenness(np.log2(positive)) < unevenness(positive)


def size_axis(name: str, sizes: ArrayLike) -> Axis:
    """Make the axis of one dimension of a map; logarithmic if the measured sizes are.

    Parameters
    ----------
    name
        ``message_size`` (bytes) or ``comm_size`` (processes).
    sizes
        Measured sizes, ascending.
    """
    values = np.asarray(sizes, dtype=np.int64)
    if name == "message_size":
        return Axis(name, "message size", values, _is_geometric(values), format_bytes)
    return Axis(name, "processes", values, _is_geometric(values), lambda size: f"{int(size):,}")


@dataclass(frozen=True, eq=False)
class Axes:
    """Both axes of a decision map: message sizes to the right, communicator sizes upwards."""

    x: Axis
    y: Axis

    @classmethod
    def of(cls, labelled: xr.Dataset | xr.DataArray) -> Axes:
        """Take both from anything with dimensions ``comm_size`` and ``message_size``."""
        return cls(
            size_axis("message_size", labelled["message_size"].values),
            size_axis("comm_size", labelled["comm_size"].values),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of cells: communicator sizes, message sizes."""
        return self.y.sizes.size, self.x.sizes.size

    @property
    def cells(self) -> int:
        """Number of cells of the map."""
        return self.y.sizes.size * self.x.sizes.size

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Sizes ``(comm_size, message_size)`` of the cell at a position; None outside the map."""
        column, row = self.x.index(x), self.y.index(y)
        if row is None or column is None:
            return None
        return int(self.y.sizes[row]), int(self.x.sizes[column])

    def centre(self, cell: tuple[int, int] | None) -> tuple[float, float]:
        """Position of the middle of a cell ``(comm_size, message_size)``; NaN if it is not on the map."""
        row, column = (None, None) if cell is None else (self.y.index_of(cell[0]), self.x.index_of(cell[1]))
        if row is None or column is None:
            return float("nan"), float("nan")
        return float(self.x.centres[column]), float(self.y.centres[row])
