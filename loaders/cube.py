"""The only place that makes a cube: dimensions, coordinates, units, checks and combining."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from loaders import ragged
from loaders.axes import Axes
from loaders.collectives import size_meaning
from loaders.errors import LoadError
from loaders.facet_names import LISTS, listed
from loaders.methods import MethodKey, method_label
from loaders.pooling import Samples, pool, samples_of
from loaders.rows import CollectiveRows, Floats, Ints

RAW_STATISTIC = "median over repetitions"


def make_cube(rows: CollectiveRows, attrs: Mapping[str, Any]) -> xr.Dataset:
    """Make the cube of one collective.

    Parameters
    ----------
    rows
        All its rows; the parts are consumed.
    attrs
        Attributes for the whole cube.

    Returns
    -------
    xarray.Dataset
        As contract 1 of the design: ``time`` in seconds over ``method, comm_size, message_size[, ppn]``, NaN where
        nothing was measured. Rows of one cell are pooled: means weighted by repetitions, the standard deviation of all
        repetitions together, NaN where one tells none; raw samples are kept in ``sample`` and reduced to their median.

    Raises
    ------
    LoadError
        The grid would be absurdly large.
    """
    axes = Axes(rows)
    methods = _method_coords(rows)
    samples = samples_of([p for p in rows.parts if p.raw], axes)
    plain = [p for p in rows.parts if not p.raw]
    ran_as = _ran_as(rows, axes)
    rounded = sum(np.count_nonzero(part.off) for part in rows.parts if part.off is not None)
    rows.parts.clear()
    time, std, count = pool(plain, axes, samples)
    values = {"time": time, "time_std": std, "repetitions": count}
    if rounded:
        attrs = {**attrs, "rounded": f"{rounded} totals not divisible by the communicator size: block rounded"}
    cube = _dataset(methods, axes, values, samples, {"collective": rows.collective, **attrs})
    return cube if ran_as is None else with_doubles(cube, ran_as, rows.doubles.values)


def _ran_as(rows: CollectiveRows, axes: Axes) -> Ints | None:
    """For each place of the cube the number of the method it ran as, 0 = as told; None where nothing tells."""
    if len(rows.doubles.values) < 2:
        return None
    double_of = np.zeros(axes.size, dtype=np.int64)
    for part in rows.parts:
        if part.double_of is not None:
            double_of[axes.places(part)] = part.double_of
    return double_of


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


def _dataset(
    methods: Mapping[str, Any],
    axes: Axes,
    values: Mapping[str, Floats],
    samples: Samples | None,
    attrs: Mapping[str, Any],
) -> xr.Dataset:
    flat = len(axes.ppns) < 2
    dims = ("method", "comm_size", "message_size") if flat else ("method", "comm_size", "message_size", "ppn")
    shape = axes.shape[:3] if flat else axes.shape
    data: dict[str, Any] = {name: (dims, array.reshape(shape)) for name, array in values.items()}
    if samples is not None:
        counts = np.zeros(axes.size, dtype=np.int64)
        counts[samples.cells] = samples.counts
        data["sample"] = ((*dims, "repetition"), ragged.array(samples.values, counts.reshape(shape)))
    coords: dict[str, Any] = {**methods, "comm_size": axes.comm_sizes, "message_size": axes.message_sizes}
    if not flat:
        coords["ppn"] = axes.ppns
    attrs = dict(attrs)
    if flat and axes.ppns.size and axes.ppns[0]:
        attrs["ppn"] = int(axes.ppns[0])
    return annotate(xr.Dataset(data, coords, attrs))


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
        if all(isinstance(v, int) and -(2**63) <= v < 2**63 for v in column):
            coords[name] = ("method", np.array(column, dtype=np.int64))
        elif all(v is None or (isinstance(v, int) and abs(v) < 1 << 53) for v in column):
            coords[name] = ("method", np.array([np.nan if v is None else v for v in column]))
        else:
            coords[name] = ("method", np.array(["" if v is None else str(v) for v in column]))
    if library_ids := rows.library_ids:
        ids = [library_ids.get(n, -1) for n in range(len(keys))]
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


def combine_attrs(attrs_of_files: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Join what several files say of themselves.

    Parameters
    ----------
    attrs_of_files
        ``(path, attrs)`` of each file.

    Raises
    ------
    LoadError
        Two files tell different kinds of statistic.
    """
    joined: dict[str, Any] = {}
    first: dict[str, str] = {}
    for path, attrs in attrs_of_files:
        for name, value in attrs.items():
            if name not in joined:
                joined[name], first[name] = value, path
            elif joined[name] != value and name == "statistic_kind":
                raise LoadError(
                    f"{name} is {value!r} here but {joined[name]!r} in {first[name]}; load them apart, or read "
                    "both from the benchmark's own files by one statistic (--statistic of a command)",
                    path=path,
                )
            elif name in LISTS:
                joined[name] = json.dumps([*listed(joined, name), *listed(attrs, name)])
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
            frame[str(name)] = _as_integers(cube[name].values)[place]
    if "double_of" in frame:
        labels = np.array(["", *np.atleast_1d(cube["double_of"].attrs["methods"])])
        frame["double_of"] = labels[frame["double_of"].fillna(-1).to_numpy(dtype=np.int64) + 1]
    frame["collective"] = cube.attrs["collective"]
    if "ppn" not in frame and "ppn" in cube.attrs:
        frame["ppn"] = int(cube.attrs["ppn"])
    leading = ["collective", "algorithm", "segment_size", "comm_size", "message_size"]
    rest = [c for c in frame.columns if c not in (*leading, "method", "time")]
    return frame.assign(_order=place).sort_values("_order", kind="stable")[[*leading, *rest, "time"]]


def _as_integers(values: npt.NDArray[Any]) -> Any:
    """A parameter that some methods lack as whole numbers with gaps, where that is what it is."""
    if values.dtype.kind != "f":
        return values
    there = values[np.isfinite(values)]
    return pd.array(values, dtype="Int64") if (there == np.floor(there)).all() else values
