"""The tables that the dissertation gives of C4.5's trees (Tables 6.7 and 6.8)."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.c45.family import c45_many
from dashboard.decisions.judged.penalty import summarise, summarise_all
from dashboard.decisions.measured.problem import Problem

TABLE_6_7 = ((2, 25.0), (4, 25.0), (6, 15.0), (8, 5.0), (40, 5.0))
"""The settings of Table 6.7: -m and -c."""
TABLE_6_8 = ((2, 25.0), (6, 25.0), (8, 25.0), (20, 5.0), (40, 25.0))


def c45_table(problem: Problem, settings: Iterable[tuple[int, float]] = TABLE_6_7, **options: Any) -> pd.DataFrame:
    """Give the figures of C4.5's trees of several settings.

    Parameters
    ----------
    settings
        Of -m and -c.
    **options
        The other options of `c45`.

    Returns
    -------
    DataFrame
        One row per setting, by its command line: ``size_before``, ``leaves_before``, ``errors_before``,
        ``size``, ``leaves``, ``errors``, ``predicted_error``, ``penalty_min``, ``penalty_max``,
        ``penalty_mean``, ``penalty_median``, and for each of several tables its mean penalty, such as
        ``penalty_mean bcast``. Sizes count tests and leaves (as in Tables 6.7 and 6.8, whose captions speak of
        leaves); errors are shares of the cases, in percent as the penalties are.
    """
    chosen = [{**options, "min_cases": m, "confidence": c} for m, c in settings]
    trees = c45_many(problem, chosen)
    rows = {}
    for options_used, tree in zip(chosen, trees, strict=True):
        reported = in_percent(tree)
        tables = problem.penalties(tree)
        total = summarise_all(tables)
        rows[f"-m {options_used['min_cases']} -c {options_used['confidence']:g}"] = {
            **{f"{name}_before": value for name, value in reported["before"].items()},
            **reported["after"],
            **{f"penalty_{name}": getattr(total, name) for name in ("min", "max", "mean", "median")},
            **_means(problem, tables),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(index="command line")


def in_percent(decision: DecisionFunction) -> dict[str, dict[str, Any]]:
    """Size and errors ``before`` and ``after`` pruning; C4.5 counts cases, people read percent. Of others nothing."""
    known: dict[str, Any] = decision.provenance.get("c45", {})
    return {
        when: {
            name: value if name in ("size", "leaves") else 100 * value / known["cases"]
            for name, value in known[when].items()
        }
        for when in ("before", "after")
        if when in known
    }


def _means(problem: Problem, tables: list[Any]) -> dict[str, float]:
    """Mean penalty of each of several tables, by what tells them apart."""
    if len(tables) == 1:
        return {}
    return {
        " ".join(["penalty_mean", *(str(value) for value in part.given.values())]): summarise(table).mean
        for part, table in zip(problem.slices, tables, strict=True)
    }
