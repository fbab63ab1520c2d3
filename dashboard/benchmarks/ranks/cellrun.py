"""One cell of a campaign: every method verified, then timed in turns. Under mpiexec; mpi4py is not imported here."""

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dashboard.benchmarks.campaigns.plan import ROTATED_BYTES, Plan, buffer_bytes
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.campaigns.protocol import Protocol as Way
from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.benchmarks.providers.bound import Bound
from dashboard.benchmarks.providers.team import Methods
from dashboard.benchmarks.ranks import waiting
from dashboard.benchmarks.ranks.counting import Counters, Sent, counted
from dashboard.benchmarks.ranks.operations import Operation, Types
from dashboard.benchmarks.ranks.statistics import relative_error
from dashboard.benchmarks.ranks.timing import Group, Window, after_barrier, looped, synchronised
from dashboard.schedules import NotApplicableError
from loaders.collectives import ROOTED

_DIGITS = 10
#: Seconds that the repetitions of a point may always take.
_SHORTEST = 0.01
_HASH = 16
#: Rounds and repetitions after which a method may be beaten, and how much longer it must take.
_RACED_ROUNDS, _RACED_SAMPLES, _SLOWER = 2, 5, 1.5


@dataclass
class Outcome:
    """What was found of one method in a cell."""

    #: Seconds, raw.
    samples: list[float] = field(default_factory=list)
    #: Repetitions that were left out because a process started late.
    late: int = 0
    #: Why it was not timed; empty when it was.
    error: str = ""
    #: Of messages, see `graph_of`; empty when not recorded.
    graph: Mapping[str, Any] = field(default_factory=dict)
    #: Code that may have run, see `dashboard.benchmarks.providers.bound.Bound`.
    programs: tuple[str, ...] = ()
    #: Repetitions so far, with those that were left out.
    tries: int = 0
    #: Seconds that they took this process, and how long of that it waited for its core.
    spent: float = 0.0
    waited: float = 0.0
    #: Seconds of the repetitions during which some process waited for its core, see `waiting.SHARE`.
    stolen: list[float] = field(default_factory=list)


@dataclass
class Team:
    """Processes of one communicator size, and how they are given a method."""

    #: For everything but the operation itself.
    group: Group
    #: Handles of the MPI library.
    types: Types
    #: Binds methods to the buffers of a cell.
    methods: Methods
    #: Messages sent to each process of the whole job; None when they are not recorded.
    counters: Counters | None
    #: Ranks of this team's processes in the whole job.
    members: Sequence[int]
    #: Told the point that is about to be called for the first time, and None when all have come back.
    note: Callable[[Mapping[str, Any] | None], None]


def measure(
    team: Team,
    plan: Plan,
    cell: Cell,
    methods: Sequence[Method],
    attempt: int,
    known: Mapping[Method, str],
    seconds: float = math.inf,
) -> list[dict[str, Any]]:
    """Measure all methods of a cell; collective over the team.

    Parameters
    ----------
    attempt
        Number of the start of the campaign, from 1; with seed and launch it gives the order of the methods in a round.
    known
        Why methods were refused here in an earlier launch, empty where not; they are not called again, since some
        never come back.
    seconds
        Time for the repetitions of a point at most, where that is less than the plan's.

    Returns
    -------
    list of dict
        Points as a run file takes them; the same on all processes, but for refusals' texts.
    """
    protocol = replace(plan.protocol, seconds=min(plan.protocol.seconds, max(seconds, _SHORTEST)))
    copies = 1
    if protocol.buffers == "rotate" and cell.message_size:
        copies = max(2, min(64, math.ceil(min(ROTATED_BYTES, plan.memory) / buffer_bytes(cell))))
    rank, skew = team.group.comm.Get_rank(), protocol.counts == "skewed"
    operation = Operation(cell, rank, team.types, plan.datatype_of(cell), copies, skew=skew)
    outcomes = {}
    for method in methods:
        if known.get(method):
            outcomes[method] = Outcome(error=known[method])
            continue
        team.note(_identity(cell, method))
        outcomes[method] = _verified(team, operation, cell, method, protocol)
    team.note(None)
    timed = [method for method in methods if not outcomes[method].error]
    sizes = (cell.launch, cell.comm_size, cell.message_size)
    seeded = np.random.default_rng([plan.seed, attempt, *f"{cell.collective}{cell.datatype}".encode(), *sizes])
    way: _Skampi | _Occ = _Occ(team.group, protocol) if protocol.name == "occ" else _Skampi(team.group)
    _in_turns(team, cell, operation, protocol, {m: outcomes[m] for m in timed}, seeded, way)
    shared: dict[str, Any] = {"attempt": attempt}
    if plan.launches > 1:
        shared["launch"] = cell.launch
    if protocol.name == "skampi" and team.group.starts_by_barrier:
        shared["starts"] = "barrier"
    if team.group.crowded:
        shared["crowded"] = True
    times = [(outcomes[method].waited, outcomes[method].spent) for method in methods]
    waits = waiting.longest(team.group.comm, team.members, times)
    return [_point(cell, each, outcomes[each], shared, wait) for each, wait in zip(methods, waits, strict=True)]


def _verified(team: Team, operation: Operation, cell: Cell, method: Method, protocol: Way) -> Outcome:
    """Call a method once with known data; what it sent is counted meanwhile."""
    problem: str = ""
    sent: Sent | None = None
    ran: tuple[str, ...] = ()
    roots = {0, cell.comm_size - 1} if protocol.roots == "rotate" and cell.collective in ROOTED else {0}
    try:
        bound = team.methods.bind(operation, method)
        ran = bound.programs
        for root in sorted(roots, reverse=True):
            operation.prepare(root)
            with team.methods.strictly():
                sent = _counted(team, bound, root)
            if not operation.right(root):
                problem = f"wrong result on rank {operation.rank}"
    except (RuntimeError, NotApplicableError) as error:
        # The last line of MPICH's is the reason, the others tell the way there.
        problem = f"refused: {' '.join(str(error).strip().splitlines()[-1:])}"[:200]
    answers = team.group.comm.allgather((problem, sent))
    first = next((fault for fault, _ in answers if fault), "")
    rows = [row for _, row in answers]
    return Outcome(error=first, graph={} if first or None in rows else graph_of(rows), programs=ran)


def _counted(team: Team, bound: Bound, root: int) -> Sent | None:
    """Call a method once; messages and bytes that this process sent to others of the team, None where not known."""
    if bound.sent is not None or team.counters is None:
        bound.call(0, root)
        return bound.sent(root) if bound.sent is not None else None
    places = {rank: place for place, rank in enumerate(team.members)}
    sent = counted(team.counters, partial(bound.call, 0, root))
    return [(places[to], messages, size) for to, messages, size in sent if to in places]


def graph_of(rows: Sequence[Sent]) -> dict[str, Any]:
    """Messages of one call.

    Parameters
    ----------
    rows
        For each process what it sent, as ``(to, messages, bytes)``.

    Returns
    -------
    dict
        ``digest`` of all of it, ``messages`` and ``bytes`` of all processes together, and the ``busiest`` process's
        number of messages sent. Equal digests mean that the same messages went the same ways, not in which order.
    """
    text = repr([sorted(tuple(map(int, sent)) for sent in row) for row in rows])
    messages = [sum(count for _, count, _ in row) for row in rows]
    return {
        "digest": hashlib.sha256(text.encode()).hexdigest()[:_HASH],
        "messages": sum(messages),
        "bytes": sum(size for row in rows for _, _, size in row),
        "busiest": max(messages, default=0),
    }


class _Skampi:
    """Batches of repetitions that start at common times, or after a barrier; each method has its own window."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._windows: dict[Method, Window] = {}

    def start_round(self, repetitions: int) -> None:
        """Nothing to do."""

    def batch(self, method: Method, step: Callable[[int], None], repetitions: int) -> tuple[list[float], int]:
        """Seconds of the repetitions, and how many were late."""
        if self._group.starts_by_barrier:
            return after_barrier(self._group, step, repetitions).tolist(), 0
        times, late = synchronised(self._group, step, repetitions, self._windows.setdefault(method, Window()))
        if late == repetitions:
            # From the last start to the last end is shorter than the operation, and would win.
            times = after_barrier(self._group, step, repetitions)
        return times.tolist(), late

    def finish(self, outcome: Outcome) -> None:
        """Nothing to do."""


class _Occ:
    """Batches of loops of operation and barrier; the barrier alone is measured in every round."""

    def __init__(self, group: Group, protocol: Way) -> None:
        self._group, self._iterations = group, protocol.iterations
        self._barriers: list[float] = []

    def start_round(self, repetitions: int) -> None:
        """Measure the barrier alone."""
        self._barriers += looped(self._group, None, repetitions, self._iterations).tolist()

    def batch(self, method: Method, step: Callable[[int], None], repetitions: int) -> tuple[list[float], int]:
        """Seconds of an iteration in each loop."""
        return looped(self._group, step, repetitions, self._iterations).tolist(), 0

    def finish(self, outcome: Outcome) -> None:
        """Take the barrier's median off; what is not above 0 then is no time."""
        barrier = float(np.median(self._barriers))
        times = [sample - barrier for sample in outcome.samples]
        outcome.samples = [sample for sample in times if sample > 0]
        outcome.late = len(times) - len(outcome.samples)
        if not outcome.samples:
            outcome.error = f"not resolved: no longer than the barrier of {barrier:.3g} s; take more iterations"


def _in_turns(
    team: Team,
    cell: Cell,
    operation: Operation,
    protocol: Way,
    outcomes: Mapping[Method, Outcome],
    random: np.random.Generator,
    way: _Skampi | _Occ,
) -> None:
    """Time the methods in rounds until each is precise enough, has its repetitions or its time."""
    batch = math.ceil(protocol.min_repetitions / protocol.rounds)
    longest = {method: _warmed(team, operation, method, protocol) for method in outcomes}
    active, rounds = list(outcomes), 0
    while active:
        way.start_round(batch)
        for place in random.permutation(len(active)):
            method = active[place]
            outcome = outcomes[method]
            bound = team.methods.bind(operation, method)
            per = protocol.iterations if protocol.name == "occ" else 1
            in_time = int(protocol.seconds / (protocol.rounds * per * longest[method] + 1e-9))
            repetitions = max(1, min(batch, protocol.max_repetitions - outcome.tries, in_time))
            roots = cell.comm_size if protocol.roots == "rotate" and cell.collective in ROOTED else 1
            bound.ready(outcome.tries, repetitions * per, roots)
            step = _stepper(bound, outcome.tries, roots)
            _timed(team.group, outcome, repetitions, partial(way.batch, method, step, repetitions))
        rounds += 1
        beaten = _beaten(outcomes) if protocol.race and rounds >= _RACED_ROUNDS else set()
        still = [method not in beaten and not _enough(outcomes[method], protocol, rounds) for method in active]
        still = team.group.comm.bcast(still, 0)
        active = [method for method, more in zip(active, still, strict=True) if more]
    for outcome in outcomes.values():
        outcome.samples = outcome.samples or outcome.stolen
        way.finish(outcome)


def _timed(group: Group, outcome: Outcome, repetitions: int, batch: Callable[[], tuple[list[float], int]]) -> None:
    """Time a batch; its times count if every process had its core meanwhile, or cannot as there are not enough."""
    start, waited = time.perf_counter(), waiting.waited()
    samples, late = batch()
    spent, waited = time.perf_counter() - start, waiting.waited() - waited
    outcome.tries += repetitions
    outcome.late += late
    outcome.spent += spent
    outcome.waited += waited
    share = np.array([max(0.0, waited / spent)])
    largest = np.zeros(1)
    if not group.crowded:
        group.comm.Allreduce(share, largest, op=group.maximum)
    if largest[0] > waiting.SHARE:
        outcome.stolen += samples
    else:
        outcome.samples += samples


def _warmed(team: Team, operation: Operation, method: Method, protocol: Way) -> float:
    """Call a method untimed; seconds of the last call on the slowest process."""
    bound = team.methods.bind(operation, method)
    took = np.zeros(1)
    for turn in range(max(1, protocol.warm_up)):
        start = time.perf_counter()
        bound.call(turn, 0)
        took[0] = time.perf_counter() - start
    slowest = np.zeros(1)
    team.group.comm.Allreduce(took, slowest, op=team.group.maximum)
    return float(slowest[0])


def _stepper(bound: Bound, first: int, roots: int) -> Callable[[int], None]:
    call = bound.call
    if roots > 1:
        return lambda turn: call(first + turn, (first + turn) % roots)
    return lambda turn: call(first + turn, 0)


def _beaten(outcomes: Mapping[Method, Outcome]) -> set[Method]:
    """Methods whose fastest quarter takes longer than the slowest quarter of another one, and half as long again."""
    ends = {
        method: np.percentile(outcome.samples, [25, 50, 75])
        for method, outcome in outcomes.items()
        if len(outcome.samples) >= _RACED_SAMPLES
    }
    if not ends:
        return set()
    best = min(ends.values(), key=lambda quarters: float(quarters[1]))
    return {
        method
        for method, (low, middle, _) in ends.items()
        if low > best[2] and middle > _SLOWER * best[1] and method.algorithm != DEFAULT
    }


def _enough(outcome: Outcome, protocol: Way, rounds: int) -> bool:
    if outcome.tries >= protocol.max_repetitions or outcome.spent >= protocol.seconds:
        return True
    if rounds < protocol.rounds or len(outcome.samples) < protocol.min_repetitions:
        return False
    return relative_error(outcome.samples) <= protocol.relative_error


def _point(
    cell: Cell, method: Method, outcome: Outcome, shared: Mapping[str, Any], wait: Mapping[str, Any]
) -> dict[str, Any]:
    """The point as a run file takes it; `shared` holds what it has in common with the others of its cell."""
    point = {**_identity(cell, method), **shared}
    if outcome.error:
        return {**point, "error": outcome.error}
    if outcome.graph:
        point["graph"] = {**outcome.graph, "programs": list(outcome.programs)}
    counts = {"late": outcome.late, "stolen": len(outcome.stolen), "waited": wait}
    point |= {name: value for name, value in counts.items() if value}
    return {**point, "samples": [round(sample, _DIGITS) for sample in outcome.samples]}


def _identity(cell: Cell, method: Method) -> dict[str, Any]:
    """What tells the point from all others, as a run file takes it."""
    point: dict[str, Any] = {"collective": cell.collective, **method.to_json(), "comm_size": cell.comm_size}
    point["message_size"] = cell.message_size
    launch = cell.launch if cell.launch > 1 else None
    further = {"ppn": cell.ppn, "launch": launch, "element_type": cell.datatype or None}
    return point | {name: value for name, value in further.items() if value is not None}
