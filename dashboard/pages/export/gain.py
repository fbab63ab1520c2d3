"""Native against tuned on the page *Export*: what a decision gains over the library's default, which rules lose."""

import hashlib
from dataclasses import dataclass
from typing import Any

import panel as pn

from dashboard.decisions import DecisionError, DecisionFunction
from dashboard.decisions.function.cutting import without_slower
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.grown.given import GIVEN, Given
from dashboard.decisions.judged.as_tuned import as_tuned
from dashboard.decisions.judged.improvement import DEFAULT, TUNED, Improvement, Verdict, improvement, judge
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.units import format_count
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.pages.parts.views import Section
from dashboard.pages.parts.widgets import Button, Figure, Message, Select
from dashboard.plots import exported, legend
from dashboard.plots.axes import OTHER
from dashboard.plots.improvement import HEIGHT, improvement_chart, improvement_table, verdict_table
from dashboard.plots.models.chart import write_size
from dashboard.session.choice import RULES, Choice
from dashboard.session.state import DATA, State

_ALONG = {"message sizes": "message_size", "communicator sizes": "comm_size"}
_FLATTERED = (
    "The tree was made from these very measurements, so these figures flatter it: of many methods the luckiest was "
    "taken. 'colltune tune-check' measures the written rules and the default again, in turn."
)
_MEASURED = "Measured in turn with the rules file in force; the regions judged below are those of the tree shown."


@dataclass(frozen=True, eq=False)
class Gained:
    """What is known of a decision against the library's default."""

    decision: DecisionFunction
    measured: Improvement
    verdicts: list[Verdict]
    note: str

    @property
    def slower(self) -> int:
        """Rules that are slower beyond noise."""
        return sum(verdict.outcome == "slower" and not verdict.default for verdict in self.verdicts)


class Gain(Section):
    """Shows the gain of the tree on show, where the default was measured, and drops the rules that lose."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.gained: Gained | None = None
        self._asked: Any = None
        self.message = Message()
        self.working = Background(again=self._again)
        self.along = Select(
            label="Over",
            options=_ALONG,
            value="message_size",
            width=200,
            description="The axis over which the gain of the tree over the library's own decision is drawn, as in "
            "the dissertation (Figures 6.22 and 6.23).",
        )
        self.at = Select(
            label="At",
            options=[],
            width=170,
            description="The size that is held meanwhile. All measured ones are offered.",
        )
        self.chart = Figure(None, sizing_mode="stretch_width", height=HEIGHT)
        html = {"stylesheets": [legend.STYLE + exported.STYLE], "sizing_mode": "stretch_width", "margin": (4, 8)}
        self.table, self.rules = (pn.pane.HTML("", **html) for _ in range(2))
        self.drop = Button(label="Drop the slower rules", variant="contained", on_click=self._drop)
        self.dropped = pn.pane.HTML("", margin=(14, 10), stylesheets=[exported.STYLE])
        self.body = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.along.param.watch(self._offer, "value")
        self.at.param.watch(self._draw, "value")
        state.param.watch(self.update, [*DATA, "shown", "page"])
        self.update()

    def __panel__(self) -> pn.viewable.Viewable:
        wide = {"sizing_mode": "stretch_width", "margin": 0, "styles": {"flex": "1 1 460px"}, "min_width": 440}
        self.body.objects = [
            pn.FlexBox(
                pn.Column(self.table, **wide),
                pn.Column(pn.Row(self.along, self.at, margin=(8, 0, 0, 0)), self.chart, **wide),
                sizing_mode="stretch_width",
                align_items="start",
            ),
            pn.Row(self.drop, self.dropped),
            self.rules,
        ]
        head = pn.pane.HTML("<b>Native against tuned</b>", margin=(10, 10, 0, 10))
        return pn.Column(head, self.working, self.message, self.body, sizing_mode="stretch_width")

    def update(self, *_: Any) -> None:
        """Follow the state."""
        state = self._state
        key = (state.view.data_key, state.shown)
        if not state.on_show("Export") or self._asked == key:
            return
        try:
            cube, decision = state.view.measured(), state.view.decision()
        except DecisionError as error:
            self._forget()
            self._tell(str(error), "error")
            return
        if cube is None or decision is None:
            self._forget()
            self._tell(NO_RESULTS if cube is None else "There is no tree to compare yet.", "info", linked=True)
            return
        ppn = state.view.decision_map().attrs.get("ppn")

        def work(progress: Progress | None) -> Gained | str:
            if progress is not None:
                progress(0.0, "testing each cell")
            try:
                return gained(cube, decision, ppn)
            except DecisionError as error:
                return str(error)

        self._asked = key
        self.working.start("Native against tuned", work, self._show)

    def _forget(self) -> None:
        # What was asked for before is neither shown when it comes, nor taken for what is on show later.
        self._asked = None
        self.working.stop()

    def _again(self) -> None:
        self._forget()
        self.update()

    def _tell(self, text: str, severity: str, *, body: bool = False, linked: bool = False) -> None:
        self.message.say(text, severity, linked=linked)
        self.body.visible = body

    def _show(self, gained: Gained | str) -> None:
        if isinstance(gained, str):
            self.gained = None
            self._tell(f"{gained[:1].upper()}{gained[1:]}.", "info")
            return
        self.gained = gained
        self._tell(gained.note, "info", body=True)
        self.table.object = improvement_table({"the tree": gained.measured})
        self.rules.object = verdict_table(gained.verdicts)
        self.drop.disabled = not gained.slower
        none = "No rule is slower than the default beyond noise." if not gained.slower else ""
        count = format_count(gained.slower, "rule")
        self.dropped.object = none or f"{count} slower than the default beyond noise: the library would decide there."
        self._offer()

    def _offer(self, *_: Any) -> None:
        if self.gained is None:
            return
        other = OTHER[self.along.value]
        sizes = [int(size) for size in self.gained.measured.cells[other].values]
        value = self.at.value if self.at.value in sizes else sizes[-1]
        self.at.param.update(options={write_size(other, size): size for size in sizes}, value=value)
        self._draw()

    def _draw(self, *_: Any) -> None:
        if self.gained is not None and self.at.value is not None:
            self.chart.object = improvement_chart({"the tree": self.gained.measured}, self.along.value, self.at.value)

    def _drop(self, *_: Any) -> None:
        if self.gained is None:
            return
        decision, gone, _ = without_slower(self.gained.decision, self.gained.verdicts)
        digest = hashlib.sha256(decision.to_json().encode()).hexdigest()[:16]
        name = f"{self._state.collective} without {len(gone)} slower"
        key = f"dropped-{digest}"
        GIVEN.put(key, Given(name, lambda problem, _version: _of(decision, problem)))
        self._state.give(key, name)
        self._state.choose(Choice.of(RULES, {"file": key}))


def _of(decision: DecisionFunction, problem: Problem) -> DecisionFunction:
    if problem.collective != decision.collective:
        raise DecisionError(f"the rules that were kept are for {decision.collective}, not for {problem.collective}")
    return decision


def gained(cube: Any, decision: DecisionFunction, ppn: int | None) -> Gained:
    """Judge a decision against the library's default, measured beside it or in turns with it.

    Raises
    ------
    DecisionError
        When the default was not measured.
    """
    labels = {str(label) for label in cube["method"].values}
    anew = {DEFAULT, TUNED} <= labels
    both = cube if anew else as_tuned(cube, decision, ppn)
    measured = improvement(both, ppn=ppn if "ppn" in both.dims else None)
    return Gained(decision, measured, judge(measured, decision), _MEASURED if anew else _FLATTERED)
