"""What is measured and how: the left column of the page *Measure*."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.campaigns.plan import DATATYPES, FIRST, SUM
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, LIBRARY, Variants
from dashboard.benchmarks.providers import offered as offered_by
from dashboard.domain.adaptive import ADAPTIVE, OPTIONS
from dashboard.measuring.asked import Asked
from dashboard.pages.measure.help import WHAT, describe
from dashboard.pages.parts.fields import Fields
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.options import OptionFields, value_of
from dashboard.pages.parts.widgets import FloatInput, IntInput, MultiChoice, Select, Switch, TextInput
from dashboard.session.choice import read_values
from loaders.collectives import COLLECTIVES, REDUCING, ROOTED

WIDTH = 420
HALF = WIDTH // 2 - 10
_PROTOCOLS = {
    "SKaMPI-like: common start, latest end": "skampi",
    "OCC-like: loop with barrier, less the barrier": "occ",
}
_PROVIDERS = {"the library": "library", "own methods": "own"}
_OPERATIONS = {"a sum": SUM, "the first operand": FIRST}
_BUFFERS = {"kept in the caches": "reuse", "rotated beyond them": "rotate"}
_COUNTS = {"all equal": "equal", "in proportion to the rank": "skewed"}
_COMPONENTS = {"across nodes": "", "always": "all", "never": "none"}
_ROOTS = {"the first process": "first", "every process in turn": "rotate"}


class Form(Viewer):
    """Fields that say what is measured and how.

    Parameters
    ----------
    changed
        Called when a field has changed.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed = changed
        self._installation: Installation | None = None
        asked = Asked()
        self.fields: dict[str, Any] = {**_what(asked), **_how(asked)}
        describe(self.fields, WHAT)
        self.kept = Fields(self.fields, self._take, ("algorithms",))
        self.goal = OptionFields(OPTIONS, self._take, HALF)
        self._ends = _pair(*(self.goal.widgets[option.name] for option in OPTIONS[1:]))
        self.offered = pn.pane.HTML("", width=WIDTH - 30, margin=(0, 10, 6, 10))
        self._refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        fields = self.fields
        more = [fields[name] for name in _MORE]
        return pn.Column(
            fields["collectives"],
            fields["providers"],
            fields["algorithms"],
            self.offered,
            fields["message_sizes"],
            fields["comm_sizes"],
            self.goal.widgets[ADAPTIVE.name],
            self._ends,
            fields["protocol"],
            _pair(fields["repetitions"], fields["relative_error"]),
            Fold("More settings", *_pairs(more)),
            width=WIDTH + 20,
            margin=0,
        )

    def asked(self, ranks: int, *, spread: bool = False) -> Asked:
        """Give what the fields hold, where the ranks are on several nodes or not."""
        values = {name: field.value for name, field in self.fields.items()}
        values["components"] = values["components"] or ("all" if spread else "")
        for name in ("collectives", "algorithms", "providers"):
            values[name] = tuple(values[name])
        values["datatype"] = ",".join(values["datatype"]) or Asked.datatype
        if self.adaptive:
            # What does not fit is said by who reads it, as of all fields.
            values |= {name: value_of(widget) for name, widget in self.goal.widgets.items()}
        return Asked(ranks=ranks, **values)

    @property
    def adaptive(self) -> bool:
        """Whether the campaign is to choose its points itself."""
        return bool(self.goal.widgets[ADAPTIVE.name].value)

    def changed(self) -> dict[str, Any]:
        """What is not usual of it, as it stands in an address."""
        return {**self.kept.changed(), **self.goal.changed()}

    def show(self, text: str) -> None:
        """Show what an address says of it; OptionError where that cannot be."""
        self.goal.show(read_values(OPTIONS, text))
        self.kept.show(text)
        self._refresh()

    def offer(self, installation: Installation | None) -> None:
        """Offer the methods of an installed library; None: there is none."""
        self._installation = installation
        self._refresh()

    def _take(self) -> None:
        self._refresh()
        self._changed()

    def _refresh(self) -> None:
        """Follow the collectives: which algorithms there are, which fields mean something."""
        fields, chosen = self.fields, tuple(self.fields["collectives"].value)
        methods = _methods(self._installation, chosen, tuple(fields["providers"].value))
        names = list(dict.fromkeys(each for offered in methods.values() for each, _ in offered))
        self._ends.visible = self.adaptive
        with self.kept.filling():
            if self._installation is not None:
                kept = [name for name in fields["algorithms"].value if name in names]
                fields["algorithms"].param.update(options=names, value=kept)
            skampi = fields["protocol"].value == "skampi"
            fields["iterations"].disabled = skampi
            fields["roots"].disabled = not set(chosen) & set(ROOTED)
            fields["operation"].disabled = fields["datatype"].disabled = not set(chosen) & set(REDUCING)
            fields["counts"].disabled = not any(name.endswith("v") for name in chosen)
        self.offered.object = _offered(self._installation, methods)


def _methods(
    installation: Installation | None, chosen: tuple[str, ...], providers: tuple[str, ...]
) -> dict[str, list[tuple[str, bool]]]:
    """Algorithms of each collective by those who offer them, and whether they cut messages into segments."""
    if installation is None:
        return {}
    choices = {}
    for collective in chosen:
        variants = Variants(segment_sizes=(0, 1024))
        methods = offered_by(providers or (LIBRARY,), installation.library, collective, variants)
        cut = {method.algorithm for method in methods if method.segment_size}
        choices[collective] = [(name, name in cut) for name in dict.fromkeys(method.algorithm for method in methods)]
    return choices


def _offered(installation: Installation | None, methods: Mapping[str, list[tuple[str, bool]]]) -> str:
    if installation is None:
        return ""
    library = installation.library
    library_name = f"{escape(library.name)} {escape(library.version)}"
    if not methods:
        return f"<small>{library_name}</small>"
    rows = "".join(
        f"<dt>{escape(collective)}</dt><dd>"
        + ", ".join(escape(name) + (" (segments)" if cut else "") for name, cut in offered)
        + "</dd>"
        for collective, offered in methods.items()
    )
    counts = sum(len([1 for name, _ in offered if name != DEFAULT]) for offered in methods.values())
    return (
        f"<details><summary><small>{library_name}: {counts} algorithms of {len(methods)} "
        f"collective{'' if len(methods) == 1 else 's'}, and its own decision</small></summary>"
        f'<dl style="font-size: 12px; margin: 4px 0">{rows}</dl></details>'
    )


def _what(asked: Asked) -> dict[str, Any]:
    return {
        "collectives": MultiChoice(
            label="Collectives", options=list(COLLECTIVES), value=list(asked.collectives), width=WIDTH
        ),
        "providers": MultiChoice(label="Methods of", options=_PROVIDERS, value=list(asked.providers), width=WIDTH),
        "algorithms": MultiChoice(label="Algorithms (none chosen: all)", options=[], value=[], width=WIDTH),
        "message_sizes": TextInput(label="Message sizes", value=asked.message_sizes, width=WIDTH, size="small"),
        "comm_sizes": TextInput(label="Communicator sizes", value=asked.comm_sizes, width=WIDTH, size="small"),
    }


def _how(asked: Asked) -> dict[str, Any]:
    half = {"width": HALF, "size": "small"}
    return {
        "protocol": Select(label="Protocol", options=_PROTOCOLS, value=asked.protocol, width=WIDTH, size="small"),
        "repetitions": TextInput(label="Repetitions, least-most", value=asked.repetitions, **half),
        "relative_error": _number("Until standard error ≤ %", asked.relative_error, 0.1, 50.0, 0.5),
        "segment_sizes": TextInput(label="Segment sizes", value=asked.segment_sizes, **half),
        "fan_outs": TextInput(label="Fan-outs of chains", value=asked.fan_outs, **half),
        "radixes": TextInput(label="Radixes of k-nomial trees", value=asked.radixes, **half),
        "components": Select(label="Parts of the library", options=_COMPONENTS, value=asked.components, **half),
        "ppns": TextInput(label="Processes per node", value=asked.ppns, placeholder="as placed", **half),
        "launches": IntInput(label="Launches of the ranks", value=asked.launches, start=1, end=100, **half),
        "rounds": IntInput(label="Turns of the methods", value=asked.rounds, start=1, end=1000, **half),
        "iterations": IntInput(label="Operations in a loop (OCC)", value=asked.iterations, start=1, end=10_000, **half),
        "point_seconds": _number("Longest time of a point, s", asked.point_seconds, 0.01, 3600.0, 1.0),
        "memory": TextInput(label="Most bytes of buffers", value=asked.memory, **half),
        "buffers": Select(label="Buffers", options=_BUFFERS, value=asked.buffers, **half),
        "roots": Select(label="Root", options=_ROOTS, value=asked.roots, **half),
        "counts": Select(label="Blocks of …v collectives", options=_COUNTS, value=asked.counts, **half),
        "datatype": MultiChoice(
            label="Elements of reductions", options=list(DATATYPES), value=asked.datatype.split(","), width=HALF
        ),
        "operation": Select(label="Operation of reductions", options=_OPERATIONS, value=asked.operation, **half),
        "graphs": Switch(label="Record who sends to whom", value=asked.graphs, margin=(18, 10)),
    }


_MORE = ("segment_sizes", "fan_outs", "radixes", "ppns", "rounds", "launches", "iterations", "point_seconds", "memory")
_MORE += ("components", "buffers", "roots", "datatype", "operation", "counts", "graphs")


def _number(label: str, value: float, start: float, end: float, step: float) -> Any:
    return FloatInput(label=label, value=value, start=start, end=end, step=step, width=HALF, size="small")


def _pair(*fields: Any) -> pn.Row:
    return pn.Row(*fields, margin=0, width=WIDTH + 20)


def _pairs(fields: list[Any]) -> Iterator[pn.Row]:
    for at in range(0, len(fields), 2):
        yield _pair(*fields[at : at + 2])
