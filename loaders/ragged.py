"""Samples of cells that have unequal numbers of them: one after the other in memory and on disk, an array where read.

On disk it is the contiguous ragged array of the CF conventions (section 9.3.3): all samples in `FLAT`, how many each
cell has in `COUNT`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from loaders.rows import Floats, Ints

FLAT, COUNT, ALONG = "samples", "sample_count", "sample_number"
#: An array with gaps is made where it takes at most so many times what is there, or so many values at all.
_TIMES, _FREE = 2, 1 << 22
#: Values of a piece that is made at once.
_PIECE = 1 << 21


@dataclass(frozen=True)
class Ragged:
    """Looks like an array ``(…, repetition)``, NaN behind the last sample of a cell; pieces are made when asked for."""

    #: Of the cells one after the other, in memory or lazy.
    values: Any
    #: How many each cell has.
    counts: Ints

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Seconds."""
        return np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array it stands for."""
        return (*self.counts.shape, int(self.counts.max(initial=0)))

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __getitem__(self, key: tuple[slice, ...]) -> Floats:
        ends = np.cumsum(self.counts).reshape(self.counts.shape)[key[:-1]]
        counts = self.counts[key[:-1]]
        number = np.arange(self.shape[-1])[key[-1]]
        there = number < counts[..., None]
        out = np.full(there.shape, np.nan)
        if out.size:
            start = int((ends - counts).min())
            values = np.asarray(self.values[start : int(ends.max())])
            # Those of an array as a whole stand in its order.
            all_there = there.shape == self.shape
            out[there] = values if all_there else values[((ends - counts)[..., None] - start + number)[there]]
        return out


def array(values: Any, counts: Ints) -> Any:
    """Samples as an array ``(…, repetition)``: of NumPy where that is not much more than they are, else of dask."""
    ragged = Ragged(values, counts)
    size = math.prod(ragged.shape)
    if size == len(values) and isinstance(values, np.ndarray):
        return values.reshape(ragged.shape)
    if size > max(_TIMES * len(values), _FREE):
        import dask.array as da  # noqa: PLC0415 - half of the time that a command takes to begin; few need it

        return da.from_array(  # type: ignore[no-untyped-call]
            ragged, chunks=_chunks(ragged.shape), asarray=False, name=False, meta=np.empty(0)
        )
    return ragged[tuple(slice(None) for _ in ragged.shape)]


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Whole cells, as many along the last dimensions as fit into a piece."""
    chunks, room = [], max(1, _PIECE // max(1, shape[-1]))
    for length in reversed(shape[:-1]):
        chunks.append(max(1, min(length, room)))
        room //= max(1, length)
    return (*reversed(chunks), shape[-1])


def flattened(cube: xr.Dataset) -> xr.Dataset:
    """The cube as it is saved: without the gaps of its samples, where they take more than the samples do."""
    if "sample" not in cube:
        return cube
    sample = cube["sample"].transpose(..., "repetition")
    there = sample.notnull()
    counts = there.sum("repetition").astype(np.int64).compute()
    if sample.size <= _TIMES * int(counts.sum()):
        return cube
    values = np.empty(int(counts.sum()))
    at = 0
    for block in _rows(sample):
        kept = block[~np.isnan(block)]
        values[at : at + len(kept)] = kept
        at += len(kept)
    return cube.drop_vars("sample").assign(
        {
            FLAT: (ALONG, values, {**cube["sample"].attrs, "long_name": "times of the repetitions, cell by cell"}),
            COUNT: counts.assign_attrs(units="1", long_name="repetitions of a cell", sample_dimension=ALONG),
        }
    )


def _rows(sample: xr.DataArray) -> Any:
    """The values piece by piece, in the order of the cells."""
    import dask.array as da  # noqa: PLC0415 - as above

    chunks = _chunks(sample.shape)
    chunked = da.asarray(sample.data).rechunk(chunks)  # type: ignore[no-untyped-call]
    return (np.asarray(piece.compute()) for piece in chunked.blocks.ravel()) if chunked.ndim else ()


def restored(cube: xr.Dataset) -> xr.Dataset:
    """The cube with ``sample`` again, where it was saved by `flattened`.

    Raises
    ------
    ValueError
        There are not as many samples as are counted.
    """
    if FLAT not in cube or COUNT not in cube:
        return cube
    counts = cube[COUNT].values.astype(np.int64)
    if counts.min(initial=0) < 0 or counts.sum() != cube[FLAT].size or cube[FLAT].ndim != 1:
        raise ValueError(f"{COUNT!r} counts {counts.sum():,} samples, and {FLAT!r} has {cube[FLAT].size:,}")
    attrs = {**cube[FLAT].attrs, "long_name": "time of one repetition"}
    sample = ((*cube[COUNT].dims, "repetition"), array(cube[FLAT].data, counts), attrs)
    return cube.drop_vars([FLAT, COUNT]).assign(sample=sample)
