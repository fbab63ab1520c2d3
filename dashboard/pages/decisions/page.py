"""Page *Decisions*: the exact map beside a tree's, what the tree costs, and the tree as source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.decisions import DecisionError
from dashboard.pages.decisions.controls import Controls
from dashboard.pages.decisions.details import Source, Statistics, Table
from dashboard.pages.decisions.maps import MOST_REGIONS, REST, Maps
from dashboard.pages.decisions.noise import Noise
from dashboard.pages.decisions.sweeps import Sweeps
from dashboard.pages.decisions.tree import TreeDiagram
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.widgets import Alert, Button, Tabs
from dashboard.plots.backend import use_bokeh
from dashboard.session.state import DRAWN, ResultsOrState, State

TABS = ("Sweeps", "Generated source", "Table", "Tree diagram", "Noise")
_EMPTY = "No results are loaded. Open the page Data to choose files, or the sample data."


class DecisionsPage(Viewer):
    """Everything about one decision function.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too; the page holds no choice of its own but which tab is open.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__()
        use_bokeh()
        self.state = state = State.of(shown)
        self.controls = Controls(state)
        self.maps = Maps(state)
        self.statistics = Statistics(state)
        self.sweeps, self.source, self.table = Sweeps(state), Source(state), Table(state)
        self.message = Alert(object="", severity="info", sizing_mode="stretch_width", visible=False)
        self.unpin = Button(label="Unpin", variant="text", on_click=self._unpin, visible=False)
        self.tree, self.noise = TreeDiagram(state), Noise(state)
        self.parts = (self.sweeps, self.source, self.table, self.tree, self.noise)
        self.tabs = Tabs(*zip(TABS, self.parts, strict=True), dynamic=True, sizing_mode="stretch_width")
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
        self._fault = ""
        self._follow = Rested(self._show_details, 2 * REST)
        self._loaded = pn.state.curdoc is None or pn.state.loaded
        self._watch()
        self._show_data()
        if not self._loaded:
            pn.state.onload(self._complete)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.controls, self.message, self.body, sizing_mode="stretch_width")

    def _watch(self) -> None:
        self.state.param.watch(self._show_data, [*DRAWN])
        self.state.param.watch(self._show_tree, "shown")
        self.state.param.watch(self._show_pinned, "pinned")
        self.state.param.watch(self._show_message, ["busy", "error"])
        self.controls.regions.param.watch(self._show_regions, "value")
        self.tabs.param.watch(self._show_details, "active")

    def _show_data(self, *_: Any) -> None:
        # While the browser is still loading the page, nothing must stand in the way of its first map.
        drawn = self._attempt(partial(self.maps.rebuild, exact_only=not self._loaded))
        self.body.visible = drawn and self.maps.scene is not None
        self._show_message()
        self._show_details()

    def _complete(self) -> None:
        self._loaded = True
        self._attempt(self.maps.complete)
        self._follow.ask()

    def _show_tree(self, *_: Any) -> None:
        scene = self.maps.scene
        if self.state.shown is None or (scene is not None and scene.data != self.state.view.drawn_key):
            # What watches the data will follow.
            return
        if self._attempt(lambda: self.maps.stale):
            if self.maps.stale:
                self._show_data()
            elif self._attempt(self.maps.redraw.ask):
                self._follow.ask()

    def _show_regions(self, event: Any) -> None:
        self.maps.show_regions = event.new
        self._attempt(self.maps.redraw.ask)

    def _show_pinned(self, *_: Any) -> None:
        self.unpin.visible = self.state.pinned is not None
        self._attempt(self.maps.show_pinned)
        if self.parts[self.tabs.active] is self.tree:
            self._attempt(self.tree.update)

    def _show_details(self, *_: Any) -> None:
        if self.maps.scene is None or not self._loaded:
            return
        self._show_message()
        # Only what is on the screen: source and table of a large tree take longer than its maps.
        shown = self.parts[self.tabs.active]
        for part in (self.statistics, shown):
            self._attempt(part.update)

    def _show_message(self, *_: Any) -> None:
        if self.state.error:
            told, severity = self.state.error, "error"
        elif self.state.busy:
            told, severity = self.state.busy, "info"
        elif self._fault:
            told, severity = self._fault, "error"
        elif self.maps.scene is None:
            told, severity = _EMPTY, "info"
        else:
            told, severity = self._caution(), "info" if self.state.view.decision() is None else "warning"
        self.message.param.update(object=told, severity=severity, visible=bool(told))

    def _caution(self) -> str:
        return "  \n".join(self._cautions())

    def _cautions(self) -> Iterator[str]:
        scene, decision = self.maps.scene, self.state.view.decision()
        yield from map(plain, self.state.view.remarks())
        if decision is None:
            yield "The tree is not there yet: only the exact map is shown."
        elif decision.leaves > MOST_REGIONS:
            yield f"The tree has {decision.leaves:,} leaves; their outlines would cover the maps and are not drawn."
        if scene is not None and not scene.raster.whole:
            yield (
                f"The map has {' × '.join(f'{count:,}' for count in scene.axes.shape)} cells, more than fit on the "
                "screen: some rows and columns are not drawn. Statistics, table and source are of all of them."
            )

    def _attempt(self, work: Any) -> bool:
        try:
            work()
        except DecisionError as error:
            self._fault = str(error)
            self._show_message()
            return False
        self._fault = ""
        return True

    def _unpin(self, *_: Any) -> None:
        self.state.pinned = None
