"""What is chosen on the page *Models*: no widgets, no drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import param
import xarray as xr

from dashboard.decisions.map import select_ppn
from dashboard.models import MACHINES, MODEL_NAMES, MODELS, LogGP, ModelError, ModelName, PLogP, PointToPointModel
from dashboard.models.parameter_set import ParameterSet, of_machine
from dashboard.plots.model_chart import MOST_METHODS
from dashboard.plots.model_curves import AXES, AxisName, View
from dashboard.plots.model_methods import ModelMethod, model_methods
from dashboard.state import State

FIRST_MACHINE = "grig-tcp"
#: Sizes that can be held where none were measured: processes, bytes.
COMM_SIZES = tuple(2**power for power in range(1, 11))
MESSAGE_SIZES = tuple(2**power for power in range(25))
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
    comm_size = param.Integer(default=16, bounds=(1, None), doc="Processes, where they are held.")
    message_size = param.Integer(default=65536, bounds=(0, None), doc="Bytes, where they are held.")
    name_of_set = param.String(default=FIRST_MACHINE, doc="Which parameter set the sliders began with.")
    parameters = param.Parameter(default={}, doc="Parameters by model, replaced as a whole.")

    def __init__(self, state: State) -> None:
        self._state = state
        #: Parameter sets by title: the published machines, and what was fitted or measured here.
        self.sets: dict[str, ParameterSet] = {name: of_machine(machine) for name, machine in MACHINES.items()}
        super().__init__()
        self.take(FIRST_MACHINE)
        self.fit_to_results()

    def cube(self) -> xr.Dataset | None:
        """Measurements of the collective at one number of processes per node; None without any."""
        state = self._state
        whole = state.cube(self.collective)
        if whole is None:
            return None
        known = "ppn" in whole.dims and state.ppn in whole["ppn"].values
        return select_ppn(whole, state.ppn if known else None)[0]

    def offered(self) -> tuple[ModelMethod, ...]:
        """Methods that can be shown."""
        return model_methods(self.collective, self.cube())

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
        if self.collective == "barrier":
            sizes["axis"] = "comm_size"
        self.param.update(methods=kept or _first(offered), **sizes)

    def take(self, name: str) -> None:
        """Set the parameters to those of a set."""
        self.param.update(name_of_set=name, parameters=dict(self.sets[name].parameters))

    def add(self, name: str, found: ParameterSet) -> None:
        """Offer a further set and take it."""
        self.sets[name] = found
        self.take(name)
        self.models = tuple(each for each in MODEL_NAMES if each in self.models or each in found.models)

    def put(self, model: ModelName, **values: float) -> None:
        """Change single parameters.

        Raises
        ------
        ParameterError
            When a value is outside its range; nothing changes then.
        """
        self.parameters = {**self.parameters, model: replace(self.parameters[model], **values)}

    def put_parameters(self, found: PointToPointModel) -> None:
        """Replace the parameters of one model."""
        self.parameters = {**self.parameters, found.name: found}

    def effective(self) -> Mapping[ModelName, PointToPointModel]:
        """Parameters of every model that has any: PLogP's follow from LogGP's (Table 4.1) where there are none."""
        found = dict(self.parameters)
        if "plogp" not in found and (converted := self.converted()) is not None:
            found["plogp"] = converted
        return {name: found[name] for name in MODEL_NAMES if name in found}

    def converted(self) -> PLogP | None:
        """PLogP's parameters as LogGP's give them; None without these, or where they give none."""
        known = self.parameters.get("loggp")
        try:
            return known.to_plogp() if isinstance(known, LogGP) else None
        except ModelError:
            return None

    def view(self) -> View:
        """What the chart shows."""
        shown = tuple(name for name in self.models if name in self.effective())
        axis = cast("AxisName", self.axis)
        methods = tuple(self.methods)[:MOST_METHODS]
        return View(self.collective, axis, methods, shown, self.comm_size, self.message_size, self.log)


def _first(offered: Sequence[ModelMethod]) -> tuple[ModelMethod, ...]:
    """One method of each of the first algorithms, the measured ones first."""
    known = [each for each in offered if each.measured] or list(offered)
    one: dict[str, ModelMethod] = {}
    for each in known:
        one.setdefault(each.algorithm, each)
    return tuple(one.values())[:FEW]
