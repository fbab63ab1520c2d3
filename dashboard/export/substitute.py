"""Substitutes for the methods that a target lacks."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.improve import without
from dashboard.decisions.function.nodes import OWN_DECISION, Method
from dashboard.decisions.measured.map import methods_of
from dashboard.decisions.measured.problem import Problem
from dashboard.export.library_names import is_of_library
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
    cube
        Measurements of the collective, without ``ppn``.
    weights
        Workload, ``(comm_size, message_size)``.

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
    allowed = {label: method for label, method in known.items() if sayable[_key(method)]}
    together = list(_together(target, decision.collective, allowed))
    if any(labels.issuperset(decision.methods[place].label for place in decision.used) for labels in together):
        return decision, []
    if not allowed and not said(target, decision.collective, OWN_DECISION, decision.provenance, target_options):
        # In its own words.
        target.write([decision], None, **target_options)
    ways = [without(problem, decision, labels, OWN_DECISION) for labels in together]
    reduced, replaced = min(ways, key=lambda way: problem.summary(way[0]).order)
    alike: dict[tuple[str, str], list[str]] = {}
    for old, new in replaced.items():
        alike.setdefault((" beside others" if old in allowed else "", instead(new)), []).append(repr(old))
    notes = [
        f"It has no {', '.join(names)}{beside}; written instead, {words}." for (beside, words), names in alike.items()
    ]
    facts = {**reduced.provenance, "substitutes": " ".join(notes)}
    return reduced.changed(provenance=facts), notes


def instead(labels: Sequence[str]) -> str:
    """What was written in the place of a method, by their labels, and why, in words."""
    measured = [label for label in labels if label != OWN_DECISION.label]
    words = [f"what costs least there: {', '.join(measured)}"] if measured else []
    if len(measured) < len(labels):
        words.append(f"where nothing that it has was measured: {OWN_DECISION.label}")
    return "; ".join(words)


def _together(target: Target, collective: str, methods: Mapping[str, Method]) -> Iterator[set[str]]:
    """Labels of methods that one file can say beside each other: a set for each way to choose what it has once."""
    settings: dict[str, dict[str, set[str]]] = {}
    for label, method in methods.items():
        name, value = target.once(collective, method) if target.once else ("", "")
        settings.setdefault(name, {}).setdefault(value, set()).add(label)
    for chosen in itertools.product(*(values.values() for values in settings.values())):
        yield set().union(*chosen)


def apart(target: Target, cube: xr.Dataset, methods: Sequence[Method]) -> list[Method]:
    """Methods, of some that a target has, which a file cannot say beside those that are best together.

    Parameters
    ----------
    cube
        Measurements of one collective; of methods that may stand together those count as best whose fastest cost least
        in the mean over the cells.
    methods
        Of the cube.
    """
    known = {method.label: method for method in methods}
    together = list(_together(target, str(cube.attrs["collective"]), known))
    fastest = [cube["time"].sel({"method": sorted(labels)}).min("method") for labels in together]
    best = xr.concat(fastest, "together").min("together")
    costs = [(int((best.notnull() & each.isnull()).sum()), float((each / best).mean())) for each in fastest]
    kept = together[costs.index(min(costs))]
    return [method for method in methods if method.label not in kept]


def has_substitutes(target: Target, cube: xr.Dataset, options: Mapping[str, Any] | None = None) -> bool:
    """Whether anything that a target has was measured, so that it is known what costs least; parameters as above."""
    measured = cube.isel(method=cube["time"].notnull().any(["comm_size", "message_size"]).values)
    collective = str(cube.attrs["collective"])
    return any(said(target, collective, method, cube.attrs, options or {}) for method in methods_of(measured))


def _key(method: Method) -> tuple[Any, ...]:
    """What a target goes by."""
    number = method.parameters.get("library_id")
    return method.algorithm, bool(method.segment_size), number, is_of_library(method)
