"""Deciding with models: each cell takes the method that one model calls fastest, or that most models vote for (5.2.3).

What comes out are ordinary decision functions, so they are judged, exported and compared as all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.errors import OptionError
from dashboard.decisions.families import FAMILIES
from dashboard.decisions.family import Family, Option, Progress
from dashboard.decisions.function import DecisionFunction
from dashboard.decisions.map import methods_of
from dashboard.decisions.penalty import PenaltySummary, summarise_all
from dashboard.decisions.problem import Problem
from dashboard.models.collectives.model import Variant
from dashboard.models.errors import ModelError
from dashboard.models.fit import fit_all
from dashboard.models.observations import observe
from dashboard.models.p2p import MODEL_NAMES, ModelName
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.predicting import Covered, predicted_cube

if TYPE_CHECKING:
    from collections.abc import Iterable

IntArray = npt.NDArray[np.int64]
By = Literal["hockney", "loggp", "plogp", "vote"]
VOTE = "vote"
KIND = "model"
#: How much the models are trusted when each votes for another method (5.2.3: PLogP and LogGP more than Hockney).
TRUST: Mapping[ModelName, float] = {"hockney": 1.0, "loggp": 1.1, "plogp": 1.2}
Grow = Callable[[Problem], DecisionFunction]


@dataclass(frozen=True, eq=False)
class ModelMap:
    """The decision map that models make.

    Attributes
    ----------
    best
        ``(comm_size, message_size)``: position in the methods of `known`; -1 where no algorithm works.
    votes
        As `best`, for each model that was asked.
    cube
        Predicted times: of the model, or with a vote of the most trusted one.
    known
        Methods with their models, and those without.
    """

    best: IntArray
    votes: Mapping[ModelName, IntArray]
    cube: xr.Dataset
    known: Covered


def model_map(
    known: Covered,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    parameters: ParameterSet,
    by: By | str = VOTE,
    *,
    trust: Mapping[ModelName, float] = TRUST,
    variant: Variant = "corrected",
    attrs: Mapping[str, Any] | None = None,
) -> ModelMap:
    """Find the method of each cell by one model, or by the vote of all that there are parameters of.

    Parameters
    ----------
    known
        Methods to choose from (`Covered.of`).
    comm_size, message_size
        Axes of the map: processes and bytes, ascending.
    parameters
        Of the network.
    by
        A model, or ``vote``.
    trust
        Weight of each model's vote, above 0.
    variant
        Of the formulas.
    attrs
        For the predicted cube.

    Raises
    ------
    ModelError
        When there are no parameters of the model, or none of two models to vote.
    """
    models = _asked(parameters, by)
    cubes = {
        name: predicted_cube(known, comm_size, message_size, parameters.of(name), variant=variant, attrs=attrs)
        for name in models
    }
    votes = {name: _fastest(cube) for name, cube in cubes.items()}
    trusted = max(models, key=lambda name: trust[name])
    best = votes[trusted] if len(models) == 1 else _voted(votes, trust, len(known.methods))
    return ModelMap(best, votes, cubes[trusted], known)


def _asked(parameters: ParameterSet, by: str) -> tuple[ModelName, ...]:
    if by != VOTE:
        return (parameters.of(by).name,)
    if len(parameters.models) < 2:
        raise ModelError(f"a vote needs two models or more, but {parameters.name} has {parameters.models[0]} only")
    return parameters.models


def _fastest(cube: xr.Dataset) -> IntArray:
    time = cube["time"].values
    there = ~np.isnan(time)
    best = np.where(there, time, np.inf).argmin(axis=0)
    return np.asarray(np.where(there.any(axis=0), best, -1), dtype=np.int64)


def _voted(votes: Mapping[ModelName, IntArray], trust: Mapping[ModelName, float], methods: int) -> IntArray:
    """The method of the most votes; of as many, of the most trusted models."""
    wrong = [name for name in votes if not trust.get(name, 0) > 0]
    if wrong:
        raise ModelError(f"the trust in {wrong[0]} is {trust.get(wrong[0], 0)}; expected more than 0")
    shape = next(iter(votes.values())).shape
    count, weight = np.zeros((methods, *shape)), np.zeros((methods, *shape))
    for name, best in votes.items():
        chosen = np.arange(methods).reshape(-1, 1, 1) == best
        count += chosen
        weight += chosen * trust[name]
    # Votes first: a weight below the whole cannot outdo one of them.
    score = count + weight / (2 * sum(trust[name] for name in votes))
    return np.asarray(np.where(count.any(axis=0), score.argmax(axis=0), -1), dtype=np.int64)


def model_decision(
    problem: Problem,
    parameters: ParameterSet,
    by: By | str = VOTE,
    *,
    grow: Grow | None = None,
    trust: Mapping[ModelName, float] = TRUST,
    variant: Variant = "corrected",
) -> DecisionFunction:
    """Decide over the sizes and methods of measurements, by models alone.

    Parameters
    ----------
    problem
        Measurements of one collective: only their sizes and methods are used.
    parameters, by, trust, variant
        As for `model_map`.
    grow
        Makes a tree of the predicted problem, whose labels are the models' choice; default: the exact map.

    Returns
    -------
    DecisionFunction
        Of kind ``model``; ``provenance["models"]`` tells the parameters and the methods that no model covers.
    """
    part = problem.single("a model-made decision function")
    known = Covered.of(str(part.cube.attrs.get("collective")), methods_of(part.cube))
    sizes = part.cube["comm_size"].values, part.cube["message_size"].values
    attrs = {name: part.cube.attrs[name] for name in ("system", "network", "library") if name in part.cube.attrs}
    found = model_map(known, *sizes, parameters, by, trust=trust, variant=variant, attrs=attrs)
    return _decision(found, parameters, by, variant, grow, problem.provenance)


def decision_of_map(
    found: ModelMap, parameters: ParameterSet, by: By | str, *, variant: Variant = "corrected", grow: Grow | None = None
) -> DecisionFunction:
    """The decision function of a model-made map, without any measurement."""
    return _decision(found, parameters, by, variant, grow, {})


def _decision(
    found: ModelMap,
    parameters: ParameterSet,
    by: str,
    variant: Variant,
    grow: Grow | None,
    provenance: Mapping[str, Any],
) -> DecisionFunction:
    learnt = Problem.of(found.cube).relabelled([found.best])
    tree = (grow or FAMILIES["exact"].grow)(learnt)
    about = {
        "by": by,
        "variant": variant,
        "parameters": {name: parameters.of(name).to_dict() for name in found.votes},
        "parameters_name": parameters.name,
        "not_covered": list(found.known.missing),
        "encoded": {"tree": tree.kind, "options": tree.options},
    }
    return DecisionFunction(
        tree.collective,
        tree.methods,
        tree.tree,
        kind=KIND,
        options={"model": by, **({} if variant == "corrected" else {"variant": variant})},
        provenance={**(provenance or learnt.provenance), "models": about},
        categories=tree.categories,
    )


def family_of(parameters: ParameterSet) -> Family:
    """Deciding with the models of one network as a way of deciding like all others.

    Its only option is the ``model``, or ``vote``; frontiers try each.
    """

    def network(_problem: Problem, _by: str, _progress: Progress | None) -> ParameterSet:
        return parameters

    choices = (*parameters.models, *([VOTE] if len(parameters.models) > 1 else []))
    return _family(choices, f"parameters of {parameters.name}", network)


def fitted_family() -> Family:
    """Deciding with models whose parameters are fitted to the very measurements that are decided on.

    Held out, the parameters are fitted to the part that is left.
    """
    return _family((*MODEL_NAMES, VOTE), "parameters fitted to the measurements", fitted_parameters)


def fitted_parameters(problem: Problem, by: str, progress: Progress | None = None) -> ParameterSet:
    """Parameters of a model, or of all that vote, fitted to the measurements of a problem.

    Raises
    ------
    ModelError
        When there is too little to fit to.
    """
    observed = observe(problem.single("a fit of models").cube)
    models = tuple(name for name in MODEL_NAMES if by in (name, VOTE))
    return fit_all(observed, models, name="fitted to these measurements", progress=progress)[0]


def _family(
    choices: tuple[str, ...], source: str, network: Callable[[Problem, str, Progress | None], ParameterSet]
) -> Family:
    def grow(problem: Problem, *, progress: Progress | None = None, model: str = choices[-1]) -> DecisionFunction:
        if progress is not None:
            progress(0.0, f"predicting by {model}")
        return model_decision(problem, network(problem, model, progress), model)

    def path(_problem: Problem) -> Iterable[dict[str, Any]]:
        return [{"model": choice} for choice in choices]

    option = Option(
        name="model",
        title="model",
        help="Model whose prediction chooses the method; vote: the choice of most models.",
        default=choices[-1],
        kind="choice",
        choices=choices,
    )
    return Family(KIND, "Communication models", f"dissertation, 5.2; {source}", (option,), grow, path)


def restricted_to_covered(problem: Problem) -> Problem:
    """The same measurements without the methods that no model covers: what models can be fairly judged by.

    Raises
    ------
    ModelError
        When no method is covered.
    """
    part = problem.single("a comparison of models")
    known = Covered.of(str(part.cube.attrs.get("collective")), methods_of(part.cube))
    labels = [method.label for method in known.methods]
    keep = [number for number, label in enumerate(part.cube["method"].values) if str(label) in labels]
    kept = Problem.of(part.cube.isel(method=keep), weights=part.weights)
    return replace(kept, provenance=problem.provenance)


def model_penalties(
    problem: Problem, parameters: ParameterSet, *, variant: Variant = "corrected"
) -> dict[str, tuple[PenaltySummary, PenaltySummary]]:
    """What decisions by each model, and by vote, cost against measurement (Tables 6.2 and 6.3).

    Returns
    -------
    dict
        By model: the penalty against the best of the covered methods, as the dissertation has it, and against the
        best of all methods measured.
    """
    fair = restricted_to_covered(problem)
    options: list[str] = [name for name in MODEL_NAMES if name in parameters.models]
    options += [VOTE] if len(options) > 1 else []
    if not options:
        raise OptionError(f"{parameters.name} has parameters of no model")
    found = {}
    for by in options:
        decision = model_decision(problem, parameters, by, variant=variant)
        found[by] = (summarise_all(fair.penalties(decision)), summarise_all(problem.penalties(decision)))
    return found
