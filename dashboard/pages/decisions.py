"""Page *Decisions*: the exact map beside a tree's, what the tree costs, and the tree as source."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import panel as pn
from panel.viewable import Viewer

from dashboard.decisions import DecisionError
from dashboard.pages._controls import Controls
from dashboard.pages._details import Source, Statistics, Table
from dashboard.pages._later import Rested
from dashboard.pages._maps import MOST_REGIONS, REST, Maps
from dashboard.pages._sweeps import Sweeps
from dashboard.pages.widgets import Alert, Button, Tabs
from dashboard.state import State

TABS = ("Sweeps", "Generated source", "Table")
_DATA = ["results_id", "collective", "ppn", "tolerance"]
_TREE = ["max_depth", "limit_depth", "threshold"]
_EMPTY = "No results are loaded. Open the page Data to choose files, or the sample data."


class DecisionsPage(Viewer):
    """Everything about one decision function.

    Parameters
    ----------
    state
        Choices; the page holds none of its own but which tab is open.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        hv.extension("bokeh", logo=False)
        self.state = state
        self.controls = Controls(state)
        self.maps = Maps(state)
        self.statistics = Statistics(state)
        self.sweeps, self.source, self.table = Sweeps(state), Source(state), Table(state)
        self.message = Alert(object="", severity="info", sizing_mode="stretch_width", visible=False)
        self.unpin = Button(label="Unpin", variant="text", on_click=self._unpin, visible=False)
        self.tabs = Tabs(*zip(TABS, (self.sweeps, self.source, self.table), strict=True), sizing_mode="stretch_width")
        self.body = pn.Column(
            self.maps,
            pn.FlexBox(
                self.maps.methods, self.maps.classes, self.statistics, sizing_mode="stretch_width", align_items="start"
            ),
            self.maps.pinned,
            self.unpin,
            self.tabs,
            sizing_mode="stretch_width",
        )
        self._follow = Rested(self._show_details, 2 * REST)
        self._loaded = pn.state.curdoc is None or pn.state.loaded
        self._watch()
        self._show_data()
        if not self._loaded:
            pn.state.onload(self._complete)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.controls, self.message, self.body, sizing_mode="stretch_width")

    def _watch(self) -> None:
        self.state.param.watch(self._show_data, _DATA)
        self.state.param.watch(self._show_tree, _TREE)
        self.state.param.watch(self._show_pinned, "pinned")
        self.state.param.watch(self._show_message, ["busy", "error"])
        self.controls.regions.param.watch(self._show_regions, "value")
        self.tabs.param.watch(self._show_details, "active")

    def _show_data(self, *_: Any) -> None:
        self.body.visible = self._attempt(self.maps.rebuild) and self.maps.scene is not None
        self._show_message()
        self._show_details()

    def _complete(self) -> None:
        self._loaded = True
        self._follow.ask()

    def _show_tree(self, *_: Any) -> None:
        if self._attempt(self.maps.redraw.ask):
            self._follow.ask()

    def _show_regions(self, event: Any) -> None:
        self.maps.show_regions = event.new
        self._attempt(self.maps.redraw.ask)

    def _show_pinned(self, *_: Any) -> None:
        self.unpin.visible = self.state.pinned is not None
        self._attempt(self.maps.show_pinned)

    def _show_details(self, *_: Any) -> None:
        # While the browser is still loading the page, nothing must stand in the way of its first map.
        if self.maps.scene is None or not self._loaded:
            return
        self._show_message()
        # Only what is on the screen: source and table of a large tree take longer than its maps.
        shown = (self.sweeps, self.source, self.table)[self.tabs.active]
        for part in (self.statistics, shown):
            self._attempt(part.update)

    def _show_message(self, *_: Any) -> None:
        if self.state.error:
            told, severity = self.state.error, "error"
        elif self.state.busy:
            told, severity = self.state.busy, "info"
        elif self.maps.scene is None:
            told, severity = _EMPTY, "info"
        else:
            told, severity = self._caution(), "warning"
        self.message.param.update(object=told, severity=severity, visible=bool(told))

    def _caution(self) -> str:
        scene, decision = self.maps.scene, self.state.decision()
        if decision is not None and decision.leaves > MOST_REGIONS:
            return f"The tree has {decision.leaves:,} leaves; their outlines would cover the maps and are not drawn."
        if scene is None or scene.raster.whole:
            return ""
        return (
            f"The map has {' × '.join(f'{count:,}' for count in scene.axes.shape)} cells, more than fit on the screen: "
            "some rows and columns are not drawn. Statistics, table and source are of all of them."
        )

    def _attempt(self, work: Any) -> bool:
        try:
            work()
        except DecisionError as error:
            self.state.error = str(error)
            return False
        return True

    def _unpin(self, *_: Any) -> None:
        self.state.pinned = None
