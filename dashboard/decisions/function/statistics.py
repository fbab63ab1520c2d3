"""The figures of a decision function, as in Tables 6.4 and 6.5 of the dissertation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.judged.penalty import given_of, penalty, summarise_all, weights_of


def statistics(
    cube: xr.Dataset, decision: DecisionFunction, *, ppn: int | None = None, weights: Any = None
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

    Returns
    -------
    dict
        ``{"depth": {"max", "min", "mean", "expected"}, "leaves", "nodes", "penalty": {"min", "max",
        "mean", "median", "unmeasured"}}``. Depths are in levels below the root: mean over all leaves
        (of a quadtree those in the padding as well, as the published tables have it), expected over
        measured cells. Penalties are in percent; None when no cell has one.
    """
    return statistics_of(decision, [penalty(cube, decision, ppn=ppn, weights=weights)])


def statistics_of(decision: DecisionFunction, penalties: Sequence[xr.Dataset]) -> dict[str, Any]:
    """Give depth, size and penalty over several tables, such as `Problem.penalties` gives; as `statistics`."""
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
        "penalty": summarise_all(penalties).to_dict("min", "max", "mean", "median", "unmeasured"),
    }


def expected_depth(decision: DecisionFunction, penalties: Sequence[xr.Dataset]) -> float | None:
    """Give the mean number of levels passed to decide, over measured cells; weighted where `penalties` are."""
    levels, weights = [], []
    for table in penalties:
        measured = np.asarray(table["best"].values >= 0)
        given = given_of(table, decision, table.attrs.get("ppn"))
        depth = decision.predict_depth(table["comm_size"].values[:, None], table["message_size"].values[None], **given)
        levels.append(np.broadcast_to(depth, measured.shape)[measured])
        weights.append(weights_of(table)[measured])
    depths, weight = np.concatenate(levels), np.concatenate(weights)
    return float(np.average(depths, weights=weight)) if weight.any() else None
