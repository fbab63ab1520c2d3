"""Sweep plots of the page *Decisions*, with the current choice marked."""

from __future__ import annotations

from typing import Any

import panel as pn
from panel.io import hold
from panel.viewable import Viewer

from dashboard.domain.units import format_share
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.widgets import Button
from dashboard.plots.live import LiveSources
from dashboard.plots.sweeps import CHARTS, HEIGHT, sweep_chart, update_chart
from dashboard.session.choice import QUADTREE
from dashboard.session.state import State

#: Sweeps over more cells than this take seconds; they wait to be asked for.
MOST_CELLS = 1 << 16
REST = 0.4


class Sweeps(Viewer):
    """What other depths and thresholds would give (Figures 6.10 and 6.11).

    The trees of a sweep are built beside the session, so that the sliders stay free meanwhile.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self._drawn: tuple[Any, ...] | None = None
        self._asked: tuple[Any, ...] | None = None
        self.live = LiveSources()
        self.titles = {name: pn.pane.HTML("", margin=(4, 12, 0, 12)) for name in CHARTS}
        self.panes = {name: pn.pane.HoloViews(None, sizing_mode="stretch_width", height=HEIGHT) for name in CHARTS}
        self.button = Button(label="Compute the sweeps", visible=False, variant="outlined", on_click=self._compute)
        self.note = pn.pane.HTML("", visible=False)
        self._swept = Rested(self._show, REST, self._sweep)

    def __panel__(self) -> pn.viewable.Viewable:
        charts = [
            pn.Column(self.titles[name], self.panes[name], min_width=320, margin=4, styles={"flex": "1 1 420px"})
            for name in CHARTS
        ]
        return pn.Column(
            pn.Row(self.button, self.note),
            pn.FlexBox(*charts, sizing_mode="stretch_width"),
            sizing_mode="stretch_width",
        )

    def update(self) -> None:
        """Follow the state."""
        dmap = self._state.view.decision_map()
        if dmap is None:
            return
        if self._state.family != QUADTREE:
            self.button.visible, self.note.visible = False, True
            self.note.object = "Depth and threshold are those of quadtrees; the page Frontier shows all families."
            self._clear()
            return
        wait = dmap["best"].size > MOST_CELLS and self._asked != self._data()
        self.button.visible = self.note.visible = wait
        if wait:
            cells = f"{dmap['best'].size:,}"
            self.note.object = f"A sweep over {cells} cells builds some thirty trees and takes a while."
            self._clear()
        else:
            self._swept.ask()

    def _clear(self) -> None:
        for name in CHARTS:
            self.panes[name].object, self.titles[name].object = None, ""
        self._drawn = None

    def _data(self) -> tuple[Any, ...]:
        state = self._state
        return state.view.data_key

    def _compute(self, *_: Any) -> None:
        self._asked = self._data()
        self.update()

    def _sweep(self) -> tuple[Any, ...]:
        state = self._state
        return self._data(), state.view.sweeps(), state.view.statistics(), state.depth, float(state.threshold)

    def _show(self, found: tuple[Any, ...]) -> None:
        data, swept, statistics, depth, threshold = found
        if swept is None or statistics is None or self._state.family != QUADTREE:
            return
        sweeps = {"depths": swept[0], "thresholds": swept[1]}
        deepest = int(swept[0]["max_depth"].max())
        cost = statistics["penalty"]["mean"]
        choice = {
            "max_depth": deepest if depth is None else min(depth, deepest),
            "threshold": threshold,
            "depth_mean": statistics["depth"]["mean"],
            "penalty_mean": float("nan") if cost is None else cost,
        }
        held = {"threshold": f"at threshold {format_share(threshold)}", "depth": "no depth limit"}
        if depth is not None:
            held["depth"] = f"at depth {depth}"
        with hold(pn.state.curdoc):
            for name, chart in CHARTS.items():
                self.titles[name].object = f"<strong>{chart.title.format(**held)}</strong>"
                if self._drawn == data:
                    update_chart(name, sweeps, choice, self.live)
                else:
                    self.panes[name].object = sweep_chart(name, sweeps, choice, self.live)
        self._drawn = data
