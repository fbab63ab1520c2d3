"""Page *Models*: what the communication models say, beside what was measured."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.domain.errors import DecisionError
from dashboard.models import MODEL_NAMES, MODEL_TITLES, MODELS
from dashboard.models.family import FAMILY
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.curves import Curves
from dashboard.pages.models.decide import Deciding
from dashboard.pages.models.drawn import DrawnParameters
from dashboard.pages.models.fits import Fits
from dashboard.pages.models.grids import Grids
from dashboard.pages.models.optimal import Optimal
from dashboard.pages.models.parameters import WIDTH, ParameterPanel
from dashboard.pages.models.parts import REST
from dashboard.pages.models.processes import OverProcesses
from dashboard.pages.models.schedule import Scheduled
from dashboard.pages.models.segments import OptimalSegments
from dashboard.pages.models.texts import Errata, Formulas
from dashboard.pages.models.view import read_view, write_view
from dashboard.pages.parts.columns import columns
from dashboard.pages.parts.fold import open_tabs
from dashboard.pages.parts.later import Newest, Rested
from dashboard.pages.parts.menus import ppn_menu
from dashboard.pages.parts.options import widget_of
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import Message, MultiChoice, Select, Switch
from dashboard.plots.models.chart import MOST_METHODS
from dashboard.session.recipes import said
from dashboard.session.state import DRAWN, ResultsOrState

PAGE = "Models"
TABS = (
    "Curves",
    "Segment size",
    "Decision",
    "Optimal",
    "Fit",
    "Formulas",
    "Errata",
    "Schedule",
    "Processes",
    "Parameters",
    "Grids",
)
#: Tabs that need methods and models to be chosen.
_CURVES = 2
_NOTHING = "Choose at least one method and one model."


class ModelsPage(Page):
    """Models against measurement, and what follows from them; works without measurements too."""

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        state = self.state
        self.choice = choice = ModelChoice(state)
        self._written = ""
        self._data: Any = None
        self.ppn = ppn_menu(state)
        self._make_menus(choice)
        self.message = Message()
        self.panel = ParameterPanel(choice)
        self.parts = (
            Curves(choice),
            OptimalSegments(choice),
            Deciding(state, choice),
            Optimal(choice),
            Fits(choice, self.panel.fit_again),
            Formulas(choice),
            Errata(choice),
            Scheduled(choice),
            OverProcesses(choice),
            DrawnParameters(choice),
            Grids(choice),
        )
        self.tabs = open_tabs(dict(zip(TABS, self.parts, strict=True)))
        self.redraw = Newest(self._update)
        # The address may wait: curves that follow a slider may not.
        self.writing = Rested(self._write, REST)
        self.saying = Rested(self._say, REST)
        for part in self.parts:
            part.begin(self._own)
        self.choosing(self.collective, self._set_collective)
        self.choosing(self.methods, self._set_methods)
        self.choosing(
            self.models, lambda names: choice.param.update(models=tuple(n for n in MODEL_NAMES if n in names))
        )
        self.variant.link(choice, value="variant", bidirectional=True)
        self.choosing(self.best, lambda best: choice.param.update(case="best" if best else "worst"))
        self.choosing(self.tabs, lambda tab: choice.param.update(tab=tab), "active")
        choice.param.watch(self._changed, [name for name in choice.param if name != "name"])
        state.param.watch(self._follow, [*DRAWN, "page"])
        state.param.watch(self._follow_address, "model_view")
        self._follow()

    def _make_menus(self, choice: ModelChoice) -> None:
        """Menus of what is modelled."""
        self.collective = Select(
            label="Collective",
            options=[],
            width=150,
            description="The operation that is modelled; all pages follow where it was measured. Its algorithms have "
            "formulas in chapter 4 of the dissertation.",
        )
        self.methods = MultiChoice(
            label="Methods",
            options=[],
            width=400,
            max_items=MOST_METHODS,
            description=f"Algorithms with their segment sizes to draw, {MOST_METHODS} at most: measured ones beside "
            "their models, own methods beside the library's, and those without a model by themselves.",
        )
        titles = {MODEL_TITLES[name]: name for name in MODEL_NAMES}
        self.models = MultiChoice(
            label="Models",
            options=titles,
            value=[*choice.models],
            width=320,
            description="Of a message between two processes: Hockney (Parallel Computing 20, 1994), LogP and LogGP "
            "(Culler et al., PPoPP 1993; Alexandrov et al., SPAA 1995), PLogP (Kielmann et al., IPDPS 2000). Formulas "
            "of the collectives build on it (dissertation, chapter 4).",
        )
        self.variant = widget_of(FAMILY.option("variant"), choice.variant, 150)
        self.best = Switch(
            label="Best case",
            value=False,
            description="T_min rather than T_max, for the algorithms of which the dissertation (chapter 4) gives both. "
            "Off: the worst case.",
            margin=(18, 10),
        )

    def __panel__(self) -> pn.viewable.Viewable:
        head = [self.collective, self.ppn, self.methods, self.models, self.variant, self.best]
        return pn.Column(
            pn.FlexBox(*head, align_items="start", sizing_mode="stretch_width"),
            columns([self.panel], [self.message, self.tabs], width=WIDTH + 20),
            sizing_mode="stretch_width",
        )

    def _set_collective(self, name: str | None) -> None:
        if name is None:
            return
        self.choice.show(name)
        if name in self.state.param.collective.objects:
            self.state.collective = name
        self._refresh()

    def _set_methods(self, labels: Sequence[str]) -> None:
        known = {each.label: each for each in self.choice.offered()}
        self.choice.methods = tuple(known[label] for label in labels if label in known)

    def _changed(self, *_: Any) -> None:
        self.redraw.ask()
        if not self._filling:
            self.writing.ask()

    def _own(self) -> None:
        self.saying.ask()
        if not self._filling:
            self.writing.ask()

    def _write(self, _: Any = None) -> None:
        self._written = write_view(self.choice, self.parts[self.tabs.active].kept())
        self.state.model_view = self._written

    def _say(self, _: Any = None) -> None:
        """Say the figures of the tab on show, or how the models decide here, as commands and as Python."""
        recipes = {page: recipe for page, recipe in self.state.recipes.items() if page != PAGE}
        view, name = self.state.view, self.choice.collective
        part = self.parts[self.tabs.active]
        if commands := part.commands():
            recipes[PAGE] = said(commands)
        elif not isinstance(part, Deciding):
            none = f"# There is no command for the tab {TABS[self.tabs.active]}; the link shows it."
            recipes[PAGE] = none, none
        elif name in view.collectives:
            with suppress(DecisionError):
                recipes[PAGE] = view.beside(name).choosing(self.choice.decision())
        if recipes != self.state.recipes:
            self.state.recipes = recipes

    def _follow(self, *_: Any) -> None:
        state, choice = self.state, self.choice
        if not state.on_show(PAGE):
            return
        key = state.view.data_key
        if key != self._data:
            self._data = key
            if state.collective in choice.param.collective.objects:
                with self.filling():
                    choice.show(state.collective)
        if state.model_view != self._written:
            self._read()
        self._refresh()
        self._say()

    def _follow_address(self, *_: Any) -> None:
        if self.state.model_view != self._written:
            self._follow()

    def _read(self) -> None:
        """Take the view that an address tells."""
        self._written = self.state.model_view
        with self.filling():
            notices = read_view(self.choice, self._written)
        if not self.choice.own:
            self.parts[min(self.choice.tab, len(TABS) - 1)].reset()
        if self.choice.collective in self.state.param.collective.objects:
            self.state.collective = self.choice.collective
        if notices:
            self.state.notice = " ".join(filter(None, [self.state.notice, *notices]))
            # No link is to hold what cannot be used.
            self._written = self.state.model_view = write_view(self.choice, self.choice.own)

    def _refresh(self) -> None:
        with self.filling():
            self._fill()
        self.panel.refresh()
        self.redraw.ask()

    def _fill(self) -> None:
        choice = self.choice
        choice.fit_to_results()
        self.collective.param.update(options=list(choice.param.collective.objects), value=choice.collective)
        labels = [each.label for each in choice.methods]
        self.methods.param.update(options=[each.label for each in choice.offered()], value=labels)
        self.tabs.active = min(choice.tab, len(TABS) - 1)
        formulas = [each.formula(name) for each in MODELS[choice.collective].values() for name in MODEL_NAMES]
        both = any(each.best is not None for each in formulas)
        self.best.param.update(visible=both, value=choice.case == "best")

    def _update(self) -> None:
        if not self.state.on_show(PAGE):
            return
        choice = self.choice
        obstacle = "" if choice.methods and choice.view().models else _NOTHING
        if self.models.value != list(choice.models):
            with self.filling():
                self.models.value = list(choice.models)
        with hold(pn.state.curdoc):
            curves = self.tabs.active < _CURVES
            self.message.say(obstacle if curves else "")
            if not (obstacle and curves):
                self.parts[self.tabs.active].update()
        if (given := choice.own) and self.tabs.active == choice.tab:
            with self.filling():
                self.choice.own = {}
                self.parts[self.tabs.active].take(given)
        self.saying.ask()
