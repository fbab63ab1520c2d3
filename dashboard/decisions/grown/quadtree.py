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
from dashboard.domain.errors import DecisionError

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


class QuadtreeBuilder(Halving):
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
        known: dict[str, Any] = {"kind": "quadtree", "provenance": provenance(dmap)}
        collective, methods = str(dmap.attrs.get("collective", "unknown")), methods_of(dmap)
        super().__init__(
            fill_missing(np.asarray(dmap["best"].transpose(*SIZES).values)),
            [np.asarray(dmap[name].values) for name in SIZES],
            SIZES,
            lambda tree, options: DecisionFunction(collective, methods, tree, options=options, **known),
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
    return QuadtreeBuilder(dmap).build().changed(kind="exact map")


def provenance(dmap: xr.Dataset) -> dict[str, Any]:
    """What a decision function remembers of the decision map it comes from."""
    known = {name: _plain(dmap.attrs[name]) for name in PROVENANCE if name in dmap.attrs}
    return {**known, **ends_of(dmap), "cells": int((dmap["best"].values >= 0).sum())}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
