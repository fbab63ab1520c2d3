"""The tab of the page *Models* that finds optimal segment sizes."""

from functools import partial
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_bytes
from dashboard.models import MODELS, PointToPointModel
from dashboard.models.segments import Segmentation
from dashboard.models.segments.closed import BY_NAME
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import REST, Held, Part, chart, heading, html
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.widgets import Select
from dashboard.plots.models import pays
from dashboard.plots.models import segments as model_segments
from dashboard.plots.models.curves import View
from dashboard.plots.models.methods import ModelMethod

#: Segment sizes that are set against none, bytes.
CUT_SIZES = (1024, 4096, 8192, 16384, 65536)


class OptimalSegments(Part):
    """Duration over segment sizes with the best one."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.algorithm = self.menu(
            "Algorithm",
            200,
            "Algorithms that cut the message into segments of a size that can be chosen. The optimal size has the "
            "least time with whole segments; beside it what the formula says, whose numbers of segments need not be "
            "whole: its closed form (dissertation, chapter 5), or a search where there is none.",
        )
        self.held = Held(choice)
        sizes = {format_bytes(size): size for size in CUT_SIZES}
        self.cut = Select(
            label="Segments of",
            options=sizes,
            value=CUT_SIZES[0],
            width=110,
            description="Of the lower chart: at which message sizes do segments of this size pay (dissertation, "
            "Figure 4.23).",
        )
        self.cut.param.watch(self.again, "value")
        self.title, self.table, self.where = heading(), html(), html()
        self.pays = chart(pays.HEIGHT)
        self.rested = Rested(self._draw_ratios, REST)
        self.chart = chart(model_segments.HEIGHT)
        self.bar.objects = [self.algorithm, self.held, self.cut]
        self.results.objects = [self.warning, self.title, self.chart, self.table, self.pays, self.where]

    def update(self) -> None:
        """Follow the choice."""
        choice = self._choice
        cut = [n for n, each in MODELS[choice.collective].items() if each.sizable]
        pays = [name for name in cut if _has_optimum(choice.collective, name)]
        value = self.offer(self.algorithm, cut, *pays)
        self.algorithm.visible = self.cut.visible = bool(cut)
        self.held.refresh(*([] if cut else self.held.sliders))
        obstacle = "" if cut else f"No algorithm of {choice.collective} is cut into segments of a size to choose."
        if cut and choice.message_size < 1:
            obstacle = "A message of no bytes has no segments."
        if cut and choice.comm_size < 2:
            obstacle = "One process sends nothing."
        self.tell(obstacle)
        if not obstacle and value is not None:
            self._draw(value)

    def own(self) -> dict[str, Any]:
        """Algorithm, and segments that are set against none."""
        return {"algorithm": self.algorithm, "cut": self.cut}

    def commands(self) -> list[list[str]]:
        """One for each model on show."""
        choice = self._choice
        if not self.results.visible:
            return []
        what = ["-c", choice.collective, "--algorithm", str(self.algorithm.value)]
        sizes = ["--comm-size", str(choice.comm_size), "--message-size", str(choice.message_size)]
        models = choice.view().models
        return [["model", "segments", *what, "--model", name, *sizes, *choice.words()] for name in models]

    def _draw(self, algorithm: str) -> None:
        choice = self._choice
        view = choice.view(axis="segment_size")
        method, effective = ModelMethod(algorithm), choice.effective()
        sizes = view.comm_size, view.message_size, view.variant
        curves = {name: Segmentation.of(view.collective, algorithm, effective[name], *sizes) for name in view.models}
        columns = model_segments.segment_columns(curves, view, method, choice.cube())
        key = (view.collective, view.models)
        with hold(pn.state.curdoc):
            self.title.object = f"<strong>{model_segments.title(view, method)}</strong>"
            if key == self._drawn:
                for name, each in columns.items():
                    self.live.update(name, each)
            else:
                self.chart.object = model_segments.segment_chart(view, columns, self.live)
                self._drawn = key
            self.table.object = model_segments.segment_table(curves)
            self.warn({name: partial(_time_of, view, algorithm, each.optimum) for name, each in curves.items()})
        self.rested.ask()

    def _draw_ratios(self, _: Any = None) -> None:
        """Set segments of one size against none, once sliders rest."""
        choice, algorithm, size = self._choice, self.algorithm.value, int(self.cut.value)
        if algorithm not in MODELS[choice.collective]:
            return
        over = choice.view(axis="message_size")
        ratios = pays.ratios_of(over, algorithm, size, choice.effective(), choice.cube())
        with hold(pn.state.curdoc):
            self.pays.object = pays.pays_chart(ratios)
            self.where.object = pays.pays_text(ratios, size)


def _has_optimum(collective: str, algorithm: str) -> bool:
    known = BY_NAME.get((collective, algorithm, "hockney"))
    return known is not None and bool(known.candidates)


def _time_of(view: View, algorithm: str, segment: float, parameters: PointToPointModel) -> FloatArray:
    """Time, s, in segments of this size by other parameters."""
    sizes = view.comm_size, view.message_size, segment
    return MODELS[view.collective][algorithm].predict(parameters, *sizes, variant=view.variant)
