"""A decision function with its regions kept, and in some or all of them the method that costs least there."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.losses import counted, losses
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import FloatArray


def improved(problem: Problem, decision: DecisionFunction) -> DecisionFunction:
    """Replace the method of each leaf by the best measured one of the cells that it decides.

    Where each leaf begins and ends stays as it is, so that what a rules file can say before it can say after. Of
    methods that cost the same the leaf's own is kept; so it is where nothing was measured, or a workload calls nothing.

    Parameters
    ----------
    decision
        The decision function; its methods need not all be measured.

    Raises
    ------
    DecisionError
        When the decision needs an attribute that is not known of these results.
    """
    sums, methods = _sums(problem, decision)
    codes = decision.tree.codes.copy()
    for node, costs in sums.items():
        best = int(costs.argmin())
        codes[node] = codes[node] if costs[codes[node]] <= costs[best] else best
    return decision.changed(methods=methods, root=replace(decision.tree, codes=codes))


def without(
    problem: Problem, decision: DecisionFunction, allowed: Collection[str], otherwise: Method
) -> tuple[DecisionFunction, dict[str, list[str]]]:
    """Replace the methods that are not allowed, in each leaf by that of the allowed ones which costs least there.

    Parameters
    ----------
    allowed
        Labels of methods.
    otherwise
        Taken where nothing that is allowed was measured.

    Returns
    -------
    decision
        With the same leaves.
    replaced
        By the label of each method that is gone, the labels of those that took its place.
    """
    sums, methods = _sums(problem, decision)
    methods.append(otherwise)
    forbidden = np.array([method.label not in allowed for method in methods[:-1]])
    measured = _measured(problem)
    candidates = ~forbidden & [method.label in measured for method in methods[:-1]]
    codes = decision.tree.codes.copy()
    replaced: dict[str, list[str]] = {}
    for node in np.flatnonzero(codes >= 0):
        old = int(codes[node])
        if not forbidden[old]:
            continue
        elsewhere = [sums[other] for other in sums if decision.tree.codes[other] == old]
        costs = sums.get(int(node), np.sum(elsewhere, axis=0) if elsewhere else None)
        best = len(methods) - 1
        if costs is not None and candidates.any():
            best = int(np.where(candidates, costs, np.inf).argmin())
        codes[node] = best
        places = replaced.setdefault(methods[old].label, [])
        places += [methods[best].label] if methods[best].label not in places else []
    return decision.changed(methods=methods, root=replace(decision.tree, codes=codes)), replaced


def _measured(problem: Problem) -> set[str]:
    """Labels of the methods that have a time anywhere."""
    places = [part.methods[np.isfinite(part.times()).any(axis=(1, 2))] for part in problem.slices]
    return {problem.methods[place].label for place in np.concatenate(places)}


def _sums(problem: Problem, decision: DecisionFunction) -> tuple[dict[int, FloatArray], list[Method]]:
    """What each method costs in all the cells of each leaf; the methods of both, the decision's first."""
    cases = problem.cases(decision.attributes)
    kept = counted(cases)
    nodes = decision.tree.walk(cases.values.T)[kept]
    table = losses(cases)[0][kept]
    methods, places = _joined(decision, problem)
    # A method that was not measured at all costs as much as one that was not measured anywhere here.
    costs = np.full((table.shape[0], len(methods)), table.max(initial=0.0) + 1.0)
    costs[:, places] = table
    return {int(node): costs[nodes == node].sum(axis=0) for node in np.unique(nodes)}, methods


def _joined(decision: DecisionFunction, problem: Problem) -> tuple[list[Method], list[int]]:
    """The decision's methods and what was measured beside; where among them each measured one is."""
    methods = list(decision.methods)
    labels = [method.label for method in methods]
    for method in problem.methods:
        if method.label not in labels:
            methods.append(method)
            labels.append(method.label)
    return methods, [labels.index(method.label) for method in problem.methods]
