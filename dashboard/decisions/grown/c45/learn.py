"""From a problem to C4.5's trees, what it reports of them, and the decision function."""

from collections.abc import Sequence
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.c45.choose import Options
from dashboard.decisions.grown.c45.classify import classify
from dashboard.decisions.grown.c45.continuous import best_cuts
from dashboard.decisions.grown.c45.convert import to_node, training_table
from dashboard.decisions.grown.c45.grow import grow
from dashboard.decisions.grown.c45.kernel import interpreted_if_sooner
from dashboard.decisions.grown.c45.prune import prune
from dashboard.decisions.grown.c45.table import Nodes, TrainingTable
from dashboard.decisions.grown.cart import default_attributes
from dashboard.decisions.grown.family import Progress, part_of
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.problem import Problem


def learn(problem: Problem, settings: Sequence[dict[str, Any]], progress: Progress | None) -> list[DecisionFunction]:
    """Learn one tree for each of several settings, keeping what the next can use: the table, and the unpruned tree.

    Parameters
    ----------
    settings
        All options of `dashboard.decisions.grown.c45.family.FAMILY`, checked.
    """
    tables: dict[tuple[str, ...], tuple[Cases, TrainingTable]] = {}
    known: tuple[Any, ...] = ()
    decisions = []
    for number, options in enumerate(settings):
        names = tuple(options["attributes"] or default_attributes(problem))
        if names not in tables:
            cases = problem.cases(names)
            tables[names] = cases, training_table(cases)
        cases, table = tables[names]
        chosen = Options(options["min_cases"], options["gain_ratio"], options["group_values"])
        with interpreted_if_sooner(best_cuts, table.values.size * table.class_count):
            if known != (names, chosen):
                before = grow(table, chosen, part_of(progress, number, len(settings)))
                known = names, chosen
            after = prune(table, before, options["confidence"])
            reported = report(table, before, after)
        root = to_node(after if options["pruned"] else before, table, cases)
        decisions.append(problem.decided(root, "c45", {**options, "attributes": list(names)}, c45=reported))
    return decisions


def report(table: TrainingTable, before: Nodes, after: Nodes) -> dict[str, Any]:
    """Give what C4.5 prints of the trees before and after pruning.

    Sizes are in nodes, errors in training cases. ``predicted_error`` is how many errors are predicted among as
    many unseen cases; C4.5 prints it as share of ``cases``.
    """
    return {
        "cases": table.classes.size,
        "before": _figures(table, before),
        "after": {**_figures(table, after), "predicted_error": after.predicted_errors},
    }


def _figures(table: TrainingTable, tree: Nodes) -> dict[str, int]:
    wrong = classify(tree, table.values, table.declared) != table.classes
    return {"size": tree.size, "leaves": tree.leaves, "errors": int(wrong.sum())}
