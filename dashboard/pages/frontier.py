"""Page *Frontier*: leaves against penalty for all ways of deciding, and which of them to take."""

from __future__ import annotations

import json
import weakref
from functools import partial
from typing import Any

import holoviews as hv
import panel as pn
from panel.io import hold

from dashboard.decisions import DecisionError
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.frontier import Frontier
from dashboard.decisions.judged.recommend import Recommendation, falls_below, recommend
from dashboard.domain.held_out import CRITERION, HELD_OUT, NOTHING
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.links import NO_RESULTS, page_link
from dashboard.pages.parts.menus import collective_menu, ppn_menu
from dashboard.pages.parts.options import widget_of
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import Button, Figure, Message
from dashboard.plots import frontier as drawn
from dashboard.plots import legend
from dashboard.session.choice import Choice
from dashboard.session.state import DATA, ResultsOrState

PAGE = "Frontier"
#: Tables of more cells wait for the button.
MOST_CELLS = 1500


#: What each page has asked for. Pages of other sessions may wait for the same work.
_ASKED: weakref.WeakKeyDictionary[FrontierPage, Any] = weakref.WeakKeyDictionary()


def _looked_at(key: Any) -> bool:
    """Whether a page that asked for this work is on show: else it stands still, and leaves the server to others."""
    return any(asked == key and page.state.on_show(PAGE) for page, asked in list(_ASKED.items()))


class FrontierPage(Page):
    """What every way of deciding gives on these measurements; a tap on a point takes its settings over."""

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        state = self.state
        self.frontier: Any = None
        self._advice: Recommendation | None = None
        self._asked: Any = None
        about = "The operation that is decided on; all pages follow. Every family of trees is tried on it."
        self.collective = collective_menu(state, about)
        self.ppn = ppn_menu(state)
        self.scheme = widget_of(HELD_OUT, state.held_out, 320)
        self.criterion = widget_of(CRITERION, state.criterion, 170)
        self.compute = Button(label="Compute", variant="contained", on_click=self._compute, align="center")
        self.background = Background(again=self._compute)
        self.judging = Background(again=self._judge)
        self.message = Message()
        self.advice = Message()
        self.adopt = Button(
            label="Adopt it", variant="outlined", on_click=self._adopt_advice, visible=False, align="center"
        )
        height = {"sizing_mode": "stretch_width", "height": drawn.HEIGHT}
        self.panes = {name: Figure(None, **height) for name in ("held out", "in sample")}
        html = {"stylesheets": [legend.STYLE], "margin": (4, 8), "min_width": 330, "styles": {"flex": "1 1 420px"}}
        self.families = pn.pane.HTML("", **html)
        # Its longest line of settings and figures beside each other.
        self.front = pn.pane.HTML("", **{**html, "min_width": 560})
        self._columns = {
            name: pn.Column(pane, sizing_mode="stretch_width", min_width=340, margin=4, styles={"flex": "1 1 420px"})
            for name, pane in self.panes.items()
        }
        self._taps: list[hv.streams.Tap] = []
        self.scheme.link(state, value="held_out", bidirectional=True)
        self.criterion.link(state, value="criterion", bidirectional=True)
        state.param.watch(self._follow, [*DATA, "rules", "page", "held_out", "criterion"])
        state.param.watch(self._mark, "shown")
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            pn.FlexBox(self.collective, self.ppn, self.scheme, self.criterion, self.compute, align_items="center"),
            self.background,
            self.judging,
            self.message,
            pn.Row(self.advice, self.adopt, sizing_mode="stretch_width", margin=0),
            pn.FlexBox(*self._columns.values(), sizing_mode="stretch_width", margin=0),
            pn.FlexBox(self.families, self.front, sizing_mode="stretch_width", align_items="start"),
            sizing_mode="stretch_width",
        )

    def _key(self) -> tuple[Any, ...]:
        return self.state.view.data_key, self._scheme, self.state.criterion, tuple(self.state.rules)

    @property
    def _scheme(self) -> str | None:
        return None if self.state.held_out == NOTHING else self.state.held_out

    def _follow(self, *_: Any) -> None:
        state = self.state
        if not state.on_show(PAGE) or self._asked == self._key():
            return
        self.background.stop()
        self._asked, self.frontier = None, None
        self._show()
        dmap = self._attempt(state.view.decision_map)
        if dmap is None:
            return
        if dmap["best"].size <= MOST_CELLS or state.view.has_frontier(self._scheme, self.state.criterion):
            self._compute()
        else:
            cells = f"{dmap['best'].size:,}"
            self.message.say(f"Trying every family over {cells} cells takes a while; press Compute to begin.")

    def _compute(self, *_: Any) -> None:
        if self.state.view.cube() is None:
            return
        self._asked = key = self._key()
        if self.frontier is None:
            self.message.say("The first points appear here in a moment.")

        def take(frontier: Frontier) -> None:
            if key == self._asked == self._key():
                self.frontier = frontier
                self._show()

        so_far = self.background.meanwhile(take)
        work = self._attempt(lambda: self.state.view.frontier_job(self._scheme, self.state.criterion, so_far))
        if work is None:
            return
        _ASKED[self] = key
        self.background.start("Frontier", work, take, self._drop, partial(_looked_at, key))

    def _drop(self, _: str) -> None:
        self.message.visible = False

    def _attempt(self, work: Any) -> Any:
        try:
            computed = work()
        except DecisionError as error:
            self.message.say(str(error), "error")
            return None
        if computed is None:
            self.message.say(NO_RESULTS, linked=True)
        return computed

    def _show(self) -> None:
        frontier = self.frontier
        with hold(pn.state.curdoc):
            self.message.say("" if frontier is None else "\n".join(frontier.notes), "warning")
            self.advice.visible = self.adopt.visible = False
            if frontier is None:
                for name in self.panes:
                    self._columns[name].visible = False
                self.families.object = self.front.object = ""
                return
            frontier.table["told"] = [self._choice(row).described() for row in range(len(frontier.table))]
            titles = self._titles
            self.families.object = drawn.family_table(falls_below(frontier), titles, frontier.skipped) + drawn.MARKS
            if frontier.missing:
                rest = ", ".join(FAMILIES[name].title for name in frontier.missing)
                self.message.say(f"Still to come: {rest}. It pauses while another page is shown.")
            else:
                self._advise()
            self.front.object = drawn.front_table(
                frontier.table, frontier.value, titles, frontier.scheme, self._advised
            )
            self._draw()
        if not frontier.missing:
            self._judge()

    def _advise(self) -> None:
        try:
            self._advice = recommend(self.frontier)
        except DecisionError as error:
            self._advice = None
            self.advice.say(str(error), "warning")
            return
        self.advice.say(f"Take {self._advice.reason}.", "success")
        self.adopt.visible = True

    @property
    def _advised(self) -> int | None:
        """Row of the tree that is recommended; None while there is none."""
        return None if self.frontier.missing or self._advice is None else self._advice.row

    @property
    def _titles(self) -> dict[str, str]:
        """Titles of the families that were tried, by name."""
        return {name: FAMILIES[name].title for name in dict.fromkeys(self.frontier.table["family"])}

    def _draw(self, *_: Any) -> None:
        frontier, titles = self.frontier, self._titles
        self._taps = []
        for name, prefix in (("held out", "held_out"), ("in sample", "penalty")):
            value = f"{prefix}_{self.state.criterion}"
            there = value in frontier.table and bool(frontier.table[value].notna().any())
            self._columns[name].visible = there
            if not there:
                continue
            what = CRITERION.shown(self.state.criterion)
            title = f"{what.capitalize()} penalty {name}"
            chart = drawn.frontier_chart(title, frontier.table, value, titles, self._current(value), self._advised)
            tap = hv.streams.Tap(source=chart)
            tap.add_subscriber(lambda x, y, value=value: self._tap(value, x, y))
            self._taps.append(tap)
            self.panes[name].object = chart

    def _current(self, value: str) -> tuple[float, float] | None:
        """Leaves and penalty of the choice on show."""
        table = self.frontier.table
        for row in range(len(table)):
            if self._choice(row) == self.state.shown:
                return float(table["leaves"].iloc[row]), float(table[value].iloc[row])
        try:
            statistics, held = self.state.view.statistics(), None
        except DecisionError:
            # A tree that does not suit the measurements, as the page Decisions says, stands nowhere.
            return None
        if self.state.shown is not None and self._scheme == "lines":
            held = self.state.view.known_heldout(self.state.shown)
        if value.startswith("held_out_") and statistics is not None and held is not None:
            return float(statistics["leaves"]), float(getattr(held.figures, value.removeprefix("held_out_")))
        name = value.removeprefix("penalty_")
        if statistics is None or statistics["penalty"].get(name) is None:
            return None
        return float(statistics["leaves"]), float(statistics["penalty"][name])

    def _mark(self, *_: Any) -> None:
        if self.frontier is not None and self.state.on_show(PAGE) and self._asked == self._key():
            self._draw()
            self._judge()

    def _judge(self) -> None:
        """Find out what the choice on show costs held out, if it is not among the points."""
        choice, state = self.state.shown, self.state
        self.judging.stop()
        if choice is None or self._scheme != "lines" or state.view.known_heldout(choice) is not None:
            return
        if any(self._choice(row) == choice for row in range(len(self.frontier.table))):
            return
        self.judging.start("Judging the current choice", state.view.heldout_job(choice), self._draw)

    def _choice(self, row: int) -> Choice:
        table = self.frontier.table
        return Choice.of(str(table["family"].iloc[row]), json.loads(table["options"].iloc[row]))

    def _tap(self, value: str, x: float | None, y: float | None) -> None:
        if self.frontier is None or x is None or y is None:
            return
        row = drawn.nearest(self.frontier.table, value, x, y)
        if row is not None:
            self._adopt(row)

    def _adopt(self, row: int) -> None:
        choice = self._choice(row)
        self.state.choose(choice)
        text = f"Adopted: {plain(choice.described())}. The page {page_link('Decisions')} shows it."
        self.message.say(text, "success", linked=True)

    def _adopt_advice(self, *_: Any) -> None:
        if self._advice is not None:
            self._adopt(self._advice.row)
