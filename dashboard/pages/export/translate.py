"""Rules of one library as rules of another, on the page *Export*."""

from collections.abc import Callable
from typing import Any

import panel as pn

from dashboard.decisions.grown.family import Progress
from dashboard.domain.written import BASE, BLOCKS, SECTION, VERSION
from dashboard.export import TARGETS
from dashboard.export.rules import RulesFile
from dashboard.export.rules.over import by_blocks, fitted
from dashboard.export.substitute import has_substitutes
from dashboard.export.target import ExportError
from dashboard.export.targets.mpich.base import known
from dashboard.export.translation import Taken, base_of, lacking, of_section, sections_of, taken
from dashboard.export.writing import Order, Written, write
from dashboard.pages.export.written import Downloads
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.menus import mpich_menu, mpich_versions
from dashboard.pages.parts.options import common, widget_of
from dashboard.pages.parts.widgets import Button, Message, Select
from dashboard.session.recipes import of_substituting
from dashboard.session.state import State
from loaders.openmpi import DEFAULT_VERSION

#: Reasons that are told; a complete file of MPICH has forty collectives.
_TOLD = 6
#: Of a translation that is written whatever it costs, as on the page.
_ANY_LOSS = "1000000"
_FIRST = {"the first that can be expressed": ""}


class Translate(Downloads):
    """Writes a rules file that was checked for another target, as it is meant.

    Parameters
    ----------
    state
        Results, for substitutes and penalties.
    changed
        Called when another command gives its figures.
    """

    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        super().__init__(state)
        self._given: tuple[str, str, RulesFile] | None = None
        titles = {target.title: name for name, target in TARGETS.items()}
        self.target = Select(
            label="Translate for",
            options=titles,
            value="openmpi",
            width=400,
            description="The library or language that the checked file is translated to. Methods that the target "
            "lacks are replaced, with a note.",
        )
        self.section = Select(options=_FIRST, value="", width=400, **common(SECTION))
        self.version = Select(options=["4.1", "5.0"], value=DEFAULT_VERSION, width=120, **common(VERSION))
        self.blocks = widget_of(BLOCKS, value=False)
        self.base = mpich_menu(state)
        self.button = Button(label="Translate", variant="outlined", on_click=self._translate)
        self.working = Background(again=self._translate)
        self.message = Message()
        self.result = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.bar = pn.FlexBox(align_items="center", sizing_mode="stretch_width", margin=0)
        self.line = pn.Column(sizing_mode="stretch_width", margin=(14, 0, 0, 0), visible=False)
        self.result.param.watch(lambda _: changed(), "visible")
        for choice in (self.target, self.section, self.version, self.blocks, self.base):
            choice.param.watch(self._offer, "value")
        self._offer()

    def __panel__(self) -> pn.viewable.Viewable:
        self.result.objects = [pn.Row(self.file, self.bundle), self.costs, self.notes, self.preview]
        self.bar.objects = [self.target, self.section, self.version, self.blocks, self.base, self.button]
        self.line.objects = [self.bar, self.working, self.message, self.result]
        return self.line

    def take(self, name: str, text: str, rules: RulesFile | None) -> None:
        """Take a file that was checked, with what was read of it; None of what is no rules file of a library."""
        reason = "" if rules is None else lacking(rules)
        self._given = None if rules is None or reason else (name, text, rules)
        self.line.visible, self.bar.visible = rules is not None, self._given is not None
        sections = [] if rules is None else sections_of(rules.meant)
        self.section.param.update(
            options={**_FIRST, **dict(zip(sections, sections, strict=True))}, value="", visible=bool(sections)
        )
        self._offer()
        if reason:
            self.message.say(f"{name}: {reason}")

    def commands(self) -> list[list[str]]:
        """Words of the command that translates as is shown; none while nothing is."""
        if self._given is None or not self.result.visible:
            return []
        words = ["--to", self.target.value]
        chosen = {VERSION: self.version, SECTION: self.section, BLOCKS: self.blocks, BASE: self.base}
        for option, widget in chosen.items():
            words += option.typed(widget.value) if widget.visible and widget.value else []
        parts = () if self.written is None else self.written.parts
        if not any(part.replaced for part in parts):
            return [["translate", self._given[0], *words]]
        # The command that translates knows no measurements, and the one that does no sections and no blocks.
        names = [part.source.collective for part in parts]
        if self.section.value or self.blocks.value or not set(names) <= set(self._state.view.collectives):
            return []
        return [of_substituting(self._state, self._given[0], names, [*words, "--allow-loss", _ANY_LOSS])]

    def _offer(self, *_: Any) -> None:
        target = TARGETS[self.target.value]
        self.version.visible, self.base.visible = "version" in target.options, "base" in target.options
        name, text, rules = self._given or ("", "", None)
        own = rules is not None and base_of(target, rules, text) is not None
        self.base.options = mpich_versions(f"{name} itself") if own else mpich_versions()
        self._forget()

    def _forget(self) -> None:
        # What comes of another file, or of other choices, is not shown under these.
        self.working.stop()
        self.result.visible = self.message.visible = False

    def _translate(self, *_: Any) -> None:
        if self._given is None:
            return
        name, text, rules = self._given
        base = known(self.base.value) or base_of(TARGETS[self.target.value], rules, text)
        options = {"target": self.target.value, "version": self.version.value, "base": base}
        work = translate_job(
            self._state, name, rules, section=self.section.value, as_blocks=self.blocks.value, **options
        )
        self.working.start("Translating", work, self._take)

    def _take(self, made: tuple[Written, Taken] | str) -> None:
        if isinstance(made, str):
            self.result.visible = False
            self.message.say(made, "error")
            return
        written, kept = made
        self.show(written)
        self.result.visible = True
        left = [f"Left out: {line}" for line in kept.left_out("Section", most=_TOLD)]
        left += [f"{name} is left out: {why}" for name, why in written.left_out.items()]
        self.message.say("\n".join(left), "warning")


def translate_job(
    state: State, name: str, rules: RulesFile, *, section: str, as_blocks: bool, target: str, **options: Any
) -> Callable[[Progress | None], tuple[Written, Taken] | str]:
    """What writes rules, as they are meant, for another target; gives why where nothing of them can be said."""
    chosen = of_section(rules.meant, section)
    if as_blocks:
        chosen = {each: by_blocks(decision) for each, decision in chosen.items()}
    there = () if state.results is None else state.results.children
    collectives = dict.fromkeys(decision.collective for decision in chosen.values())
    judged = {collective: state.view.judged(collective) for collective in collectives if collective in there}
    known = {option: value for option, value in options.items() if option in TARGETS[target].options and value}

    def make(progress: Progress | None) -> tuple[Written, Taken] | str:
        """Fit the rules to the measurements and write them."""
        if progress is not None:
            progress(0.0, name)
        flat = {
            collective: cube
            for collective, cube in judged.items()
            if cube is not None and has_substitutes(TARGETS[target], cube, known)
        }
        try:
            kept = taken(chosen, lambda decision: TARGETS[target].write([decision], None, **known), flat)
            meant = tuple(
                fitted(decision, flat[collective], options["version"]) if collective in flat else decision
                for collective, decision in kept.decisions.items()
            )
            order = Order(target, meant, flat, provenance={"translated_from": name}, **options)
            return write(order), kept
        except ExportError as error:
            return "\n".join(str(error).split("\n")[:_TOLD])

    return make
