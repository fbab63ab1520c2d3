"""Page *Decisions*: the exact map beside a tree's, what the tree costs, and the tree as source."""

from collections.abc import Iterator
from typing import Any

import panel as pn

from dashboard.decisions import DecisionError
from dashboard.decisions.measured import trust
from dashboard.pages.decisions.answer import Answer
from dashboard.pages.decisions.between import Between
from dashboard.pages.decisions.controls import Controls
from dashboard.pages.decisions.details import Source, Statistics, Table
from dashboard.pages.decisions.maps import BESIDE, MOST_REGIONS, REST, Maps
from dashboard.pages.decisions.noise import Noise
from dashboard.pages.decisions.sweeps import Sweeps
from dashboard.pages.decisions.tree import RulesTable, TreeDiagram
from dashboard.pages.parts.fold import tabs
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import Button, Message
from dashboard.plots.frame import growing
from dashboard.plots.maps import HEIGHT
from dashboard.session.state import DRAWN, ResultsOrState

#: As high as a map; what does not fit is scrolled to.
_SIDE = {"overflow": "auto", "max-height": growing(HEIGHT)["min-height"]}
#: In a narrow window the rail lies above all else.
_FRAME = "@media (max-width: 1100px) { :host { flex-wrap: wrap; } }"
_SHOWN = ":host { min-width: 0; } @media (max-width: 1100px) { :host { flex: 0 0 100% !important; } }"


class DecisionsPage(Page):
    """Everything about one decision function.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too; the page holds no choice of its own but which tab is open.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        state = self.state
        self.controls, self.answer = Controls(state), Answer(state)
        self.unpin = Button(label="Unpin", variant="text", size="small", visible=False)
        self.unpin.on_click(lambda _: state.param.update(pinned=None))
        self.side = pn.Column(styles=_SIDE, stylesheets=[BESIDE], min_width=330, margin=4)
        self.maps = Maps(state, self.side)
        self.tree = TreeDiagram(state, self.maps.light)
        self.side.objects = [self.unpin, self.maps.pinned, self.tree]
        self.statistics = Statistics(state, self.answer.update)
        self.sweeps, self.between, self.source, self.table = Sweeps(state), Between(state), Source(state), Table(state)
        self.message = Message()
        self.keep = Button(label="Use these times anyway", variant="outlined", size="small", visible=False)
        self.keep.on_click(lambda _: state.ask(keep_doubtful=True))
        self.rules, self.noise = RulesTable(state), Noise(state)
        self.parts = (self.sweeps, self.source, self.table, self.rules, self.noise, self.between)
        self.tabs = tabs(state, "Decisions", self.parts)
        wide: dict[str, Any] = {"sizing_mode": "stretch_width"}
        legends = (self.maps.methods, self.maps.classes, self.statistics)
        below = pn.FlexBox(*legends, align_items="start", **wide)
        self.body = pn.Column(self.answer, self.maps, below, self.tabs, margin=0, **wide)
        self._fault = ""
        self._follow = Rested(self._show_details, 2 * REST)
        self._loaded = pn.state.curdoc is None or pn.state.loaded
        self._watch()
        self._show_data()
        if not self._loaded:
            pn.state.onload(self._complete)

    def __panel__(self) -> pn.viewable.Viewable:
        parts = self.message, self.keep, self.body
        shown = pn.Column(*parts, sizing_mode="stretch_width", margin=0, stylesheets=[_SHOWN])
        return pn.Row(self.controls, shown, sizing_mode="stretch_width", stylesheets=[_FRAME])

    def _watch(self) -> None:
        self.state.param.watch(self._show_data, [*DRAWN])
        self.state.param.watch(self._show_tree, "shown")
        self.state.param.watch(self._show_pinned, "pinned")
        self.state.param.watch(self._show_message, ["busy", "error"])
        self.controls.beside.param.watch(self._show_pinned, "value")
        self.controls.regions.param.watch(self._show_regions, "value")
        self.tabs.param.watch(self._show_details, "active")

    def _show_data(self, *_: Any) -> None:
        # While the browser is still loading the page, nothing must stand in the way of its first map.
        self._fault = ""
        drawn = self._attempt(self._rebuild)
        self.body.visible = drawn and self.maps.scene is not None
        untrusted = "" if drawn else self._untrusted()
        self.keep.visible = bool(untrusted)
        self._fault += untrusted
        self._show_message()
        self._show_details()

    def _rebuild(self) -> None:
        # What cannot be decided on is said before anything of it is drawn, such as that a workload never calls it.
        self.state.view.problem()
        self.maps.rebuild(exact_only=not self._loaded)

    def _untrusted(self) -> str:
        """What cannot be trusted where that is all there is, and what helps; else empty."""
        cube = self.state.view.judged()
        if cube is None or trust.LEFT_OUT not in cube.attrs or bool(cube["time"].notnull().any()):
            return ""
        return f": left out {cube.attrs[trust.LEFT_OUT]}. Measure again on a quiet machine (page Measure)."

    def _complete(self) -> None:
        self._loaded = True
        self._attempt(self.maps.complete)
        self._follow.ask()

    def _show_tree(self, *_: Any) -> None:
        scene = self.maps.scene
        if self.state.shown is None or (scene is not None and scene.data != self.state.view.drawn_key):
            # What watches the data will follow.
            return
        self._fault = ""
        if self._attempt(lambda: self.maps.stale):
            if self.maps.lacking and self._loaded:
                self._complete()
            elif self.maps.stale:
                self._show_data()
            elif self._attempt(self.maps.redraw.ask):
                self._follow.ask()

    def _show_regions(self, event: Any) -> None:
        self.maps.show_regions = event.new
        self._attempt(self.maps.redraw.ask)

    def _show_pinned(self, *_: Any) -> None:
        pinned, beside = self.state.pinned is not None, self.controls.beside.value
        shown = [*([self.unpin, self.maps.pinned] if pinned else []), *([self.tree] if beside else [])]
        if shown != list(self.side.objects):
            self.side.param.update(objects=shown, visible=bool(shown))
        self.unpin.visible = pinned
        self._attempt(self.maps.show_pinned)
        self._attempt(self.tree.update)
        if self.parts[self.tabs.active] is self.between:
            self._attempt(self.between.update)

    def _show_details(self, *_: Any) -> None:
        if self.maps.scene is None or not self._loaded or not self.body.visible:
            return
        self._fault = ""
        self._show_message()
        # Only what is on the screen: source and table of a large tree take longer than its maps.
        shown = self.parts[self.tabs.active]
        for part in (self.answer, self.statistics, self.tree, shown):
            self._attempt(part.update)

    def _show_message(self, *_: Any) -> None:
        if self.state.error:
            message, severity = plain(self.state.error), "error"
        elif self.state.navigated and self.state.results is None:
            # What stands above every page then says how to begin, or how far the loading is.
            message, severity = "", "info"
        elif self.state.busy:
            message, severity = plain(self.state.busy), "info"
        elif self._fault:
            message, severity = plain(self._fault), "error"
        elif self.maps.scene is None:
            message, severity = NO_RESULTS, "info"
        else:
            message, severity = self._said()
        self.message.say(message, severity, linked=True)

    def _said(self) -> tuple[str, str]:
        """What is said of the maps, and how grave it is."""
        try:
            cautions = "  \n".join(self._cautions())
            return cautions, "info" if self.state.view.decision() is None else "warning"
        except DecisionError as error:
            return plain(str(error)), "error"

    def _cautions(self) -> Iterator[str]:
        scene, decision = self.maps.scene, self.state.view.decision()
        yield from map(plain, self.state.view.remarks())
        if decision is None:
            # It is still grown, or cannot be: which, the line above all pages says.
            yield "There is no tree: only the exact map is shown."
        elif decision.leaves > MOST_REGIONS:
            yield f"The tree has {decision.leaves:,} leaves; their outlines would cover the maps and are not drawn."
        if scene is not None and not scene.raster.complete:
            yield (
                f"The map has {' × '.join(f'{count:,}' for count in scene.axes.shape)} cells, more than fit on the "
                "screen: some rows and columns are not drawn. Statistics, table and source cover all of them."
            )

    def _attempt(self, work: Any) -> bool:
        try:
            work()
        except DecisionError as error:
            self._fault = str(error)
            self._show_message()
            return False
        return True
