"""Page *Compare*: any two decision functions, their maps, where they differ and what that costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
import xarray as xr
from panel.io import hold
from panel.viewable import Viewer

from dashboard.choice import differences, titles
from dashboard.decisions import DecisionError
from dashboard.pages._family import FamilyControls
from dashboard.pages._growing import Background, grow
from dashboard.pages._later import Newest
from dashboard.pages._maps import Scene
from dashboard.pages.widgets import Alert, Button, Select
from dashboard.plots import comparison, difference, hover, legend
from dashboard.plots import decision_map as drawn
from dashboard.plots.leaves import leaf_segments
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.state import DATA, State

PAGE = "Compare"
MAPS = {"a": "A", "b": "B", "gap": "B against A"}
_SIDES = ("a", "b")
#: More regions than this would cover the colours with their outlines.
MOST_REGIONS = 5000


class ComparePage(Viewer):
    """Tree A, which is the one of the page *Decisions*, beside tree B.

    Parameters
    ----------
    state
        Choices: `State.choice` is A, `State.other` is B.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        hv.extension("bokeh", logo=False)
        self.state = state
        self.live = LiveSources()
        self._scene: Scene | None = None
        self.collective = Select(label="Collective", options=[], width=170)
        self.first = FamilyControls(state.choice, state.choose, state.choice, label="Tree A")
        self.second = FamilyControls(lambda: state.other, self._put_other, label="Tree B")
        for controls in (self.first, self.second):
            controls.attributes = state.attributes
        self.growing = Background(again=self._ask)
        self.message = Alert(object="", severity="info", sizing_mode="stretch_width", visible=False)
        self.panes = {name: pn.pane.HoloViews(None, sizing_mode="stretch_width", height=HEIGHT) for name in MAPS}
        html = {"stylesheets": [legend.STYLE], "margin": (4, 8), "styles": {"flex": "1 1 440px"}, "min_width": 440}
        self.settings, self.figures, self.legend, self.methods = (pn.pane.HTML("", **html) for _ in range(4))
        self.settings.stylesheets = [legend.STYLE, "td { white-space: normal; }"]
        self.all = Button(label="Compare all approaches", variant="outlined", on_click=self._compare_all)
        self.comparing = Background(again=self._compare_all)
        self.approaches = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width", margin=(4, 8))
        self._hovers: dict[str, hover.CellFigures] = {}
        self.body = pn.Column(sizing_mode="stretch_width", margin=0)
        self.redraw = Newest(self._update)
        self.collective.param.watch(self._set_collective, "value")
        state.param.watch(self._ask, [*DATA, "other"])
        state.param.watch(self._forget, list(DATA))
        state.param.watch(self._follow, [*DATA, "other", "shown", "page"])
        self._ask()
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        flex = {"flex": "1 1 340px"}
        maps = [
            pn.Column(pane, sizing_mode="stretch_width", min_width=330, margin=4, styles=flex)
            for pane in self.panes.values()
        ]
        tables = [self.settings, self.figures, self.legend, self.methods]
        self.body.objects = [
            pn.FlexBox(*maps, sizing_mode="stretch_width", margin=0),
            pn.FlexBox(*tables, sizing_mode="stretch_width", align_items="start"),
            self.all,
            self.comparing,
            self.approaches,
        ]
        sides = [
            pn.Column(each, sizing_mode="stretch_width", min_width=480, styles={"flex": "1 1 480px"}, margin=0)
            for each in (self.first, self.second)
        ]
        return pn.Column(
            self.collective,
            pn.FlexBox(*sides, sizing_mode="stretch_width", margin=0, align_items="start"),
            self.growing,
            self.message,
            self.body,
            sizing_mode="stretch_width",
        )

    def _put_other(self, choice: Any) -> None:
        self.state.other = choice

    def _set_collective(self, event: Any) -> None:
        if event.new in self.state.param.collective.objects:
            self.state.collective = event.new

    def _ask(self, *_: Any) -> None:
        grow(self.state, self.state.other, self.growing, self.redraw.ask)

    def _forget(self, *_: Any) -> None:
        self.comparing.stop()
        self.approaches.object = ""

    def _compare_all(self, *_: Any) -> None:
        state = self.state
        # Without several tables an octree is the quadtree once more.
        names = [name for name in titles().values() if name != "octree" or state.across]
        try:
            work = state.approaches_job([state.choice(name) for name in names])
        except DecisionError as error:
            self.comparing.say(str(error))
            return
        self.comparing.start("Comparing", work, self._show_all)

    def _show_all(self, found: Any) -> None:
        self.approaches.object = comparison.approaches_table(found)

    def _follow(self, *_: Any) -> None:
        if self.state.page == PAGE:
            self.redraw.ask()

    def _update(self) -> None:
        state = self.state
        names = [name for name in state.param.collective.objects if name is not None]
        self.collective.param.update(options=names, value=state.collective)
        self.first.refresh()
        self.second.refresh()
        try:
            found = self._found()
        except DecisionError as error:
            self._tell(str(error), "error")
            return
        if found is None:
            told = "One of the trees is still to be grown." if state.cube() is not None else "No results are loaded."
            self._tell(told, "info")
            return
        self._tell("", "info")
        scene, tables = found
        with hold(pn.state.curdoc):
            if self._scene is None or self._scene.data != scene.data:
                self._rebuild(scene, tables)
            else:
                self._redraw(scene, tables)
            self._write(scene, tables)

    def _tell(self, text: str, severity: str) -> None:
        self.message.param.update(object=text, severity=severity, visible=bool(text))
        self.body.visible = not text

    def _choices(self) -> tuple[Any, Any]:
        return self.state.shown, self.state.other

    def _found(self) -> tuple[Scene, tuple[xr.Dataset, xr.Dataset]] | None:
        scene = Scene.of(self.state)
        tables = [None if choice is None else self.state.penalty(choice) for choice in self._choices()]
        if scene is None or tables[0] is None or tables[1] is None:
            return None
        return scene, (tables[0], tables[1])

    def _segments(self, scene: Scene) -> list[Any]:
        trees = [self.state.decision(choice) for choice in self._choices()]
        return [
            np.empty((0, 4))
            if tree is None or tree.leaves > MOST_REGIONS
            else leaf_segments(tree, scene.axes, scene.given)
            for tree in trees
        ]

    def _rebuild(self, scene: Scene, tables: tuple[xr.Dataset, xr.Dataset]) -> None:
        self._scene = scene
        letters = drawn.has_letters(scene.axes)
        for name, table, lines in zip(_SIDES, tables, self._segments(scene), strict=True):
            chosen = table["chosen"].values
            layers: dict[str, hv.Element] = {
                f"{name} ground": drawn.unmeasured_ground(scene.axes),
                name: drawn.method_image(chosen, scene.raster, scene.key),
                f"{name} regions": drawn.region_outline(lines),
            }
            if letters:
                layers[f"{name} text"] = drawn.cell_letters(chosen, scene.axes, scene.key)
            self._hovers[name] = hover.CellFigures(scene.axes, scene.key, str(self.state.collective))
            self._hovers[name].offer(partial(hover.cell_columns, scene.cube, scene.dmap, table))
            self.panes[name].object = stacked(MAPS[name], scene.axes, layers, self.live, self._hovers[name].hook)
        classes, gap = _gaps(tables)
        layers = {
            "gap ground": drawn.unmeasured_ground(scene.axes),
            "gap": difference.difference_image(classes, scene.raster),
        }
        if letters:
            layers["gap text"] = difference.gap_figures(gap, scene.axes)
        self.panes["gap"].object = stacked(MAPS["gap"], scene.axes, layers, self.live)

    def _redraw(self, scene: Scene, tables: tuple[xr.Dataset, xr.Dataset]) -> None:
        letters = drawn.has_letters(scene.axes)
        for name, table, lines in zip(_SIDES, tables, self._segments(scene), strict=True):
            chosen = table["chosen"].values
            self.live.update(name, {"image": [drawn.paint_codes(chosen, scene.raster, len(scene.key.labels))]})
            self.live.update(f"{name} regions", drawn.outline_columns(lines))
            if letters:
                column = drawn.letter_columns(chosen, scene.axes, scene.key)["letter"]
                self.live.update(f"{name} text", {"letter": column})
            self._hovers[name].offer(partial(hover.cell_columns, scene.cube, scene.dmap, table))
        classes, gap = _gaps(tables)
        self.live.update("gap", {"image": [difference.difference_pixels(classes, scene.raster)]})
        if letters:
            self.live.update("gap text", {"figure": difference.gap_columns(gap, scene.axes)["figure"]})

    def _write(self, scene: Scene, tables: tuple[xr.Dataset, xr.Dataset]) -> None:
        first, second = self._choices()
        self.settings.object = comparison.settings_table(differences(first, second))
        statistics = [self.state.statistics(choice) for choice in (first, second)]
        if statistics[0] is not None and statistics[1] is not None:
            self.figures.object = comparison.figures_table(*statistics)
        self.legend.object = difference.difference_legend(_gaps(tables)[0])
        shares = legend.method_shares(scene.key, tables[0]["chosen"].values, tables[1]["chosen"].values)
        self.methods.object = legend.method_legend(shares, len(scene.key.labels), ("in A", "in B"))


def _gaps(tables: tuple[xr.Dataset, xr.Dataset]) -> tuple[Any, Any]:
    first, second = (table["penalty"].values for table in tables)
    same = tables[0]["chosen"].values == tables[1]["chosen"].values
    same &= tables[0]["best"].values >= 0
    return difference.difference_classes(first, second, same), second - first
