"""Deciding with models: each cell takes the method that one model calls fastest, or that most models vote for (5.2.3).

What comes out are ordinary decision functions, so they are judged, exported and compared as all others.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from timeit import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.penalty import PenaltySummary, summarise_all
from dashboard.decisions.measured.map import methods_of
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import BoolArray, IntArray
from dashboard.domain.models import ModelName
from dashboard.models.collectives.model import Variant
from dashboard.models.completing import completed
from dashboard.models.errors import ModelError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.predicting import Covered, candidates, methods_named, predicted_cube
from dashboard.models.undetermined import others_of, together, warning

#: Beside the models: what most of them choose, or what those choose that are trusted most together.
VOTE, WEIGHT = "vote", "weight"
TOGETHER = (VOTE, WEIGHT)
KIND = "model"
#: How much the models are trusted when each votes for another method (5.2.3: PLogP and LogGP more than Hockney).
TRUST: Mapping[ModelName, float] = {"hockney": 1.0, "loggp": 1.1, "plogp": 1.2}
#: Formulas of methods that do the same, as on two processes, give the same time but for a share of it like this.
_ROUNDING = 1e-9
#: Of a decision that cannot be judged.
NO_PENALTY = PenaltySummary(np.nan, np.nan, np.nan, np.nan, 0, 0)
Grow = Callable[[Problem], DecisionFunction]


@dataclass(frozen=True)
class Ensemble:
    """Models of a network that decide together, or one of them alone."""

    #: Of the network.
    parameters: ParameterSet
    #: A model; ``vote``: what most models choose, and of as many the most trusted ones; ``weight``: what those models
    #: choose whose trust together is the highest. The only model of a network decides alone.
    by: str = VOTE
    #: Weight of each model's vote, above 0.
    trust: Mapping[ModelName, float] = field(default_factory=lambda: TRUST)
    #: Of the formulas.
    variant: Variant = "corrected"

    @property
    def models(self) -> tuple[ModelName, ...]:
        """Those that are asked.

        Raises
        ------
        ModelError
            When there are no parameters of the model.
        """
        return self.parameters.models if self.by in TOGETHER else (self.parameters.of(self.by).name,)

    @property
    def leader(self) -> ModelName:
        """The model that is asked, or of several the most trusted one."""
        return max(self.models, key=lambda name: self.trust[name])

    @property
    def options(self) -> dict[str, Any]:
        """What a decision function remembers as its options: `by`, and the variant that is not the usual one."""
        return {"model": self.by, **({} if self.variant == "corrected" else {"variant": self.variant})}

    def about(self, asked: Iterable[ModelName]) -> dict[str, Any]:
        """What a decision function remembers of the models that were asked."""
        return {
            "by": self.by,
            "variant": self.variant,
            "parameters": {name: self.parameters.of(name).to_dict() for name in asked},
            "parameters_name": self.parameters.name,
        }


@dataclass(frozen=True, eq=False)
class ModelMap:
    """The decision map that models make."""

    #: ``(comm_size, message_size)``: position in the methods of `known`; -1 where no algorithm works.
    best: IntArray
    #: As `best`, for each model that was asked.
    votes: Mapping[ModelName, IntArray]
    #: Predicted times: of the model, or with a vote of the most trusted one.
    cube: xr.Dataset
    #: Methods with their models, and those without.
    known: Covered


def model_map(
    known: Covered,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    ensemble: Ensemble,
    *,
    attrs: Mapping[str, Any] | None = None,
) -> ModelMap:
    """Find the method of each cell by one model, or by all that there are parameters of.

    Parameters
    ----------
    known
        Methods to choose from (`Covered.of`).
    comm_size, message_size
        Axes of the map: processes and bytes, ascending.
    attrs
        For the predicted cube.

    Raises
    ------
    ModelError
        When there are no parameters of the model.
    """
    cubes = {
        name: predicted_cube(
            known, comm_size, message_size, ensemble.parameters.of(name), variant=ensemble.variant, attrs=attrs
        )
        for name in ensemble.models
    }
    votes = {name: _fastest(cube) for name, cube in cubes.items()}
    return ModelMap(_elected(votes, ensemble, len(known.methods)), votes, cubes[ensemble.leader], known)


def resting_choices(elected: ModelMap, ensemble: Ensemble) -> dict[str, BoolArray]:
    """Where a map's choice rests on what a fit did not determine, by its names (`dashboard.models.undetermined`)."""
    sizes = elected.cube["comm_size"].values, elected.cube["message_size"].values

    def best(model: ModelName, parameters: PointToPointModel) -> IntArray:
        cube = predicted_cube(elected.known, *sizes, parameters, variant=ensemble.variant)
        return _elected({**elected.votes, model: _fastest(cube)}, ensemble, len(elected.known.methods))

    def changed() -> Iterator[tuple[str, BoolArray]]:
        for model in elected.votes:
            if others := list(others_of(ensemble.parameters, model)):
                usual = best(model, ensemble.parameters.of(model))
                yield from ((name, best(model, other) != usual) for name, other in others)

    return together(changed())


def _fastest(cube: xr.Dataset) -> IntArray:
    """The fastest method of each cell; of those whose times are equal but for rounding, the first."""
    time = cube["time"].values
    there = ~np.isnan(time)
    least = np.where(there, time, np.inf)
    best = (least <= least.min(axis=0) * (1 + _ROUNDING)).argmax(axis=0)
    return np.asarray(np.where(there.any(axis=0), best, -1), dtype=np.int64)


def _elected(votes: Mapping[ModelName, IntArray], ensemble: Ensemble, methods: int) -> IntArray:
    """The method of the most votes, and of as many of the most trusted models; or of the most trust at once."""
    trust = ensemble.trust
    wrong = [name for name in votes if not trust.get(name, 0) > 0]
    if wrong:
        raise ModelError(f"the trust in {wrong[0]} is {trust.get(wrong[0], 0)}; expected more than 0")
    shape = next(iter(votes.values())).shape
    count, weight = np.zeros((methods, *shape)), np.zeros((methods, *shape))
    for name, best in votes.items():
        chosen = np.arange(methods).reshape(-1, 1, 1) == best
        count += chosen
        weight += chosen * trust[name]
    # Votes first: a weight below the sum cannot outdo one of them.
    score = count + weight / (2 * sum(trust[name] for name in votes)) if ensemble.by == VOTE else weight
    return np.asarray(np.where(count.any(axis=0), score.argmax(axis=0), -1), dtype=np.int64)


def model_decision(
    problem: Problem,
    ensemble: Ensemble,
    *,
    methods: Sequence[str] = (),
    grow: Grow | None = None,
    options: Mapping[str, Any] | None = None,
) -> DecisionFunction:
    """Decide over the sizes and methods of measurements, by models alone.

    Parameters
    ----------
    problem
        Measurements of one collective: only their sizes and methods are used.
    methods
        Labels of the methods to choose from, measured or not (``pipeline 4KiB``); none: all measured ones.
    grow
        Makes a tree of the predicted problem, whose labels are the models' choice; default: the exact map.
    options
        What the decision function remembers as its options; default: those of the ensemble.

    Returns
    -------
    DecisionFunction
        Of kind ``model``; ``provenance["models"]`` tells the parameters and the methods that no model covers.
    """
    part = problem.single("a model-made decision function")
    collective, measured = str(part.cube.attrs.get("collective")), methods_of(part.cube)
    known = Covered.of(collective, methods_named(collective, methods, measured) if methods else measured)
    if methods and known.missing:
        raise ModelError(f"no model covers {', '.join(known.missing)}; choose from other methods")
    sizes = part.cube["comm_size"].values, part.cube["message_size"].values
    attrs = {name: part.cube.attrs[name] for name in ("system", "network", "library") if name in part.cube.attrs}
    elected = model_map(known, *sizes, ensemble, attrs=attrs)
    return decision_of_map(elected, ensemble, grow=grow, provenance=problem.provenance, options=options)


def decision_of_map(
    elected: ModelMap,
    ensemble: Ensemble,
    *,
    grow: Grow | None = None,
    provenance: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> DecisionFunction:
    """The decision function of a model-made map; without a `provenance` of measurements, that of its predictions."""
    learnt = Problem.of(elected.cube).relabelled([elected.best])
    about = {**ensemble.about(elected.votes), "not_covered": list(elected.known.missing)}
    if rests := resting_choices(elected, ensemble):
        about["undetermined"] = {"parameters": list(rests), "words": warning(rests, "choices")}
    provenance = {**(provenance or learnt.provenance), "models": about}
    return _encoded(learnt, grow, options or ensemble.options, provenance)


def decision_of_optimal(optimal: xr.Dataset, parameters: ParameterSet) -> DecisionFunction:
    """The decision function of an optimal implementation; its methods are algorithms with their best segment sizes.

    Parameters
    ----------
    optimal
        As `dashboard.models.optimal_map.optimal_map` gives it.
    parameters
        Of the network that it was made with.
    """
    collective, best = str(optimal.attrs["collective"]), optimal["algorithm"].values
    names = optimal["candidate"].values.astype(str).tolist()
    sizes = optimal["segment_size"].values.astype(np.int64).ravel().tolist()
    pairs = [(names[place], size) for place, size in zip(best.ravel().tolist(), sizes, strict=True)]
    methods = [candidates(collective, [name], [size])[0] for name, size in sorted(set(pairs))]
    places = {(each.algorithm, each.segment_size): place for place, each in enumerate(methods)}
    known = Covered.of(collective, methods)
    model = parameters.of(optimal.attrs["model"])
    cube = predicted_cube(known, optimal["comm_size"].values, optimal["message_size"].values, model)
    labels = np.array([places[pair] for pair in pairs], dtype=np.int64).reshape(best.shape)
    elected = ModelMap(labels, {model.name: labels}, cube, known)
    options = {"model": model.name, "segments": "optimal"}
    return decision_of_map(elected, Ensemble(parameters, model.name), options=options)


def _encoded(
    learnt: Problem, grow: Grow | None, options: Mapping[str, Any], provenance: Mapping[str, Any]
) -> DecisionFunction:
    """The labels of a problem as a decision function of models."""
    tree = (grow or FAMILIES["exact"].grow)(learnt)
    about = {**provenance["models"], "encoded": {"tree": tree.kind, "options": tree.options}}
    return tree.changed(kind=KIND, options=options, provenance={**provenance, "models": about})


def completed_decision(
    problem: Problem,
    ensemble: Ensemble,
    *,
    methods: Sequence[str] = (),
    grow: Grow | None = None,
    options: Mapping[str, Any] | None = None,
) -> DecisionFunction:
    """Decide by what was measured, and by predictions where nothing was (6.4).

    Parameters
    ----------
    problem
        Measurements of one collective, with gaps.
    ensemble, methods, grow, options
        As for `model_decision`; of several models the most trusted one predicts, and methods are measured ones.

    Returns
    -------
    DecisionFunction
        Of kind ``model``; ``provenance["models"]["completion"]`` says how many times are predicted.
    """
    part = problem.single("a decision function of completed measurements")
    cube = completed_like(part.cube, ensemble, methods)
    about = {**ensemble.about([ensemble.leader]), "completion": cube.attrs["completion"]}
    provenance = {**problem.provenance, "models": about}
    options = options or {**ensemble.options, "fill": True}
    return _encoded(Problem.of(cube, weights=part.weights), grow, options, provenance)


def completed_like(cube: xr.Dataset, ensemble: Ensemble, methods: Sequence[str] = ()) -> xr.Dataset:
    """What `completed_decision` decides on: the measurements of these methods, completed and marked."""
    if methods:
        labels = [str(label) for label in cube["method"].values]
        unknown = [label for label in methods if label not in labels]
        if unknown:
            raise ModelError(f"nothing of {unknown[0]!r} was measured that could be completed; measured are {labels}")
        cube = cube.isel(method=[labels.index(label) for label in methods])
    return completed(cube, ensemble.parameters.of(ensemble.leader), variant=ensemble.variant)


def restricted_to_covered(problem: Problem) -> Problem:
    """The same measurements without the methods that no model covers: what models can be fairly judged by.

    Raises
    ------
    ModelError
        When no method is covered.
    """
    part = problem.single("a comparison of models")
    known = Covered.of(str(part.cube.attrs.get("collective")), methods_of(part.cube))
    there = np.isin(part.cube["method"].values.astype(str), [method.label for method in known.methods])
    kept = Problem.of(part.cube.isel(method=there), weights=part.weights)
    return replace(kept, provenance=problem.provenance)


def model_penalties(
    problem: Problem,
    parameters: ParameterSet,
    *,
    trust: Mapping[ModelName, float] = TRUST,
    variant: Variant = "corrected",
) -> dict[str, tuple[PenaltySummary, PenaltySummary]]:
    """What decisions by each model, by vote and by weight cost against measurement (Tables 6.2 and 6.3).

    Returns
    -------
    dict
        By model: the penalty against the best of the covered methods, as the dissertation has it, and against the
        best of all methods measured.
    """
    fair = restricted_to_covered(problem)
    options: list[str] = [*parameters.every, *(TOGETHER if len(parameters.models) > 1 else ())]
    penalties = {}
    for by in options:
        decision = model_decision(problem, Ensemble(parameters, by, trust, variant))
        penalties[by] = (summarise_all(fair.penalties(decision)), summarise_all(problem.penalties(decision)))
    return penalties


def covered_penalty(problem: Problem, decision: DecisionFunction) -> PenaltySummary:
    """What a decision costs against the best of the covered methods, percent.

    NaN where it takes methods that no model covers, as measurements that are completed let it.

    Raises
    ------
    ModelError
        When no method is covered.
    """
    fair = restricted_to_covered(problem)
    missing = {each.label for each in problem.methods} - {each.label for each in fair.methods}
    if not missing.isdisjoint(decision.methods[place].label for place in decision.used):
        return NO_PENALTY
    return summarise_all(fair.penalties(decision))


def decision_times(problem: Problem, parameters: ParameterSet) -> dict[str, float]:
    """How long a model takes to choose a method, s: its map of the problem's sizes over their number (Tables 6.2, 6.3).

    The quickest of three rounds, on this machine; the program that the dissertation timed was in Matlab, in 2007.
    """
    part = problem.single("timing models")
    known = Covered.of(str(part.cube.attrs["collective"]), problem.methods)
    sizes = part.cube["comm_size"].values, part.cube["message_size"].values
    times = {}
    for name in parameters.every:
        choose = partial(model_map, known, *sizes, Ensemble(parameters, name))
        times[str(name)] = min(repeat(choose, number=1, repeat=3)) / (sizes[0].size * sizes[1].size)
    return times
