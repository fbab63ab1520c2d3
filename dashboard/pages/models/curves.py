"""The tab of the page *Models* that sets curves of models beside measurements."""

from collections.abc import Mapping
from typing import Any

import panel as pn
import xarray as xr
from panel.io import hold

from dashboard.decisions.measured.map import methods_of
from dashboard.models.aliases import covered
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import REST, Held, Part, chart, heading, html, paragraph
from dashboard.pages.parts.later import LAG, Newest, Rested
from dashboard.pages.parts.widgets import RadioButtonGroup, Switch
from dashboard.plots.models import chart as model_chart
from dashboard.plots.models.curves import AXES, Points, evaluate
from dashboard.plots.models.legend import legend_table


class Curves(Part):
    """Model against measurement."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        axes = {title.capitalize(): name for name, title in AXES.items()}
        one_line = {"& .MuiToggleButton-root": {"whiteSpace": "nowrap"}}
        self.axis = RadioButtonGroup(label="", options=axes, value=choice.axis, size="small", width=360, sx=one_line)
        self.log = Switch(
            label="Logarithmic",
            value=choice.log,
            description="Both axes in powers, so that small and large sizes are seen at once. Off: in proportion.",
        )
        self.log.link(choice, value="log", bidirectional=True)
        self.choosing(self.axis, lambda axis: choice.param.update(axis=axis))
        self.held = Held(choice)
        self._points: tuple[Points, ...] | None = None
        self._seen: Any = None
        self._columns: Mapping[str, model_chart.Columns] = {}
        self.residuals = Newest(lambda: self._move("residuals", "off"), lag=LAG)
        self.rested = Rested(self._tell, REST)
        self.title, self.legend = heading(), html()
        self.time, self.residual = chart(model_chart.HEIGHT), chart(model_chart.RESIDUAL_HEIGHT)
        # Not the pane itself is hidden: it would hand its settings on to the plot, which has no such ones.
        self.below = pn.Column(self.residual, sizing_mode="stretch_width", margin=0)
        self.bar.objects = [self.axis, self.log, self.held]
        self.results.objects = [self.title, self.time, self.below, self.legend]

    def update(self) -> None:
        """Follow the choice."""
        view, cube, parameters = self._choice.view(), self._choice.cube(), self._choice.effective()
        barrier = view.collective == "barrier"
        hidden = {"message_size": ["message_size"], "comm_size": ["comm_size"], "segment_size": []}[view.axis]
        self.held.refresh(*hidden, *(["message_size"] if barrier else []))
        with self.filling():
            self.axis.param.update(value=view.axis, disabled=barrier)
        data = self._choice.data()
        # A slider of a parameter moves the models alone.
        points = self._points if (view, data) == self._seen else None
        lines = evaluate(view, parameters, cube, points)
        self._points, self._seen = lines.points, (view, data)
        self._columns = columns = model_chart.chart_columns(view, lines)
        key = (view.held(), tuple(parameters), data)
        with hold(pn.state.curdoc):
            self.tell("")
            self.title.object = f"<strong>{model_chart.title(view)}</strong>"
            if key == self._drawn and points is not None:
                self._move("curves")
                self.residuals.ask()
            elif key == self._drawn:
                self._move("")
            else:
                self.time.object = model_chart.time_chart(view, columns, self.live)
                self.residual.object = model_chart.residual_chart(view, columns, self.live)
                self._drawn = key
            self.below.visible = any(points.at.size for points in lines.points)
        self.rested.ask()

    def commands(self) -> list[list[str]]:
        """One for each curve: its time at the sizes that are held."""
        view = self._choice.view()
        modelled = [method for method in view.methods if method.modelled]
        return [self._choice.predicting(method, name, view.comm_size) for method in modelled for name in view.models]

    def _move(self, *kinds: str) -> None:
        """Bring layers up to date whose names begin so."""
        with hold(pn.state.curdoc):
            for name, columns in self._columns.items():
                if name.startswith(kinds):
                    self.live.update(name, columns)

    def _tell(self, _: Any = None) -> None:
        view, cube = self._choice.view(), self._choice.cube()
        lines = evaluate(view, self._choice.effective(), cube)
        converted = self._choice.current().conversion() if "plogp" in view.models else ""
        self.legend.object = legend_table(view, lines) + paragraph(converted) + _uncovered(view.collective, cube)


def _uncovered(collective: str, cube: xr.Dataset | None) -> str:
    missing = [] if cube is None else covered(collective, methods_of(cube))[1]
    return paragraph(
        f"No model covers {', '.join(missing)}; chosen in Methods, they are drawn as measured." if missing else ""
    )
