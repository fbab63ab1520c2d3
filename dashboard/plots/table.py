"""Maps as a table: what they show, for those who read rather than look."""

from collections.abc import Hashable, Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.domain.arrays import BoolArray
from dashboard.domain.units import format_bytes, format_percent, format_time
from dashboard.plots.legend import table

#: Orders of the rows: columns to sort by, and whether ascending.
ORDERS = {
    "by size": (["processes", "message size [B]"], True),
    "largest penalty first": (["penalty [%]"], False),
    "longest time first": (["chosen time [µs]"], False),
}

HELP = "Words that the best or the chosen method contains, such as binomial; commas between them: all must hold."


def decision_table(dmap: xr.Dataset, penalties: xr.Dataset, estimated: BoolArray | None = None) -> pd.DataFrame:
    """Write every cell of the maps as a row.

    Parameters
    ----------
    dmap
        As `dashboard.decisions.decision_map` gives it.
    penalties
        As `dashboard.decisions.judged.penalty` gives it.
    estimated
        Cells of the map whose best time was not measured; None: none.

    Returns
    -------
    DataFrame
        ``processes``, ``message size [B]``, ``best``, ``best time [µs]``, ``chosen``, ``chosen time [µs]``,
        ``penalty [%]``, ``methods measured``, ``chosen measured`` (whether the chosen time is, or what the method
        counts), ``best measured``; empty text or NaN where there is nothing.
    """
    labels = np.array([*map(str, dmap["method"].values), ""], dtype=object)
    comm, message = dmap["comm_size"].values, dmap["message_size"].values
    return pd.DataFrame(
        {
            "processes": np.repeat(comm, message.size),
            "message size [B]": np.tile(message, comm.size),
            "best": labels[dmap["best"].values.ravel()],
            "best time [µs]": dmap["best_time"].values.ravel() * 1e6,
            "chosen": labels[penalties["chosen"].values.ravel()],
            "chosen time [µs]": penalties["chosen_time"].values.ravel() * 1e6,
            "penalty [%]": penalties["penalty"].values.ravel(),
            "methods measured": dmap["measured"].values.ravel(),
            "chosen measured": ~(penalties["unmeasured"].values.ravel() | (penalties["best"].values.ravel() < 0)),
            "best measured": (dmap["best"].values.ravel() >= 0) & (estimated is None or ~estimated.ravel()),
        }
    )


def ordered(frame: pd.DataFrame, order: str) -> pd.DataFrame:
    """Sort the rows in one of `ORDERS`; rows without the figure come last."""
    columns, ascending = ORDERS[order]
    return frame.sort_values(columns, ascending=ascending, na_position="last", kind="stable")


def matching(frame: pd.DataFrame, asked: str) -> pd.DataFrame:
    """Rows whose best or chosen method contains each of the words, which have commas between them.

    Parameters
    ----------
    frame
        As `decision_table` makes it.
    """
    for word in filter(None, map(str.strip, asked.split(","))):
        contains = [frame[name].str.contains(word, case=False, regex=False) for name in ("best", "chosen")]
        frame = frame[contains[0] | contains[1]]
    return frame


def table_page(frame: pd.DataFrame, first: int, end: int) -> str:
    """Write some rows of the table as HTML.

    Parameters
    ----------
    frame
        As `decision_table` makes it.
    first, end
        Which rows, from 0; `end` is not among them.
    """
    heads = [("processes", True), ("message size", True), ("best", False), ("best time", True)]
    heads += [("chosen", False), ("chosen time", True), ("penalty", True), ("methods measured", True)]
    rows = [
        [
            f"{row['processes']:,}",
            format_bytes(row["message size [B]"]),
            escape(row["best"]) or "not measured",
            _time(row, "best"),
            escape(row["chosen"]),
            _time(row, "chosen"),
            format_percent(row["penalty [%]"]),
            f"{row['methods measured']:,}",
        ]
        for row in frame.iloc[first:end].to_dict("records")
    ]
    caption = f"Cells {first + 1:,} to {min(end, len(frame)):,} of {len(frame):,}"
    return table(caption, heads, rows)


def _time(row: Mapping[Hashable, Any], which: str) -> str:
    text = format_time(row[f"{which} time [µs]"] / 1e6)
    return text if row[f"{which} measured"] or np.isnan(row[f"{which} time [µs]"]) else f"≈ {text}"
