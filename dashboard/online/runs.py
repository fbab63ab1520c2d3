"""A run of a program under the library that tunes, from its start to its whole trace."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers import processes
from dashboard.benchmarks.libraries import preload
from dashboard.online.errors import OnlineError
from dashboard.online.library import LIBRARY
from dashboard.online.model_file import load
from dashboard.online.state import Folder
from loaders.online import programs_of, totals_of

_LAUNCHERS = ("mpiexec", "mpirun")
_PATIENCE_S = 5.0


class Run(NamedTuple):
    """A run that belongs to a loop."""

    #: By which its traces are known; draws depend on it.
    name: str
    #: Its words.
    command: tuple[str, ...]
    #: One of off, trace, tuning and tuned.
    mode: str
    #: The folder of its traces, within that of the tuning.
    out: str = "traces"
    #: How many calls of a communicator are noted; None: as the library likes.
    calls: str | None = None

    def traced(self, folder: Folder) -> bool:
        """Whether all programs that it started have been to their end."""
        out = folder.path / self.out
        programs = programs_of(out, self.name)
        return bool(programs) and all(totals_of(out, program).exists() for program in programs)

    def log(self, folder: Folder) -> Path:
        """What it printed."""
        return folder.path / "logs" / f"{self.name}.log"


def environment(folder: Folder, run: Run) -> dict[str, str]:
    """Variables that tell the preloaded library what to do in a run."""
    said = {
        "COLLTUNE_ONLINE": run.mode,
        "COLLTUNE_ONLINE_OUT": str((folder.path / run.out).resolve()),
        "COLLTUNE_ONLINE_RUN": run.name,
    }
    if folder.model.exists():
        said["COLLTUNE_ONLINE_MODEL"] = str(folder.model.resolve())
    return said | ({"COLLTUNE_ONLINE_CALLS": run.calls} if run.calls else {})


def command_of(command: Sequence[str], preloaded: str) -> tuple[list[str], dict[str, str]]:
    """The command with what is preloaded into its program, and the variable where the command takes it from there."""
    if Path(command[0]).name in _LAUNCHERS:
        # The launcher itself is no program of MPI.
        return [command[0], "-x", f"{preload.VARIABLE}={preloaded}", *command[1:]], {}
    return list(command), {preload.VARIABLE: preloaded}


def run_command(folder: Folder, run: Run, *, log: Path | None = None, seconds: float | None = None) -> int:
    """Run a program to its end; its exit status.

    Raises
    ------
    OnlineError
        It cannot be started, or took more than `seconds`.
    """
    library = folder.path.resolve() / LIBRARY
    if not library.exists():
        raise OnlineError(
            f"{library} is not there; 'colltune online init {folder.path} --cores N' builds it, and keeps all else"
        )
    try:
        with preload.preloaded(library) as preloaded:
            return _ended(run.command, preloaded, environment(folder, run), log, seconds)
    except BenchError as error:
        raise OnlineError(str(error)) from None


def _ended(
    command: Sequence[str], preloaded: str, said: Mapping[str, str], log: Path | None, seconds: float | None
) -> int:
    """Exit status of a command at its end; errors as of `run_command`."""
    words, further = command_of(command, preloaded)
    stream = log.open("ab") if log else None
    try:
        process = subprocess.Popen(
            words,
            env={**os.environ, **said, **further},
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            preexec_fn=processes.die_with_parent,  # noqa: PLW1509 - this process has one thread
        )
    except OSError as error:
        raise OnlineError(f"{command[0]}: cannot be started: {error.strerror or error}") from None
    finally:
        if stream:
            stream.close()
    try:
        return process.wait(seconds)
    except BaseException as error:
        _end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise OnlineError(f"{' '.join(command)} took more than {seconds:g} s and was ended") from None
        raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program that has its own process group, and wait for it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(_PATIENCE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        else:
            return


def once(folder: Folder, run: Run, seconds: float | None = None) -> None:
    """Do a run, unless it has been to its end; what a former try left is removed.

    Raises
    ------
    OnlineError
        It failed, took more than so many `seconds`, or left no traces.
    """
    out = folder.path / run.out
    out.mkdir(exist_ok=True)
    if run.traced(folder):
        return
    for pattern in (f"{run.name}.*.trace", f".{run.name}.*totals.json"):
        for file in out.glob(pattern):
            file.unlink()
    log = run.log(folder)
    log.parent.mkdir(exist_ok=True)
    code = run_command(folder, run, log=log, seconds=seconds)
    command = " ".join(run.command)
    if code:
        raise OnlineError(f"{command} ended with {code}; see {log}")
    if not run.traced(folder):
        raise OnlineError(f"{command} left no traces: {why_untraced(folder, out)}")


def why_untraced(folder: Folder, out: Path) -> str:
    """Why a program that ended well left no traces in a folder."""
    if not os.access(out, os.W_OK | os.X_OK):
        return f"{out} {'cannot be written' if out.is_dir() else 'is no folder'}"
    try:
        if folder.model.exists():
            load(folder.model)
    except OnlineError as error:
        return str(error)
    return f"is it a program of MPI, of {folder.table.library}?"
