"""Maps put together from their layers, each with the name under which its data can be changed."""

from collections.abc import Mapping
from typing import Any

import holoviews as hv
from bokeh.models import NoOverlap

from dashboard.plots.axes import Axes
from dashboard.plots.frame import filling, framed
from dashboard.plots.live import Hook, Layer, LiveSources, add_hook

HEIGHT = 340
#: Pixels.
_HALF_A_LABEL = 28


def stacked(
    title: str,
    axes: Axes,
    layers: Mapping[str, Layer],
    live: LiveSources,
    hook: Hook | None = None,
    *hooks: Hook,
    around: int = 0,
) -> hv.Overlay:
    """Lay the layers of a map over each other and give it its axes.

    Parameters
    ----------
    axes
        Its axes: all of it is shown, whatever the layers hold.
    layers
        From the ground up, by the name for `LiveSources.refresh`; exactly one is an image.
    live
        Where the layers are remembered once rendered.
    hook
        To run on the rendered image, such as `CellFigures.hook`.
    *hooks
        To run on the figure, such as the `SharedRanges` of the maps that are moved together with this one.
    around
        Lines of the window around a map that fills it, as for `dashboard.plots.frame.filling`; 0: it keeps its share.
    """
    drawn: list[hv.Element] = []
    for name, layer in layers.items():
        element = layer.draw()
        if hook is not None and isinstance(element, hv.Image):
            element = add_hook(element, hook)
        drawn.append(live.attach(name, element))
    return hv.Overlay(drawn).opts(**_frame(title, axes, around, *hooks))


def _frame(title: str, axes: Axes, around: int, *hooks: Hook) -> dict[str, Any]:
    return framed(
        title,
        HEIGHT,
        *hooks,
        grows=not around,
        fills=True,
        backend_opts={
            **({"plot.styles": {"min-height": filling(HEIGHT, around)}} if around else {}),
            # Of a map of many sizes the last label stands half beside it.
            "plot.min_border_right": _HALF_A_LABEL,
            # On a narrow map title and tools need its place.
            "plot.toolbar.logo": None,
            "xaxis.major_label_policy": NoOverlap(min_distance=6),
            "yaxis.major_label_policy": NoOverlap(min_distance=2),
        },
        xlim=axes.x.limits,
        xticks=axes.x.ticks(),
        ylim=axes.y.limits,
        yticks=axes.y.ticks(),
        show_grid=False,
    )
