"""What a map says under the pointer, worked out in the browser from the figures of each cell.

An image knows only the colour of its pixels. The figures of the cells lie beside it in a source of
their own, and a formatter finds the cell under the pointer. Figures are sent after the image, and
those of a large map, some megabytes, only when the pointer asks for them: not while a slider moves.
"""

import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr
from bokeh.models import ColumnDataSource, CustomJSHover, HoverTool
from numpy.typing import NDArray

from dashboard.domain.arrays import Array
from dashboard.domain.units import format_count
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.live import changed_columns

#: Figures of larger maps are sent when the pointer asks for them.
MOST_SENT = 64 * 64
#: On maps larger than this the figures stay on the server; a pinned cell shows them.
MOST_CELLS = 1024 * 1024
_STALE = "stale"

_CODE = Path(__file__).with_name("hover.js").read_text(encoding="utf-8")
_TOOLTIP = (
    '<div style="white-space: pre; font: 12px/1.45 ui-monospace, monospace; color: #111; background: #fff;'
    ' padding: 4px 8px; border-radius: 4px">@image{custom}</div>'
)


def picked_repetitions(repetitions: Array, methods: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
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


def cell_columns(
    cube: xr.Dataset, dmap: xr.Dataset, penalties: xr.Dataset, untrusted: Array | None = None
) -> dict[str, Array]:
    """Figures of every cell, rows of the map one after the other; none on a map of too many cells.

    Parameters
    ----------
    cube
        Measurements of one number of processes per node: ``repetitions`` (method, comm_size, message_size).
    penalties
        As `dashboard.decisions.judged.penalty` gives it.
    untrusted
        Times of each cell that cannot be right, in words; None where all can.
    """
    if dmap["best"].size > MOST_CELLS:
        return {}
    columns = {
        "chosen": penalties["chosen"].values.astype(np.int16),
        "chosen_time": penalties["chosen_time"].values.astype(np.float32),
        "unmeasured": penalties["unmeasured"].values.astype(np.uint8),
        "best": dmap["best"].values.astype(np.int16),
        "best_time": dmap["best_time"].values.astype(np.float32),
        "measured": dmap["measured"].values.astype(np.uint16),
    }
    if untrusted is not None:
        columns["untrusted"] = untrusted.astype(object)
    repetitions = cube.get("repetitions")
    table = None if repetitions is None else repetitions.transpose("method", "comm_size", "message_size").values
    for name in ("chosen", "best"):
        picked = columns[name]
        none = np.zeros(picked.shape, dtype=np.int32)
        columns[f"{name}_repetitions"] = none if table is None else picked_repetitions(table, picked)
    return {name: np.ravel(values) for name, values in columns.items()}


class CellFigures:
    """The figures of the cells of one view, shared by its maps.

    Parameters
    ----------
    key
        Names and letters of the methods.
    served
        Whether there is a server for the pointer to ask; without one the figures are all sent with the map.
    compares
        Whether a decision function is held against what is best.
    """

    def __init__(
        self, axes: Axes, key: MethodKey, collective: str, *, served: bool = True, compares: bool = True
    ) -> None:
        self._served = served
        self._large = served and axes.cells > MOST_SENT
        self._figures: Callable[[], Mapping[str, Array]] = dict
        self._version = 0
        self._sources: weakref.WeakKeyDictionary[Any, ColumnDataSource] = weakref.WeakKeyDictionary()
        # What the browser changes to ask for the figures.
        self._asks: weakref.WeakKeyDictionary[ColumnDataSource, ColumnDataSource] = weakref.WeakKeyDictionary()
        self._facts = {
            "collective": collective,
            "compares": compares,
            "x_edges": axes.x.edges.tolist(),
            "y_edges": axes.y.edges.tolist(),
            "x_names": [axes.x.write(size) for size in axes.x.sizes],
            "y_names": [format_count(int(size), "process", "processes") for size in axes.y.sizes],
            "names": [f"{letter:<3}{label}" for letter, label in zip(key.letters, key.labels, strict=True)],
        }

    def offer(self, figures: Callable[[], Mapping[str, Array]]) -> None:
        """Tell how to work out the figures from now on; those of a small map are sent at once.

        Parameters
        ----------
        figures
            Gives columns as `cell_columns` makes them.
        """
        self._figures = figures
        self._version += 1
        for source in list(self._sources.values()):
            self._renew(source)

    def _renew(self, source: ColumnDataSource) -> None:
        # Without a session (in a notebook) the browser could ask, but nobody would hear it.
        session = source.document.session_context if source.document is not None else None
        if self._large and session is not None:
            source.tags = [_STALE, self._version]
        else:
            self.send(source)

    def send(self, source: ColumnDataSource) -> None:
        """Send the figures as they are now: the columns that have changed."""
        source.data.update(changed_columns(self._figures(), source.data))
        source.tags = []

    def hook(self, plot: Any, _: hv.Element) -> None:
        """Add the hover tool to a rendered map."""
        renderer, figure = plot.handles["glyph_renderer"], plot.handles["plot"]
        if any(isinstance(tool, HoverTool) for tool in figure.tools):
            return
        # One source for all maps under one root: the figures are sent once.
        owner = figure if plot.root is None else plot.root
        if owner not in self._sources:
            self._sources[owner] = self._new_source()
        source = self._sources[owner]
        formatter = CustomJSHover(args={"cells": source, "ask": self._asks[source], **self._facts}, code=_CODE)
        tool = HoverTool(renderers=[renderer], tooltips=_TOOLTIP, formatters={"@image": formatter})
        tool.description = "Figures of a cell"
        figure.add_tools(tool)

    def _new_source(self) -> ColumnDataSource:
        source, ask = ColumnDataSource(), ColumnDataSource()
        self._asks[source] = ask
        if self._served:
            ask.on_change("tags", lambda attr, old, new: self.send(source))
        if self._large:
            source.tags = [_STALE, self._version]
        else:
            self.send(source)
        return source
