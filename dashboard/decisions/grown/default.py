"""The library's own fixed decision, where it was measured, as a decision function like all others."""

from collections.abc import Mapping
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, default_of
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.selection import WITHOUT
from dashboard.domain.algorithm_names import means_default
from dashboard.domain.errors import OptionError


def lacking(facts: Mapping[str, Any], otherwise: str) -> str:
    """Why there is no decision of the library's own, and what helps.

    Parameters
    ----------
    facts
        Attributes of the cube, or what a problem remembers of it.
    otherwise
        What helps where it was not measured.
    """
    names = [name for name in str(facts.get(WITHOUT, "")).split(", ") if means_default(name)]
    if names:
        return f"the library's own decision is left out here; take {names[0]!r} back among the methods"
    return f"the library's own decision was not measured here; {otherwise}"


def is_default(decision: DecisionFunction) -> bool:
    """Whether it leaves everything to the library; leaves that no sizes reach do not count."""
    return all(default_of([decision.methods[rule.method]]) == 0 for rule in decision.rules())


def grow(problem: Problem, *, progress: Progress | None = None) -> DecisionFunction:
    """Leave every call to the library.

    Raises
    ------
    OptionError
        When nobody measured what it does then, or that is left out.
    """
    if progress is not None:
        progress(0.0, "the library's default")
    place = default_of(problem.methods)
    if place is None:
        why = lacking(problem.provenance, "measure a method 'default' beside the others to compare with it")
        raise OptionError(f"{problem.collective}: {why}")
    return problem.decided(Leaf(place), "default")


FAMILY = Family(
    "default",
    "Library's default",
    "what the library decides when it is left alone",
    options=(),
    grow=grow,
    path=lambda _problem: [{}],
)
