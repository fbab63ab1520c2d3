"""What is measured and how: the left column of the page *Measure*."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Variants
from dashboard.benchmarks.providers import offered as offered_by
from dashboard.domain.adaptive import ADAPTIVE, BUDGET, UNTIL
from dashboard.domain.campaign import ALL, GRID, GRIDS, OPTIONS, ORTHOGONAL
from dashboard.domain.jobs import RANKS, SLURM
from dashboard.domain.units import format_count
from dashboard.measuring.asked import Asked, providers_of
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.options import OptionFields, titles_of
from loaders.collectives import COLLECTIVES, REDUCING, ROOTED

WIDTH = 420
HALF = WIDTH // 2 - 10
_METHODS, _SIZES = ("collectives", "providers", "algorithms"), ("message_sizes", "comm_sizes")
_FIRST, _EXACT = (*_METHODS, *_SIZES), ("repetitions", "relative_error")
_ENDS = (BUDGET.name, UNTIL.name)
#: What the fields are called, by the options of the command.
TITLES: Mapping[str, str] = titles_of((*OPTIONS, *SLURM))
#: What is otherwise here: a form opens with one collective; of the parts of the library all or none is asked for.
_HERE: Mapping[str, Mapping[str, Any]] = {
    "collectives": {"default": ("bcast",)},
    "algorithms": {"title": "algorithms (none chosen: all)"},
    "components": {"choices": ("", "all", "none"), "titles": ("across nodes", "always", "never")},
}
#: The ranks have a field beside where they run.
_OFFERED = tuple(
    replace(
        option, **_HERE.get(option.name, {}), help=f"{option.help} {GRIDS}." if option.metavar == GRID else option.help
    )
    for option in OPTIONS
    if option is not RANKS
)


class Form(Viewer):
    """Fields that say what is measured and how."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed = changed
        self._installation: Installation | None = None
        self.fields = OptionFields(_OFFERED, self._take, HALF, typed=True)
        self.widgets = self.fields.widgets
        for name in (*_FIRST, "protocol"):
            self.widgets[name].width = WIDTH
        self._ends = _pair(*(self.widgets[name] for name in _ENDS))
        self.offered = pn.pane.HTML("", width=WIDTH - 30, margin=(0, 10, 6, 10))
        self._refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        field = self.widgets
        above = (*_FIRST, ADAPTIVE.name, *_ENDS, "protocol", *_EXACT)
        return pn.Column(
            *(field[name] for name in _METHODS),
            self.offered,
            *(field[name] for name in _SIZES),
            field[ADAPTIVE.name],
            self._ends,
            field["protocol"],
            _pair(*(field[name] for name in _EXACT)),
            Fold("More settings", *_pairs([name for name in field if name not in above], self.fields)),
            width=WIDTH + 20,
            margin=0,
        )

    def asked(self, ranks: int, *, spread: bool = False) -> Asked:
        """Give what the fields hold, where the ranks are on several nodes or not."""
        values = self.fields.typed()
        values["components"] = values["components"] or ("all" if spread else None)
        if not self.adaptive:
            # What was typed is kept for when it is switched on again.
            values = {name: value for name, value in values.items() if name not in _ENDS}
        return Asked.of(ranks=ranks, **values)

    @property
    def adaptive(self) -> bool:
        """Whether the campaign is to choose its points itself."""
        return bool(self.widgets[ADAPTIVE.name].value)

    def read(self, text: str) -> None:
        """Show what an address says of it; OptionError where that cannot be."""
        self.fields.read(text)
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
        field, chosen = self.widgets, tuple(self.widgets["collectives"].value or COLLECTIVES)
        methods = _methods(self._installation, chosen, providers_of(field["providers"].value))
        names = list(dict.fromkeys(each for offered in methods.values() for each, _ in offered))
        self._ends.visible = self.adaptive
        with self.fields.filling():
            if self._installation is not None:
                kept = [name for name in field["algorithms"].value if name in names]
                field["algorithms"].param.update(options=names, value=kept)
        field["iterations"].disabled = field["protocol"].value == "skampi"
        field["roots"].disabled = not set(chosen) & set(ROOTED)
        field["operation"].disabled = field["datatype"].disabled = not set(chosen) & set(REDUCING)
        field["counts"].disabled = not any(name.endswith("v") for name in chosen)
        field["grids"].disabled = field["inner"].disabled = not {ORTHOGONAL, ALL} & set(field["providers"].value)
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
        methods = offered_by(providers, installation.library, collective, variants)
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
    counts = sum(name != DEFAULT for offered in methods.values() for name, _ in offered)
    return (
        f"<details><summary><small>{library_name}: {format_count(counts, 'algorithm')} of "
        f"{format_count(len(methods), 'collective')}, and its own decision</small></summary>"
        f'<dl style="font-size: 12px; margin: 4px 0">{rows}</dl></details>'
    )


def _pair(*fields: Any) -> pn.Row:
    return pn.Row(*fields, margin=0, width=WIDTH + 20)


def _pairs(names: list[str], fields: OptionFields) -> Iterator[pn.Row]:
    """Fields side by side, and below them what is switched on."""
    switches = [name for name in names if fields.options[name].kind == "flag"]
    others = [fields.widgets[name] for name in names if name not in switches]
    for at in range(0, len(others), 2):
        yield _pair(*others[at : at + 2])
    yield from (_pair(fields.widgets[name]) for name in switches)
