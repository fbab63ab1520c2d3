"""Processes of this machine by id and start, so that an id that was given anew is never taken for the old one."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

_PROC = Path("/proc")
#: Fields of /proc/PID/stat after the name in parentheses: the first is the state, the 20th the start time.
_STATE, _START = 0, 19
_POLL_S = 0.02
_PR_SET_PDEATHSIG = 1


def started_at(pid: int) -> int | None:
    """Start of a process in clock ticks since boot; None when it is gone or a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[_STATE] in ("Z", "X") else int(fields[_START])


def alive(pid: int, started: int) -> bool:
    """Whether the process of this id that started then still runs."""
    return started_at(pid) == started


def was_told(pid: int, word: str) -> bool:
    """Whether a running process has this word among its arguments; one that is only now begun has none yet."""
    try:
        arguments = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False
    return not arguments or word.encode() in arguments.split(b"\0")


def marked(mark: str) -> dict[int, int]:
    """Ids, with their starts, of the running processes whose environment holds ``COLLTUNE_JOB=mark``; not this one."""
    wanted = f"COLLTUNE_JOB={mark}".encode()
    starts = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            started = started_at(int(entry.name))
            if started is not None and wanted in (entry / "environ").read_bytes().split(b"\0"):
                starts[int(entry.name)] = started
    return starts


def end_marked(mark: str, patience: float, known: Mapping[int, int] = MappingProxyType({})) -> list[int]:
    """End all processes of a job: asked first, and killed when they are still there after `patience` seconds.

    Parameters
    ----------
    known
        Processes of the job that were asked to end already, as `marked` gives them.

    Returns
    -------
    list of int
        Those that are there even so.
    """
    # A process that is ending has no environment any more, though it is still there: it is known by its start.
    starts = dict(known)

    def left() -> list[int]:
        starts.update(marked(mark))
        return [pid for pid, started in starts.items() if alive(pid, started)]

    send(left(), signal.SIGTERM)
    until = time.monotonic() + patience
    while left() and time.monotonic() < until:
        time.sleep(_POLL_S)
    for _ in range(50):
        if not (remaining := left()):
            break
        send(remaining, signal.SIGKILL)
        time.sleep(_POLL_S)
    return left()


def send(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes that may be gone."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def die_with_parent() -> None:
    """Ask Linux to end this process when the one that made it ends, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
