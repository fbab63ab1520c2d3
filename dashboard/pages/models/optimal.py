"""The tab of the page *Models* with the optimal implementation: each algorithm with its best segment size."""

from functools import partial
from typing import Any

import numpy as np
import panel as pn
import xarray as xr
from panel.io import hold

from dashboard.models import MODEL_TITLES, ModelError
from dashboard.models.deciding import decision_of_optimal
from dashboard.models.optimal_map import optimal_map, times_of
from dashboard.models.parameter_text import write_set
from dashboard.pages.models.choice import COMM_SIZES, MESSAGE_SIZES, ModelChoice
from dashboard.pages.models.parts import REST, Part, chart, side_by_side, tables
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.widgets import FileDownload, Select
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.models import optimal as model_optimal
from dashboard.plots.raster import Raster

MULTIPLES = {"1 byte": 1, "4 bytes": 4, "8 bytes (doubles)": 8, "1 KiB": 1024}


class Optimal(Part):
    """Optimal algorithms and their optimal segment sizes (Figure 6.2)."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.model = self.menu(
            "Model",
            150,
            "The model that predicts every algorithm with every segment size; the fastest is shown. This "
            "is how Figure 6.2 of the dissertation was made.",
        )
        self.multiple = Select(
            label="Segments in multiples of",
            options=MULTIPLES,
            value=8,
            width=210,
            description="Segments hold whole elements, so only such sizes are tried. 8 bytes are an element of type "
            "double.",
        )
        self.panes = {name: chart(HEIGHT) for name in ("algorithm", "segment")}
        flex = {"sizing_mode": "stretch_width", "min_width": 330, "margin": 4, "styles": {"flex": "1 1 400px"}}
        columns = [pn.Column(pane, **flex) for pane in self.panes.values()]
        self.algorithms, self.segments = tables(2)
        self.save = FileDownload(
            lambda: decision_of_optimal(self.optimal, choice.current()).to_json(),
            label="Save the decision function",
            filename="optimal.json",
            size="small",
        )
        self.bar.objects = [self.model, self.multiple, self.save]
        self.results.objects = [
            self.warning,
            side_by_side(*columns, margin=0),
            side_by_side(self.algorithms, self.segments, align_items="start"),
        ]
        self.optimal: xr.Dataset | None = None
        self.rested = Rested(self._show, REST)
        self.multiple.param.watch(self.again, "value")

    def update(self) -> None:
        """Follow the choice."""
        self.offer(self.model, {MODEL_TITLES[name]: name for name in self._choice.effective()})
        self.rested.ask()

    def own(self) -> dict[str, Any]:
        """Model, and what segments are multiples of."""
        return {"model": self.model, "multiple": self.multiple}

    def commands(self) -> list[list[str]]:
        """The one that makes the same map."""
        choice, (comm_sizes, message_sizes) = self._choice, self._sizes()
        if not self.results.visible or self.model.value not in choice.effective():
            return []
        what = ["-c", choice.collective, "--optimal", "--model", self.model.value]
        sizes = ["--comm-size", *map(str, comm_sizes), "--message-size", *map(str, message_sizes)]
        network = write_set(choice.current())
        further = ["--parameters", network, "--multiple", str(self.multiple.value)]
        return [["model", "map", *what, *sizes, *further]]

    def _sizes(self) -> tuple[Any, Any]:
        cube = self._choice.cube()
        if cube is None:
            return np.array(COMM_SIZES), np.array(MESSAGE_SIZES)
        count = cube["comm_size"].values
        return count[count > 1], cube["message_size"].values

    def _show(self, _: Any = None) -> None:
        choice, model = self._choice, self.model.value
        effective = choice.effective()
        if model not in effective:
            self.tell("There are no parameters of any model.")
            return
        if choice.collective == "barrier":
            self.tell("A barrier has no message to cut.")
            return
        sizes = self._sizes()
        if not sizes[0].size:
            self.tell("One process sends nothing.")
            return
        key = choice.data(), effective[model], self.multiple.value
        if key == self._drawn:
            self.tell("")
            return
        try:
            optimum = optimal_map(choice.collective, effective[model], *sizes, multiple=int(self.multiple.value))
        except ModelError as error:
            self.tell(str(error))
            return
        self._drawn, self.optimal = key, optimum
        axes = Axes.of(optimum)
        raster, colors = Raster.of(axes), MethodKey.of(optimum["candidate"].values, choice.scheme)
        where = f"{choice.collective}, {MODEL_TITLES[model]}"
        with hold(pn.state.curdoc):
            self.tell("")
            self.warn({model: partial(times_of, optimum)})
            for name, layers in (
                ("algorithm", model_optimal.algorithm_layers(optimum, axes, raster, colors)),
                ("segment", model_optimal.segment_layers(optimum, axes, raster)),
            ):
                title = f"Optimal {'algorithms' if name == 'algorithm' else 'segment sizes'}: {where}"
                self.panes[name].object = stacked(title, axes, layers, self.live)
            self.algorithms.object = model_optimal.algorithm_legend(optimum, colors)
            self.segments.object = model_optimal.segment_legend(optimum)
