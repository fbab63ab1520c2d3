"""The only place that makes a cube: dimensions, coordinates, units, checks and combining."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from loaders.collectives import size_meaning
from loaders.errors import LoadError
from loaders.rows import CollectiveRows, Floats, Ints, MethodKey, Part

MAX_CELLS = 1 << 27
_MAX_SAMPLES = 1 << 27
_BLOCK = 1 << 21
#: Attributes in which the files of one cube must agree where they tell them.
AGREE = ("system", "network", "library", "library_version", "accelerator", "statistic_kind")
RAW_STATISTIC = "median over repetitions"


def method_label(key: MethodKey) -> str:
    """Text of a method: ``binomial``, ``pipeline 8KiB``, ``chain 8KiB fanout=4``."""
    parts = [key.algorithm]
    if key.segment_size:
        parts.append(format_segment(key.segment_size))
    parts += [f"{name}={value}" for name, value in key.parameters]
    return " ".join(parts)


def format_segment(size: int) -> str:
    """Segment size in the largest binary unit that divides it: ``8KiB``, ``1000B``."""
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % step == 0:
            return f"{size // step}{unit}"
    return f"{size}B"


def make_cube(collective: str, rows: CollectiveRows, attrs: Mapping[str, Any]) -> xr.Dataset:
    """Make the cube of one collective.

    Parameters
    ----------
    collective
        Its name.
    rows
        All its rows; the parts are consumed.
    attrs
        Attributes for the whole cube.

    Returns
    -------
    xarray.Dataset
        As contract 1 of the design: ``time`` in seconds over ``method, comm_size, message_size[, ppn]``,
        NaN where nothing was measured. Rows of one cell are pooled: means weighted by repetitions, the
        standard deviation of all repetitions together; raw samples are kept in ``sample`` and reduced
        to their median.

    Raises
    ------
    LoadError
        The grid would be absurdly large.
    """
    axes = _Axes(rows)
    if axes.size > MAX_CELLS:
        raise LoadError(
            f"{collective}: {axes.shape} methods × communicator sizes × message sizes × processes per node would make "
            f"{axes.size:.2g} cells; are the columns mapped rightly?"
        )
    samples = _samples([p for p in rows.parts if p.raw], axes)
    plain = [p for p in rows.parts if not p.raw]
    ran_as = _ran_as(rows, axes)
    rows.parts.clear()
    time, std, count = _pool(plain, axes, samples)
    values = {"time": time, "time_std": std, "repetitions": count}
    cube = _dataset(collective, rows, axes, values, samples, attrs)
    return cube if ran_as is None else with_doubles(cube, ran_as, rows.doubles.values)


class _Axes:
    """Sorted axes of a cube and the flat place of every row."""

    def __init__(self, rows: CollectiveRows) -> None:
        self.methods = len(rows.methods.values)
        self.comm_sizes, self._comm = _ranks(rows.comm_sizes.values)
        self.message_sizes, self._message = _ranks(rows.message_sizes.values)
        self.ppns, self._ppn = _ranks(rows.ppns.values)
        self.shape = (self.methods, len(self.comm_sizes), len(self.message_sizes), len(self.ppns))
        self.size = int(np.prod([float(n) for n in self.shape]))

    def places(self, part: Part) -> Ints:
        """Flat place in the cube of every row of a part."""
        places = part.method.astype(np.int64)
        for ranks, codes in (
            (self._comm, part.comm_size),
            (self._message, part.message_size),
            (self._ppn, part.ppn),
        ):
            places *= len(ranks)
            places += ranks[codes]
        return places


def _ranks(values: Sequence[int]) -> tuple[Ints, Ints]:
    array = np.array(values, dtype=np.int64)
    order = np.argsort(array)
    ranks = np.empty(len(array), dtype=np.int64)
    ranks[order] = np.arange(len(array))
    return array[order], ranks


class _Samples:
    """Raw samples by cell: a dense array ``(cells, repetitions)`` of the cells that have any."""

    def __init__(self, cells: Ints, values: Floats) -> None:
        self.cells = cells
        self.values = values


def _samples(parts: list[Part], axes: _Axes) -> _Samples | None:
    if not parts:
        return None
    places = [axes.places(part) for part in parts]
    filled = np.zeros(axes.size, dtype=np.int64)
    for place in places:
        filled += np.bincount(place, minlength=axes.size)
    cells = np.flatnonzero(filled)
    row_of = np.full(axes.size, -1, dtype=np.int64)
    row_of[cells] = np.arange(len(cells))
    width = int(filled.max())
    if len(cells) * width > max(_MAX_SAMPLES, 4 * int(filled.sum())):
        raise LoadError(
            f"raw samples are too uneven to hold: up to {width} repetitions in one of {len(cells)} cells; load in parts"
        )
    values = np.full((len(cells), width), np.nan)
    filled = np.zeros(len(cells), dtype=np.int64)
    while parts:
        part = parts.pop(0)
        rows = row_of[places.pop(0)]
        # Numbers of 16 bits are sorted by radix, several times faster.
        order = np.argsort(rows.astype(np.uint16) if len(cells) <= 1 << 16 else rows, kind="stable")
        ordered = rows[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        lengths = np.diff(np.r_[starts, len(ordered)])
        within = np.arange(len(ordered)) - np.repeat(starts, lengths)
        values[ordered, filled[ordered] + within] = part.time[order]
        filled[ordered[starts]] += lengths
    return _Samples(cells, values)


def _reduced(samples: _Samples) -> tuple[Floats, Floats, Floats]:
    """Median, standard deviation and number of the samples of each cell, block by block."""
    rows = len(samples.cells)
    time, std, count = np.empty(rows), np.empty(rows), np.empty(rows)
    step = max(1, _BLOCK // samples.values.shape[1])
    for start in range(0, rows, step):
        block = samples.values[start : start + step]
        number = np.isfinite(block).sum(axis=1)
        # Sorting puts what is missing last.
        ordered, row = np.sort(block, axis=1), np.arange(len(block))
        time[start : start + step] = (ordered[row, (number - 1) // 2] + ordered[row, number // 2]) / 2
        mean = np.nansum(block, axis=1) / number
        squares = np.nansum((block - mean[:, None]) ** 2, axis=1)
        std[start : start + step] = np.sqrt(squares / np.maximum(number - 1, 1))
        count[start : start + step] = number
    std[count < 2] = np.nan
    return time, std, count


def _pool(parts: list[Part], axes: _Axes, samples: _Samples | None) -> tuple[Floats, Floats, Floats]:
    """Pool all rows of each cell: weighted mean, overall standard deviation, number of repetitions."""
    pieces = [(axes.places(p), p.time, p.time_std, p.repetitions) for p in parts]
    if samples is not None:
        time, std, count = _reduced(samples)
        pieces.append((samples.cells, time, std, count))
    place = np.concatenate([p[0] for p in pieces])
    time = np.concatenate([p[1] for p in pieces])
    std = np.concatenate([np.full(len(p[0]), np.nan) if p[2] is None else p[2] for p in pieces])
    count = np.concatenate([np.full(len(p[0]), np.nan) if p[3] is None else p[3] for p in pieces])
    pieces.clear()
    rows = np.bincount(place, minlength=axes.size)
    if rows.max(initial=0) <= 1:
        return _scatter(place, time, axes), _scatter(place, std, axes), _scatter(place, count, axes)
    return _weighted(place, time, std, count, rows)


def _ran_as(rows: CollectiveRows, axes: _Axes) -> Ints | None:
    """For each place of the cube the number of the method it ran as, 0 = as told; None where nothing tells."""
    if len(rows.doubles.values) < 2:
        return None
    found = np.zeros(axes.size, dtype=np.int64)
    for part in rows.parts:
        if part.double_of is not None:
            found[axes.places(part)] = part.double_of
    return found


def with_doubles(cube: xr.Dataset, ran_as: npt.ArrayLike, names: Sequence[str]) -> xr.Dataset:
    """Mark the cells in which a method ran as another one.

    Parameters
    ----------
    ran_as
        For each time of the cube the position in `names`; 0 = as told.
    names
        Labels of methods; the first stands for none.

    Returns
    -------
    Dataset
        With ``double_of``: position in its ``attrs["methods"]`` of the method that ran, -1 = the method itself.
    """
    time = cube["time"]
    numbers = np.asarray(ran_as, dtype=np.int64).reshape(time.shape) - 1
    attrs = {"units": "1", "long_name": "method that ran instead, -1 = none", "methods": list(names[1:])}
    return cube.assign(double_of=(time.dims, numbers, attrs))


def _scatter(place: Ints, values: Floats, axes: _Axes) -> Floats:
    out = np.full(axes.size, np.nan)
    out[place] = values
    return out


def _weighted(place: Ints, time: Floats, std: Floats, count: Floats, rows: Ints) -> tuple[Floats, Floats, Floats]:
    size = len(rows)
    weight = np.where(np.isfinite(count) & (count > 0), count, 1.0)
    total = np.bincount(place, weight, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(place, weight * time, size) / total
        inner = np.where(np.isfinite(std), (weight - 1) * std**2, 0.0)
        squares = np.bincount(place, inner + weight * (time - mean[place]) ** 2, size)
        spread = np.sqrt(squares / (total - 1))
    untold = np.bincount(place, ~np.isfinite(std), size)
    spread[(total < 2) | ((rows == 1) & (untold > 0))] = np.nan
    known = np.bincount(place, np.isfinite(count), size) == rows
    return mean, spread, np.where(known & (rows > 0), total, np.nan)


def _dataset(
    collective: str,
    rows: CollectiveRows,
    axes: _Axes,
    values: Mapping[str, Floats],
    samples: _Samples | None,
    attrs: Mapping[str, Any],
) -> xr.Dataset:
    flat = len(axes.ppns) < 2
    dims = ("method", "comm_size", "message_size") if flat else ("method", "comm_size", "message_size", "ppn")
    shape = axes.shape[:3] if flat else axes.shape
    data: dict[str, Any] = {name: (dims, array.reshape(shape)) for name, array in values.items()}
    if samples is not None:
        dense = samples.values
        if len(samples.cells) < axes.size:
            dense = np.full((axes.size, samples.values.shape[1]), np.nan)
            dense[samples.cells] = samples.values
        data["sample"] = ((*dims, "repetition"), dense.reshape(*shape, -1))
    coords: dict[str, Any] = {
        **_method_coords(rows),
        "comm_size": axes.comm_sizes,
        "message_size": axes.message_sizes,
    }
    if not flat:
        coords["ppn"] = axes.ppns
    attrs = dict(attrs)
    if flat and axes.ppns.size and axes.ppns[0]:
        attrs["ppn"] = int(axes.ppns[0])
    if rows.rounded:
        attrs["rounded"] = f"{rows.rounded} totals not divisible by the communicator size: block rounded"
    return annotate(xr.Dataset(data, coords, {"collective": collective, **attrs}))


def _labels(keys: Sequence[MethodKey]) -> list[str]:
    """Labels of methods, each of them once: an algorithm may be named ``pipeline 8KiB`` beside one with segments."""
    labels = [method_label(key) for key in keys]
    taken = set(labels)
    seen: set[str] = set()
    made = []
    for label in labels:
        others = (f"{label} ({number})" for number in itertools.count(2))
        new = label if label not in seen else next(o for o in others if o not in seen | taken)
        seen.add(new)
        made.append(new)
    return made


def _method_coords(rows: CollectiveRows) -> dict[str, Any]:
    keys: list[MethodKey] = rows.methods.values
    coords: dict[str, Any] = {
        "method": np.array(_labels(keys)),
        "algorithm": ("method", np.array([k.algorithm for k in keys])),
        "segment_size": ("method", np.array([k.segment_size for k in keys], dtype=np.int64)),
    }
    names = dict.fromkeys(name for key in keys for name, _ in key.parameters)
    for name in names:
        column = [dict(key.parameters).get(name) for key in keys]
        if all(isinstance(v, int) for v in column):
            coords[name] = ("method", np.array(column, dtype=np.int64))
        elif all(v is None or (isinstance(v, int) and abs(v) < 1 << 53) for v in column):
            coords[name] = ("method", np.array([np.nan if v is None else v for v in column]))
        else:
            coords[name] = ("method", np.array(["" if v is None else str(v) for v in column]))
    if rows.library_ids:
        ids = [rows.library_ids.get(n, -1) for n in range(len(keys))]
        coords["library_id"] = ("method", np.array(ids, dtype=np.int64))
    return coords


def annotate(cube: xr.Dataset) -> xr.Dataset:
    """Put units, descriptions and the digest of the data on a cube."""
    collective = str(cube.attrs.get("collective", ""))
    for name, text in {
        "time": "time of the collective",
        "time_std": "standard deviation over repetitions",
        "sample": "time of one repetition",
    }.items():
        if name in cube:
            cube[name].attrs.update(units="s", long_name=text)
    cube["repetitions"].attrs.update(units="1", long_name="number of repetitions (NaN = not told)")
    cube["comm_size"].attrs.update(units="1", long_name="communicator size, processes")
    cube["message_size"].attrs.update(units="B", long_name=f"message size, {size_meaning(collective)}")
    cube["segment_size"].attrs.update(units="B", long_name="segment size, 0 = none")
    if "ppn" in cube.dims:
        cube["ppn"].attrs.update(units="1", long_name="processes per node")
    if "digest" not in cube.attrs:
        cube.attrs["digest"] = digest(cube)
    return cube


def digest(cube: xr.Dataset) -> str:
    """First 16 hex digits of the SHA-256 over methods, sizes and times."""
    sha = hashlib.sha256()
    sha.update(json.dumps([str(m) for m in cube["method"].values]).encode())
    for name in ("comm_size", "message_size", "time"):
        sha.update(np.ascontiguousarray(cube[name].values).tobytes())
    return sha.hexdigest()[:16]


def combine_attrs(told: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Join what several files say of themselves.

    Parameters
    ----------
    told
        ``(path, attrs)`` of each file.

    Raises
    ------
    LoadError
        Two files tell different systems, networks, libraries, accelerators or kinds of statistic.
    """
    joined: dict[str, Any] = {}
    first: dict[str, str] = {}
    for path, attrs in told:
        for name, value in attrs.items():
            if name not in joined:
                joined[name], first[name] = value, path
            elif joined[name] != value and name in AGREE:
                raise LoadError(
                    f"{name} is {value!r} here but {joined[name]!r} in {first[name]}; load them apart"
                    + (", or choose one statistic for both (statistic)" if name == "statistic_kind" else ""),
                    path=path,
                )
            elif joined[name] != value:
                texts = str(joined[name]).split("; ")
                if str(value) not in texts and len(texts) < 5:
                    joined[name] = "; ".join([*texts, str(value)])
    return joined


def cube_table(cube: xr.Dataset) -> pd.DataFrame:
    """One row for each measured cell of a cube, in the columns of the long table (bytes, seconds)."""
    names = [n for n in ("time", "time_std", "repetitions", "double_of") if n in cube]
    frame = cube[names].reset_coords(drop=True).to_dataframe().dropna(subset=["time"]).reset_index()
    order = {str(m): i for i, m in enumerate(cube["method"].values)}
    place = frame["method"].map(order).to_numpy(dtype=np.int64)
    for name in cube.coords:
        if cube[name].dims == ("method",) and name != "method":
            frame[str(name)] = _whole(cube[name].values)[place]
    if "double_of" in frame:
        labels = np.array(["", *np.atleast_1d(cube["double_of"].attrs["methods"])])
        frame["double_of"] = labels[frame["double_of"].fillna(-1).to_numpy(dtype=np.int64) + 1]
    frame["collective"] = cube.attrs["collective"]
    if "ppn" not in frame and "ppn" in cube.attrs:
        frame["ppn"] = int(cube.attrs["ppn"])
    leading = ["collective", "algorithm", "segment_size", "comm_size", "message_size"]
    rest = [c for c in frame.columns if c not in (*leading, "method", "time")]
    return frame.assign(_order=place).sort_values("_order", kind="stable")[[*leading, *rest, "time"]]


def _whole(values: npt.NDArray[Any]) -> Any:
    """A parameter that some methods lack as whole numbers with gaps, where that is what it is."""
    if values.dtype.kind != "f":
        return values
    there = values[np.isfinite(values)]
    return pd.array(values, dtype="Int64") if (there == np.floor(there)).all() else values
