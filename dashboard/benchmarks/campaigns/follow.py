"""A campaign as somebody watches it: its run file is read on from where it was, never from the start again.

Several sessions of one process that watch the same campaign share one `Following`, and so one reading of its file and
one question to its launcher.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.benchmarks.campaigns import control, limits
from dashboard.benchmarks.campaigns.campaign import STOPPED, Campaign, Done, points_of, refusal, samples_of, seconds_of
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import PointKey
from dashboard.benchmarks.ranks.again import can_repeat
from dashboard.decisions.measured.map import select_ppn
from dashboard.decisions.measured.trust import doubtful
from loaders import LoadError, disk, open_results
from loaders.cube import annotate, with_doubles
from loaders.doubles import Ran, doubles, ran

#: Lines kept of the log, and bytes of the run file taken in by one look.
LOG_LINES = 60
_MOST_BYTES = 32 << 20
#: A look within so many seconds of the last gives what that saw.
_FRESH_S = 0.3
#: Seconds for which what is left is counted down before it is worked out again.
_COUNT_DOWN_S = 3.0


@dataclass
class Tail:
    """Whole lines of a file that grows, each given once.

    A file that was replaced or has become shorter is read from its start: `restarted` then says so.
    """

    #: The file; it may not be there yet.
    path: Path
    #: Whether what was given before the last call counts no more.
    restarted: bool = False
    _at: int = 0
    _inode: int = -1

    def lines(self) -> Iterator[bytes]:
        """Give the lines that have come since the last call, at most some megabytes of them."""
        self.restarted = False
        try:
            with disk.opened(self.path) as stream:
                status = self.path.stat()
                if status.st_ino != self._inode or status.st_size < self._at:
                    self.restarted = self._at > 0
                    self._at, self._inode = 0, status.st_ino
                stream.seek(self._at)
                read = stream.read(_MOST_BYTES)
        except OSError:
            self.restarted, self._at = self._at > 0, 0
            return
        # What a line still lacks comes later.
        length = read.rfind(b"\n") + 1
        self._at += length
        yield from read[:length].splitlines()


@dataclass
class Filling:
    """The cube of one collective of a plan, as far as it is measured: its grid is the plan's from the start."""

    #: Of the plan.
    collective: str
    #: Gives methods and sizes.
    plan: Plan
    samples: dict[tuple[int, ...], dict[int, array[float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Where all is left out, there is nothing to be seen of any.
        self.methods = self.plan.timed[self.collective] or self.plan.methods[self.collective]
        self.sizes = (0,) if self.collective == "barrier" else self.plan.message_sizes
        self.ppns = self.plan.ppns if len(self.plan.ppns) > 1 else ()
        axes = (self.methods, self.plan.comm_sizes, self.sizes, self.ppns or (None,))
        self._places: list[dict[Any, int]] = [{value: at for at, value in enumerate(axis)} for axis in axes]
        shape = tuple(len(axis) for axis in axes)
        self._time, self._std, self._count = (np.full(shape, np.nan) for _ in range(3))
        self._ran_as = np.zeros(shape, dtype=np.int64)
        self._ran: dict[tuple[int, int, int], dict[int, Ran]] = {}
        self._unsettled: set[tuple[int, int, int]] = set()

    def add(self, key: PointKey, samples: list[float], record: Mapping[str, Any]) -> None:
        """Take a point in; one that was measured before is pooled, unless it was measured again for its times.

        Parameters
        ----------
        key, samples
            Which point, and its times in seconds; of several types of elements the first alone is shown.
        record
            As it stands in the run file.
        """
        _, method, comm_size, message_size, ppn, datatype, launch = key
        if datatype not in ("", self.plan.datatypes[0]):
            return
        wanted = (method, comm_size, message_size, ppn if self.ppns else None)
        if any(value not in places for value, places in zip(wanted, self._places, strict=True)):
            return
        place = tuple(places[value] for value, places in zip(wanted, self._places, strict=True))
        launches = self.samples.setdefault(place, {})
        if launch not in launches or "again" in record:
            launches[launch] = array("d")
        launches[launch].extend(samples)
        pooled = list(chain.from_iterable(launches.values()))
        # Plain Python: for the few samples of a point, arrays would take ten times as long.
        ordered, count = sorted(pooled), len(pooled)
        mean = math.fsum(ordered) / count
        squares = math.fsum((sample - mean) ** 2 for sample in ordered)
        self._time[place] = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
        self._std[place] = math.sqrt(squares / (count - 1)) if count > 1 else math.nan
        self._count[place] = count
        if (sent := ran(place[0], record)) is not None:
            cell = place[1], place[2], place[3]
            self._ran.setdefault(cell, {})[place[0]] = sent
            self._unsettled.add(cell)

    def _settle(self) -> None:
        """Find which methods ran as another one, in the cells where points have come."""
        for cell in self._unsettled:
            # In the order of the library, as the loader of run files has it.
            there = sorted(self._ran[cell].items(), key=lambda pair: self.methods[pair[0]].library_id or 0)
            here = self._ran_as[:, cell[0], cell[1], cell[2]]
            here[:] = 0
            for double, true in doubles([sent for _, sent in there]).items():
                here[cast("int", double)] = cast("int", true) + 1
        self._unsettled.clear()

    def cube(self) -> xr.Dataset:
        """Give the cube as `loaders.open_results` would, with all that is not measured yet as NaN."""
        dims = ("method", "comm_size", "message_size", *(("ppn",) if self.ppns else ()))
        arrays = {"time": self._time, "time_std": self._std, "repetitions": self._count}
        labels = [method.label for method in self.methods]
        coords: dict[str, Any] = {
            "method": np.array(labels),
            "algorithm": ("method", np.array([method.algorithm for method in self.methods])),
            "segment_size": ("method", np.array([method.segment_size for method in self.methods], dtype=np.int64)),
            "comm_size": np.array(self.plan.comm_sizes, dtype=np.int64),
            "message_size": np.array(self.sizes, dtype=np.int64),
        }
        if self.ppns:
            coords["ppn"] = np.array(self.ppns, dtype=np.int64)
        shape = self._time.shape if self.ppns else self._time.shape[:3]
        data = {name: (dims, values.reshape(shape).copy()) for name, values in arrays.items()}
        # Nobody looks this cube up by its digest, which would cost more than all the rest.
        cube = annotate(xr.Dataset(data, coords, {"collective": self.collective, "digest": ""}))
        self._settle()
        return with_doubles(cube, self._ran_as, ["", *labels]) if self._ran_as.any() else cube


@dataclass(frozen=True)
class Sight:
    """What one look at a campaign has seen."""

    #: As `dashboard.benchmarks.campaigns.control.status` gives it.
    status: Mapping[str, Any]
    #: Grows whenever points have come; another number means another map.
    points: int
    #: Last lines of what the ranks printed.
    log: tuple[str, ...]
    #: Why methods were not timed, in words, with the number of points, most first.
    refused: tuple[str, ...]
    #: Of an adaptive campaign how far the choice of points is (`Campaign.choices`), and ``ranks``; else empty.
    chosen: Mapping[str, Any] = field(default_factory=dict)


class Following:
    """One campaign, watched; safe to ask from several threads."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.plan = campaign.plan()
        self.stamp = campaign.plan_file.stat().st_mtime_ns
        self._cells = Counter((cell.collective, cell.ppn) for cell in self.plan.cells() if cell.launch == 1)
        self._planned = frozenset(self.plan.points())
        self._lock = threading.Lock()
        self._tails: dict[Path, Tail] = {}
        self._sight: Sight | None = None
        self._seen_at = 0.0
        self._points = 0
        self._start_anew()

    def _start_anew(self) -> None:
        self._fillings = {name: Filling(name, self.plan) for name in self.plan.methods}
        self._measured: set[PointKey] = set()
        self._refused: dict[PointKey, str] = {}
        self._seconds: dict[PointKey, float] = {}
        self._left: tuple[int, float | None, float] = (-1, None, 0.0)
        self._doubts: tuple[int, dict[str, pd.DataFrame]] = (-1, {})
        self._again: tuple[int, control.Doubtful] = (-1, control.NO_DOUBTS)

    def look(self) -> Sight:
        """See how it is now.

        Raises
        ------
        CampaignError
            When the folder holds no campaign any more.
        """
        with self._lock:
            if self._sight is None or time.monotonic() - self._seen_at > _FRESH_S:
                self._sight = self._seen()
                self._seen_at = time.monotonic()
            return self._sight

    def forget(self) -> None:
        """Have the next look see anew, however soon it comes."""
        with self._lock:
            self._sight = None

    def cells(self, collective: str, ppn: int | None) -> int:
        """Cells of a collective that the plan has; `ppn` None: of all numbers of processes per node."""
        return sum(n for (name, its), n in self._cells.items() if name == collective and ppn in (its, None))

    def cube(self, collective: str) -> xr.Dataset:
        """Give what is measured of a collective of the plan, by the last look."""
        with self._lock:
            return self._fillings[collective].cube()

    def doubtful(self, collective: str) -> pd.DataFrame:
        """Times of a collective that cannot be trusted, as `dashboard.decisions.measured.trust.doubtful`, with ``ppn``.

        Only all points together tell: the run files are read from their start, once for the points of the last look.
        """
        return self._known_doubts().get(collective, pd.DataFrame())

    @property
    def doubts(self) -> control.Doubtful:
        """Times of all collectives that cannot be trusted and can be measured again, and how long that takes."""
        if not can_repeat(self.plan, array=bool(self.campaign.parts())):
            return control.NO_DOUBTS
        with self._lock:
            points, doubts = self._again
            if points != self._points:
                points, doubts = self._again = self._points, control.doubts_of(self.campaign)
        return doubts

    def _known_doubts(self) -> dict[str, pd.DataFrame]:
        with self._lock:
            points, tables = self._doubts
            if points != self._points:
                points, tables = self._doubts = self._points, self._doubtful()
        return tables

    def _doubtful(self) -> dict[str, pd.DataFrame]:
        several = len(self.plan.datatypes) > 1
        try:
            tree = open_results(
                self.campaign.result_files(), select={"datatype": self.plan.datatypes[0]} if several else None
            )
        except LoadError:
            return {}
        cubes = {name: node.to_dataset() for name, node in tree.children.items()}
        tables = {name: doubtful(cube) for name, cube in cubes.items()}
        return {
            name: table if "ppn" in table else table.assign(ppn=select_ppn(cubes[name])[1])
            for name, table in tables.items()
        }

    def _seen(self) -> Sight:
        # First: points that come meanwhile are then more than the choice knew of, never fewer.
        chosen = {"ranks": self.plan.ranks, **self.campaign.choices()} if self.plan.goal is not None else {}
        while self._read_on():
            pass
        there = len(self._measured), len(self._refused)
        counted = control.Counted(sum(there) if self.campaign.settled(self.plan.goal) else len(self._planned), *there)
        status = control.status(self.campaign, counted=counted)
        if status["state"] in (*STOPPED, "planned"):
            status["remaining"] = self._remaining(0.0)
        elif self.plan.goal is not None and status["state"] == "running":
            status["remaining"] = limits.left_of_goal(self.campaign, self.plan.goal)
        elif status["remaining"] is not None:
            # Its first points are no measure of the others: those of large messages take hundreds of times as long.
            status["remaining"] = self._remaining(_COUNT_DOWN_S) or status["remaining"]
        refused = tuple(map(refusal, Done(frozenset(), self._refused).reasons))
        return Sight(status, self._points, tuple(self.campaign.tail(LOG_LINES)), refused, chosen)

    def _remaining(self, kept: float) -> float | None:
        """Seconds that a campaign will still take; worked out again when points have come, and counted down between.

        Parameters
        ----------
        kept
            Seconds for which it is counted down; 0 of a campaign that stands still.
        """
        points, left, at = self._left
        passed = time.monotonic() - at
        if points != self._points and (left is None or passed >= kept):
            done = Done(frozenset(self._measured), self._refused, self._seconds)
            left, passed = limits.left_of(self.campaign, self.plan, done), 0.0
            self._left = self._points, left, time.monotonic()
        return max(left - passed, 0.0) if left is not None and kept else left

    def _read_on(self) -> bool:
        """Take in what has come, some megabytes of each file; whether there was anything."""
        files = self.campaign.result_files()
        read = [(tail, list(tail.lines())) for tail in self._tails.values()]
        if any(tail.restarted for tail, _ in read):
            # Points of one file may be in another, too: all are read again.
            self._tails.clear()
            self._start_anew()
            self._points += 1
            read = []
        for file in [file for file in files if file not in self._tails]:
            self._tails[file] = Tail(file)
            read.append((self._tails[file], list(self._tails[file].lines())))
        for _, lines in read:
            self._take(lines)
        return any(lines for _, lines in read)

    def _take(self, lines: Iterable[bytes]) -> None:
        for key, record in points_of(lines):
            if key not in self._planned:
                continue
            self._points += 1
            if "error" in record and key not in self._measured:
                self._refused[key] = str(record["error"])
            elif samples := samples_of(record):
                self._measured.add(key)
                if (took := seconds_of(record)) is not None:
                    self._seconds[key] = took
                self._refused.pop(key, None)
                self._fillings[key[0]].add(key, samples, record)


_FOLLOWED: weakref.WeakValueDictionary[Path, Following] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()


def follow(folder: Path) -> Following:
    """Give the one that watches a folder, for as long as somebody holds it.

    Raises
    ------
    CampaignError
        When the folder holds no campaign.
    """
    with _LOCK:
        known, campaign = _FOLLOWED.get(folder), Campaign(folder)
        # A plan never changes, but a folder may have been removed, and another campaign made of the same name.
        if known is None or not campaign.plan_file.exists() or campaign.plan_file.stat().st_mtime_ns != known.stamp:
            known = _FOLLOWED[folder] = Following(campaign)
        return known
