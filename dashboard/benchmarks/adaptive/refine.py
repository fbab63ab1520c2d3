"""What to measure next of results from elsewhere, where nothing can be measured in between.

The points of an adaptive campaign are chosen one step after another, each of what the former ones gave. Here each step
is taken to give what was expected of it, the best guess there is: what is uncertain elsewhere then counts more.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.choosing import Cost, Step, following
from dashboard.benchmarks.adaptive.expected import LEAST_ERROR, Known, standard_error
from dashboard.benchmarks.campaigns.plan import Only
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.ranges import levels
from dashboard.benchmarks.campaigns.wish import Wish
from dashboard.benchmarks.libraries.methods import ALL_COMPONENTS, Method, Variants
from dashboard.benchmarks.providers import NAMES
from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, SIZES
from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.measured.map import DIMS, methods_of
from dashboard.decisions.surfaces import Surfaces, folding_of
from dashboard.decisions.surfaces.order import kind_number
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.export.components import SERVES


@dataclass(frozen=True)
class Advice:
    """What is measured next, and what it is for."""

    #: Points of one communicator size; places count along the grid of `Known`.
    step: Step
    #: Mean expected loss of the collective's decision without them, percent; NaN where nothing is known yet.
    before: float
    #: Whether they are measured again, since their times cannot be trusted.
    again: bool = False


def grid_between(measured: IntArray) -> IntArray:
    """Sizes with one between each two neighbours: that which the greatest power of two divides."""
    between = [kind_number(low + 1, high) for low, high in itertools.pairwise(measured.tolist()) if high > low + 1]
    return np.union1d(measured, np.array(between, dtype=np.int64))


def known_of(
    cube: xr.Dataset,
    comm_sizes: Sequence[int] | None = None,
    message_sizes: Sequence[int] | None = None,
    *,
    every: xr.Dataset | None = None,
) -> Known:
    """What results tell over a grid of sizes.

    Parameters
    ----------
    cube
        Results of one collective, without ``ppn``.
    comm_sizes, message_sizes
        Further sizes that may be measured; None: one between each two neighbours that are.
    every
        The same results with the times that cannot be trusted, which may be measured again; None: there are no such.

    Returns
    -------
    Known
        A method can be measured where it was, and where others of its sizes lie around. The error of a time is that of
        its repetitions (`expected.standard_error`), by their deviation where that alone is known; where the results
        tell neither, what a campaign measures to (`Protocol.relative_error`).
    """
    every = _of_sizes(cube if every is None else every)
    cube = _of_sizes(cube)
    measured, tried = ({n: np.asarray(each[n].values, dtype=np.int64) for n in SIZES} for each in (cube, every))
    rows, columns = (
        grid_between(tried[name]) if further is None else np.union1d(tried[name], further).astype(np.int64)
        for name, further in ((COMM_SIZE, comm_sizes), (MESSAGE_SIZE, message_sizes))
    )
    grid = {COMM_SIZE: rows, MESSAGE_SIZE: columns}
    wide = cube[[name for name in ("time", "time_std", "repetitions", "sample") if name in cube]].reindex(grid)
    logs = np.log(_values(wide))
    errors = np.where(np.isfinite(logs), _errors(wide), np.nan)
    times = _values(cube)
    folding = folding_of(cube.attrs.get("collective"), cube["algorithm"].values)
    surfaces = Surfaces(times, measured[COMM_SIZE], measured[MESSAGE_SIZE], folding=folding)
    predicted = surfaces.at(rows, columns).log_time
    able = np.isfinite(_values(every[["time"]].reindex(grid))) | np.isfinite(predicted)
    return Known(rows, columns, logs, errors, able, np.where(able.any(axis=0), 1.0, 0.0), folding=folding)


def doubted_of(known: Known, every: xr.Dataset, trusted: xr.Dataset | None) -> BoolArray:
    """Which times cannot be trusted, ``(method, comm_size, message_size)`` along the grid of what is known.

    Parameters
    ----------
    known
        As `known_of` has it of both.
    every, trusted
        Results of one collective with and without times that cannot be trusted; None: none can.
    """
    grid = {COMM_SIZE: known.comm_sizes, MESSAGE_SIZE: known.message_sizes}

    def there(cube: xr.Dataset) -> BoolArray:
        return np.asarray(np.isfinite(_values(cube[["time"]].reindex(grid))))

    return there(every) if trusted is None else there(every) & ~there(trusted)


def _values(cube: xr.Dataset, name: str = "time") -> FloatArray:
    """Numbers of results, by method, communicator and message size."""
    return np.asarray(cube[name].transpose(*DIMS, ...).values, dtype=np.float64)


def _of_sizes(cube: xr.Dataset) -> xr.Dataset:
    """Results of methods that ran as themselves, at the sizes that have any."""
    cube = competing(cube)
    there = np.isfinite(_values(cube))
    return cube.isel(comm_size=there.any(axis=(0, 2)), message_size=there.any(axis=(0, 1)))


def _errors(cube: xr.Dataset) -> FloatArray:
    """Standard error of the logarithm of each time."""
    usual = np.full(tuple(cube.sizes[name] for name in DIMS), Protocol().relative_error)
    if "sample" in cube:
        error = standard_error(_values(cube, "sample"))
        return np.where(np.isfinite(error), error, usual)
    if "time_std" not in cube or "repetitions" not in cube:
        return usual
    deviation, count, time = (_values(cube, name) for name in ("time_std", "repetitions", "time"))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = deviation / time / np.sqrt(count)
    return np.where(np.isfinite(error), np.maximum(error, LEAST_ERROR), usual)


def refined(
    known: Mapping[str, Known],
    *,
    points: int | None = None,
    seconds: float | None = None,
    percent: float | None = None,
    untrusted: Mapping[str, BoolArray] = MappingProxyType({}),
) -> Iterator[Advice]:
    """Say what to measure next, one step after another.

    Parameters
    ----------
    known
        By collective.
    points, seconds
        Most of them, and most time of measuring.
    percent
        Mean expected loss of a collective that is low enough.
    untrusted
        By collective, along the grid of `Known`: times that cannot be trusted, which are measured again before all
        else. Nothing more is said of collectives that have no other times.
    """
    known, left = dict(known), np.inf if points is None else points
    time_left = np.inf if seconds is None else seconds
    cost = _cost_of(known)

    def fits(step: Step) -> bool:
        return step.points <= left and step.seconds <= time_left

    for name, doubted in untrusted.items():
        grid = known[name]
        begun = not _unknown(grid, doubted)
        for again in _once_more(name, doubted, cost):
            if fits(again):
                yield Advice(again, grid.mean_loss if begun else math.nan, again=True)
                left, time_left = left - again.points, time_left - again.seconds
                known[name] = _as_expected(known[name], again)
        if not begun:
            del known[name]
    while (step := next(filter(fits, following(known, cost, percent)), None)) is not None:
        yield Advice(step, known[step.collective].mean_loss)
        left, time_left = left - step.points, time_left - step.seconds
        known[step.collective] = _as_expected(known[step.collective], step)


def offered(
    known: Mapping[str, Known],
    *,
    percent: float | None = None,
    untrusted: Mapping[str, BoolArray] = MappingProxyType({}),
) -> list[tuple[int, float]]:
    """Points and seconds of each step that `refined` could begin with, were there no limit of them."""
    cost = _cost_of(known)
    again = itertools.chain.from_iterable(_once_more(name, doubted, cost) for name, doubted in untrusted.items())
    begun = {n: grid for n, grid in known.items() if n not in untrusted or not _unknown(grid, untrusted[n])}
    return [(step.points, step.seconds) for step in (*again, *following(begun, cost, percent))]


def _unknown(known: Known, doubted: BoolArray) -> bool:
    """Whether nothing is known but times that cannot be trusted."""
    return not (known.measured & ~doubted).any()


def _cost_of(known: Mapping[str, Known]) -> Cost:
    """Seconds of a point by what is known at the time of asking."""

    def cost(name: str, row: int, column: int) -> float:
        logs = known[name].predicted[0][:, row, column]
        return Protocol().max_repetitions * float(np.exp(logs[np.isfinite(logs)]).mean())

    return cost


def _once_more(name: str, doubted: BoolArray, cost: Cost) -> Iterator[Step]:
    """Measure these points again, a step for each cell: the ends of the grid first, then what is between."""
    rows, columns = (levels(size) for size in doubted.shape[1:])
    cells = np.argwhere(doubted.any(axis=0)).tolist()
    for row, column in sorted(cells, key=lambda cell: max(rows[cell[0]], columns[cell[1]])):
        methods = tuple(np.flatnonzero(doubted[:, row, column]).tolist())
        yield Step(name, row, ((column, methods),), len(methods) * cost(name, row, column), math.inf)


def _as_expected(known: Known, step: Step) -> Known:
    """What would be known if a step gave what is expected of it."""
    logs, errors = known.logs.copy(), known.errors.copy()
    for column, methods in step.cells:
        # Of one that ran as another there nothing is expected.
        places = [place for place in methods if known.able[place, step.row, column]]
        logs[places, step.row, column] = known.predicted[0][places, step.row, column]
        errors[places, step.row, column] = np.nanmedian(known.errors)
    return replace(known, logs=logs, errors=errors)


def points_of(
    advised: Sequence[Advice], known: Mapping[str, Known], places: Mapping[str, Mapping[int, int]]
) -> dict[str, tuple[Only, ...]]:
    """The points of a plan.

    Parameters
    ----------
    known
        By collective: the grid that it counts along.
    places
        By collective: for methods of the results, by place, their place in the plan; without those that it lacks.

    Returns
    -------
    dict
        As `Plan.only`: each pair of sizes once, sizes ascending.
    """
    points: dict[str, dict[tuple[int, int], set[int]]] = {}
    for advice in advised:
        step, grid = advice.step, known[advice.step.collective]
        for column, methods in step.cells:
            there = {places[step.collective][method] for method in methods if method in places[step.collective]}
            sizes = int(grid.comm_sizes[step.row]), int(grid.message_sizes[column])
            if there:
                points.setdefault(step.collective, {}).setdefault(sizes, set()).update(there)
    return {
        name: tuple((*sizes, tuple(sorted(methods))) for sizes, methods in sorted(cells.items()))
        for name, cells in points.items()
    }


def wish_of(known: Mapping[str, Known], cubes: Mapping[str, xr.Dataset], ranks: int | None) -> Wish:
    """What a plan must offer to measure on these grids: sizes, and the parameters that methods were measured with."""
    rows = np.unique(np.concatenate([grid.comm_sizes for grid in known.values()])).tolist()
    columns = np.unique(np.concatenate([grid.message_sizes for grid in known.values()])).tolist()
    choices: dict[str, set[int]] = {"segment_size": {0}, "fan_out": {4}, "radix": {4}}
    parts = False
    for name in known:
        for method in methods_of(cubes[name]):
            parts = parts or method.algorithm in SERVES
            choices["segment_size"].add(method.segment_size)
            for parameter in ("fan_out", "radix"):
                if isinstance(value := method.parameters.get(parameter), int):
                    choices[parameter].add(value)
    return Wish(
        ranks=ranks or rows[-1],
        collectives=tuple(known),
        comm_sizes=tuple(size for size in rows if size > 1),
        message_sizes=tuple(size for size in columns if size > 0) or (1,),
        variants=Variants(
            segment_sizes=tuple(sorted(choices["segment_size"])),
            fan_outs=tuple(sorted(choices["fan_out"])),
            radixes=tuple(sorted(choices["radix"])),
            components=(ALL_COMPONENTS,) if parts else (),
        ),
        providers=NAMES,
    )


def matched(cube: xr.Dataset, offered: Sequence[Method]) -> dict[int, int]:
    """For methods of results, by place, which of those offered are the same: algorithm, segment size and parameters."""
    places = {_identity(method.to_json()): place for place, method in enumerate(offered)}
    names = [
        _identity({"algorithm": method.algorithm, "segment_size": method.segment_size, "parameters": method.parameters})
        for method in methods_of(cube)
    ]
    return {place: places[name] for place, name in enumerate(names) if name in places}


def _identity(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells methods apart, whoever numbers them."""
    parameters = {name: value for name, value in (record.get("parameters") or {}).items() if name != "library_id"}
    return record["algorithm"], record["segment_size"], tuple(sorted((n, str(v)) for n, v in parameters.items()))
