"""Prove a rules file: read it, choose sizes in every region, run the library there, and judge what it did."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dashboard.benchmarks.campaigns.plan import buffer_bytes
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.errors import BenchError, NoMpiError
from dashboard.benchmarks.launchers.launch import (
    ONE_THREAD,
    Job,
    Launcher,
    Progress,
    complaints,
    finish_job,
    last_words,
    workplace,
)
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import library_of
from dashboard.benchmarks.libraries.mpich import Mpich
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.benchmarks.libraries.own_settings import allocated_nodes
from dashboard.benchmarks.proof.order import Call, Key, Order, Seen, read_lines
from dashboard.benchmarks.proof.parts import by_sum, parts_of
from dashboard.benchmarks.proof.regions import Region, regions_of
from dashboard.benchmarks.proof.safety import checked
from dashboard.benchmarks.proof.target import OWN, RULES, OnMpich, Target, left_to_library, open_mpi
from dashboard.benchmarks.proof.verdict import TIME_UP, Proof, Verdict, by_parts, judge, taken
from dashboard.benchmarks.proof.who import by_word, taken_by_word
from dashboard.benchmarks.ranks import counting
from dashboard.decisions.grown.default import is_default
from dashboard.domain.units import format_count
from dashboard.export.components import TUNED
from dashboard.export.rules import RulesFile
from dashboard.export.rules.given import notes_alone, read_beside
from dashboard.export.rules.lint import read_rules
from dashboard.export.targets.mpich.base import installed
from dashboard.export.targets.openmpi.nodes import component_of, word_of
from loaders import disk
from loaders.collectives import COLLECTIVES
from loaders.openmpi import DEFAULT_VERSION, series

#: So many processes are proven at most: more of them show nothing else on the cores of one machine.
MOST_RANKS = 16
#: Told of an algorithm that rules ask for with other parameters than the library takes when it is only named.
_ITS_OWN = "with the library's own parameters"
#: Above so many bytes algorithms that are not asked for are called at a region's first size only.
_COMPARED_BYTES = 1 << 18
_WORKER = ("-m", "mpi4py", "-m", "dashboard.benchmarks.proof.worker")
#: A job that writes nothing for so long hangs in a call.
_QUIET_S = 60.0
#: Part of the time that calls may take; the rest is for calling the methods in every way.
_CALLS = 0.75
#: So many calls may take a job down before the proof is given up.
_MOST_DEATHS = 12
#: So many faults of the file are told with the proof; ``colltune lint`` tells all.
_TOLD = 5
#: Series of Open MPI that reads rules of version 3.
_JSON = "6.0"
_UNCALLED = "not called in every way that programs may: the time was up"
_DIED = "never came back: {}"

#: Regions, each with the call that forces what it asks for; None where nothing can.
Asked = Sequence[tuple[Region, Call | None]]


@dataclass(frozen=True)
class Wish:
    """What is to be proven, and within which limits."""

    rules: Path
    #: Start command of the library.
    mpiexec: Path
    #: Interpreter that the ranks run.
    python: Path = Path(sys.executable)
    #: What starts them; None: `mpiexec`, on this machine.
    launcher: Launcher | None = None
    #: Largest communicator that is tried.
    ranks: int = 8
    #: Bytes of buffers that one process may hold.
    memory: int = 4 << 20
    #: Time limit for all jobs together.
    seconds: float = 300.0
    #: Only these; all of the file when empty.
    collectives: tuple[str, ...] = ()
    #: Refuse another one; empty: that of `mpiexec`.
    library: str = ""
    #: HAN's rules that belong to `rules`; both are proven as one decision, across nodes.
    han: Path | None = None

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise BenchError(f"{self.ranks} rank: a proof needs at least 2 (--ranks)")
        if not self.seconds > 0:
            raise BenchError(f"time limit {self.seconds:g}: allowed are seconds above 0")


def prove(wish: Wish, progress: Progress | None = None) -> Proof:
    """Prove a rules file on the installed library.

    Raises
    ------
    RulesError
        When the file cannot be read, or is for another kind of library.
    BenchError
        When there is no library to prove it on, or nothing that can be called; the message says what to do.
    """
    began = time.monotonic()
    target, version = _target(wish.mpiexec, wish.han)
    # What an MPICH decides by itself, which a file for it repeats for all that it does not change.
    held = installed(wish.mpiexec.parent.parent) if isinstance(target, OnMpich) else None
    own = held[1] if held else ""
    rules = (
        read_beside(wish.rules, wish.han, version)[1] if wish.han else read_rules(wish.rules, version=version, own=own)
    )
    _fits(rules, target, wish)
    regions, notes = _regions(rules, wish, _per_node(wish) if wish.han else 1)
    asked = [(region, _asked(target, region)) for region in regions]
    calls = _calls(asked, target)
    runner = _Runner(wish, target, asked, progress)
    results = runner.run(calls) if calls else {}
    left = max(1.0, wish.seconds - (time.monotonic() - began))
    how = wish.mpiexec, wish.python, runner.launcher
    report = checked(target, *how, regions, wish.ranks, left, progress) if results else None
    unsafe = report.faulty if report else ()
    named = [(region, call.name if call else None) for region, call in asked]
    verdicts, acts = _judged(named, calls, results, runner), taken(named, results)
    if target.listens:
        words = [word_of(verdict.region.method, verdict.region.collective) for verdict in verdicts]
        verdicts = tuple(
            by_word(verdict, word, results, runner.unreached) for verdict, word in zip(verdicts, words, strict=True)
        )
        acts = taken_by_word(results, acts)
    return Proof(
        rules=str(wish.rules),
        format=rules.title,
        library=target.name,
        how=target.how,
        ranks=wish.ranks,
        taken=acts,
        errors=rules.errors,
        verdicts=verdicts,
        nodes=max((len(seen.placed) for seen in results.values()), default=1),
        notes=(
            *notes,
            *([f"{format_count(report.missing, 'method')} {_UNCALLED}"] if report and report.missing else []),
            *(f"right only for operations that commute: {finding}" for finding in unsafe if finding.only_commutative),
        ),
        unsafe=tuple(finding for finding in unsafe if finding.excluded),
        seconds=time.monotonic() - began,
    )


def _judged(
    named: Sequence[tuple[Region, str | None]],
    calls: Mapping[Cell, tuple[Call, ...]],
    results: Mapping[Key, Seen],
    runner: _Runner,
) -> tuple[Verdict, ...]:
    """Judge all regions; those left to the library where something else was seen, after a job without rules."""
    names = _names(calls)
    verdicts = [
        judge(region, name, results, names.get(region.collective, ()), runner.stopped, runner.unreached)
        for region, name in named
    ]
    doubtful = [
        verdict.region for verdict in verdicts if verdict.state == "other" and left_to_library(verdict.region.method)
    ]
    alone = runner.without_rules({cell: calls[cell] for region in doubtful for cell in region.cells})
    if alone:
        verdicts = [by_parts(verdict, results, alone, names[verdict.region.collective]) for verdict in verdicts]
    return tuple(by_sum(verdict, results) for verdict in verdicts)


def _target(mpiexec: Path, han: Path | None) -> tuple[Target, str]:
    """The library that belongs to a start command, and the version that rules of Open MPI are read for."""
    library = library_of(mpiexec)
    if isinstance(library, OpenMpi):
        return open_mpi(library, han.resolve() if han else None), series(library.version)
    if han is not None:
        raise BenchError(f"{mpiexec} is of {library.name}, which has no HAN; name the start command of an Open MPI 5.0")
    if isinstance(library, Mpich):
        return OnMpich(library), DEFAULT_VERSION
    raise NoMpiError(f"{mpiexec} is of {library.name}; rules are proven on Open MPI and MPICH")


def _fits(rules: RulesFile, target: Target, wish: Wish) -> None:
    if not target.name.startswith(wish.library):
        raise BenchError(f"{wish.mpiexec} is of {target.name}, not of {wish.library}; name another one (--mpiexec)")
    own = "Open MPI" if rules.format.startswith("openmpi") else "MPICH" if rules.format == "mpich" else rules.title
    if not target.name.startswith(own):
        raise BenchError(
            f"{wish.rules}: {rules.title}, but {wish.mpiexec} is of {target.name}; name the start command of {own} "
            "(--mpiexec), rules of Open MPI and MPICH can be proven"
        )
    if rules.format == "openmpi-3" and series(target.library.version) != _JSON:
        raise BenchError(
            f"{wish.rules}: rules of version 3 need Open MPI 6, and {wish.mpiexec} is of {target.name}; name the start "
            "command of an Open MPI 6 (--mpiexec), or write them for this one ('colltune translate --to openmpi')"
        )


def _per_node(wish: Wish) -> int:
    """Processes on each node, as far as is known; else 1."""
    if wish.launcher is not None and wish.launcher.ppn:
        return wish.launcher.ppn
    return max(1, wish.ranks // allocated_nodes())


def _regions(rules: RulesFile, wish: Wish, per_node: int) -> tuple[list[Region], list[str]]:
    """Regions of the collectives that can be called, and what is left out; of a file that is dropped as it is meant."""
    decisions = rules.decisions or rules.meant
    if not decisions:
        fault = next((str(each) for each in rules.faults if each.severity == "error"), "it decides nothing")
        raise BenchError(f"{wish.rules}: {fault} (colltune lint {wish.rules} lists all faults)")
    alone = [name for name, decision in decisions.items() if rules.format == "mpich" and is_default(decision)]
    named = wish.collectives or tuple(name for name in decisions if name not in alone) or tuple(decisions)
    if lost := [name for name in named if name not in decisions]:
        raise BenchError(f"{wish.rules}: no rules for {lost[0]!r}; it has them for {', '.join(decisions) or 'nothing'}")
    able = [name for name in named if name in COLLECTIVES]
    if not able:
        raise BenchError(f"{wish.rules}: none of {', '.join(named)} can be called; {', '.join(COLLECTIVES)} can")
    left = [name for name in named if name not in able]
    notes = [] if wish.han else notes_alone(wish.rules)
    notes += [f"not called by this version of colltune, so not proven: {', '.join(left)}"] if left else []
    if not wish.collectives and alone and len(alone) < len(decisions):
        notes.append(f"as the library's own file has them, so not looked at: {format_count(len(alone), 'collective')}")
    notes += [str(fault) for fault in rules.faults if fault.severity != "note"][:_TOLD]
    if not rules.decisions:
        notes.append("the reader expects that the library drops this file; looked for is what its author meant")
    return [region for name in able for region in regions_of(decisions[name], wish.ranks, wish.memory, per_node)], notes


def _asked(target: Target, region: Region) -> Call | None:
    """The call that forces what a region asks for; None too where the library's word is enough."""
    if target.listens and component_of(region.method, region.collective) != TUNED:
        return None
    if left_to_library(region.method):
        return target.plain(region.collective)[1]
    return target.forced(region.collective, region.method)


def _calls(asked: Asked, target: Target) -> dict[Cell, tuple[Call, ...]]:
    """All calls by the sizes where they are made: rules, own decision, what rules ask for anywhere, all algorithms."""
    wanted: dict[str, dict[str, Call]] = {}
    for region, call in asked:
        if call is not None:
            wanted.setdefault(region.collective, {})[call.name] = call
    calls: dict[Cell, tuple[Call, ...]] = {}
    for region, call in asked:
        name, needed = region.collective, {RULES, OWN} | ({call.name} if call else set())
        known = {call.name: call for call in target.plain(name)} | wanted.get(name, {})
        others = _others(target, name, known)
        for place, cell in enumerate(region.cells):
            compared = not place or buffer_bytes(cell) <= _COMPARED_BYTES
            every = (*known.values(), *(others if compared else ()))
            calls[cell] = tuple(replace(each, needed=each.name in needed) for each in every)
    if not target.forced_beside_rules:
        parts = [part for region, _ in asked for cell in region.cells for part in parts_of(region.method, cell)]
        for part in parts:
            calls.setdefault(part, target.plain(part.collective)[:1])
    return calls


def _others(target: Target, collective: str, known: Mapping[str, Call]) -> list[Call]:
    """Calls of the algorithms that the rules do not ask for, under names that are not taken."""
    settings = [call.settings for call in known.values()]
    calls = [call for call in target.others(collective) if call.settings not in settings]
    return [call if call.name not in known else replace(call, name=f"{call.name} ({_ITS_OWN})") for call in calls]


def _names(calls: Mapping[Cell, Sequence[Call]]) -> dict[str, tuple[str, ...]]:
    """Names of all calls but that of the rules, by collective; the library's own decision last."""
    by_collective: dict[str, tuple[str, ...]] = {}
    for cell, each in calls.items():
        names = [call.name for call in each if call.name not in (RULES, OWN)]
        by_collective.setdefault(cell.collective, (*names, OWN))
    return by_collective


class _Runner:
    """Runs the jobs of a proof; a call that takes one down is not made again.

    Parameters
    ----------
    asked
        Regions, with the calls that verdicts need; others are made for comparison only.
    """

    def __init__(self, wish: Wish, target: Target, asked: Asked, progress: Progress | None) -> None:
        self._wish, self._target, self._progress = wish, target, progress
        self._needed: dict[str, set[str]] = {}
        for region, call in asked:
            self._needed.setdefault(region.collective, {RULES, OWN}).update({call.name} if call else ())
        self.launcher = wish.launcher or LocalLauncher((str(wish.mpiexec),))
        self._until = time.monotonic() + _CALLS * wish.seconds
        self.stopped, self.unreached = "", TIME_UP

    def run(self, calls: Mapping[Cell, tuple[Call, ...]]) -> dict[Key, Seen]:
        """Make all calls; what the library cannot do beside the rules, in a second job without them."""
        first, rest = (
            {cell: tuple(call for call in each if self._apart(call) == apart) for cell, each in calls.items()}
            for apart in (False, True)
        )
        total = sum(map(len, calls.values()))
        return self._jobs(first, self._wish.rules.resolve(), total) | self._jobs(rest, None, total)

    def _apart(self, call: Call) -> bool:
        """Whether a call belongs into a job without the rules file."""
        if not self._target.forced_beside_rules:
            return call.name != RULES
        return call.name == OWN and not self._target.own_beside_rules

    def without_rules(self, calls: Mapping[Cell, tuple[Call, ...]]) -> dict[Key, Seen]:
        """Make the calls that need no rules in a job that has none; nothing where that job is there anyway."""
        left = {cell: tuple(call for call in each if call.name != RULES) for cell, each in calls.items()}
        return self._jobs(left, None, sum(map(len, left.values()))) if self._target.own_beside_rules else {}

    def _jobs(self, calls: Mapping[Cell, tuple[Call, ...]], rules: Path | None, total: int) -> dict[Key, Seen]:
        """Launch until everything is called; each launch goes on after the call that the one before did not survive."""
        target, seen = self._target, dict[Key, Seen]()
        order = Order(target.evidence, target.counters, target.set_at_call, calls, target.listens)
        with workplace(self.launcher) as folder:
            for attempt in range(_MOST_DEATHS):
                left = order.without(list(seen))
                if not left.calls or time.monotonic() >= self._until:
                    break
                results = folder / f"{attempt}.jsonl"
                reason = self._job(folder, left, results, rules, (len(seen), total))
                more, begun = read_lines(results)
                seen |= more
                # The call that was being made when the time was up is not to blame.
                if not reason or time.monotonic() >= self._until:
                    break
                if begun is None and (seen or not attempt):
                    continue  # on a busy machine a job can take too long to start
                if begun is None:
                    self._nothing_called(folder, left, rules, reason, results.with_suffix(".log"))
                    break
                seen |= self._given_up(left, begun, _DIED.format(reason))
            else:
                self.unreached = f"given up before: {_MOST_DEATHS} jobs had ended early"
        return seen

    def _given_up(self, order: Order, begun: Key, why: str) -> dict[Key, Seen]:
        """The call that took a job down; one that is made for comparison only, at other sizes too."""
        cell, name = begun
        if name in self._needed[cell.collective]:
            return {begun: Seen(why)}
        same = [other for other in order.calls if other.collective == cell.collective]
        return {(other, name): Seen(why) for other in same if other.comm_size == cell.comm_size} | {begun: Seen(why)}

    def _nothing_called(self, folder: Path, order: Order, rules: Path | None, reason: str, log: Path) -> None:
        """Find out whether it is the rules file that no call was made with; BenchError when it is not."""
        if rules is not None and not self._job(folder, order.first(), folder / "without.jsonl", None, (0, 1)):
            self.stopped = f"with this file every program is stopped at its start: {reason}"
            return
        last = " ".join(last_words(disk.tail(log, _TOLD)))
        words = f" ({last})" if last else ""
        raise BenchError(f"no job can be run with {self._wish.mpiexec} and {self._wish.python}: {reason}{words}")

    def _job(self, folder: Path, order: Order, results: Path, rules: Path | None, done: tuple[int, int]) -> str:
        """Run one job to its end; why it did not make all its calls, empty when it did."""
        order_file, log = results.with_suffix(".json"), results.with_suffix(".log")
        order.save(order_file)
        program = (str(self._wish.python), *_WORKER, str(order_file), str(results))
        environment = {**ONE_THREAD, **self._target.environment(rules, here=self.launcher.here)}
        seconds = max(1.0, self._until - time.monotonic())
        with counting.preloaded(folder, needed=self._target.preloads) as preloaded:
            environment |= preloaded
            job = Job(folder, order.ranks, program, environment, seconds, log, watched=(results,), quiet=_QUIET_S)
            status = finish_job(self.launcher, job, self._progress, partial(_far, results, *done))
        return "" if status.state == "finished" else [*complaints(log), status.reason][0]


def _far(results: Path, before: int, total: int) -> tuple[float, str]:
    """How many calls were made, with those of jobs before."""
    done = before + sum(1 for _ in disk.read_lines(results)) // 2
    return done / max(1, total), f"{done:,} of {total:,} calls"
