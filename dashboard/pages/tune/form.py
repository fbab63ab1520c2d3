"""What a new tuning is asked for: the left column of the page *Tune*."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.allowed import processors
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.own_settings import allocated_nodes
from dashboard.domain.errors import OptionError
from dashboard.domain.jobs import SLURM
from dashboard.domain.tuning import OPTIONS, RULES
from dashboard.domain.units import format_count, format_duration
from dashboard.export import TARGETS
from dashboard.measuring.asked import check_ranks
from dashboard.measuring.kept import NAME_RULE, free_name
from dashboard.measuring.launching import Place
from dashboard.pages.measure.form import WIDTH
from dashboard.pages.measure.where import Where
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.options import OptionFields, titled, titles_of
from dashboard.pages.parts.widgets import Button, Message, TextInput
from dashboard.plots.tuning import plan_table
from dashboard.session.choice import write_options
from dashboard.tuning import Asked
from dashboard.tuning.look import plan_of, too_short

#: The ranks have a field of their own, beside where they run.
_FIRST, _APART = ("collectives", "budget"), ("ranks",)
_AROUND = "Start, safety check, proof and report come on top."
AGAIN = "Check again"
#: What the fields and buttons are called, by the options of the command.
TITLES: Mapping[str, str] = {**titles_of((*OPTIONS, *SLURM)), "--again": AGAIN}


@dataclass(frozen=True)
class Wanted:
    """What the fields hold: `fault` says why nothing can be started with it."""

    chosen: Mapping[str, Any]
    place: Place
    ranks: int
    name: str
    fault: str = ""


@dataclass(frozen=True)
class Offered:
    """What a tuning would be."""

    wanted: Wanted | None = None
    asked: Asked | None = None
    name: str = ""
    fault: str = ""
    summary: str = ""
    table: str = ""


class TuneForm(Viewer):
    """Options of a new tuning, as the command has them, and the button that starts it.

    Parameters
    ----------
    start
        Called when the button is pressed.
    """

    def __init__(self, changed: Callable[[], None], start: Callable[..., Any]) -> None:
        super().__init__()
        known = {option.name: option for option in OPTIONS if option.name not in _APART}
        names = tuple(name for name in TARGETS if name != "openmpi")
        known["target"] = replace(known["target"], choices=(RULES, *names))
        self.fields = OptionFields(known.values(), changed, WIDTH)
        self.where = Where(changed, limited=False)
        self.named = TextInput(
            label="Name", value="", description=f"Of its folder: {NAME_RULE}.", width=WIDTH, size="small"
        )
        self.named.param.watch(lambda _: changed(), "value")
        self.summary = pn.pane.HTML("", width=WIDTH - 20, margin=(4, 10))
        self.fault = Message(WIDTH)
        self.start = Button(label="Start", color="primary", variant="contained", on_click=start, disabled=True)
        self._suggested = ""

    def __panel__(self) -> pn.viewable.Viewable:
        fields = self.fields.widgets
        more = [widget for name, widget in fields.items() if name not in _FIRST]
        first = [fields[name] for name in _FIRST]
        last = [self.summary, self.fault, pn.Row(self.start, margin=0)]
        return pn.Column(
            *first, self.where, Fold("More settings", *more, self.named), *last, width=WIDTH + 20, margin=0
        )

    def wanted(self) -> Wanted:
        """What the fields hold now."""
        try:
            chosen, place, fault = self.fields.values(), self.where.place(), ""
        except (OptionError, ValueError) as error:
            chosen, place, fault = {}, Place(), str(error)
        return Wanted(chosen, place, self.where.number_of_ranks, self.named.value, fault)

    def written(self) -> str:
        """What is not usual of it, as it stands in an address."""
        return write_options({**self.fields.changed(), **self.where.changed()})

    def read(self, text: str) -> None:
        """Show what `written` wrote; OptionError where that cannot be."""
        self.fields.read(text)
        self.where.read(text)

    def words(self) -> list[str]:
        """The options as they are typed; of what is asked of Slurm that it is."""
        words = [] if self.where.here else ["--slurm", *self.wanted().place.words()]
        changed = self.fields.changed()
        for name, value in changed.items():
            words += self.fields.options[name].typed(value)
        return [*words, "--ranks", str(self.where.number_of_ranks)]

    def show(self, offered: Offered, *, may_start: bool) -> None:
        """Show what was worked out."""
        if self.named.value in ("", self._suggested) and offered.name:
            self._suggested = self.named.value = offered.name
        self.summary.object = offered.summary
        self.fault.say(titled(offered.fault, TITLES), "warning")
        self.start.disabled = not may_start or offered.asked is None or not self.where.possible


def offer(root: Path, wanted: Wanted, installation: Installation | None) -> Offered:
    """Work out what a tuning would be; touches no widget."""
    if installation is None:
        return Offered(wanted)
    chosen = {**wanted.chosen, "ranks": wanted.ranks}
    name = free_name(root, tuple(wanted.chosen.get("collectives", ())), wanted.ranks, "tune")
    if wanted.fault:
        return Offered(wanted, None, name, wanted.fault)
    try:
        request = wanted.place.request
        if request is None:
            check_ranks(wanted.ranks)
        slurm = request and request.record()
        asked = Asked.of({}, {**Asked.named(chosen), "slurm": slurm, "launch": "" if slurm else "here"})
        nodes = request.nodes_for(asked.ranks) if request else allocated_nodes()
        plan = plan_of(asked, installation, nodes=nodes or 1)
    except (BenchError, OptionError, ValueError) as error:
        return Offered(wanted, None, name, str(error))
    methods = sum(map(len, plan.methods.values()))
    library = installation.library
    counts = [format_count(methods, "method"), format_count(len(plan.methods), "collective")]
    grid = format_count(len(plan.cells()), "size")
    lines = [
        f"{escape(library.name)} {escape(library.version)}: {' of '.join(counts)}, {grid} to choose from.",
        f"{format_duration(asked.seconds)} of measuring at most. {_AROUND}",
        *(f"Budget {why}." for why in [too_short(asked, plan, None if slurm else processors())] if why),
    ]
    summary = "".join(f"<p style='margin: 2px 0'>{line}</p>" for line in lines)
    algorithms = {collective: [method.algorithm for method in each] for collective, each in plan.methods.items()}
    planned = plan_table(algorithms, plan.comm_sizes, plan.message_sizes)
    return Offered(wanted, asked, name, "", summary, planned)
