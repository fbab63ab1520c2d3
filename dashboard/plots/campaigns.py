"""Two campaigns beside each other as tables: what differs, and what each decision costs on each of them."""

from html import escape

import pandas as pd

from dashboard.decisions.judged.portability import SIDES
from dashboard.domain.units import format_percent, format_ratio
from dashboard.plots.legend import table, unmeasured_note


def facts_table(facts: pd.DataFrame) -> str:
    """Write what differs.

    Parameters
    ----------
    facts
        As `dashboard.decisions.judged.portability.campaign_facts` gives it.
    """
    if facts.empty:
        return "<p>Nothing differs in what the files tell, nor in methods and sizes.</p>"
    rows = [[escape(str(cell)) for cell in row] for row in facts.itertuples(index=False)]
    return table("What differs", [("", False), *((side, False) for side in SIDES)], rows)


def penalties_table(penalties: pd.DataFrame) -> str:
    """Write the penalties of both decisions on both campaigns.

    Parameters
    ----------
    penalties
        As `dashboard.decisions.judged.portability.Portability.table`.
    """
    heads = [("decision made from", False), ("judged on", False), ("leaves", True)]
    heads += [(f"penalty, {name}", True) for name in ("mean", "median", "max")]
    heads += [("cells", True), ("not measured", True)]
    rows = []
    for row in penalties.to_dict("records"):
        figures = ["–" if pd.isna(row[name]) else format_percent(row[name]) for name in ("mean", "median", "max")]
        counts = [f"{row[name]:,}" for name in ("leaves", "cells", "unmeasured")]
        rows.append([row["made"], row["judged"], counts[0], *figures, *counts[1:]])
    return table("What the decisions cost", heads, rows, apart={2}) + unmeasured_note(penalties["unmeasured"].sum())


def ratios_table(ratios: pd.DataFrame) -> str:
    """Write how many times as long the methods take in B.

    Parameters
    ----------
    ratios
        As `dashboard.decisions.judged.portability.time_ratios` gives it.
    """
    if ratios.empty:
        return "<p>No cell was measured in both with the same method and sizes, so no times can be compared.</p>"
    heads = [("method", False), ("cells of both", True), ("10 %", True), ("median", True), ("90 %", True)]
    rows = [
        [escape(row.method), f"{row.cells:,}", *map(format_ratio, (row.low, row.median, row.high))]
        for row in ratios.itertuples()
    ]
    return table("Time of B / time of A", heads, rows)
