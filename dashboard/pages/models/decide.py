"""The tab of the page *Models* that decides: the models' map beside the measured one, and what it costs."""

from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import numpy as np
import panel as pn
from panel.io import hold

from dashboard.decisions import DecisionError, DecisionFunction
from dashboard.decisions.judged.penalty import summarise_all
from dashboard.domain.units import format_count, format_names
from dashboard.export.provenance import unsure
from dashboard.models import ModelError
from dashboard.models.deciding import (
    NO_PENALTY,
    TOGETHER,
    completed_like,
    covered_penalty,
    decision_of_map,
    model_map,
    model_penalties,
)
from dashboard.models.family import FAMILY, read_trust
from dashboard.models.predicting import Covered, methods_named
from dashboard.pages.models.choice import COMM_SIZES, MESSAGE_SIZES, ModelChoice
from dashboard.pages.models.parts import REST, Part, chart, html, paragraph, side_by_side, tables
from dashboard.pages.parts.growing import Background, grow
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.links import page_link
from dashboard.pages.parts.options import common, widget_of
from dashboard.pages.parts.widgets import Alert, Button, MultiChoice, Switch, TextInput
from dashboard.plots import hover, legend, penalty, ties
from dashboard.plots.colors import MethodKey
from dashboard.plots.live import SharedRanges
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.models import decision as model_decision
from dashboard.plots.scene import MapScene
from dashboard.plots.view_maps import Scene
from dashboard.session.choice import Choice
from dashboard.session.state import State

MAPS = {"measured": "Best measured", "model": "By the models", "penalty": "Performance penalty"}
_SHARES = ("best measured", "chosen by the models")
_TAKEN = (
    f"The models decide now: the page {page_link('Decisions')} shows their tree, {page_link('Compare')} and "
    f"{page_link('Frontier')} set it beside others, and it is exported as all others are."
)
_EXACT = (
    "The rows below the decision on show are of the models' exact choices among all measured methods, in all cells: "
    "not filled in, and not written as another tree."
)
_ALONE = "Nothing of this collective was measured: the models decide alone, over sizes that are powers of two."


class Deciding(Part):
    """Decision map and decision function made by models.

    Parameters
    ----------
    state
        Measurements, and where the decision function goes to.
    """

    def __init__(self, state: State, choice: ModelChoice) -> None:
        super().__init__(choice)
        self._state = state
        self._asked: Any = None
        self._hover: Any = None
        option = FAMILY.option
        self.by = widget_of(option("model"), choice.by, 150)
        look: dict[str, Any] = {"width": 290, "size": "small", "margin": (14, 10, 6, 10)}
        self.trust = TextInput(value=choice.trust, **look, **common(option("trust")))
        self.candidates = MultiChoice(options=[], width=380, placeholder="all measured", **common(option("methods")))
        self.encode = widget_of(option("encode"), choice.encode, 120)
        self.fill = Switch(value=choice.fill, margin=(18, 10), **common(option("fill")))
        self.take = Button(label="Take as the decision", variant="contained", size="small", on_click=self._take)
        self.beside = Button(label="Set beside tree A", variant="outlined", size="small", on_click=self._set_beside)
        self.taken = Alert(object=_TAKEN, severity="success", sizing_mode="stretch_width", visible=False)
        self.growing = Background(again=self.update)
        self.growing.text.param.watch(self._follow, "object")
        self.panes = {name: chart(HEIGHT) for name in MAPS}
        flex = {"sizing_mode": "stretch_width", "min_width": 330, "margin": 4, "styles": {"flex": "1 1 330px"}}
        self.columns = {name: pn.Column(pane, **flex) for name, pane in self.panes.items()}
        self.note = pn.pane.HTML("", margin=(2, 12))
        self.figures = html(min_width=330, styles={"flex": "1 1 560px"})
        self.methods, self.classes = tables(2)
        self.methods.stylesheets = self.classes.stylesheets = [legend.STYLE + ties.STYLE]
        self.bar.objects = [self.by, self.trust, self.candidates, self.encode, self.fill, self.take, self.beside]
        self.results.objects = [
            self.note,
            side_by_side(*self.columns.values(), margin=0),
            side_by_side(self.figures, self.methods, self.classes, align_items="start"),
        ]
        self.rested = Rested(self._decide, REST)
        for name in ("by", "encode", "fill"):
            getattr(self, name).link(choice, value=name, bidirectional=True)
        self.choosing(self.trust, self._set_trust)
        self.choosing(self.candidates, lambda labels: choice.param.update(candidates=tuple(labels)))

    def __panel__(self) -> pn.viewable.Viewable:
        body = [self.bar, self.taken, self.growing, self.message, self.coming, self.results]
        return pn.Column(*body, sizing_mode="stretch_width", margin=0)

    def update(self) -> None:
        """Follow the choice."""
        choice = self._choice
        with self.filling():
            labels = [each.label for each in choice.could_choose()]
            self.candidates.param.update(options=labels, value=list(choice.candidates))
            self.trust.param.update(value=choice.trust, visible=choice.by in TOGETHER)
        measured = self._measured()
        self.taken.visible = False
        self.fill.visible = self.take.visible = self.beside.visible = measured
        self.rested.ask()

    def tell(self, text: str) -> None:
        """Show a sentence instead of a decision, which then cannot be taken either."""
        super().tell(text)
        self.take.disabled = self.beside.disabled = bool(text)

    def _follow(self, event: Any) -> None:
        """Show nothing beside what is said of a decision that did not come."""
        if event.new and not self.growing.running:
            self.coming.visible = self.results.visible = False
            self.take.disabled = self.beside.disabled = True

    def _measured(self) -> bool:
        return self._choice.cube() is not None and self._choice.collective == self._state.collective

    def _set_trust(self, text: str) -> None:
        try:
            read_trust(text)
        except ModelError as error:
            self.tell(str(error))
        else:
            self._choice.trust = text

    def _decide(self, _: Any = None) -> None:
        try:
            if not self._measured():
                self._show_alone()
                return
            wanted = self._choice.decision()
            if self._state.view.ready(wanted):
                self._show(wanted)
            else:
                grow(self._state, wanted, self.growing, partial(self._grown, wanted))
        except (ModelError, DecisionError) as error:
            self.growing.stop()
            self.tell(str(error))

    def _grown(self, wanted: Choice) -> None:
        try:
            if wanted == self._choice.decision():
                self._show(wanted)
        except (ModelError, DecisionError) as error:
            self.tell(str(error))

    def _show(self, wanted: Choice) -> None:
        state, scene = self._state, Scene.of(self._state.view)
        decision, table = state.view.decision(wanted), state.view.penalty(wanted)
        if scene is None or decision is None or table is None:
            return
        self.growing.stop()
        self.tell("")
        if self._asked == (wanted, scene.data):
            return
        self._asked = wanted, scene.data
        key, chosen = model_decision.chosen_methods(decision, scene)
        scene, marks = replace(scene, key=key), self._marks(scene, chosen)
        layers = {
            "measured": scene.method_layers("measured", scene.dmap["best"].values),
            "model": scene.method_layers("model", chosen),
            "penalty": scene.penalty_layers(table),
        }
        dotted = np.zeros(chosen.shape, dtype=bool) if marks is None else marks
        layers["model"]["model marks"] = ties.tie_hatch(dotted, scene.axes, "dot")
        with hold(pn.state.curdoc):
            for each in self.columns.values():
                each.visible = True
            anew = self._drawn != (scene.data, key.labels)
            if anew:
                self._drawn = scene.data, key.labels
                self._hover = hover.CellFigures(scene.axes, key, scene.collective)
            self._hover.offer(partial(hover.cell_columns, scene.cube, scene.dmap, table))
            ranges = SharedRanges()
            for name, title in MAPS.items():
                if anew:
                    drawing = layers[name], self.live, self._hover.hook, ranges
                    self.panes[name].object = stacked(title, scene.axes, *drawing)
                else:
                    self.live.refresh(layers[name])
            self.note.object = self._note(decision)
            shares = legend.method_shares(key, scene.dmap["best"].values, chosen)
            key_table = legend.method_legend(shares, len(key.labels), _SHARES)
            self.methods.object = key_table + ("" if marks is None else model_decision.marks_legend(marks))
            classes = legend.penalty_legend(penalty.class_shares(table))
            self.classes.object = classes + ties.counted_legend(table["unmeasured"].values)
            self.figures.object = self._penalties(wanted)

    def _marks(self, scene: Scene, chosen: Any) -> Any:
        """Cells whose chosen method was predicted, where measurements are completed; else None."""
        if not self._choice.fill:
            return None
        cube = completed_like(scene.cube, self._choice.ensemble())
        modelled = cube["modelled"].transpose("method", "comm_size", "message_size").values
        return np.take_along_axis(modelled, np.maximum(chosen, 0)[None], axis=0)[0] & (chosen >= 0)

    def _note(self, decision: DecisionFunction) -> str:
        about = decision.provenance["models"]
        size = f"{format_count(decision.leaves, 'leaf', 'leaves')}, {format_count(decision.depth, 'level')}"
        sentences = [f"Parameters of {about['parameters_name']}; {size}"]
        if missing := about.get("not_covered"):
            sentences.append(f"no model covers {format_names(missing)}")
        sentences += [about["completion"]] if "completion" in about else []
        sentences += [words] if (words := unsure(decision)) else []
        return escape(". ".join(f"{each[:1].upper()}{each[1:]}" for each in sentences) + ".")

    def _penalties(self, wanted: Choice) -> str:
        choice, problem, decided = self._choice, self._state.view.problem(), self._state.view.decided(wanted)
        if problem is None or decided is None:
            return ""
        network, every = choice.current(), summarise_all(decided.penalties)
        try:
            shown = covered_penalty(problem, decided.decision), every
            penalties = model_penalties(problem, network, trust=read_trust(choice.trust), variant=choice.variant)
        except ModelError as error:
            # Methods that were not measured can be chosen all the same.
            text = f"Penalty of each model among what was measured: {error}."
            return model_decision.penalties_table({}, (NO_PENALTY, every)) + paragraph(text)
        rows = {name: penalties[name] for name in model_decision.TITLES if name in penalties}
        return model_decision.penalties_table(rows, shown) + paragraph(_EXACT) + paragraph(network.conversion())

    def _show_alone(self) -> None:
        choice = self._choice
        labels = choice.candidates or tuple(each.label for each in choice.could_choose())
        known = Covered.of(choice.collective, methods_named(choice.collective, labels))
        sizes = COMM_SIZES, (0,) if choice.collective == "barrier" else MESSAGE_SIZES
        ensemble = choice.ensemble()
        elected = model_map(known, *sizes, ensemble)
        decision = decision_of_map(elected, ensemble)
        self.growing.stop()
        self.tell("")
        self._asked = self._drawn = None
        key = MethodKey.of((method.label for method in known.methods), self._state.scheme)
        scene = MapScene(elected.cube, elected.cube, key, choice.collective)
        layers = scene.method_layers("model", elected.best)
        with hold(pn.state.curdoc):
            for name, each in self.columns.items():
                each.visible = name == "model"
            self.panes["model"].object = stacked(MAPS["model"], scene.axes, layers, self.live)
            self.note.object = escape(f"{_ALONE} {self._note(decision)}")
            shares = legend.method_shares(key, np.full(elected.best.shape, -1), elected.best)
            self.methods.object = legend.method_legend(shares, len(key.labels), _SHARES)
            self.classes.object = self.figures.object = ""

    def _take(self, *_: Any) -> None:
        def put() -> None:
            self._state.choose(self._choice.decision())
            self.taken.visible = True

        self._guarded(put)

    def _set_beside(self, *_: Any) -> None:
        def put() -> None:
            self._state.param.update(other=self._choice.decision(), page="Compare")

        self._guarded(put)

    def _guarded(self, work: Any) -> None:
        try:
            work()
        except (ModelError, DecisionError) as error:
            self.tell(str(error))
