"""The folder of one online tuning: table, library, traces, data set and models; each step can be taken again.

``loop.json`` holds what was chosen at the start and the table of methods; ``traces/`` what programs leave behind;
``online.parquet`` all timings that were taken in, by run, so that none counts twice; ``models/N.model`` what was learnt
in iteration N, ``current.model`` the newest; ``progress.jsonl`` one line for each training.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.online.errors import OnlineError
from dashboard.online.learn import summarise
from dashboard.online.model_file import save
from dashboard.online.noted import counted, why_none
from dashboard.online.selection import Blocked, SelectionModel, learn
from dashboard.online.settings import Learning
from dashboard.online.table import AlgTable
from loaders import LoadError, disk
from loaders.online import DATA_NAME, read_data, read_file, run_of, siblings, totals_of, write_data
from loaders.source import Source

_FORMAT = 1
_RUN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
#: Seconds after which a run that never told its end is taken for ended.
SETTLED_S = 300.0


@dataclass
class Collected:
    """What became of traces."""

    #: Taken in now.
    runs: list[str] = field(default_factory=list)
    #: Of these.
    timings: int = 0
    #: Files that cannot be used, and why.
    skipped: dict[str, str] = field(default_factory=dict)
    #: Runs that go on.
    waiting: list[str] = field(default_factory=list)
    #: What was left out of runs that were taken.
    notes: list[str] = field(default_factory=list)

    def left_out(self, settled: float = SETTLED_S) -> list[str]:
        """What was not taken in and why, with what helps; files of one reason together, `settled` as in `collect`."""
        files: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            files.setdefault(why, []).append(name)
        lines = [f"{', '.join(names)}: left out: {why}" for why, names in files.items()]
        if self.waiting:
            under_way = (
                f"runs that go on, or ended less than {settled:g} s ago without saying so: {', '.join(self.waiting)}"
            )
            lines.append(f"{under_way}; train again later, or with --settled 0 to take in what is written")
        return lines


@dataclass(frozen=True, eq=False)
class Folder:
    """One online tuning."""

    path: Path
    table: AlgTable
    #: Nodes, and cores per node.
    machine: tuple[int, int]
    learning: Learning
    blocked: tuple[Blocked, ...] = ()

    @property
    def traces(self) -> Path:
        """Where programs leave their traces."""
        return self.path / "traces"

    @property
    def model(self) -> Path:
        """The newest model."""
        return self.path / "current.model"

    @property
    def data(self) -> Path:
        """The data set."""
        return self.path / DATA_NAME

    @property
    def progress(self) -> list[dict[str, Any]]:
        """One record for each training."""
        return read_lines(self.path / "progress.jsonl", _check_progress)

    def save(self) -> None:
        """Make the folder, or keep what was changed in it."""
        for name in ("traces", "models"):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        data = {
            "colltune_online": _FORMAT,
            "machine": {"nodes": self.machine[0], "ppn": self.machine[1]},
            "learning": self.learning.to_dict(),
            "blocked": [vars(each) for each in self.blocked],
            "table": self.table.to_dict(),
        }
        disk.write_text(self.path / "loop.json", json.dumps(data, indent=1) + "\n")

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Read what `save` wrote.

        Raises
        ------
        OnlineError
            There is none, or it is damaged.
        """
        file = path / "loop.json"
        try:
            data = disk.read_json(file)
            if data["colltune_online"] == _FORMAT:
                machine = (int(data["machine"]["nodes"]), int(data["machine"]["ppn"]))
                blocked = tuple(Blocked(**each) for each in data["blocked"])
                return cls(path, AlgTable.from_dict(data["table"]), machine, Learning.of(data["learning"]), blocked)
        except OSError as error:
            reason = error.strerror or error
            raise OnlineError(f"{file}: cannot be read: {reason}; 'colltune online init' makes the folder") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise OnlineError(f"{file}: is damaged: {error!r:.200}") from None
        raise OnlineError(f"{file}: is of version {data['colltune_online']}, expected {_FORMAT}")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder; OnlineError when another process learns in it."""
        with disk.locked(self.path / ".lock") as lock:
            if lock is None:
                raise OnlineError(f"{self.path}: another colltune online works in it; wait for its end")
            yield

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Keep a name for a new run, by which its traces are known; OnlineError where it cannot have it."""
        if not _RUN.fullmatch(name):
            raise OnlineError(
                f"{name!r} is no name of a run: letters, digits, '_', '-' and '.', which is not the first"
            )
        calls = self.calls()
        taken_in = len(calls) and name in set(calls["run"])
        taken = taken_in or totals_of(self.traces, name).exists() or any(self.traces.glob(f"{name}.*.trace"))
        with ExitStack() as stack:
            # Who may not write there leaves no traces, and is told.
            with suppress(OSError):
                self.traces.mkdir(exist_ok=True)
                lock = self.traces / f".{name}.lock"
                if not (taken := taken or stack.enter_context(disk.locked(lock)) is None):
                    stack.callback(lock.unlink, missing_ok=True)
            if taken:
                raise OnlineError(f"{self.path} has a run {name} already; give another name")
            yield

    def calls(self) -> pd.DataFrame:
        """All timings taken in so far; ``run, mode, iteration`` beside the columns of `loaders.online.run_of`."""
        return read_data(self.data)[0] if self.data.exists() else pd.DataFrame()

    def collect(self, settled: float = SETTLED_S, *, traces: Path | None = None) -> Collected:
        """Take in the runs whose traces are whole; they belong to the iteration that is trained next.

        Parameters
        ----------
        settled
            Seconds since the last record after which a run without an end is taken all the same.
        traces
            Another folder of traces.
        """
        former = self.calls()
        known = set(former["run"]) if len(former) else set()
        iteration = len(self.progress) + 1
        report, parts = Collected(), []
        for first in sorted({siblings(file)[0] for file in (traces or self.traces).glob("*.trace")}):
            taken = self._taken(first, known, settled, report)
            if taken is not None:
                parts.append(taken.assign(iteration=iteration))
                known.add(str(taken["run"].iloc[0]))
                report.runs.append(str(taken["run"].iloc[0]))
        if parts:
            new = pd.concat(parts, ignore_index=True)
            everything = pd.concat([former, new], ignore_index=True) if len(former) else new
            write_data(self.data, everything, self.table.listed, self.table.digest)
            report.timings = len(new)
            report.notes.extend(self._beyond(new))
        return report

    def _beyond(self, calls: pd.DataFrame) -> Iterator[str]:
        """Say where calls are of more nodes, or processes on a node, than regular bins tell apart."""
        if self.learning.bins != "regular":
            return
        words = {"nodes": ("nodes", "--nodes"), "ppn": ("processes per node", "--cores")}
        for (name, (what, option)), most in zip(words.items(), self.machine, strict=True):
            if (largest := int(calls[name].max())) > most:
                yield (
                    f"calls with up to {largest} {what}, of which this folder tells no more than {most} apart: they "
                    f"get the method of {most}; 'colltune online init' makes a folder with {option} {largest}"
                )

    def _taken(self, first: Path, known: set[str], settled: float, report: Collected) -> pd.DataFrame | None:
        """The calls of a run; None where it cannot be taken, or not yet, which the report says."""
        source = Source(first)
        files = siblings(first)
        try:
            header = _header(files)
            run = str(header["run"])
            if run in known:
                return None
            self._check(header, first)
            last = max(file.stat().st_mtime for file in files)
            if not totals_of(first.parent, run).exists() and time.time() - last < settled:
                report.waiting.append(run)
                return None
            header, calls = run_of(source)
        except LoadError as error:
            report.skipped[first.name] = str(error)
            return None
        if not len(calls):
            report.skipped[first.name] = "; ".join([*source.warnings, why_none(source, header)])
            return None
        report.notes.extend(f"{first.name}: {note}" for note in (*source.notes, *counted(source)))
        return calls.assign(run=run, mode=str(header.get("mode", "tuning")))

    def _check(self, header: Mapping[str, Any], file: Path) -> None:
        """Raise `LoadError` where a trace is of other methods or another library than the folder."""
        if header["table"] != self.table.digest:
            raise LoadError(f"is of the table {header['table']}, this folder of {self.table.digest}", path=file)
        if (version := header.get("library_version")) != self.table.version:
            raise LoadError(f"is of Open MPI {version}, this folder of {self.table.version}", path=file)

    def train(self, left_out: Sequence[str] = ()) -> SelectionModel:
        """Learn from all that was taken in; the newest model is replaced when the new one is whole.

        Parameters
        ----------
        left_out
            What was not taken in and why, for the error.

        Raises
        ------
        OnlineError
            Nothing was taken in.
        """
        calls = self.calls()
        if not len(calls):
            why = "; ".join(left_out) or "run programs in mode tuning first"
            raise OnlineError(f"{self.path}: there are no timings to learn from: {why}")
        cells = pd.concat([summarise(part, self.learning.longest) for _, part in calls.groupby("iteration", sort=True)])
        iteration = int(calls["iteration"].max())
        provenance = {"iteration": iteration, "timings": len(calls), "library": self.table.library}
        model = learn(
            cells, self.table, self.learning, machine=self.machine, blocked=self.blocked, provenance=provenance
        )
        (self.path / "models").mkdir(exist_ok=True)
        save(model, self.path / "models" / f"{iteration}.model")
        save(model, self.model)
        learnt = {name: int(np.isfinite(choice.times[0]).sum()) for name, choice in model.choices.items()}
        record = {**provenance, "runs": int(calls["run"].nunique()), "learnt": learnt}
        if iteration > len(self.progress):
            append_line(self.path / "progress.jsonl", record, _check_progress)
        return model


def _header(files: list[Path]) -> Mapping[str, Any]:
    """That of the first file whose header can be read."""
    error: LoadError | None = None
    for file in files:
        try:
            return read_file(file)[0]
        except LoadError as fault:
            error = error or fault
    raise error or LoadError("there are no traces")


def _check_progress(record: Mapping[str, Any]) -> None:
    """Raise where it is no record of a training."""
    _ = [index(each) for each in (record["iteration"], record["timings"], record["runs"], *record["learnt"].values())]


def read_lines(path: Path, check: Callable[[Mapping[str, Any]], None]) -> list[dict[str, Any]]:
    """Records of JSON, one a line; a last line that a crash cut off is not there.

    Parameters
    ----------
    check
        Raises for a record that is none.

    Raises
    ------
    OnlineError
        A line is damaged.
    """
    if not path.exists():
        return []
    records: list[dict[str, Any]] = []
    text = disk.read_text(path, errors="replace")
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            record = disk.json_of(line)
            check(record)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise OnlineError(f"{path}:{number}: is damaged ({error!r:.100}); remove the line") from None
        records.append(record)
    return records


def append_line(path: Path, record: Mapping[str, Any], check: Callable[[Mapping[str, Any]], None]) -> None:
    """Add a record; what is there already is written again with it, whole or not at all. Others as `read_lines`."""
    records = [*read_lines(path, check), dict(record)]
    disk.write_text(path, "".join(json.dumps(each) + "\n" for each in records))
