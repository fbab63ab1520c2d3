"""Sweep plots of the page *Decisions*, with the current choice marked."""

from typing import Any

import panel as pn
from panel.io import hold

from dashboard.decisions.grown.families import FAMILIES
from dashboard.domain.units import format_share
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.views import Made
from dashboard.pages.parts.widgets import Button, Figure
from dashboard.plots.live import LiveSources
from dashboard.plots.sweeps import CHARTS, HEIGHT, path_chart, sweep_chart, sweep_columns, swept
from dashboard.session.choice import QUADTREE
from dashboard.session.state import DATA, State

#: Sweeps over more cells than this take seconds; they wait to be asked for.
MOST_CELLS = 1 << 16
REST = 0.4
_CHART: dict[str, Any] = {"min_width": 320, "margin": 4, "styles": {"flex": "1 1 420px"}}
_OWN = {"penalty_mean": "Penalty", "leaves": "Leaves"}


class Sweeps(Made):
    """What other depths and thresholds would give (Figures 6.10 and 6.11).

    The trees of a sweep are built beside the session, so that the sliders stay free meanwhile.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state, REST)
        self._drawn: tuple[Any, ...] | None = None
        self._asked: tuple[Any, ...] | None = None
        self.live = LiveSources()
        self.titles = {name: pn.pane.HTML("", margin=(4, 12, 0, 12)) for name in CHARTS}
        self.panes = {name: Figure(None, sizing_mode="stretch_width", height=HEIGHT) for name in CHARTS}
        self.button = Button(label="Compute the sweeps", visible=False, variant="outlined", on_click=self._compute)
        self.note = pn.pane.HTML("", visible=False)
        # Made once: what is put there later would keep the colours of the light theme.
        self.heads = {name: pn.pane.HTML("", margin=(4, 12, 0, 12)) for name in _OWN}
        self.paths = {name: Figure(None, sizing_mode="stretch_width", height=HEIGHT) for name in _OWN}
        columns = [pn.Column(self.heads[name], self.paths[name], **_CHART) for name in _OWN]
        self.own = pn.FlexBox(*columns, sizing_mode="stretch_width", visible=False)
        self.background = Background(again=self._compute)
        state.param.watch(lambda *_: self.background.stop(), [*DATA, "family"])

    def __panel__(self) -> pn.viewable.Viewable:
        charts = [pn.Column(self.titles[name], self.panes[name], **_CHART) for name in CHARTS]
        drawn = pn.FlexBox(*charts, sizing_mode="stretch_width", margin=0)
        bar = pn.Row(self.button, self.note)
        return pn.Column(bar, self.background, self.own, drawn, sizing_mode="stretch_width")

    def update(self) -> None:
        """Follow the state."""
        dmap = self._state.view.decision_map()
        if dmap is None:
            return
        self.own.visible = False
        if self._state.family != QUADTREE:
            self._clear()
            self._show_path()
            return
        wait = dmap["best"].size > MOST_CELLS and self._asked != self._state.view.data_key
        self.button.visible = self.note.visible = wait
        if wait:
            cells = f"{dmap['best'].size:,}"
            self.note.object = f"A sweep over {cells} cells builds some thirty trees and takes a while."
            self._clear()
        else:
            super().update()

    def _clear(self) -> None:
        for name in CHARTS:
            self.panes[name].object, self.titles[name].object = None, ""
        self._drawn = None

    def _show_path(self) -> None:
        """The family on show over its own parameter."""
        state, family = self._state, FAMILIES[self._state.family]
        tried = state.view.known_path(family.name)
        path = None if tried is None else swept(family, tried)
        self.button.visible = tried is None and bool(family.options) and not self.background.running
        self.note.visible, self.own.visible = path is None, path is not None
        if path is None:
            asks = f"{family.title} grown over its own parameter: what a smaller tree costs."
            self.note.object = asks if self.button.visible else f"{family.title} has no size to choose."
            return
        along, figures = path
        statistics, now = state.view.statistics(), None if state.shown is None else state.shown.options.get(along.name)
        for y, title in _OWN.items():
            figures_now = {} if statistics is None else {**statistics, "penalty_mean": statistics["penalty"]["mean"]}
            mark = None if now is None or figures_now.get(y) is None else (float(now), float(figures_now[y]))
            self.heads[y].object = f"<strong>{title} of {family.title} over {along.title}</strong>"
            self.paths[y].object = path_chart(along, figures, y, mark)

    def _compute(self, *_: Any) -> None:
        if self._state.family != QUADTREE and self._state.view.cube() is not None:
            name = self._state.family
            title = f"Sweep of {FAMILIES[name].title}"
            self.background.start(title, self._state.view.path_job(name), lambda _: self.update())
            self.button.visible = False
            return
        self._asked = self._state.view.data_key
        self.update()

    def _make(self) -> tuple[Any, ...]:
        state, view = self._state, self._state.view
        return view.data_key, view.sweeps(), view.statistics(), state.depth, float(state.threshold)

    def _show(self, sweep: tuple[Any, ...]) -> None:
        data, swept, statistics, depth, threshold = sweep
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
                    for layer, columns in sweep_columns(name, sweeps, choice).items():
                        self.live.update(layer, columns)
                else:
                    self.panes[name].object = sweep_chart(name, sweeps, choice, self.live)
        self._drawn = data
