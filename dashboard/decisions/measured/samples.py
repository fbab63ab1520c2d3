"""Raw repetitions of a cube: read block by block, cut in halves, reduced as the loaders reduce them."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from dashboard.decisions.measured.map import BLOCK_BYTES, DIMS
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.errors import DecisionError

Place = tuple[slice, slice]
"""Rows (communicator sizes) and columns (message sizes) of a block."""


def has_samples(cube: xr.Dataset) -> bool:
    """Whether a cube holds the raw repetitions."""
    return "sample" in cube.data_vars and cube.sizes.get("repetition", 0) > 0


def need_samples(cube: xr.Dataset, what: str) -> None:
    """Raise `DecisionError`, which names `what` needs them, if a cube does not hold the raw repetitions."""
    if not has_samples(cube):
        raise DecisionError(
            f"{what} needs the single repetitions (variable sample over repetition), but these results hold only "
            "their summary; load files that list every repetition, such as ReproMPI's raw output"
        )


def sample_blocks(cube: xr.Dataset, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[Place, FloatArray]]:
    """Go through the raw repetitions of a cube in blocks of sizes.

    Parameters
    ----------
    cube
        A cube without ``ppn``, in memory or lazy.
    block_bytes
        About how large a block may be; all methods and repetitions of one cell are always together.

    Yields
    ------
    place
        Which communicator and message sizes.
    samples
        float64 ``(method, comm_size, message_size, repetition)`` in seconds, NaN where there is none.
    """
    sample = cube["sample"].transpose(*DIMS, "repetition")
    methods, rows, columns, repetitions = sample.shape
    cells = max(1, block_bytes // max(1, 8 * methods * repetitions))
    high = max(1, cells // max(1, columns))
    wide = max(1, min(columns, cells))
    for top in range(0, rows, high):
        for left in range(0, columns, wide):
            place = slice(top, top + high), slice(left, left + wide)
            block = sample.isel(comm_size=place[0], message_size=place[1])
            yield place, np.asarray(block.values, dtype=np.float64)


def summed_up(samples: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Median, standard deviation and number over the last axis, as the loaders take them; NaN where too few."""
    if not samples.shape[-1]:
        nothing = np.full(samples.shape[:-1], np.nan)
        return nothing, nothing.copy(), nothing.copy()
    ordered = np.sort(samples, axis=-1)  # what is missing comes last
    number = np.isfinite(samples).sum(axis=-1)
    middle = np.stack([np.maximum(number - 1, 0) // 2, np.minimum(number // 2, samples.shape[-1] - 1)], axis=-1)
    median = np.take_along_axis(ordered, middle, axis=-1).mean(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(samples, axis=-1) / number
        squares = np.nansum((samples - mean[..., None]) ** 2, axis=-1)
        deviation = np.where(number > 1, np.sqrt(squares / (number - 1)), np.nan)
    return np.where(number > 0, median, np.nan), deviation, np.where(number > 0, number, np.nan)


def of_repetitions(cube: xr.Dataset, chosen: BoolArray) -> xr.Dataset:
    """The cube that only some repetitions would have given.

    Parameters
    ----------
    cube
        A cube without ``ppn`` that holds raw repetitions.
    chosen
        Which of them, along ``repetition``.

    Returns
    -------
    Dataset
        ``time``, ``time_std`` and ``repetitions`` of these alone, without ``sample``.
    """
    shape = tuple(cube.sizes[name] for name in DIMS)
    out = {name: np.full(shape, np.nan) for name in ("time", "time_std", "repetitions")}
    for (rows, columns), samples in sample_blocks(cube):
        for name, values in zip(out, summed_up(samples[..., chosen]), strict=True):
            out[name][:, rows, columns] = values
    left = cube.drop_vars([name for name in ("sample", *out) if name in cube.data_vars])
    reduced = left.assign({name: (DIMS, values) for name, values in out.items()})
    reduced["time"].attrs["units"] = reduced["time_std"].attrs["units"] = "s"
    return reduced
