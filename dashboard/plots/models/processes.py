"""One method over message sizes on several numbers of processes, also over the total buffer (Figures 4.22 and 4.24)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import xarray as xr

from dashboard.domain.units import format_count
from dashboard.models import ModelName, PointToPointModel
from dashboard.plots.models.chart import MOST_METHODS
from dashboard.plots.models.curves import Lines, Points, View, evaluate
from dashboard.plots.models.methods import ModelMethod


def shown_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """As many numbers of processes as lines can be told apart, first and last among them."""
    known = [size for size in sizes if size > 1]
    if len(known) <= MOST_METHODS:
        return tuple(known)
    return tuple(
        dict.fromkeys(known[round(place * (len(known) - 1) / (MOST_METHODS - 1))] for place in range(MOST_METHODS))
    )


def by_processes(
    view: View,
    method: ModelMethod,
    sizes: Sequence[int],
    parameters: Mapping[ModelName, PointToPointModel],
    cube: xr.Dataset | None,
    *,
    total: bool = False,
) -> tuple[View, Lines]:
    """What `dashboard.plots.models.chart` draws, with a line for each number of processes in the place of a method.

    Parameters
    ----------
    view
        Over message sizes.
    method
        The one that is drawn.
    sizes
        Numbers of processes.
    total
        Whether message sizes are those of the whole buffer, P times the block.
    """
    lines = Lines((), {}, {})
    points: list[Points] = []
    for slot, size in enumerate(sizes):
        alone = evaluate(replace(view, methods=(method,), comm_size=size), parameters, cube)
        factor = size if total else 1
        points.append(alone.points[0]._replace(at=alone.points[0].at * factor))
        for (model, _), (at, time) in alone.curves.items():
            lines.curves[model, slot] = at * factor, time
        lines.residuals.update({(model, slot): values for (model, _), values in alone.residuals.items()})
    names = tuple(
        ModelMethod("", measured=format_count(size, "process", "processes"), modelled=False) for size in sizes
    )
    return replace(view, methods=names), lines._replace(points=tuple(points))
