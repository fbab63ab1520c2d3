"""Two campaigns beside each other: what differs between them, and what the decisions of one cost on the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import MESSAGE_SIZE, SIZE_TITLES, SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.judged.penalty import summarise_all, weights_of
from dashboard.decisions.measured.map import methods_of, select_ppn
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import DecisionError
from dashboard.domain.units import format_bytes, format_count, format_ppn

SIDES = ("A", "B")
#: Attributes of a cube that say where and how it was measured, with their names.
FACTS = {
    "system": "system",
    "network": "network",
    "library": "library",
    "library_version": "library version",
    "device": "device",
    "placement": "placement",
    "operation": "operation",
    "element_type": "datatype",
    "campaign": "campaign",
    "benchmark": "benchmark",
    "statistic": "statistic",
    "date": "date",
}


@dataclass(frozen=True, eq=False)
class Portability:
    """The decisions of two campaigns, judged by both."""

    #: A and B, with the methods that the decisions were made from.
    problems: tuple[Problem, Problem]
    #: Made from A and from B.
    decisions: tuple[DecisionFunction, DecisionFunction]
    #: One row for each decision and campaign: ``made`` and ``judged`` (``"A"`` or ``"B"``), ``leaves``, and ``min``,
    #: ``max``, ``mean``, ``median`` (percent), ``unmeasured``, ``cells`` as
    #: `dashboard.decisions.judged.penalty.PenaltySummary`.
    table: pd.DataFrame
    #: What `table` sums up, by the campaigns ``(made, judged)``.
    penalties: Mapping[tuple[str, str], Sequence[xr.Dataset]]
    #: Which methods all this is among, in words; empty where none was left out.
    among: str

    def gap(self, made: str, judged: str) -> tuple[float, int]:
        """What the decision of one campaign costs on the other above that one's own: points, NaN where none is known.

        Both means are over the cells in which both decisions have a penalty; how many these are comes with it.
        """
        ported, own = self.penalties[made, judged], self.penalties[judged, judged]
        values = [np.concatenate([each["penalty"].values.ravel() for each in tables]) for tables in (ported, own)]
        weights = np.concatenate([weights_of(each).ravel() for each in own])
        both = np.isfinite(values[0]) & np.isfinite(values[1]) & (weights > 0)
        if not both.any():
            return np.nan, 0
        return float(np.average((values[0] - values[1])[both], weights=weights[both])), int(both.sum())


def portability(
    first: Problem, second: Problem, grow: Callable[[Problem], DecisionFunction], *, common: bool = True
) -> Portability:
    """Make a decision from each of two campaigns, and judge both by both.

    Parameters
    ----------
    first, second
        The same collective, measured twice: on two machines, with two versions of a library, before and after.
    grow
        Makes the decision.
    common
        Whether decisions are made from, and judged against, the methods that both campaigns measured. Otherwise a
        decision may take what the other one lacks; such cells have no penalty there, and are among the unmeasured.

    Raises
    ------
    DecisionError
        When the collectives differ, or no method is in both.
    """
    if first.collective != second.collective:
        raise DecisionError(f"A is {first.collective} and B {second.collective}; only one collective can be compared")
    problems, among = (first, second), ""
    if common:
        labels = common_methods(first, second)
        if not labels:
            raise DecisionError(
                f"no method of {first.collective} was measured in both campaigns under the same name; compare over all "
                "that either has (--all-methods; on the page Compare without Only methods that both have)"
            )
        problems = restricted(first, labels), restricted(second, labels)
        if len(labels) < max(len(first.methods), len(second.methods)):
            among = f"among the {format_count(len(labels), 'method')} that both have"
    decisions = grow(problems[0]), grow(problems[1])
    penalties = {
        (made, judged): problem.penalties(decision)
        for made, decision in zip(SIDES, decisions, strict=True)
        for judged, problem in zip(SIDES, problems, strict=True)
    }
    rows = [
        {"made": made, "judged": judged, "leaves": decisions[SIDES.index(made)].leaves}
        | {name: getattr(total, name) for name in ("min", "max", "mean", "median", "unmeasured", "cells")}
        for (made, judged), tables in penalties.items()
        for total in [summarise_all(tables)]
    ]
    return Portability(problems, decisions, pd.DataFrame(rows), penalties, among)


def common_methods(first: Problem, second: Problem) -> list[str]:
    """Labels of the methods that both have, in the order of the first."""
    other = {method.label for method in second.methods}
    return [method.label for method in first.methods if method.label in other]


def restricted(problem: Problem, labels: list[str]) -> Problem:
    """The same measurements of these methods only."""
    cubes = []
    for part in problem.slices:
        there = [number for number, method in enumerate(methods_of(part.cube)) if method.label in set(labels)]
        cubes.append(part.cube.isel(method=there))
    if len(cubes) == 1:
        return replace(Problem.of(cubes[0], weights=problem.slices[0].weights), provenance=problem.provenance)
    raise DecisionError("two campaigns are compared for one collective and one number of processes per node")


def ppn_of_both(first: xr.Dataset, second: xr.Dataset) -> tuple[int | None, str]:
    """The processes per node at which two cubes of one collective can be compared, where none are asked for.

    Returns
    -------
    ppn
        Of those that both have the number with most measured cells (the smallest of equals); None where they share
        none, or do not tell: then each stands at its own.
    note
        Which numbers each has, and what is meant of these; empty where there is no choice.
    """
    cells = [_cells_by_ppn(cube) for cube in (first, second)]
    both = sorted(cells[0].keys() & cells[1].keys())
    numbers = [", ".join(map(str, counts)) for counts in cells]
    there = f"A has {numbers[0]} and B has {numbers[1]}"
    if not both:
        return None, f"no processes per node that both campaigns were measured at: {there}" if all(cells) else ""
    ppn = max(both, key=lambda number: cells[0][number] + cells[1][number])
    chosen = f"{format_ppn(ppn)} on both sides (most measured cells of what both have): {there}"
    return ppn, chosen if any(len(counts) > 1 for counts in cells) else ""


def _cells_by_ppn(cube: xr.Dataset) -> dict[int, int]:
    """Measured cells by processes per node; empty where these are not told."""
    present = cube["ppn"].values.tolist() if "ppn" in cube.dims else [select_ppn(cube)[1]]
    return {ppn: int(select_ppn(cube, ppn)[0]["time"].count()) for ppn in present if ppn is not None}


def campaign_facts(first: xr.Dataset, second: xr.Dataset) -> pd.DataFrame:
    """What differs between two cubes of one collective.

    Returns
    -------
    DataFrame
        ``what``, ``A``, ``B`` as text: facts of the measurement that differ, methods and sizes that only one of them
        has, at the processes per node with most measured cells. Empty where nothing does.
    """
    rows = []
    slices, numbers = zip(*map(select_ppn, (first, second)), strict=True)
    facts = {name: [cube.attrs.get(key) for cube in slices] for key, name in FACTS.items()}
    facts["processes per node"] = list(numbers)
    measured = [_measured(cube) for cube in slices]
    for name, values in facts.items():
        written = [str(value or "–") for value in values]
        if written[0] != written[1]:
            rows.append((name, *written))
    lists = {"methods": [[method.label for method in methods_of(cube)] for cube in measured]}
    for axis in SIZES:
        write = format_bytes if axis == MESSAGE_SIZE else str
        lists[f"{SIZE_TITLES[axis]}s"] = [list(map(write, cube[axis].values.tolist())) for cube in measured]
    for name, (mine, other) in lists.items():
        only = [each for each in mine if each not in set(other)], [each for each in other if each not in set(mine)]
        if any(only):
            rows.append((f"{name} of one only", _listed(only[0]), _listed(only[1])))
    return pd.DataFrame(rows, columns=["what", *SIDES])


def _measured(cube: xr.Dataset) -> xr.Dataset:
    """The methods and sizes of a cube that have any time."""
    time = cube["time"]
    cells = {dim: time.count([other for other in time.dims if other != dim]) for dim in time.dims}
    return cube.isel({dim: np.flatnonzero(counts) for dim, counts in cells.items()})


def _listed(values: list[str], most: int = 12) -> str:
    return (", ".join(values[:most]) or "none") + (f", and {len(values) - most} more" if len(values) > most else "")


def time_ratios(first: xr.Dataset, second: xr.Dataset) -> pd.DataFrame:
    """How many times as long each method takes in B, over the cells that both measured.

    Parameters
    ----------
    first, second
        Cubes of one collective without ``ppn``.

    Returns
    -------
    DataFrame
        By ``method``: ``cells``, and ``low``, ``median``, ``high`` (10 %, 50 %, 90 % of the ratios B / A); methods
        in the order of A. Cells are matched by their sizes, not by position.
    """
    joined = xr.align(_by_label(first), _by_label(second), join="inner")
    rows = []
    if all(joined[0].sizes.values()):
        ratios = (joined[1] / joined[0]).transpose("method", *SIZES)
        for label, values in zip(ratios["method"].values, ratios.values, strict=True):
            there = values[np.isfinite(values)]
            if there.size:
                rows.append((str(label), there.size, *np.quantile(there, (0.1, 0.5, 0.9))))
    order = {method.label: place for place, method in enumerate(methods_of(first))}
    rows.sort(key=lambda row: order[row[0]])
    return pd.DataFrame(rows, columns=["method", "cells", "low", "median", "high"])


def _by_label(cube: xr.Dataset) -> xr.DataArray:
    labels = [method.label for method in methods_of(cube)]
    time = cube["time"].transpose("method", *SIZES)
    return xr.DataArray(
        time.values, dims=time.dims, coords={"method": labels, **{axis: cube[axis].values for axis in SIZES}}
    )
