"""What the page *Decisions* tells beside its maps: statistics, generated source, table."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import panel as pn
import xarray as xr

from dashboard.domain.units import format_room
from dashboard.export import TARGETS, ExportError, source_lines
from dashboard.pages.parts.clipboard import COPY
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.views import Made
from dashboard.pages.parts.widgets import Button, FileDownload, Pagination, Select, TextInput
from dashboard.plots import legend, source
from dashboard.plots.statistics import held_out_note, statistics_table
from dashboard.plots.table import HELP, ORDERS, decision_table, matching, ordered, table_page
from dashboard.session.state import DATA, TREE, State
from loaders import save_results

#: Rows of a page of the table.
ROWS = 50
#: The source of a tree of more leaves than this is waited for; what else there is to tell comes before.
COUNTED_SOON = 1000


def provenance(state: State) -> dict[str, Any]:
    """What the generated source tells of itself beside what its decision function knows."""
    cube = state.view.cube()
    sources = cube.attrs.get("sources") if cube is not None else None
    return {"statistics": state.view.statistics(), **({"sources": sources} if sources else {})}


class Statistics(Made):
    """Statistics of the decision function, over what it was made from and, where judged, over what it was not.

    Parameters
    ----------
    when_judged
        Called when the tree has been judged by what it was not made from.
    """

    def __init__(self, state: State, when_judged: Callable[[], None] = lambda: None) -> None:
        super().__init__(state)
        self._when_judged = when_judged
        self._lines: int | None = None
        self.table = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width", margin=0)
        self.note = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width", margin=0, visible=False)
        self.judge = Button(
            label="Judge it at sizes left out", variant="outlined", size="small", on_click=self._judge, margin=(5, 0)
        )
        self.background = Background(again=self._judge)
        state.param.watch(lambda *_: self.background.stop(), [*DATA, *TREE])

    def __panel__(self) -> pn.viewable.Viewable:
        parts = self.table, self.judge, self.background, self.note
        return pn.Column(*parts, min_width=260, margin=(4, 8), styles={"flex": "1 1 260px"})

    def update(self) -> None:
        """Follow the state."""
        decision = self._state.view.decision()
        if decision is not None and decision.leaves > COUNTED_SOON:
            self._lines = None
            self._write()
        super().update()

    def _write(self) -> None:
        statistics, choice = self._state.view.statistics(), self._state.shown
        held = None if choice is None else self._state.view.known_heldout(choice)
        figures = None if held is None else held.figures._asdict()
        shown = self._state.view.map_summary()
        own = None if shown is None else shown._asdict()
        self.table.object = "" if statistics is None else statistics_table(statistics, self._lines, figures, own)
        self.judge.visible = statistics is not None and held is None
        note = "" if held is None else held_out_note(held.scheme, len(held.folds), held.notes)
        self.note.param.update(object=note, visible=bool(note))

    def _judge(self, *_: Any) -> None:
        state, choice = self._state, self._state.shown
        if choice is not None and state.view.cube() is not None:
            self.background.start("Judging", state.view.heldout_job(choice), lambda _: self._judged())

    def _judged(self) -> None:
        self._write()
        self._when_judged()

    def _make(self) -> int | None:
        # To know the lines, the source of the tree is generated; that of a large tree takes longer than its maps.
        decision = self._state.view.decision()
        return None if decision is None else source_lines(decision)

    def _show(self, lines: int | None) -> None:
        self._lines = lines
        self._write()


class Source(Made):
    """Generated C source, to read, copy and download."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.view = pn.pane.HTML("", stylesheets=[source.STYLE], sizing_mode="stretch_width")
        self.size = pn.pane.HTML("", margin=(14, 10))
        # Holds the text for the browser's clipboard; nobody sees it.
        self.holder = pn.widgets.TextAreaInput(visible=False, max_length=1 << 26)
        self.copy = Button(label="Copy", icon="content_copy", variant="outlined", description="Copy the whole source")
        self.copy.js_on_click(args={"holder": self.holder}, code=COPY)
        self.download = FileDownload(self.text, label="Download", filename="colltune.c")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            pn.Row(self.copy, self.download, self.size), self.view, self.holder, sizing_mode="stretch_width"
        )

    def text(self) -> str:
        """Whole source of the decision on show; empty without one."""
        decision = self._state.view.decision()
        return "" if decision is None else TARGETS["c"].write([decision], provenance(self._state))

    def _make(self) -> tuple[str, str, str]:
        """Whole source, what is shown of it, and why there is none."""
        try:
            text = self.text()
        except ExportError as error:
            return "", "", f"The source cannot be generated: {error}"
        return text, source.highlighted(text) if text else "", ""

    def _show(self, exported: tuple[str, str, str]) -> None:
        text, html, error = exported
        if error:
            self._state.error = error
        self.holder.value, self.view.object = text, html
        self.size.object = f"{text.count(chr(10)):,} lines, {format_room(len(text.encode()))} in all"
        self.download.filename = f"colltune_{self._state.collective}.c"


class Table(Made):
    """The maps as a table, a page of rows at a time.

    Plain HTML: it is read out well, and Panel's Tabulator keeps the browser busy while its tab is not shown.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._frame = pd.DataFrame()
        self.view = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width")
        self.order = Select(
            label="Order",
            options=list(ORDERS),
            value=next(iter(ORDERS)),
            width=240,
            description="How the rows of all pages are sorted. Rows without the figure come last.",
        )
        self.filter = TextInput(
            label="Filter",
            value=state.rows,
            placeholder="binomial",
            width=340,
            description=HELP,
        )
        self.filter.link(state, value="rows", bidirectional=True)
        self.pages = Pagination(count=1, value=0)
        # The rows on show go into the tables, the measurements as they were loaded into the netCDF.
        kinds = {
            "csv": ("CSV", lambda: self._make().to_csv(index=False)),
            "parquet": ("Parquet", lambda: self._make().to_parquet(index=False)),
            "nc": ("NetCDF", self._netcdf),
        }
        look = {"variant": "outlined", "slow": True}
        self.downloads = {
            kind: FileDownload(make, label=f"Download {title}", filename=f"decisions.{kind}", **look)
            for kind, (title, make) in kinds.items()
        }
        self.order.param.watch(self._made.ask, "value")
        self.filter.param.watch(self._made.ask, "value")
        self.pages.param.watch(self._show_page, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        parts = self.order, self.filter, self.pages, *self.downloads.values()
        bar = pn.FlexBox(*parts, align_items="center", sizing_mode="stretch_width")
        return pn.Column(bar, self.view, sizing_mode="stretch_width")

    def update(self) -> None:
        """Follow the state."""
        for kind, download in self.downloads.items():
            what = "results" if kind == "nc" else "decisions"
            download.filename = f"{self._state.collective}_{what}.{kind}"
        super().update()

    def _make(self) -> pd.DataFrame:
        """Rows on show."""
        view = self._state.view
        dmap, penalties = view.decision_map(), view.penalty()
        if dmap is None or penalties is None:
            return pd.DataFrame()
        table = decision_table(dmap, penalties, view.needed().estimated)
        return matching(ordered(table, self.order.value), self.filter.value or "")

    def _show(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        count = max(-(-len(frame) // ROWS), 1)
        self.pages.param.update(count=count, value=min(self.pages.value, count - 1))
        self._show_page()

    def _show_page(self, *_: Any) -> None:
        first = self.pages.value * ROWS
        nothing = "<p>No cell matches the filter.</p>" if self.filter.value else ""
        self.view.object = table_page(self._frame, first, first + ROWS) if len(self._frame) else nothing

    def _netcdf(self) -> bytes:
        tree, name = self._state.results, self._state.collective
        if tree is None or name is None:
            return b""
        alone = xr.DataTree.from_dict({"/": xr.Dataset(attrs=tree.attrs), f"/{name}": tree[name].to_dataset()})
        with TemporaryDirectory() as folder:
            return save_results(alone, Path(folder) / "results.nc").read_bytes()
