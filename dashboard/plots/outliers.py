"""Outliers as a table."""

from html import escape

import pandas as pd

from dashboard.domain.units import format_bytes, format_count, format_time
from dashboard.plots.legend import table

#: More rows than this are counted, not listed; the download has all of them.
MOST_ROWS = 200


def outlier_table(outliers: pd.DataFrame, *, left_out: bool) -> str:
    """Write the outliers, those furthest off first.

    Parameters
    ----------
    outliers
        As `dashboard.decisions.measured.outliers.outliers` gives it.
    """
    note = f"<p>Looked for: {escape(str(outliers.attrs.get('note', '')))}.</p>"
    if not len(outliers):
        return f"<p>No outliers were found.</p>{note}"
    away = outliers["ratio"].where(outliers["ratio"] >= 1, 1 / outliers["ratio"])
    shown = outliers.loc[away.sort_values(ascending=False, kind="stable").index[:MOST_ROWS]]
    with_ppn = "ppn" in outliers
    heads = [("method", False), ("processes", True), ("message size", True)]
    heads += [("per node", True)] if with_ppn else []
    heads += [("time", True), ("expected", True), ("ratio", True), ("why", False)]
    rows = []
    for row in shown.to_dict("records"):
        cells = [escape(str(row["method"])), f"{row['comm_size']:,}", format_bytes(row["message_size"])]
        cells += [f"{row['ppn']:,}"] if with_ppn else []
        cells += [format_time(row["time"]), format_time(row["expected"]), f"{row['ratio']:.2f}"]
        rows.append([*cells, escape(str(row["reason"]))])
    single = int((outliers["kind"] == "repetition").sum())
    cells = format_count(len(outliers) - single, "cell")
    what = f"{format_count(single, 'single repetition')} and {cells} of one method"
    caption = f"Outliers: {what}; {'left out' if left_out else 'not left out'}"
    more = f" (the {MOST_ROWS} furthest off are listed)" if len(outliers) > MOST_ROWS else ""
    return table(caption + more, heads, rows) + note
