"""Page *Tune*: from nothing to a bundle, started, watched and ended here; whoever started it."""

import asyncio
import shlex
from dataclasses import dataclass
from functools import partial
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.benchmarks.campaigns.follow import Following, Sight, follow
from dashboard.benchmarks.errors import BenchError, CampaignError
from dashboard.measuring import tunings as kept
from dashboard.measuring.launching import Surroundings
from dashboard.pages.measure.form import WIDTH
from dashboard.pages.measure.list import CampaignList
from dashboard.pages.measure.map import Measured
from dashboard.pages.measure.watching import Question, Watching
from dashboard.pages.parts.columns import columns
from dashboard.pages.parts.later import Rested
from dashboard.pages.tune.form import Offered, TuneForm, offer
from dashboard.pages.tune.list import tuning_item
from dashboard.pages.tune.watch import TuneWatch
from dashboard.plots import legend
from dashboard.session.state import ResultsOrState
from loaders import disk

PAGE = "Tune"
#: Seconds without a change before the form is worked out.
REST = 0.25
NONE_YET = "Nothing has been tuned yet. Start measures the installed MPI and ends with a bundle."


@dataclass(frozen=True)
class Seen:
    """What a look has seen; `fault` says why what was asked for cannot be shown."""

    tunings: list[kept.Tuning]
    faults: list[str]
    tuning: kept.Tuning | None = None
    following: Following | None = None
    sight: Sight | None = None
    measured: Measured | None = None
    fault: str = ""


class TunePage(Watching):
    """A form for a new tuning on the left, the stages of the one on show on the right.

    Everything that touches the disk, the launcher or MPI is done beside the session.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too: ``tuning`` names the one on show.
    """

    PAGE, WATCHED, CHOSEN, ASKED = PAGE, "tunings", "tuning", "tuning_asked"
    MAY_LOOK = "You can look at tunings here, but not start any."

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        self.seen: Seen | None = None
        self._offered = Offered()
        self.rested = Rested(self._show_offer, REST, self._work_out)
        self.form = TuneForm(self._changed, self.start)
        self._wanted = self.form.wanted()
        self.list = CampaignList(self._choose, tuning_item, NONE_YET)
        actions = {"cancel": self.cancel, "go_on": self.go_on, "again": self.check_again, "open": self.open}
        self.watch = TuneWatch(actions, self.bundle)
        #: What there is to measure, where nothing is on show that was.
        self.plan = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width", margin=(20, 10, 0, 10))
        self.measuring = pn.Column(self.map, self.loss, sizing_mode="stretch_width", margin=0, visible=False)
        self._watch()

    def __panel__(self) -> pn.viewable.Viewable:
        title = pn.pane.HTML("<h3 style='margin: 0'>Tune the installed MPI</h3>", margin=(4, 10, 12, 10))
        there = [self.doing, self.watch, self.plan, self.watch.result, self.measuring]
        there += [pn.pane.Markdown("### Tunings", margin=(14, 10, 4, 10)), self.list]
        return columns([title, self.standing, self.again, self.form], there, width=WIDTH + 24)

    def _fill(self, text: str) -> None:
        self.form.read(text)

    # What there is to tune, and what it would be.

    def _offer(self, around: Surroundings) -> None:
        self.form.where.offer(around.no_slurm, around.partitions)

    def _changed(self) -> None:
        self._wanted = self.form.wanted()
        self._write(self.form.written())
        self.form.start.disabled = True
        self.rested.ask()

    def _work_out(self) -> Offered:
        return offer(self.root, self._wanted, None if self.around is None else self.around.installation)

    def _show_offer(self, offered: Offered) -> None:
        self._offered = offered
        self.plan.object = offered.table
        self._enable()

    def _enable(self) -> None:
        may = bool(self.doing.allowed) and not self.doing.busy
        with hold(pn.state.curdoc):
            self.form.show(self._offered, may_start=may)
            self.watch.enable(may)

    # The tunings there are.

    def _look(self, asked: Question) -> Seen:
        there, faults = kept.tunings(self.root)
        first = next((tuning for tuning in there if tuning.state == kept.RUNNING), there[0] if there else None)
        tuning = next((tuning for tuning in there if tuning.name == asked.name), None if asked.name else first)
        if tuning is None:
            fault = f"There is no tuning {asked.name} here; those there are stand below." if asked.name else ""
            return Seen(there, faults, fault=fault)
        try:
            return self._look_at(tuning, asked, there, faults)
        except BenchError as error:
            return Seen(there, faults, tuning, fault=str(error).replace(f"{self.root}/", ""))

    def _look_at(self, tuning: kept.Tuning, asked: Question, there: list[kept.Tuning], faults: list[str]) -> Seen:
        if tuning.campaign is None:
            return Seen(there, faults, tuning)
        following = follow(tuning.campaign)
        sight = following.look()
        measured = self._measured(asked, tuning.name, following, sight)
        return Seen(there, faults, tuning, following, sight, measured)

    def _show(self, asked: Question, seen: Seen) -> None:
        if asked.name != self.state.tuning:
            return
        following, self.following, self.seen = self.following, seen.following, seen
        with hold(pn.state.curdoc):
            self.list.show(seen.tunings, seen.faults, "" if seen.tuning is None else seen.tuning.name)
            if seen.following is not following:
                self.map.offer(seen.following)
            self.measuring.visible = seen.measured is not None and seen.measured.points > 0
            if self.measuring.visible and seen.measured is not None:
                self.map.show(seen.measured)
            self.loss.show({} if seen.sight is None else seen.sight.chosen)
            self.watch.show(seen.tuning)
            self.watch.open.disabled = not self.measuring.visible
            self.plan.visible = seen.tuning is None
            self.watch.enable(bool(self.doing.allowed) and not self.doing.busy)
            self._say_recipe(seen.tuning)
            self._tell_fault(seen.fault)

    def _say_recipe(self, tuning: kept.Tuning | None) -> None:
        if tuning is None:
            # What is asked for is not there yet.
            asked = ["tune", "FOLDER", *self.form.words()]
            python = ["from dashboard import cli", f"cli.main({asked!r})"]
            self._offer_recipe(shlex.join(["colltune", *asked]), python, "")
            return
        words = shlex.join(["colltune", "tune", str(tuning.path), "--status", "--json"])
        python = [
            "from pathlib import Path",
            "from dashboard.measuring import tunings",
            "",
            f"tunings.standing(Path({str(tuning.path)!r})).facts",
        ]
        self._offer_recipe(words, python, tuning.name)

    # What the buttons do.

    async def start(self, *_: Any) -> None:
        """Start what the form asks for."""
        offered = self._offered
        if offered.asked is None:
            return
        if offered.wanted != self.form.wanted():
            # The last field is often left by pressing the button.
            self.rested.ask()
            offered = await asyncio.to_thread(partial(offer, self.root, self.form.wanted(), self._installation))
            if offered.asked is None:
                self.doing.say(offered.fault, "warning")
                return
        name, asked = self.form.named.value or offered.name, offered.asked
        if await self.doing.do(partial(kept.start, self.root, name, asked), "Starting …"):
            self.state.tuning = name
            self.form.named.value = ""
            self._changed()

    @property
    def _installation(self) -> Any:
        return None if self.around is None else self.around.installation

    async def go_on(self, *_: Any) -> None:
        """Do what is missing of the one on show."""
        await self._with_path(kept.go_on, "Starting …")

    async def check_again(self, *_: Any) -> None:
        """Check whether the rules of the one on show still hold."""
        await self._with_path(partial(kept.go_on, again=True), "Starting …")

    async def cancel(self, *_: Any) -> None:
        """End the one on show with all that it runs."""
        await self._with_path(kept.cancel, "Cancelling …")

    async def _with_path(self, work: Any, done: str) -> None:
        if self.seen is not None and self.seen.tuning is not None:
            await self.doing.do(partial(work, self.seen.tuning.path), done)

    def bundle(self) -> bytes:
        """The packed bundle of the one on show."""
        tuning = None if self.seen is None else self.seen.tuning
        file = None if tuning is None else tuning.bundle
        if file is None:
            raise CampaignError("there is no bundle")
        return disk.read_bytes(file)
