"""What was loaded: files, coverage, spread, skipped rows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import panel as pn
import param
import xarray as xr
from panel.viewable import Viewer

from dashboard.pages.reports import files_table, reasons_text, skipped_table
from dashboard.pages.widgets import Select, Tabs
from dashboard.plots import coverage
from dashboard.registry import COMPUTED
from dashboard.state import State

#: Results of more bytes than this are summed up beside the event loop.
AT_ONCE_BYTES = 64 << 20
_PERCENT = {"type": "progress", "min": 0, "max": 100, "legend": "{value} %", "color": "#9dbfdd"}
_SPREAD_TITLES = {
    "median": "median σ, %",
    "90 %": "90 % quantile, %",
    "largest": "largest, %",
    "time": "what a time is",
}


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

    Parameters
    ----------
    state
        Its results are shown.
    """

    collective = param.Selector(default=None, objects=[], allow_None=True, doc="Collective looked at.")

    def __init__(self, state: State, **params: Any) -> None:
        super().__init__(**params)
        self.state = state
        self.summary: Summary | None = None
        self.selects = [Select.from_param(self.param.collective, label="Collective", description=None, width=220) for _ in range(2)]
        self.files = _table(
            height=520,
            layout="fit_columns",
            widths={"file": 260, "result": 95, "format": 85, "rows": 75, "skipped": 85, "collectives": 120},
        )
        self.skipped = _table(height=520, layout="fit_columns", widths={"file": 240, "line": 75, "reason": 300})
        self.skipped_note = pn.pane.Markdown("", sizing_mode="stretch_width")
        self.coverage = _table(formatters={"share": _PERCENT})
        self.spread = _table()
        self.plots = pn.Column(sizing_mode="stretch_width", margin=0)
        self.spread_plot = pn.Column(sizing_mode="stretch_width", margin=0)
        self.waiting = pn.pane.Markdown("", visible=False)
        self.tabs = Tabs(
            ("Files", pn.Column(self.files, sizing_mode="stretch_width")),
            ("Coverage", pn.Column(self.coverage, self.selects[0], self.plots, sizing_mode="stretch_width")),
            ("Spread", pn.Column(self.spread, self.selects[1], self.spread_plot, sizing_mode="stretch_width")),
            ("Skipped rows", pn.Column(self.skipped_note, self.skipped, sizing_mode="stretch_width")),
            dynamic=True,
            sizing_mode="stretch_width",
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.waiting, self.tabs, sizing_mode="stretch_width", margin=0)

    def show_reports(self, reports: Sequence[Mapping[str, Any]], folders: Sequence[Path]) -> None:
        """Show what each file gave."""
        self.files.value = files_table(reports, folders)
        table, skipped = skipped_table(reports, folders)
        self.skipped.value = table
        self.skipped.visible = bool(skipped)
        self.skipped_note.object = (
            "Every row of the files was loaded."
            if not skipped
            else f"{skipped:,} rows were not loaded: {reasons_text(reports)}."
            + (f" The first {len(table):,} are listed." if len(table) < skipped else "")
        )

    def refresh(self) -> None:
        """Show the state's results; large ones are summed up in a thread, and follow."""
        tree, digest = self.state.results, self.state.results_id
        if tree is None:
            return
        size = sum(node.to_dataset()["time"].nbytes for node in tree.children.values())
        known = COMPUTED.get((digest, "overview"))
        if known is not None or size <= AT_ONCE_BYTES:
            self._show(COMPUTED.once((digest, "overview"), lambda: summarise(tree)))
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
            self._show(summary)

    def _show(self, summary: Summary) -> None:
        self.summary = summary
        self.coverage.value = summary.coverage
        self.spread.value = summary.spread.round(2).rename(columns=_SPREAD_TITLES)
        names = list(summary.views)
        wanted = self.collective if self.collective in names else self.state.collective
        self.param.collective.objects = names
        if wanted == self.collective:
            self._draw()
        else:
            self.collective = wanted

    @param.depends("collective", watch=True)
    def _draw(self) -> None:
        views = None if self.summary is None else self.summary.views.get(self.collective)
        if views is None:
            return
        self.plots.objects = [
            _heading("Methods measured at each size"),
            _plot(coverage.draw_methods_measured(views.counts, views.methods)),
            _heading("Share of the message sizes measured, by method and number of processes"),
            _plot(coverage.draw_share(views.share)),
        ]
        self.spread_plot.objects = (
            [pn.pane.Markdown("These files tell no spread: neither standard deviations nor single repetitions.")]
            if views.spread is None
            else [
                _heading("Standard deviation over the message size: median and middle 80 % of the cells"),
                _plot(coverage.draw_spread(views.spread)),
            ]
        )


def _plot(element: Any) -> pn.pane.HoloViews:
    return pn.pane.HoloViews(element, sizing_mode="stretch_width")


def _heading(text: str) -> pn.pane.Markdown:
    return pn.pane.Markdown(f"#### {text}", sizing_mode="stretch_width", margin=(8, 10, 0, 10))


def _table(layout: str = "fit_data_stretch", **params: Any) -> pn.widgets.Tabulator:
    return pn.widgets.Tabulator(
        pd.DataFrame(),
        show_index=False,
        disabled=True,
        layout=layout,
        sizing_mode="stretch_width",
        stylesheets=[":host .tabulator { font-size: 13px; }"],
        **params,
    )
