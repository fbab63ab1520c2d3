"""Bins of message size, nodes and processes per node: the coarse grid on which choices are looked up.

Source: Steiner, *Online Algorithm Selection of MPI Collective Communication Operations* (TU Wien, 2023), sections
4.5.2 and 4.6.1, Figure 4.6: linear in nodes and processes per node, exponential in the message size; a bin holds its
lower border and not its upper one, and the last has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.online.errors import OnlineError

_MESSAGE_BINS, _NODE_BINS, _PPN_BINS = 18, 17, 9
#: Bins of one axis at most, where they follow what was seen.
MOST = 64
AXES = ("message_size", "nodes", "ppn")


@dataclass(frozen=True, eq=False)
class Bins:
    """Lower borders on each axis, the first 0, and the point that stands for each bin."""

    #: Ascending float64 of message size (bytes), nodes and processes per node.
    borders: tuple[FloatArray, ...]
    #: Of the same lengths: at which the regressions are asked.
    points: tuple[FloatArray, ...]

    @classmethod
    def regular(cls, nodes: int, ppn: int) -> Bins:
        """The grid of the source for a machine of so many nodes and cores per node: 18 × 17 × 9 bins."""
        if nodes < 1 or ppn < 1:
            raise OnlineError(f"a machine of {nodes} nodes with {ppn} cores each: both must be at least 1")
        message = np.concatenate([[0.0], 4.0 ** np.arange(1, _MESSAGE_BINS)])
        second, third = (
            np.arange(count) * most / (count - 1) for count, most in ((_NODE_BINS, nodes), (_PPN_BINS, ppn))
        )
        borders = (message, second, third)
        return cls(borders, (_geometric(borders[0]), _arithmetic(borders[1]), _arithmetic(borders[2])))

    @classmethod
    def seen(cls, message_size: Any, nodes: Any, ppn: Any, most: int = MOST) -> Bins:
        """Bins around the values that were seen: one for each, or of more than `most` at their quantiles."""
        made = [_around(np.asarray(values, dtype=np.float64), most) for values in (message_size, nodes, ppn)]
        return cls(*zip(*made, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """Bins on each axis."""
        return tuple(axis.size for axis in self.borders)

    @property
    def count(self) -> int:
        """Bins in all."""
        return int(np.prod(self.shape))

    def places(self, message_size: Any, nodes: Any, ppn: Any) -> tuple[IntArray, ...]:
        """Bin on each axis of calls; what is below 0 counts as 0."""
        return tuple(
            np.clip(np.searchsorted(axis, np.asarray(values, dtype=np.float64), side="right") - 1, 0, None)
            for axis, values in zip(self.borders, (message_size, nodes, ppn), strict=True)
        )

    def number(self, message_size: Any, nodes: Any, ppn: Any) -> IntArray:
        """Number of the bin of calls: message sizes are the slowest axis, processes per node the fastest."""
        return np.asarray(np.ravel_multi_index(self.places(message_size, nodes, ppn), self.shape), dtype=np.int64)

    def grid(self) -> FloatArray:
        """Points of all bins, ``(bin, axis)``."""
        return np.stack(np.meshgrid(*self.points, indexing="ij"), axis=-1).reshape(-1, 3)

    def near(self, message_size: Any, nodes: Any, ppn: Any) -> BoolArray:
        """Of each bin whether it lies between bins of the calls on every axis, or next to the outermost."""
        inside = []
        for places, count in zip(self.places(message_size, nodes, ppn), self.shape, strict=True):
            numbers = np.arange(count)
            inside.append((numbers >= places.min() - 1) & (numbers <= places.max() + 1))
        return np.asarray(np.logical_and.reduce(np.meshgrid(*inside, indexing="ij")).ravel())

    def __post_init__(self) -> None:
        for name, axis, middle in zip(AXES, self.borders, self.points, strict=True):
            if not axis.size or axis[0] != 0 or (np.diff(axis) <= 0).any():
                raise OnlineError(f"the borders of {name} must ascend from 0")
            if middle.shape != axis.shape:
                raise OnlineError(f"{name} has {axis.size} bins and {middle.size} points")


def _geometric(borders: FloatArray) -> FloatArray:
    inner = np.sqrt(np.maximum(borders[:-1], 1) * borders[1:])
    return np.append(inner, borders[-1])


def _arithmetic(borders: FloatArray) -> FloatArray:
    inner = (borders[:-1] + borders[1:]) / 2
    return np.asarray(np.maximum(np.append(inner, borders[-1]), 1.0))


def _around(values: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Borders between the distinct values, in the middle by the logarithm, and the values themselves."""
    distinct = np.unique(values)
    if not distinct.size:
        raise OnlineError("nothing was seen, so no bins can follow it")
    if distinct.size > most:
        distinct = np.unique(np.quantile(values, np.linspace(0, 1, most), method="nearest"))
    between = np.sqrt(np.maximum(distinct[:-1], 0.5) * distinct[1:])
    return np.concatenate([[0.0], between]), distinct
