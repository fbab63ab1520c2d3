"""What watches over one job: ``python -m dashboard.benchmarks.launchers.supervise ORDER.json COMMAND…``.

It starts the command, ends all of the job at its time limit, when it hangs, or on SIGTERM, and writes down how it
ended. On this machine it lives in a session of its own, so it outlives whatever launched it; under a scheduler it is
what the batch script runs. When it is killed itself, Linux ends the start command, and that its ranks.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from dashboard.benchmarks.campaigns.campaign import read_json, write_json
from dashboard.benchmarks.launchers import launch, processes
from dashboard.benchmarks.launchers.launch import CANNOT_SWITCH, PATIENCE, own_environment
from dashboard.benchmarks.safety.order import ENDED
from loaders import disk

_LOOK_S = 0.1
#: Stands for the exit code of ranks that were ended because they hung.
_HUNG = 1

#: Size and time in ns of each file that a job at work writes, None where it is not there yet.
_Stamps = list[tuple[int, int] | None]


class _Cancelled(Exception):
    """Somebody asked for the end."""


class _Hangs(Exception):
    """The job has not written anything for too long."""


def _cancel(_number: int, _frame: FrameType | None) -> None:
    raise _Cancelled


def run(order: Mapping[str, Any], command: Sequence[str]) -> dict[str, Any]:
    """Run the job to its end, whatever that is.

    Returns
    -------
    dict
        ``state``, ``reason`` and ``exit_code`` as `dashboard.benchmarks.launchers.launch.Status` has them.
    """
    environment = {**own_environment(), **order["environment"], "COLLTUNE_JOB": order["mark"]}
    job: subprocess.Popen[bytes] | None = None
    try:
        signal.signal(signal.SIGTERM, _cancel)
        until = time.monotonic() + order["seconds"]
        starts = order["starts"]
        while starts:
            start = starts[0]
            before = _written(order)
            try:
                job = _started(order["log"], [*command, *start["arguments"]], {**environment, **start["environment"]})
            except OSError as error:
                return _end("failed", f"{command[0]} cannot be run: {error.strerror or error}")
            code, ending = _outcome(job, order, start, until, before)
            starts = [_again(start, ending), *starts[1:]] if ending else _further(order, starts, code)
    except _Cancelled:
        ended = _end("cancelled", "cancelled")
    except TimeoutError:
        ended = _end("timed out", f"ended at its time limit of {order['seconds']:g} s")
    except _Hangs as hung:
        why = "a process, a node or a link between them does not answer any more"
        ended = _end("failed", f"nothing was measured for {hung} s: {why}")
    else:
        ended = _end("finished", "", code) if code == 0 else _end("failed", _why(code), code)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if job is not None:
        _end_all(job, order["mark"])
        if ended["exit_code"] is None:
            ended["exit_code"] = job.returncode
    return ended


def _outcome(
    job: subprocess.Popen[bytes], order: Mapping[str, Any], start: Mapping[str, Any], until: float, before: _Stamps
) -> tuple[int, str]:
    """Exit code of a start, and how it ended where it is to be started again, empty where not; may raise `_Hangs`.

    `before` is what was written when it started: looked at later, a start that is quick would have done nothing.
    """
    quiet = start["quiet"] or order["quiet"]
    try:
        code = _wait(job, order, until, quiet)
    except _Hangs:
        if not start["again"] or _written(order) == before:
            raise
        _end_all(job, order["mark"])
        return _HUNG, f"hangs: nothing came back for {quiet:g} s"
    again = code and start["again"] and _written(order) != before
    return code, f"takes the job down: {_why(code)}" if again else ""


def _again(start: Mapping[str, Any], ending: str) -> dict[str, Any]:
    """The same start once more, told how it ended; it goes on with what is left."""
    return {**start, "again": start["again"] - 1, "environment": {**start["environment"], ENDED: ending}}


def _further(order: Mapping[str, Any], starts: Sequence[Any], code: int) -> Sequence[Any]:
    """Starts that follow when the first of some has ended: none after a failure, others where it cannot switch."""
    if code == CANNOT_SWITCH and starts[0] not in order["otherwise"]:
        others: Sequence[Any] = order["otherwise"]
        if others:
            with Path(order["log"]).open("a", encoding="utf-8") as log:
                log.write("colltune: each method is measured in a launch of its own instead\n")
        return others
    return [] if code else starts[1:]


def _started(log: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the ranks in a session of their own, which Linux ends with this process."""
    with Path(log).open("ab") as stream:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=processes.die_with_parent,  # noqa: PLW1509 - this process has one thread
        )


def _wait(job: subprocess.Popen[bytes], order: Mapping[str, Any], until: float, quiet: float | None) -> int:
    """Exit code of the job; TimeoutError when it has not ended in time, `_Hangs` when it writes nothing for `quiet`."""
    moved = time.monotonic()
    seen = _written(order)
    while (now := time.monotonic()) < until:
        # In short steps: a signal that arrives just before a long wait would be handled only after it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            return job.wait(min(until - now, _LOOK_S))
        if quiet is None:
            continue
        if (stamps := _written(order)) != seen:
            seen, moved = stamps, now
        elif now - moved > quiet:
            raise _Hangs(f"{quiet:g}")
    raise TimeoutError


def _written(order: Mapping[str, Any]) -> _Stamps:
    """Sizes and times of the files that a job at work writes."""
    stamps: _Stamps = []
    for name in order["watched"]:
        try:
            there = Path(name).stat()
        except OSError:
            stamps.append(None)
        else:
            stamps.append((there.st_size, there.st_mtime_ns))
    return stamps


def _end_all(job: subprocess.Popen[bytes], mark: str) -> None:
    """End the start command's process group, then every process that bears the job's mark."""
    known = processes.marked(mark)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.wait(PATIENCE)
    processes.end_marked(mark, 0.0 if job.returncode is not None else PATIENCE, known)
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.wait(PATIENCE)


def _why(code: int) -> str:
    # Those between the first and the last of real time have no names.
    names = {each.value: each.name for each in signal.Signals}
    return f"ended by signal {names.get(-code, -code)}" if code < 0 else f"exit code {code}"


def _end(state: str, reason: str, code: int | None = None) -> dict[str, Any]:
    return {"state": state, "reason": reason, "exit_code": code}


def main(arguments: Sequence[str]) -> int:
    """Run a job; exit status 0 when it finished, its own or 1 when it did not, so that a scheduler sees it too."""
    file = Path(arguments[0])
    order, supervisor = disk.read_json(file), launch.supervisor_of(file)
    first = read_json(supervisor)
    if first and first["pid"] != os.getpid() and processes.alive(first["pid"], first["started"]):
        # A scheduler that lost its memory may start a job anew that runs already.
        return 1
    write_json(supervisor, {"pid": os.getpid(), "started": processes.started_at(os.getpid())})
    if launch.end_of(file).exists() or launch.final_of(file).exists():
        # It was cancelled, or given up, before this came up.
        return 1
    ended = run(order, arguments[1:])
    write_json(launch.end_of(file), ended)
    code = ended["exit_code"]
    return 0 if ended["state"] == "finished" else code if isinstance(code, int) and 0 < code < 128 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
