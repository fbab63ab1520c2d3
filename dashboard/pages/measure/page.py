"""Page *Measure*: plan a campaign, see what it costs, start it, and watch its map fill."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import ENDED, UNDER_WAY, Campaign
from dashboard.benchmarks.campaigns.follow import Following, Sight, follow
from dashboard.benchmarks.errors import BenchError
from dashboard.measuring.asked import Asked, Offer, offer
from dashboard.measuring.kept import Entry, campaigns, folder_of, free_name
from dashboard.measuring.launching import (
    Place,
    Surroundings,
    preview,
    rerun,
    resume,
    start_new,
    within_reach,
)
from dashboard.pages.measure.cost import Cost
from dashboard.pages.measure.form import TITLES, WIDTH, Form
from dashboard.pages.measure.list import CampaignList
from dashboard.pages.measure.map import Measured
from dashboard.pages.measure.recipe import recipe
from dashboard.pages.measure.watch import Watch
from dashboard.pages.measure.watching import Question, Watching
from dashboard.pages.measure.where import Where
from dashboard.pages.parts.columns import columns
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.options import titled
from dashboard.session.choice import write_options
from dashboard.session.state import ResultsOrState

PAGE = "Measure"
#: Seconds without a change before the estimate is worked out.
REST = 0.25


@dataclass(frozen=True)
class _Seen:
    """What a look has seen; `fault` says why the campaign asked for cannot be shown."""

    entries: list[Entry]
    faults: list[str]
    name: str = ""
    following: Following | None = None
    sight: Sight | None = None
    measured: Measured | None = None
    doubts: control.Doubtful = control.NO_DOUBTS
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


class MeasurePage(Watching):
    """Campaigns: a form for a new one on the left, those there are on the right.

    Everything that touches the disk, the launcher or MPI is done beside the session.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too.
        ``campaign`` names the one on show; its results are loaded into it when asked for.
    """

    PAGE, WATCHED, CHOSEN, ASKED = PAGE, "campaigns", "campaign", "campaign_asked"
    MAY_LOOK = "You can plan here, but not start."

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        self.sight: Sight | None = None
        self._worked = _Worked()
        self.rested = Rested(self._show_cost, REST, self._work_out)
        self.form, self.where = Form(self._changed), Where(self._changed)
        self.cost = Cost(self.start)
        self.cost.named.param.watch(lambda _: self._changed(), "value")
        self.list = CampaignList(self._choose)
        self.watch = Watch({"cancel": self.cancel, "resume": self.resume, "rerun": self.rerun, "open": self.open})
        self.campaign = pn.Column(
            self.watch, self.map, self.loss, self.watch.log, sizing_mode="stretch_width", visible=False, margin=0
        )
        self._asked: tuple[Asked, Place | str, str] = (Asked.of(), Place(), "")
        self._watch()

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
        there = [self.doing, pn.pane.Markdown("### Campaigns", margin=(5, 10)), self.list, self.campaign]
        return columns(plan, there, width=WIDTH + 24)

    def _fill(self, text: str) -> None:
        self.form.read(text)
        self.where.read(text)

    # What there is to measure with, and what it would cost.

    def _offer(self, around: Surroundings) -> None:
        self.form.offer(around.installation)
        self.where.offer(around.no_slurm, around.partitions)

    def _changed(self) -> None:
        # Read here: what is worked out beside the session must not look at widgets.
        try:
            place: Place | str = self.where.place()
        except ValueError as error:
            place = str(error)
        spread = isinstance(place, Place) and place.spread
        asked = self.form.asked(self.where.number_of_ranks, spread=spread)
        self._asked = asked, place, self.cost.named.value
        self._write(write_options({**self.form.fields.changed(), **self.where.changed()}))
        self.cost.start.disabled = True
        self.rested.ask()

    def _work_out(self) -> _Worked:
        asked, place, name = self._asked
        installation = None if self.around is None else self.around.installation
        if installation is None:
            return _Worked()
        free = free_name(self.root, asked["collectives"] or ("campaign",), asked.ranks)
        if isinstance(place, str):
            return _Worked(fault=place, name=free)
        try:
            offered = offer(asked, installation, here=place.here)
        except BenchError as error:
            return _Worked(fault=str(error), name=free)
        try:
            offered = within_reach(offered, place, installation)
            seconds = place.seconds(offered)
            script = preview(self.root, name or free, offered, place, installation)
        except BenchError as error:
            return _Worked(offered, str(error), name=free, asked=(asked, place))
        return _Worked(offered, "", script, seconds, free, (asked, place))

    def _show_cost(self, worked: _Worked) -> None:
        self._worked = worked
        with hold(pn.state.curdoc):
            self.cost.suggest(worked.name)
            self.cost.show(worked.offered, titled(worked.fault, TITLES), worked.script, worked.seconds)
            self._enable()
            self._say_recipe()

    def _enable(self) -> None:
        worked = self._worked
        # What is asked for now may still be worked out.
        ready = worked.asked == self._asked[:2] and not worked.fault and self.where.possible
        self.cost.start.disabled = self.doing.busy or not ready or not self.doing.allowed

    # The campaigns there are.

    def _look(self, asked: Question) -> _Seen:
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
        doubts = following.doubts if sight.status["state"] in ENDED else control.NO_DOUBTS
        return _Seen(entries, faults, name, following, sight, self._measured(asked, name, following, sight), doubts)

    def _show(self, asked: Question, seen: _Seen) -> None:
        if asked.name != self.state.campaign:
            return
        anew = seen.following is not self.following
        # Held here: those who watch one campaign share one reading of its file for as long as somebody holds it.
        self.following, self.sight = seen.following, seen.sight
        with hold(pn.state.curdoc):
            self.list.show(seen.entries, seen.faults, seen.name)
            self.campaign.visible = seen.sight is not None
            if anew:
                self.map.offer(seen.following)
            if seen.sight is not None and seen.measured is not None:
                may = {"allowed": bool(self.doing.allowed), "busy": self.doing.busy}
                self.watch.show(seen.name, seen.sight, doubts=seen.doubts, **may)
                self.map.show(seen.measured)
                self.loss.show(seen.sight.chosen)
            self._say_recipe()
            # Last: what could not be shown has not yet set right what was said of the look before.
            self._tell_fault(seen.fault)

    def _say_recipe(self) -> None:
        (asked, place, name), following = self._asked, self.following
        shown = "" if following is None else following.campaign.folder.name
        where = Place() if isinstance(place, str) else place
        self._offer_recipe(*recipe(self.root, asked, where, name or self._worked.name, shown), shown)

    # What the buttons do.

    async def start(self, *_: Any) -> None:
        """Start what the form asks for."""
        worked, (asked, place, _name), around = self._worked, self._asked, self.around
        if worked.offered is None or isinstance(place, str) or around is None or around.installation is None:
            return
        if worked.asked != (asked, place):
            # The last field is often left by pressing the button: what it costs now was not seen yet.
            self.doing.say("The form has changed: look at what it costs now, then start.", "info")
            return
        name, offered, installation = self.cost.named.value, worked.offered, around.installation

        def work() -> None:
            start_new(self.root, name, offered, place, installation)

        if await self.doing.do(work, "Starting …"):
            self.state.campaign = name
            # A name that was typed meanwhile is the next campaign's.
            if self.cost.named.value == name:
                self.cost.named.value = ""
            self._changed()

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
            self.doing.say(around.no_mpi, "error")
            return
        await self.doing.do(lambda: work(following.campaign, around), "Starting …")

    async def cancel(self, *_: Any) -> None:
        """End the campaign on show with all its ranks."""
        following = self.following
        if following is not None:
            await self.doing.do(lambda: control.cancel(following.campaign), "Cancelling …")

    def _done(self) -> None:
        if self.following is not None:
            self.following.forget()
        super()._done()

    def _began(self) -> None:
        for button in (self.cost.start, self.watch.cancel, self.watch.resume, self.watch.rerun):
            button.disabled = True
