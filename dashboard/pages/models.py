"""Page *Models*: what the communication models say, beside what was measured."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import panel as pn
from panel.io import hold
from panel.viewable import Viewer

from dashboard.models import MODEL_NAMES, MODEL_TITLES
from dashboard.pages._later import Newest
from dashboard.pages._model_choice import ModelChoice
from dashboard.pages._model_parameters import ParameterPanel
from dashboard.pages._model_tabs import Curves, Errata, Formulas, OptimalSegments, TimeLine
from dashboard.pages.widgets import Alert, MultiChoice, Select, Tabs
from dashboard.plots.model_chart import MOST_METHODS
from dashboard.state import DATA, State

PAGE = "Models"
TABS = ("Model and measurement", "Optimal segment size", "Time line", "Formulas", "Errata")
_NOTHING = "Choose at least one method and one model."


class ModelsPage(Viewer):
    """Models against measurement, and what follows from them; works without measurements too.

    Parameters
    ----------
    state
        Choices of the session: its results and its collective.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        hv.extension("bokeh", logo=False)
        self.state = state
        self.choice = choice = ModelChoice(state)
        self._quiet = False
        self._data: Any = None
        self.collective = Select(label="Collective", options=[], width=170)
        self.methods = MultiChoice(label="Methods", options=[], width=440, max_items=MOST_METHODS)
        self.models = MultiChoice(
            label="Models",
            options={MODEL_TITLES[name]: name for name in MODEL_NAMES},
            value=[*choice.models],
            width=320,
        )
        self.message = Alert(object="", severity="info", sizing_mode="stretch_width", visible=False)
        self.panel = ParameterPanel(state, choice)
        self.parts = (Curves(choice), OptimalSegments(choice), TimeLine(choice), Formulas(choice), Errata(choice))
        self.tabs = Tabs(*zip(TABS, self.parts, strict=True), sizing_mode="stretch_width")
        self.redraw = Newest(self._update)
        self.collective.param.watch(self._set_collective, "value")
        self.methods.param.watch(self._set_methods, "value")
        self.models.param.watch(self._set_models, "value")
        self.tabs.param.watch(self.redraw.ask, "active")
        choice.param.watch(self.redraw.ask, [name for name in choice.param if name not in ("name", "name_of_set")])
        state.param.watch(self._follow, [*DATA, "page"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        right = pn.Column(
            self.message, self.tabs, sizing_mode="stretch_width", min_width=480, margin=0, styles={"flex": "1 1 600px"}
        )
        return pn.Column(
            pn.FlexBox(self.collective, self.methods, self.models, align_items="start", sizing_mode="stretch_width"),
            pn.FlexBox(
                self.panel, right, sizing_mode="stretch_width", margin=0, align_items="start", flex_wrap="nowrap"
            ),
            sizing_mode="stretch_width",
        )

    def _set_collective(self, event: Any) -> None:
        if self._quiet or event.new is None:
            return
        self.choice.show(event.new)
        if event.new in self.state.param.collective.objects:
            self.state.collective = event.new
        self._refresh()

    def _set_methods(self, event: Any) -> None:
        if not self._quiet:
            known = {each.label: each for each in self.choice.offered()}
            self.choice.methods = tuple(known[label] for label in event.new if label in known)

    def _set_models(self, event: Any) -> None:
        if not self._quiet:
            self.choice.models = tuple(name for name in MODEL_NAMES if name in event.new)

    def _follow(self, *_: Any) -> None:
        state, choice = self.state, self.choice
        if state.page != PAGE:
            return
        key = state.data_key()
        if key != self._data:
            self._data = key
            if state.collective in choice.param.collective.objects:
                choice.show(state.collective)
        self._refresh()

    def _refresh(self) -> None:
        choice = self.choice
        choice.fit_to_results()
        self._quiet = True
        try:
            self.collective.param.update(options=list(choice.param.collective.objects), value=choice.collective)
            labels = [each.label for each in choice.methods]
            self.methods.param.update(options=[each.label for each in choice.offered()], value=labels)
        finally:
            self._quiet = False
        self.panel.refresh()
        self.redraw.ask()

    def _update(self) -> None:
        if self.state.page != PAGE:
            return
        choice = self.choice
        told = "" if choice.methods and choice.view().models else _NOTHING
        if self.models.value != list(choice.models):
            self.models.value = list(choice.models)
        with hold(pn.state.curdoc):
            self.message.param.update(object=told, visible=bool(told))
            if not told or self.tabs.active > 1:
                self.parts[self.tabs.active].update()
