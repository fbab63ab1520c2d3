"""Times that do not belong: single repetitions far from their cell, and cells far from their neighbours.

Of the broadcast on Frodo the dissertation (section 6.2.2) reports one message size, 1448 B, at which
split-binary took more than 300 µs, between 64 µs at 1024 B and 65 µs at 2048 B, on nearly all communicator
sizes: every penalty above 40 % of the restricted quadtrees was there, and without it the mean
penalty of a three-level tree fell to 1.7 %. Nothing is left out here unless `without_outliers` is asked to.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import MESSAGE_SIZE, SIZES
from dashboard.decisions.measured.map import DIMS, check_cube, each_ppn, time_blocks
from dashboard.decisions.measured.samples import has_samples, sample_blocks, summed_up
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.errors import DecisionError
from dashboard.domain.units import format_count

COLUMNS = ("kind", "method", *SIZES, "repetition", "time", "expected", "ratio", "reason")
FEWEST = 5
"""Repetitions that a cell needs before one of them can be called an outlier."""
REACH = 3.0
"""The fences lie so many interquartile ranges of the logarithm of the times outside the quartiles: Tukey's "far out"
(Exploratory Data Analysis, 1977)."""
LEAST = 5.0
"""Percent: what is closer to the median is no outlier, however little the others scatter."""
FACTOR = 2.0
"""A cell is off when it is more than so many times above, or below, both of its sides and what is expected there."""
_CELLS = 1 << 16


def outliers(cube: xr.Dataset) -> pd.DataFrame:
    """Find the repetitions and the cells that do not belong.

    Parameters
    ----------
    cube
        Results of one collective, in memory or lazy; with ``ppn`` each number of it by itself.

    Returns
    -------
    DataFrame
        One row for each: ``kind`` (``repetition`` or ``cell``), ``method``, ``comm_size``, ``message_size``, ``ppn``
        where the cube has it, ``repetition`` (its place in the cell, -1 for a cell), ``time`` and ``expected``
        (seconds), ``ratio`` of the two and ``reason``. ``attrs["note"]`` says what was looked for.
    """
    tables = [outlier_repetitions(cube), outlier_cells(cube)]
    filled = [table for table in tables if len(table)] or tables[:1]
    joined = pd.concat(filled, ignore_index=True)
    joined.attrs["note"] = "; ".join(table.attrs["note"] for table in tables)
    return joined


def outlier_repetitions(cube: xr.Dataset) -> pd.DataFrame:
    """Find repetitions outside the fences (`REACH`) of their method and cell, and not close to its median (`LEAST`).

    Parameters
    ----------
    cube
        As for `outliers`.

    Returns
    -------
    DataFrame
        As `outliers`; ``expected`` is the median of the cell. Empty where the results have no single
        repetitions, as ``attrs["note"]`` then says; cells with fewer than `FEWEST` are passed over.
    """
    if not has_samples(check_cube(cube)):
        return _table(cube, [], "no single repetitions in these results, so none could be looked at")
    parts = []
    few = 0
    for flat, ppn in each_ppn(cube):
        for (rows, columns), samples in sample_blocks(flat):
            number = np.isfinite(samples).sum(axis=-1)
            few += int(((number > 0) & (number < FEWEST)).sum())
            parts.append(_beyond(flat, samples, number, (rows.start, columns.start), ppn))
    note = f"repetitions more than {REACH:g} interquartile ranges outside the quartiles and {LEAST:g} % off the median"
    return _table(cube, parts, note + (f" ({format_count(few, 'cell')} with too few repetitions)" if few else ""))


def outlier_cells(cube: xr.Dataset) -> pd.DataFrame:
    """Find cells far above or below those on both sides along the message size, of the same method.

    A cell is a spike when its time is more than `FACTOR` times the larger of its two sides and more than `FACTOR` times
    what is expected there; a dip when the same holds of the inverse ratios. A side is the smaller (for a dip the
    larger) of the two next measured times there, so that two spikes do not hide each other. Where times only grow,
    however steeply, nothing is found, and next to a spike no dip. Along the communicator size nothing is looked for:
    there methods that like powers of two look like spikes, though they are none.

    Parameters
    ----------
    cube
        As for `outliers`.

    Returns
    -------
    DataFrame
        As `outliers`; ``expected`` lies on the line between the two neighbours, log-log. The first and last
        of a line have no two sides and are passed over.
    """
    parts = [part for flat, ppn in each_ppn(check_cube(cube)) for part in _spikes(flat, ppn)]
    return _table(cube, parts, f"cells more than {FACTOR:g} times off both neighbours along the message size")


def without_outliers(cube: xr.Dataset, outliers: pd.DataFrame) -> xr.Dataset:
    """Leave out what `outliers` found.

    Parameters
    ----------
    cube
        The cube it was found in.
    outliers
        All of it, or the rows to leave out.

    Returns
    -------
    Dataset
        Without these repetitions, ``time`` (median), ``time_std`` and ``repetitions`` of their cells taken
        from those that remain; without the times of these cells. ``attrs["left_out"]`` counts them,
        and ``attrs["digest"]`` tells that it is another cube.

    Raises
    ------
    DecisionError
        When a row is of a method, size or repetition that the cube does not have.
    """
    if not len(outliers):
        return cube
    dims = [*DIMS, *(["ppn"] if "ppn" in cube.dims else [])]
    places = _places(cube, outliers, dims)
    single = (outliers["kind"] == "repetition").to_numpy()
    fresh = {
        name: np.array(cube[name].transpose(*dims).values, dtype=np.float64)
        for name in ("time", "time_std", "repetitions")
        if name in cube.data_vars
    }
    result = cube
    if single.any():
        repetition = outliers["repetition"].to_numpy(dtype=np.int64)[single]
        result = _without_repetitions(cube, dims, places[:, single], repetition, fresh)
    cells = tuple(places[:, ~single])
    for values in fresh.values():
        values[cells] = np.nan
    if "sample" in result and (~single).any():
        mask = np.ones(fresh["time"].shape, dtype=np.bool_)
        mask[cells] = False
        result = result.assign(sample=result["sample"].where(xr.DataArray(mask, dims=dims)))
    for name, values in fresh.items():
        result = result.assign({name: (dims, values, cube[name].attrs)})
    counts = format_count(single.sum(), "repetition"), format_count((~single).sum(), "cell")
    remark = f"{' and '.join(counts)} left out as outliers"
    before = cube.attrs.get("left_out")
    digest = {"digest": f"{cube.attrs['digest']}-{len(outliers)}"} if "digest" in cube.attrs else {}
    return result.assign_attrs(left_out=f"{before}; {remark}" if before else remark, **digest)


def _without_repetitions(
    cube: xr.Dataset, dims: list[str], places: IntArray, repetition: IntArray, fresh: dict[str, FloatArray]
) -> xr.Dataset:
    """Remove repetitions, and write what remains of their cells to `fresh`."""
    if not has_samples(cube) or (repetition < 0).any() or (repetition >= cube.sizes["repetition"]).any():
        raise DecisionError(
            f"repetition {int(repetition.max())} is to be left out, but these results have "
            f"{cube.sizes.get('repetition', 0)} in each cell"
        )
    sample = cube["sample"].transpose(*dims, "repetition")
    shape = sample.shape[:-1]
    flat = np.ravel_multi_index(tuple(places), shape)
    touched, row = np.unique(flat, return_inverse=True)
    for start in range(0, touched.size, _CELLS):
        cells = np.unravel_index(touched[start : start + _CELLS], shape)
        index = {name: xr.DataArray(at, dims="cell") for name, at in zip(dims, cells, strict=True)}
        values = np.array(sample.isel(index).transpose("cell", "repetition").values, dtype=np.float64)
        here = (row >= start) & (row < start + _CELLS)
        values[row[here] - start, repetition[here]] = np.nan
        for name, column in zip(("time", "time_std", "repetitions"), summed_up(values), strict=True):
            if name in fresh:
                fresh[name][cells] = column
    mask = np.ones(sample.shape, dtype=np.bool_)
    mask[(*places, repetition)] = False
    kept = xr.DataArray(mask, dims=sample.dims)
    if sample.chunks is not None:
        kept = kept.chunk(dict(zip(sample.dims, sample.chunks, strict=True)))
    return cube.assign(sample=sample.where(kept).assign_attrs(cube["sample"].attrs))


def _places(cube: xr.Dataset, outliers: pd.DataFrame, dims: Sequence[str]) -> IntArray:
    """Position of each row along each dimension."""
    columns = []
    for name in dims:
        if name not in outliers:
            raise DecisionError(f"the outliers have no column {name}, but the results have this dimension")
        place = pd.Index(cube[name].values).get_indexer(pd.Index(outliers[name]))
        if (place < 0).any():
            stranger = outliers[name].iloc[int((place < 0).argmax())]
            raise DecisionError(f"an outlier is of {name} {stranger}, which these results do not have")
        columns.append(place)
    return np.array(columns, dtype=np.int64)


def _beyond(
    cube: xr.Dataset, samples: FloatArray, number: IntArray, start: tuple[int, int], ppn: int | None
) -> dict[str, Any]:
    """Repetitions of one block outside their fences."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(samples)
    ordered = np.sort(logs, axis=-1)
    low, middle, high = (_quantile(ordered, number, share) for share in (0.25, 0.5, 0.75))
    room = REACH * (high - low)
    enough = (number >= FEWEST)[..., None]
    off = logs - middle[..., None]
    above = enough & (logs > (high + room)[..., None]) & (off > np.log1p(LEAST / 100))
    below = enough & (logs < (low - room)[..., None]) & (off < np.log1p(-LEAST / 100))
    at = np.nonzero(above | below)
    return _rows(
        cube,
        "repetition",
        (at[0], at[1] + start[0], at[2] + start[1]),
        (samples[at], np.exp(middle)[at[:3]]),
        np.where(above[at], "above the fence", "below the fence"),
        at[3],
        ppn,
    )


def _quantile(ordered: FloatArray, number: IntArray, share: float) -> FloatArray:
    """Linearly interpolated quantile of sorted values, NaN last."""
    place = share * np.maximum(number - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(number - 1, 0))
    low, high = (np.take_along_axis(ordered, at[..., None], axis=-1)[..., 0] for at in (below, above))
    return np.asarray(low + (place - below) * (high - low))


def _spikes(cube: xr.Dataset, ppn: int | None) -> Iterator[dict[str, Any]]:
    """Spikes and dips along the message size."""
    sizes = np.log2(np.maximum(cube[MESSAGE_SIZE].values, 0.5))
    limit = np.log(FACTOR)
    for lines, time in time_blocks(cube):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(time)
        before = _neighbours(~np.isnan(time))
        mirrored = _neighbours(~np.isnan(time)[..., ::-1])
        after = tuple(np.where(at >= 0, sizes.size - 1 - at, -1)[..., ::-1] for at in mirrored)
        sides = [[_at(logs, at) for at in side] for side in (before, after)]
        spike = logs - np.maximum(*(np.fmin(*side) for side in sides))
        left, right = (np.where(at >= 0, sizes[at], np.nan) for at in (before[0], after[0]))
        share = (sizes - left) / (right - left)
        expected = (1 - share) * sides[0][0] + share * sides[1][0]
        high = (spike > limit) & (logs - expected > limit)
        # Beside a spike everything looks like a dip.
        beside = np.logical_or(*(_at(np.where(high, 1.0, 0.0), at) == 1 for at in (before[0], after[0])))
        dip = np.minimum(*(np.fmax(*side) for side in sides)) - logs
        cells = np.nonzero(high | ((dip > limit) & (expected - logs > limit) & ~beside))
        reason = np.where(high[cells], "spike along the message size", "dip along the message size")
        place = (cells[0], cells[1] + lines.start, cells[2])
        times = (time[cells], np.exp(expected[cells]))
        yield _rows(cube, "cell", place, times, reason, np.full(cells[0].size, -1), ppn)


def _neighbours(measured: BoolArray) -> tuple[IntArray, IntArray]:
    """Position of the last measured cell before each along the last axis, and of the one before that; -1 = none."""
    places = np.where(measured, np.arange(measured.shape[-1]), -1)
    last = np.maximum.accumulate(places, axis=-1)
    first = np.concatenate([np.full((*last.shape[:-1], 1), -1), last[..., :-1]], axis=-1)
    second = np.where(first >= 0, np.take_along_axis(first, np.maximum(first, 0), axis=-1), -1)
    return first, second


def _at(values: FloatArray, place: IntArray) -> FloatArray:
    return np.asarray(np.where(place >= 0, np.take_along_axis(values, np.maximum(place, 0), axis=-1), np.nan))


def _rows(
    cube: xr.Dataset,
    kind: str,
    place: tuple[npt.NDArray[Any], ...],
    times: tuple[FloatArray, FloatArray],
    reason: npt.NDArray[np.str_],
    repetition: npt.NDArray[Any],
    ppn: int | None,
) -> dict[str, Any]:
    """Columns of what was found in one block."""
    return {
        "kind": np.full(place[0].size, kind),
        **{name: np.asarray(cube[name].values)[at] for name, at in zip(DIMS, place, strict=True)},
        **({} if ppn is None else {"ppn": np.full(place[0].size, ppn)}),
        "repetition": repetition,
        "time": times[0],
        "expected": times[1],
        "ratio": times[0] / times[1],
        "reason": reason,
    }


def _table(cube: xr.Dataset, parts: Sequence[dict[str, Any]], note: str) -> pd.DataFrame:
    names = [*COLUMNS[:4], *(["ppn"] if "ppn" in cube.dims else []), *COLUMNS[4:]]
    empty: dict[str, Any] = {name: np.array([], dtype=np.float64) for name in names}
    filled = [part for part in parts if part["time"].size]
    columns = {name: np.concatenate([part[name] for part in filled]) for name in names} if filled else empty
    table = pd.DataFrame(columns)
    table.attrs["note"] = note
    return table
