"""The tunings there are: below the folder of the campaigns, whoever started them; how they stand; start and cancel."""

import os
import platform
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import UNDER_WAY, Campaign, read_json, write_json
from dashboard.benchmarks.campaigns.confined import own_path
from dashboard.benchmarks.errors import BenchError, CampaignError
from dashboard.benchmarks.launchers import processes
from dashboard.benchmarks.launchers.launch import own_environment
from dashboard.benchmarks.launchers.local import reap
from dashboard.measuring.kept import MOST_CAMPAIGNS, folder_of, stamp
from dashboard.session.registry import Bounded
from dashboard.tuning import EXITS, STAGES, Asked, Folder, answer
from loaders import disk

RUNNING, PLANNED, FAILED, CANCELLED, ENDED = "running", "planned", "failed", "cancelled", "interrupted"
#: What came of it, by the word in the folder, for a title.
OUTCOMES = {
    "proven": "proven, nothing slower",
    "nothing": "nothing better than the library's own decision",
    "unproven": "unproven",
    "noise": "too noisy to say",
    "short": "too little time to say",
}
#: What else there is to say of one that is not done, where no stage gives a reason.
SAID = {
    CANCELLED: "It was cancelled. What was measured stays; going on does only what is missing.",
    ENDED: "Its process is gone. What was measured stays; going on does only what is missing.",
    PLANNED: "It was asked for and has not begun.",
}
LOG = "tune.log"
#: The process that a page began: it works there before it has read what is asked and holds the folder.
_BEGUN = ".begun"
#: What is read, written or given away of a folder.
_FILES = ("asked.json", "state.json", "now.json", ".lock", _BEGUN, LOG, "bundle.zip", "bundle/README.md")
_MODULE = "dashboard.cli"
#: The last line of a tuning that was ended from outside.
_INTERRUPTED = "colltune: interrupted"
#: Seconds that a tuning has to end what it runs.
_PATIENCE_S = 20.0
_POLL_S = 0.05


@dataclass(frozen=True)
class Step:
    """One stage: ``waiting``, ``running``, ``done``, ``failed`` or ``interrupted``, and what it says of itself."""

    name: str
    state: str
    seconds: float | None
    said: str
    share: float | None = None


@dataclass(frozen=True)
class Tuning:
    """One tuning as it is now."""

    name: str
    path: Path
    #: `RUNNING`, `PLANNED`, `FAILED`, `CANCELLED`, `ENDED` (its process is gone), or what came of it: see `OUTCOMES`.
    state: str
    #: Why it failed.
    reason: str
    #: The stages in their order.
    steps: tuple[Step, ...]
    asked: Mapping[str, Any]
    #: When it was asked for, seconds since the epoch.
    began: float
    #: As ``colltune tune --json`` says them, with ``state`` and ``reason``.
    facts: Mapping[str, Any]

    @property
    def over(self) -> bool:
        """Whether all stages are done."""
        return self.state in EXITS

    @property
    def exit_status(self) -> int:
        """Of the command that came to this: 0 as long as it has not ended, 2 where it ended before all was done."""
        return EXITS.get(self.state, 0 if self.state in (RUNNING, PLANNED) else 2)

    @property
    def stage(self) -> Step | None:
        """The stage at work, or that ended it."""
        return next((step for step in self.steps if step.state not in ("done", "waiting")), None)

    @property
    def where(self) -> str:
        """The stage that it is in, in words; empty: none."""
        return f" in {self.stage.name}" if self.stage is not None and not self.over else ""

    @property
    def bundle(self) -> Path | None:
        """The packed bundle, once it is there."""
        file = self.path / "bundle.zip"
        return file if self.over and file.exists() else None

    @property
    def campaign(self) -> Path | None:
        """Folder of the campaign that measures the methods; None before there is one."""
        plans = sorted(self.path.glob("measure*/plan.json"), key=lambda file: file.stat().st_mtime_ns)
        return plans[-1].parent if plans else None


_ENDED: Bounded[Tuning] = Bounded(MOST_CAMPAIGNS, 16 << 20)


def tunings(root: Path) -> tuple[list[Tuning], list[str]]:
    """List the tunings below a root, the newest first, and what could not be read."""
    kept, faults = [], []
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        if path.is_symlink() or not any((path / name).exists() for name in ("asked.json", LOG)):
            continue
        try:
            kept.append(_known(path))
        except (BenchError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            faults.append(f"{path.name}: {str(error).replace(f'{root}/', '')}")
    return sorted(kept, key=lambda tuning: (-tuning.began, tuning.name))[:MOST_CAMPAIGNS], faults


def _known(path: Path) -> Tuning:
    """A tuning; one that has ended is not looked at again until one of its files has changed."""
    files = ("asked.json", "state.json", ".lock", _BEGUN, LOG, "bundle.zip", "measure/results.jsonl")
    key = (path, *(stamp(path / name) for name in files))
    seen = _ENDED.get(key)
    if seen is None:
        seen = look(path)
        if seen.state not in (RUNNING, PLANNED):
            _ENDED.put(key, seen)
    return seen


def look(path: Path) -> Tuning:
    """See how a tuning is, by the files that the command writes, in a folder that others may write into.

    Raises
    ------
    CampaignError
        They are of another version, or a link leads out of the folder.
    """
    _confine(path)
    return standing(path)


def standing(path: Path) -> Tuning:
    """See how a tuning is; CampaignError where its files are of another version."""
    reap()
    folder = Folder(path)
    state_of_tuning, asked, runs = answer(folder, {}), folder.asked(), bool(_worker(path))
    steps = _steps(state_of_tuning["stages"], folder.now() if runs else {}, runs=runs)
    state, reason = _state(path, state_of_tuning, steps, runs=runs)
    file = next(file for name in ("asked.json", LOG) if (file := path / name).exists())
    began = max(file.stat().st_mtime, (path / LOG).stat().st_mtime if (path / LOG).exists() and not asked else 0.0)
    stages = {
        step.name: {**state_of_tuning["stages"][step.name], "state": step.state, "said": step.said} for step in steps
    }
    facts = {**state_of_tuning, "stages": stages, "state": state, "reason": reason}
    return Tuning(path.name, path, state, reason, steps, asked, began, facts)


def _confine(path: Path) -> None:
    """Raise `CampaignError` where a link leads out of a folder that others may write into."""
    for name in (*_FILES, *(plan.parent.name for plan in path.glob("measure*/plan.json"))):
        own_path(path, *name.split("/"))


def _worker(path: Path) -> dict[str, Any]:
    """The process that works in it, or that was begun to: ``pid, started, host``; empty: none."""
    begun = read_json(path / _BEGUN)
    here = begun.get("host") == platform.node() and processes.alive(begun.get("pid", 0), begun.get("started", 0))
    return Folder(path).worker() or (begun if here else {})


def _steps(stages: Mapping[str, Mapping[str, Any]], now: Mapping[str, Any], *, runs: bool) -> tuple[Step, ...]:
    made = []
    for name, stage in stages.items():
        state, said, share = str(stage["state"]), str(stage["said"]), None
        if state == "running":
            state = RUNNING if runs else ENDED
            if now.get("stage") == name:
                said, share = str(now.get("words", "")), float(now.get("share") or 0.0)
        made.append(Step(name, state, stage["seconds"], said, share))
    if runs and not any(stage.state == RUNNING for stage in made):
        # The first stage is written down only once it is done.
        made[0] = Step(made[0].name, RUNNING, None, "", None)
    return tuple(made)


def _state(path: Path, tuning: Mapping[str, Any], steps: tuple[Step, ...], *, runs: bool) -> tuple[str, str]:
    if runs:
        return RUNNING, ""
    for state in (FAILED, "interrupted"):
        if (step := next((step for step in steps if step.state == state), None)) is not None:
            cancelled = step.said == "interrupted"
            return (CANCELLED if cancelled else state), f"{step.name}: {step.said}" if state == FAILED else ""
    if all(step.state == "done" for step in steps) and tuning["outcome"] in EXITS:
        return str(tuning["outcome"]), ""
    log = tail(path)
    if log and log[-1] == _INTERRUPTED:
        return CANCELLED, ""
    error = next((line for line in reversed(log) if "error:" in line), "")
    if error:
        return FAILED, error.partition("error:")[2].strip()
    return PLANNED if not log and all(step.state == "waiting" for step in steps) else ENDED, ""


def tail(path: Path, lines: int = 40) -> list[str]:
    """Last lines that a tuning started from the page has said."""
    return disk.tail(path / LOG, lines)


def start(root: Path, name: str, asked: Asked) -> Path:
    """Begin a tuning: ``colltune tune FOLDER`` in a session of its own, so that it outlives this process.

    Raises
    ------
    CampaignError
        The name is taken or not allowed, or it cannot be started.
    """
    path = folder_of(root, name)
    try:
        with disk.made(path, new=True):
            Folder(path).keep_asked(asked.to_json())
    except FileExistsError:
        raise CampaignError(f"there is a folder {name} already: choose another name, or go on with that one") from None
    except OSError as error:
        raise CampaignError(f"{path} cannot be written: {error.strerror or error}") from error
    go_on(path)
    return path


def go_on(path: Path, *, again: bool = False) -> None:
    """Do what is missing of a tuning; `again`: check whether its rules still hold.

    Raises
    ------
    CampaignError
        One is at work there, or it cannot be started.
    """
    _confine(path)
    if _worker(path):
        raise CampaignError(f"{path.name} is running already")
    command = [sys.executable, "-m", _MODULE, "tune", str(path), *(["--again"] if again else [])]
    try:
        with disk.appended(path / LOG) as log, Path(os.devnull).open("rb") as nothing:
            pairs = enumerate((nothing, log, log))
            streams = [(os.POSIX_SPAWN_DUP2, source.fileno(), number) for number, source in pairs]
            usual = [signal.SIGINT, signal.SIGTERM]
            pid = os.posix_spawn(
                command[0], command, own_environment(), file_actions=streams, setsid=True, setsigdef=usual
            )
        write_json(path / _BEGUN, {"pid": pid, "started": processes.started_at(pid), "host": platform.node()})
    except OSError as error:
        raise CampaignError(f"{path / LOG} cannot be written: {error.strerror or error}") from error
    reap(pid)


def cancel(path: Path) -> None:
    """End a tuning with all that it runs; what it has measured stays.

    Raises
    ------
    CampaignError
        It runs on another machine, or does not end.
    """
    _confine(path)
    worker = _worker(path)
    if not worker:
        return
    if worker["host"] != platform.node():
        raise CampaignError(f"{path.name} runs on {worker['host']}: end it there")
    pid, started = int(worker["pid"]), int(worker["started"])
    # Whoever may write into the folder could name any process of this user.
    if not processes.was_told(pid, "tune"):
        raise CampaignError(f"{path.name}: process {pid} is no colltune tune; end it by hand")
    processes.send([pid], signal.SIGTERM)
    until = time.monotonic() + _PATIENCE_S
    while processes.alive(pid, started) and time.monotonic() < until:
        reap()
        time.sleep(_POLL_S)
    if processes.alive(pid, started):
        processes.send([pid], signal.SIGKILL)
    if tail(path)[-1:] != [_INTERRUPTED]:
        # It had not begun to listen.
        with disk.appended(path / LOG) as log:
            log.write(f"{_INTERRUPTED}\n".encode())
    for plan in [*path.glob("measure*/plan.json"), *path.glob("compare/*/plan.json")]:
        campaign = Campaign(plan.parent)
        if read_json(campaign.state_file) and control.status(campaign)["state"] in UNDER_WAY:
            control.cancel(campaign)


def readme(path: Path) -> str:
    """The README of a bundle; empty without one."""
    try:
        return disk.read_text(path / "bundle" / "README.md")
    except OSError:
        return ""


def stages() -> tuple[str, ...]:
    """Names of the stages in their order."""
    return tuple(stage.name for stage in STAGES)
