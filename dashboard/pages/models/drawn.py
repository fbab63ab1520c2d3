"""The tab of the page *Models* that draws the parameters themselves."""

from html import escape
from typing import Any

import numpy as np
import panel as pn
from panel.io import hold

from dashboard.models import ModelError
from dashboard.models.pingpong import PingPong, pingpong_of
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, chart, heading, side_by_side
from dashboard.plots.models import parameters as drawing


class DrawnParameters(Part):
    """Gap, overheads, time and bandwidth of a message, and computing (Figures 4.19, 4.20, 6.16 and 6.17)."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.title = heading()
        self.charts = [chart(drawing.HEIGHT) for _ in range(4)]
        style: dict[str, Any] = {"min_width": 380, "styles": {"flex": "1 1 420px"}, "margin": 0}
        self.places = [pn.Column(pane, **style) for pane in self.charts]
        self.results.objects = [self.title, side_by_side(*self.places)]

    def update(self) -> None:
        """Follow the choice."""
        parameters, current = self._choice.effective(), self._choice.current()
        sizes, timed = (np.asarray(current.provenance.get(name, ()), dtype=float) for name in ("sizes", "reduced"))
        reduced = (sizes, timed) if timed.size and timed.size == sizes.size else None
        time, rate = drawing.message_charts(parameters, self._trip())
        drawn = (drawing.gap_chart(parameters), time, rate, drawing.computing_chart(parameters, reduced))
        with hold(pn.state.curdoc):
            self.tell("")
            self.title.object = f"<strong>Parameters of {escape(current.name)}</strong>"
            for pane, place, each in zip(self.charts, self.places, drawn, strict=True):
                place.visible = each is not None
                pane.object = each

    def _trip(self) -> PingPong | None:
        """The ping-pong among the results; None without one."""
        cube = self._choice.pingpong()
        try:
            return None if cube is None else pingpong_of(cube)
        except ModelError:
            return None
