"""All rows of a cell pooled into one time, with its spread and its number of repetitions."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from loaders.ahead import one_ahead
from loaders.axes import Axes
from loaders.rows import CollectiveRows, Floats, Ints, Part

#: Files that measured a cell are said to be apart from this ratio of their times on, where their own spread is smaller.
APART = 1.5
_SPREADS = 4.0
#: Folders that measured the same cells are one campaign while at most this share is apart, and none by this ratio.
_FEW, FAR = 0.1, 5.0
#: Cells in which times must be the same to the last digit, so that they are taken for a copy and not for chance.
_COPIED = 4
_BLOCK = 1 << 18


@dataclass(frozen=True)
class Samples:
    """Raw samples, those of each cell one after the other."""

    #: Flat places in the cube that have any, ascending.
    cells: Ints
    #: Where in `values` the samples of each of these cells end.
    ends: Ints
    #: Seconds.
    values: Floats

    @property
    def counts(self) -> Ints:
        """Number of samples of each cell."""
        return np.diff(self.ends, prepend=0)


def samples_of(parts: list[Part], axes: Axes) -> Samples | None:
    """Lay raw samples out by cell; the parts are consumed."""
    if not parts:
        return None
    counts = np.zeros(axes.size, dtype=np.int64)
    for part in parts:
        counts += np.bincount(axes.places(part), minlength=axes.size)
    cells = np.flatnonzero(counts)
    ends = np.cumsum(counts[cells])
    place_of = np.cumsum(counts) - counts
    values = np.empty(int(ends[-1]))
    # A part is put in order while the one before is laid out.
    for ordered, time in one_ahead(_by_cell(parts, axes)):
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        lengths = np.diff(np.r_[starts, len(ordered)])
        first = place_of[ordered[starts]]
        values[np.repeat(first - starts, lengths) + np.arange(len(ordered))] = time
        place_of[ordered[starts]] += lengths
    return Samples(cells, ends, values)


def _by_cell(parts: list[Part], axes: Axes) -> Iterator[tuple[npt.NDArray[Any], Floats]]:
    """Places and times of each part, ordered by place; the parts are consumed."""
    while parts:
        part = parts.pop(0)
        place = axes.places(part)
        # Numbers of 16 bits are sorted by radix, several times faster.
        place = place.astype(np.uint16) if axes.size <= 1 << 16 else place
        order = np.argsort(place, kind="stable")
        yield place[order], part.time[order]


def _reduced(samples: Samples) -> tuple[Floats, Floats, Floats]:
    """Median, standard deviation and number of the samples of each cell, block by block."""
    counts = samples.counts
    time, std = np.empty(len(counts)), np.empty(len(counts))

    def reduce(at: Ints) -> None:
        time[at], std[at] = _median_and_deviation(samples, counts, at)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(reduce, _like_cells(counts)))
    std[counts < 2] = np.nan
    return time, std, counts.astype(np.float64)


def _like_cells(counts: Ints) -> Iterator[Ints]:
    """Cells of much the same number of samples together, so that a block is full."""
    order = np.argsort(counts, kind="stable")
    start = 0
    while start < len(order):
        step = max(1, _BLOCK // int(counts[order[start]]))
        at = order[start : start + step]
        at = at[: max(1, _BLOCK // int(counts[at[-1]]))]
        start += len(at)
        yield at


def _median_and_deviation(samples: Samples, counts: Ints, at: Ints) -> tuple[Floats, Floats]:
    """Of some cells, the last of which has the most samples."""
    number, width = counts[at], int(counts[at[-1]])
    first = samples.ends[at] - number
    there = np.arange(width) < number[:, None]
    block = np.where(there, samples.values[np.where(there, first[:, None] + np.arange(width), 0)], np.nan)
    # Sorting puts what is missing last.
    ordered, row = np.sort(block, axis=1), np.arange(len(at))
    mean = np.nansum(block, axis=1) / number
    squares = np.nansum((block - mean[:, None]) ** 2, axis=1)
    median = (ordered[row, (number - 1) // 2] + ordered[row, number // 2]) / 2
    return median, np.sqrt(squares / np.maximum(number - 1, 1))


def pool(parts: list[Part], axes: Axes, samples: Samples | None) -> tuple[Floats, Floats, Floats]:
    """Pool all rows of each cell: weighted mean, overall standard deviation, number of repetitions.

    Means of runs that tell no deviation of their own have that between the runs, and these count as repetitions.
    """
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
    has_spread, counted = np.isfinite(std), np.isfinite(count) & (count > 0)
    weight = np.where(counted, count, 1.0)
    # Runs that print their mean alone, as those of IMB, OSU and nccl-tests, are a repetition each.
    runs = (np.bincount(place, ~has_spread & (weight > 1), size) == rows) & (rows > 1)
    weight[runs[place]] = 1.0
    total = np.bincount(place, weight, size)
    # Rows that tell their spread and not their number stand for many, of each as many.
    many = np.bincount(place, has_spread & ~counted, size) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(place, weight * time, size) / total
        inner = np.where(has_spread, (weight - counted) * std**2, 0.0)
        squares = np.bincount(place, inner + weight * (time - mean[place]) ** 2, size)
        spread = np.sqrt(squares / (total - ~many))
    # Beside others they do not tell how far their repetitions are apart.
    untold = np.bincount(place, ~has_spread & (weight > 1), size) > 0
    spread[untold | ((total < 2) & ~many)] = np.nan
    known = np.bincount(place, np.isfinite(count), size) == rows
    # Rows that tell neither their number nor their spread are repetitions themselves.
    plain = (np.bincount(place, np.isfinite(count) | has_spread, size) == 0) & (rows > 1)
    return mean, spread, np.where((known & (rows > 0)) | plain, total, np.nan)


@dataclass(frozen=True)
class Distance:
    """How far groups of files are apart in the cells that more than one of them measured."""

    #: Those cells.
    cells: int = 0
    #: Largest ratio of times.
    most: float = 1.0
    #: Cells with a ratio of at least `APART` that is above the spread within the files.
    apart: int = 0
    #: Files in these cells.
    sources: tuple[int, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether they measured something else, and not the same once more: many cells are apart, or some are far."""
        return self.mostly_apart or self.most > FAR

    @property
    def mostly_apart(self) -> bool:
        """Whether more cells are apart than a few that somebody else on the machine may have disturbed."""
        return self.apart > _FEW * self.cells

    @property
    def text(self) -> str:
        """In words, empty where nothing was measured twice."""
        return f", up to {self.most:.3g} times apart in {self.cells:,} cells that both measured" if self.cells else ""


@dataclass(frozen=True)
class Means:
    """Mean times of cells by file: arrays of equal length, a cell's one after the other."""

    #: Flat place in the cube and file.
    place: Ints
    source: Ints
    #: Seconds; the standard deviation within the file, 0 where it is not known.
    time: Floats
    std: Floats

    def between(self, groups: Sequence[Sequence[int]]) -> Distance:
        """How far groups of files are apart; files in no group are not looked at."""
        group_of = {source: number for number, group in enumerate(groups) for source in group}
        number = np.array([group_of.get(int(source), -1) for source in self.source], dtype=np.int64)
        frame = pd.DataFrame({"place": self.place, "group": number, "time": self.time, "std": self.std})[number >= 0]
        by_group = frame.groupby(["place", "group"], sort=False).agg({"time": "mean", "std": "max"})
        cells = by_group.groupby(level="place", sort=False).agg(
            low=("time", "min"), high=("time", "max"), spread=("std", "max"), groups=("time", "size")
        )
        cells = cells[(cells["groups"] > 1) & (cells["low"] > 0)]
        ratio = cells["high"] / cells["low"]
        apart = cells.index[(ratio >= APART) & (cells["high"] - cells["low"] > _SPREADS * cells["spread"])]
        there = np.unique(self.source[np.isin(self.place, apart) & (number >= 0)])
        return Distance(len(cells), float(ratio.max()) if len(cells) else 1.0, len(apart), tuple(there.tolist()))

    def copies(self, cells: Mapping[int, int]) -> dict[int, int]:
        """Files all of whose times are those of another one, to the last digit, and that other one.

        Parameters
        ----------
        cells
            Of each file that may be such a copy or what is copied, how many it measured.
        """
        order = np.lexsort((self.place, self.source))
        source, place, time = self.source[order], self.place[order], self.time[order]
        starts = np.searchsorted(source, list(cells)).tolist()
        ends = np.searchsorted(source, list(cells), side="right").tolist()
        rows = {each: slice(*ends_of) for each, *ends_of in zip(cells, starts, ends, strict=True)}
        alike: dict[tuple[int, float], list[int]] = {}
        for each, own_place, own_time in zip(source.tolist(), place.tolist(), time.tolist(), strict=True):
            alike.setdefault((own_place, own_time), []).append(each)
        copied: dict[int, int] = {}
        # The later of two that are alike, or whichever is a part of the other.
        for copy in sorted(cells, reverse=True):
            own_place, own_time = place[rows[copy]], time[rows[copy]]
            if own_place.size < max(_COPIED, cells[copy]):
                continue
            for of in alike[own_place[0], own_time[0]]:
                if of == copy or of in copied or of not in cells or (cells[of] <= cells[copy] and of > copy):
                    continue
                at = rows[of].start + np.searchsorted(place[rows[of]], own_place)
                at = np.minimum(at, rows[of].stop - 1)
                if np.array_equal(place[at], own_place) and np.array_equal(time[at], own_time):
                    copied[copy] = of
                    break
        return copied


def nearest_totals(rows: CollectiveRows) -> list[str]:
    """Leave out rows at totals that give the same block as another that is nearer to it, and say so.

    Reduce-scatters of 4, 8 and 16 bytes on 16 processes would all be of 1 byte, and their mean the time of no size.
    """
    parts, axes = rows.parts, Axes(rows)
    if not any(part.off is not None and part.off.any() for part in parts):
        return []
    off = [np.zeros(len(part.time), dtype=np.int64) if part.off is None else part.off for part in parts]
    frame = pd.DataFrame({"off": np.concatenate(off), "place": np.concatenate([axes.places(part) for part in parts])})
    nearest = (frame["off"] == frame.groupby("place")["off"].transform("min")).to_numpy()
    if nearest.all():
        return []
    _keep(rows, parts, nearest)
    count = int((~nearest).sum())
    why = "the processes do not divide their total size, and its block, rounded, is that of another total nearer to it"
    return [f"{rows.collective}: {count:,} rows are left out: {why}"]


def leave_to(rows: CollectiveRows, anew: int, others: Collection[int]) -> int:
    """Leave the points that one file has to it alone; how many of them others had."""
    axes = Axes(rows)
    own = np.concatenate([np.empty(0, np.int64), *(axes.places(p) for p in rows.parts if p.source == anew)])
    left: set[int] = set()
    for part in rows.parts:
        if part.source in others and (again := np.isin(places := axes.places(part), own)).any():
            left |= set(places[again].tolist())
            part.keep(~again)
    rows.parts = [part for part in rows.parts if len(part.time)]
    return len(left)


def cells_by_source(rows: CollectiveRows) -> dict[int, int]:
    """How many cells each file measured."""
    axes = Axes(rows)
    return {
        source: np.unique(np.concatenate([axes.places(part) for part in parts])).size
        for source, parts in rows.by_source().items()
    }


def unexplained(rows: CollectiveRows) -> Iterator[tuple[int, int, Distance]]:
    """Files with rows that measured the same and are not told to be repetitions.

    Yields
    ------
    tuple
        The file, how many of its rows repeat others to the last digit, and how far its rows are apart. The former are
        left out, but only where no cell has several rows that differ: repetitions of a measurement do somewhere.
    """
    axes = Axes(rows)
    for source, each in rows.by_source().items():
        parts = [part for part in each if not part.raw]
        place = np.concatenate([np.empty(0, np.int64), *map(axes.places, parts)])
        if len(pd.unique(place)) == len(place):
            continue
        frame = pd.DataFrame({"place": place, "time": np.concatenate([part.time for part in parts])})
        repeated = frame.duplicated("place").to_numpy()
        if frame["place"][repeated].nunique() >= _COPIED and (frame.duplicated().to_numpy() == repeated).all():
            _keep(rows, parts, ~repeated)
            yield source, int(repeated.sum()), Distance()
            continue
        cells = frame.groupby("place", sort=False)["time"].agg(["min", "max", "size"])
        ratio = (cells["max"] / cells["min"])[cells["size"] > 1]
        yield source, 0, Distance(len(ratio), float(ratio.max()), int((ratio >= APART).sum()))


def _keep(rows: CollectiveRows, parts: Sequence[Part], kept: npt.NDArray[np.bool_]) -> None:
    """Keep some rows of parts, which stand one after the other."""
    for part, own in zip(parts, np.split(kept, np.cumsum([len(each.time) for each in parts])[:-1]), strict=True):
        part.keep(own)
    rows.parts = [part for part in rows.parts if len(part.time)]


def means_by_source(rows: CollectiveRows, axes: Axes) -> Means:
    """Mean time in each file of the cells that were measured in more than one."""
    places = [axes.places(part) for part in rows.parts]
    first = np.full(axes.size, -1, dtype=np.int64)
    shared = np.zeros(axes.size, dtype=bool)
    for part, place in zip(rows.parts, places, strict=True):
        shared[place[(first[place] >= 0) & (first[place] != part.source)]] = True
        first[place] = np.where(first[place] < 0, part.source, first[place])
    kept = [(part, np.flatnonzero(shared[place])) for part, place in zip(rows.parts, places, strict=True)]
    frame = pd.DataFrame(
        {
            "place": np.concatenate([place[at] for place, (_, at) in zip(places, kept, strict=True)]),
            "source": np.repeat([part.source for part in rows.parts], [len(at) for _, at in kept]),
            "time": np.concatenate([part.time[at] for part, at in kept]),
            "std": np.concatenate(
                [np.zeros(len(at)) if part.time_std is None else np.nan_to_num(part.time_std[at]) for part, at in kept]
            ),
        }
    )
    each = frame.groupby(["place", "source"], sort=False)
    sources = each.agg(time=("time", "mean"), within=("time", "std"), std=("std", "max")).reset_index()
    std = np.maximum(sources["within"].fillna(0).to_numpy(), sources["std"].to_numpy())
    return Means(sources["place"].to_numpy(), sources["source"].to_numpy(), sources["time"].to_numpy(), std)
