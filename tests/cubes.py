"""Seeded cubes to test with, laid out as `loaders.open_results` lays out its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

SEGMENTS = (0, 1024, 8192, 16384, 65536)
ALGORITHMS = ("linear", "binomial", "binary", "pipeline", "split_binary", "chain", "scatter_allgather")


def method_names(count: int) -> list[tuple[str, str, int]]:
    """Give `count` different methods as (label, algorithm, segment size in bytes)."""
    names = []
    for index in range(count):
        algorithm = ALGORITHMS[index % len(ALGORITHMS)]
        turn = index // len(ALGORITHMS)
        segment = SEGMENTS[turn] if turn < len(SEGMENTS) else 1024 * (turn + 100)
        label = f"{algorithm} {segment // 1024}KiB" if segment else algorithm
        names.append((label, algorithm, segment))
    return names


def cube_of(time: Any, comm_size: Any, message_size: Any, **attrs: Any) -> xr.Dataset:
    """Lay `time` (seconds; method × communicator size × message size) out as a cube.

    Further dimensions of `time` stand for processes per node (1, 2, …).
    """
    time = np.asarray(time, dtype=np.float64)
    names = method_names(time.shape[0])
    dims = ("method", "comm_size", "message_size", "ppn")[: time.ndim]
    coords: dict[str, Any] = {
        "method": [label for label, _, _ in names],
        "algorithm": ("method", [algorithm for _, algorithm, _ in names]),
        "segment_size": ("method", np.array([segment for _, _, segment in names], dtype=np.int64)),
        "comm_size": np.asarray(comm_size, dtype=np.int64),
        "message_size": np.asarray(message_size, dtype=np.int64),
    }
    if time.ndim == 4:
        coords["ppn"] = np.arange(1, time.shape[3] + 1)
    cube = xr.Dataset({"time": (dims, time)}, coords=coords)
    cube["time_std"] = cube["time"] * 0.02
    cube["repetitions"] = (dims, np.where(np.isnan(time), 0, 10))
    cube["time"].attrs["units"] = cube["time_std"].attrs["units"] = "s"
    cube["segment_size"].attrs["units"] = cube["message_size"].attrs["units"] = "B"
    cube["comm_size"].attrs["units"] = "processes"
    cube.attrs = {
        "collective": "bcast",
        "system": "synthetic",
        "network": "none",
        "library": "none",
        "library_version": "0",
        "benchmark": "tests.cubes",
        "statistic": "drawn from a seeded generator",
        "statistic_kind": "completion",
        "sources": "[]",
        "digest": "0" * 16,
        **attrs,
    }
    return cube


def named(cube: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """The cube with its methods called so, each an algorithm of that name without segments."""
    unsegmented = xr.zeros_like(cube["segment_size"].variable)
    return cube.assign_coords(method=list(names), algorithm=("method", list(names)), segment_size=unsegmented)


def synthetic_cube(
    n_comm: int, n_msg: int, n_methods: int, seed: int, missing: float = 0.0, noise: float = 0.1
) -> xr.Dataset:
    """Draw a cube of Hockney-like times, so that the best method changes over the sizes.

    Parameters
    ----------
    n_comm, n_msg, n_methods
        Numbers of communicator sizes (2, 3, …), message sizes (1 B doubling; finer when there are
        more than 24) and methods.
    seed
        Of the generator.
    missing
        Share of times that are NaN; the very first one never is.
    noise
        Spread of the random factor on each time (of its logarithm).
    """
    random = np.random.default_rng(seed)
    comm_size = np.arange(2, n_comm + 2)
    exponents = np.arange(n_msg) if n_msg <= 24 else np.linspace(0, 24, n_msg)
    message_size = np.unique(np.rint(2.0**exponents).astype(np.int64))
    while message_size.size < n_msg:
        message_size = np.append(message_size, message_size[-1] + message_size[-1] // 7 + 1)
    latency = 2e-5 * 2.0 ** random.uniform(-3, 3, n_methods)
    per_byte = 1e-8 * 2.0 ** random.uniform(-3, 3, n_methods)
    growth = random.uniform(0.1, 1.0, n_methods)
    rounds = comm_size[None, :, None] ** growth[:, None, None]
    time = (latency[:, None, None] * rounds + per_byte[:, None, None] * message_size) * np.exp(
        noise * random.standard_normal((n_methods, n_comm, n_msg))
    )
    gaps = random.random(time.shape) < missing
    gaps[0, 0, 0] = False
    return cube_of(np.where(gaps, np.nan, time), comm_size, message_size)


def opposed_cubes() -> dict[str, xr.Dataset]:
    """Cubes of two collectives: in each another method is the best at 1 and at 2 processes per node."""
    time = np.ones((2, 2, 2, 2))
    time[0, ..., 1] = time[1, ..., 0] = 3.0
    sizes = [2, 4], [1, 8]
    return {"bcast": cube_of(time, *sizes), "reduce": cube_of(2.0 * time[::-1], *sizes, collective="reduce")}


#: Cubes in which there is little or nothing to decide.
DEGENERATE = {
    "one cell": cube_of([[[1.0]]], [2], [1]),
    "one method": cube_of([[[1.0, 2.0, 3.0]]], [2], [1, 2, 3]),
    "constant times": cube_of(np.ones((3, 4, 5)), range(2, 6), range(5)),
    "a cell not measured": cube_of([[[1.0, np.nan, 2.0]], [[np.nan, np.nan, 1.0]]], [2], [1, 2, 3]),
}
