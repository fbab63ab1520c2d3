"""Rendered elements whose data change without being drawn anew.

HoloViews draws a new frame in about 50 ms and a new plot in about 200 ms; what follows a slider
must be faster. `LiveSources` remembers, for elements given a name, the Bokeh sources they were
rendered to (one for each session or notebook cell that shows them) and sends new columns there.
The element itself stays as it was made; a plot rendered later is brought up to date at once.
"""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import holoviews as hv
import numpy as np

Hook = Callable[[Any, hv.Element], None]

#: Columns of no more values than this are sent as lists.
MOST_INLINE = 64


@dataclass(frozen=True, eq=False)
class Layer:
    """What is drawn once, and changed afterwards by its columns alone."""

    #: Those of its Bokeh source that change.
    columns: Mapping[str, Any]
    #: Makes the element.
    draw: Callable[[], hv.Element]


class LiveSources:
    """Sources of the rendered elements of one view, by name."""

    def __init__(self) -> None:
        self._plots: dict[str, weakref.WeakSet[Any]] = {}
        self._latest: dict[str, dict[str, Any]] = {}

    def attach(self, name: str, element: hv.Element) -> hv.Element:
        """Give an element a name; a later element of the same name takes its place."""
        self._plots[name] = weakref.WeakSet()
        self._latest.pop(name, None)
        plots = self._plots[name]

        def remember(plot: Any, _: hv.Element) -> None:
            plots.add(plot)
            if self._plots.get(name) is plots and name in self._latest:
                plot.handles["source"].data.update(self._latest[name])

        return add_hook(element, remember)

    def update(self, name: str, columns: Mapping[str, Any]) -> None:
        """Replace columns of all plots of a name that differ, now and when they are rendered later."""
        self._latest.setdefault(name, {}).update(columns)
        for plot in list(self._plots.get(name, ())):
            source = plot.handles.get("source")
            # Whatever is sent is drawn anew.
            if source is not None and (changed := changed_columns(columns, source.data)):
                source.data.update({column: _inline(values) for column, values in changed.items()})

    def refresh(self, layers: Mapping[str, Layer]) -> None:
        """Bring layers up to date that were drawn before."""
        for name, layer in layers.items():
            self.update(name, layer.columns)


def changed_columns(columns: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the columns that are not as they are known."""
    return {name: values for name, values in columns.items() if name not in known or not _same(values, known[name])}


def _same(new: Any, old: Any) -> bool:
    if isinstance(new, list):
        return isinstance(old, list) and len(new) == len(old) and all(map(_same, new, old))
    if not isinstance(new, np.ndarray):
        return bool(new == old)
    old = old if isinstance(old, np.ndarray) else np.array(old, dtype=new.dtype)
    return new.dtype == old.dtype and np.array_equal(new, old, equal_nan=new.dtype.kind == "f")


def _inline(values: Any) -> Any:
    # An array goes in two messages of its own beside the one that tells of it, a list within that one.
    return values.tolist() if isinstance(values, np.ndarray) and values.size <= MOST_INLINE else values


class SharedRanges:
    """Hook for figures that are moved together: all have the ranges of the first."""

    def __init__(self) -> None:
        self._ranges: dict[str, Any] = {}

    def __call__(self, plot: Any, element: Any) -> None:
        """Give a figure that HoloViews has made these ranges."""
        for name in ("x_range", "y_range"):
            shared = self._ranges.setdefault(name, getattr(plot.state, name))
            plot.handles[name] = shared
            setattr(plot.state, name, shared)


def add_hook(element: hv.Element, hook: Hook) -> hv.Element:
    """Return the element with a further hook, keeping those it has."""
    known = hv.Store.lookup_options("bokeh", element, "plot").kwargs.get("hooks", [])
    return element.opts(hooks=[*known, hook], clone=True, backend="bokeh")
