"""Programs run under the library that tunes: alone, or in batches with training and judging between them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.online.errors import OnlineError
from dashboard.online.state import Folder, append_line, read_lines, totals_of
from loaders import LoadError, disk
from loaders.online import run_of
from loaders.source import Source

MODES = ("off", "trace", "tuning", "tuned")
_LAUNCHERS = ("mpiexec", "mpirun")
_ALL_CALLS = str(2**32 - 1)
_PATIENCE_S = 5.0
#: ``say(text)``: takes a line for people.
Say = Callable[[str], None]


def environment(
    folder: Folder, mode: str, run: str, *, out: Path | None = None, calls: str | None = None
) -> dict[str, str]:
    """Variables that tell the preloaded library what to do.

    Parameters
    ----------
    mode
        One of `MODES`.
    run
        Name of the run; draws depend on it.
    out
        Where the traces go, by default to those of the folder.
    calls
        How many calls of a communicator are noted, by default as the library likes.
    """
    said = {
        "COLLTUNE_ONLINE": mode,
        "COLLTUNE_ONLINE_OUT": str((out or folder.traces).resolve()),
        "COLLTUNE_ONLINE_RUN": run,
    }
    if folder.model.exists():
        said["COLLTUNE_ONLINE_MODEL"] = str(folder.model.resolve())
    return said | ({"COLLTUNE_ONLINE_CALLS": calls} if calls else {})


def command_of(folder: Folder, command: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command with the library in front of its program, and the variable where the command takes it from there."""
    library = folder.path.resolve() / "libcolltune_online.so"
    if not library.exists():
        raise OnlineError(f"{library} is not there; 'colltune online init' builds it")
    # What else is preloaded stays.
    preloaded = ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))
    if Path(command[0]).name in _LAUNCHERS:
        # The launcher itself is no program of MPI.
        return [command[0], "-x", f"LD_PRELOAD={preloaded}", *command[1:]], {}
    return list(command), {"LD_PRELOAD": preloaded}


def run_command(
    folder: Folder,
    command: Sequence[str],
    said: Mapping[str, str],
    *,
    log: Path | None = None,
    seconds: float | None = None,
) -> int:
    """Run a program to its end; its exit status.

    Raises
    ------
    OnlineError
        It cannot be started, or took more than `seconds`.
    """
    words, further = command_of(folder, command)
    stream = log.open("ab") if log else None
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own program
            words, env={**os.environ, **said, **further}, stdout=stream, stderr=stream, start_new_session=True
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


@dataclass(frozen=True)
class Plan:
    """What a loop runs.

    Attributes
    ----------
    runs
        Commands in mode tuning.
    evaluate
        Commands in modes tuned and default, which are never learnt from.
    each
        So many of `runs`, drawn at random, in an iteration; None: all of them.
    every
        Iterations between evaluations.
    seconds
        That a run may take.
    """

    runs: tuple[tuple[str, ...], ...]
    evaluate: tuple[tuple[str, ...], ...] = ()
    iterations: int = 10
    each: int | None = None
    every: int = 10
    seconds: float | None = None


def read_plan(path: Path) -> Plan:
    """Read a plan: a JSON object of the attributes of `Plan`, commands as lists of words.

    Raises
    ------
    OnlineError
        It cannot be read, or something in it is wrong.
    """
    try:
        data = disk.read_json(path)
        if unknown := sorted(set(data) - set(Plan.__dataclass_fields__)):
            raise OnlineError(f"{path}: there is no {unknown[0]!r} in a plan")
        for name in ("runs", "evaluate"):
            commands = data.get(name, [])
            if not all(isinstance(c, list) and c and all(isinstance(word, str) for word in c) for c in commands):
                raise OnlineError(f"{path}: {name} must be a list of commands, each a list of words")
            data[name] = tuple(tuple(command) for command in commands)
        plan = Plan(**data)
        counts = (plan.iterations, plan.every, *([] if plan.each is None else [plan.each]))
        fits = plan.runs and all(type(count) is int and count >= 1 for count in counts)
        in_time = plan.seconds is None or plan.seconds > 0
    except OSError as error:
        raise OnlineError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise OnlineError(f"{path}: {error}") from None
    if not fits or not in_time:
        raise OnlineError(f"{path}: runs, iterations, every and each must be at least 1, seconds above 0")
    return plan


def loop(folder: Folder, plan: Plan, seed: int, say: Say) -> None:
    """Run batches, train after each, judge now and then; what is done already is not done again.

    Raises
    ------
    OnlineError
        A program failed; called again the loop goes on with it.
    """
    for iteration in range(len(folder.progress) + 1, plan.iterations + 1):
        drawn = random.Random(f"{seed} {iteration}").sample(  # noqa: S311 - no secret
            range(len(plan.runs)), min(plan.each or len(plan.runs), len(plan.runs))
        )
        for number in drawn:
            _once(folder, plan, plan.runs[number], "tuning", f"i{iteration}-r{number}", folder.traces)
        collected = folder.collect(0.0)
        for note in (*collected.notes, *(f"{name}: {why}" for name, why in collected.skipped.items())):
            say(f"note: {note}")
        model = folder.train()
        say(f"iteration {iteration}: {model.provenance['timings']:,} timings")
        if plan.evaluate and (iteration % plan.every == 0 or iteration == plan.iterations):
            _evaluate(folder, plan, iteration)


def _once(
    folder: Folder, plan: Plan, command: Sequence[str], mode: str, run: str, out: Path, calls: str | None = None
) -> None:
    """One run, unless it has been to its end; what a former try left is removed."""
    out.mkdir(exist_ok=True)
    if totals_of(out, run).exists():
        return
    for file in out.glob(f"{run}.*.trace"):
        file.unlink()
    logs = folder.path / "logs"
    logs.mkdir(exist_ok=True)
    said = environment(folder, mode, run, out=out, calls=calls)
    code = run_command(folder, command, said, log=logs / f"{run}.log", seconds=plan.seconds)
    if code:
        raise OnlineError(f"{' '.join(command)} ended with {code}; see {logs / f'{run}.log'}")
    if not totals_of(out, run).exists():
        raise OnlineError(f"{' '.join(command)} left no traces: is it a program of MPI, of {folder.table.library}?")


def _evaluate(folder: Folder, plan: Plan, iteration: int) -> None:
    """Run what judges, by the library's own decision and by what was learnt."""
    out = folder.path / "evaluations"
    for number, command in enumerate(plan.evaluate):
        record: dict[str, Any] = {"iteration": iteration, "command": list(command)}
        for name, mode in (("default", "trace"), ("tuned", "tuned")):
            run = f"e{iteration}-{number}-{name}"
            _once(folder, plan, command, mode, run, out, _ALL_CALLS)
            record[name] = judged(out, run)
        if record not in evaluations(folder):
            append_line(folder.path / "evaluations.jsonl", record, check_evaluation)


def judged(out: Path, run: str) -> dict[str, float]:
    """Seconds in collectives (the sum of all calls' times), calls, and seconds of the whole run."""
    totals = disk.read_json(totals_of(out, run))
    try:
        _, calls = run_of(Source(out / f"{run}.0.trace"))
    except LoadError as error:
        raise OnlineError(str(error)) from None
    return {"collectives": float(calls["time"].sum()), "calls": len(calls), "run": float(totals["seconds"])}


def evaluations(folder: Folder) -> list[dict[str, Any]]:
    """What was judged so far."""
    return read_lines(folder.path / "evaluations.jsonl", check_evaluation)


def check_evaluation(record: Mapping[str, Any]) -> None:
    """Raise where it is no record of an evaluation."""
    _ = int(record["iteration"]), " ".join(record["command"])
    _ = [float(record[name]["collectives"]) for name in ("default", "tuned")]
