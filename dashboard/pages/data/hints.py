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
from dashboard.session.reading import NUMBERS, SCHEDULER
from loaders import FORMATS, LoadError
from loaders.hints import Hints

BY_CONTENT = "by content"
BY_FORMAT = "as suits the format"
#: Label, example and help of each hint.
_FIELDS = {
    "collective": (
        "Collective",
        "bcast",
        "The operation that was measured, as bcast or MPI_Bcast. It holds for all chosen files that do not say it.",
    ),
    "algorithm": (
        "Algorithm",
        "binomial",
        "Names as in the dissertation (chapter 4) are known to the models. With the segment size it is the method.",
    ),
    "segment_size": (
        "Segment size",
        "8KiB; 0 = none",
        "Bytes that the messages were cut into, with K, M or KiB, MiB as powers of 1024. 0: they were sent whole.",
    ),
    "comm_size": (
        "Processes",
        "64",
        "Size of the communicator: the processes that took part. OSU's and other outputs do not say it.",
    ),
    "message_size": (
        "Message size",
        "1024",
        "Bytes of all rows, where the files print no size, as those of SKaMPI 4 over processes.",
    ),
    "ppn": (
        "Processes per node",
        "4",
        "How many processes shared a node. Left empty, all files count as placed in the same way.",
    ),
    "system": (
        "System",
        "name of the machine",
        "Name of the machine, for titles and for what is exported. Results of two systems are not put into one map.",
    ),
    NUMBERS.name: (NUMBERS.title.capitalize(), "openmpi-5.0", NUMBERS.help),
}
_EXAMPLE = "{collective}__{algorithm}__seg{segment_size}.sko"


class HintForm(Viewer):
    """Asks for hints, and shows what a pattern makes of the file names while it is typed.

    Parameters
    ----------
    hints
        To begin with.
    """

    names = param.List(default=[], item_type=str, doc="Names of the files that the hints are for.")
    changed = param.Event(doc="Another hint is given.")

    def __init__(self, hints: Mapping[str, Any] | None = None, **params: Any) -> None:
        super().__init__(**params)
        given = {name: str(value) for name, value in (hints or {}).items()}
        self.pattern = TextInput(
            label="Pattern of the file names",
            value=given.get("pattern", ""),
            placeholder=_EXAMPLE,
            sizing_mode="stretch_width",
            description="What the parts of each file's name stand for, such as {algorithm} or {comm_size}; * stands "
            "for anything. What is found in a name goes before the fields below.",
        )
        self.fields = {
            name: TextInput(
                label=label,
                placeholder=example,
                value=given.get(name, ""),
                sizing_mode="stretch_width",
                description=meaning,
            )
            for name, (label, example, meaning) in _FIELDS.items()
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
        self.statistic = Select(
            label="Time taken from the file",
            options={BY_FORMAT: "", "maximum": "max", "mean": "mean", "median": "median", "minimum": "min"},
            value=given.get("statistic", ""),
            sizing_mode="stretch_width",
            description="Which of several times of a row counts, such as OSU's average, minimum and maximum over the "
            "processes. The maximum is when the last process is done, as SKaMPI measures.",
        )
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
