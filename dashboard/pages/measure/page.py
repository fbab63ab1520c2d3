"""Page *Measure*: plan a campaign, see what it costs, start it, and watch its map fill."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import panel as pn
from panel.io import hold
from panel.viewable import Viewer

from dashboard.benchmarks import control
from dashboard.benchmarks.campaign import Campaign
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.follow import Following, Sight, follow
from dashboard.measuring.asked import Asked, Offer, offer
from dashboard.measuring.kept import Entry, campaigns, campaigns_root, folder_of, free_name
from dashboard.measuring.launching import (
    UNDER_WAY,
    Place,
    Surroundings,
    look_around,
    preview,
    rerun,
    resume,
    start_new,
)
from dashboard.pages.measure.cost import Cost
from dashboard.pages.measure.form import WIDTH, Form
from dashboard.pages.measure.list import CampaignList
from dashboard.pages.measure.map import FillingMap, Measured
from dashboard.pages.measure.rhythm import Rhythm
from dashboard.pages.measure.watch import Watch
from dashboard.pages.measure.where import Where
from dashboard.pages.parts.columns import columns
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.loading import load
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.widgets import Alert, Button
from dashboard.plots.backend import use_bokeh
from dashboard.server.permission import may_launch
from dashboard.session.state import ResultsOrState, State

PAGE = "Measure"
#: Seconds between two looks at the campaigns: the map follows at most twice a second.
EVERY = 0.5
#: Seconds without a change before the estimate is worked out.
REST = 0.25


@dataclass(frozen=True)
class _Question:
    """What a look at the campaigns is for."""

    name: str
    collective: str | None
    ppn: int | None


@dataclass(frozen=True)
class _Seen:
    """What a look has seen; `fault` says why the campaign asked for cannot be shown."""

    entries: list[Entry]
    faults: list[str]
    name: str = ""
    following: Following | None = None
    sight: Sight | None = None
    measured: Measured | None = None
    fault: str = ""


@dataclass(frozen=True)
class _Worked:
    """What was worked out of the form."""

    offered: Offer | None = None
    fault: str = ""
    script: str = ""
    seconds: float | None = None
    name: str = ""
    asked: tuple[Asked, Place | str] | None = None


class MeasurePage(Viewer):
    """Campaigns: a form for a new one on the left, those there are on the right.

    Everything that touches the disk, the launcher or MPI is done beside the session.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too.
        ``campaign`` names the one on show; its results are loaded into it when asked for.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__()
        use_bokeh()
        self.state = state = State.of(shown)
        self.root = campaigns_root()
        self.around: Surroundings | None = None
        self.following: Following | None = None
        self.sight: Sight | None = None
        self._busy = False
        self._fault = ""
        self._allowed = may_launch()
        self._worked = _Worked()
        self.message = Alert(object="", severity="info", sizing_mode="stretch_width", visible=False, closeable=True)
        self.standing = Alert(object="", severity="info", width=WIDTH, visible=False, margin=(4, 10))
        self.again = Button(label="Look again", variant="outlined", size="small", on_click=self._search_again)
        self.again.visible = False
        self.rested = Rested(self._show_cost, REST, self._work_out)
        self.form, self.where = Form(self._ask_cost), Where(self._ask_cost)
        self.cost = Cost(self.start)
        self.cost.named.param.watch(lambda _: self._ask_cost(), "value")
        self.list = CampaignList(self._choose)
        self.watch = Watch({"cancel": self.cancel, "resume": self.resume, "rerun": self.rerun, "open": self.open})
        self.map = FillingMap(self._look_again, state)
        self.rhythm = Rhythm(self._question, self._look, self._show, EVERY, self._failed)
        self.one = pn.Column(self.watch, self.map, self.watch.log, sizing_mode="stretch_width", visible=False, margin=0)
        self._asked: tuple[Asked, Place | str, str] = (Asked(), Place(), "")
        state.param.watch(self._follow, "page")
        state.param.watch(self._look_again, "campaign")
        self._search = Rested(self._found, 0.0, self._look_around)
        self._anew = False
        if pn.state.curdoc is None or pn.state.loaded:
            self._open()
        else:
            # What changes while the browser is still building the page may be lost on it.
            pn.state.onload(self._open)

    def _open(self) -> None:
        self._search.ask()
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        plan = [
            pn.pane.Markdown("### New campaign", margin=(5, 10)),
            self.standing,
            self.again,
            self.form,
            pn.pane.Markdown("### Where it runs", margin=(5, 10)),
            self.where,
            pn.pane.Markdown("### What it costs", margin=(5, 10)),
            self.cost,
        ]
        there = [self.message, pn.pane.Markdown("### Campaigns", margin=(5, 10)), self.list, self.one]
        return columns(plan, there, width=WIDTH + 24)

    # What there is to measure with, and what it would cost.

    def _look_around(self) -> Surroundings:
        return look_around(again=self._anew)

    def _search_again(self, *_: Any) -> None:
        self._anew = True
        self.again.disabled = True
        self._search.ask()

    def _found(self, around: Surroundings) -> None:
        self.around = around
        self.again.disabled = False
        self.form.offer(around.installation)
        self.where.offer(around.no_slurm, around.partitions)
        told, severity = around.no_mpi, "error"
        if not told and not self._allowed:
            told, severity = f"You can plan here, but not start. {self._allowed.reason}", "warning"
        self.standing.param.update(object=plain(told), severity=severity, visible=bool(told))
        self.again.visible = bool(around.no_mpi)
        self._ask_cost()

    def _ask_cost(self) -> None:
        # Read here: what is worked out beside the session must not look at widgets.
        try:
            place: Place | str = self.where.place()
        except ValueError as error:
            place = str(error)
        self._asked = (self.form.asked(self.where.number_of_ranks), place, self.cost.named.value)
        self.cost.start.disabled = True
        self.rested.ask()

    def _work_out(self) -> _Worked:
        asked, place, name = self._asked
        installation = None if self.around is None else self.around.installation
        if installation is None:
            return _Worked()
        free = free_name(self.root, asked.collectives or ("campaign",), asked.ranks)
        if isinstance(place, str):
            return _Worked(fault=place, name=free)
        try:
            offered = offer(asked, installation, here=place.here)
        except BenchError as error:
            return _Worked(fault=str(error), name=free)
        try:
            seconds = place.seconds(offered)
            script = preview(self.root, name or free, offered, place, installation)
        except BenchError as error:
            return _Worked(offered, str(error), name=free, asked=(asked, place))
        return _Worked(offered, "", script, seconds, free, (asked, place))

    def _show_cost(self, worked: _Worked) -> None:
        self._worked = worked
        with hold(pn.state.curdoc):
            self.cost.suggest(worked.name)
            self.cost.show(worked.offered, worked.fault, worked.script, worked.seconds)
            self._enable()

    def _enable(self) -> None:
        worked = self._worked
        ready = worked.offered is not None and not worked.fault and self.where.possible
        self.cost.start.disabled = self._busy or not ready or not self._allowed

    # The campaigns there are.

    def _follow(self, *_: Any) -> None:
        """Look for as long as this page is the one on show."""
        if self.state.on_show(PAGE):
            self.rhythm.start()
        else:
            self.rhythm.stop()

    def _choose(self, name: str) -> None:
        self.state.campaign = name

    def _look_again(self, *_: Any) -> None:
        self.rhythm.now()

    def _question(self) -> _Question:
        return _Question(self.state.campaign, self.map.collective.value, self.map.ppn.value)

    def _look(self, asked: _Question) -> _Seen:
        entries, faults = campaigns(self.root)
        under_way = [entry.name for entry in entries if entry.state in UNDER_WAY]
        name = asked.name or next(iter([*under_way, *(entry.name for entry in entries)]), "")
        if not name:
            return _Seen(entries, faults)
        try:
            following = follow(folder_of(self.root, name))
            sight = following.look()
        except BenchError as error:
            return _Seen(entries, faults, name, fault=str(error).replace(f"{self.root}/", ""))
        plan = following.plan
        collective = asked.collective if asked.collective in plan.methods else next(iter(plan.methods))
        ppn = asked.ppn if asked.ppn in plan.ppns else next(iter(plan.ppns), None)
        known = self.map.measured
        if known is not None and (known.shown, known.points) == ((name, collective, ppn), sight.points):
            return _Seen(entries, faults, name, following, sight, known)
        return _Seen(entries, faults, name, following, sight, Measured.of(following, collective, ppn, sight.points))

    def _show(self, asked: _Question, seen: _Seen) -> None:
        if asked.name != self.state.campaign:
            return
        anew = seen.following is not self.following
        # Held here: those who watch one campaign share one reading of its file for as long as somebody holds it.
        self.following, self.sight = seen.following, seen.sight
        with hold(pn.state.curdoc):
            self.list.show(seen.entries, seen.faults, seen.name)
            self.one.visible = seen.sight is not None
            if anew:
                self.map.offer(seen.following)
            if seen.sight is not None and seen.measured is not None:
                self.watch.show(seen.name, seen.sight, allowed=bool(self._allowed), busy=self._busy)
                self.map.show(seen.measured)
            # Last: what could not be shown has not yet set right what was said of the look before.
            self._tell_fault(seen.fault)

    def _failed(self, error: Exception) -> None:
        told = f"Looking at the campaigns failed ({type(error).__name__}: {error}); the page goes on trying."
        self._tell_fault(told.replace(f"{self.root}/", ""))

    def _tell_fault(self, fault: str) -> None:
        """Say why nothing new is shown, once; empty: nothing is wrong any more."""
        if fault != self._fault:
            self._fault = fault
            self._say(fault, "warning")

    # What the buttons do.

    async def start(self, *_: Any) -> None:
        """Start what the form asks for."""
        worked, (asked, place, _name), around = self._worked, self._asked, self.around
        if worked.offered is None or isinstance(place, str) or around is None or around.installation is None:
            return
        if worked.asked != (asked, place):
            # The last field is often left by pressing the button: what it costs now was not seen yet.
            self._say("The form has changed: look at what it costs now, then start.", "info")
            return
        name, offered, installation = self.cost.named.value, worked.offered, around.installation

        def work() -> None:
            start_new(self.root, name, offered, place, installation)

        if await self._do(work, "Starting …"):
            self.state.campaign = name
            self.cost.named.value = ""
            self._ask_cost()

    async def resume(self, *_: Any) -> None:
        """Launch what is missing of the campaign on show."""
        await self._launch(lambda campaign, around: resume(campaign, around.installation))

    async def rerun(self, *_: Any) -> None:
        """Measure again what was refused or wrong."""
        await self._launch(lambda campaign, around: rerun(campaign, around.installation))

    async def _launch(self, work: Callable[[Campaign, Any], None]) -> None:
        following, around = self.following, self.around
        if following is None or around is None:
            return
        if around.installation is None:
            self._say(around.no_mpi, "error")
            return
        await self._do(lambda: work(following.campaign, around), "Starting …")

    async def cancel(self, *_: Any) -> None:
        """End the campaign on show with all its ranks."""
        following = self.following
        if following is not None:
            await self._do(lambda: control.cancel(following.campaign), "Cancelling …")

    async def open(self, *_: Any) -> None:
        """Show what was measured so far on the other pages."""
        following = self.following
        if following is None:
            return
        collective = self.map.collective.value
        await load(self.state, following.campaign.result_files(), {})
        if self.state.error:
            self._say(self.state.error, "error")
            return
        if collective in self.state.param.collective.objects:
            self.state.collective = collective
        self.state.page = "Decisions"

    async def _do(self, work: Callable[[], Any], told: str) -> bool:
        """Do what only those may who may launch, beside the session; whether it was done."""
        self._allowed = may_launch()
        if not self._allowed:
            self._say(self._allowed.reason, "warning")
            return False
        if self._busy:
            return False
        self._busy = True
        self._say(told, "info")
        self._disable()
        try:
            await asyncio.to_thread(work)
        except (BenchError, OSError) as error:
            self._say(str(error).replace(f"{self.root}/", ""), "error")
            return False
        else:
            self._say("", "info")
            return True
        finally:
            self._busy = False
            if self.following is not None:
                self.following.forget()
            self._enable()
            self.rhythm.now()

    def _disable(self) -> None:
        for button in (self.cost.start, self.watch.cancel, self.watch.resume, self.watch.rerun):
            button.disabled = True

    def _say(self, text: str, severity: str) -> None:
        self.message.param.update(object=plain(text), severity=severity, visible=bool(text), closed=False)
