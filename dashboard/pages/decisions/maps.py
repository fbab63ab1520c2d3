"""The three maps of the page *Decisions*, their legends and the pinned cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
import xarray as xr
from numpy.typing import NDArray
from panel.io import hold
from panel.viewable import Viewer

from dashboard.pages.parts.later import LAG, Newest, Rested
from dashboard.pages.parts.widgets import Figure
from dashboard.plots import cell as cells
from dashboard.plots import decision_map as drawn
from dashboard.plots import hover, legend, penalty, ties
from dashboard.plots.live import LiveSources, SharedRanges
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.scene import TITLES
from dashboard.plots.view_maps import Scene
from dashboard.session.state import State

#: More regions than this would cover the colours with their outlines; they are left out, as the page says.
MOST_REGIONS = 50_000
REST = 0.15
#: With what stands beside the three maps they are two in a row, on a wide screen all four; the labels of a tree need
#: more room than a map does.
ABREAST = ":host { flex: 1 1 40%; } @media (min-width: 1800px) { :host { flex: 1 1 20%; } }"
BESIDE = ABREAST.replace("20%", "29%")
MAPS = tuple(TITLES)


def nothing_chosen(dmap: xr.Dataset) -> xr.Dataset:
    """What stands for penalties while there is no tree."""
    absent = xr.full_like(dmap["best"], -1)
    times = xr.full_like(dmap["best_time"], np.nan)
    tables = {"penalty": times, "chosen": absent, "chosen_time": times, "best": dmap["best"]}
    return xr.Dataset({**tables, "unmeasured": xr.zeros_like(absent, dtype=bool)})


class Maps(Viewer):
    """Exact map, tree's map and penalty map, moving with the sliders.

    Plots are made anew when the data change. A slider changes only columns of what is on the screen: first the
    tree's map, then the penalties, and once the slider rests what is read rather than watched.

    Parameters
    ----------
    state
        Choices; a tap on a map sets ``pinned``.
    beside
        What stands beside the maps, as large as one of them.
    """

    def __init__(self, state: State, beside: pn.viewable.Viewable | None = None) -> None:
        super().__init__()
        self._state, self._beside = state, beside
        self.live = LiveSources()
        self.scene: Scene | None = None
        self.figures: hover.CellFigures | None = None
        self.show_regions = True
        self.panes = {name: Figure(None, sizing_mode="stretch_width", height=HEIGHT, margin=0) for name in MAPS}
        # Each in a column: the page gives its theme to what a column takes in, but a flex box does not tell it.
        self._columns = {
            name: pn.Column(pane, sizing_mode="stretch_width", min_width=330, margin=4, stylesheets=[ABREAST])
            for name, pane in self.panes.items()
        }
        html = {
            "sizing_mode": "stretch_width",
            "margin": (4, 8),
            "stylesheets": [legend.STYLE + cells.STYLE + ties.STYLE],
        }
        self.methods = pn.pane.HTML("", min_width=330, styles={"flex": "1 1 340px"}, **html)
        self.classes = pn.pane.HTML("", min_width=260, styles={"flex": "1 1 260px"}, **html)
        self.pinned = pn.pane.HTML("", **html)
        self.pinned.stylesheets = [*self.pinned.stylesheets, "th, td { padding-right: 10px; }"]
        self.redraw = Newest(self._redraw)
        self._repaint = Newest(self._redraw_penalty, lag=LAG)
        self._follow = Rested(lambda _: self.follow(), REST)
        self._taps: list[hv.streams.Tap] = []
        self._ranges = SharedRanges()
        self._marked: tuple[int, int] | None = None

    def __panel__(self) -> pn.viewable.Viewable:
        beside = [] if self._beside is None else [self._beside]
        return pn.FlexBox(*self._columns.values(), *beside, sizing_mode="stretch_width", margin=0)

    def rebuild(self, *, exact_only: bool = False) -> None:
        """Make the plots for other data.

        Parameters
        ----------
        exact_only
            Leave the other maps to `complete`: the page's first map is so on the screen sooner.
        """
        self.scene = scene = Scene.of(self._state.view)
        penalties = None if scene is None else self._state.view.penalty()
        self.figures = None
        self._taps, self._ranges = [], SharedRanges()
        # Those of a tree that is still to come have their place, so that the first one keeps its size.
        to_come = scene is not None and self._state.view.decision() is None
        for name in MAPS:
            self._columns[name].visible = scene is not None and (name == "exact" or penalties is not None or to_come)
        if scene is None:
            for pane in (*self.panes.values(), self.methods, self.classes, self.pinned):
                pane.object = None
            return
        self._marked = self._state.pinned
        self.figures = hover.CellFigures(scene.axes, scene.key, str(self._state.collective))
        known = penalties if penalties is not None else nothing_chosen(scene.dmap)
        self.figures.offer(
            partial(hover.cell_columns, scene.cube, scene.dmap, known, self._state.view.needed().untrusted)
        )
        self._draw(MAPS[:1] if penalties is None or exact_only else MAPS, scene, known)
        self._legends(scene, known)
        self.show_pinned()

    def complete(self) -> None:
        """Draw the maps that were left out at first, and on the one that was not what is the tree's."""
        penalties = self._state.view.penalty()
        if self.lacking and self.scene is not None and penalties is not None:
            self._draw(MAPS[len(self._taps) :], self.scene, penalties)
            self.follow()

    def _draw(self, names: Sequence[str], scene: Scene, penalties: xr.Dataset) -> None:
        hook, lines = None if self.figures is None else self.figures.hook, self._segments(scene)
        for name in names:
            layers = scene.layers(name, self._state.view, penalties, lines)
            layers[f"{name} lit"] = drawn.region_outline(drawn.NO_LINES, drawn.MARK, 3.0)
            layers[f"{name} pin"] = drawn.pin_marker(self._state.pinned, scene.axes)
            plot = stacked(TITLES[name], scene.axes, layers, self.live, hook, self._ranges)
            tap = hv.streams.Tap(source=plot)
            tap.add_subscriber(self._tap)
            self._taps.append(tap)
            self.panes[name].object = plot

    @property
    def lacking(self) -> bool:
        """Whether the plots are of the state's data, but a tree has come that they lack."""
        there = self.scene is not None and self.scene.data == self._state.view.drawn_key
        return there and 0 < len(self._taps) < len(MAPS) and self._state.view.chosen() is not None

    @property
    def stale(self) -> bool:
        """Whether the plots are of other data than the state's, or a tree has come that they lack."""
        if self.scene is None or self.scene.data != self._state.view.drawn_key:
            return True
        return (len(self._taps) < len(MAPS)) == (self._state.view.chosen() is not None)

    def _segments(self, scene: Scene) -> Any:
        return scene.segments(self._state.view.decision() if self.show_regions else None, MOST_REGIONS)

    def _redraw(self) -> None:
        # What it costs is worked out for the map that comes after this one.
        scene, chosen = self.scene, self._state.view.chosen()
        if scene is None or chosen is None or self.stale:
            return
        with hold(pn.state.curdoc):
            self.live.refresh(scene.method_layers("tree", chosen, self._segments(scene), raster=scene.raster.quick))
        self._repaint.ask()
        self._follow.ask()

    def _redraw_penalty(self) -> None:
        scene, penalties = self.scene, self._state.view.penalty()
        if scene is None or penalties is None or self.stale:
            return
        with hold(pn.state.curdoc):
            self.live.refresh(scene.penalty_layers(penalties, scene.raster.quick))

    def follow(self) -> None:
        """Bring up to date what is read rather than watched: the finest pixels, the exact map's regions, legends."""
        scene, penalties = self.scene, self._state.view.penalty()
        if scene is None or penalties is None or self.figures is None or self.stale:
            return
        view, lines = self._state.view, self._segments(scene)
        with hold(pn.state.curdoc):
            for name in MAPS:
                self.live.refresh(scene.layers(name, view, penalties, lines))
            self.figures.offer(
                partial(hover.cell_columns, scene.cube, scene.dmap, penalties, self._state.view.needed().untrusted)
            )
            self._legends(scene, penalties)
            self.show_pinned()

    def _legends(self, scene: Scene, penalties: xr.Dataset) -> None:
        shares = legend.method_shares(scene.key, scene.dmap["best"].values, penalties["chosen"].values)
        self.methods.object = legend.method_legend(shares, len(scene.key.labels)) + scene.textures(self._state.view)
        if self._state.view.penalty() is None:
            # Nothing is chosen yet, which is not to say that it was not measured.
            self.classes.object = None
            return
        classes = legend.penalty_legend(penalty.class_shares(penalties))
        self.classes.object = classes + ties.counted_legend(penalties["unmeasured"].values)

    def light(self, segments: NDArray[np.float64]) -> None:
        """Draw these lines on every map, around what the marked leaf decides."""
        lines = drawn.region_outline(segments)
        with hold(pn.state.curdoc):
            self.live.refresh({f"{name} lit": lines for name in MAPS})

    def show_pinned(self) -> None:
        """Mark the pinned cell on every map and list what was measured there."""
        scene, cell, penalties = self.scene, self._state.pinned, self._state.view.penalty()
        if scene is None or scene.data != self._state.view.drawn_key:
            return
        with hold(pn.state.curdoc):
            if cell != self._marked:
                self._marked = cell
                self.live.refresh({f"{name} pin": drawn.pin_marker(cell, scene.axes) for name in MAPS})
            self.pinned.object = self._pinned_text(scene, cell, penalties)

    def _pinned_text(self, scene: Scene, cell: tuple[int, int] | None, penalties: xr.Dataset | None) -> str:
        if cell is None:
            return ""
        chosen = -1 if penalties is None else int(penalties["chosen"].sel(comm_size=cell[0], message_size=cell[1]))
        methods = cells.measured_at(scene.cube, cell, float(self._state.tolerance))
        return cells.cell_table(methods, scene.key, cell, chosen)

    def _tap(self, x: float | None, y: float | None) -> None:
        if self.scene is None or x is None or y is None:
            return
        cell = self.scene.axes.cell(x, y)
        if cell is not None:
            self._state.pinned = None if cell == self._state.pinned else cell
