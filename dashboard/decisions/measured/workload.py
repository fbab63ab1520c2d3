"""Weights from a workload: how often an application calls what each cell stands for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.measured.map import check_cube, select_ppn
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.errors import DecisionError, meant
from dashboard.domain.units import format_ppn


def weights_for(
    workload: pd.DataFrame, cube: xr.Dataset, collective: str | None = None, *, ppn: int | None = None
) -> xr.DataArray:
    """Lay the calls of a workload on the grid of measured sizes.

    Parameters
    ----------
    workload
        As `loaders.workload.read_workload` gives it: ``collective``, ``comm_size``, ``message_size``,
        ``calls`` and perhaps ``ppn`` (0 = not told).
    collective
        Whose calls; None takes that of the cube.
    ppn
        As for `select_ppn`.

    Returns
    -------
    DataArray over ``comm_size``, ``message_size``
        Calls of each cell, float64. A size that was not measured counts at the nearest communicator and message size by
        the logarithm (of two equally near the smaller), beyond the range at its border. So all calls are there;
        attributes count them: ``calls``, of which ``exact`` are at measured sizes, ``moved`` between them, ``beyond``
        outside their range; ``unmeasured`` fall on cells where no method was measured, so that no penalty knows them;
        ``other_ppn`` are of other numbers of processes per node and not among the calls. `in_words` says it for people.

    Raises
    ------
    DecisionError
        When the workload does not call this collective, or nothing is measured.
    """
    flat, chosen = select_ppn(check_cube(cube), ppn)
    name = str(cube.attrs.get("collective", "unknown")) if collective is None else collective
    rows = _checked(workload).loc[workload["collective"] == name]
    other = np.zeros(len(rows), dtype=np.bool_)
    if "ppn" in rows and chosen is not None:
        per_node = rows["ppn"].to_numpy(dtype=np.float64)
        other = np.isfinite(per_node) & (per_node > 0) & (per_node != chosen)
    calls = rows["calls"].to_numpy(dtype=np.float64)
    own = rows.loc[~other]
    if not calls[~other].sum() > 0:
        raise DecisionError(_nothing(workload, name, chosen, len(rows)))
    measured = np.asarray(flat["time"].count("method").transpose(*SIZES).values) > 0
    if not measured.any():
        raise DecisionError(f"nothing is measured of {name}, so that a workload has nowhere to go")
    lines = measured.any(axis=1), measured.any(axis=0)
    grid = [np.asarray(flat[axis].values)[there] for axis, there in zip(SIZES, lines, strict=True)]
    weights = np.zeros(measured.shape)
    weights[np.ix_(*lines)] = _laid(own, *grid)
    exact, inside = np.ones(len(own), dtype=np.bool_), np.ones(len(own), dtype=np.bool_)
    for axis, sizes in zip(SIZES, grid, strict=True):
        values = own[axis].to_numpy(dtype=np.int64)
        exact &= np.isin(values, sizes)
        inside &= (values >= sizes[0]) & (values <= sizes[-1])
    counts = {
        "calls": float(calls[~other].sum()),
        "exact": float(calls[~other][exact].sum()),
        "moved": float(calls[~other][~exact & inside].sum()),
        "beyond": float(calls[~other][~inside].sum()),
        "unmeasured": float(weights[~measured].sum()),
        "other_ppn": float(calls[other].sum()),
    }
    attrs = {"units": "1", "long_name": f"calls of {name}", **counts}
    return xr.DataArray(weights, {axis: flat[axis] for axis in SIZES}, SIZES, "weight", attrs)


def calls_on(
    workload: pd.DataFrame, collectives: Iterable[str], comm_sizes: Sequence[int], message_sizes: Sequence[int]
) -> dict[tuple[str, int, int], float]:
    """Count the calls at each size of a grid, which are those of the sizes that it is nearest to.

    Parameters
    ----------
    workload
        As for `weights_for`.
    comm_sizes, message_sizes
        The grid, ascending; message sizes in bytes, of a barrier 0.

    Returns
    -------
    dict
        By collective, communicator and message size; what is not called is not there.

    Raises
    ------
    DecisionError
        The workload is none.
    """
    calls = {}
    for name in collectives:
        rows = _checked(workload).loc[workload["collective"] == name]
        sizes = np.asarray(comm_sizes), np.asarray([0] if name == "barrier" else message_sizes)
        weights = _laid(rows, *sizes)
        for row, column in np.argwhere(weights).tolist():
            calls[name, int(sizes[0][row]), int(sizes[1][column])] = float(weights[row, column])
    return calls


def weighed(problem: Problem, workload: pd.DataFrame) -> Problem:
    """Weigh each table of a problem by the workload's calls of its collective and processes per node.

    Parameters
    ----------
    workload
        As for `weights_for`. Calls whose processes per node are not told count for each number of them.

    Returns
    -------
    Problem
        With weights; a table that the workload does not call has none but 0. ``provenance["workload"]``
        sums up the counts of `weights_for`, each call once, with the calls of collectives ``without_results``.

    Raises
    ------
    DecisionError
        When the workload calls none of the problem's tables.
    """
    names = [str(part.given.get("collective", problem.collective)) for part in problem.slices]
    per_node = [part.given.get("ppn") for part in problem.slices]
    each_once, nowhere = _each_once(workload, names, per_node)
    sums = dict.fromkeys(("calls", *_WORDS), 0.0)
    slices = []
    refused: DecisionError | None = None
    for part, name, ppn in zip(problem.slices, names, per_node, strict=True):
        try:
            weights = weights_for(workload, part.cube, name, ppn=ppn)
        except DecisionError as error:
            refused = error
            slices.append(replace(part, weights=np.zeros(part.labels.shape)))
            continue
        counts = weights_for(each_once, part.cube, name, ppn=ppn).attrs
        for count in sums:
            sums[count] += counts[count] if count != "other_ppn" or ppn is None else 0.0
        slices.append(replace(part, weights=np.asarray(weights.values)))
    if refused is not None and not sums["calls"]:
        raise refused
    sums["other_ppn"] += nowhere
    facts: dict[str, Any] = {**sums, "without_results": without_results(workload, names)}
    return replace(problem, slices=tuple(slices), provenance={**problem.provenance, "workload": facts})


def _each_once(
    workload: pd.DataFrame, names: Sequence[str], per_node: Sequence[int | None]
) -> tuple[pd.DataFrame, float]:
    """The workload with calls that several tables count shared among these, and calls that none of them counts."""
    calls = _checked(workload)["calls"].to_numpy(dtype=np.float64)
    own = workload["ppn"].to_numpy(dtype=np.float64) if "ppn" in workload else np.zeros(len(workload))
    any_ppn, collectives = ~(own > 0), workload["collective"].to_numpy()
    counting = np.zeros(len(workload))
    for name, ppn in zip(names, per_node, strict=True):
        counting += (collectives == name) & (any_ppn | (own == ppn) if ppn is not None else True)
    nowhere = float(calls[np.isin(collectives, names) & (counting == 0)].sum())
    return workload.assign(calls=calls / np.maximum(counting, 1)), nowhere


_WORDS = {
    "exact": "at measured sizes",
    "moved": "between them, counted at the nearest",
    "beyond": "beyond them, counted at their border",
    "unmeasured": "of all these at cells where nothing is measured, which no penalty knows",
    "other_ppn": "at other processes per node, not counted",
}


def in_words(facts: Mapping[str, Any] | None) -> list[str]:
    """Sentences on where the calls of a workload are counted, and which are not.

    Parameters
    ----------
    facts
        As `weighed` leaves them in ``provenance["workload"]``; None without a workload.
    """
    if facts is None:
        return []
    counts = ", ".join(f"{facts[name]:,.12g} {text}" for name, text in _WORDS.items() if facts[name])
    said = [f"Sizes are weighed by {facts['calls']:,.12g} calls of a workload: {counts}"]
    if facts["without_results"]:
        said.append(f"Its calls of {', '.join(facts['without_results'])} weigh nothing here")
    return said


def called(workload: pd.DataFrame, cubes: Mapping[str, xr.Dataset]) -> dict[str, xr.DataArray]:
    """The weights (`weights_for`) of each of several collectives by name, without those that a workload never calls."""
    weights = {}
    for name, cube in cubes.items():
        try:
            weights[name] = weights_for(workload, cube, name)
        except DecisionError:
            continue
    return weights


def without_results(workload: pd.DataFrame, collectives: Any) -> dict[str, float]:
    """Calls of a workload by collective, of those that are not among `collectives`."""
    known = {str(name) for name in collectives}
    calls = _checked(workload).groupby("collective", sort=False)["calls"].sum()
    return {str(name): float(number) for name, number in calls.items() if str(name) not in known}


def _checked(workload: pd.DataFrame) -> pd.DataFrame:
    needed = ("collective", *SIZES, "calls")
    missing = [name for name in needed if name not in workload]
    if missing:
        raise DecisionError(f"the workload has no column {', '.join(missing)}; expected {', '.join(needed)}")
    calls = workload["calls"].to_numpy(dtype=np.float64)
    if not (np.isfinite(calls) & (calls >= 0)).all():
        raise DecisionError("the calls of a workload must be finite and 0 or more")
    return workload


def _laid(rows: pd.DataFrame, *grid: IntArray) -> FloatArray:
    """Calls of each size of a grid, ``(comm_size, message_size)``, by those of the sizes that it is nearest to."""
    weights = np.zeros([sizes.size for sizes in grid])
    places = [_nearest(rows[axis].to_numpy(dtype=np.int64), sizes) for axis, sizes in zip(SIZES, grid, strict=True)]
    np.add.at(weights, tuple(places), rows["calls"].to_numpy(dtype=np.float64))
    return weights


def _nearest(values: IntArray, sizes: IntArray) -> IntArray:
    """Position of the nearest of ascending sizes by the logarithm, of two the smaller; 0 is as half a byte."""
    wanted, logs = (np.log2(np.maximum(numbers, 0.5)) for numbers in (values, sizes))
    above = np.clip(np.searchsorted(logs, wanted), 0, logs.size - 1)
    below = np.maximum(above - 1, 0)
    return np.asarray(np.where(wanted - logs[below] <= logs[above] - wanted, below, above), dtype=np.int64)


def _nothing(workload: pd.DataFrame, name: str, ppn: int | None, rows: int) -> str:
    if rows:
        return f"the workload has no call of {name}" + (f" at {format_ppn(ppn)}" if ppn is not None else "")
    names = [str(collective) for collective in workload["collective"].unique()]
    return f"the workload does not call {name}, only {', '.join(names) or 'nothing'}{meant(name, names)}"
