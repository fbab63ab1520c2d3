"""What all charts have in common: how high they are, grid, tools."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dashboard.plots.saving import offer_svg

TOOLS = ("pan", "wheel_zoom", "box_zoom", "save", "reset")
#: Lines of a window up to which charts have the height that they name, in pixels.
_WINDOW = 1200


def filling(least: int, around: int) -> str:
    """Length in CSS of what fills its window, and is `least` pixels at least.

    Parameters
    ----------
    least
        In pixels.
    around
        Lines of the window that are taken by what stands above it and below.
    """
    return f"max({least}px, 100vh - {around}px)"


def growing(height: int) -> dict[str, str]:
    """Style of a plot `height` pixels high, and higher in a window of more than 1200 lines.

    There it keeps its share of the window: on a large screen charts would else be flat bands above an empty page.
    """
    return {"min-height": f"max({height}px, {100 * height / _WINDOW:.1f}vh)"}


def framed(
    title: str,
    height: int,
    *hooks: Callable[[Any, Any], None],
    tools: Sequence[str] = TOOLS,
    grows: bool = True,
    fills: bool = False,
    backend_opts: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Options of a HoloViews element on Bokeh.

    Parameters
    ----------
    title, height
        Height in pixels, at least where it `grows` with the window.
    hooks
        Beside the one that offers the picture as SVG.
    tools
        Of the toolbar.
    fills
        Whether it is as wide as its place, and as high.
    backend_opts
        Further properties of Bokeh's models.
    **more
        Further options, or others than all charts have.
    """
    return {
        "title": title,
        "responsive": True,
        **({"min_height": height} if fills else {"height": height, "min_width": 330}),
        "show_grid": True,
        "show_legend": False,
        "toolbar": "above",
        "default_tools": list(tools),
        "active_tools": [],
        "hooks": [offer_svg, *hooks],
        # HoloViews asks for WebGL; copying from its canvas took most of the time of an update.
        "backend_opts": {
            "plot.output_backend": "canvas",
            **({"plot.styles": growing(height)} if grows else {}),
            **(backend_opts or {}),
        },
        "backend": "bokeh",
        **more,
    }


def tooltips(lines: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Options of a HoloViews element on Bokeh that says something under the pointer.

    Parameters
    ----------
    lines
        Title and what stands behind it, with the name of a column behind each ``@``.
    """
    return {"tools": ["hover"], "hover_tooltips": list(lines), "backend": "bokeh"}
