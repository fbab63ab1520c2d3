"""Parameters of the network on the page *Models*: machines, fits, and a slider for each number."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import panel as pn

from dashboard.decisions import DecisionError
from dashboard.decisions.grown.family import Progress
from dashboard.models import MODEL_NAMES, MODEL_TITLES, ModelError, ModelName, ParameterError, PLogP, PointToPointModel
from dashboard.models.fit import Fit, fit_all
from dashboard.models.observations import observe
from dashboard.models.parameter_set import ParameterSet, set_of_text
from dashboard.models.parameter_text import read_parameters, write_parameters
from dashboard.models.pingpong import LOGP_MPI, logp_table_of, parameters_of_pingpong, parameters_of_table, pingpong_of
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.knobs import KNOBS, Knob
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.later import LAG, Newest, Rested
from dashboard.pages.parts.views import Filling
from dashboard.pages.parts.widgets import Button, FileDownload, FileInput, LiveFloatSlider, Message, Select, TextInput

WIDTH = 300
#: Seconds after which the figures beside the sliders follow; the slider that moves has its own at once.
REST = 0.15
FITTED, PINGPONG = "fitted", "ping-pong of the results"
#: Files of parameters are small; larger ones are something else.
MOST_BYTES = 1 << 20
#: Parameters that may be left out of what is typed.
_KEPT = ("gamma", "delta")
_EXAMPLES = {
    "hockney": "alpha=5e-5,beta=8.5e-8",
    "loggp": "latency=6e-5,overhead=8e-6,gap=2e-5,gap_per_byte=8.4e-8",
    "plogp": "latency=6e-5,sizes=0/1024,gap=2e-5/9e-5,…",
}


class ParameterPanel(Filling):
    """Machine chooser, fit, and sliders that move the curves.

    Parameters
    ----------
    choice
        Whose parameters these are.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self.choice = choice
        self._moved: dict[Knob, float] = {}
        self._labels = Newest(self._label, lag=LAG)
        self._base: PLogP | None = None
        self.machine = Select(
            label="Parameters of",
            options=self._titles(),
            value=choice.name_of_set,
            width=WIDTH,
            description="Measured parameters of the dissertation's clusters (Tables 4.12 and 4.13), and those fitted "
            "or loaded here. The sliders below begin with them.",
        )
        self.source = pn.pane.HTML("", width=WIDTH - 20, margin=(0, 10))
        self.fit = Button(label="Fit to the measurements", variant="outlined", size="small", on_click=self._fit)
        self.pingpong = Button(label="Take the ping-pong", variant="outlined", size="small", on_click=self._pingpong)
        self.fitting = Background(again=self._fit)
        self.message = Message(WIDTH)
        self.sliders = {(knob.model, knob.name): self._slider(knob) for knob in KNOBS}
        self.stretch = LiveFloatSlider(
            label="Stretch",
            start=-1.0,
            end=1.0,
            step=0.01,
            value=0.0,
            show_value=False,
            tooltips=False,
            width=WIDTH - 30,
            description="PLogP's gap and overheads are functions of the message size (Kielmann et al., IPDPS 2000). "
            "All of them are multiplied by this.",
        )
        self.stretch.param.watch(self._stretch, "value")
        look = {"label": "Save", "filename": "parameters.json", "size": "small", "variant": "outlined"}
        self.save = FileDownload(lambda: choice.current().to_json(), **look)
        self.file = FileInput(
            label="Load",
            accept=".json,.csv,.out,.txt",
            variant="outlined",
            size="small",
            description="Parameters as they are saved here, or a LogP-style table (.csv) of gaps and overheads, "
            "or what logp_test saved (.out). They "
            "are listed beside the published ones.",
        )
        self.file.param.watch(self._load, "value")
        self.typed = {name: self._text(name) for name in MODEL_NAMES}
        self.notes = {name: pn.pane.HTML("", width=WIDTH, margin=(4, 10, 0, 10)) for name in MODEL_NAMES}
        self.groups = {name: pn.Column(*self._group(name), margin=0) for name in MODEL_NAMES}
        self.choosing(self.machine, self._choose)
        self.rested = Rested(self.refresh, REST)
        choice.param.watch(self.rested.ask, ["parameters", "models", "name_of_set", "collective"])
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        files = pn.Row(self.save, self.file, margin=0)
        head = [self.machine, self.source, pn.Column(self.fit, self.pingpong, files, margin=0), self.fitting]
        return pn.Column(*head, self.message, *self.groups.values(), width=WIDTH + 20, margin=0)

    def _titles(self) -> dict[str, str]:
        return {name: name for name in (*self.choice.sets, self.choice.current().name)}

    def _group(self, model: ModelName) -> Iterator[Any]:
        yield self.notes[model]
        for knob in KNOBS:
            if knob.model == model:
                yield self.sliders[model, knob.name]
        if model == "plogp":
            yield self.stretch
        yield self.typed[model]

    def _slider(self, knob: Knob) -> Any:
        low, high = knob.ends
        slider = LiveFloatSlider(
            label=knob.title,
            start=low,
            end=high,
            step=0.01,
            value=low,
            show_value=False,
            tooltips=False,
            width=WIDTH - 30,
            description=knob.help,
        )
        slider.param.watch(lambda event: self._move(knob, event.new), "value")
        return slider

    def _text(self, model: ModelName) -> TextInput:
        text = TextInput(
            label="In s and s/B, editable",
            placeholder=_EXAMPLES[model],
            width=WIDTH - 30,
            size="small",
            description="The same parameters as text, as publications print them. Editing it moves the sliders and "
            "the curves.",
        )
        text.param.watch(lambda event: self._type(model, event.new), "value")
        return text

    def refresh(self, *_: Any) -> None:
        """Follow the choice."""
        choice, effective = self.choice, self.choice.effective()
        self._moved.clear()
        with self.filling():
            self.machine.param.update(options=self._titles(), value=choice.current().name)
            self.source.object = _provenance_of(choice.current())
            self.fit.visible = choice.cube() is not None
            self.pingpong.visible = choice.pingpong() is not None
            for name, group in self.groups.items():
                group.visible = name in choice.models
                self.notes[name].object = self._note(name)
                for knob in KNOBS:
                    if knob.model == name:
                        self._set(knob, name in choice.parameters, effective.get(name))
            self._set_stretch()
            for name, text in self.typed.items():
                known = choice.parameters.get(name)
                text.value = "" if known is None else write_parameters(known)

    def _note(self, name: ModelName) -> str:
        title = f"<strong>{MODEL_TITLES[name]}</strong>"
        if name in self.choice.parameters:
            return title
        if name == "plogp" and self.choice.current().conversion():
            return f"{title}<br>converted from LogP / LogGP (Table 4.1), and moves with it"
        return f"{title}<br>no parameters are known; fit them or choose another machine"

    def _set(self, knob: Knob, own: bool, parameters: Any) -> None:  # noqa: FBT001 - for `refresh` alone
        slider = self.sliders[knob.model, knob.name]
        if not own:
            slider.visible = False
            return
        value = getattr(parameters, knob.name)
        # A position that stands for the value already is left alone, or the slider would jump under the hand.
        at = slider.value if knob.value(slider.value) == value else knob.position(value)
        slider.param.update(visible=True, value=at, **knob.labels(value))

    def _set_stretch(self) -> None:
        known = self.choice.parameters.get("plogp")
        self.stretch.visible = known is not None
        if not isinstance(known, PLogP):
            self._base = None
            return
        if self._base is None or self._base.sizes != known.sizes:
            self._base = known
            self.stretch.value = 0.0
        factor = f"× {known.gap[-1] / self._base.gap[-1]:.3g}"
        self.stretch.param.update(label=f"g, o_s, o_r at all sizes: {factor}", value_label=factor)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except ModelError as error:
            self.message.say(str(error), "error")
        else:
            self.message.visible = False

    def _replace(self, model: ModelName, **values: Any) -> None:
        """Change parameters of a model, unless they are outside their range."""
        self._guarded(lambda: self.choice.put(replace(self.choice.parameters[model], **values)))

    def _move(self, knob: Knob, position: float) -> None:
        if not self._filling:
            value = knob.value(position)
            self._replace(knob.model, **{knob.name: value})
            self._moved[knob] = value
            self._labels.ask()

    def _label(self) -> None:
        for knob, value in self._moved.items():
            self.sliders[knob.model, knob.name].param.update(knob.labels(value))
        self._moved.clear()

    def _stretch(self, event: Any) -> None:
        base, known = self._base, self.choice.parameters.get("plogp")
        if self._filling or base is None or not isinstance(known, PLogP):
            return
        factor = 10**event.new
        scaled = {
            name: tuple(each * factor for each in getattr(base, name))
            for name in ("gap", "send_overhead", "receive_overhead")
        }
        self._replace("plogp", **scaled)

    def _type(self, model: ModelName, text: str) -> None:
        known = self.choice.parameters.get(model)
        if self._filling or not text or (known is not None and text == write_parameters(known)):
            return
        if model == "plogp":
            self._base = None
        self._guarded(lambda: self.choice.put(_typed_over(known, text, model)))

    def _choose(self, name: str) -> None:
        if name in self.choice.sets:
            self._base = None
            self.message.visible = False
            self.choice.take(name)

    def _load(self, event: Any) -> None:
        name, content = str(self.file.filename or "parameters.json"), event.new
        if content is None:
            return

        def take() -> None:
            if not content:
                raise ParameterError(f"{name}: the file is empty")
            if len(content) > MOST_BYTES:
                raise ParameterError(f"{name} has {len(content):,} bytes; parameters have at most {MOST_BYTES:,}")
            read = _read(name, content)
            self._base = None
            self.choice.add(read.name, read)

        self._guarded(take)

    def _pingpong(self, *_: Any) -> None:
        def take() -> None:
            read = parameters_of_pingpong(pingpong_of(self.choice.pingpong()))
            self._base = None
            self.choice.add(PINGPONG, read)

        self._guarded(take)

    def _fit(self, *_: Any) -> None:
        labels = [each.measured for each in self.choice.methods if each.measured and each.modelled]
        title, words = f"{FITTED}, {self.choice.collective}", self.choice.fitting_words()

        def show(fitted: tuple[ParameterSet, dict[ModelName, Fit]]) -> None:
            self._base = None
            self.message.visible = False
            known, fits = fitted
            self.choice.add(title, known, words, fits)

        self._start(labels, tuple(self.choice.models), title, show)

    def fit_again(self, labels: list[str], done: Callable[[], None]) -> None:
        """Fit the set on show, of which the numbers alone are known, to these methods; they stay as they are."""
        name, words = self.choice.name_of_set, self.choice.fitting_words()

        def show(fitted: tuple[ParameterSet, dict[ModelName, Fit]]) -> None:
            self.choice.know(name, words, fitted[1])
            done()

        self._start(labels, self.choice.sets[name].models, name, show)

    def _start(
        self,
        labels: list[str],
        models: tuple[ModelName, ...],
        title: str,
        show: Callable[[tuple[ParameterSet, dict[ModelName, Fit]]], None],
    ) -> None:
        cube, variant = self.choice.cube(), self.choice.variant
        if cube is None or not models:
            return

        def work(progress: Progress) -> tuple[ParameterSet, dict[ModelName, Fit]]:
            try:
                observed = replace(observe(cube, labels or None), variant=variant)
                return fit_all(observed, models, name=title, progress=progress)
            except ModelError as error:
                raise DecisionError(str(error)) from error

        self.fitting.start("Fitting to the methods on show", work, show)


def _read(name: str, content: bytes) -> ParameterSet:
    """Parameters of an uploaded file; the browser's name of it is no path of ours."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(f"{name}: not a text file in UTF-8") from None
    if name.endswith(".csv") or text.startswith(LOGP_MPI):
        return parameters_of_table(logp_table_of(text, name), sources=[name], name=Path(name).stem)
    return set_of_text(text, name)


def _typed_over(known: PointToPointModel | None, text: str, model: ModelName) -> PointToPointModel:
    """Parameters as typed; the times to compute and to copy a byte stay as they are where nothing is said of them."""
    read = read_parameters(text, model)
    return (
        read if known is None else replace(read, **{name: getattr(known, name) for name in _KEPT if name not in text})
    )


def _provenance_of(known: ParameterSet) -> str:
    provenance = known.provenance
    before = provenance.get("from", {})
    began = f"they began as {before['name']}: {before.get('how', '')}" if "name" in before else ""
    notes = [str(provenance.get("how", "")), began, "; ".join(map(str, {**before, **provenance}.get("sources", ())))]
    notes += [str(provenance[name]) for name in ("note",) if name in provenance]
    fits = provenance.get("fits", {})
    notes += [
        f"{MODEL_TITLES[name]}: median error {fits[name]['median_error_percent']:.3g}\N{NO-BREAK SPACE}%"
        for name in MODEL_NAMES
        if name in fits
    ]
    notes += [str(each) for name in MODEL_NAMES if name in fits for each in fits[name]["assumed"]]
    notes += map(str, provenance.get("assumed", ()))
    lines = "".join(f"<p style='margin: 0 0 4px'>{escape(note)}</p>" for note in dict.fromkeys(filter(None, notes)))
    return f"<div style='font-size: 13px; line-height: 1.35'>{lines}</div>"
