"""Ways of deciding side by side: the comparison of the dissertation (6.5) as a table, and two of them as a map."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import COLLECTIVE, COMM_SIZE, MESSAGE_SIZE, PPN, SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.judged.frontier import figures_of
from dashboard.decisions.judged.penalty import given_of
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import IntArray

OUTCOMES = ("same method", "first faster", "second faster", "equally fast", "not comparable")
"""What `difference` finds at a cell, by number; -1 where nothing is measured."""

_SIZES = ("leaves", "depth", "expected_depth", "rules", "tests")
_PENALTIES = ("penalty_mean", "penalty_p95", "penalty_max", "penalty_median", "wrong", "unmeasured", "cells")

_SAME, _FIRST, _SECOND, _EQUAL, _UNKNOWN = range(len(OUTCOMES))


def compare(problem: Problem, decisions: Mapping[str, DecisionFunction]) -> pd.DataFrame:
    """Give size and penalty of several decisions over the same measurements.

    Parameters
    ----------
    problem
        The measurements, not necessarily those that the decisions were made from.
    decisions
        By the name that their row is to have.

    Returns
    -------
    DataFrame
        One row per decision, in the given order: ``leaves``; ``depth`` and ``expected_depth`` (levels; the latter over
        measured cells); ``rules`` (leaves that some sizes lead to); ``tests`` (lines with a test when it is written out
        as nested ifs, what the dissertation calls function size); ``penalty_mean``, ``penalty_p95``, ``penalty_max``,
        ``penalty_median`` (percent, weighted where there is a workload; NaN when no cell has one); ``wrong`` (cells
        where another method counts less time than the chosen one), ``unmeasured`` (cells where the chosen one is not
        measured, which counts by `dashboard.domain.unmeasured.RULE`) and ``cells`` (those with a penalty).

    Raises
    ------
    DecisionError
        When a decision needs an attribute that is not known of these results.
    """
    rows = [_row(problem, decision) for decision in decisions.values()]
    return pd.DataFrame(rows, index=pd.Index([*decisions], name="decision"), columns=[*_SIZES, *_PENALTIES])


def absent_methods(problem: Problem, decision: DecisionFunction) -> list[str]:
    """Labels of the methods of a decision that the results do not have."""
    there = {method.label for method in problem.methods}
    return [method.label for method in decision.methods if method.label not in there]


def _row(problem: Problem, decision: DecisionFunction) -> dict[str, Any]:
    tables, written = problem.penalties(decision), decision.simplified()
    penalties = np.concatenate([table["penalty"].values.ravel() for table in tables])
    return {
        **figures_of(decision, tables),
        "rules": len(decision.rules()),
        "tests": written.nodes - written.leaves,
        "wrong": np.count_nonzero(penalties > 0),
        "cells": np.count_nonzero(~np.isnan(penalties)),
    }


def difference(problem: Problem, first: DecisionFunction, second: DecisionFunction) -> xr.Dataset:
    """Compare two decisions cell by cell.

    Returns
    -------
    Dataset with dims ``comm_size``, ``message_size``
        ``first`` and ``second`` (what they choose, positions along ``method``), ``first_penalty``, ``second_penalty``
        and ``difference`` (first less second, percent points; NaN where the results do not have one of both),
        ``outcome`` (position in `OUTCOMES`, -1 where nothing is measured), ``weight`` where there is a workload. Of
        several tables a dimension ``table`` comes first, with ``ppn`` and ``collective`` along it; cells that a table
        does not have are -1 and NaN. ``attrs`` count the ``cells`` measured and each outcome (``first_faster``, …) and
        give ``mean_difference`` (weighted where there is a workload; NaN when no cell has one).

    Raises
    ------
    DecisionError
        When a decision needs an attribute that is not known of these results.
    """
    methods = (*problem.methods, *first.methods, *second.methods)
    labels = list(dict.fromkeys(method.label for method in methods))
    pairs = zip(problem.penalties(first), problem.penalties(second), strict=True)
    tables = [_differences(left, right, (first, second), labels) for left, right in pairs]
    joined = tables[0] if len(tables) == 1 else _stacked(problem, tables)
    joined = joined.assign_coords(method=("method", labels))
    for name in ("first_penalty", "second_penalty"):
        joined[name].attrs["units"] = "%"
    joined["difference"].attrs["units"] = "percent points"
    return joined.assign_attrs(collective=problem.collective, **_summed_up(joined))


def _differences(
    left: xr.Dataset, right: xr.Dataset, decisions: tuple[DecisionFunction, DecisionFunction], labels: list[str]
) -> xr.Dataset:
    """Both decisions over one table, given the penalties of each."""
    chosen = [_chosen(table, decision, labels) for table, decision in zip((left, right), decisions, strict=True)]
    measured = left["best"].values >= 0
    times = left["chosen_time"].values, right["chosen_time"].values
    known = ~(np.isnan(times[0]) | np.isnan(times[1]))
    outcome = np.select(
        [~measured, chosen[0] == chosen[1], ~known, times[0] < times[1], times[0] > times[1]],
        [-1, _SAME, _UNKNOWN, _FIRST, _SECOND],
        _EQUAL,
    )
    penalties = left["penalty"].values, right["penalty"].values
    columns: dict[str, Any] = {
        "first": chosen[0],
        "second": chosen[1],
        "first_penalty": penalties[0],
        "second_penalty": penalties[1],
        "difference": penalties[0] - penalties[1],
        "outcome": outcome,
    }
    if "weight" in left:
        columns["weight"] = left["weight"].values
    return xr.Dataset(
        {name: (SIZES, values) for name, values in columns.items()}, coords={name: left[name] for name in SIZES}
    )


def _chosen(table: xr.Dataset, decision: DecisionFunction, labels: list[str]) -> IntArray:
    """What a decision chooses in all cells of a table, as positions in `labels`."""
    places = np.array([labels.index(method.label) for method in decision.methods], dtype=np.int64)
    given = given_of(table, decision, table.attrs.get("ppn"))
    chosen = decision.predict(table[COMM_SIZE].values[:, None], table[MESSAGE_SIZE].values[None], **given)
    return np.broadcast_to(places[chosen], table["best"].shape)


def _stacked(problem: Problem, tables: list[xr.Dataset]) -> xr.Dataset:
    """Several tables on the sizes of them all."""
    sizes = {name: np.unique(np.concatenate([table[name].values for table in tables])) for name in SIZES}
    filled = dict.fromkeys(("first", "second", "outcome"), -1)
    weighed = any("weight" in table for table in tables)
    tables_filled = []
    for table in tables:
        if weighed and "weight" not in table:
            table = table.assign(weight=(SIZES, np.ones(table["outcome"].shape)))  # noqa: PLW2901 - completed
        fill = {name: filled.get(str(name), 0.0 if name == "weight" else np.nan) for name in table.data_vars}
        tables_filled.append(table.reindex(sizes, fill_value=fill))
    joined = xr.concat(tables_filled, dim="table", join="exact", coords="minimal", compat="override")
    for name in (PPN, COLLECTIVE):
        if all(name in part.given for part in problem.slices):
            joined = joined.assign_coords({name: ("table", [part.given[name] for part in problem.slices])})
    return joined


def _summed_up(joined: xr.Dataset) -> dict[str, Any]:
    outcome = joined["outcome"].values
    counts = {text.replace(" ", "_"): int((outcome == number).sum()) for number, text in enumerate(OUTCOMES)}
    values = joined["difference"].values
    weights = joined["weight"].values if "weight" in joined else np.ones(values.shape)
    there = ~np.isnan(values) & (weights > 0)
    mean = float(np.average(values[there], weights=weights[there])) if there.any() else float("nan")
    return {"cells": int((outcome >= 0).sum()), **counts, "mean_difference": mean}
