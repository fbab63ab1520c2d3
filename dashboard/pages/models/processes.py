"""The tab of the page *Models* that draws one method on several numbers of processes."""

from dataclasses import replace
from html import escape
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.models import MODEL_TITLES
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, chart, heading, html
from dashboard.pages.parts.widgets import Switch
from dashboard.plots.models import chart as model_chart
from dashboard.plots.models.legend import processes_table
from dashboard.plots.models.processes import by_processes, shown_sizes
from loaders.collectives import COLLECTIVES


class OverProcesses(Part):
    """Duration over message sizes, a line for each number of processes (Figures 4.22 and 4.24)."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.method = self.menu("Method", 260, "The method whose duration is drawn, measured and by a model.")
        self.model = self.menu("Model", 160, "The model whose lines are drawn beside the measurements.")
        self.total = Switch(
            label="Total buffer",
            value=False,
            description="To the right the bytes of the whole buffer, the block times the number of processes, as "
            "Figure 4.24 of the dissertation has it for alltoall. Off: the message size.",
        )
        self.total.param.watch(self.again, "value")
        self.title, self.legend = heading(), html()
        self.chart = chart(model_chart.HEIGHT)
        self.bar.objects = [self.method, self.model, self.total]
        self.results.objects = [self.title, self.chart, self.legend]

    def own(self) -> dict[str, Any]:
        """What is drawn, and over which bytes."""
        return {"method": self.method, "model": self.model, "total": self.total}

    def commands(self) -> list[list[str]]:
        """One for each line: its time at the message size that is held."""
        choice, method = self._choice, self.method.value
        if not self.results.visible or method is None or not method.modelled or self.model.value is None:
            return []
        return [choice.predicting(method, self.model.value, size) for size in self._sizes()]

    def _sizes(self) -> list[int]:
        cube = self._choice.cube()
        known = self._choice.sizes("comm_size") if cube is None else [int(p) for p in cube["comm_size"].values]
        return list(shown_sizes(known))

    def update(self) -> None:
        """Follow the choice."""
        choice, cube = self._choice, self._choice.cube()
        view = choice.view(axis="message_size")
        if choice.collective == "barrier":
            self.tell("A barrier has no message sizes; the tab Curves draws it over the number of processes.")
            return
        offered = {each.label: each for each in choice.offered()}
        method = self.offer(self.method, offered, *choice.methods)
        titles = {MODEL_TITLES[name]: name for name in choice.effective()}
        model = self.offer(self.model, titles, *view.models)
        self.total.visible = COLLECTIVES[choice.collective].by_block
        total = bool(self.total.value) and self.total.visible
        self.tell("" if method is not None else "There is no method to draw.")
        if method is None:
            return
        view = replace(view, models=() if model is None else (model,))
        alone, lines = by_processes(view, method, self._sizes(), choice.effective(), cube, total=total)
        columns = model_chart.chart_columns(alone, lines)
        what = "total buffer" if total else "message size"
        with hold(pn.state.curdoc):
            self.title.object = f"<strong>{choice.collective} {escape(method.label)} over {what}</strong>"
            self.chart.object = model_chart.time_chart(alone, columns, self.live, what)
            self.legend.object = processes_table(alone, lines)
