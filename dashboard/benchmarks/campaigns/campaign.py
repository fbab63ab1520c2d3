"""A campaign's folder: the plan, the results as they come, how far it is, and how it ended.

::

    plan.json      what is measured; never changed once there are results, but for the goal of an adaptive one
    safety.jsonl   what became of calling its methods in every way, see `dashboard.benchmarks.safety`
    results.jsonl  colltune's own run format, see `loaders.run`
    progress.json  written by the worker: points done and to do, what it does now
    state.json     written by what started it: launcher, its handle, attempt, time limit
    chosen.json    of an adaptive campaign: expected loss, seconds spent, and why it ended
    log.txt        what the ranks printed
    jobs/          what each launch was told, and how it ended
    .lock          held while it is started
    parts/N/       the same files for the job N of an array: it measures the N-th communicator size

Everything survives the end of whatever started it; nothing is held in memory only.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.adaptive.goal import Goal
from dashboard.benchmarks.campaigns.confined import PARTS, own_path
from dashboard.benchmarks.campaigns.plan import Plan, missing, point_key
from dashboard.benchmarks.campaigns.protocol import Cell, PointKey
from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks.selection import is_verbose
from dashboard.domain.units import format_count, format_names
from loaders import disk

STOPPED = ("failed", "cancelled", "timed out")
ENDED = ("finished", *STOPPED)
UNDER_WAY = ("queued", "running")
#: All states that a campaign can be in.
STATES = ("planned", *UNDER_WAY, *ENDED)
#: File by which a folder of `colltune tune` is known.
_OF_TUNING = "asked.json"
#: What the worker of a part writes when nothing is missing any more.
_ALL = "complete"
#: Methods of one reason for refusing that are named.
_NAMED = 3


@dataclass(frozen=True)
class Done:
    """Points of a run file: measured ones, those that were refused or wrong with the reason, and seconds they took."""

    measured: frozenset[PointKey]
    refused: Mapping[PointKey, str]
    seconds: Mapping[PointKey, float] = field(default_factory=dict)

    @property
    def all(self) -> set[PointKey]:
        """All that need not be measured any more."""
        return set(self.measured) | set(self.refused)

    @property
    def reasons(self) -> list[dict[str, Any]]:
        """Why methods were refused or wrong: each ``reason`` with its ``points`` and all ``methods``, most first."""
        methods: dict[str, dict[str, None]] = {}
        for (collective, method, *_), why in self.refused.items():
            methods.setdefault(why, {})[f"{collective} {method.label}"] = None
        counts = Counter(self.refused.values()).most_common()
        return [{"reason": why, "points": count, "methods": list(methods[why])} for why, count in counts]


def refusal(each: Mapping[str, Any]) -> str:
    """One of `Done.reasons` in words, which name some of its methods."""
    return f"{each['points']:,} × {format_names(each['methods'], _NAMED)}: {each['reason']}"


class _File:
    """Path of a file of a campaign, which stays in its folder."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, campaign: Campaign, _: type[Campaign]) -> Path:
        return own_path(campaign.folder, self._name)


@dataclass(frozen=True)
class Campaign:
    """The folder of one campaign."""

    folder: Path
    plan_file = _File("plan.json")
    results = _File("results.jsonl")
    safety = _File("safety.jsonl")
    progress_file = _File("progress.json")
    state_file = _File("state.json")
    chosen = _File("chosen.json")
    log = _File("log.txt")
    lock = _File(".lock")

    @classmethod
    def create(cls, folder: Path, plan: Plan) -> Campaign:
        """Make the folder with its plan.

        Raises
        ------
        CampaignError
            When it holds another plan, or cannot be written.
        """
        campaign = cls(folder)
        if (folder / _OF_TUNING).exists():
            raise CampaignError(f"{folder} holds a tuning; its campaign is {folder / 'measure'}")
        if campaign.plan_file.exists():
            if campaign.plan() == plan:
                return campaign
            if campaign.began and not campaign.takes(plan):
                raise CampaignError(f"{folder} holds another plan; resume that one, or name another folder")
        try:
            with disk.made(folder):
                write_json(campaign.plan_file, plan.to_json())
        except OSError as error:
            raise CampaignError(f"{folder} cannot be written: {error.strerror or error}") from error
        return campaign

    def takes(self, plan: Plan) -> bool:
        """Whether its plan is this one, but for the goal of an adaptive one."""
        known = self.plan()
        return plan == (known if plan.goal is None else replace(known, goal=plan.goal))

    @property
    def began(self) -> bool:
        """Whether anything of it was ever started or measured; its plan stands then, but for its goal."""
        return self.state_file.exists() or bool(self.result_files())

    def settled(self, goal: Goal | None) -> bool:
        """Whether it is adaptive and has measured all that this goal asks for; not where its results are gone."""
        record = self.choices() if goal is not None and self.result_files() else {}
        return goal is not None and bool(record.get("ended")) and Goal.from_json(record.get("goal")) == goal

    def complete(self) -> bool:
        """Whether it has all points of its plan or, of an adaptive one, all that it chose."""
        plan = self.plan()
        return self.settled(plan.goal) or not missing(plan, self.done().all)

    def planned_again(self) -> bool:
        """Whether it is adaptive, and points were last chosen for another goal than its plan has by now."""
        record = self.choices()
        return bool(record) and Goal.from_json(record.get("goal")) != self.plan().goal

    def choices(self) -> dict[str, Any]:
        """How far the choice of points is, of an adaptive campaign; of an array, what its last job to choose knew.

        Seconds and steps are those of all jobs; ``ended`` says why the last one did, once all have with its goal. Empty
        when nothing was chosen yet.
        """
        own = read_json(self.chosen)
        records = [record for part in self.parts() if (record := read_json(part.chosen))]
        last = max([own, *records], key=lambda record: record.get("written", 0.0))
        if last is own:
            return own
        sums = {
            name: sum(record.get(name, 0) for record in records) for name in ("spent", "points", "steps", "choosing")
        }
        ended = [record for record in records if record.get("ended") and record.get("goal") == last["goal"]]
        if len(ended) < len(self.plan().comm_sizes):
            # What one of them has ended with says nothing of the others.
            return {**last, **sums, "ended": "", "decided": False}
        return {**last, **sums}

    def plan(self) -> Plan:
        """Read the plan.

        Raises
        ------
        CampaignError
            When there is none, or it cannot be read.
        """
        try:
            return Plan.from_json(disk.read_json(self.plan_file))
        except FileNotFoundError:
            raise CampaignError(f"{self.folder} is no campaign: it holds no plan.json (make one: bench plan)") from None
        except (OSError, ValueError) as error:
            if isinstance(error, PlanError):
                raise CampaignError(f"{self.plan_file}: {error}") from error
            why = getattr(error, "strerror", None) or error
            raise CampaignError(f"{self.plan_file} cannot be read: {why}") from error

    def part(self, index: int, ppn: int | None = None) -> Campaign:
        """Campaign of the job of an array that measures the communicator size of this index; made if need be.

        Parameters
        ----------
        ppn
            Ranks that are started on each node; None: not known.
        """
        plan = self.plan()
        size = plan.comm_sizes[index]
        # Communicators with a number of processes per node are chosen among the ranks of as many nodes as they need.
        nodes = max((size // each for each in plan.ppns if size % each == 0), default=1)
        ranks = min(plan.ranks, nodes * ppn if ppn else plan.ranks) if plan.ppns else size
        only = {name: tuple(point for point in each if point[0] == size) for name, each in plan.only.items()}
        own = replace(plan, ranks=ranks, comm_sizes=(size,), only=only)
        return Campaign.create(own_path(self.folder, PARTS, str(index)), own)

    def parts(self) -> list[Campaign]:
        """Campaigns of the jobs of an array, as far as there are any, by their index."""
        if not (parts := own_path(self.folder, PARTS)).is_dir():
            return []
        names = sorted((path.name for path in parts.iterdir() if path.name.isdecimal()), key=int)
        return [Campaign(own_path(self.folder, PARTS, name)) for name in names]

    def root(self) -> Campaign:
        """Campaign that this is a part of; itself when it is none."""
        parent = Campaign(self.folder.parent.parent)
        return parent if self.folder.parent.name == PARTS and parent.plan_file.exists() else self

    def result_files(self) -> list[Path]:
        """Run files that there are, of all parts."""
        return [campaign.results for campaign in (self, *self.parts()) if campaign.results.exists()]

    def done(self) -> Done:
        """What the results hold already; a part knows what the whole campaign has."""
        shares = [read_done(path) for path in self.root().result_files()]
        measured = frozenset[PointKey]().union(*(share.measured for share in shares))
        refused = {key: why for share in shares for key, why in share.refused.items() if key not in measured}
        return Done(measured, refused, {key: took for share in shares for key, took in share.seconds.items()})

    def retry_refused(self) -> int:
        """Forget the points that were refused or wrong, so that they are measured again; how many they were."""
        count = 0
        for path in self.result_files():
            with disk.opened(path) as stream:
                lines = stream.readlines()
            kept = [line for line in lines if not any("error" in record for record in disk.records([line]))]
            if len(kept) < len(lines):
                count += len(lines) - len(kept)
                disk.write_bytes(path, b"".join(kept))
        if self.state_file.exists():
            write_json(self.state_file, {**self.state(), "suspects": {}})
        return count

    def progress(self, over: Collection[str] = ()) -> dict[str, Any]:
        """What the worker wrote last, or the sum of what those of all parts did; empty when nothing.

        Parts that are `over`, by their numbers, do nothing ``now``, however their workers ended.
        """
        reports = [
            {**report, "now": ""} if campaign.folder.name in over else report
            for campaign in (self, *self.parts())
            if (report := read_json(campaign.progress_file))
        ]
        if len(reports) < 2:
            return reports[0] if reports else {}
        at_work = [report for report in reports if not report["ended"]]
        answer: dict[str, Any] = {name: sum(report[name] for report in reports) for name in ("done", "points")}
        answer["elapsed"] = max(report["elapsed"] for report in reports)
        answer["attempt"] = max(report["attempt"] for report in reports)
        answer["now"] = "; ".join(dict.fromkeys(report["now"] for report in at_work if report["now"]))
        reasons = [report["ended"] for report in reports]
        answer["ended"] = "" if at_work else next((reason for reason in reasons if reason != _ALL), _ALL)
        answer["nodes"] = next((report["nodes"] for report in reports if report.get("nodes")), [])
        answer["calling"] = next((report["calling"] for report in at_work if report.get("calling")), None)
        return answer

    def quiet(self) -> float:
        """Seconds since a worker last wrote its progress; 0 where none did."""
        written = []
        for campaign in (self, *self.parts()):
            # Another process may take them away meanwhile.
            with suppress(FileNotFoundError):
                written.append(campaign.progress_file.stat().st_mtime)
        return round(max(0.0, time.time() - max(written, default=math.inf)), 1)

    def forget_progress(self) -> None:
        """Take away what earlier workers wrote of their progress."""
        for campaign in (self, *self.parts()):
            campaign.progress_file.unlink(missing_ok=True)

    def state(self) -> dict[str, Any]:
        """How it was started and ended; ``{"state": "planned"}`` when it never was."""
        return read_json(self.state_file) or {"state": "planned"}

    def tail(self, lines: int = 20, *, of_attempt: bool = False, since: Mapping[str, int] | None = None) -> list[str]:
        """Last lines of the log, all or those of the last attempt, or `since` as `logged`; a part's bear its number.

        What the library says because it was asked whom it selects is left out; all lines begin with how much that is.
        """
        if since is None:
            since = self.state().get("logged", {}) if of_attempt else {}
        logs = [("", self.log), *((part.folder.name, part.log) for part in self.parts())]
        last, verbose = [], 0
        for name, log in logs:
            every = disk.tail(log, sys.maxsize, since.get(name, 0))
            kept = [line for line in every if not is_verbose(line)]
            verbose += len(every) - len(kept)
            last += [f"[{name}] {line}" if name else line for line in kept[-lines:]]
        note = f"({format_count(verbose, 'line')} left out: what the library says of its components)"
        return [note, *last] if verbose and not of_attempt else last

    def logged(self) -> dict[str, int]:
        """Bytes of the log, and of those of the parts by their numbers, so that an attempt knows where it began."""
        return {"": disk.size(self.log)} | {part.folder.name: disk.size(part.log) for part in self.parts()}


def read_done(results: Path) -> Done:
    """Points of a run file, whole lines only; a line that a crash cut off counts as not measured."""
    measured: set[PointKey] = set()
    refused: dict[PointKey, str] = {}
    seconds: dict[PointKey, float] = {}
    for key, record in points_of(disk.read_lines(results)):
        if "error" in record:
            refused[key] = str(record["error"])
        elif record.get("samples"):
            measured.add(key)
            # Campaigns of earlier versions do not say it.
            if (took := seconds_of(record)) is not None:
                seconds[key] = took
    return Done(frozenset(measured), {key: why for key, why in refused.items() if key not in measured}, seconds)


def points_of(lines: Iterable[str | bytes]) -> Iterator[tuple[PointKey, dict[str, Any]]]:
    """Points among the lines of a run file, each with what tells it from all others; other lines are passed over."""
    for record in disk.records(lines):
        try:
            key = key_of(record)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        yield key, record


def samples_of(record: Mapping[str, Any]) -> list[float]:
    """Seconds of a point's repetitions; none where they are no numbers."""
    try:
        return [float(sample) for sample in record.get("samples") or ()]
    except (ValueError, TypeError):
        return []


def key_of(record: Mapping[str, Any]) -> PointKey:
    """What tells a point of a run file from all others; a record that is no point raises KeyError or the like."""
    sizes = (record["comm_size"], record["message_size"], record.get("ppn"))
    cell = Cell(record["collective"], *sizes, record.get("launch") or 1, record.get("element_type") or "")
    return point_key(cell, Method.from_json(record))


def seconds_of(record: Mapping[str, Any]) -> float | None:
    """Seconds that a point of a run file took, with all that is done around its repetitions; None: it does not say."""
    took = record.get("seconds")
    return float(took) if isinstance(took, int | float) and 0 < took < math.inf else None


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a file that is whole at every moment, whoever reads it."""
    disk.write_text(path, json.dumps(record, allow_nan=False, indent=1))


def read_json(path: Path) -> dict[str, Any]:
    """Read such a file; empty when it is not there or no object."""
    try:
        record = disk.read_json(path)
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
