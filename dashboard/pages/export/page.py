"""Page *Export*: the decision as a file that a library obeys, and files of others checked."""

import json
from functools import partial
from typing import Any

import panel as pn

from dashboard.decisions import DecisionError
from dashboard.domain.written import MOST_RULES, VERSION
from dashboard.export import TARGETS
from dashboard.export.library_names import measured_series
from dashboard.export.targets.mpich.base import kept, known
from dashboard.export.writing import Written
from dashboard.pages.export.check import CheckRules
from dashboard.pages.export.gain import Gain
from dashboard.pages.export.order import Made, collectives_of, order_job, order_key
from dashboard.pages.export.proof import ProveFile
from dashboard.pages.export.written import MANY_RULES, WrittenFile
from dashboard.pages.frame.report import Report
from dashboard.pages.parts.fold import outline, tabs
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.pages.parts.menus import mpich_menu, ppn_menu
from dashboard.pages.parts.options import common
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import IntInput, Message, MultiChoice, Select, Tabs, clamped
from dashboard.session.recipes import of_file, said
from dashboard.session.state import DATA, TREE, ResultsOrState
from loaders.openmpi import DEFAULT_VERSION

PAGE = "Export"
_VERSIONED = ("4.1", "5.0")
_REPLACED = (
    "Methods that the target lacks are replaced; the cost is shown below. To decide among those it has, leave the "
    "others out on the page Decisions (Methods left out)."
)


class ExportPage(Page):
    """Writes decisions for libraries and programs, and checks rules files.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too.
        What is written is the tree of the page *Decisions*, for each collective that is chosen.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        state = self.state
        self._asked: Any = None
        self._made: Written | None = None
        titles = {target.title: name for name, target in TARGETS.items()}
        self.target = Select(
            label="Target",
            options=titles,
            value=state.target,
            width=400,
            description="The library that is to obey the decision, or the language of the source. What a target "
            "cannot express is listed with its cost.",
        )
        self.version = Select(options=list(_VERSIONED), width=160, **common(VERSION))
        limits = {"start": 0, "end": state.param.most_rules.bounds[1]}
        self.most = IntInput(value=state.most_rules, **limits, width=230, **common(MOST_RULES))
        self.most.label += f", 0: {MOST_RULES.unlimited}"
        self.collectives = MultiChoice(
            label="Collectives in the file",
            options=[],
            placeholder="the one shown",
            width=380,
            description="Each is decided by the tree of the page Decisions, as its options are set there; a tree for "
            "several of them is written for these.",
        )
        self.ppn = ppn_menu(state)
        self.base = mpich_menu(state)
        self.writing = Background(again=self._write)
        self.message = Message()
        self.file = WrittenFile(state)
        self.body = pn.Column(self.file, sizing_mode="stretch_width", margin=0, visible=False)
        self.outline = outline()
        # What was cancelled or failed is not waited for.
        self.writing.bar.param.watch(self._show_outline, "visible")
        self.check = CheckRules(state, self._say)
        self.report = Report(state)
        self.prove, self.gain = ProveFile(lambda: self.file.written if self.body.visible else None), Gain(state)
        self.file.further = self.prove.further
        self.tabs = self._tabs()
        self._link()
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.tabs

    def _tabs(self) -> Tabs:
        choices = [self.target, self.version, self.most, self.collectives, self.ppn, self.base]
        bar = pn.FlexBox(*choices, align_items="center", sizing_mode="stretch_width", margin=(14, 0, 0, 0))
        write = pn.Column(bar, self.writing, self.message, self.outline, self.body, sizing_mode="stretch_width")
        against = pn.Column(self.prove, self.gain, sizing_mode="stretch_width", margin=0)
        return tabs(self.state, "Export", (write, self.check, against, self.report))

    def _link(self) -> None:
        state = self.state
        self.target.link(state, value="target", bidirectional=True)
        self.most.param.watch(lambda _: state.param.update(most_rules=clamped(self.most)), "value")
        self.base.param.watch(self._follow, "value")
        self.version.param.watch(self._set_version, "value")
        self.collectives.param.watch(self._set_collectives, "value")
        chosen = ["target", "version", "most_rules", "exported"]
        state.param.watch(self._follow, [*DATA, *TREE, "rules", *chosen, "page"])
        self.tabs.param.watch(self._say, "active")
        report = self.report
        for field in (self.prove.ranks, report.collectives, report.frontier, report.held_out, report.models):
            field.param.watch(self._say, "value")
        report.download.param.watch(self._say, "visible")

    def _set_version(self, event: Any) -> None:
        if event.new is not None:
            self.state.version = event.new

    def _set_collectives(self, event: Any) -> None:
        if not self.state.together:
            alone = [self.state.collective]
            self.state.exported = () if list(event.new) == alone else tuple(event.new)

    def _refresh(self) -> None:
        state, options = self.state, TARGETS[self.state.target].options
        cubes = [cube for name in collectives_of(state) if (cube := state.view.measured(name)) is not None]
        known = measured_series(cube.attrs for cube in cubes)
        by_itself = f"{known} (measured)" if known else f"{DEFAULT_VERSION} (usual)"
        versions = {by_itself: ""} | {version: version for version in (*_VERSIONED, state.version) if version}
        self.version.param.update(options=versions, value=state.version, visible="version" in options)
        self.most.param.update(value=state.most_rules, visible="most_rules" in options)
        names = [name for name in state.param.collective.objects if name is not None]
        # A tree for several of them is written as a whole, as its command does.
        alone = bool(names) and not state.together
        self.collectives.param.update(options=names, value=list(collectives_of(state)), disabled=not alone)
        self.base.visible = "base" in options

    def _follow(self, *_: Any) -> None:
        self._refresh()
        if self.state.on_show(PAGE):
            self._write()
            self._say()

    def _base(self) -> str | None:
        if "base" not in TARGETS[self.state.target].options:
            return None
        results = self.state.results
        files = [] if results is None else json.loads(results.attrs.get("sources", "[]"))
        return known(self.base.value) or kept([each["path"] for each in files if each.get("path")])

    def _write(self) -> None:
        state = self.state
        if state.collective is None or state.results is None:
            self._forget()
            self._tell(NO_RESULTS, "info", empty=True, linked=True)
            return
        try:
            key = order_key(state, self._base())
            if self._asked == key:
                return
            work = order_job(state, self._base())
        except DecisionError as error:
            self._forget()
            self._tell(str(error), "error", empty=True)
            return
        self._asked = self._made = None
        self._say()
        self.writing.start("Writing", work, partial(self._take, key))
        if self.writing.running:
            self.outline.visible = not self.body.visible

    def _show_outline(self, event: Any) -> None:
        self.outline.visible = event.new and not self.body.visible

    def _forget(self) -> None:
        # What was written before is no longer on show, and is to be shown again when it is asked for again.
        self._asked = self._made = None
        self.writing.stop()

    def _take(self, key: Any, made: Made) -> None:
        self._asked = key
        if isinstance(made, str):
            lacking = self._base() is None and "base" in TARGETS[self.state.target].options
            self._tell(made, "info" if lacking else "error", empty=True)
            return
        self.file.show(made)
        self._made = made
        losses = [f"{name} is left out: {why}" for name, why in made.left_out.items()]
        if any(part.replaced and part.loss for part in made.parts):
            losses.append(_REPLACED)
        if self.file.rules > MANY_RULES:
            losses.append(
                f"The file has up to {self.file.rules:,} rules for a collective; limit them, or take a smaller tree."
            )
        self._tell("\n".join(losses), "warning", empty=False)
        self._say()

    def _say(self, *_: Any) -> None:
        """Say the figures of the tab on show as commands and as Python."""
        recipes = {page: recipe for page, recipe in self.state.recipes.items() if page != PAGE}
        commands = (self._written, self.check.commands, self._proven, self.report.commands)[self.tabs.active]()
        if commands:
            recipes[PAGE] = said(commands)
        if recipes != self.state.recipes:
            self.state.recipes = recipes

    def _written(self) -> list[list[str]]:
        """Words of the command that writes the file on show; none while there is no such."""
        if self._made is None:
            return []
        loss = max((part.loss for part in self._made.parts), default=0.0)
        return [of_file(self.state, self._made.collectives, loss)]

    def _proven(self) -> list[list[str]]:
        """Words of the commands that write the file on show and prove it, as far as it can be proven."""
        writing, proving = self._written(), self.prove.commands()
        if self._made is None or not proving:
            return writing
        return [*([*words, "-o", self._made.name] for words in writing), *proving]

    def _tell(self, text: str, severity: str, *, empty: bool, linked: bool = False) -> None:
        self.message.say(text, severity, linked=linked)
        self.body.visible, self.outline.visible = not empty, False
        self.prove.follow()
