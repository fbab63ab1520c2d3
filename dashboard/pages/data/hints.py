"""The form for what files do not say of themselves."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import panel as pn
import param
from panel.viewable import Viewer

from dashboard.pages.data.facets import FacetChooser
from dashboard.pages.parts.reports import pattern_preview
from dashboard.pages.parts.widgets import Select, TextInput
from dashboard.session.reading import BY_NAME, SCHEDULER, STATISTIC
from loaders import FORMATS, LoadError
from loaders.hints import OWN_PATTERN, Hints

BY_CONTENT = "by content"
#: What is typed, with examples.
_EXAMPLES = {
    "collective": "bcast",
    "algorithm": "binomial",
    "segment_size": "8KiB; 0 = none",
    "comm_size": "64",
    "message_size": "1024",
    "ppn": "4",
    "system": "name of the machine",
    "library": "Open MPI",
    "library_version": "5.0.6",
    "numbers": "openmpi-5.0",
}


class HintForm(Viewer):
    """Asks for hints, and shows what a pattern makes of the file names while it is typed.

    Parameters
    ----------
    hints
        To begin with.
    """

    names = param.List(default=[], item_type=str, doc="Names of the files that the hints are for.")
    changed = param.Event(doc="Another hint is given.")

    def __init__(self, hints: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = {name: str(value) for name, value in (hints or {}).items()}
        about = {
            name: {"label": each.title.capitalize(), "description": each.help, "sizing_mode": "stretch_width"}
            for name, each in BY_NAME.items()
        }
        self.pattern = TextInput(value=given.get("pattern", ""), placeholder=OWN_PATTERN, **about["pattern"])
        self.fields = {
            name: TextInput(value=given.get(name, ""), placeholder=example, **about[name])
            for name, example in _EXAMPLES.items()
        }
        self.facets = FacetChooser(hints)
        # Said by who starts the server: what a scheduler sends is trusted.
        self._scheduler = given.get(SCHEDULER.name, "")
        formats = {BY_CONTENT: "", **{each.title: name for name, each in FORMATS.items()}}
        self.format = Select(
            label="Format",
            options=formats,
            value=given.get("format", ""),
            sizing_mode="stretch_width",
            description="Which benchmark wrote the files. By content: each file is looked into, which is right unless "
            "two formats look the same.",
        )
        statistics = {STATISTIC.unlimited: "", **dict(zip(STATISTIC.titles, STATISTIC.choices, strict=True))}
        self.statistic = Select(options=statistics, value=given.get("statistic", ""), **about["statistic"])
        self.preview = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 10))
        self.pattern.param.watch(self._show_preview, "value_input")
        self.pattern.param.watch(self._show_preview, "value")
        self.param.watch(self._show_preview, "names")
        for box in (self.pattern, *self.fields.values(), self.format, self.statistic):
            box.param.watch(self._tell, "value")
        self.facets.param.watch(self._tell, "changed")
        self._show_preview()

    def __panel__(self) -> pn.viewable.Viewable:
        boxes = list(self.fields.values())
        pairs = [*(boxes[at : at + 2] for at in range(0, len(boxes), 2)), (self.format, self.statistic)]
        rows = [pn.Row(*pair, sizing_mode="stretch_width", margin=0) for pair in pairs]
        return pn.Column(self.pattern, self.preview, *rows, self.facets, sizing_mode="stretch_width", margin=0)

    def values(self) -> dict[str, str]:
        """Hints as for `loaders.open_results`; what is left empty is not among them."""
        values = {
            "pattern": self.pattern.value_input or self.pattern.value,
            **{name: box.value_input or box.value for name, box in self.fields.items()},
            "format": self.format.value,
            "statistic": self.statistic.value,
            **self.facets.values(),
            SCHEDULER.name: self._scheduler,
        }
        return {name: value.strip() for name, value in values.items() if value and value.strip()}

    def check(self) -> str:
        """What is wrong with the hints; empty: nothing."""
        values = self.values()
        values.pop("format", None)
        try:
            Hints(values)
        except LoadError as error:
            return str(error)
        return ""

    def ask(self, needed: Mapping[str, int]) -> None:
        """Mark the fields that files need.

        Parameters
        ----------
        needed
            Names of hints, with the number of files that need them.
        """
        for name, box in self.fields.items():
            count = needed.get(name, 0)
            files = "1 file does" if count == 1 else f"{count:,} files do"
            box.param.update(error_state=bool(count), helper_text=f"{files} not say it" if count else "")

    def suggest(self, pattern: str | None) -> None:
        """Say which pattern would fit the files; None: nothing that is lacking stands in their names."""
        self.pattern.helper_text = f"fits these names: {pattern}" if pattern else ""

    def _tell(self, *events: param.parameterized.Event) -> None:
        self.param.trigger("changed")

    def _show_preview(self, *events: param.parameterized.Event) -> None:
        pattern = self.pattern.value_input or self.pattern.value
        if not pattern:
            self.preview.object = (
                "<small>In braces: what a part of the name stands for. <code>*</code> stands for anything.</small>"
            )
            return
        shown, matching, error = pattern_preview(pattern, self.names)
        self.preview.object = _preview_html(shown, matching, len(self.names), error)


def _preview_html(shown: Sequence[tuple[str, str]], matching: int, names: int, error: str) -> str:
    if error:
        return f'<small role="alert">{escape(error)}</small>'
    rows = "".join(f"<tr><td><code>{escape(name)}</code></td><td>{escape(value)}</td></tr>" for name, value in shown)
    count = f"{matching:,} of {names:,} file names match" if names else "no file is chosen yet"
    return f"<small>{count}<table>{rows}</table></small>"
