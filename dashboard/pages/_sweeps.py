"""Sweep plots of the page *Decisions*, with the current choice marked."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import panel as pn
from panel.viewable import Viewer

from dashboard.pages.widgets import Button
from dashboard.plots import sweeps
from dashboard.state import State

#: Sweeps over more cells than this take seconds; they wait to be asked for.
MOST_CELLS = 1 << 16
CHARTS = ("depth", "threshold penalty", "threshold depth", "constraint")


class Sweeps(Viewer):
    """What other depths and thresholds would give (Figures 6.10 and 6.11).

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self._swept: tuple[Any, ...] | None = None
        self._asked: tuple[Any, ...] | None = None
        self.panes = {
            name: pn.pane.HoloViews(
                None, sizing_mode="stretch_width", height=300, min_width=300, margin=4, styles={"flex": "1 1 320px"}
            )
            for name in CHARTS
        }
        self.button = Button(label="Compute the sweeps", visible=False, on_click=self._compute)
        self.note = pn.pane.HTML("", visible=False)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            pn.Row(self.button, self.note),
            pn.FlexBox(*self.panes.values(), sizing_mode="stretch_width"),
            sizing_mode="stretch_width",
        )

    def update(self) -> None:
        """Follow the state."""
        state, dmap = self._state, self._state.decision_map()
        if dmap is None:
            return
        data = (state.results_id, state.collective, state.ppn, state.tolerance)
        wait = dmap["best"].size > MOST_CELLS and self._asked != data
        self.button.visible = self.note.visible = wait
        if wait:
            self.note.object = f"<p>A sweep over {dmap['best'].size:,} cells builds some thirty trees and takes a while.</p>"
            for pane in self.panes.values():
                pane.object = None
            self._swept = None
            return
        if self._swept != (*data, state.depth, state.threshold):
            self._swept = (*data, state.depth, state.threshold)
            self._draw()

    def _compute(self, *_: Any) -> None:
        state = self._state
        self._asked = (state.results_id, state.collective, state.ppn, state.tolerance)
        self.update()

    def _draw(self) -> None:
        state, swept, statistics = self._state, self._state.sweeps(), self._state.statistics()
        if swept is None or statistics is None:
            return
        depths, thresholds = swept
        mean, cost = statistics["depth"]["mean"], statistics["penalty"]["mean"]
        cost = float("nan") if cost is None else cost
        deepest = depths["max_depth"].max()
        charts = {
            "depth": sweeps.depth_chart(depths, (min(state.depth, deepest) if state.depth is not None else deepest, cost)),
            "threshold penalty": sweeps.threshold_penalty_chart(thresholds, (state.threshold, cost)),
            "threshold depth": sweeps.threshold_depth_chart(thresholds, (state.threshold, mean)),
            "constraint": sweeps.constraint_chart(depths, thresholds, (mean, cost)),
        }
        held = f"threshold {state.threshold:.0%}", "no depth limit" if state.depth is None else f"depth ≤ {state.depth}"
        titles = {
            "depth": f"Penalty over depth ({held[0]})",
            "threshold penalty": f"Penalty over threshold ({held[1]})",
            "threshold depth": f"Mean depth over threshold ({held[1]})",
            "constraint": "Both ways to limit a tree",
        }
        for name, chart in charts.items():
            self.panes[name].object = _framed(chart, titles[name])


def _framed(chart: hv.Overlay, title: str) -> hv.Overlay:
    return chart.opts(
        title=title,
        responsive=True,
        height=300,
        padding=0.08,
        show_grid=True,
        toolbar=None,
        backend_opts={"plot.output_backend": "canvas"},
        backend="bokeh",
    )
