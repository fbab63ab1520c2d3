"""Runs a method and compares every buffer with what the collective promises: results, inputs, guards and gaps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dashboard.schedules.call import Call
from dashboard.schedules.datatypes import CONTIGUOUS, DATATYPES, GuardedElements, by_elements
from dashboard.schedules.errors import NotApplicableError, ScheduleError, WrongResultError
from dashboard.schedules.expectation import POISON, SHAPE, Array, Held, after, before, operation
from dashboard.schedules.in_process import Combine, Job, run
from dashboard.schedules.schedule import Program, Schedule, resolve, schedule

#: Elements before and after each buffer, and what they hold.
GUARDS = 2
GUARD = -7


@dataclass(frozen=True)
class Case:
    """What is verified.

    Attributes
    ----------
    call, algorithm, parameters
        The call and the method.
    eager
        Whether sends are complete before they are received.
    seed
        Of the order in which ranks go on; None: in turn.
    between
        Whether another collective is called between the two calls.
    datatype
        Of the elements: contiguous, or one of `dashboard.schedules.datatypes.DATATYPES`.
    """

    call: Call
    algorithm: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    eager: bool = True
    seed: int | None = None
    between: bool = False
    datatype: str = CONTIGUOUS

    def __str__(self) -> str:
        call = self.call
        words = [f"{call.collective} {self.algorithm}", f"P={call.processes}", f"count={call.count}"]
        words += [f"{name}={value}" for name, value in self.parameters.items()]
        words += [f"root={call.root}"] * bool(call.root) + ["in place"] * call.in_place
        words += ["differing counts"] * (call.counts is not None) + ["with gaps"] * (call.displacements is not None)
        words += ["not commutative"] * (not call.commutative) + ["a barrier between"] * self.between
        words += [f"datatype={self.datatype}"] * (self.datatype != CONTIGUOUS)
        return ", ".join([*words, "eager" if self.eager else "rendezvous", f"seed={self.seed}"])


class Guarded:
    """Buffers of one rank for one turn, with guards around them."""

    def __init__(self, held: Held, scratch: int) -> None:
        self._all = [np.full((length + 2 * GUARDS, *SHAPE), GUARD) for length in (*map(len, held), scratch)]
        for buffer, content in zip(self.memory, (*held, np.full(SHAPE, POISON)), strict=True):
            buffer[...] = content
        self._input = held.input

    @property
    def memory(self) -> tuple[Array, Array, Array]:
        """Input, output and scratch memory."""
        source, target, scratch = (each[GUARDS:-GUARDS] for each in self._all)
        return source, target, scratch

    def check(self, rank: int, expected: Array) -> None:
        """Raise `WrongResultError` when a guard, the input or the output is not as it must be."""
        names = ("input", "output", "scratch memory")
        for name, each in zip(names, self._all, strict=True):
            if (each[:GUARDS] != GUARD).any() or (each[-GUARDS:] != GUARD).any():
                raise WrongResultError(f"rank {rank}: written beyond its {name}")
        source, target, _ = self.memory
        if not np.array_equal(source, self._input):
            raise WrongResultError(f"rank {rank}: its input was written to")
        if not np.array_equal(target, expected):
            wrong = int(np.flatnonzero((target != expected).any(axis=(1, 2)))[0])
            raise WrongResultError(f"rank {rank}: element {wrong} of {len(expected)} is wrong")


def guarded(held: Held, scratch: int, datatype: str) -> Guarded | GuardedElements:
    """Buffers of a rank for elements of a type."""
    known = DATATYPES.get(datatype)
    return Guarded(held, scratch) if known is None else GuardedElements(held, scratch, known)


def combine_of(case: Case) -> Combine:
    """The operation that a case is verified with, over its elements."""
    made = operation(case.call)
    return made if case.datatype == CONTIGUOUS else by_elements(made)


def verify(case: Case) -> Schedule:
    """Run a case without MPI, twice in a row with different data and nothing in between.

    Returns
    -------
    Schedule
        What was run: of the fallback where the algorithm cannot serve.

    Raises
    ------
    NotApplicableError
        When neither the algorithm nor its fallback can serve the call.
    ScheduleError
        When the result is wrong, ranks wait for ever, or messages do not match.
    """
    made = schedule(case.call, case.algorithm, fallback=True, **case.parameters)
    check(case, made.programs)
    return made


def check(case: Case, programs: Sequence[Program]) -> None:
    """Run the programs of a case, whoever wrote them, and judge all buffers; `ScheduleError` when one is wrong."""
    call = case.call
    rows = [program.rows.tolist() for program in programs]
    turns = []
    for turn in (0, 1):
        held = before(call, turn)
        turns.append([guarded(held[rank], each.scratch, case.datatype) for rank, each in enumerate(programs)])
    jobs = [[Job(rows[rank], turn[rank].memory) for turn in turns] for rank in range(call.processes)]
    if case.between:
        for rank, each in enumerate(schedule(Call("barrier", call.processes), "bruck").programs):
            jobs[rank].insert(1, Job(each.rows.tolist(), turns[0][rank].memory))
    run(jobs, combine_of(case), eager=case.eager, seed=case.seed)
    for turn, buffers in enumerate(turns):
        for rank, expected in enumerate(after(call, turn)):
            try:
                buffers[rank].check(rank, expected)
            except WrongResultError as error:
                raise WrongResultError(f"call {turn + 1}: {error}") from None


def ran(case: Case) -> str:
    """Name of the algorithm that a case runs: its fallback where it cannot serve the call.

    Raises
    ------
    NotApplicableError
        When neither can.
    """
    return resolve(case.call, case.algorithm, dict(case.parameters), fallback=True)[0].name


def fallbacks(counted: Mapping[tuple[str, str, str], int]) -> list[dict[str, Any]]:
    """Cases that a fallback ran, of cases counted by collective, algorithm and what ran."""
    names = ("collective", "algorithm", "ran")
    return [
        {**dict(zip(names, key, strict=True)), "cases": count} for key, count in counted.items() if key[1] != key[2]
    ]


def failure(case: Case) -> str:
    """What is wrong with a case; empty when it is right.

    Raises
    ------
    NotApplicableError
        When neither the algorithm nor its fallback can serve the call.
    """
    try:
        verify(case)
    except NotApplicableError:
        raise
    except ScheduleError as error:
        return str(error)
    return ""
