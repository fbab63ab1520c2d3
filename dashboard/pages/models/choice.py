"""What is chosen on the page *Models*: no widgets, no drawing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import param
import xarray as xr

from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.map import methods_of
from dashboard.models import MACHINES, MODEL_NAMES, MODELS, ModelName, PointToPointModel
from dashboard.models.aliases import covered
from dashboard.models.deciding import KIND, Ensemble
from dashboard.models.family import FAMILY, read_trust
from dashboard.models.fit import Fit
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import write_set
from dashboard.models.predicting import candidates
from dashboard.plots.models.chart import MOST_METHODS
from dashboard.plots.models.curves import AXES, AxisName, View
from dashboard.plots.models.methods import SEGMENTS, ModelMethod, model_methods
from dashboard.session.choice import Choice
from dashboard.session.recipes import judged_words
from dashboard.session.registry import origin_of
from dashboard.session.state import State, declared
from loaders.collectives import POINT_TO_POINT

FIRST_MACHINE = "grig-tcp"
#: Sizes that can be held where none were measured: processes, bytes.
COMM_SIZES = tuple(2**power for power in range(1, 11))
MESSAGE_SIZES = tuple(2**power for power in range(25))
#: What stands behind the name of a set that was changed by hand.
_CHANGED = " (changed)"
#: Lines that are drawn at first.
FEW = 4


class ModelChoice(param.Parameterized):
    """Choices of the page; measurements come from the state.

    Parameters
    ----------
    state
        Of the session: its results, and its collective where there are models of it.
    """

    collective = param.Selector(default="bcast", objects=list(MODELS), doc="Collective on show.")
    methods = param.Parameter(default=(), doc="Methods on show, `ModelMethod`.")
    models = param.Parameter(default=MODEL_NAMES[:2], doc="Models on show.")
    axis = param.Selector(default="message_size", objects=list(AXES), doc="The size that runs to the right.")
    log = param.Boolean(default=True, doc="Whether the axes are logarithmic.")
    variant = declared(FAMILY.option("variant"))
    case = param.Selector(default="worst", objects=["worst", "best"], doc="T_max or T_min, where both are given.")
    comm_size = param.Integer(default=16, bounds=(1, 1 << 24), doc="Processes, where they are held.")
    message_size = param.Integer(default=65536, bounds=(0, 1 << 40), doc="Bytes, where they are held.")
    name_of_set = param.String(default=FIRST_MACHINE, doc="Which parameter set the sliders began with.")
    parameters = param.Parameter(default={}, doc="Parameters by model, replaced as a whole.")
    by = declared(FAMILY.option("model"))
    trust = declared(FAMILY.option("trust"))
    candidates = param.Parameter(default=(), doc="Labels of the methods to decide between; empty: all measured ones.")
    fill = declared(FAMILY.option("fill"))
    encode = declared(FAMILY.option("encode"))
    tab = param.Integer(default=0, bounds=(0, None), doc="Tab on show.")
    own = param.Dict(default={}, doc="What an address says of the tab's own menus and sliders: text by name.")

    def __init__(self, state: State) -> None:
        self._state = state
        self._effective: tuple[Any, Mapping[ModelName, PointToPointModel]] | None = None
        #: Parameter sets by title: the published machines, and what was fitted or measured here.
        self.sets: dict[str, ParameterSet] = dict(MACHINES)
        #: What is known of the fits that sets came from, by title, each with the measurements that it was fitted to.
        self._fits: dict[str, tuple[list[str], Mapping[ModelName, Fit]]] = {}
        super().__init__()
        self.take(FIRST_MACHINE)
        self.fit_to_results()

    def cube(self) -> xr.Dataset | None:
        """Measurements of the collective at one number of processes per node; None without any."""
        return self._state.view.judged(self.collective)

    def pingpong(self) -> xr.Dataset | None:
        """Point-to-point measurements among the results; None without any."""
        results = self._state.results
        known = results is not None and POINT_TO_POINT in results.children
        return results[POINT_TO_POINT].to_dataset() if known else None

    @property
    def scheme(self) -> str:
        """Colours of the methods."""
        return str(self._state.scheme)

    def data(self) -> tuple[Any, ...]:
        """What tells the measurements on show from others."""
        return self.collective, *self._state.view.drawn_key

    def offered(self) -> tuple[ModelMethod, ...]:
        """Methods that can be shown."""
        return model_methods(self.collective, self.cube(), every=True)

    def could_choose(self) -> tuple[Method, ...]:
        """Methods that models can decide between: measured ones, then each algorithm with further segment sizes."""
        cube = self.cube()
        measured = {} if cube is None else covered(self.collective, methods_of(cube))[0]
        known = {(model.algorithm, each.segment_size) for each, model in measured.items()}
        more = candidates(self.collective, segment_sizes=(0, *SEGMENTS))
        return (*measured, *(each for each in more if (each.algorithm, each.segment_size) not in known))

    def sizes(self, name: str) -> list[int]:
        """Sizes that can be held: what was measured, and powers of two."""
        cube = self.cube()
        known = {int(each) for each in cube[name].values} if cube is not None else set()
        more = COMM_SIZES if name == "comm_size" else MESSAGE_SIZES
        return sorted(known | set(more))

    def show(self, collective: str) -> None:
        """Show another collective, with some of its methods."""
        if collective != self.collective:
            self.param.update(collective=collective, methods=())

    def show_first(self) -> None:
        """Show the collective that all pages show, or the usual one where there are no models of it."""
        shared, known = self._state.collective, self.param.collective
        self.show(shared if shared in known.objects else known.default)

    def fit_to_results(self) -> None:
        """Follow other results or another collective: keep what can still be shown."""
        offered, cube = self.offered(), self.cube()
        labels = {each.label: each for each in offered}
        kept = tuple(labels[each.label] for each in self.methods if each.label in labels)
        sizes: dict[str, Any] = {}
        if cube is not None and self.comm_size not in cube["comm_size"].values:
            sizes["comm_size"] = int(cube["comm_size"].values[-1])
        if cube is not None and self.message_size not in cube["message_size"].values:
            known = cube["message_size"].values
            sizes["message_size"] = int(known[np.abs(np.log2(known + 1.0) - np.log2(self.message_size + 1.0)).argmin()])
        known = {each.label for each in self.could_choose()}
        if not known.issuperset(self.candidates):
            sizes["candidates"] = tuple(label for label in self.candidates if label in known)
        if cube is None and self.fill:
            sizes["fill"] = False
        if self.methods != (chosen := kept or _first(offered)):
            sizes["methods"] = chosen
        if sizes:
            self.param.update(**sizes)

    def take(self, name: str) -> None:
        """Set the parameters to those of a set."""
        self.param.update(name_of_set=name, parameters=dict(self.sets[name].parameters))

    def add(self, name: str, known: ParameterSet, *fitted: Any) -> None:
        """Offer a further set and take it; with what is known of its fits, as for `know`."""
        self.sets[name] = known
        self._fits.pop(name, None)
        if fitted:
            self.know(name, *fitted)
        self.take(name)
        self.models = tuple(each for each in MODEL_NAMES if each in self.models or each in known.models)

    @property
    def fits(self) -> Mapping[ModelName, Fit]:
        """How well the set was fitted to the measurements on show, by the same formulas; empty where it was not."""
        words, fits = self._fits.get(self.name_of_set, ([], {}))
        return fits if words == self.fitting_words() else {}

    def know(self, name: str, words: list[str], fits: Mapping[ModelName, Fit]) -> None:
        """Keep how well a set was fitted, to what in words as of `fitting_words`."""
        self._fits[name] = words, fits

    def put(self, model: PointToPointModel) -> None:
        """Replace the parameters of one model."""
        self.parameters = {**self.parameters, model.name: model}

    def current(self) -> ParameterSet:
        """The parameters as they are now, as a set; its provenance says whether they were changed by hand."""
        known = self.sets[self.name_of_set]
        if known.parameters == self.parameters:
            return known
        how = {"how": "changed by hand", "from": {"name": known.name, **known.provenance}}
        return ParameterSet(f"{known.name.removesuffix(_CHANGED)}{_CHANGED}", self.parameters, how)

    def ensemble(self) -> Ensemble:
        """The models that decide.

        Raises
        ------
        ModelError
            When the weights are none.
        """
        return Ensemble(self.current(), self.by, read_trust(self.trust), self.variant)

    def decision(self) -> Choice:
        """How models decide, as a choice like all others.

        Raises
        ------
        OptionError
            When the weights are none.
        """
        options = {
            "model": self.by,
            "parameters": write_set(self.current()),
            "trust": self.trust,
            "methods": ",".join(self.candidates),
            "variant": self.variant,
            "fill": self.fill,
            "encode": self.encode,
        }
        return Choice.of(KIND, options)

    def words(self) -> list[str]:
        """Parameters, and formulas, as the commands take them."""
        return ["--parameters", write_set(self.current()), *self._printed()]

    def _printed(self) -> list[str]:
        return ["--as-published"] if self.variant == "as_published" else []

    def fitting_words(self) -> list[str]:
        """The measurements on show, and the formulas, as the command takes them that fits parameters."""
        return [*self.measured_words(), *self._printed()]

    def predicting(self, method: ModelMethod, model: ModelName, comm_size: int) -> list[str]:
        """Words of the command that predicts a method at the message size that is held."""
        size = ["--message-size", str(self.message_size)] if self.collective != "barrier" else []
        cut = ["--segment-size", str(method.segment_size)] if method.segment_size else []
        best = ["--best-case"] if self.case == "best" else []
        what = ["-c", self.collective, "--algorithm", method.algorithm, "--model", model]
        return ["model", "predict", *what, "--comm-size", str(comm_size), *size, *cut, *best, *self.words()]

    def measured_words(self) -> list[str]:
        """The measurements of the collective on show as the commands take them."""
        judged = judged_words(self._state.view, [self.collective])
        return [*origin_of(self.results_id).words(), "-c", self.collective, *judged]

    @property
    def results_id(self) -> str:
        """Digest of the results on show."""
        return self._state.results_id

    def effective(self) -> Mapping[ModelName, PointToPointModel]:
        """Parameters of every model that has any: PLogP's follow from LogGP's (Table 4.1) where there are none."""
        known = self._effective
        # Parameters are replaced as a whole; converting them for each who asks would take longer than to draw a curve.
        if known is None or known[0] is not self.parameters:
            known = self._effective = self.parameters, self.current().every
        return known[1]

    def view(self, axis: AxisName | None = None) -> View:
        """What the chart shows, over the axis chosen or another one; of a barrier, over the only one."""
        axis = axis or ("comm_size" if self.collective == "barrier" else self.axis)
        effective = self.effective()
        shown = tuple(name for name in self.models if name in effective)
        methods = tuple(self.methods)[:MOST_METHODS]
        held = self.comm_size, self.message_size, self.log
        return View(self.collective, axis, methods, shown, *held, self.variant, self.case, self.scheme)


def _first(offered: Sequence[ModelMethod]) -> tuple[ModelMethod, ...]:
    """One method of each of the first algorithms, the measured ones first."""
    modelled = [each for each in offered if each.modelled]
    known = [each for each in modelled if each.measured] or modelled
    first: dict[str, ModelMethod] = {}
    for each in known:
        first.setdefault(each.algorithm, each)
    return tuple(first.values())[:FEW]
