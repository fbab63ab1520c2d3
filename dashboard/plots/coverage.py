"""What was measured and how well: shares of measured cells, numbers of methods, spread.

The first half computes labelled arrays and tables, the second draws them.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
import xarray as xr

from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import format_bytes, format_count
from dashboard.plots.axes import Axis, size_axis
from dashboard.plots.frame import framed, tooltips

#: Most boxes along one side of a drawing; what is finer is averaged in blocks.
MOST_BOXES = 180
#: More boxes have no lines between them, which would cover them.
MOST_LINED = 2000
HEIGHT = 340
_SHADES = ["#e3ecf5", "#c3d7ea", "#9dbfdd", "#72a4cd", "#4a87bb", "#2a6aa6", "#154f8c"]
_LINE = "#2f8fd8"
_NONE = "#c8c8c8"


def coverage_table(tree: xr.DataTree) -> pd.DataFrame:
    """One row for each collective: how many methods and sizes, and how many of their cells were measured.

    Returns
    -------
    DataFrame
        ``collective, methods, processes, message sizes, processes per node, measured, cells, share`` (percent).
    """
    rows = []
    for name, node in tree.children.items():
        cube = node.to_dataset()
        measured = int(_there(cube).sum().compute())
        cells = math.prod(cube["time"].shape)
        ppns = cube["ppn"].values if "ppn" in cube.dims else [cube.attrs.get("ppn", "")]
        rows.append(
            {
                "collective": name,
                "methods": cube.sizes["method"],
                "processes": sizes_text(cube["comm_size"].values, lambda size: f"{int(size):,}"),
                "message sizes": sizes_text(cube["message_size"].values, format_bytes),
                "processes per node": ", ".join(map(str, ppns)),
                "measured": measured,
                "cells": cells,
                "share": 100 * measured / cells if cells else 0.0,
            }
        )
    return pd.DataFrame(rows)


def _there(cube: xr.Dataset) -> xr.DataArray:
    return ~np.isnan(cube["time"])


def sizes_text(sizes: Sequence[int] | IntArray, write: Callable[[int], str]) -> str:
    """Write ascending sizes in short: how many, the first and the last."""
    if len(sizes) < 2:
        return ", ".join(write(size) for size in sizes)
    return f"{len(sizes)} from {write(sizes[0])} to {write(sizes[-1])}"


def measured_share(cube: xr.Dataset) -> xr.DataArray:
    """Percent of the message sizes that were measured, over ``method, comm_size``."""
    over = [dim for dim in cube["time"].dims if dim not in ("method", "comm_size")]
    return (100 * _there(cube).mean(over)).compute()


def rounded_down(share: Any) -> Any:
    """Percents to one digit: nearly all is not all."""
    # What is 29 % may be a little less as a number.
    return np.floor(np.round(10 * share, 6)) / 10


def methods_measured(cube: xr.Dataset) -> xr.DataArray:
    """Give the number of methods that were measured, over ``comm_size, message_size``."""
    there = _there(cube)
    return there.any("ppn").sum("method").compute() if "ppn" in cube.dims else there.sum("method").compute()


def relative_spread(cube: xr.Dataset) -> xr.DataArray | None:
    """Standard deviation in percent of the time, in each cell; None if the results have none."""
    if "time_std" not in cube:
        return None
    return 100 * cube["time_std"] / cube["time"]


def spread_by_size(cube: xr.Dataset) -> xr.Dataset | None:
    """10 % quantile, median and 90 % quantile of the relative spread (percent), over ``message_size``.

    None if no cell tells its spread.
    """
    spread = relative_spread(cube)
    if spread is None:
        return None
    quantiles = np.full((3, spread.sizes["message_size"]), np.nan)
    # Size by size, so that only one slice of results on disk is in memory at a time.
    for index in range(spread.sizes["message_size"]):
        spreads = spread.isel(message_size=index).values
        spreads = spreads[np.isfinite(spreads)]
        if spreads.size:
            quantiles[:, index] = np.quantile(spreads, [0.1, 0.5, 0.9])
    if not np.isfinite(quantiles).any():
        return None
    names = ("low", "median", "high")
    return xr.Dataset(
        {name: ("message_size", row) for name, row in zip(names, quantiles, strict=True)},
        coords={"message_size": cube["message_size"]},
    )


def spread_table(tree: xr.DataTree) -> pd.DataFrame:
    """One row for each collective: its spread (percent of the time), the repetitions, what a time is.

    Returns
    -------
    DataFrame
        ``collective, median, 90 %, largest, repetitions, time`` with NaN where no spread is told.
    """
    rows = []
    for name, node in tree.children.items():
        cube = node.to_dataset()
        spread = relative_spread(cube)
        values = np.empty(0) if spread is None else _sample(spread).values
        values = values[np.isfinite(values)]
        if not values.size:
            values = np.array([np.nan])
        rows.append(
            {
                "collective": name,
                "median": float(np.median(values)),
                "90 %": float(np.quantile(values, 0.9)),
                "largest": float(values.max()),
                "repetitions": _repetitions(cube),
                "time": str(cube.attrs.get("statistic", "")),
            }
        )
    return pd.DataFrame(rows)


def _sample(values: xr.DataArray, most: int = 10_000_000) -> xr.DataArray:
    """Every cell, or of large results on disk those of every n-th message size."""
    return values.isel(message_size=slice(None, None, math.ceil(values.size / most))) if values.size else values


def _repetitions(cube: xr.Dataset) -> str:
    if "repetitions" not in cube:
        return ""
    counts = cube["repetitions"].where(_there(cube))
    low, high = float(counts.min().compute()), float(counts.max().compute())
    if not math.isfinite(low):
        return ""
    return f"{low:,.0f}" if low == high else f"{low:,.0f} … {high:,.0f}"


def thinned(values: xr.DataArray, most: int = MOST_BOXES) -> xr.DataArray:
    """Averages of blocks where a side has more than `most` sizes; the coordinates become the blocks' first sizes."""
    for dim, size in values.sizes.items():
        if size > most and dim != "method":
            block = math.ceil(size / most)
            values = values.coarsen({dim: block}, boundary="pad", coord_func={dim: "min"}).mean()
    return values


def draw_share(share: xr.DataArray) -> hv.Rectangles:
    """Draw how much of each method was measured at each communicator size.

    Parameters
    ----------
    share
        As `measured_share` makes it.
    """
    share = thinned(share)
    axis = size_axis("comm_size", share["comm_size"].values)
    methods = [str(name) for name in share["method"].values]
    rows = np.arange(len(methods), dtype=float)[::-1]
    boxes = _boxes(axis.edges, np.stack([rows - 0.5, rows + 0.5], axis=1), share.values.astype(float))
    table = {
        **boxes,
        "method": np.repeat(methods, axis.sizes.size),
        "processes": np.tile([axis.write(size) for size in axis.sizes], len(methods)),
        "measured": [f"{value:g} % of the message sizes" for value in rounded_down(share.values.ravel())],
    }
    hover = [("method", "@method"), ("processes", "@processes"), ("measured", "@measured")]
    element = _rectangles(table, hover, (0, 100), "% measured")
    return element.opts(
        **_frame(axis, int(np.clip(90 + 17 * len(methods), 170, 1600))),
        yticks=[
            (float(row), name if len(name) <= 30 else f"{name[:29]}…") for row, name in zip(rows, methods, strict=True)
        ],
        ylim=(-0.5, len(methods) - 0.5),
        ylabel="",
    )


def draw_methods_measured(counts: xr.DataArray, methods: int) -> hv.Rectangles:
    """Draw how many methods were measured at each pair of sizes.

    Parameters
    ----------
    counts
        As `methods_measured` makes it.
    methods
        Number of methods there are.
    """
    counts = thinned(counts)
    x = size_axis("message_size", counts["message_size"].values)
    y = size_axis("comm_size", counts["comm_size"].values)
    values = counts.transpose("comm_size", "message_size").values.astype(float)
    boxes = _boxes(x.edges, np.stack([y.edges[:-1], y.edges[1:]], axis=1), values)
    table = {
        **boxes,
        "processes": np.repeat([y.write(size) for size in y.sizes], x.sizes.size),
        "message": np.tile([x.write(size) for size in x.sizes], y.sizes.size),
        "measured": [f"{value:.4g} of {format_count(methods, 'method')}" for value in values.ravel()],
    }
    hover = [("processes", "@processes"), ("message size", "@message"), ("measured", "@measured")]
    element = _rectangles(table, hover, (0, max(methods, 1)), "methods")
    return element.opts(**_frame(x, HEIGHT), yticks=y.ticks(), ylim=y.limits, ylabel=y.title)


def draw_spread(by_size: xr.Dataset) -> hv.Overlay:
    """Draw the relative spread over the message size: the median, and the band that holds the middle 80 %.

    Parameters
    ----------
    by_size
        As `spread_by_size` makes it.
    """
    axis = size_axis("message_size", by_size["message_size"].values)
    at = axis.positions(axis.sizes)
    low, median, high = (by_size[name].values for name in ("low", "median", "high"))
    kdim, vdim = (
        hv.Dimension("position", label="message size"),
        hv.Dimension("spread", label="standard deviation / time"),
    )
    band = hv.Area((at, low, high), kdim, [vdim, "high"]).opts(color=_LINE, alpha=0.25, line_alpha=0, backend="bokeh")
    line = hv.Curve((at, median), kdim, vdim).opts(color=_LINE, line_width=2, backend="bokeh")
    points = hv.Points(
        {
            "position": at,
            "spread": median,
            "size": [axis.write(size) for size in axis.sizes],
            "middle": [f"{value:.1f} %" for value in median],
            "range": [f"{a:.1f} to {b:.1f} %" for a, b in zip(low, high, strict=True)],
        },
        [kdim, vdim],
        ["size", "middle", "range"],
    ).opts(
        color=_LINE, size=6, **tooltips([("message size", "@size"), ("median", "@middle"), ("10 % to 90 %", "@range")])
    )
    top = float(np.nanmax(high)) if np.isfinite(high).any() else 1.0
    return (band * line * points).opts(
        **{**_frame(axis, HEIGHT), "show_grid": True},
        ylim=(0, 1.08 * top or 1.0),
        ylabel="standard deviation, % of the time",
    )


def _frame(x: Axis, height: int) -> dict[str, Any]:
    lower = {"xticks": x.ticks(), "xlim": x.limits, "xlabel": x.title}
    return framed("", height, tools=["save"], grows=False, show_grid=False, **lower)


def _boxes(x: FloatArray, y: FloatArray, values: FloatArray) -> dict[str, Any]:
    """Corners of boxes for ``values[row, column]``: `x` the columns' edges, `y` the rows' lower and upper ones."""
    rows, columns = values.shape
    return {
        "left": np.tile(x[:-1], rows),
        "bottom": np.repeat(y[:, 0], columns),
        "right": np.tile(x[1:], rows),
        "top": np.repeat(y[:, 1], columns),
        # Nothing at all is another thing than little: it gets the grey of what is missing.
        "value": np.where(values > 0, values, np.nan).ravel(),
    }


def _rectangles(
    table: dict[str, Any], hover: list[tuple[str, str]], limits: tuple[float, float], title: str
) -> hv.Rectangles:
    names = ["left", "bottom", "right", "top"]
    return hv.Rectangles(table, names, [name for name in table if name not in names]).opts(
        color="value",
        cmap=_SHADES,
        clim=limits,
        clipping_colors={"NaN": _NONE},
        line_color="white",
        line_width=0.5 if len(table["left"]) <= MOST_LINED else 0,
        colorbar=True,
        clabel=title,
        **tooltips(hover),
    )
