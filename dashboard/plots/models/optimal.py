"""Maps of the optimal implementation: algorithms, and segment sizes by their powers of two (as Figure 6.2)."""

from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr

from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import format_bytes, format_time
from dashboard.plots import decision_map as drawn
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import swatch, table
from dashboard.plots.live import Layer
from dashboard.plots.raster import Raster

#: Yellow for small segments, blue for large ones; black letters can be read on all of them.
NONE, LOWEST, HIGHEST = "#f7f7f7", 5, 18
_STOPS = np.array([[255, 237, 140], [120, 198, 121], [86, 156, 214]])


def segment_classes(segment: FloatArray) -> IntArray:
    """Class of each segment size: 0 = not segmented, else by its power of two."""
    power = np.floor(np.log2(np.maximum(segment, 1.0)))
    classes = np.clip(power, LOWEST, HIGHEST).astype(np.int64) - LOWEST + 1
    return np.where(segment > 0, classes, 0)


def class_colors() -> list[str]:
    """Colours of the classes."""
    steps = np.linspace(0, len(_STOPS) - 1, HIGHEST - LOWEST + 1)
    levels = [np.interp(steps, np.arange(len(_STOPS)), stops) for stops in _STOPS.T]
    rgb = np.rint(np.stack(levels, axis=1)).astype(int)
    return [NONE, *("#" + "".join(f"{level:02x}" for level in each) for each in rgb.tolist())]


def class_titles() -> list[str]:
    """What each class holds."""
    low, high = LOWEST, HIGHEST
    powers = [f"{format_bytes(2**power)} to {format_bytes(2 ** (power + 1))}" for power in range(low, high + 1)]
    powers[0], powers[-1] = f"below {format_bytes(2 ** (low + 1))}", f"{format_bytes(2**high)} and above"
    return ["not segmented", *powers]


def algorithm_layers(optima: xr.Dataset, axes: Axes, raster: Raster, key: MethodKey) -> dict[str, Layer]:
    """Layers of the map of algorithms.

    Parameters
    ----------
    optima
        As `dashboard.models.optimal_map.optimal_map` gives it.
    key
        Of its ``candidate``.
    """
    best = optima["algorithm"].values
    layers = {"optimal ground": drawn.unmeasured_ground(axes), "optimal": drawn.code_image(best, raster, key.colors)}
    if drawn.has_letters(axes):
        layers["optimal text"] = drawn.cell_texts(drawn.codes_in_runs(best, axes, key), axes)
    return {**layers, "optimal cells": _cells(optima, axes)}


def segment_layers(optima: xr.Dataset, axes: Axes, raster: Raster) -> dict[str, Layer]:
    """Layers of the map of segment sizes; the cells say the power of two."""
    segment = optima["segment_size"].values
    layers = {
        "segments ground": drawn.unmeasured_ground(axes),
        "segments": drawn.code_image(segment_classes(segment), raster, class_colors()),
    }
    if drawn.has_letters(axes):
        layers["segments text"] = _powers(segment, axes)
    return {**layers, "segments cells": _cells(optima, axes)}


def _powers(segment: FloatArray, axes: Axes) -> Layer:
    texts = np.array([f"{np.log2(size):.0f}" if size > 0 else "" for size in segment.ravel()])
    return drawn.cell_texts(drawn.in_cells(texts, axes), axes, "8px")


def _cells(optima: xr.Dataset, axes: Axes) -> Layer:
    """Boxes that are not seen, but tell their figures under the pointer; none on a map of many cells."""
    count, size = optima["comm_size"].values, optima["message_size"].values
    names = optima["candidate"].values.astype(object)
    left, right, bottom, top = axes.x.edges[:-1], axes.x.edges[1:], axes.y.edges[:-1], axes.y.edges[1:]
    rows, columns = (each.ravel() for each in np.indices(axes.shape))
    if rows.size > drawn.MOST_LETTERS * 4:
        rows = columns = np.empty(0, dtype=int)
    segment, time = optima["segment_size"].values[rows, columns], optima["time"].values[rows, columns]
    data: list[Any] = [left[columns], bottom[rows], right[columns], top[rows]]
    data += [
        [f"{axes.y.write(count[row])} processes" for row in rows],
        [axes.x.write(size[column]) for column in columns],
        list(names[optima["algorithm"].values[rows, columns]]),
        [format_bytes(round(each)) if each else "not segmented" for each in segment],
        [format_time(float(each)) for each in time],
    ]
    fields = ["processes", "message", "algorithm", "segments", "time"]
    tips = [("", "@processes, @message"), *((name, f"@{name}") for name in fields[2:])]
    boxes = hv.Rectangles(tuple(data), [drawn.X, drawn.Y, "message_size_to", "comm_size_to"], fields)
    look = {"fill_alpha": 0.0, "line_alpha": 0, "tools": ["hover"], "hover_tooltips": tips, "hover_alpha": 0.0}
    return Layer({}, lambda: boxes.opts(**look, backend="bokeh"))


def algorithm_legend(optima: xr.Dataset, key: MethodKey) -> str:
    """Write how often each algorithm is optimal, and with which segment sizes."""
    best, segment = optima["algorithm"].values, optima["segment_size"].values
    rows = []
    for place in sorted(range(len(key.labels)), key=lambda each: -int((best == each).sum())):
        mine = best == place
        if not mine.any():
            continue
        cut = segment[mine & (segment > 0)]
        sizes = f"{format_bytes(cut.min())} to {format_bytes(cut.max())}" if cut.size else "–"
        share = 100 * mine.sum() / best.size
        name = f"{swatch(key.colors[place], key.letters[place])} {key.labels[place]}"
        rows.append([name, f"{share:.1f} %", f"{cut.size:,} of {int(mine.sum()):,}", sizes])
    heads = [("algorithm", False), ("share", True), ("cells with segments", True), ("segment sizes", False)]
    return table("Optimal algorithms", heads, rows)


def segment_legend(optima: xr.Dataset) -> str:
    """Write the classes of segment sizes that occur."""
    classes = segment_classes(optima["segment_size"].values)
    rows = [
        [f"{swatch(color)} {title}", f"{int((classes == place).sum()):,}"]
        for place, (color, title) in enumerate(zip(class_colors(), class_titles(), strict=True))
        if (classes == place).any()
    ]
    return table("Segment sizes; the cells tell their power of two", [("size", False), ("cells", True)], rows)
