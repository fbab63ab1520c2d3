"""Quadtrees over one of their two options, the other one as chosen (Figures 6.10, 6.11)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dashboard.session.choice import QUADTREE, Choice
from dashboard.session.prepared import Decided, Prepared

THRESHOLDS = tuple(step / 20 for step in range(1, 21))
"""The thresholds that are tried where none are named: 5 % to 100 %."""

_OPTIONS = {"depth": "max_depth", "threshold": "threshold"}
_QUADTREE = Choice.of(QUADTREE)


def sweep(
    prepared: Prepared, along: str, choice: Choice = _QUADTREE, settings: Sequence[Any] | None = None
) -> pd.DataFrame:
    """Statistics of quadtrees over ``depth`` or ``threshold``.

    Parameters
    ----------
    along
        ``depth`` or ``threshold``.
    choice
        A quadtree, whose other option is held; of another family nothing is.
    settings
        Values that are tried; None: every depth up to that of the exact tree, or `THRESHOLDS`.

    Returns
    -------
    DataFrame
        One row for each value, in a column of the option's name, with ``depth_max``, ``depth_mean``, ``leaves``,
        ``nodes``, ``penalty_mean``, ``penalty_max`` and ``penalty_median`` (percent).
    """
    chosen = choice.options if choice.family == QUADTREE else {}
    option = _OPTIONS[along]
    if settings is None:
        depths = range(prepared.learnt.single("a quadtree").builder.levels + 1)
        settings = depths if along == "depth" else THRESHOLDS
    rows = []
    for setting in settings:
        figures = Decided(prepared, Choice.of(QUADTREE, {**chosen, option: setting})).statistics
        depth, penalties = figures["depth"], figures["penalty"]
        row = {option: setting, "depth_max": depth["max"], "depth_mean": depth["mean"]}
        row |= {name: figures[name] for name in ("leaves", "nodes")}
        rows.append(row | {f"penalty_{name}": penalties[name] for name in ("mean", "max", "median")})
    return pd.DataFrame(rows)
