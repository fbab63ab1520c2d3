"""The loop: batches of programs under the library that tunes, with training and judging between them."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.slurm import Request
from dashboard.domain.units import format_count
from dashboard.online.batches import Say, perform
from dashboard.online.errors import OnlineError
from dashboard.online.runs import Run
from dashboard.online.state import Folder, append_line, read_lines
from loaders import LoadError, disk
from loaders.online import programs_of, run_of, totals_of
from loaders.source import Source

_JUDGED = "evaluations"
_ALL_CALLS = str(2**32 - 1)


@dataclass(frozen=True)
class Plan:
    """What a loop runs."""

    #: Commands in mode tuning.
    runs: tuple[tuple[str, ...], ...]
    #: Commands in modes tuned and default, which are never learnt from.
    evaluate: tuple[tuple[str, ...], ...] = ()
    iterations: int = 10
    #: So many of `runs`, drawn at random, in an iteration, none of them twice; None: all of them.
    each: int | None = None
    #: Iterations between evaluations.
    every: int = 10
    #: That a run may take.
    seconds: float | None = None
    #: What each run of a batch asks Slurm for, as a job of an array; None: they run here, one after the other.
    slurm: Request | None = None


def read_plan(path: Path) -> Plan:
    """Read a plan: a JSON object of the attributes of `Plan`, commands as lists of words.

    Raises
    ------
    OnlineError
        It cannot be read, or something in it is wrong.
    """
    try:
        return _plan(disk.read_json(path))
    except OSError as error:
        raise OnlineError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, AttributeError, BenchError) as error:
        raise OnlineError(f"{path}: {error}") from None


def _is_command(words: Any) -> bool:
    return isinstance(words, list) and bool(words) and all(isinstance(word, str) for word in words)


def _plan(data: Any) -> Plan:
    if not isinstance(data, dict):
        raise OnlineError('a plan is a JSON object, such as {"runs": [["mpiexec", "./program"]]}')
    if unknown := sorted(set(data) - set(Plan.__dataclass_fields__)):
        raise OnlineError(f"there is no {unknown[0]!r} in a plan")
    for name in ("runs", "evaluate"):
        commands = data.get(name, [])
        if not isinstance(commands, list) or not all(map(_is_command, commands)):
            raise OnlineError(f"{name} must be a list of commands, each a list of words")
        data[name] = tuple(tuple(command) for command in commands)
    if data.get("slurm") is not None:
        slurm = data["slurm"]
        data["slurm"] = Request.from_record({"array": 1, **slurm} if isinstance(slurm, dict) else slurm)
    plan = Plan(**data)
    counts = (plan.iterations, plan.every, *([] if plan.each is None else [plan.each]))
    fits = plan.runs and all(type(count) is int and count >= 1 for count in counts)
    if plan.slurm is not None and plan.seconds is None:
        raise OnlineError("jobs of Slurm need a time limit; say the seconds of a run, such as 600")
    if not fits or not (plan.seconds is None or (isinstance(plan.seconds, int | float) and plan.seconds > 0)):
        raise OnlineError("runs, iterations, every and each must be at least 1, seconds above 0")
    return plan


def loop(folder: Folder, plan: Plan, seed: int, say: Say) -> None:
    """Run batches, train after each, judge now and then; what is done already is not done again.

    Raises
    ------
    OnlineError
        A program failed, and called again the loop goes on with it; or another process learns in the folder.
    """
    with folder.held():
        _loop(folder, plan, seed, say)


def _loop(folder: Folder, plan: Plan, seed: int, say: Say) -> None:
    if (plan.each or 0) > len(plan.runs):
        many = "an iteration has every run once; name a command several times to have it run so often"
        say(f"note: each is {plan.each} of {format_count(len(plan.runs), 'run')}: {many}")
    if (done := len(folder.progress)) and _due(plan, done):
        # It failed, or somebody ended it: what is there of it is not done again.
        _evaluate(folder, plan, done, say)
    for iteration in range(len(folder.progress) + 1, plan.iterations + 1):
        drawn = random.Random(f"{seed} {iteration}").sample(  # noqa: S311 - no secret
            range(len(plan.runs)), min(plan.each or len(plan.runs), len(plan.runs))
        )
        tasks = [[Run(f"i{iteration}-r{number}", plan.runs[number], "tuning")] for number in drawn]
        perform(folder, f"i{iteration}", tasks, plan.seconds, plan.slurm, say)
        collected = folder.collect(0.0)
        model = folder.train(collected.left_out())
        for note in (*collected.notes, *collected.left_out()):
            say(f"note: {note}")
        say(f"iteration {iteration}: {model.provenance['timings']:,} timings")
        if _due(plan, iteration):
            _evaluate(folder, plan, iteration, say)


def _due(plan: Plan, iteration: int) -> bool:
    """Whether what was learnt is judged after an iteration."""
    return bool(plan.evaluate) and (iteration % plan.every == 0 or iteration == plan.iterations)


def _evaluate(folder: Folder, plan: Plan, iteration: int, say: Say) -> None:
    """Run what judges, by the library's own decision and by what was learnt: both of a command in one job."""
    ways = {"default": "trace", "tuned": "tuned"}
    judged_before = [record["command"] for record in evaluations(folder) if record["iteration"] == iteration]
    left = [command for command in plan.evaluate if list(command) not in judged_before]
    tasks = [
        [Run(f"e{iteration}-{n}-{way}", command, mode, _JUDGED, _ALL_CALLS) for way, mode in ways.items()]
        for n, command in enumerate(left, len(judged_before))
    ]
    if not tasks:
        return
    perform(folder, f"e{iteration}", tasks, plan.seconds, plan.slurm, say)
    for runs in tasks:
        record: dict[str, Any] = {"iteration": iteration, "command": list(runs[0].command)}
        record |= {way: judged(folder.path / _JUDGED, run.name) for way, run in zip(ways, runs, strict=True)}
        append_line(folder.path / "evaluations.jsonl", record, check_evaluation)


def judged(out: Path, run: str) -> dict[str, float]:
    """Seconds in collectives (the sum of all calls' times), calls, and seconds of a run; of all its programs."""
    sums = {"collectives": 0.0, "calls": 0, "run": 0.0}
    for program, trace in programs_of(out, run).items():
        try:
            _, calls = run_of(Source(trace))
        except LoadError as error:
            raise OnlineError(str(error)) from None
        sums["collectives"] += float(calls["time"].sum())
        sums["calls"] += len(calls)
        sums["run"] += float(disk.read_json(totals_of(out, program))["seconds"])
    return sums


def evaluations(folder: Folder) -> list[dict[str, Any]]:
    """What was judged so far."""
    return read_lines(folder.path / "evaluations.jsonl", check_evaluation)


def check_evaluation(record: Mapping[str, Any]) -> None:
    """Raise where it is no record of an evaluation."""
    _ = index(record["iteration"]), " ".join(record["command"])
    # Those of earlier versions do not say how long the run took.
    _ = [(float(each["collectives"]), float(each.get("run", 0))) for each in (record["default"], record["tuned"])]
