"""The tab of the page *Models* that draws who sends what when."""

from typing import Any

import panel as pn
from panel.io import hold

from dashboard.domain.units import format_bytes
from dashboard.models import MODEL_TITLES, MODELS, ModelError, model_of
from dashboard.models.programs import programs_of
from dashboard.models.simulator import simulate
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, html
from dashboard.pages.parts.later import Newest
from dashboard.pages.parts.widgets import DiscreteSlider, Figure, LiveIntSlider
from dashboard.plots.models import timeline as model_timeline

PROCESSES = 16


class TimeLine(Part):
    """Who sends what when, simulated."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.algorithm = self.menu(
            "Algorithm",
            170,
            "Who sends what to whom is run message by message, without the formula. The order of the "
            "messages is that of chapter 4 of the dissertation.",
        )
        self.model = self.menu(
            "Model",
            150,
            "How long a message keeps sender, wire and receiver: Hockney, LogP / LogGP or PLogP. LogGP "
            "(Alexandrov et al., SPAA 1995) tells processor and port apart.",
        )
        self.processes = LiveIntSlider(
            label="Processes",
            start=2,
            end=PROCESSES,
            value=6,
            width=135,
            description="Lines of the picture. It is for reading, so there are few.",
        )
        sizes = {format_bytes(2**power): 2**power for power in range(4, 21)}
        self.message_size = DiscreteSlider(
            label="Message size",
            options=sizes,
            value=8192,
            width=175,
            description="Bytes of the vector, or of the block of each process where the collective has blocks "
            "(dissertation, chapter 4).",
        )
        self.segments = LiveIntSlider(
            label="Segments",
            start=1,
            end=16,
            value=4,
            width=135,
            description="Into how many pieces the message is cut; 1: it is sent whole. More of them overlap better, "
            "and cost a latency each (dissertation, chapter 4).",
        )
        self.chart = Figure(None, sizing_mode="stretch_width")
        self.table = html()
        self.bar.objects = [self.algorithm, self.model, self.processes, self.message_size, self.segments]
        self.results.objects = [self.chart, self.table]
        self.redraw = Newest(self._draw)
        for widget in (self.processes, self.message_size, self.segments):
            widget.param.watch(self.again, "value")

    def own(self) -> dict[str, Any]:
        """What is simulated."""
        sizes = {"processes": self.processes, "message_size": self.message_size, "segments": self.segments}
        return {"algorithm": self.algorithm, "model": self.model, **sizes}

    def update(self) -> None:
        """Follow the choice."""
        names = list(MODELS[self._choice.collective])
        models = {MODEL_TITLES[name]: name for name in self._choice.effective()}
        self.offer(self.algorithm, names, *(each.algorithm for each in self._choice.methods))
        self.offer(self.model, models, "loggp")
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
        largest = float(known.largest_segment(processes, size))
        segment = max(-(-largest // self.segments.value), 1.0) if known.segmented and self.segments.value > 1 else 0
        try:
            run = simulate(
                programs_of(choice.collective, algorithm, processes, size, segment), effective[self.model.value]
            )
        except ModelError as error:
            self.tell(f"{error}; move the slider.")
            return
        if len(run.messages) > model_timeline.MOST_MESSAGES:
            self.tell(f"{len(run.messages):,} messages are too many to be drawn; take fewer processes or segments.")
            return
        with hold(pn.state.curdoc):
            self.tell("")
            self.chart.object = model_timeline.timeline("Time line", run)
            self.table.object = model_timeline.timeline_table(run)
