"""What was loaded: files, coverage, spread, skipped rows."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import panel as pn
import param
import xarray as xr
from bokeh.models import NumberFormatter
from panel.viewable import Viewer

from dashboard.domain.units import format_count
from dashboard.pages.parts.reports import REFUSED, files_table, plain, skipped_table, skipped_text
from dashboard.pages.parts.tables import table
from dashboard.pages.parts.widgets import Figure, Select, Toggle
from dashboard.plots import coverage
from dashboard.plots.frame import filling
from dashboard.session.registry import COMPUTED
from dashboard.session.state import State

FILES, COVERAGE, SPREAD, SKIPPED = "Files", "Coverage", "Spread", "Skipped rows"
NOTHING = "Nothing is loaded yet."
#: Results of more bytes than this are summed up beside the event loop.
AT_ONCE_BYTES = 64 << 20
#: Lines of the window above and below a table of files.
_AROUND = 330
#: Refused files of which the reason is shown before somebody asks for it.
_MOST_REFUSED = 5
_PERCENT = {"type": "progress", "min": 0, "max": 100, "legend": True, "color": "#9dbfdd"}
#: Pixels of a column of names that a narrow window has room for.
_WIDEST = 280
_FILE_WIDTHS = {"result": 90, "format": 75, "rows": 65, "skipped": 80, "collectives": "16%"}
_SPREAD_TITLES = {
    "median": "median σ [%]",
    "90 %": "90 % quantile [%]",
    "largest": "largest [%]",
    "time": "what a time is",
}
_NONE = "–"
_DIGITS = NumberFormatter(format="0,0.00", nan_format=_NONE)
_SPREAD_DIGITS = {title: _DIGITS for title in _SPREAD_TITLES.values() if "%" in title}


@dataclass(frozen=True)
class Views:
    """Labelled arrays of one collective, ready to be drawn."""

    share: xr.DataArray
    counts: xr.DataArray
    spread: xr.Dataset | None
    methods: int


@dataclass(frozen=True)
class Summary:
    """All that the overview shows of some results."""

    coverage: pd.DataFrame
    spread: pd.DataFrame
    views: Mapping[str, Views]


def summarise(tree: xr.DataTree) -> Summary:
    """Compute coverage and spread of all collectives."""
    views = {}
    for name, node in tree.children.items():
        cube = node.to_dataset()
        views[name] = Views(
            coverage.measured_share(cube),
            coverage.methods_measured(cube),
            coverage.spread_by_size(cube),
            cube.sizes["method"],
        )
    return Summary(coverage.coverage_table(tree), coverage.spread_table(tree), views)


class Overview(Viewer):
    """Shows reports of files, and coverage and spread of the results of a state.

    Only the section that is looked at exists in the browser; it is made anew when what it shows changes.

    Parameters
    ----------
    state
        Its results are shown.
    """

    section = param.Selector(default=FILES, objects=[FILES, COVERAGE, SPREAD, SKIPPED], doc="Section on show.")
    collective = param.Selector(
        default=None, objects=[], allow_None=True, check_on_set=True, doc="Collective looked at."
    )

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.summary: Summary | None = None
        self.files = files_table(())
        self.skipped, self.skipped_rows = skipped_table(())
        self.skipped_text = ""
        self.switch = Toggle(options=list(self.param.section.objects), value=self.section)
        self.switch.link(self, value="section", bidirectional=True)
        self.select = Select.from_param(
            self.param.collective,
            label="Collective",
            width=220,
            description="The operation whose sizes are shown. The other pages stay at theirs.",
        )
        self.waiting = pn.pane.Markdown("", visible=False)
        self.body = pn.Column(sizing_mode="stretch_width", margin=0)
        self._show_section()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.switch, self.waiting, self.body, sizing_mode="stretch_width", margin=0)

    def show_reports(
        self, reports: Sequence[Mapping[str, Any]], folders: Sequence[Path], *, loaded: bool = True
    ) -> None:
        """Show what each file gave, or could give where nothing was loaded."""
        self.files = files_table(reports, folders, loaded=loaded)
        self.skipped, self.skipped_rows = skipped_table(reports, folders)
        self.skipped_text = skipped_text(reports, len(self.skipped))
        if self.section in (FILES, SKIPPED):
            self._show_section()

    def refresh(self) -> None:
        """Show the state's results; large ones are summed up in a thread, and follow."""
        tree, digest = self.state.results, self.state.results_id
        if tree is None:
            return
        size = sum(node.to_dataset()["time"].nbytes for node in tree.children.values())
        known = COMPUTED.get((digest, "overview"))
        if known is not None or size <= AT_ONCE_BYTES:
            self._take(COMPUTED.once((digest, "overview"), lambda: summarise(tree)))
        else:
            pn.state.execute(self._refresh_beside)

    async def _refresh_beside(self) -> None:
        tree, digest = self.state.results, self.state.results_id
        self.waiting.param.update(object="Looking at all results …", visible=True)
        try:
            summary = await asyncio.to_thread(COMPUTED.once, (digest, "overview"), lambda: summarise(tree))
        finally:
            self.waiting.visible = False
        if digest == self.state.results_id:
            self._take(summary)

    def _take(self, summary: Summary) -> None:
        self.summary = summary
        names = list(summary.views)
        with param.parameterized.discard_events(self):
            wanted = self.collective if self.collective in names else self.state.collective
            self.param.collective.objects = names
            self.collective = wanted
        self.select.param.update(options=names, value=wanted)
        self._show_section()

    @param.depends("section", "collective", watch=True)
    def _show_section(self) -> None:
        make = {FILES: self._files, COVERAGE: self._coverage, SPREAD: self._spread, SKIPPED: self._skipped}
        self.body.objects = make[self.section]()

    def _files(self) -> list[Any]:
        if self.files.empty:
            return [_text("No file was read yet.")]
        refused = self.files[self.files["result"] == REFUSED]
        said = [_reason(row) for _, row in refused.head(_MOST_REFUSED).iterrows()]
        if len(refused) > _MOST_REFUSED:
            said.append(f"… and {format_count(len(refused) - _MOST_REFUSED, 'file')} more")
        detail = pn.pane.Markdown("  \n".join(said), sizing_mode="stretch_width")

        def show(event: Any) -> None:
            detail.object = _reason(self.files.iloc[event.row])

        # What is left is for the remarks.
        widths = {**_FILE_WIDTHS, "file": _name_width(self.files)}
        shown = table(self.files, widths=widths, styles=_as_high_as(self.files))
        shown.on_click(show)
        return [shown, detail]

    def _coverage(self) -> list[Any]:
        if self.summary is None:
            return [_text(NOTHING)]
        figures = self.summary.coverage.rename(columns={"share": "share [%]"})
        figures["share [%]"] = coverage.rounded_down(figures["share [%]"])
        figures = figures.loc[:, (figures != "").any()]
        views = self.summary.views[self.collective]
        return [
            table(figures, layout="fit_data_stretch", formatters={"share [%]": _PERCENT}),
            self.select,
            _heading("Methods measured at each size"),
            _plot(coverage.draw_methods_measured(views.counts, views.methods)),
            _heading("Share of the message sizes measured, by method and number of processes"),
            _plot(coverage.draw_share(views.share)),
        ]

    def _spread(self) -> list[Any]:
        if self.summary is None:
            return [_text(NOTHING)]
        views = self.summary.views[self.collective]
        figures = self.summary.spread.rename(columns=_SPREAD_TITLES).replace("", _NONE)
        shown = [table(figures, dict(_SPREAD_DIGITS), layout="fit_data_stretch"), self.select]
        if views.spread is None:
            return [*shown, _text("These files tell no spread: neither standard deviations nor single repetitions.")]
        heading = _heading("Standard deviation over the message size: median, and middle 80 % of the cells")
        return [*shown, heading, _plot(coverage.draw_spread(views.spread))]

    def _skipped(self) -> list[Any]:
        shown = [_text(plain(self.skipped_text or "No file was read yet."))]
        if not self.skipped.empty:
            widths = {"file": _name_width(self.skipped), "line": 75, "reason": "38%"}
            shown.append(table(self.skipped, widths=widths, styles=_as_high_as(self.skipped)))
        return shown


def _as_high_as(frame: pd.DataFrame) -> dict[str, str]:
    """Style of a table: its rows are seen without scrolling, as far as the window has room for them."""
    return {"height": f"min({70 + 37 * len(frame)}px, {filling(520, _AROUND)})"}


def _name_width(frame: pd.DataFrame) -> int | str:
    """Width of a column of files: as wide as the longest name, in pixels of a sign, or that part of a window."""
    width = 40 + 7 * int(frame["file"].str.len().max())
    return max(width, 100) if width <= _WIDEST else "35%"


def _reason(row: Any) -> str:
    name, remark = row["file"], row["remarks"] or row["result"]
    return f"**{plain(name)}**: {plain(remark.removeprefix(f'{name}: '))}"


def _plot(element: Any) -> pn.pane.HoloViews:
    # Linked axes would make one plot take the sizes of another as its own.
    return Figure(element, sizing_mode="stretch_width")


def _text(markdown: str) -> pn.pane.Markdown:
    return pn.pane.Markdown(markdown, sizing_mode="stretch_width")


def _heading(text: str) -> pn.pane.Markdown:
    return pn.pane.Markdown(f"#### {text}", sizing_mode="stretch_width", margin=(8, 10, 0, 10))
