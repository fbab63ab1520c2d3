"""Runs schedules with all ranks in one process: no MPI, no threads; messages eager or by rendezvous, in random order.

Ranks take turns; which is next, and for how many operations, is drawn by a seed. A rank that waits goes on when its
message is there. When none can go on, that is a deadlock, and who waits for what is said.
"""

import random
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from dashboard.schedules.errors import DeadlockError, ScheduleError
from dashboard.schedules.rank import COPY, RECEIVE, SEND, WAIT

Array = npt.NDArray[Any]
#: ``combine(lower, into)`` makes ``lower op into`` of two arrays, in the place of the second.
Combine = Callable[[Array, Array], None]
_LONGEST_TURN = 7
_SHOWN = 8


class Job(NamedTuple):
    """What a rank runs: its rows, and its input, output and scratch memory (an element each along the first axis).

    Memory is arrays, or what is cut, copied and assigned like them (`dashboard.schedules.datatypes.Elements`).
    """

    rows: list[list[int]]
    memory: Sequence[Any]


class _Message:
    """A posted send or receive; `waiter` is the rank that waits for it, -1 without."""

    __slots__ = ("done", "view", "waiter")

    def __init__(self, view: Array, *, done: bool = False) -> None:
        self.view, self.done, self.waiter = view, done, -1


class _State:
    """Where a rank is."""

    __slots__ = ("jobs", "line", "requests", "waits")

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs, self.line = deque(jobs), 0
        self.requests: dict[int, _Message] = {}
        self.waits: tuple[str, int, int] | None = None


def run(
    jobs: Sequence[Sequence[Job]],
    combine: Combine,
    *,
    eager: bool = True,
    seed: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> None:
    """Run what each rank has to do, one job after the other without meeting in between.

    Parameters
    ----------
    jobs
        By rank.
    eager
        Whether a send is complete once its message is on its way; else when it has been received.
    seed
        Of the order in which ranks go on; None: each goes as far as it can.
    watch
        Told of each rank and row that has been run.

    Raises
    ------
    DeadlockError
        When nobody can go on; the message says who waits for what.
    ScheduleError
        When a message is not as long as its receive, or is left over.
    """
    machine = _Machine(jobs, combine, eager=eager, seed=seed)
    machine.watch = watch
    machine.run()


class _Machine:
    def __init__(self, jobs: Sequence[Sequence[Job]], combine: Combine, *, eager: bool, seed: int | None) -> None:
        self.states = [_State(each) for each in jobs]
        self.combine, self.eager = combine, eager
        self.random = None if seed is None else random.Random(seed)  # noqa: S311 - an order, not a secret
        self.sends: defaultdict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self.receives: defaultdict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self.ready = list(range(len(self.states)))
        self.watch: Callable[[int, int], None] | None = None

    def run(self) -> None:
        draw = self.random
        while self.ready:
            place = -1 if draw is None else draw.randrange(len(self.ready))
            rank = self.ready.pop(place)
            if self._turn(rank, draw.randint(1, _LONGEST_TURN) if draw else -1):
                self.ready.append(rank)
        self._check()

    def _turn(self, rank: int, operations: int) -> bool:
        """Let a rank do so many operations (-1: all that it can); whether it can go on."""
        state = self.states[rank]
        while state.jobs and operations:
            rows, memory = state.jobs[0]
            if state.line == len(rows):
                state.jobs.popleft()
                state.line, state.requests = 0, {}
                continue
            kind, peer, tag, buffer, offset, length, to_buffer, to_offset = rows[state.line]
            if kind == WAIT:
                request = state.requests[peer]
                if not request.done:
                    request.waiter = rank
                    posted = rows[peer]
                    state.waits = ("send" if posted[0] == SEND else "receive", posted[1], posted[2])
                    return False
                state.waits = None
            else:
                view = memory[buffer][offset : offset + length]
                if len(view) != length:
                    raise ScheduleError(
                        f"rank {rank}, row {state.line}: elements {offset} + {length} of {len(memory[buffer])}"
                    )
                if kind == SEND:
                    state.requests[state.line] = self._send(view, (rank, peer, tag))
                elif kind == RECEIVE:
                    state.requests[state.line] = self._receive(view, (peer, rank, tag))
                else:
                    target = memory[to_buffer][to_offset : to_offset + length]
                    if kind == COPY:
                        target[...] = view
                    else:
                        self.combine(view, target)
            if self.watch is not None:
                self.watch(rank, state.line)
            state.line += 1
            operations -= 1
        return bool(state.jobs)

    def _send(self, view: Array, way: tuple[int, int, int]) -> _Message:
        waiting = self.receives[way]
        if waiting:
            self._deliver(view, waiting.popleft(), way)
            return _Message(view, done=True)
        message = _Message(view.copy() if self.eager else view, done=self.eager)
        self.sends[way].append(message)
        return message

    def _receive(self, view: Array, way: tuple[int, int, int]) -> _Message:
        request = _Message(view)
        waiting = self.sends[way]
        if waiting:
            message = waiting.popleft()
            self._deliver(message.view, request, way)
            self._finish(message)
        else:
            self.receives[way].append(request)
        return request

    def _deliver(self, view: Array, request: _Message, way: tuple[int, int, int]) -> None:
        if len(view) != len(request.view):
            source, to, _ = way
            raise ScheduleError(f"{source} sends {to} a message of {len(view)} elements for {len(request.view)}")
        request.view[...] = view
        self._finish(request)

    def _finish(self, request: _Message) -> None:
        request.done = True
        if request.waiter >= 0:
            self.ready.append(request.waiter)
            request.waiter = -1

    def _check(self) -> None:
        stuck = [(rank, state.waits) for rank, state in enumerate(self.states) if state.jobs]
        if stuck:
            words = {"send": "to send to", "receive": "for a message of"}
            waits = [f"{rank} waits {words[on[0]]} {on[1]} (tag {on[2]})" for rank, on in stuck[:_SHOWN] if on]
            more = f" and {len(stuck) - _SHOWN} more" if len(stuck) > _SHOWN else ""
            raise DeadlockError(f"deadlock of {len(stuck)} ranks: {', '.join(waits)}{more}")
        for what, queues in (
            ("message that nobody takes", self.sends),
            ("receive that nothing comes for", self.receives),
        ):
            for (source, to, tag), queue in queues.items():
                if queue:
                    raise ScheduleError(f"{len(queue)} {what}, of {source} to {to} with tag {tag}")
