"""Quadtrees over a decision map, by the conventions of the dissertation (5.3) and the quadtree report.

The map is laid on a 2^k × 2^k square, k the smallest that holds both axes; missing rows and columns
repeat the last measured communicator and message size. Rows are communicator sizes, columns message
sizes, both ascending, and blocks are halved by number of rows and columns, not by size.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.grown.blocks import Blocks
from dashboard.decisions.measured.fill import fill_missing
from dashboard.decisions.measured.map import methods_of
from dashboard.domain.errors import DecisionError, OptionError

IntArray = npt.NDArray[np.int64]

PROVENANCE = (
    "system",
    "network",
    "library",
    "library_version",
    "device",
    "placement",
    "campaign",
    "selected",
    "joined",
    "apart",
    "benchmark",
    "statistic",
    "statistic_kind",
    "digest",
    "methods_left_out",
    "unsafe",
    "ppn",
    "ppn_note",
)


class QuadtreeBuilder:
    """Builds any number of quadtrees over one decision map, preparing it once.

    Parameters
    ----------
    dmap
        As `decision_map` gives it.

    Raises
    ------
    NothingMeasuredError
        When no cell is measured.
    """

    def __init__(self, dmap: xr.Dataset) -> None:
        if "best" not in dmap.data_vars:
            raise DecisionError("not a decision map: it has no best method; make one with decision_map(cube)")
        best = np.asarray(dmap["best"].transpose(*SIZES).values)
        self._blocks = Blocks(fill_missing(best))
        self._cuts = [_cuts_before(np.asarray(dmap[name].values), 1 << self._blocks.levels) for name in SIZES]
        self._collective = str(dmap.attrs.get("collective", "unknown"))
        self._methods = methods_of(dmap)
        self._provenance = provenance(dmap)

    @property
    def levels(self) -> int:
        """k: the depth that an exact tree cannot exceed."""
        return self._blocks.levels

    def build(
        self, *, max_depth: int | None = None, threshold: float = 1.0, kind: str = "quadtree"
    ) -> DecisionFunction:
        """Build one tree; parameters and errors as for `quadtree`."""
        if max_depth is not None and (isinstance(max_depth, bool) or int(max_depth) != max_depth or max_depth < 0):
            raise OptionError(f"max_depth is {max_depth}, expected a whole number from 0, or None for no limit")
        if not 0 <= threshold <= 1:
            raise OptionError(f"threshold is {threshold}, expected 0 to 1 (1 = exact)")
        limit = self.levels if max_depth is None else min(int(max_depth), self.levels)
        return DecisionFunction(
            self._collective,
            self._methods,
            self._grow(limit, float(threshold)),
            kind=kind,
            options={"max_depth": None if max_depth is None else int(max_depth), "threshold": float(threshold)},
            provenance=self._provenance,
        )

    def _grow(self, limit: int, threshold: float) -> FlatTree:
        codes: list[npt.NDArray[np.int32]] = []
        cuts: list[npt.NDArray[np.float64]] = []
        blocks = rows = columns = np.zeros(1, dtype=np.int64)
        splits = 0
        for level in range(limit + 1):
            methods, leaf = self._leaves(level, blocks, threshold, last=level == limit)
            inner = ~leaf
            count = int(inner.sum())
            methods[inner] = -1 - splits - np.arange(count, dtype=np.int32)
            codes.append(methods)
            splits += count
            if not count:
                break
            blocks, rows, columns = blocks[inner], rows[inner], columns[inner]
            half = (1 << (self.levels - level)) // 2
            middle = (rows * 2 + 1) * half, (columns * 2 + 1) * half
            cuts.append(np.stack([table[place] for table, place in zip(self._cuts, middle, strict=True)], axis=1))
            blocks = _children(blocks, 4, (0, 1, 2, 3))
            rows, columns = _children(rows, 2, (0, 1, 0, 1)), _children(columns, 2, (0, 0, 1, 1))
        if not cuts:
            return FlatTree.of_leaf(int(codes[0][0]))
        return FlatTree(
            np.concatenate(codes),
            SIZES,
            np.broadcast_to(np.array([0, 1], dtype=np.int16), (splits, 2)),
            np.concatenate(cuts),
            np.full(splits, 2, dtype=np.int8),
        )

    def _leaves(
        self, level: int, blocks: IntArray, threshold: float, *, last: bool
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """The method that each block would have as a leaf, and whether it is one."""
        leaf = self._blocks.uniform(level, blocks)
        methods = self._blocks.first_methods(level, blocks)
        if leaf.all() or (threshold == 1 and not last):
            return methods, leaf
        mixed = np.flatnonzero(~leaf)
        methods[mixed], count = self._blocks.prevalent(level, blocks[mixed])
        leaf[mixed] = last or count >= threshold * self._blocks.cells_in(level)
        return methods, leaf


def quadtree(dmap: xr.Dataset, *, max_depth: int | None = None, threshold: float = 1.0) -> DecisionFunction:
    """Encode a decision map as a quadtree.

    Parameters
    ----------
    dmap
        As `decision_map` gives it. For building, cells that were not measured are filled (`fill_missing`).
    max_depth
        Most levels below the root; None = no limit. A block at this depth takes its prevalent method.
    threshold
        Accuracy threshold, 0 to 1: a block of which at least this share of cells (of the padded
        square) has one method becomes a leaf of it. Ties as in `Blocks.prevalent`.

    Returns
    -------
    DecisionFunction
        Splits have two tests and four children; a split within the padding has infinite cuts.
        ``nodes == (4 * leaves - 1) / 3``.

    Raises
    ------
    OptionError
        When an option is outside its range.
    NothingMeasuredError
        When no cell is measured.
    """
    return QuadtreeBuilder(dmap).build(max_depth=max_depth, threshold=threshold)


def exact(dmap: xr.Dataset) -> DecisionFunction:
    """Encode a decision map without loss: every measured cell gets its best method."""
    return QuadtreeBuilder(dmap).build(kind="exact map")


def provenance(dmap: xr.Dataset) -> dict[str, Any]:
    """What a decision function remembers of the decision map it comes from."""
    known = {name: _plain(dmap.attrs[name]) for name in PROVENANCE if name in dmap.attrs}
    ranges = {name: [int(dmap[name].values[0]), int(dmap[name].values[-1])] for name in SIZES}
    return {**known, **ranges, "cells": int((dmap["best"].values >= 0).sum())}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _cuts_before(sizes: npt.NDArray[np.integer], side: int) -> npt.NDArray[np.float64]:
    """For each row (column) the last size before it: the cut of a split there, infinite in the padding."""
    cuts = np.full(side + 1, math.inf)
    cuts[1 : sizes.size] = sizes[:-1]
    return cuts


def _children(values: IntArray, factor: int, steps: tuple[int, ...]) -> IntArray:
    return np.asarray((values[:, None] * factor + np.array(steps)).ravel(), dtype=np.int64)
