"""The three maps of the page *Decisions*, their legends and the pinned cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
import xarray as xr
from panel.io import hold
from panel.viewable import Viewer

from dashboard import decisions
from dashboard.pages._later import Newest, Rested
from dashboard.plots import cell as cells
from dashboard.plots import decision_map as drawn
from dashboard.plots import hover, legend, penalty
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.raster import Raster
from dashboard.registry import COMPUTED
from dashboard.state import State

#: More regions than this would cover the colours with their outlines; they are left out, as the page says.
MOST_REGIONS = 50_000
REST = 0.15
MAPS = ("exact", "tree", "penalty")
_NO_REGIONS = np.empty((0, 4))


@dataclass(frozen=True, eq=False)
class Scene:
    """What the maps of one collective share: it changes with the data, not with the sliders.

    Attributes
    ----------
    cube
        Measurements of one number of processes per node.
    dmap
        Exact decision map.
    axes, raster, key
        As the plots need them.
    """

    cube: xr.Dataset
    dmap: xr.Dataset
    axes: Axes
    raster: Raster
    key: MethodKey

    @classmethod
    def of(cls, state: State) -> Scene | None:
        """Take it from the state; None while there is nothing to show."""
        cube, dmap = state.cube(), state.decision_map()
        if cube is None or dmap is None:
            return None
        axes = Axes.of(dmap)
        return cls(decisions.select_ppn(cube, dmap.attrs.get("ppn"))[0], dmap, axes, Raster.of(axes), method_key(state))


def method_key(state: State) -> MethodKey:
    """Colours and letters of the methods of the collective on show, the same for every number of processes per node."""
    cube = state.cube()
    ppns = [int(ppn) for ppn in cube["ppn"].values] if "ppn" in cube.dims else [None]

    def make() -> MethodKey:
        return MethodKey.of(decisions.decision_map(cube, ppn=ppn) for ppn in ppns)

    return COMPUTED.once((state.results_id, state.collective, "method key"), make)


class Maps(Viewer):
    """Exact map, tree's map and penalty map, moving with the sliders.

    Plots are made anew when the data change. A slider changes only columns of what is on the screen:
    first the image and the regions, and once the slider rests what is read rather than watched.

    Parameters
    ----------
    state
        Choices; a tap on a map sets ``pinned``.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.live = LiveSources()
        self.scene: Scene | None = None
        self.figures: hover.CellFigures | None = None
        self.show_regions = True
        self.panes = {
            name: pn.pane.HoloViews(
                None, sizing_mode="stretch_width", height=HEIGHT, min_width=330, margin=4, styles={"flex": "1 1 340px"}
            )
            for name in MAPS
        }
        html = {"sizing_mode": "stretch_width", "margin": (4, 8), "stylesheets": [legend.STYLE + cells.STYLE]}
        self.methods = pn.pane.HTML("", min_width=330, styles={"flex": "1 1 340px"}, **html)
        self.classes = pn.pane.HTML("", min_width=260, styles={"flex": "1 1 260px"}, **html)
        self.pinned = pn.pane.HTML("", **html)
        self.redraw = Newest(self._redraw)
        self._follow = Rested(lambda _: self.follow(), REST)
        self._taps: list[hv.streams.Tap] = []

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.FlexBox(*self.panes.values(), sizing_mode="stretch_width", margin=0)

    def rebuild(self) -> None:
        """Make the plots for other data."""
        self.scene = scene = Scene.of(self._state)
        found = self._state.penalty()
        if scene is None or found is None:
            self.figures = None
            for pane in (*self.panes.values(), self.methods, self.classes, self.pinned):
                pane.object = None
            return
        self.figures = hover.CellFigures(scene.axes, scene.key, str(self._state.collective))
        self.figures.offer(partial(hover.cell_columns, scene.cube, scene.dmap, found))
        self._taps = []
        for name in MAPS:
            plot = stacked(_TITLES[name], scene.axes, self._layers(name, scene, found), self.live, self.figures.hook)
            tap = hv.streams.Tap(source=plot)
            tap.add_subscriber(self._tap)
            self._taps.append(tap)
            self.panes[name].object = plot
        self._legends(scene, found)
        self.show_pinned()

    def _layers(self, name: str, scene: Scene, found: xr.Dataset) -> dict[str, hv.Element]:
        methods = scene.dmap["best"].values if name == "exact" else found["chosen"].values
        layers: dict[str, hv.Element] = {f"{name} ground": drawn.unmeasured_ground(scene.axes)}
        if name == "penalty":
            layers[name] = penalty.penalty_image(found["penalty"].values, scene.raster)
            if drawn.has_letters(scene.axes):
                layers["penalty text"] = penalty.cell_figures(found["penalty"].values, scene.axes)
        else:
            layers[name] = drawn.method_image(methods, scene.raster, scene.key)
            layers[f"{name} regions"] = drawn.region_outline(self._segments(scene))
            if drawn.has_letters(scene.axes):
                layers[f"{name} text"] = drawn.cell_letters(methods, scene.axes, scene.key)
        layers[f"{name} pin"] = drawn.pin_marker(self._state.pinned, scene.axes)
        return layers

    def _segments(self, scene: Scene) -> Any:
        decision = self._state.decision()
        if decision is None or not self.show_regions or decision.leaves > MOST_REGIONS:
            return _NO_REGIONS
        return drawn.region_segments(decision.regions(), scene.axes)

    def _redraw(self) -> None:
        scene, found = self.scene, self._state.penalty()
        if scene is None or found is None:
            return
        chosen, percent = found["chosen"].values, found["penalty"].values
        outline = drawn.outline_columns(self._segments(scene))
        with hold(pn.state.curdoc):
            self.live.update("tree", {"image": [drawn.paint_codes(chosen, scene.raster, len(scene.key.labels))]})
            self.live.update("tree regions", outline)
            self.live.update("penalty", {"image": [penalty.penalty_pixels(percent, scene.raster)]})
            if drawn.has_letters(scene.axes):
                self.live.update("tree text", {"letter": drawn.letter_columns(chosen, scene.axes, scene.key)["letter"]})
                self.live.update("penalty text", {"figure": penalty.figure_columns(percent, scene.axes)["figure"]})
        self._follow.ask()

    def follow(self) -> None:
        """Bring up to date what is read rather than watched: the regions on the exact map, figures, legends."""
        scene, found = self.scene, self._state.penalty()
        if scene is None or found is None or self.figures is None:
            return
        with hold(pn.state.curdoc):
            self.live.update("exact regions", drawn.outline_columns(self._segments(scene)))
            self.figures.offer(partial(hover.cell_columns, scene.cube, scene.dmap, found))
        self._legends(scene, found)
        self.show_pinned()

    def _legends(self, scene: Scene, found: xr.Dataset) -> None:
        shares = legend.method_shares(scene.key, scene.dmap["best"].values, found["chosen"].values)
        self.methods.object = legend.method_legend(shares, len(scene.key.labels))
        self.classes.object = legend.penalty_legend(penalty.class_shares(found))

    def show_pinned(self) -> None:
        """Mark the pinned cell on every map and list what was measured there."""
        scene, cell, found = self.scene, self._state.pinned, self._state.penalty()
        if scene is None or found is None:
            return
        with hold(pn.state.curdoc):
            for name in MAPS:
                self.live.update(f"{name} pin", drawn.pin_columns(cell, scene.axes))
        if cell is None:
            self.pinned.object = "<p>Tap a cell of a map to list every method measured there.</p>"
            return
        chosen = int(found["chosen"].sel(comm_size=cell[0], message_size=cell[1]))
        methods = cells.measured_at(scene.cube, cell, float(self._state.tolerance))
        self.pinned.object = cells.cell_table(methods, scene.key, cell, chosen)

    def _tap(self, x: float | None, y: float | None) -> None:
        if self.scene is None or x is None or y is None:
            return
        cell = self.scene.axes.cell(x, y)
        if cell is not None:
            self._state.pinned = None if cell == self._state.pinned else cell


_TITLES = {"exact": "Exact decision map", "tree": "Decision of the tree", "penalty": "Penalty of the tree"}
