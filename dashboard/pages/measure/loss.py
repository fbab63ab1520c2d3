"""How far the choice of points is, of an adaptive campaign: expected loss on its way, what comes next and why."""

from collections.abc import Mapping
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.adaptive.words import words_of
from dashboard.pages.parts.widgets import Figure
from dashboard.plots.filling_map import LOSS_HEIGHT, loss_chart

_NOTHING_YET = "it chooses its points itself; nothing was chosen yet"


class ExpectedLoss(Viewer):
    """Expected loss of the decision against what measuring has cost, and why the next points; hidden without."""

    def __init__(self) -> None:
        super().__init__()
        wide: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.words = pn.pane.HTML("", margin=(0, 10), **wide)
        self.chart = pn.Column(margin=0, **wide)
        self.view = pn.Column(self.chart, self.words, margin=(8, 4), min_width=330, visible=False, **wide)
        self._drawn: tuple[Any, ...] = ()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.view

    def show(self, chosen: Mapping[str, Any]) -> None:
        """Show how far it is; what has not changed is left alone.

        Parameters
        ----------
        chosen
            As `dashboard.benchmarks.campaigns.follow.Sight` has it; empty: of no adaptive campaign.
        """
        self.view.visible = bool(chosen)
        lines = (f"{line[0].upper()}{line[1:]}." for line in words_of(chosen) or [_NOTHING_YET])
        text = "".join(f"<p style='margin: 2px 0'>{escape(line)}</p>" for line in lines)
        if self.words.object != text:
            self.words.object = text
        way = tuple((float(spent), float(loss)) for spent, loss in chosen.get("way", ()))
        drawn = (way, float((chosen.get("goal") or {}).get("seconds") or 0.0), int(chosen.get("ranks", 1)))
        if self._drawn != drawn:
            self._drawn = drawn
            chart = Figure(loss_chart(*drawn), height=LOSS_HEIGHT, sizing_mode="stretch_width", margin=0)
            self.chart.objects = [chart] if len(way) > 1 else []
