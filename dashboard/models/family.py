"""Deciding with models as a way of deciding like all others: its options, and the networks that they name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError
from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES, ModelName
from dashboard.domain.options import Option
from dashboard.models.deciding import KIND, TOGETHER, TRUST, VOTE, Ensemble, completed_decision, model_decision
from dashboard.models.errors import ModelError
from dashboard.models.fit import fit_all
from dashboard.models.observations import observe
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import read_set, write_set
from dashboard.models.presets import MACHINES

#: Stands for parameters that are fitted to the measurements which are decided on.
FITTED = "fitted"
#: Trees that the models' choice is written as.
ENCODINGS = ("exact", "quadtree", "c45", "cart", "optimal")
FITTED_NAME = "fitted to these measurements"
#: The usual weights of models as `read_trust` takes them.
USUAL_TRUST = ",".join(f"{name}={TRUST[name]:g}" for name in MODEL_NAMES)


def read_trust(text: str) -> dict[ModelName, float]:
    """Read weights of models: ``hockney=1,loggp=1.1``; those that are not named keep theirs.

    Raises
    ------
    ModelError
        When a word is no model with a number above 0.
    """
    weights = dict(TRUST)
    for word in filter(None, text.split(",")):
        name, _, value = (part.strip() for part in word.partition("="))
        model = next((each for each in MODEL_NAMES if each == name), None)
        try:
            weight = float(value)
        except ValueError:
            weight = 0.0
        if model is None or not 0 < weight < float("inf"):
            raise ModelError(f"weights of the votes: {word!r}; expected weights above 0, as in {USUAL_TRUST}")
        weights[model] = weight
    return weights


def read_labels(text: str) -> tuple[str, ...]:
    """Labels of methods, with commas between them."""
    return tuple(label.strip() for label in text.split(",") if label.strip())


def _network(text: str) -> None:
    if text != FITTED:
        read_set(text)


OPTIONS = (
    Option(
        name="model",
        title="decide by",
        help="Model whose prediction takes the fastest method of each cell (dissertation, 5.2). Vote: what most models "
        "that there are parameters of take; weight: what the most trusted ones take.",
        default=VOTE,
        kind="choice",
        choices=(*MODEL_NAMES, *TOGETHER),
        titles=(*(MODEL_TITLES[name] for name in MODEL_NAMES), *(f"{name} of all" for name in TOGETHER)),
    ),
    Option(
        name="parameters",
        title="parameters",
        help="Of the network: fitted to the measurements themselves, a published machine, or written out.",
        default=FITTED,
        kind="name",
        choices=(FITTED, *MACHINES),
        check=_network,
    ),
    Option(
        name="trust",
        metavar="MODEL=W,…",
        title="weights of the votes",
        help="How much each model's vote counts. Among equal votes the model that is trusted more decides.",
        default=USUAL_TRUST,
        kind="name",
        check=read_trust,
    ),
    Option(
        name="methods",
        metavar="A,B,…",
        title="methods to choose from",
        help="Measured ones, and algorithms with further segment sizes, such as binomial,pipeline 8KiB; empty: all "
        "measured ones. A method that was not measured can be taken, but has no penalty.",
        default="",
        kind="name",
    ),
    Option(
        name="variant",
        title="formulas",
        help="Formulas as they are printed in chapter 4 of the dissertation, or with its misprints set right. "
        "'colltune model errata' and the tab Errata list what differs, and why.",
        default="corrected",
        kind="choice",
        choices=("corrected", "as_published"),
        titles=("corrected", "as published"),
    ),
    Option(
        name="fill",
        title="only where nothing was measured",
        help="Decide by measured times, and by predictions, calibrated by method, for missing ones only.",
        default=False,
        kind="flag",
    ),
    Option(
        name="encode",
        title="written as",
        help="The tree that the models' choices are written as; exact keeps every cell. The others have the options "
        "that they begin with on the page Decisions (dissertation, 5.3, 5.4).",
        default="exact",
        kind="choice",
        choices=ENCODINGS,
    ),
)


def fitted_parameters(
    problem: Problem, models: Sequence[ModelName] = MODEL_NAMES, progress: Progress | None = None
) -> ParameterSet:
    """Parameters of models fitted to the measurements of a problem.

    Raises
    ------
    ModelError
        When there is too little to fit to.
    """
    observed = observe(problem.single("a fit of models").cube)
    return fit_all(observed, tuple(models), name=FITTED_NAME, progress=progress)[0]


def _many(
    family: Family,
    network: ParameterSet | None,
    problem: Problem,
    settings: Sequence[Mapping[str, Any]],
    progress: Progress | None,
) -> list[DecisionFunction]:
    wanted = [family.checked(options) for options in settings]
    try:
        known = {family.option("parameters").default: network, FITTED: _fitted(problem, wanted, progress)}
        decisions = []
        for number, options in enumerate(wanted):
            if progress is not None:
                progress(number / len(wanted), f"predicting by {options['model']}")
            decisions.append(_grown(family, problem, options, known.get(options["parameters"])))
    except ModelError as error:
        raise OptionError(str(error)) from error
    return decisions


def _fitted(problem: Problem, wanted: Sequence[Mapping[str, Any]], progress: Progress | None) -> ParameterSet | None:
    """Parameters of all models that some setting wants fitted, each fitted once."""
    asked = {str(options["model"]) for options in wanted if options["parameters"] == FITTED}
    models = [name for name in MODEL_NAMES if name in asked or asked & set(TOGETHER)]
    return fitted_parameters(problem, models, progress) if models else None


def _grown(
    family: Family, problem: Problem, options: Mapping[str, Any], network: ParameterSet | None
) -> DecisionFunction:
    network = network or read_set(options["parameters"])
    decide = completed_decision if options["fill"] else model_decision
    # Of a network that the family has anew, too: what is written of a decision says which it was.
    changed = {each.name: options[each.name] for each in OPTIONS if options[each.name] != each.default}
    return decide(
        problem,
        Ensemble(network, str(options["model"]), read_trust(options["trust"]), options["variant"]),
        methods=read_labels(options["methods"]),
        grow=FAMILIES[options["encode"]].grow,
        options={"model": options["model"], **changed},
    )


def family_of(network: ParameterSet | None = None) -> Family:
    """The family, with the parameters of a network where none are named.

    Parameters
    ----------
    network
        Frontiers try its models; None fits the parameters of all to what is decided on (held out, to the part that is
        left).
    """
    options = {option.name: option for option in OPTIONS}
    models = MODEL_NAMES if network is None else network.models
    tried = (*models, VOTE) if len(models) > 1 else models
    if network is not None:
        options["parameters"] = replace(options["parameters"], default=write_set(network))

    def decision(problem: Problem, *, progress: Progress | None = None, **given: Any) -> DecisionFunction:
        return _many(family, network, problem, [given], progress)[0]

    def many(
        problem: Problem, settings: Sequence[Mapping[str, Any]], *, progress: Progress | None = None
    ) -> list[DecisionFunction]:
        return _many(family, network, problem, settings, progress)

    family = Family(
        name=KIND,
        title="Communication models",
        source=f"dissertation, 5.2; parameters {FITTED_NAME if network is None else f'of {network.name}'}",
        options=tuple(options.values()),
        grow=decision,
        path=lambda _problem: [{"model": name} for name in tried],
        grow_many=many,
    )
    return family


FAMILY = family_of()
