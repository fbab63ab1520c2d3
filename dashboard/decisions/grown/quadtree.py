"""Quadtrees over a decision map, by the conventions of the dissertation (5.3) and the quadtree report.

The map is laid on a 2^k × 2^k square, k the smallest that holds both axes; missing rows and columns
repeat the last measured communicator and message size. Rows are communicator sizes, columns message
sizes, both ascending, and blocks are halved by number of rows and columns, not by size.
"""

from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.blocks import Halving
from dashboard.decisions.measured.fill import fill_missing
from dashboard.decisions.measured.map import ends_of, methods_of
from dashboard.domain.errors import DecisionError, OptionError

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
        self._halving = Halving(fill_missing(best), [np.asarray(dmap[name].values) for name in SIZES], SIZES)
        self._collective = str(dmap.attrs.get("collective", "unknown"))
        self._methods = methods_of(dmap)
        self._provenance = provenance(dmap)

    @property
    def levels(self) -> int:
        """k: the depth that an exact tree cannot exceed."""
        return self._halving.levels

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
            self._halving.grow(limit, float(threshold)),
            kind=kind,
            options={"max_depth": None if max_depth is None else int(max_depth), "threshold": float(threshold)},
            provenance=self._provenance,
        )


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
    return {**known, **ends_of(dmap), "cells": int((dmap["best"].values >= 0).sum())}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
