"""Reading in a process of its own: a file at which a reader hangs or crashes ends that process, not its caller.

A server asks for it with `use`; everywhere else reading stays in the process that asks. A worker waits for what it is
to read, so that ordinary files come as quickly as without one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaders.errors import LoadError
from loaders.source import Progress

if TYPE_CHECKING:
    import xarray as xr

#: Seconds that a reading may take, and for each MB of its files; readers need less than a tenth of it.
LIMIT_S = 60.0
LIMIT_S_PER_MB = 4.0
#: A worker that has read more than this is replaced, since its memory is not given back.
_WORN_BYTES = 64_000_000

_used = False
_idle: list[_Worker] = []
_lock = threading.Lock()


class EndedError(LoadError):
    """Reading was ended, or ended its process; it would do so again."""


def use(*, apart: bool = True) -> None:
    """Read in processes of their own from now on, or no longer."""
    global _used  # noqa: PLW0603 - of the process, as its server is
    _used = apart
    if not apart:
        with _lock:
            while _idle:
                _idle.pop().end()


def prepare() -> None:
    """Have a worker ready for the next reading, if they are used."""
    if _used:
        with _lock:
            if not _idle:
                _idle.append(_Worker())


def open_results(paths: Sequence[str], *, size: int, progress: Progress | None = None, **hints: Any) -> xr.DataTree:
    """Do as `loaders.open_results`, apart.

    Parameters
    ----------
    paths, progress, **hints
        As there.
    size
        Bytes of the files, by which the time limit grows.

    Raises
    ------
    LoadError
        As there; `EndedError` where reading took too long or ended its process.
    """
    import loaders  # noqa: PLC0415 - the worker imports what it needs beside its caller

    if not _used:
        return loaders.open_results(paths, progress=progress, **hints)
    tree = _read("open_results", paths, size, progress, hints)
    # What stays on disk is opened by who will read it.
    return loaders.open_results(paths, progress=progress, **hints) if tree is None else tree


def scan(paths: Sequence[str], *, size: int, progress: Progress | None = None, **hints: Any) -> list[dict[str, Any]]:
    """Do as `loaders.scan`, apart; parameters and errors as for `open_results`."""
    import loaders  # noqa: PLC0415 - as above

    if not _used:
        return loaders.scan(paths, progress=progress, **hints)
    return list(_read("scan", paths, size, progress, hints))


def _read(what: str, paths: Sequence[str], size: int, progress: Progress | None, hints: dict[str, Any]) -> Any:
    limit = LIMIT_S + LIMIT_S_PER_MB * size / 1e6
    with _lock:
        worker = _idle.pop() if _idle else None
    worker = worker or _Worker()
    answer, value = worker.ask((what, [str(Path(path).absolute()) for path in paths], hints, limit), progress)
    if answer == "ended":
        worker.end()
        prepare()
        raise EndedError(_why(int(value), limit), path=paths[0] if len(paths) == 1 else None)
    _put_back(worker, size)
    if answer == "error":
        raise value
    return value


def _why(status: int, limit: float) -> str:
    """Why a worker ended."""
    if status == -signal.SIGALRM:
        return (
            f"reading took longer than {limit:.0f} s and was ended; the file is damaged or of no known form: look at "
            "its first lines, or leave it out"
        )
    if status == -signal.SIGKILL:
        return "reading was ended by the system; these files need more memory than this machine has: load fewer at once"
    return f"reading ended its process (status {status}): the file is damaged; leave it out"


def _put_back(worker: _Worker, size: int) -> None:
    with _lock:
        if _used and not _idle and worker.has_read(size) < _WORN_BYTES:
            _idle.append(worker)
            return
    worker.end()
    prepare()


class _Worker:
    """A process that reads what it is told."""

    def __init__(self) -> None:
        package = str(Path(__file__).absolute().parents[1])
        search = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._bytes = 0
        self._orders, answers = multiprocessing.Pipe()
        with answers:
            # Not of the caller's group: what ends that one from the keyboard must not print a traceback here.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "loaders.apart", str(answers.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[answers.fileno()],
                env={**os.environ, "PYTHONPATH": search},
                start_new_session=True,
            )

    def has_read(self, size: int) -> int:
        """Bytes that it has read, with these."""
        self._bytes += size
        return self._bytes

    def ask(self, order: tuple[Any, ...], progress: Progress | None) -> tuple[str, Any]:
        """What it answers: ``("done", value)``, ``("error", exception)`` or ``("ended", status)``."""
        answer: tuple[str, Any]
        try:
            self._orders.send(order)
            while (answer := self._orders.recv())[0] == "progress":
                if progress is not None:
                    progress(*answer[1])
        except (EOFError, ConnectionError, pickle.UnpicklingError):
            return "ended", self._process.wait()
        return answer

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._orders.close()
        self._process.wait()


def _work(orders: Connection) -> None:
    """Read what is ordered until nobody orders any more."""
    import loaders  # noqa: PLC0415 - not where this module is imported for its other half
    import loaders.opening  # noqa: PLC0415

    while True:
        what, paths, hints, limit = orders.recv()
        # The system ends this process then, whatever it does: an expression that runs on lets no thread in.
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            value = getattr(loaders, what)(paths, progress=lambda *done: orders.send(("progress", done)), **hints)
            answer: tuple[str, Any] = ("done", None if what == "open_results" and _on_disk(value) else value)
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            answer = ("error", error)
        signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            orders.send(answer)
        except (pickle.PicklingError, TypeError, AttributeError):
            orders.send(("error", RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))
        del answer


def _on_disk(tree: xr.DataTree) -> bool:
    """Whether the times are not in memory; samples may be made of what is, when they are asked for."""
    return any(node["time"].chunks is not None for node in tree.children.values())


if __name__ == "__main__":
    # Nobody orders any more where the other end is closed.
    with contextlib.suppress(EOFError, ConnectionError), Connection(int(sys.argv[1])) as ours:
        _work(ours)
