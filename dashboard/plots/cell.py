"""One cell of a map: every method measured there, with its spread."""

from html import escape

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.domain.units import format_bytes, format_count, format_percent, format_time
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import swatch, table

STYLE = """
small { display: block; opacity: 0.75; }
.range { position: relative; display: inline-block; width: 72px; height: 12px; vertical-align: middle; }
.range i { position: absolute; top: 5px; height: 2px; background: currentColor; opacity: 0.7; }
.range b { position: absolute; top: 1px; width: 3px; height: 10px; margin-left: -1px; background: currentColor; }
"""


def measured_at(cube: xr.Dataset, cell: tuple[int, int], tolerance: float = 0.0) -> pd.DataFrame:
    """List the methods measured at one size, fastest first.

    Methods tie when their times lie within each other's spread, or within the tolerance: measured
    again, either may come first. A tie is with the first method of the tied group, so that a chain
    of small differences does not tie the fastest with the slowest.

    Parameters
    ----------
    cube
        Measurements of one number of processes per node.
    cell
        ``(comm_size, message_size)``.
    tolerance
        Percent within which methods count as equal.

    Returns
    -------
    DataFrame
        ``method`` (index), ``label``, ``time``, ``time_std`` (seconds; NaN if unknown), ``repetitions``,
        ``penalty`` (percent above the fastest), ``rank`` (from 1; tied methods share one), ``tied``.
    """
    here = cube.sel(comm_size=cell[0], message_size=cell[1])
    time = np.asarray(here["time"].values, dtype=float)
    spread = np.asarray(here["time_std"].values, dtype=float) if "time_std" in here else np.full(time.shape, np.nan)
    runs = np.asarray(here["repetitions"].values) if "repetitions" in here else np.zeros(time.shape, dtype=int)
    order = np.argsort(time, kind="stable")[: int(np.isfinite(time).sum())]
    time, spread = time[order], spread[order]
    rank = _ranks(time, np.nan_to_num(spread), tolerance)
    return pd.DataFrame(
        {
            "method": order,
            "label": [str(label) for label in cube["method"].values[order]],
            "time": time,
            "time_std": spread,
            "repetitions": np.nan_to_num(runs[order]).astype(int),
            "penalty": 100 * (time / time[0] - 1) if time.size else time,
            "rank": rank,
            "tied": np.bincount(rank, minlength=2)[rank] > 1 if rank.size else np.zeros(0, dtype=bool),
        }
    )


def _ranks(time: np.ndarray, spread: np.ndarray, tolerance: float) -> np.ndarray:
    rank = np.ones(time.size, dtype=int)
    first = 0
    for index in range(1, time.size):
        within_spread = time[index] - time[first] <= spread[first] + spread[index]
        if not within_spread and time[index] > time[first] * (1 + tolerance / 100):
            first = index
        rank[index] = first + 1
    return rank


def cell_table(methods: pd.DataFrame, key: MethodKey, cell: tuple[int, int], chosen: int) -> str:
    """Write the list of a pinned cell.

    Parameters
    ----------
    methods
        As `measured_at` makes it.
    cell
        ``(comm_size, message_size)``.
    chosen
        Method index that the decision function takes there; -1 for none.
    """
    place = f"{format_count(cell[0], 'process', 'processes')}, {format_bytes(cell[1])}"
    caption = f"Pinned: {place}. {format_count(len(methods), 'method')} measured"
    heads = [("rank", True), ("method", False), ("time", True), ("slower by", True), ("spread, log scale", False)]
    low, high = _range(methods)
    rows = [
        [
            f"{row.rank}{' =' if row.tied else ''}",
            f"{swatch(key.colors[row.method], key.letters[row.method])} {escape(row.label)}"
            + (" <strong>◀ chosen</strong>" if row.method == chosen else ""),
            f"{format_time(row.time)}<small>{_measured(row.time_std, row.repetitions)}</small>",
            format_percent(row.penalty),
            _bar(row.time, row.time_std, low, high),
        ]
        for row in methods.itertuples()
    ]
    ranks = methods["rank"].to_numpy()
    apart = {at for at in range(1, len(ranks)) if ranks[at] != ranks[at - 1]}
    note = "" if methods.empty or not methods["tied"].any() else "<p>= tied: times within each other's spread</p>"
    return table(caption, heads, rows, apart=apart) + note


def _measured(spread: float, repetitions: int) -> str:
    times = f"{repetitions:,} ×" if repetitions else ""
    return " ".join(filter(None, [f"± {format_time(spread)}" if np.isfinite(spread) else "", times]))


def _range(methods: pd.DataFrame) -> tuple[float, float]:
    if methods.empty:
        return 0.0, 1.0
    spread = methods["time_std"].fillna(0.0)
    lowest = np.maximum(methods["time"] - spread, methods["time"] / 2).min()
    return float(np.log(lowest)), float(np.log((methods["time"] + spread).max()))


def _bar(time: float, spread: float, low: float, high: float) -> str:
    def at(value: float) -> float:
        return 100 * (np.log(max(value, 1e-12)) - low) / ((high - low) or 1.0)

    middle = min(max(at(time), 0.0), 100.0)
    if not np.isfinite(spread):
        return f'<span class="range" aria-hidden="true"><b style="left: {middle:.1f}%"></b></span>'
    start, end = max(at(time - spread), 0.0), min(at(time + spread), 100.0)
    wide = max(end - start, 0.5)
    return (
        f'<span class="range" aria-hidden="true"><i style="left: {start:.1f}%; width: {wide:.1f}%"></i>'
        f'<b style="left: {middle:.1f}%"></b></span>'
    )
