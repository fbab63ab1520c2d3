"""What models say and what was measured along one of the three sizes, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from dashboard.decisions.measured.map import methods_of
from dashboard.domain.arrays import FloatArray
from dashboard.models import ModelName, PointToPointModel, model_of
from dashboard.models.aliases import model_for
from dashboard.models.collectives.model import Case, Variant
from dashboard.plots.axes import OTHER
from dashboard.plots.colors import OKABE_ITO
from dashboard.plots.models.methods import ModelMethod

AxisName = Literal["message_size", "comm_size", "segment_size"]
AXES: dict[AxisName, str] = {"message_size": "message size", "comm_size": "processes", "segment_size": "segment size"}
#: Points of a curve, and the least segment that is drawn.
POINTS, LEAST_SEGMENT = 160, 16
#: What stands in for sizes that were not measured.
COMM_SIZES, MESSAGE_SIZES = (2, 64), (1, 4 << 20)


@dataclass(frozen=True)
class View:
    """What a chart shows."""

    #: Name.
    collective: str
    #: The size that runs to the right.
    axis: AxisName
    #: What is drawn.
    methods: tuple[ModelMethod, ...]
    models: tuple[ModelName, ...]
    #: Where the other sizes are held: processes, bytes.
    comm_size: int
    message_size: int
    #: Whether both axes are logarithmic.
    log: bool = True
    #: Of the formulas, as `dashboard.models.CollectiveModel.predict` takes them.
    variant: Variant = "corrected"
    case: Case = "worst"
    #: Colours of the methods.
    scheme: str = OKABE_ITO

    @property
    def drawn(self) -> tuple[ModelMethod, ...]:
        """Methods with a line of their own: over segment sizes there is one for each algorithm."""
        if self.axis != "segment_size":
            return self.methods
        names = dict.fromkeys(each.algorithm for each in self.methods if each.modelled)
        return tuple(ModelMethod(name) for name in names)

    def held(self) -> View:
        """What a chart is made anew for, if it changes."""
        moving: dict[str, Any] = {"comm_size": 0} if self.axis == "message_size" else {"message_size": 0}
        moving |= {"variant": "corrected", "case": "worst"}
        return replace(self, **(moving | ({"comm_size": 0} if self.axis == "segment_size" else {})))


class Points(NamedTuple):
    """Measurements of one method along an axis."""

    #: Processes or bytes, ascending.
    at: FloatArray
    #: Seconds; the standard deviation is NaN where it is unknown.
    time: FloatArray
    std: FloatArray


NOTHING = Points(np.empty(0), np.empty(0), np.empty(0))


def positions(view: View, cube: xr.Dataset | None) -> FloatArray:
    """Whole sizes at which curves are evaluated: over what was measured, measured sizes among them."""
    if view.axis == "segment_size":
        low, high, known = min(LEAST_SEGMENT, view.message_size), max(view.message_size, 1), np.empty(0)
        if cube is not None:
            known = np.unique(cube["segment_size"].values.astype(float))
    else:
        low, high = MESSAGE_SIZES if view.axis == "message_size" else COMM_SIZES
        known = np.empty(0) if cube is None else cube[view.axis].values.astype(float)
        if known.size > 1:
            low, high = int(known[0]), int(known[-1])
    if view.axis == "comm_size" and high - low < POINTS:
        return np.arange(low, high + 1, dtype=float)
    steps = np.geomspace(max(low, 1), max(high, 1), POINTS) if view.log else np.linspace(low, high, POINTS)
    known = known[(known >= max(low, 1 if view.log else 0)) & (known <= high)]
    return np.unique(np.concatenate([np.round(steps), known]))


def predicted(view: View, method: ModelMethod, parameters: PointToPointModel, at: ArrayLike) -> FloatArray:
    """Seconds along the axis; NaN where the algorithm does not work on the number of processes."""
    sizes = {"comm_size": view.comm_size, "message_size": view.message_size, "segment_size": method.segment_size}
    if not np.size(at):
        return np.empty(0)
    where = {**sizes, view.axis: np.asarray(at, dtype=float)}
    return model_of(view.collective, method.algorithm).predict(
        parameters, **where, variant=view.variant, case=view.case
    )


def measured(view: View, method: ModelMethod, cube: xr.Dataset | None) -> Points:
    """What was measured of a method; nothing where the sizes that are held were not measured.

    Parameters
    ----------
    cube
        Measurements at one number of processes per node.
    """
    if cube is None:
        return NOTHING
    if view.axis == "segment_size":
        return _over_segments(view, method, cube)
    if not method.measured:
        return NOTHING
    other = OTHER[view.axis]
    held = getattr(view, other)
    if view.collective == "barrier":
        held = cube[other].values[0] if other == "message_size" else held
    if held not in cube[other].values:
        return NOTHING
    line = cube.sel({"method": method.measured, other: held})
    return _known(line[view.axis].values, line["time"].values, _deviation(line), log=view.log)


def _over_segments(view: View, method: ModelMethod, cube: xr.Dataset) -> Points:
    if view.comm_size not in cube["comm_size"].values or view.message_size not in cube["message_size"].values:
        return NOTHING
    models = [model_for(view.collective, each) for each in methods_of(cube)]
    rows = np.flatnonzero([model is not None and model.algorithm == method.algorithm for model in models])
    line = cube.isel(method=rows).sel(comm_size=view.comm_size, message_size=view.message_size)
    segments = line["segment_size"].values
    at = np.where((segments > 0) & (segments < view.message_size), segments, view.message_size)
    return _known(at, line["time"].values, _deviation(line), log=view.log)


def _deviation(line: xr.Dataset) -> FloatArray:
    return line["time_std"].values if "time_std" in line else np.full(line["time"].shape, np.nan)


def _known(at: ArrayLike, time: FloatArray, std: FloatArray, *, log: bool) -> Points:
    where = np.asarray(at, dtype=float)
    rows = np.flatnonzero(np.isfinite(time) & ((where > 0) | (not log)))
    rows = rows[np.argsort(where[rows], kind="stable")]
    return Points(where[rows], np.asarray(time, dtype=float)[rows], np.asarray(std, dtype=float)[rows])


def residuals(view: View, method: ModelMethod, parameters: PointToPointModel, points: Points) -> FloatArray:
    """How far the model is above the measurement, percent of the measurement."""
    return 100 * (predicted(view, method, parameters, points.at) / points.time - 1)


def bars(points: Points, *, log: bool) -> tuple[FloatArray, FloatArray]:
    """Ends of the error bars, seconds; on a logarithmic axis none goes below a tenth of its time."""
    low, high = points.time - points.std, points.time + points.std
    return (np.maximum(low, points.time / 10) if log else np.maximum(low, 0)), high


class Lines(NamedTuple):
    """Everything that a view shows."""

    #: Measurements of each drawn method.
    points: tuple[Points, ...]
    #: Sizes and seconds of each model and drawn method, by name and place.
    curves: dict[tuple[ModelName, int], tuple[FloatArray, FloatArray]]
    #: Percent above the measurement at the points of the method, by the same.
    residuals: dict[tuple[ModelName, int], FloatArray]

    def deviation(self, model: ModelName, slot: int) -> tuple[float, float] | None:
        """Mean and largest size of the residuals of one line, percent; None without measurements."""
        above = np.abs(self.residuals[model, slot])
        above = above[np.isfinite(above)]
        return (float(above.mean()), float(above.max())) if above.size else None


def evaluate(
    view: View,
    parameters: Mapping[ModelName, PointToPointModel],
    cube: xr.Dataset | None,
    points: tuple[Points, ...] | None = None,
) -> Lines:
    """Compute what a view shows.

    Parameters
    ----------
    parameters
        By model; models without any are left out.
    cube
        Measurements at one number of processes per node; None: there are none.
    points
        Those of this view and these measurements, where they are known already.
    """
    at = positions(view, cube)
    lines = Lines(points or tuple(measured(view, method, cube) for method in view.drawn), {}, {})
    for slot, method in enumerate(view.drawn):
        for model in view.models if method.modelled else ():
            if model in parameters:
                time = predicted(view, method, parameters[model], at)
                # Where the algorithm works on some numbers of processes only, the line joins those.
                kept = np.isfinite(time)
                lines.curves[model, slot] = at[kept], time[kept]
                lines.residuals[model, slot] = residuals(view, method, parameters[model], lines.points[slot])
    return lines
