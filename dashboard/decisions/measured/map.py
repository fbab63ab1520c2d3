"""The decision map: for every cell of communicator and message size, which method is fastest."""

import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.doubles import competing
from dashboard.domain.arrays import FloatArray
from dashboard.domain.errors import DecisionError, NothingMeasuredError, OptionError
from dashboard.domain.units import format_ppn
from loaders.facet_names import BY_PPN

BLOCK_BYTES = 64 << 20
"""Times are taken from the cube in blocks of about this size, however large it is."""

DIMS = ("method", "comm_size", "message_size")


def each_ppn(cube: xr.Dataset) -> Iterator[tuple[xr.Dataset, int | None]]:
    """The part of each number of processes per node, with that number; the cube itself and None where it has none."""
    if "ppn" not in cube.dims:
        yield cube, None
        return
    for place, ppn in enumerate(cube["ppn"].values):
        yield _at_ppn(cube.isel(ppn=place), int(ppn)), int(ppn)


def select_ppn(cube: xr.Dataset, ppn: int | None = None) -> tuple[xr.Dataset, int | None]:
    """Take one number of processes per node from a cube.

    Parameters
    ----------
    cube
        A cube, with or without the dimension ``ppn``.
    ppn
        Which one; None takes the one with most measured cells (the smallest of equals).

    Returns
    -------
    cube
        Without the dimension ``ppn``; its attributes are those that hold at that number (such as the device).
    chosen
        The number of processes per node; None when the cube does not say it.

    Raises
    ------
    OptionError
        When the cube has no such ppn; the message lists what it has.
    """
    if "ppn" not in cube.dims:
        known = int(cube["ppn"]) if "ppn" in cube.coords else cube.attrs.get("ppn")
        known = None if known is None else int(known)
        if ppn is not None and known is not None and ppn != known:
            raise OptionError(f"ppn is {ppn}, but these results are of {format_ppn(known)}")
        return _at_ppn(cube, known), known
    present = [int(value) for value in cube["ppn"].values]
    if ppn is None:
        cells = cube["time"].notnull().sum([dim for dim in cube["time"].dims if dim != "ppn"])
        ppn = present[int(np.asarray(cells.values).argmax())]
    elif ppn not in present:
        raise OptionError(f"ppn is {ppn}, but these results have {format_ppn(', '.join(map(str, present)))}")
    return _at_ppn(cube.isel(ppn=present.index(ppn)), ppn), ppn


def _at_ppn(flat: xr.Dataset, ppn: int | None) -> xr.Dataset:
    """The part of one number of processes per node, with the attributes that hold at it."""
    if BY_PPN not in flat.attrs or ppn is None:
        return flat
    # Results that were saved and put together with others have more of them than one of the files says.
    known = {name: values.get(str(ppn)) for name, values in json.loads(flat.attrs[BY_PPN]).items()}
    part = flat.assign_attrs({name: value for name, value in known.items() if value is not None})
    del part.attrs[BY_PPN]
    return part


def time_blocks(cube: xr.Dataset, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[slice, FloatArray]]:
    """Go through the times of a cube in slices of communicator sizes.

    Yields
    ------
    rows
        Which communicator sizes.
    time
        float64 ``(method, comm_size, message_size)`` in seconds, NaN where not measured.
    """
    time = cube["time"].transpose(*DIMS)
    step = max(1, block_bytes // max(1, time.shape[0] * time.shape[2] * 8))
    for rows in _row_blocks(time.shape[1], step, time.chunksizes.get("comm_size", ())):
        yield rows, np.asarray(time.isel(comm_size=rows).values, dtype=np.float64)


def _row_blocks(rows: int, step: int, chunks: tuple[int, ...]) -> Iterator[slice]:
    """Cut rows into blocks of about `step`; where chunks end, unless they are so large that memory goes first."""
    ends = np.cumsum(chunks).tolist() if chunks and max(chunks) <= 4 * step else [*range(step, rows, step), rows]
    start = 0
    for end, following in itertools.pairwise([*ends, math.inf]):
        if following - start > step:
            yield slice(start, end)
            start = end


def decision_map(cube: xr.Dataset, *, ppn: int | None = None, tolerance: float = 0.0) -> xr.Dataset:
    """Find the fastest and second fastest method of every cell.

    A method that ran as another one there (``double_of``, see `dashboard.decisions.measured.doubles`) does not take
    part.

    Parameters
    ----------
    cube
        Results of one collective (`loaders.open_results`), in memory or lazy.
    ppn
        As for `select_ppn`.
    tolerance
        In percent: methods within so much of the best count as tied with it.

    Returns
    -------
    Dataset with dims ``comm_size``, ``message_size``
        ``best`` and ``second`` (indices of methods, -1 = none; of equally fast ones the first), ``best_time`` and
        ``second_time`` (seconds, NaN = none), ``measured`` (number of methods measured there), ``ties`` (how many of
        them are tied, the best included). The coordinate ``method`` and its parameters are those of the cube; attrs as
        well, with ``tolerance`` and, where it was told or chosen, ``ppn`` and ``ppn_note``.

    Raises
    ------
    OptionError
        When the tolerance is negative or the ppn not there.
    DecisionError
        When `cube` is no cube.
    """
    if not tolerance >= 0 or not np.isfinite(tolerance):
        raise OptionError(f"tolerance is {tolerance}, expected 0 or more percent")
    flat, chosen = select_ppn(check_cube(cube), ppn)
    shape = (flat.sizes["comm_size"], flat.sizes["message_size"])
    out: dict[str, npt.NDArray[Any]] = {
        "best": np.full(shape, -1, dtype=np.int64),
        "best_time": np.full(shape, np.nan),
        "second": np.full(shape, -1, dtype=np.int64),
        "second_time": np.full(shape, np.nan),
        "measured": np.zeros(shape, dtype=np.int64),
        "ties": np.zeros(shape, dtype=np.int64),
    }
    for rows, time in time_blocks(competing(flat)):
        for name, values in _ranked(time, tolerance).items():
            out[name][rows] = values
    result = xr.Dataset(
        {name: (DIMS[1:], values) for name, values in out.items()},
        coords={name: coord for name, coord in flat.coords.items() if set(coord.dims) <= set(DIMS)},
        attrs={**flat.attrs, "tolerance": float(tolerance)},
    )
    for name in ("best_time", "second_time"):
        result[name].attrs["units"] = "s"
    if chosen is not None:
        result.attrs["ppn"] = chosen
    if "ppn" in cube.dims:
        others = ", ".join(str(int(value)) for value in cube["ppn"].values)
        why = "as asked" if ppn is not None else "most measured cells"
        result.attrs["ppn_note"] = f"{format_ppn(chosen)} ({why}) of {others}"
    return result


def methods_of(cube: xr.Dataset) -> tuple[Method, ...]:
    """Give the methods of a cube or decision map, with all the parameters along ``method``."""
    own = {"method", "algorithm", "segment_size"}
    labels = [str(label) for label in cube["method"].values]
    algorithms = [str(name) for name in cube["algorithm"].values] if "algorithm" in cube.coords else labels
    segments = cube["segment_size"].values if "segment_size" in cube.coords else np.zeros(len(labels))
    others = [str(name) for name, coord in cube.coords.items() if coord.dims == ("method",) and name not in own]
    return tuple(
        Method(
            label,
            algorithms[index],
            int(segments[index]) if np.isfinite(segments[index]) else 0,
            {name: value for name in others if (value := _plain(cube[name].values[index])) is not None},
        )
        for index, label in enumerate(labels)
    )


def _plain(value: Any) -> Any:
    """A parameter as JSON takes it; None where the method does not have it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value if isinstance(value, bool | int | float) else str(value)


def check_cube(cube: xr.Dataset) -> xr.Dataset:
    """Give the cube back if it is one; `DecisionError` says what it lacks."""
    if not isinstance(cube, xr.Dataset):
        raise DecisionError(
            f"not a cube of results, but a {type(cube).__name__}; open_results gives one of a collective"
        )
    missing = [dim for dim in DIMS if dim not in cube.dims]
    if "time" not in cube.data_vars or missing:
        raise DecisionError(
            f"not a cube of results: it has no {', '.join(missing) or 'time'}; "
            "expected time over method, comm_size and message_size, as open_results gives for each collective"
        )
    if 0 in (cube.sizes[dim] for dim in DIMS):
        raise NothingMeasuredError("these results hold no method or no size at all")
    for dim in DIMS[1:]:
        values = np.asarray(cube[dim].values)
        if values.size > 1 and not (np.diff(values) > 0).all():
            raise DecisionError(f"{dim} must ascend, but is {values[:8].tolist()}…")
    return cube


def _ranked(time: FloatArray, tolerance: float) -> dict[str, npt.NDArray[Any]]:
    """Rank the methods of one block."""
    absent = np.isnan(time)
    measured = time.shape[0] - absent.sum(axis=0)
    time = np.where(absent, np.inf, time)
    best = time.argmin(axis=0)
    best_time = np.take_along_axis(time, best[None], axis=0)[0]
    any_there, more_there = measured > 0, measured > 1
    ties = (time <= best_time * (1 + tolerance / 100)).sum(axis=0)
    np.put_along_axis(time, best[None], np.inf, axis=0)
    second = time.argmin(axis=0)
    second_time = np.take_along_axis(time, second[None], axis=0)[0]
    return {
        "best": np.where(any_there, best, -1),
        "best_time": np.where(any_there, best_time, np.nan),
        "second": np.where(more_there, second, -1),
        "second_time": np.where(more_there, second_time, np.nan),
        "measured": measured,
        "ties": np.where(any_there, ties, 0),
    }


def ends_of(table: xr.Dataset) -> dict[str, list[int]]:
    """Smallest and largest of both sizes of a table whose sizes ascend, as decisions remember them."""
    return {name: [int(table[name].values[0]), int(table[name].values[-1])] for name in SIZES}
