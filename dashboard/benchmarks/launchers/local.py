"""The launcher of this machine: each job under a supervisor of its own, which outlives who started it."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import shlex
import signal
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dashboard.benchmarks.allowed import memory
from dashboard.benchmarks.campaigns.campaign import read_json, write_json
from dashboard.benchmarks.campaigns.confined import jobs_folder
from dashboard.benchmarks.errors import CampaignError, NotLaunchedError
from dashboard.benchmarks.launchers import processes, template
from dashboard.benchmarks.launchers.launch import (
    PATIENCE,
    SUPERVISOR,
    Job,
    Status,
    end_of,
    own_environment,
    read_end,
    supervised,
    supervisor_of,
    write_order,
)
from dashboard.benchmarks.libraries.own_settings import allocated_nodes
from loaders import disk

_SUPERVISOR_PATIENCE = 2 * PATIENCE + 2.0
_POLL_S = 0.02
#: Bytes of a rank's own that its interpreter and the MPI library take, whatever is called.
_RANK_BYTES = 24 << 20
#: Seconds that a supervisor has to come up before it is said never to have run.
_START_S = 10.0


@dataclass(frozen=True)
class LocalLauncher:
    """Jobs on this machine, each under a supervisor that holds its time limit and writes down how it ended."""

    #: Start command with its options, as `dashboard.benchmarks.launchers.template` has it.
    mpiexec: tuple[str, ...] = ("mpiexec",)
    #: Processes on each node, for a start command that asks for them.
    ppn: int | None = None
    #: See `Launcher`.
    folder: str = ""
    #: Of the site, see `dashboard.benchmarks.launchers.site.Site.environment`.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Its file; empty: there was none.
    site: str = field(default="", compare=False)
    name: str = field(default="local", init=False)
    array: int = field(default=0, init=False)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> LocalLauncher:
        """Make the launcher that `record` is of."""
        if "mpiexec" not in record:
            return cls()
        further = {"variables": record.get("variables", {}), "site": record.get("site", "")}
        return cls(tuple(record["mpiexec"]), record.get("ppn"), **further)

    def record(self) -> dict[str, Any]:
        """What `from_record` makes the same launcher of, as JSON."""
        further = {"ppn": self.ppn, "variables": dict(self.variables), "site": self.site}
        return {"name": self.name, "mpiexec": list(self.mpiexec)} | {key: it for key, it in further.items() if it}

    def limit(self, seconds: float) -> float:
        """Time limit as it is."""
        return seconds

    @property
    def here(self) -> bool:
        """Not where an allocation has several nodes, or the start command has options."""
        return allocated_nodes() == 1 and len(self.mpiexec) == 1

    def nodes(self, ranks: int) -> int | None:
        """Nodes of so many ranks: this one, or as many as a start command that places them needs."""
        if self.here:
            return 1
        places = any("{ppn}" in word for word in self.mpiexec)
        return math.ceil(ranks / self.ppn) if self.ppn and places else None

    def command(self, job: Job) -> list[str]:
        """Argument list that runs a job."""
        return template.filled(self.mpiexec, job.ranks, self.ppn, job.program)

    def prepare(self, jobs: Sequence[Job]) -> dict[str, Any]:
        """Write the order for the supervisor; CampaignError where this machine has no room for the ranks."""
        (job,) = jobs
        held = memory() if self.here else None
        if held is not None and job.ranks * _RANK_BYTES > held:
            needed = f"{job.ranks:,} ranks take at least {job.ranks * _RANK_BYTES / 2**30:,.1f} GiB"
            raise CampaignError(f"{needed}; {held / 2**30:,.1f} GiB are to be used here: start fewer (--ranks)")
        mark = uuid.uuid4().hex
        order = write_order(jobs_folder(job.folder) / f"{mark}.json", job, mark)
        return {
            "mark": mark,
            "order": str(order),
            "command": self.command(job),
            "host": platform.node(),
            "prepared": time.time(),
        }

    def preview(self, jobs: Sequence[Job]) -> str:
        """Command lines with the variables that are set: for all starts, then for each in its line."""
        lines = _assignments(jobs[0].environment)
        for job in jobs:
            for start in job.starts:
                command = shlex.join([*self.command(job), *start.arguments])
                lines.append(" ".join([*_assignments(start.environment), command]))
        return "\n".join(lines)

    def launch(self, handle: Mapping[str, Any]) -> None:
        """Start a supervisor in a session of its own, so that it outlives this process."""
        # No Popen: nobody may be there any more to wait for it when it ends.
        order = Path(handle["order"])
        command, log_file = supervised(order, handle["command"]), Path(disk.read_json(order)["log"])
        try:
            with disk.appended(log_file) as log, Path(os.devnull).open("r+b") as nothing:
                to = enumerate((nothing, nothing, log))
                streams = [(os.POSIX_SPAWN_DUP2, source.fileno(), number) for number, source in to]
                pid = _spawned(command, streams)
        except OSError as error:
            raise NotLaunchedError(f"{log_file} cannot be written: {error.strerror or error}") from error
        reap(pid)
        try:
            write_json(supervisor_of(order), {"pid": pid, "started": processes.started_at(pid)})
        except OSError as error:
            # A job that cannot be written down could not be found again.
            processes.send([pid], signal.SIGKILL)
            processes.end_marked(handle["mark"], PATIENCE)
            raise NotLaunchedError(f"{supervisor_of(order)} cannot be written: {error.strerror or error}") from error

    def status(self, handle: Mapping[str, Any]) -> Status:
        """State by what the supervisor wrote; a supervisor that is gone without a word has failed."""
        reap()
        if ended := _ended(handle):
            return ended
        if handle["host"] != platform.node():
            return Status("running", f"on {handle['host']}; only there can be seen whether it still runs")
        if supervisor_alive(handle):
            return Status("running")
        # It may have written its last word between the two looks.
        if ended := _ended(handle):
            return ended
        if not _supervisor(handle) and time.time() - handle["prepared"] < _START_S:
            return Status("queued", "is being started")
        ended = Status("failed", "what watched over the job was killed, or had no room to say how it ended")
        # Where the disk is full this is found out anew by who asks next.
        with contextlib.suppress(OSError):
            _write_end(handle, ended)
        self._end(handle)
        return ended

    def cancel(self, handle: Mapping[str, Any]) -> Status:
        """Ask the supervisor to end the job; without one, end the ranks from here."""
        if ended := _ended(handle):
            return ended
        if handle["host"] != platform.node():
            raise CampaignError(f"the job runs on {handle['host']}: cancel it there")
        if not supervisor_alive(handle):
            # One that comes up only now reads this before it starts anything.
            _write_end(handle, Status("cancelled", "cancelled"))
        self._end(handle)
        return _ended(handle) or _write_end(handle, Status("cancelled", "cancelled"))

    def _end(self, handle: Mapping[str, Any]) -> None:
        """End supervisor and ranks, as far as they are there."""
        if supervisor_alive(handle):
            processes.send([_supervisor(handle)["pid"]], signal.SIGTERM)
        until = time.monotonic() + _SUPERVISOR_PATIENCE
        while supervisor_alive(handle) and time.monotonic() < until:
            reap()
            time.sleep(_POLL_S)
        if supervisor_alive(handle):
            processes.send([_supervisor(handle)["pid"]], signal.SIGKILL)
        if left := processes.end_marked(handle["mark"], PATIENCE):
            raise CampaignError(f"processes {left} of the job cannot be ended; end them by hand")


def _assignments(environment: Mapping[str, str]) -> list[str]:
    return [f"{name}={shlex.quote(value)}" for name, value in sorted(environment.items())]


def _spawned(command: list[str], streams: Sequence[tuple[int, int, int]]) -> int:
    """Number of a process with a session of its own; NotLaunchedError where it cannot be started."""
    try:
        return os.posix_spawn(command[0], command, own_environment(), file_actions=streams, setsid=True)
    except OSError as error:
        raise NotLaunchedError(f"{command[0]} cannot be started: {error.strerror or error}") from error


def supervisor_alive(handle: Mapping[str, Any]) -> bool:
    """Whether what watches over a local job still runs."""
    record = _supervisor(handle)
    # Whoever may write into the folder could name any process of this user.
    alive = bool(record) and processes.alive(record["pid"], record["started"])
    return alive and processes.was_told(record["pid"], SUPERVISOR)


def _supervisor(handle: Mapping[str, Any]) -> dict[str, Any]:
    return read_json(supervisor_of(Path(handle["order"])))


#: Supervisors and the like that this process started: they must be waited for, or they stay as zombies.
_children: list[int] = []


def reap(*started: int) -> None:
    """Wait for those of the processes started so far that have ended; `started` are further ones."""
    _children.extend(started)
    for pid in list(_children):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                continue
        # Another thread may have done the same meanwhile.
        with contextlib.suppress(ValueError):
            _children.remove(pid)


def _ended(handle: Mapping[str, Any]) -> Status | None:
    return read_end(end_of(Path(handle["order"])))


def _write_end(handle: Mapping[str, Any], status: Status) -> Status:
    write_json(end_of(Path(handle["order"])), asdict(status))
    return status
