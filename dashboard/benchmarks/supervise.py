"""What watches over one local job: ``python -m dashboard.benchmarks.supervise ORDER.json``.

It starts the job, ends all of it at its time limit or on SIGTERM, and writes down how it ended. It lives in a session
of its own, so it outlives whatever launched it; when it is killed itself, Linux ends the job.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from dashboard.benchmarks import processes
from dashboard.benchmarks.campaign import write_json
from dashboard.benchmarks.launch import PATIENCE, own_environment, read_order

_LOOK_S = 0.1


class _Cancelled(Exception):  # noqa: N818 - an order, no fault
    """Somebody asked for the end."""


def _cancel(_number: int, _frame: FrameType | None) -> None:
    raise _Cancelled


def run(order: Mapping[str, Any]) -> dict[str, Any]:
    """Run the job to its end, whatever that is.

    Returns
    -------
    dict
        ``state``, ``reason`` and ``exit_code`` as `dashboard.benchmarks.launch.Status` has them.
    """
    environment = {**own_environment(), **order["environment"], "COLLTUNE_JOB": order["mark"]}
    job: subprocess.Popen[bytes] | None = None
    try:
        signal.signal(signal.SIGTERM, _cancel)
        with Path(order["log"]).open("ab") as log:
            try:
                job = subprocess.Popen(  # noqa: S603 - the argument list of the launcher
                    order["command"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=True,
                    preexec_fn=processes.die_with_parent,  # noqa: PLW1509 - this process has one thread
                )
            except OSError as error:
                return _end("failed", f"{order['command'][0]} cannot be run: {error.strerror or error}")
        code = _wait(job, order["seconds"])
    except _Cancelled:
        ended = _end("cancelled", "cancelled")
    except TimeoutError:
        ended = _end("timed out", f"ended at its time limit of {order['seconds']:g} s")
    else:
        ended = _end("finished", "", code) if code == 0 else _end("failed", _why(code), code)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if job is not None:
        _end_all(job, order["mark"])
        if ended["exit_code"] is None:
            ended["exit_code"] = job.returncode
    return ended


def _wait(job: subprocess.Popen[bytes], seconds: float) -> int:
    """Exit code of the job; TimeoutError when it has not ended in time."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        # In short steps: a signal that arrives just before a long wait would be handled only after it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            return job.wait(min(left, _LOOK_S))
    raise TimeoutError


def _end_all(job: subprocess.Popen[bytes], mark: str) -> None:
    """End the start command's process group, then every process that bears the job's mark."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.wait(PATIENCE)
    processes.end_marked(mark, 0.0 if job.returncode is not None else PATIENCE)
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.wait(PATIENCE)


def _why(code: int) -> str:
    return f"ended by signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _end(state: str, reason: str, code: int | None = None) -> dict[str, Any]:
    return {"state": state, "reason": reason, "exit_code": code}


if __name__ == "__main__":
    told = read_order(Path(sys.argv[1]))
    write_json(Path(told["end"]), run(told))
