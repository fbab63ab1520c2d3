"""Predicted times of grids: the sum over their phases, each a collective of few processes (K 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.domain.units import format_bytes
from dashboard.models.errors import ModelError
from dashboard.models.fitted_runtime import fitted, unfitted
from dashboard.models.placement import nodes_recorded, shares
from dashboard.models.published import Published, Runtime, composed, improvement
from dashboard.schedules.layout import Grid, layouts
from loaders.collectives import COLLECTIVES

#: Collectives that grids are made of.
PHASED = ("bcast", "reduce", "allreduce", "scatter", "gather", "allgather")

#: What the original, and what runs inside of its grids, is called where all is predicted.
ORIGINAL = "original"


@dataclass(frozen=True)
class Predicted:
    """Predicted time of a grid."""

    grid: Grid
    #: Seconds; None where a coefficient is missing.
    time: float | None
    #: Percent over the original; None likewise.
    improvement: float | None
    #: Seconds of each phase, from the first dimension on.
    phases: tuple[float, ...] = ()
    #: Why there is no time; empty when there is.
    missing: str = ""
    #: Algorithm of each phase, where it is known.
    inside: tuple[str, ...] = ()
    #: As of `dashboard.models.fitted_runtime.unfitted`, of all phases.
    unfitted: Mapping[str, str] = field(default_factory=dict)


def sizes(collective: str, grid: Grid, message_size: float) -> list[tuple[int, float]]:
    """Processes and bytes of each phase of a grid."""
    # Phases of a collective with blocks carry those of all ranks that a member stands for.
    carries = COLLECTIVES[collective].by_block
    return [
        (factor, message_size * stride if carries else message_size)
        for factor, stride in zip(grid.factors, grid.strides, strict=True)
    ]


def phases(function: Runtime, collective: str, grid: Grid, message_size: float) -> tuple[float, ...]:
    """Seconds of each phase of a grid; `ModelError` where one is not known."""
    return tuple(function.seconds(*each) for each in sizes(collective, grid, message_size))


def predict(
    function: Runtime, collective: str, processes: int, message_size: float, dimensions: int | None = None
) -> tuple[float, list[Predicted]]:
    """Predict the original and all grids of a collective.

    Parameters
    ----------
    function
        Of the collective, on small and large communicators alike.
    processes, message_size
        Processes; bytes of the vector, or of the block of each process.
    dimensions
        Of the grids; None: any.

    Returns
    -------
    tuple
        Seconds of the original; the grids.

    Raises
    ------
    ModelError
        When the collective is not made of phases, or the original's time is not known.
    """
    if collective not in PHASED:
        raise ModelError(f"{collective} is not made of phases; grids are of {', '.join(PHASED)}")
    if processes < 2:
        raise ModelError(f"processes is {processes}; expected 2 or more")
    original = function.seconds(processes, message_size)
    predictions = []
    for grid in layouts(processes, dimensions):
        try:
            each = phases(function, collective, grid, message_size)
        except ModelError as error:
            predictions.append(Predicted(grid, None, None, missing=str(error)))
        else:
            # Of published functions the phases of grids are what their authors took them for.
            asked = [(processes, message_size)]
            calls = asked if isinstance(function, Published) else sizes(collective, grid, message_size)
            beyond = unfitted(function, *calls)
            predictions.append(Predicted(grid, sum(each), improvement(original, sum(each)), each, unfitted=beyond))
    return original, predictions


def predicted_cube(
    function: Runtime, collective: str, processes: Sequence[int], message_sizes: Sequence[int]
) -> xr.Dataset:
    """Predictions of the original and of all grids, laid out as measured ones are.

    Parameters
    ----------
    function, collective
        As for `predict`.
    processes, message_sizes
        Communicator sizes; bytes of the vector, or of the block of each process.

    Returns
    -------
    Dataset
        ``time`` in seconds over ``method`` (the first is the original, `ORIGINAL`; grids have coordinates ``grid`` and
        ``inner``, the same word), ``comm_size`` and ``message_size``; NaN where a grid does not fit, or a coefficient
        is missing.
    """
    names = ["", *dict.fromkeys(str(grid) for size in processes for grid in layouts(size))]
    time = np.full((len(names), len(processes), len(message_sizes)), np.nan)
    for row, size in enumerate(processes):
        for column, message_size in enumerate(message_sizes):
            original, predictions = predict(function, collective, size, message_size)
            time[0, row, column] = original
            for each in predictions:
                if each.time is not None:
                    time[names.index(str(each.grid)), row, column] = each.time
    coords = {
        "method": [f"{ORIGINAL} {name}".strip() for name in names],
        "grid": ("method", names),
        "inner": ("method", [ORIGINAL if name else "" for name in names]),
        "comm_size": list(processes),
        "message_size": list(message_sizes),
    }
    attrs = {"collective": collective, "statistic": "predicted by a runtime function"}
    return xr.Dataset({"time": (("method", "comm_size", "message_size"), time, {"units": "s"})}, coords, attrs)


def of_results(cubes: dict[str, xr.Dataset], collective: str, method: str) -> Runtime:
    """Runtime function of a collective: fitted to its own results, else made of those that it is made of.

    Raises
    ------
    ModelError
        When the results hold neither; the message says what they hold.
    """
    if collective in cubes:
        return fitted(cubes[collective], method)
    made = composed({name: fitted(cube, method) for name, cube in cubes.items() if name in PHASED})
    if collective not in made:
        raise ModelError(f"the results hold no {collective}; they hold {', '.join(cubes)}")
    return made[collective]


@dataclass(frozen=True)
class Deviation:
    """What was measured of a predicted grid: percent by which it took longer than predicted (K 4); None: not measured.

    Attributes
    ----------
    measured
        Seconds of the grid.
    total
        Of the grid.
    phases
        Of each phase, from the first dimension on (the leader group, then concurrent groups): of the method alone on
        as many processes.
    """

    measured: float | None
    total: float | None
    phases: tuple[float | None, ...]


def deviation(cube: xr.Dataset, method: str, inner: str, message_size: int, predicted: Predicted) -> Deviation:
    """Deviation of a prediction from results of its collective.

    Parameters
    ----------
    cube
        Results of the collective, without ``ppn``.
    method, inner
        Label of the method that the runtime function is of; what it is called inside of grids.
    message_size
        Bytes that were predicted for.
    predicted
        As `predict` gives it.
    """
    grid, collective = predicted.grid, str(cube.attrs["collective"])
    labels = cube["method"].values.astype(str)
    wanted = (
        (cube["grid"].values.astype(str) == str(grid)) & (cube["inner"].values.astype(str) == inner)
        if {"grid", "inner"} <= set(cube.coords)
        else np.zeros(labels.size, dtype=bool)
    )
    measured = _measured(cube, wanted, grid.processes, message_size)
    alone = [_measured(cube, labels == method, *each) for each in sizes(collective, grid, message_size)]
    each = tuple(_deviation(*pair) for pair in zip(alone, predicted.phases or [None] * len(alone), strict=True))
    return Deviation(measured, _deviation(measured, predicted.time), each)


def _measured(cube: xr.Dataset, chosen: npt.NDArray[np.bool_], comm_size: int, message_size: float) -> float | None:
    known = cube["comm_size"].values == comm_size, cube["message_size"].values == message_size
    times = cube["time"].transpose("method", "comm_size", "message_size").values[np.ix_(chosen, *known)].ravel()
    times = times[np.isfinite(times)]
    return float(times[0]) if times.size else None


def _deviation(measured: float | None, time: float | None) -> float | None:
    return None if measured is None or time is None else 100 * (measured - time) / measured


def gains(cube: xr.Dataset, original: str) -> xr.DataArray:
    """Percent that measured grids take less time than a method (K 3).

    Parameters
    ----------
    cube
        Results of one collective, without ``ppn``.
    original
        Label of the method that they are compared with.

    Returns
    -------
    DataArray
        Over ``method`` (the grids, with coordinates ``grid`` and ``inner``), ``comm_size`` and ``message_size``; NaN
        where a grid does not fit or nothing was measured.

    Raises
    ------
    ModelError
        When there is no such method, or no grid; the message says what there is.
    """
    labels = [str(label) for label in cube["method"].values]
    if original not in labels:
        words = f"there is no method {original!r} in these results to compare grids with"
        raise ModelError(f"{words}; they hold (for --original): {', '.join(labels)}")
    names = np.array([str(name) for name in cube["grid"].values]) if "grid" in cube.coords else np.array([""])
    if not (names != "").any():
        raise ModelError("these results hold no grids; measure them with: colltune bench run FOLDER --grids all")
    time = cube["time"].transpose("method", "comm_size", "message_size")
    first = time.isel(method=labels.index(original), drop=True)
    made: xr.DataArray = 100 * (first - time.isel(method=names != "")) / first
    kept = {name: made[name] for name in ("grid", "inner") if name in made.coords}
    return made.transpose("method", "comm_size", "message_size").reset_coords(drop=True).assign_coords(kept)


def summary(
    cube: xr.Dataset, original: str, between: tuple[float, float], ppn: int | None = None
) -> list[dict[str, Any]]:
    """Minimum, average and maximum of `gains` over message sizes.

    Parameters
    ----------
    cube, original
        As for `gains`.
    between
        Least and greatest message size, bytes.
    ppn
        Processes on each node that the cube is of, where campaigns choose them.

    Returns
    -------
    list of dict
        ``comm_size, layout, inner, minimum, average, maximum`` (percent) and ``sizes``; of grids of three dimensions
        and more also ``over_two_phases``: the average improvement over the best grid of two at each size, None without;
        ``within_nodes``: of each phase the share of the pairs in its groups that are on one node, where it is recorded.

    Raises
    ------
    ModelError
        As of `gains`, and when no size of the interval was measured.
    """
    gained = gains(cube, original)
    sizes = gained["message_size"].values
    here = gained.isel(message_size=(sizes >= between[0]) & (sizes <= between[1]))
    if not here.sizes["message_size"]:
        raise ModelError(f"no message size from {' to '.join(map(format_bytes, between))} was measured")
    grids = [str(name) for name in here["grid"].values]
    two = here.values[[name.count("x") == 1 for name in grids]]
    best = np.fmax.reduce(two) if len(two) else np.full(here.shape[1:], np.nan)
    rows: list[dict[str, object]] = []
    for column, comm_size in enumerate(here["comm_size"].values.tolist()):
        for number, name in enumerate(grids):
            percents = here.values[number, column]
            known = percents[np.isfinite(percents)]
            if not known.size:
                continue
            row: dict[str, object] = {"comm_size": comm_size, "layout": [*Grid.of(name).factors]}
            row["inner"] = str(here["inner"].values[number]) if "inner" in here.coords else ""
            row |= {"minimum": float(known.min()), "average": float(known.mean()), "maximum": float(known.max())}
            row["sizes"] = int(known.size)
            if nodes := nodes_recorded(str(cube.attrs.get("rank_nodes", "")), comm_size, ppn):
                row["within_nodes"] = shares(Grid.of(name), nodes)
            if name.count("x") > 1:
                further = 100 * (percents - best[column]) / (100 - best[column])
                further = further[np.isfinite(further)]
                row["over_two_phases"] = float(further.mean()) if further.size else None
            rows.append(row)
    return rows
