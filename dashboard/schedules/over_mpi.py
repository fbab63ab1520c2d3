"""Runs the program of one rank over MPI: with persistent requests, made once and started at every call, or without.

The communicator and the type of an element are mpi4py's; it is not imported here.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.datatypes import Elements, raw
from dashboard.schedules.in_process import Array, Combine
from dashboard.schedules.rank import COMBINE, COPY, OUTPUT, RECEIVE, SCRATCH, SEND, WAIT
from dashboard.schedules.schedule import Program


class Bound:
    """A program with its buffers on a communicator, which is called as often as wanted.

    Parameters
    ----------
    comm
        Communicator of mpi4py; a duplicate of the user's, since tags are this program's own.
    memory
        Input, output and, of elements with gaps, scratch memory: arrays with an element each along the first axis, or
        `dashboard.schedules.datatypes.Elements`.
    element
        MPI's type of an element.
    combine
        ``combine(lower, into)`` makes ``lower op into`` in the place of the second.
    persistent
        Whether requests are made once: quicker, but Open MPI's monitoring does not count their messages.
    apart
        Whether each row is posted or waited for by itself, as `traced` needs it.
    """

    def __init__(
        self,
        comm: Any,
        program: Program,
        memory: Sequence[Any],
        element: Any,
        combine: Combine | None = None,
        *,
        persistent: bool = True,
        apart: bool = False,
    ) -> None:
        self._comm, self._element, self._combine, self._persistent = comm, element, combine, persistent
        self._memory = (*memory, *([] if len(memory) > SCRATCH else [scratch_of(program, memory[OUTPUT])]))
        self._requests: dict[int, Any] = {}
        self._actions = self._compile(program.rows.tolist(), apart=apart)

    def __call__(self) -> None:
        """Run it once."""
        for action in self._actions:
            action()

    def traced(self) -> npt.NDArray[np.float64]:
        """Run it once; begin and end of each row, seconds of `time.perf_counter`."""
        times = np.zeros((len(self._actions), 2))
        for action, row in zip(self._actions, times, strict=True):
            row[0] = time.perf_counter()
            action()
            row[1] = time.perf_counter()
        return times

    def free(self) -> None:
        """Give the requests back; it cannot be called any more."""
        for request in self._requests.values():
            if self._persistent:
                request.Free()
        self._requests.clear()
        self._actions = []

    def _compile(self, rows: list[list[int]], *, apart: bool) -> list[Callable[[], Any]]:
        """Make one action of all that is posted, or waited for, in a row; `apart`: of each by itself."""
        actions: list[Callable[[], Any]] = []
        for (kind, _), lines in groupby(enumerate(rows), key=lambda line: (_kind(line[1]), apart and line[0])):
            run = list(lines)
            if kind == WAIT:
                actions.append(self._wait([row[1] for _, row in run]))
            elif kind == SEND:
                actions.append(self._post(dict(run)))
            else:
                actions += [self._local(row) for _, row in run]
        return actions

    def _post(self, rows: dict[int, list[int]]) -> Callable[[], Any]:
        """Post messages, by their lines."""
        comm = self._comm
        makes = {
            line: partial(
                (comm.Send_init if self._persistent else comm.Isend)
                if row[0] == SEND
                else (comm.Recv_init if self._persistent else comm.Irecv),
                [raw(self._view(*row[3:6])), row[5], self._element],
                row[1],
                row[2],
            )
            for line, row in rows.items()
        }
        if not self._persistent:
            return lambda: self._requests.update((line, make()) for line, make in makes.items())
        made = {line: make() for line, make in makes.items()}
        self._requests |= made
        return _all("Start", "Startall", list(made.values()))

    def _wait(self, lines: list[int]) -> Callable[[], Any]:
        """Wait for messages, by their lines."""
        if not self._persistent:
            return lambda: [self._requests[line].Wait() for line in lines]
        return _all("Wait", "Waitall", [self._requests[line] for line in lines])

    def _view(self, buffer: int, offset: int, length: int) -> Any:
        return self._memory[buffer][offset : offset + length]

    def _local(self, row: Sequence[int]) -> Callable[[], None]:
        view, target = self._view(*row[3:6]), self._view(row[6], row[7], row[5])
        if row[0] == COPY:
            return partial(np.copyto, target, view) if isinstance(view, np.ndarray) else self._repack(view, target)
        if self._combine is None:
            raise TypeError("the program combines, and no operation is given")
        return partial(self._combine, view, target)

    def _repack(self, view: Elements, target: Elements) -> Callable[[], None]:
        """Copy what has gaps as MPI packs and unpacks it."""
        between = bytearray(self._element.Pack_size(len(view), self._comm))
        source, to = (each.raw[: len(each) * each.datatype.extent] for each in (view, target))

        def repack() -> None:
            if len(source):
                self._element.Pack(source, between, 0, self._comm)
                self._element.Unpack(between, 0, to, self._comm)

        return repack


def scratch_of(program: Program, output: Array) -> Array:
    """Scratch memory of a program, with elements as those of its output."""
    return np.empty((program.scratch, *output.shape[1:]), output.dtype)


def _kind(row: Sequence[int]) -> int:
    """Operation, sends and receives being one."""
    return SEND if row[0] in (SEND, RECEIVE) else COMBINE if row[0] in (COPY, COMBINE) else WAIT


def _all(single: str, several: str, requests: list[Any]) -> Callable[[], Any]:
    """Call a method of one request, or that of its class for several."""
    if len(requests) == 1:
        method: Callable[[], Any] = getattr(requests[0], single)
        return method
    return partial(getattr(type(requests[0]), several), requests)
