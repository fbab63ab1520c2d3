"""From a problem to C4.5's trees, what it reports of them, and the decision function."""

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
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.problem import Problem


class Learner:
    """Learns from one problem, keeping what the next setting can use: the table, and the tree before pruning."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._tables: dict[tuple[str, ...], tuple[Cases, TrainingTable]] = {}
        self._grown: dict[tuple[Any, ...], Nodes] = {}

    def function(self, options: dict[str, Any], progress: Progress | None = None) -> DecisionFunction:
        """Learn by all options of `dashboard.decisions.grown.c45.family.FAMILY`, which must be checked."""
        problem = self._problem
        names = tuple(options["attributes"] or default_attributes(problem))
        if names not in self._tables:
            cases = problem.cases(names)
            self._tables[names] = cases, training_table(cases)
        cases, table = self._tables[names]
        with interpreted_if_sooner(best_cuts, table.values.size * table.class_count):
            before = self._before(names, options, progress)
            after = prune(table, before, options["confidence"])
            reported = report(table, before, after)
        root = to_node(after if options["pruned"] else before, table, cases)
        return problem.decided(root, "c45", {**options, "attributes": list(names)}, c45=reported)

    def _before(self, names: tuple[str, ...], options: dict[str, Any], progress: Progress | None) -> Nodes:
        chosen = Options(options["min_cases"], options["gain_ratio"], options["group_values"])
        if (names, chosen) not in self._grown:
            self._grown = {(names, chosen): grow(self._tables[names][1], chosen, progress)}
        return self._grown[names, chosen]


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
