"""Results on disk: netCDF and Zarr in and out (lazily when large), the long table and OCC's form out."""

from __future__ import annotations

import errno
import io
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from loaders import disk, occ, ragged
from loaders.axes import MAX_CELLS
from loaders.columns import PARAMETER
from loaders.cube import annotate, cube_table
from loaders.errors import LoadError
from loaders.facet_names import CHOSEN, OF_CUBES, OF_RESULTS, check
from loaders.names import COLUMNS
from loaders.source import Format, Source

if TYPE_CHECKING:
    import h5py  # type: ignore[import-untyped]

#: Results of more bytes than this (unpacked) are opened lazily with dask.
LAZY_BYTES = 256 << 20
_ENDINGS = ".nc, .zarr, .csv or .occ"
#: netCDF files of more bytes are written by HDF5 itself, where there is so much more room than they need.
_IN_MEMORY_BYTES = 1 << 30
_ROOM = 1.2
_MOST_ON_AXIS = 1 << 22
_MOST_REPETITIONS = 1 << 16
#: Units that times may be whole numbers of (s), but for the rounding of a product; 32 bits, the lowest is a gap.
_UNITS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
_ROUNDED = 4 * np.finfo(np.float64).eps
_LARGEST, _NOTHING = 2**31, -(2**31)
_PIECE = 1 << 20
#: Attribute of a store in which chunks without any time are written, too: one that is not there was lost.
_ALL_CHUNKS = "all_chunks"
_NETCDF = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")


def save_results(tree: xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write results to ``.nc`` (netCDF), ``.zarr``, ``.csv`` (the long table) or ``.occ``, by the name's ending.

    Parameters
    ----------
    tree
        Results as of `loaders.open_results`.
    path
        The file; an existing one is replaced, but no folder that is not a Zarr store.

    Raises
    ------
    LoadError
        The ending is none of these, the form has no room for what is there, or the file cannot be written.
    """
    target = Path(path)
    _check_target(target)
    if target.suffix not in _WRITERS:
        raise LoadError(f"results are saved as {_ENDINGS}; give the name one of these endings", path=target)
    try:
        with disk.aside(target) as partial:
            _WRITERS[target.suffix](tree, partial, target)
    except OSError as error:
        # The words of the libraries are long and name the partial file.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise LoadError(f"cannot be written: {reason}", path=target) from error
    return target


def _netcdf(tree: xr.DataTree, partial: Path, target: Path) -> None:
    """Write what HDF5 makes in memory: where a disk is full, its library ends the process that writes a file by it."""
    tree, encoding = _compact(tree, {"zlib": True, "complevel": 1, "shuffle": True})
    size = sum(node.to_dataset().nbytes for node in tree.children.values())
    if size > _IN_MEMORY_BYTES:
        if shutil.disk_usage(partial.parent).free < _ROOM * size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        tree.to_netcdf(partial, engine="h5netcdf", encoding=encoding)
        return
    content = io.BytesIO()
    tree.to_netcdf(content, engine="h5netcdf", encoding=encoding)
    with partial.open("wb") as file:
        file.write(content.getbuffer())


def _zarr(tree: xr.DataTree, partial: Path, target: Path) -> None:
    tree, encoding = _compact(tree, {})
    tree.attrs[_ALL_CHUNKS] = 1
    # Version 2: the string arrays of version 3 have no specification yet.
    tree.to_zarr(partial, zarr_format=2, consolidated=True, encoding=encoding, write_empty_chunks=True)


def _compact(tree: xr.DataTree, how: Mapping[str, Any]) -> tuple[xr.DataTree, dict[str, dict[str, Any]]]:
    """The tree with its samples as they are saved, and how each variable of them is encoded."""
    cubes = {name: ragged.flattened(node.to_dataset()) for name, node in tree.children.items()}
    encoding = {
        f"/{name}": {each: {**how, **_whole_units(cube[each])} for each in ("sample", ragged.FLAT) if each in cube}
        for name, cube in cubes.items()
    }
    made = xr.DataTree.from_dict({f"/{name}": cube for name, cube in cubes.items()})
    made.attrs.update(tree.attrs)
    return made, encoding


def _whole_units(times: xr.DataArray) -> dict[str, Any]:
    """Times as whole numbers of the coarsest unit that says all that was printed, which takes a third of the room."""
    if times.chunks is not None or not times.size:
        return {}
    values = times.values.ravel()
    for unit in _UNITS:
        if all(_are_whole(values[at : at + _PIECE], unit) for at in range(0, len(values), _PIECE)):
            return {"dtype": "int32", "scale_factor": unit, "_FillValue": _NOTHING}
    return {}


def _are_whole(values: npt.NDArray[np.float64], unit: float) -> bool:
    there = values[np.isfinite(values)]
    steps = np.rint(there / unit)
    return bool(((np.abs(steps * unit - there) <= _ROUNDED * there) & (steps < _LARGEST)).all())


def _csv(tree: xr.DataTree, partial: Path, target: Path) -> None:
    table = pd.concat([cube_table(node.to_dataset()) for node in tree.children.values()])
    table.rename(columns={n: n if n in COLUMNS else f"{PARAMETER}{n}" for n in table}).to_csv(partial, index=False)


def _occ(tree: xr.DataTree, partial: Path, target: Path) -> None:
    try:
        table = occ.table(tree)
    except ValueError as error:
        raise LoadError(f"cannot be written: {error}", path=target) from error
    table.to_csv(partial, index=False)


_WRITERS = {".nc": _netcdf, ".zarr": _zarr, ".csv": _csv, ".occ": _occ}


def _check_target(target: Path) -> None:
    """Refuse to write where a folder of the user's would be replaced, or new folders made."""
    if not target.parent.is_dir():
        raise LoadError(f"cannot be written: there is no folder {target.parent}", path=target)
    if target.is_dir() and not is_zarr(target):
        raise LoadError("cannot be written: it is a folder, which is not replaced", path=target)


def is_zarr(path: Path) -> bool:
    """Whether the path is a Zarr store; False for a folder that cannot be looked into."""
    try:
        return path.is_dir() and any((path / name).exists() for name in (".zgroup", "zarr.json"))
    except PermissionError:
        return False


def is_stored(path: Path) -> bool:
    """Whether the path is a netCDF file or a Zarr store; False for a file that cannot be read."""
    if path.is_dir():
        return is_zarr(path)
    try:
        with disk.opened(path) as stream:
            return _is_netcdf(stream.read(8))
    except OSError:
        return False


def _is_netcdf(head: bytes) -> bool:
    return any(head.startswith(magic) for magic in _NETCDF)


def open_stored(path: Path, *, lazy: bool = False) -> xr.DataTree:
    """Open results saved by `save_results`; lazily (dask) beyond `LAZY_BYTES`, or where that is asked for.

    Raises
    ------
    LoadError
        It is not such a file, or holds no cube.
    """
    engine = "zarr" if path.is_dir() else "h5netcdf"
    if engine == "h5netcdf":
        _look_into(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = xr.open_datatree(path, engine=engine, chunks="auto")
    except Exception as error:  # the engines raise anything on a damaged file
        raise LoadError(f"cannot be opened as results ({engine}): {error}", path=path) from error
    tree.attrs.pop(_ALL_CHUNKS, None)
    if not tree.children:
        raise LoadError("holds no cube: there is one group a collective, each with 'time'", path=path)
    if not any("digest" in node.attrs for node in tree.children.values()):
        _as_others_wrote(tree)
    _check_attrs(path, "it", tree.attrs, OF_RESULTS)
    for name, node in tree.children.items():
        _check(path, name, node.to_dataset())
    lazy = lazy or sum(node.to_dataset().nbytes for node in tree.children.values()) > LAZY_BYTES
    if not lazy:
        tree = _loaded(path, tree)
    for name, node in tree.children.items():
        try:
            cube = ragged.restored(node.to_dataset())
        except ValueError as error:
            raise LoadError(f"group {name!r}: {error}", path=path) from error
        node.dataset = _ordered(path, name, cube)
    return _timed(tree)


def lost_chunks(path: Path) -> str:
    """Say how many chunks a Zarr store lacks that were written; empty where none does, or that cannot be known."""
    import zarr  # noqa: PLC0415 - read after xarray has found it, and only then

    if not path.is_dir() or _ALL_CHUNKS not in (store := zarr.open_group(path, mode="r")).attrs:
        return ""
    arrays = [each for _, each in store.members(max_depth=None) if isinstance(each, zarr.Array)]
    written, there = sum(each.nchunks for each in arrays), sum(each.nchunks_initialized for each in arrays)
    lost = f"{written - there:,} of {written:,} chunks are lost; what was in them reads as not measured: copy it again"
    return lost if there < written else ""


def _loaded(path: Path, tree: xr.DataTree) -> xr.DataTree:
    try:
        loaded = tree.load()
    except Exception as error:
        raise LoadError(f"cannot be read: {error}", path=path) from error
    tree.close()
    for name, node in loaded.children.items():
        _check_times(path, name, node.to_dataset())
    return loaded


def _look_into(path: Path) -> None:
    """Refuse an HDF5 file that takes its values from other files, or declares more of them than a cube may have.

    Opening reads coordinates at once, and values that were never written take no room in a file.
    """
    import h5py  # noqa: PLC0415 - read before any other file of this kind, and only then

    def walk(group: h5py.Group) -> None:
        """Look at all that is below a group."""
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise LoadError(f"{name!r} is a link to another file, which is not followed", path=path)
            node = group[name]
            if isinstance(node, h5py.Dataset):
                _look_at(path, name, node)
            elif isinstance(node, h5py.Group) and isinstance(link, h5py.HardLink):
                walk(node)

    try:
        with h5py.File(path, "r") as file:
            walk(file)
    except LoadError:
        raise
    except Exception as error:  # the library raises anything on a damaged file
        raise LoadError(f"cannot be opened as results (HDF5): {error}", path=path) from error


def _look_at(path: Path, name: str, dataset: h5py.Dataset) -> None:
    if dataset.external or dataset.is_virtual:
        raise LoadError(f"the values of {name!r} are in another file, which is not read", path=path)
    samples = name in ("sample", ragged.FLAT)
    most = MAX_CELLS * (_MOST_REPETITIONS if samples else 1) if dataset.ndim > 1 or samples else _MOST_ON_AXIS
    if (dataset.size or 0) > most:
        raise LoadError(f"{name!r} has {dataset.size:,} values; {most:,} are the most", path=path)


def _check(path: Path, name: str, cube: xr.Dataset) -> None:
    if "time" not in cube and "sample" not in cube:
        raise LoadError(f"group {name!r} has neither 'time' nor 'sample'", path=path)
    values = cube["time"] if "time" in cube else cube["sample"]
    lacking = [d for d in ("method", "comm_size", "message_size") if d not in values.dims or d not in cube.coords]
    if lacking:
        raise LoadError(f"group {name!r} lacks the dimensions {', '.join(lacking)}", path=path)
    _check_attrs(path, f"group {name!r}", cube.attrs, OF_CUBES)
    units = values.attrs.get("units", "s")
    if units != "s":
        raise LoadError(f"group {name!r} has times in {units!r}; they must be in seconds", path=path)


def _as_others_wrote(tree: xr.DataTree) -> None:
    """Put what others wrote under names of this project's own attributes under others, such as ``notes_text``."""
    for node in (tree, *tree.children.values()):
        for name in {*OF_RESULTS, *OF_CUBES, *CHOSEN} & node.attrs.keys():
            try:
                check(node.attrs, name)
            except (ValueError, RecursionError):
                node.attrs[f"{name}_text"] = node.attrs.pop(name)


def _check_attrs(path: Path, where: str, attrs: Mapping[Any, Any], names: Sequence[str]) -> None:
    for each in names:
        try:
            check(attrs, each)
        except (ValueError, RecursionError) as error:
            what = f"{where} has the attribute {each!r}, which cannot be read: {error}"
            raise LoadError(f"{what}; save these results anew, or remove it", path=path) from error


def _ordered(path: Path, name: str, cube: xr.Dataset) -> xr.Dataset:
    """The cube with ascending whole sizes, as `make_cube` leaves it; others may save it otherwise."""
    if not cube.indexes["method"].is_unique:
        raise LoadError(f"group {name!r} has a method twice: {cube['method'].values.tolist()[:20]}", path=path)
    for dim, lowest in (("comm_size", 1), ("message_size", 0), ("ppn", 0)):
        if dim not in cube.dims:
            continue
        values = cube[dim].values
        with np.errstate(invalid="ignore"):
            integral = values.dtype.kind in "iu" or (values.dtype.kind == "f" and (np.floor(values) == values).all())
        if not integral or (values < lowest).any() or len(np.unique(values)) < len(values):
            raise LoadError(
                f"group {name!r} has the {dim}s {values.tolist()[:20]}; right are different whole numbers "
                f"from {lowest} up",
                path=path,
            )
        if values.dtype.kind == "f":
            cube = cube.assign_coords({dim: (dim, values.astype(np.int64), cube[dim].attrs)})
        if (np.diff(values.astype(np.int64)) < 0).any():
            cube = cube.sortby(dim)
    return cube


def _check_times(path: Path, name: str, cube: xr.Dataset) -> None:
    for variable in ("time", "sample", ragged.FLAT):
        if variable in cube:
            values = cube[variable].values
            bad = int((~np.isnan(values) & ~((values > 0) & np.isfinite(values))).sum())
            if bad:
                raise LoadError(f"group {name!r} has {bad} values of {variable!r} that are no positive time", path=path)


def _timed(tree: xr.DataTree) -> xr.DataTree:
    """Add median and number of the samples where a file holds samples only; of a large one they are read once."""
    for name, node in tree.children.items():
        cube = node.to_dataset()
        if "time" not in cube:
            samples = cube["sample"].chunk({"repetition": -1})
            time, count = samples.median("repetition", skipna=True), samples.count("repetition")
            reduced = xr.Dataset({"time": time, "repetitions": count.where(count > 0)})
            with warnings.catch_warnings():
                # Cells without samples have no median.
                warnings.simplefilter("ignore", RuntimeWarning)
                tree[name] = xr.DataTree(cube.assign(reduced.compute()))
    return tree


def complete(cube: xr.Dataset, name: str) -> xr.Dataset:
    """Fill in what a cube saved by others may lack: algorithm, segment size, repetitions, digest."""
    # Numbers come back as NumPy's, of which JSON knows nothing.
    attrs = {key: value.item() if isinstance(value, np.generic) else value for key, value in cube.attrs.items()}
    attrs |= {key: str(value) for key, value in attrs.items() if isinstance(value, np.ndarray | list)}
    out = cube.assign_attrs({"collective": name, **attrs})
    if "repetitions" not in out:
        out["repetitions"] = xr.full_like(out["time"], np.nan)
    if "algorithm" not in out.coords:
        out = out.assign_coords(algorithm=("method", out["method"].values))
    if "segment_size" not in out.coords:
        out = out.assign_coords(segment_size=("method", np.zeros(out.sizes["method"], dtype=np.int64)))
    return annotate(out)


def _read(source: Source) -> Iterator[pd.DataFrame]:
    """Read saved results as rows, so that they combine with other files."""
    tree = open_stored(source.path)
    if lost := lost_chunks(source.path):
        source.note(lost)
    for name, node in tree.children.items():
        cube = complete(node.to_dataset(), name)
        attrs: dict[str, Any] = {k: v for k, v in cube.attrs.items() if k not in ("collective", "digest", "sources")}
        source.attrs.update({str(k): v for k, v in attrs.items()})
        table = cube_table(cube)
        if len(table):
            source.loaded(len(table))
            yield table
    if not source.rows:
        raise source.fail("holds no measured cell")


NETCDF = Format("netcdf", "colltune results, netCDF", lambda head, path: _is_netcdf(head), _read)
ZARR = Format("zarr", "colltune results, Zarr", lambda head, path: path.is_dir(), _read)
