"""How jobs are launched, watched and cancelled: one interface for this machine and schedulers.

A further scheduler, such as PBS or LSF, is one more file beside `dashboard.benchmarks.launchers.slurm`: a class with
the methods of `Launcher` and `from_record`, and a line in `LAUNCHERS`. It writes a batch script whose last line is
`supervised`, submits it in `launch`, and turns the scheduler's words into a `Status`. What `prepare` returns is all
that a launcher needs later, as JSON, so that jobs can be watched and cancelled by another process.
"""

import contextlib
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from dashboard.benchmarks.allowed import processors
from dashboard.benchmarks.campaigns.campaign import UNDER_WAY, read_json, write_json
from dashboard.benchmarks.campaigns.confined import own_path
from dashboard.benchmarks.errors import CampaignError

#: Told of how far something is (0 to 1), and of what is under way.
Progress = Callable[[float, str], None]
#: Gives both.
Far = Callable[[], tuple[float, str]]
State = Literal["queued", "running", "finished", "failed", "cancelled", "timed out"]
#: Seconds that the ranks have to end by themselves, and that the supervisor then has to write down the end.
PATIENCE = 2.0
#: Module that watches over a job.
SUPERVISOR = "dashboard.benchmarks.launchers.supervise"
#: Exit code of ranks whose library does not let methods be switched while it runs.
CANNOT_SWITCH = 4
#: Ranks share their machine's cores: none is to start threads beside itself.
ONE_THREAD: Mapping[str, str] = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_LOOK_S = 0.05
#: Not at every look: all that was written may be read for it.
_TELL_S = 0.5
#: Words of a line of the log that says what went wrong.
_TELLING = ("Assertion", "Error:", "Exception:", "Fatal error", "Signal:", "Abort(")

#: What a line of a part's log begins with.
PART = re.compile(r"^\[(\d+)\] ")
#: Lines at the end of a log that tell of an end.
_LAST_WORDS = 4


@dataclass(frozen=True)
class Start:
    """One start of a job's ranks: variables beside the job's, arguments after its program's."""

    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    #: So often it is started again when it ended badly or hung after it had written something; it is told how in the
    #: variable of `dashboard.benchmarks.safety.order.ENDED`.
    again: int = 0
    #: Seconds after which it hangs when nothing is written, instead of the job's; None: the job's.
    quiet: float | None = None


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
    watched
        Files that a job at work writes.
    quiet
        Seconds after which a job that writes none of them is taken for hanging, and ended.
    starts
        The ranks are started so often, one time after the other; a start that fails is the last one.
    otherwise
        Starts that come instead of the others when one ends with `CANNOT_SWITCH`.
    index
        Number among the jobs of an array; None when there is one job only.
    alone
        Whether the program starts ranks by itself: no start command is put before it.
    """

    folder: Path
    ranks: int
    program: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: float
    log: Path
    watched: tuple[Path, ...] = ()
    quiet: float = math.inf
    starts: tuple[Start, ...] = (Start(),)
    otherwise: tuple[Start, ...] = ()
    index: int | None = None
    alone: bool = False


@dataclass(frozen=True)
class Status:
    """State of jobs."""

    #: The reason is in words, the scheduler's where it gave one.
    state: State
    reason: str = ""
    #: Once they have ended.
    exit_code: int | None = None
    #: What a scheduler says of each: ``id``, ``state``, ``reason``, ``nodes``.
    jobs: tuple[Mapping[str, Any], ...] = ()


class Launcher(Protocol):
    """Where jobs run."""

    @property
    def name(self) -> str:
        """What it is called in a campaign's state."""

    @property
    def array(self) -> int:
        """How many jobs of an array may run at once; 0 when a campaign is one job."""

    @property
    def ppn(self) -> int | None:
        """Ranks on each node; None: as the library or the scheduler places them."""

    @property
    def folder(self) -> str:
        """For files of jobs that are nobody's campaign; empty: where `workplace` finds best."""

    @property
    def here(self) -> bool:
        """Whether all ranks run on this machine, as far as is known."""

    def record(self) -> dict[str, Any]:
        """What `from_record` makes the same launcher of, as JSON."""

    def limit(self, seconds: float) -> float:
        """Time limit that can be held exactly, of at most so many seconds."""

    def nodes(self, ranks: int) -> int | None:
        """Nodes that so many ranks are on; None: not known before they run."""

    def prepare(self, jobs: Sequence[Job]) -> dict[str, Any]:
        """Write what jobs need, and return what the other methods need; nothing runs yet."""

    def preview(self, jobs: Sequence[Job]) -> str:
        """What would be run or submitted, as text."""

    def launch(self, handle: Mapping[str, Any]) -> None:
        """Launch what was prepared and return at once; CampaignError when it is refused."""

    def status(self, handle: Mapping[str, Any]) -> Status:
        """State of jobs that were launched, perhaps by another process."""

    def cancel(self, handle: Mapping[str, Any]) -> Status:
        """End jobs with all their ranks; returns when these are gone."""


def cores_of(launcher: Launcher) -> int | None:
    """Processors that the ranks share, where these all run on this machine; None: not known."""
    return processors() if launcher.here else None


def start_job(launcher: Launcher, job: Job) -> dict[str, Any]:
    """Prepare and launch a job that is nobody's campaign; what the launcher's other methods need of it."""
    handle = launcher.prepare([replace(job, seconds=launcher.limit(job.seconds))])
    launcher.launch(handle)
    return handle


def finish_job(launcher: Launcher, job: Job, progress: Progress | None = None, far: Far | str = "") -> Status:
    """Run such a job to its end; what interrupts that ends the job as well.

    Parameters
    ----------
    progress
        Told why it waits, as long as it does, and then how far it is.
    far
        What it is told; of a job that does not say how far it is, what it does, and the part of its time that is gone.
    """
    handle = start_job(launcher, job)
    began = told_at = time.monotonic()
    try:
        while (status := launcher.status(handle)).state in UNDER_WAY:
            now = time.monotonic()
            if progress is not None and status.state == "queued":
                progress(0.0, f"{status.state}: {status.reason}")
            elif progress is not None and now >= told_at:
                progress(*((min(0.99, (now - began) / job.seconds), far) if isinstance(far, str) else far()))
                told_at = now + _TELL_S
            time.sleep(_LOOK_S)
    except BaseException:
        launcher.cancel(handle)
        raise
    return status


def complaints(log: Path) -> list[str]:
    """Lines of a log that say why a job ended, each of 200 characters at most."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return [line.strip()[:200] for line in text.splitlines() if any(word in line for word in _TELLING)]


def last_words(log: Iterable[str]) -> list[str]:
    """The last lines of a log that say something, without those that rule them off, alone or in a part's log."""
    return [line.strip() for line in log if any(map(str.isalnum, PART.sub("", line)))][-_LAST_WORDS:]


@contextlib.contextmanager
def workplace(launcher: Launcher) -> Iterator[Path]:
    """A folder for the files of such a job: of the launcher's, else the current one where ranks may be elsewhere.

    Raises
    ------
    CampaignError
        When it cannot be made.
    """
    place = launcher.folder or (None if launcher.here else str(Path.cwd()))
    try:
        made = tempfile.TemporaryDirectory(prefix="colltune-", dir=place)
    except OSError as error:
        site = os.environ.get("COLLTUNE_SITE") or "colltune.toml"
        raise CampaignError(
            f"{place}: no folder for the job's files can be made there: {error.strerror or error} (all nodes must see "
            f"it; 'folder' in the site's file names another one: that of --site, else {site})"
        ) from error
    with made as name:
        yield Path(name)


def read_end(path: Path) -> Status | None:
    """How a job ended, as its supervisor or its launcher wrote it down; None when it did not."""
    record = read_json(path)
    return Status(record["state"], record["reason"], record["exit_code"]) if record else None


def write_order(path: Path, job: Job, mark: str) -> Path:
    """Write what a supervisor must know of a job beside its command."""
    write_json(
        path,
        {
            "mark": mark,
            "environment": dict(job.environment),
            "seconds": job.seconds,
            "quiet": None if math.isinf(job.quiet) else job.quiet,
            "starts": [asdict(start) for start in job.starts],
            "otherwise": [asdict(start) for start in job.otherwise],
            "watched": [str(file) for file in job.watched],
            "log": str(job.log),
        },
    )
    return path


def end_of(order: Path) -> Path:
    """Where a supervisor writes down how the job of an order ended."""
    return _beside(order, "end")


def final_of(order: Path) -> Path:
    """Where a launcher writes down how the job of an order ended, when it knows more than its supervisor."""
    return _beside(order, "final")


def supervisor_of(order: Path) -> Path:
    """Where a supervisor writes down who it is, when it begins."""
    return _beside(order, "supervisor")


def _beside(order: Path, what: str) -> Path:
    """A file of the job of an order; CampaignError when it is a link that leads out of their folder."""
    return own_path(order.parent, f"{order.stem}-{what}.json")


def supervised(order: Path, command: Sequence[str]) -> list[str]:
    """Argument list that runs a command under a supervisor."""
    return [sys.executable, "-m", SUPERVISOR, str(order), *command]


def own_environment() -> dict[str, str]:
    """Environment in which this package can be imported, whether it is installed or run from its checkout."""
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
