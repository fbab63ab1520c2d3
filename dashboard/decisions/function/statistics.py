"""The figures of a decision function, as in Tables 6.4 and 6.5 of the dissertation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.quadtree import QuadtreeBuilder
from dashboard.decisions.judged.penalty import given_of, penalty, summarise_all
from dashboard.decisions.measured.map import decision_map

THRESHOLDS = tuple(step / 20 for step in range(1, 21))
"""The thresholds that `sweep_threshold` tries by itself: 5 % to 100 %."""


def statistics(
    cube: xr.Dataset,
    decision: DecisionFunction,
    *,
    ppn: int | None = None,
    weights: Any = None,
    penalties: xr.Dataset | None = None,
) -> dict[str, Any]:
    """Give depth, size and penalty of a decision function.

    Parameters
    ----------
    cube
        The measurements that penalties are over.
    decision
        The decision function.
    ppn, weights
        As for `penalty`.
    penalties
        What `penalty` gave for these, if it is there already.

    Returns
    -------
    dict
        ``{"depth": {"max", "min", "mean", "expected"}, "leaves", "nodes", "penalty": {"min", "max",
        "mean", "median", "unmeasured"}}``. Depths are in levels below the root: mean over all leaves
        (of a quadtree those in the padding as well, as the published tables have it), expected over
        measured cells. Penalties are in percent; None when no cell has one.
    """
    if penalties is None:
        penalties = penalty(cube, decision, ppn=ppn, weights=weights)
    return statistics_of(decision, [penalties])


def statistics_of(decision: DecisionFunction, penalties: Sequence[xr.Dataset]) -> dict[str, Any]:
    """Give depth, size and penalty over several tables, such as `Problem.penalties` gives; as `statistics`."""
    summary = summarise_all(penalties)
    depths = decision.depths()
    return {
        "depth": {
            "max": int(depths.max()),
            "min": int(depths.min()),
            "mean": float(depths.mean()),
            "expected": expected_depth(decision, penalties),
        },
        "leaves": decision.leaves,
        "nodes": decision.nodes,
        "penalty": {
            **{name: _number(getattr(summary, name)) for name in ("min", "max", "mean", "median")},
            "unmeasured": summary.unmeasured,
        },
    }


def sweep_depth(cube: xr.Dataset, *, ppn: int | None = None, threshold: float = 1.0) -> pd.DataFrame:
    """Build the quadtrees of every maximum depth from 0 to that of the exact tree (Figure 6.11).

    Returns
    -------
    DataFrame
        One row per ``max_depth``: ``depth_max``, ``depth_mean``, ``leaves``, ``nodes``,
        ``penalty_mean``, ``penalty_max``, ``penalty_median`` (percent).
    """
    dmap = decision_map(cube, ppn=ppn)
    builder = QuadtreeBuilder(dmap)
    return _swept(
        cube, builder, dmap, [{"max_depth": depth} for depth in range(builder.levels + 1)], threshold=threshold
    )


def sweep_threshold(
    cube: xr.Dataset,
    thresholds: Iterable[float] | None = None,
    max_depth: int | None = None,
    *,
    ppn: int | None = None,
) -> pd.DataFrame:
    """Build the quadtrees of several accuracy thresholds (Figure 6.10).

    Parameters
    ----------
    cube
        The measurements.
    thresholds
        Fractions from 0 to 1; None tries `THRESHOLDS`.
    max_depth
        As for `quadtree`.
    ppn
        As for `select_ppn`.

    Returns
    -------
    DataFrame
        One row per ``threshold``, otherwise as for `sweep_depth`.
    """
    dmap = decision_map(cube, ppn=ppn)
    settings = [{"threshold": float(each)} for each in (THRESHOLDS if thresholds is None else thresholds)]
    return _swept(cube, QuadtreeBuilder(dmap), dmap, settings, max_depth=max_depth)


def _swept(
    cube: xr.Dataset, builder: QuadtreeBuilder, dmap: xr.Dataset, settings: Sequence[dict[str, Any]], **fixed: Any
) -> pd.DataFrame:
    rows = []
    for setting in settings:
        decision = builder.build(**setting, **fixed)
        table = penalty(cube, decision, ppn=dmap.attrs.get("ppn"), dmap=dmap)
        rows.append({**setting, **swept_row(statistics_of(decision, [table]))})
    return pd.DataFrame(rows)


def swept_row(figures: dict[str, Any]) -> dict[str, Any]:
    """Give what a sweep tells of one tree, of what `statistics` gives."""
    depth, penalties = figures["depth"], figures["penalty"]
    return {
        "depth_max": depth["max"],
        "depth_mean": depth["mean"],
        "leaves": figures["leaves"],
        "nodes": figures["nodes"],
        **{f"penalty_{name}": penalties[name] for name in ("mean", "max", "median")},
    }


def expected_depth(decision: DecisionFunction, penalties: Sequence[xr.Dataset]) -> float | None:
    """Give the mean number of levels passed to decide, over measured cells; weighted where `penalties` are."""
    levels, weights = [], []
    for table in penalties:
        measured = np.asarray(table["best"].values >= 0)
        given = given_of(table, decision, table.attrs.get("ppn"))
        depth = decision.predict_depth(table["comm_size"].values[:, None], table["message_size"].values[None], **given)
        levels.append(np.broadcast_to(depth, measured.shape)[measured])
        weights.append(table["weight"].values[measured] if "weight" in table else np.ones(levels[-1].size))
    depths, weight = np.concatenate(levels), np.concatenate(weights)
    return float(np.average(depths, weights=weight)) if weight.any() else None


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
