"""Quadtrees over one of their two options, the other one as chosen (Figures 6.10, 6.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dashboard.decisions.function.statistics import THRESHOLDS, swept_row
from dashboard.session.choice import Choice
from dashboard.session.prepared import Decided, Prepared

_OPTIONS = {"depth": "max_depth", "threshold": "threshold"}


def sweep(prepared: Prepared, along: str, choice: Choice) -> pd.DataFrame:
    """Statistics of quadtrees over ``depth`` or ``threshold``.

    Returns
    -------
    DataFrame
        One row for each value, in a column of the option's name, with ``depth_max``, ``depth_mean``, ``leaves``,
        ``nodes``, ``penalty_mean``, ``penalty_max`` and ``penalty_median`` (percent).
    """
    chosen = choice.options if choice.family == "quadtree" else {}
    option = _OPTIONS[along]
    settings: Sequence[Any] = THRESHOLDS
    if along == "depth":
        settings = range(prepared.learnt.single("a quadtree").builder.levels + 1)
    rows = []
    for setting in settings:
        figures = Decided(prepared, Choice.of("quadtree", {**chosen, option: setting})).statistics
        rows.append({option: setting, **swept_row(figures)})
    return pd.DataFrame(rows)
