"""Substitutes for the methods that a target lacks, for targets whose writers take no measurements themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.improve import without
from dashboard.decisions.function.nodes import OWN_DECISION, Method
from dashboard.decisions.measured.problem import Problem
from dashboard.export.naming import said
from dashboard.export.target import Target


def with_substitutes(
    target: Target,
    decision: DecisionFunction,
    cube: xr.Dataset,
    weights: Any = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[DecisionFunction, list[str]]:
    """Replace what a target lacks: in each region by that of its methods which costs least there.

    Parameters
    ----------
    target
        The target.
    decision
        Of one collective.
    cube
        Measurements of the collective, without ``ppn``.
    weights
        Workload, ``(comm_size, message_size)``.
    options
        Of the target.

    Returns
    -------
    decision
        The same where nothing is lacking. Its ``provenance`` tells the substitutes.
    notes
        They, one sentence for each method.

    Raises
    ------
    ExportError
        When the target can say nothing of the collective, not even to leave it alone.
    """
    target_options = dict(options or {})
    problem = Problem.of(cube, weights=weights)
    known = {method.label: method for method in (*problem.methods, *decision.methods)}
    sayable: dict[tuple[Any, ...], bool] = {}
    for method in known.values():
        sayable.setdefault(_key(method), said(target, decision.collective, method, decision.provenance, target_options))
    allowed = {label for label, method in known.items() if sayable[_key(method)]}
    if all(decision.methods[place].label in allowed for place in decision.used):
        return decision, []
    if not allowed and not said(target, decision.collective, OWN_DECISION, decision.provenance, target_options):
        # In its own words.
        target.write([decision], None, **target_options)
    reduced, replaced = without(problem, decision, allowed, OWN_DECISION)
    notes = [
        f"It has no {old!r}; written instead, what costs least there: {', '.join(new)}."
        for old, new in replaced.items()
    ]
    facts = {**reduced.provenance, "substitutes": " ".join(notes)}
    return reduced.changed(provenance=facts), notes


def takes_substitutes(target: Target) -> bool:
    """Whether methods that a target lacks are replaced here: its own writer does not, and refuses them."""
    return target.own_methods


def _key(method: Method) -> tuple[Any, ...]:
    """What a target goes by."""
    return method.algorithm, bool(method.segment_size), method.parameters.get("library_id")
