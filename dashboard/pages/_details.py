"""What the page *Decisions* tells beside its maps: statistics, generated source, table."""

from __future__ import annotations

import io
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.export import TARGETS, ExportError, source_lines
from dashboard.pages.widgets import Button, FileDownload
from dashboard.plots import legend, source
from dashboard.plots.statistics import statistics_table
from dashboard.plots.table import decision_table
from dashboard.plots.units import format_bytes
from dashboard.state import State

#: The clipboard of the browser needs a secure page; through a tunnel to another machine there may be none.
_COPY = """
const text = holder.value
const by_hand = () => {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
}
if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).catch(by_hand)
else by_hand()
"""


def provenance(state: State) -> dict[str, Any]:
    """What the generated source tells of itself beside what its decision function knows."""
    cube = state.cube()
    sources = cube.attrs.get("sources") if cube is not None else None
    return {"statistics": state.statistics(), **({"sources": sources} if sources else {})}


class Statistics(Viewer):
    """Statistics of the decision function.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.table = pn.pane.HTML(
            "", stylesheets=[legend.STYLE], min_width=260, margin=(4, 8), styles={"flex": "1 1 260px"}
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self.table

    def update(self) -> None:
        """Follow the state."""
        statistics, decision = self._state.statistics(), self._state.decision()
        if statistics is None or decision is None:
            self.table.object = ""
            return
        self.table.object = statistics_table(statistics, source_lines(decision))


class Source(Viewer):
    """Generated C source, to read, copy and download.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.view = pn.pane.HTML("", stylesheets=[source.STYLE], sizing_mode="stretch_width")
        self.size = pn.pane.HTML("", margin=(14, 10))
        # Holds the text for the browser's clipboard; nobody sees it.
        self.holder = pn.widgets.TextAreaInput(visible=False, max_length=1 << 26)
        self.copy = Button(label="Copy", icon="content_copy", variant="outlined", description="Copy the whole source")
        self.copy.js_on_click(args={"holder": self.holder}, code=_COPY)
        self.download = FileDownload(
            label="Download", callback=lambda: io.BytesIO(self.text().encode()), filename="colltune.c", variant="outlined"
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            pn.Row(self.copy, self.download, self.size), self.view, self.holder, sizing_mode="stretch_width"
        )

    def text(self) -> str:
        """Whole source of the decision on show; empty without one."""
        decision = self._state.decision()
        return "" if decision is None else TARGETS["c"].write([decision], provenance(self._state))

    def update(self) -> None:
        """Follow the state."""
        try:
            text = self.text()
        except ExportError as error:
            self._state.error = f"The source cannot be generated: {error}"
            text = ""
        self.holder.value = text
        self.view.object = source.highlighted(text) if text else ""
        self.size.object = f"{text.count(chr(10)):,} lines, {format_bytes(len(text.encode()))} in all"
        self.download.filename = f"colltune_{self._state.collective}.c"


class Table(Viewer):
    """The maps as a table.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.view = pn.widgets.Tabulator(
            None,
            disabled=True,
            show_index=False,
            pagination="remote",
            page_size=25,
            sizing_mode="stretch_width",
            formatters=dict.fromkeys(
                ("best time [µs]", "chosen time [µs]", "penalty [%]"), {"type": "money", "symbol": "", "precision": 2}
            ),
            header_filters={
                "best": {"type": "input", "func": "like", "placeholder": "filter"},
                "chosen": {"type": "input", "func": "like", "placeholder": "filter"},
            },
        )
        self.download = FileDownload(
            label="Download CSV", callback=self._csv, filename="decisions.csv", variant="outlined"
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.download, self.view, sizing_mode="stretch_width")

    def update(self) -> None:
        """Follow the state."""
        dmap, penalties = self._state.decision_map(), self._state.penalty()
        if dmap is not None and penalties is not None:
            self.view.value = decision_table(dmap, penalties)
            self.download.filename = f"{self._state.collective}_decisions.csv"

    def _csv(self) -> io.StringIO:
        text = io.StringIO()
        dmap, penalties = self._state.decision_map(), self._state.penalty()
        if dmap is not None and penalties is not None:
            decision_table(dmap, penalties).to_csv(text, index=False)
        text.seek(0)
        return text
