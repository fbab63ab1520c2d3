"""How a job is launched, watched and cancelled: one interface, and the launcher of this machine.

A further scheduler is one more file with a class that has the methods of `Launcher`. What a launcher returns from
`start` is all it needs later, as JSON, so that a job can be watched and cancelled by another process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from dashboard.benchmarks import processes
from dashboard.benchmarks.campaign import read_json, write_json
from dashboard.benchmarks.errors import CampaignError

State = Literal["queued", "running", "finished", "failed", "cancelled", "timed out"]
#: Seconds that the ranks have to end by themselves, and that the supervisor then has to write down the end.
PATIENCE = 2.0
_SUPERVISOR_PATIENCE = 2 * PATIENCE + 2.0
_POLL_S = 0.02


@dataclass(frozen=True)
class Job:
    """What is launched.

    Attributes
    ----------
    folder
        Where the launcher keeps its files.
    ranks
        Number of processes.
    program
        Argument list that every rank runs.
    environment
        Variables set beside those of the launching process.
    seconds
        Time limit; the job is ended then.
    log
        File that takes what the ranks print.
    """

    folder: Path
    ranks: int
    program: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: float
    log: Path


@dataclass(frozen=True)
class Status:
    """State of a job, with the reason in words where there is one, and the exit code once it has ended."""

    state: State
    reason: str = ""
    exit_code: int | None = None


class Launcher(Protocol):
    """Where jobs run."""

    @property
    def name(self) -> str:
        """What it is called in a campaign's state."""

    def start(self, job: Job) -> dict[str, Any]:
        """Launch a job and return at once with what `status` and `cancel` need."""

    def status(self, handle: Mapping[str, Any]) -> Status:
        """State of a job that was launched, perhaps by another process."""

    def cancel(self, handle: Mapping[str, Any]) -> Status:
        """End a job with all its ranks; returns when they are gone."""


@dataclass(frozen=True)
class LocalLauncher:
    """Jobs on this machine, each under a supervisor that holds its time limit and writes down how it ended.

    Attributes
    ----------
    mpiexec
        Start command with its options; ``-n RANKS`` and the program follow.
    """

    mpiexec: tuple[str, ...] = ("mpiexec",)
    name: str = field(default="local", init=False)

    def start(self, job: Job) -> dict[str, Any]:
        """Start a supervisor in a session of its own, so that it outlives this process."""
        mark = uuid.uuid4().hex
        folder = job.folder / "jobs"
        folder.mkdir(exist_ok=True)
        order, end = folder / f"{mark}.json", folder / f"{mark}-end.json"
        command = [*self.mpiexec, "-n", str(job.ranks), *job.program]
        write_json(
            order,
            {"mark": mark, "command": command, "environment": dict(job.environment), "seconds": job.seconds}
            | {"log": str(job.log), "end": str(end)},
        )
        # No Popen: nobody may be there any more to wait for it when it ends.
        command = [sys.executable, "-m", "dashboard.benchmarks.supervise", str(order)]
        with job.log.open("ab") as log, Path(os.devnull).open("r+b") as nothing:
            streams = [(os.POSIX_SPAWN_DUP2, source.fileno(), n) for n, source in enumerate((nothing, nothing, log))]
            pid = os.posix_spawn(command[0], command, own_environment(), file_actions=streams, setsid=True)
        _children.append(pid)
        started = processes.started_at(pid)
        return {"mark": mark, "pid": pid, "started": started, "end": str(end), "order": str(order)}

    def status(self, handle: Mapping[str, Any]) -> Status:
        """State by what the supervisor wrote; a supervisor that is gone without a word has failed."""
        _reap()
        if ended := _ended(handle):
            return ended
        if processes.alive(handle["pid"], handle["started"]):
            return Status("running")
        # It may have written its last word between the two looks.
        if ended := _ended(handle):
            return ended
        processes.end_marked(handle["mark"], PATIENCE)
        return _write_end(handle, Status("failed", "what watched over the job was killed; its ranks were ended"))

    def cancel(self, handle: Mapping[str, Any]) -> Status:
        """Ask the supervisor to end the job; without one, end the ranks from here."""
        if ended := _ended(handle):
            return ended
        if processes.alive(handle["pid"], handle["started"]):
            processes.send([handle["pid"]], signal.SIGTERM)
        until = time.monotonic() + _SUPERVISOR_PATIENCE
        while processes.alive(handle["pid"], handle["started"]) and time.monotonic() < until:
            _reap()
            time.sleep(_POLL_S)
        if processes.alive(handle["pid"], handle["started"]):
            processes.send([handle["pid"]], signal.SIGKILL)
        left = processes.end_marked(handle["mark"], PATIENCE)
        if left:
            raise CampaignError(f"processes {left} of the job cannot be ended; end them by hand")
        return _ended(handle) or _write_end(handle, Status("cancelled", "cancelled"))


#: Supervisors that this process started: they must be waited for, or they stay as zombies.
_children: list[int] = []


def _reap() -> None:
    for pid in list(_children):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                continue
        _children.remove(pid)


def _ended(handle: Mapping[str, Any]) -> Status | None:
    record = read_json(Path(handle["end"]))
    return Status(record["state"], record["reason"], record["exit_code"]) if record else None


def _write_end(handle: Mapping[str, Any], status: Status) -> Status:
    write_json(Path(handle["end"]), asdict(status))
    return status


def own_environment() -> dict[str, str]:
    """Environment in which this package can be imported, whether it is installed or run from its checkout."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def read_order(path: Path) -> dict[str, Any]:
    """What a supervisor was told to run."""
    order: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return order
