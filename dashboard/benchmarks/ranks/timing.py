"""The two ways of timing a collective. Communicators are mpi4py's; it is not imported here.

SKaMPI-like: the processes agree on a common clock, every repetition starts at a common time and takes until the last
process has ended; processes that share cores cannot start at once, so a barrier starts them there. OCC-like: a loop of
the operation and a dissemination barrier, less the loop of barriers alone; the maximum over processes. Source: SKaMPI
5; OCC as described in chapter 6 of the dissertation.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.benchmarks.ranks.statistics import completion
from dashboard.domain.arrays import FloatArray

Step = Callable[[int], None]
_TOKEN, _GOT = np.zeros(1, np.uint8), np.zeros(1, np.uint8)
#: Rounds of messages that estimate how far two clocks are apart; the fastest one counts.
_SYNC_ROUNDS = 20
#: A start is late beyond this many seconds, or beyond this share of the operation, whichever is longer.
_LATE, _LATE_SHARE = 2e-6, 0.05
_WINDOW, _WIDEST, _SLACK = 3e-5, 1e-3, 3e-4
_LATE_AT_MOST = 0.25
#: Where processes share cores, longer waits are slept through up to here: who spins takes the core of one not ready.
_SPIN = 1e-4


def clock_offset(comm: Any, *, same_clock: bool) -> float:
    """Seconds to add to this process's clock to get that of rank 0; collective over `comm`.

    Parameters
    ----------
    same_clock
        Whether this process reads rank 0's clock, as those of one machine do: nothing is estimated there.
    """
    offset, rank = np.zeros(1), comm.Get_rank()
    remote = comm.allgather(not same_clock)
    for other in range(1, comm.Get_size()):
        if not remote[other]:
            continue
        if rank == 0:
            _answer(comm, other)
        elif rank == other:
            offset[0] = _ask(comm)
    return float(offset[0])


def _answer(comm: Any, other: int) -> None:
    clock = np.zeros(1)
    for _ in range(_SYNC_ROUNDS):
        comm.Recv(clock, other)
        clock[0] = time.perf_counter()
        comm.Send(clock, other)


def _ask(comm: Any) -> float:
    clock, best, offset = np.zeros(1), np.inf, 0.0
    for _ in range(_SYNC_ROUNDS):
        before = time.perf_counter()
        comm.Send(clock, 0)
        comm.Recv(clock, 0)
        after = time.perf_counter()
        if after - before < best:
            best, offset = after - before, float(clock[0]) - (before + after) / 2
    return offset


@dataclass(frozen=True)
class Group:
    """The processes that measure together."""

    #: Their communicator for everything but the operation itself.
    comm: Any
    #: The MPI library's handle of the operation.
    maximum: Any
    #: Of this process's clock, see `clock_offset`.
    offset: float = 0.0
    #: Whether some machine has more of the processes than cores: they must give way to each other while they wait. Else
    #: they do not, since what else wants the core would keep it for milliseconds.
    crowded: bool = False
    #: Whether no network lies between them.
    one_node: bool = True

    @property
    def starts_by_barrier(self) -> bool:
        """Whether the processes cannot start at a common time: who waits for it keeps the core of one not ready."""
        return self.crowded and self.one_node


@dataclass
class Window:
    """Time between two common starts: somewhat more than the operation takes, and wider when processes come late."""

    seconds: float = _WINDOW
    slack: float = _WINDOW

    def adapt(self, usual: float, late: int, repetitions: int) -> None:
        """Learn from a batch: the usual time of the operation, and how many repetitions started late.

        The slack has an end: where there are more processes than cores, some come late however wide it is.
        """
        if late > _LATE_AT_MOST * repetitions:
            self.slack = min(2 * self.slack, _WIDEST)
        else:
            self.slack = max(self.slack / 2, _WINDOW)
        self.seconds = 1.5 * usual + self.slack


def synchronised(group: Group, step: Step, repetitions: int, window: Window) -> tuple[FloatArray, int]:
    """Time repetitions that start at common times.

    Returns
    -------
    times, late
        Seconds of each repetition that started in time, and how many did not; the same on all processes.
    """
    comm, offset = group.comm, group.offset
    begin = np.array([time.perf_counter() + _SLACK if comm.Get_rank() == 0 else 0.0])
    comm.Bcast(begin, 0)
    planned = begin[0] + window.seconds * np.arange(repetitions)
    measured = np.empty((2, repetitions))
    for turn in range(repetitions):
        start = planned[turn] - offset
        # Read once: a process that is put aside between two readings would find the time over.
        ahead = start - time.perf_counter() - _SPIN
        if group.crowded and ahead > _SPIN:
            time.sleep(ahead)
        while (now := time.perf_counter()) < start:
            if group.crowded:
                os.sched_yield()
        step(turn)
        measured[0, turn], measured[1, turn] = now, time.perf_counter()
    measured += offset
    latest = np.empty_like(measured)
    comm.Allreduce(measured, latest, op=group.maximum)
    took = latest[1] - latest[0]
    times, late = completion(latest[0], latest[1], planned, max(_LATE, _LATE_SHARE * float(np.median(took))))
    window.adapt(float(np.median(took)), late, repetitions)
    return times, late


def after_barrier(group: Group, step: Step, repetitions: int) -> FloatArray:
    """Time repetitions that each start after the library's own barrier.

    Returns
    -------
    FloatArray
        Seconds of each repetition, of the process that spent most in it; the same on all processes.
    """
    comm, measured = group.comm, np.empty(repetitions)
    for turn in range(repetitions):
        comm.Barrier()
        start = time.perf_counter()
        step(turn)
        measured[turn] = time.perf_counter() - start
    longest = np.empty_like(measured)
    comm.Allreduce(measured, longest, op=group.maximum)
    return longest


def looped(group: Group, step: Step | None, loops: int, iterations: int) -> FloatArray:
    """Time loops of operation and dissemination barrier (without `step`: of the barrier alone).

    Returns
    -------
    FloatArray
        Seconds of one iteration in each loop, the maximum over processes; the same on all of them.
    """
    comm, measured = group.comm, np.empty(loops)
    for loop in range(loops):
        dissemination(comm)
        start = time.perf_counter()
        for turn in range(iterations):
            if step is not None:
                step(loop * iterations + turn)
            dissemination(comm)
        measured[loop] = (time.perf_counter() - start) / iterations
    latest = np.empty_like(measured)
    comm.Allreduce(measured, latest, op=group.maximum)
    return latest


def dissemination(comm: Any) -> None:
    """Barrier in ⌈log2 P⌉ rounds of messages from rank to rank + 2^k, as OCC's bruck."""
    rank, size, distance = comm.Get_rank(), comm.Get_size(), 1
    while distance < size:
        comm.Sendrecv(_TOKEN, (rank + distance) % size, 0, _GOT, (rank - distance) % size, 0)
        distance *= 2
