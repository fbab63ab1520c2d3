"""Rules files that somebody has, on the page *Export*: what is wrong with them, what they cost, their uses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import panel as pn
from panel.viewable import Viewer

from dashboard.decisions import DecisionError
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.measured.workload import called
from dashboard.domain.units import format_bytes, format_count, format_percent, format_room
from dashboard.domain.written import VERSION
from dashboard.export.rules import Fault, RulesError, RulesFile
from dashboard.export.rules.given import keep
from dashboard.export.rules.lint import read_file
from dashboard.export.rules.over import Cost, costs
from dashboard.pages.compare.pair_maps import PairMaps
from dashboard.pages.data.files import safe_name
from dashboard.pages.export.translate import Translate
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.menus import collective_menu
from dashboard.pages.parts.options import common
from dashboard.pages.parts.widgets import Button, FileInput, Message, Select, TextAreaInput
from dashboard.plots import exported, legend, source
from dashboard.plots.view_maps import Scene
from dashboard.session.choice import RULES, Choice
from dashboard.session.recipes import of_check
from dashboard.session.state import DATA, State
from loaders.openmpi import DEFAULT_VERSION, VERSIONS

if TYPE_CHECKING:
    import xarray as xr

MAPS = {"a": "A: the tree", "b": "B: the rules file", "gap": "B against A"}
#: Larger files are no rules of a library.
MOST_BYTES = 4 << 20
_CLASSIC = ("openmpi-1", "openmpi-2")
_PASTED = "pasted"
_LONGEST_NAME = 60


@dataclass(frozen=True, eq=False)
class Checked:
    """A file that was checked."""

    #: By which it can be decided with, and what it is called.
    key: str
    name: str
    text: str
    #: As it was read; None of a saved decision function.
    rules: RulesFile | None
    #: As the version that it was written for reads it, which is what is translated.
    meant: RulesFile | None
    #: What is wrong, by itself and over the measurements.
    faults: tuple[Fault, ...]
    #: What it costs over the measurements.
    costs: tuple[Cost, ...]


class CheckRules(Viewer):
    """Takes a file, and shows what is wrong with it and what it costs.

    Parameters
    ----------
    changed
        Called when other commands give its figures.
    """

    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        super().__init__()
        self._state, self._changed = state, changed
        self.checked: Checked | None = None
        self._given: tuple[str, str] | None = None
        most = format_bytes(MOST_BYTES)
        self.upload = FileInput(
            label="Upload a rules file",
            margin=(10, 10),
            description=f"A file of rules that a library reads; at most {most}.",
        )
        read = {**common(VERSION), "label": "Read by Open MPI"}
        self.version = Select(options=list(VERSIONS), value=DEFAULT_VERSION, width=160, **read)
        self.paste = TextAreaInput(
            label="Or paste it here",
            placeholder="rules of Open MPI, MPICH, Intel MPI (I_MPI_ADJUST_…), UCC or NCCL",
            rows=4,
            max_length=MOST_BYTES,
            sizing_mode="stretch_width",
            description="The text of the file; the library is recognised by it.",
        )
        self.button = Button(label="Check what is pasted", variant="contained", on_click=self._check_pasted)
        self.checking = Background(again=self._again)
        self.message = Message()
        html = {"stylesheets": [legend.STYLE + exported.STYLE], "sizing_mode": "stretch_width", "margin": (4, 8)}
        self.table, self.faults = (pn.pane.HTML("", **html) for _ in range(2))
        self.preview = pn.pane.HTML("", stylesheets=[source.STYLE], sizing_mode="stretch_width", margin=(4, 8))
        self.adopt = Button(label="Use as the decision", variant="outlined", on_click=self._adopt)
        self.compare = Button(label="Compare with the tree", variant="outlined", on_click=self._compare)
        self.frontier = Button(
            label="Put on the frontier", variant="outlined", on_click=lambda _: state.param.update(page="Frontier")
        )
        self.uses = pn.FlexBox(self.adopt, self.compare, self.frontier, align_items="center", margin=0)
        self.maps = PairMaps(MAPS, ("in the tree", "in the rules"))
        about = "The operation whose rules are drawn and used; all pages follow. The file may have others."
        self.collective = collective_menu(state, about)
        self.cost = pn.pane.HTML("", margin=(4, 10), min_width=300)
        self.drawing = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.translate = Translate(state, changed)
        self.body = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.upload.param.watch(self._check_uploaded, "value")
        self.version.param.watch(self._again, "value")
        state.param.watch(self._again, [*DATA, "results_id"])
        state.param.watch(self._draw, ["shown", "page", "scheme"])

    def __panel__(self) -> pn.viewable.Viewable:
        legends = pn.FlexBox(self.maps.legend, self.maps.methods, sizing_mode="stretch_width", align_items="start")
        self.drawing.objects = [self.maps, legends]
        self.body.objects = [
            self.table,
            self.faults,
            pn.FlexBox(self.collective, self.uses, self.cost, align_items="center", margin=0),
            self.drawing,
            self.translate,
            self.preview,
        ]
        entry = pn.Column(self.paste, self.button, sizing_mode="stretch_width", margin=0)
        bar = pn.FlexBox(self.upload, self.version, align_items="center", margin=(14, 0, 0, 0))
        return pn.Column(bar, entry, self.checking, self.message, self.body, sizing_mode="stretch_width")

    def give(self, name: str, content: bytes | str) -> None:
        """Check a file."""
        size = len(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            self._given = None
            self.checking.stop()
            most = format_bytes(MOST_BYTES)
            self._tell(f"{name}: {format_room(size)} are too much for a rules file; at most {most} are read", "error")
            return
        self._given = name, content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        self._again()

    def _check_uploaded(self, event: Any) -> None:
        if event.new is not None:
            self.give(str(self.upload.filename or "file"), event.new)

    def _check_pasted(self, *_: Any) -> None:
        if not self.paste.value:
            self._tell("Nothing has been pasted yet.", "info")
            return
        self.give(_PASTED, self.paste.value)

    def _again(self, *_: Any) -> None:
        if self._given is None:
            return
        name, text = self._given
        self.checking.start("Checking", check_job(self._state, name, text, self.version.value), self._take)

    def _take(self, checked: Checked | str) -> None:
        if isinstance(checked, str):
            self.checked = None
            self._tell(checked, "error")
            return
        self.checked = checked
        self.version.visible = checked.rules is None or checked.rules.format in _CLASSIC
        self._state.give(checked.key, checked.name)
        self._tell("", "info")
        lines = checked.text.split("\n")
        self.table.object = "" if checked.rules is None else exported.rules_table(checked.rules, checked.costs)
        self.faults.object = exported.faults_table(checked.faults, lines)
        self.preview.object = source.highlighted(
            checked.text, "json" if checked.text.lstrip().startswith("{") else "bash"
        )
        self.translate.take(checked.name, checked.text, checked.meant)
        self._draw()

    def _tell(self, text: str, severity: str) -> None:
        self.message.say(text, severity)
        self.body.visible = not text
        self._changed()

    def commands(self) -> list[list[str]]:
        """Words of the commands that check the file on show and translate it; none while there is no such."""
        checked = self.checked
        if checked is None or checked.rules is None or not self.body.visible:
            return []
        judged = not checked.rules.listings
        version = self.version.value if self.version.visible else None
        return [of_check(self._state, checked.name, version, judged=judged), *self.translate.commands()]

    @property
    def choice(self) -> Choice | None:
        """The rules as a way of deciding; None while nothing is checked."""
        if self.checked is None:
            return None
        options = {"file": self.checked.key, "read_by": self.version.value}
        return Choice.of(RULES, options)

    def _draw(self, *_: Any) -> None:
        state, choice = self._state, self.choice
        if choice is None or not state.on_show("Export"):
            return
        self.collective.visible = bool(self.collective.options)
        text = ""
        try:
            scene, penalties = Scene.of(state.view), state.view.penalty(choice)
            shown = state.view.penalty()
        except DecisionError as error:
            scene = penalties = shown = None
            text = str(error)
        there = scene is not None and penalties is not None
        self.drawing.visible, self.uses.visible = there, there
        if scene is not None and penalties is not None:
            first = penalties if shown is None else shown
            trees = (None if shown is None else state.view.decision(), state.view.decision(choice))
            self.maps.show(scene, (first, penalties), trees)
            statistics = state.view.statistics(choice)
            mean = None if statistics is None else statistics["penalty"]["mean"]
            cells = 0 if statistics is None else statistics["penalty"]["unmeasured"]
            rest = f"; not known at {format_count(cells, 'cell')} whose method was not measured there" if cells else ""
            text = "" if mean is None else f"{state.collective}: mean penalty {format_percent(mean)}{rest}."
        elif not text:
            text = "No results are loaded, so it is not known what the rules cost."
        self.cost.object = f"<p>{escape(text)}</p>" if text else ""

    def _adopt(self, *_: Any) -> None:
        if self.choice is not None:
            self._state.choose(self.choice)
            self._state.page = "Decisions"

    def _compare(self, *_: Any) -> None:
        if self.choice is not None:
            self._state.other = self.choice
            self._state.page = "Compare"


def check_job(state: State, name: str, text: str, version: str) -> Callable[[Progress | None], Checked | str]:
    """What checks a file over the measurements of a state; gives why where it cannot be read."""
    tree, digest = state.results, hashlib.sha256(text.encode()).hexdigest()[:16]
    key = f"{safe_name(name)[-_LONGEST_NAME:]}-{digest}"
    cubes: dict[str, xr.Dataset] = {}
    if tree is not None:
        cubes = {collective: state.view.judged(collective) for collective in tree.children}
    workload = state.view.treatment.workload

    def make(progress: Progress | None) -> Checked | str:
        """Read and check it."""
        if progress is not None:
            progress(0.0, name)
        try:
            rules = keep(key, name, text, version)
            meant = None if rules is None else read_file(text)
        except RulesError as error:
            return f"{name}: {error}"
        if rules is None:
            return Checked(key, name, text, None, None, (), ())
        weights = {} if workload is None else called(workload.calls, cubes)
        prices, more = costs(rules, cubes, version, weights)
        return Checked(key, name, text, rules, meant, (*rules.faults, *more), tuple(prices))

    return make
