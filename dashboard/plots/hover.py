"""What a map says under the pointer, worked out in the browser from the figures of each cell.

An image knows only the colour of its pixels. The figures of the cells lie beside it in a source of
their own, sent after the image (nobody reads them while a slider moves), and a formatter finds the
cell under the pointer.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import ColumnDataSource, CustomJSHover, HoverTool
from numpy.typing import NDArray

from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey

#: On a larger map the figures stay on the server; a pinned cell shows them.
MOST_CELLS = 512 * 512

_CODE = """
const find = (edges, at) => {
    let low = 0, high = edges.length - 1
    while (high - low > 1) { const mid = (low + high) >> 1; if (edges[mid] <= at) low = mid; else high = mid }
    return low
}
const column = find(x_edges, special_vars.x), row = find(y_edges, special_vars.y)
const where = `${collective} · ${y_names[row]} · ${x_names[column]}`
const data = cells.data
if (data.best === undefined) return `${where}\\ntap for the figures`
const cell = row * x_names.length + column
const best = data.best[cell], chosen = data.chosen[cell]
const time = (s) => {
    if (!isFinite(s)) return 'not measured'
    const [factor, unit] = s >= 1 ? [1, 's'] : s >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs']
    return `${(s * factor).toFixed(s * factor < 100 ? 2 : 1)} ${unit}`
}
if (best < 0) return `${where}\\nnot measured` + (chosen < 0 ? '' : `\\nchosen   ${names[chosen]}`)
const chosen_time = data.chosen_time[cell], best_time = data.best_time[cell]
const penalty = 100 * (chosen_time - best_time) / best_time
const name = (method) => method < 0 ? 'not among the methods' : names[method]
const wide = Math.max(name(chosen).length, name(best).length)
const line = (title, method, t, n) =>
    `\\n${title}${name(method).padEnd(wide)}  ${time(t)}` + (n > 0 ? `  (${n} repetitions)` : '')
return where
    + line('chosen   ', chosen, chosen_time, data.chosen_repetitions[cell])
    + line('best     ', best, best_time, data.best_repetitions[cell])
    + `\\npenalty  ${isFinite(penalty) ? penalty.toFixed(2) + ' %' : 'unknown: the chosen method was not measured'}`
    + `\\n${data.measured[cell]} methods measured · tap to pin`
"""
_TOOLTIP = (
    '<div style="white-space: pre; font: 12px/1.45 ui-monospace, monospace; color: #111; background: #fff;'
    ' padding: 4px 8px; border-radius: 4px">@image{custom}</div>'
)


def picked_repetitions(repetitions: NDArray[Any], methods: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Repetitions of the method of each cell; 0 where there is none.

    Parameters
    ----------
    repetitions
        Shape (method, comm_size, message_size).
    methods
        Method indices, shape (comm_size, message_size).
    """
    picked = np.take_along_axis(repetitions, np.maximum(methods, 0)[None], axis=0)[0]
    return np.where(methods >= 0, np.nan_to_num(picked), 0).astype(np.int32)


def cell_columns(cube: xr.Dataset, dmap: xr.Dataset, penalties: xr.Dataset) -> dict[str, NDArray[Any]]:
    """Figures of every cell, rows of the map one after the other; none on a map of too many cells.

    Parameters
    ----------
    cube
        Measurements of one number of processes per node: ``repetitions`` (method, comm_size, message_size).
    dmap
        Decision map.
    penalties
        As `dashboard.decisions.penalty` gives it.
    """
    if dmap["best"].size > MOST_CELLS:
        return {}
    columns = {
        "chosen": penalties["chosen"].values.astype(np.int16),
        "chosen_time": penalties["chosen_time"].values.astype(np.float32),
        "best": dmap["best"].values.astype(np.int16),
        "best_time": dmap["best_time"].values.astype(np.float32),
        "measured": dmap["measured"].values.astype(np.uint16),
    }
    if "repetitions" in cube:
        repetitions = np.asarray(cube["repetitions"].transpose("method", "comm_size", "message_size").values)
        columns["chosen_repetitions"] = picked_repetitions(repetitions, columns["chosen"])
        columns["best_repetitions"] = picked_repetitions(repetitions, columns["best"])
    else:
        nothing = np.zeros(dmap["best"].shape, dtype=np.int32)
        columns |= {"chosen_repetitions": nothing, "best_repetitions": nothing}
    return {name: np.ravel(values) for name, values in columns.items()}


class CellFigures:
    """The figures of the cells of one view, shared by its maps.

    Parameters
    ----------
    axes
        Of the maps.
    key
        Names and letters of the methods.
    collective
        Its name.
    columns
        As `cell_columns` makes them.
    """

    def __init__(self, axes: Axes, key: MethodKey, collective: str, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = dict(columns)
        self._sources: weakref.WeakKeyDictionary[Any, ColumnDataSource] = weakref.WeakKeyDictionary()
        self._facts = {
            "collective": collective,
            "x_edges": axes.x.edges.tolist(),
            "y_edges": axes.y.edges.tolist(),
            "x_names": [axes.x.write(size) for size in axes.x.sizes],
            "y_names": [f"{axes.y.write(size)} processes" for size in axes.y.sizes],
            "names": [f"{letter:<3}{label}" for letter, label in zip(key.letters, key.labels, strict=True)],
        }

    def update(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Replace columns, now and for plots rendered later."""
        self._columns.update(columns)
        for source in list(self._sources.values()):
            source.data.update(columns)

    def hook(self, plot: Any, _: hv.Element) -> None:
        """Add the hover tool to a rendered map."""
        renderer = plot.handles["glyph_renderer"]
        figure = plot.handles["plot"]
        if any(renderer in (tool.renderers or []) for tool in figure.tools if isinstance(tool, HoverTool)):
            return
        # One source for all maps of a page: the figures are sent once.
        owner = plot.document if plot.document is not None else figure
        if owner not in self._sources:
            self._sources[owner] = ColumnDataSource(data=dict(self._columns))
        formatter = CustomJSHover(args={"cells": self._sources[owner], **self._facts}, code=_CODE)
        figure.add_tools(
            HoverTool(
                renderers=[renderer], tooltips=_TOOLTIP, formatters={"@image": formatter}, description="Figures of a cell"
            )
        )
