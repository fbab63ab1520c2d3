"""All rows of a cell pooled into one time, with its spread and its number of repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loaders.errors import LoadError
from loaders.rows import CollectiveRows, Floats, Ints, Part

_MAX_SAMPLES = 1 << 27
_BLOCK = 1 << 21


class Axes:
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


class Samples:
    """Raw samples by cell: a dense array ``(cells, repetitions)`` of the cells that have any."""

    def __init__(self, cells: Ints, values: Floats) -> None:
        self.cells = cells
        self.values = values


def samples_of(parts: list[Part], axes: Axes) -> Samples | None:
    """Lay raw samples out by cell; the parts are consumed.

    Raises
    ------
    LoadError
        When they are too uneven to be held as an array.
    """
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
    return Samples(cells, values)


def _reduced(samples: Samples) -> tuple[Floats, Floats, Floats]:
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


def pool(parts: list[Part], axes: Axes, samples: Samples | None) -> tuple[Floats, Floats, Floats]:
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


def _scatter(place: Ints, values: Floats, axes: Axes) -> Floats:
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
