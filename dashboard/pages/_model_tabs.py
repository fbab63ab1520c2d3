"""Tabs of the page *Models*: curves, optimal segment size, time line, formulas, errata."""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn
import xarray as xr
from panel.io import hold
from panel.viewable import Viewer

from dashboard.decisions.map import methods_of
from dashboard.models import MODEL_TITLES, MODELS, ModelError, model_of
from dashboard.models.aliases import covered
from dashboard.models.compare import table as compared
from dashboard.models.errata import errata
from dashboard.models.schedules import schedule
from dashboard.models.segments.closed import BY_NAME
from dashboard.models.simulator import simulate
from dashboard.pages._later import Newest, Rested
from dashboard.pages._model_choice import ModelChoice
from dashboard.pages.widgets import DiscreteSlider, RadioButtonGroup, Select, Switch, int_slider
from dashboard.plots import legend, model_chart, model_formulas, model_segments, model_timeline
from dashboard.plots.live import LiveSources
from dashboard.plots.model_curves import AXES, View, evaluate
from dashboard.plots.model_legend import legend_table
from dashboard.plots.model_methods import ModelMethod
from dashboard.plots.units import format_bytes

_WIDE = {"sizing_mode": "stretch_width", "margin": (4, 8)}
PROCESSES = 16
#: Seconds after which what is read rather than watched follows a slider.
REST = 0.15


def _size_slider(choice: ModelChoice, name: str, label: str) -> DiscreteSlider:
    slider = DiscreteSlider(label=label, options=_sizes(choice, name), value=getattr(choice, name), width=230)
    # As for the sliders of `widgets`: what follows drops stale positions itself.
    slider._debounce = 0  # noqa: SLF001

    def put(event: Any) -> None:
        if event.new is not None:
            choice.param.update(**{name: int(event.new)})

    slider.param.watch(put, "value")
    return slider


def _sizes(choice: ModelChoice, name: str) -> dict[str, int]:
    sizes = {*choice.sizes(name), getattr(choice, name)}
    return {model_chart.write_size(name, each): each for each in sorted(sizes)}


def _uncovered(collective: str, cube: xr.Dataset | None) -> str:
    missing = [] if cube is None else covered(collective, methods_of(cube))[1]
    return f"<p>No model covers {escape(', '.join(missing))}.</p>" if missing else ""


def _has_optimum(collective: str, algorithm: str) -> bool:
    known = BY_NAME.get((collective, algorithm, "hockney"))
    return known is not None and bool(known.candidates)


class _Held(Viewer):
    """Sliders of the sizes that a chart holds."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self.sliders = {
            "comm_size": _size_slider(choice, "comm_size", "Processes"),
            "message_size": _size_slider(choice, "message_size", "Message size"),
        }

    def refresh(self, *hidden: str) -> None:
        """Offer the sizes that there are now."""
        for name, slider in self.sliders.items():
            slider.param.update(
                options=_sizes(self._choice, name), value=getattr(self._choice, name), visible=name not in hidden
            )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Row(*self.sliders.values(), margin=0)


class Curves(Viewer):
    """Model against measurement.

    Parameters
    ----------
    choice
        Of the page.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self._drawn: Any = None
        self.live = LiveSources()
        axes = {title: name for name, title in AXES.items()}
        one_line = {"& .MuiToggleButton-root": {"whiteSpace": "nowrap"}}
        self.axis = RadioButtonGroup(label="", options=axes, value=choice.axis, size="small", width=360, sx=one_line)
        self.log = Switch(label="Logarithmic", value=choice.log)
        self.log.link(choice, value="log", bidirectional=True)
        self.axis.link(choice, value="axis", bidirectional=True)
        self.held = _Held(choice)
        self._view: View | None = None
        self.rested = Rested(self._tell, REST)
        self.title = pn.pane.HTML("", margin=(4, 12, 0, 12))
        self.time = pn.pane.HoloViews(None, sizing_mode="stretch_width", height=model_chart.HEIGHT)
        self.residual = pn.pane.HoloViews(None, sizing_mode="stretch_width", height=model_chart.RESIDUAL_HEIGHT)
        # Not the pane itself is hidden: it would hand its settings on to the plot, which has no such ones.
        self.below = pn.Column(self.residual, sizing_mode="stretch_width", margin=0)
        self.legend = pn.pane.HTML("", stylesheets=[legend.STYLE], **_WIDE)

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(self.axis, self.log, self.held, align_items="center", sizing_mode="stretch_width")
        return pn.Column(bar, self.title, self.time, self.below, self.legend, sizing_mode="stretch_width", margin=0)

    def update(self) -> None:
        """Follow the choice."""
        view, cube, parameters = self._choice.view(), self._choice.cube(), self._choice.effective()
        barrier = view.collective == "barrier"
        hidden = {"message_size": ["message_size"], "comm_size": ["comm_size"], "segment_size": []}[view.axis]
        self.held.refresh(*hidden, *(["message_size"] if barrier else []))
        self.axis.disabled = barrier
        lines = evaluate(view, parameters, cube)
        columns = model_chart.chart_columns(view, lines)
        key = (view.held(), tuple(parameters), None if cube is None else (cube.attrs.get("digest"), dict(cube.sizes)))
        with hold(pn.state.curdoc):
            self.title.object = f"<strong>{model_chart.title(view)}</strong>"
            if key == self._drawn:
                model_chart.update_charts(columns, self.live, measured=view != self._view)
            else:
                self.time.object = model_chart.time_chart(view, columns, self.live)
                self.residual.object = model_chart.residual_chart(view, columns, self.live)
                self._drawn = key
            self._view = view
            self.below.visible = any(points.at.size for points in lines.points)
        self.rested.ask()

    def _tell(self, _: Any = None) -> None:
        view, cube = self._choice.view(), self._choice.cube()
        lines = evaluate(view, self._choice.effective(), cube)
        self.legend.object = legend_table(view, lines) + _uncovered(view.collective, cube)


class OptimalSegments(Viewer):
    """Duration over segment sizes with the best one.

    Parameters
    ----------
    choice
        Of the page.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self._drawn: Any = None
        self._quiet = False
        self.live = LiveSources()
        self.algorithm = Select(label="Algorithm", options=[], width=200)
        self.held = _Held(choice)
        self.message = pn.pane.HTML("", margin=(8, 12))
        self.title = pn.pane.HTML("", margin=(4, 12, 0, 12))
        self.chart = pn.pane.HoloViews(None, sizing_mode="stretch_width", height=model_segments.HEIGHT)
        self.table = pn.pane.HTML("", stylesheets=[legend.STYLE], **_WIDE)
        self.found = pn.Column(self.title, self.chart, self.table, sizing_mode="stretch_width", margin=0)
        self.algorithm.param.watch(self._again, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(self.algorithm, self.held, align_items="center", sizing_mode="stretch_width")
        return pn.Column(bar, self.message, self.found, sizing_mode="stretch_width", margin=0)

    def update(self) -> None:
        """Follow the choice."""
        choice = self._choice
        cut = [n for n, each in MODELS[choice.collective].items() if each.segmented not in ("", "first")]
        pays = [name for name in cut if _has_optimum(choice.collective, name)]
        value = self.algorithm.value if self.algorithm.value in cut else next(iter([*pays, *cut]), None)
        self._quiet = True
        try:
            self.algorithm.param.update(options=cut, value=value)
        finally:
            self._quiet = False
        self.held.refresh()
        told = "" if cut else f"No algorithm of {choice.collective} is cut into segments of a size to choose."
        if cut and choice.message_size < 1:
            told = "A message of no bytes has no segments."
        self.message.object = told
        self.found.visible = not told
        if not told and value is not None:
            self._draw(value)

    def _again(self, *_: Any) -> None:
        if not self._quiet:
            self.update()

    def _draw(self, algorithm: str) -> None:
        choice = self._choice
        shown, cube = choice.view(), choice.cube()
        view = View(
            choice.collective, "segment_size", shown.methods, shown.models, choice.comm_size, choice.message_size
        )
        method, effective = ModelMethod(algorithm), choice.effective()
        found = {
            name: model_segments.Segmentation.of(
                view.collective, algorithm, effective[name], view.comm_size, view.message_size
            )
            for name in view.models
        }
        columns = model_segments.segment_columns(found, view, method, cube)
        key = (view.collective, view.models)
        with hold(pn.state.curdoc):
            self.title.object = f"<strong>{model_segments.title(view, method)}</strong>"
            if key == self._drawn:
                for name, each in columns.items():
                    self.live.update(name, each)
            else:
                self.chart.object = model_segments.segment_chart(view, columns, self.live)
                self._drawn = key
            self.table.object = model_segments.segment_table(found)


class TimeLine(Viewer):
    """Who sends what when, simulated.

    Parameters
    ----------
    choice
        Of the page.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self.algorithm = Select(label="Algorithm", options=[], width=170)
        self.model = Select(label="Model", options=[], width=150)
        self.processes = int_slider(label="Processes", start=2, end=PROCESSES, value=6, width=135)
        sizes = {format_bytes(2**power): 2**power for power in range(4, 21)}
        self.message_size = DiscreteSlider(label="Message size", options=sizes, value=8192, width=160)
        self.segments = int_slider(label="Segments", start=1, end=16, value=4, width=135)
        self.message = pn.pane.HTML("", margin=(8, 12))
        self.chart = pn.pane.HoloViews(None, sizing_mode="stretch_width")
        self.table = pn.pane.HTML("", stylesheets=[legend.STYLE], **_WIDE)
        self.found = pn.Column(self.chart, self.table, sizing_mode="stretch_width", margin=0)
        self.redraw = Newest(self._draw)
        self._quiet = False
        for widget in (self.algorithm, self.model, self.processes, self.message_size, self.segments):
            widget.param.watch(self._again, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        widgets = [self.algorithm, self.model, self.processes, self.message_size, self.segments]
        return pn.Column(
            pn.FlexBox(*widgets, align_items="center", sizing_mode="stretch_width"),
            self.message,
            self.found,
            sizing_mode="stretch_width",
            margin=0,
        )

    def update(self) -> None:
        """Follow the choice."""
        names = list(MODELS[self._choice.collective])
        models = {MODEL_TITLES[name]: name for name in self._choice.effective()}
        shown = next((each.algorithm for each in self._choice.methods), names[0])
        self._quiet = True
        try:
            value = self.algorithm.value if self.algorithm.value in names else shown
            self.algorithm.param.update(options=names, value=value)
            preferred = "loggp" if "loggp" in models.values() else next(iter(models.values()))
            value = self.model.value if self.model.value in models.values() else preferred
            self.model.param.update(options=models, value=value)
        finally:
            self._quiet = False
        self._draw()

    def _again(self, *_: Any) -> None:
        if not self._quiet:
            self.redraw.ask()

    def _draw(self) -> None:
        choice, algorithm = self._choice, self.algorithm.value
        effective = choice.effective()
        if algorithm not in MODELS[choice.collective] or self.model.value not in effective:
            return
        known = model_of(choice.collective, algorithm)
        self.segments.visible = bool(known.segmented)
        self.message_size.visible = choice.collective != "barrier"
        processes, size = int(self.processes.value), int(self.message_size.value)
        whole = float(known.whole(processes, size))
        segment = max(-(-whole // self.segments.value), 1.0) if known.segmented and self.segments.value > 1 else 0
        try:
            run = simulate(
                schedule(choice.collective, algorithm, processes, size, segment), effective[self.model.value]
            )
        except ModelError as error:
            self._tell(f"{error}; move the slider.")
            return
        if len(run.messages) > model_timeline.MOST_MESSAGES:
            self._tell(f"{len(run.messages):,} messages are too many to be drawn; take fewer processes or segments.")
            return
        with hold(pn.state.curdoc):
            self._tell("")
            self.chart.object = model_timeline.timeline("Time line", run)
            self.table.object = model_timeline.timeline_table(run)

    def _tell(self, text: str) -> None:
        self.message.object = text
        self.found.visible = not text


class Formulas(Viewer):
    """Formulas of the collective.

    Parameters
    ----------
    choice
        Of the page.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self._written = ""
        self.text = pn.pane.HTML("", stylesheets=[model_formulas.STYLE], **_WIDE)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.text, sizing_mode="stretch_width", margin=0)

    def update(self) -> None:
        """Follow the choice."""
        if self._written != self._choice.collective:
            self._written = self._choice.collective
            self.text.object = model_formulas.formulas(MODELS[self._written].values(), compared())


class Errata(Viewer):
    """What is wrong in print, of the collective or everywhere.

    Parameters
    ----------
    choice
        Of the page.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self.all = Switch(label="Of all collectives", value=False)
        self.text = pn.pane.HTML("", stylesheets=[model_formulas.STYLE], **_WIDE)
        self.all.param.watch(lambda _: self.update(), "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.all, self.text, sizing_mode="stretch_width", margin=0)

    def update(self) -> None:
        """Follow the choice."""
        found = [each for each in errata() if self.all.value or each.collective in (self._choice.collective, "")]
        told = model_formulas.errata_list(found)
        if told != self.text.object:
            self.text.object = told
