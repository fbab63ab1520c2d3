"""Making the call of a case and looking at what it left. Communicators are mpi4py's; it is not imported here."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.benchmarks import surroundings
from dashboard.benchmarks.safety.cases import Case, Layout
from dashboard.benchmarks.safety.memory import SHAPES, Memory, Values, block, operator, reduced

_LATE_S = 0.002


class Handles:
    """Datatypes and operations of the cases in the MPI in use.

    Parameters
    ----------
    mpi
        The module ``mpi4py.MPI``.
    library
        Path of the library that it runs on, for calls that mpi4py cannot make.
    """

    def __init__(self, mpi: Any, library: str) -> None:
        number = mpi.UINT32_T
        self.mpi = mpi
        self.types: dict[Layout, Any] = {"plain": number}
        self.types["strided"] = number.Create_vector(2, 1, 2).Create_resized(0, 4 * SHAPES["strided"][1])
        for name in ("pair", "matrix"):
            self.types[name] = number.Create_contiguous(SHAPES[name][1])
        for one in self.types.values():
            one.Commit()
        self.operations = {
            "sum": mpi.SUM,
            "own sum": mpi.Op.Create(operator("pair"), commute=True),
            "product": mpi.Op.Create(operator("matrix"), commute=False),
        }
        self._library = ctypes.CDLL(library)

    def handle(self, thing: Any) -> Any:
        """A handle as C passes it: a pointer of Open MPI, a number of MPICH."""
        pointer = self.mpi._sizeof(thing) == ctypes.sizeof(ctypes.c_void_p)  # noqa: SLF001 - see below
        kind = ctypes.c_void_p if pointer else ctypes.c_int
        return kind.from_address(self.mpi._addressof(thing))  # noqa: SLF001 - mpi4py's own way to the handle

    def raw(self, name: str, *arguments: Any) -> None:
        """Call a function of the library; RuntimeError when it does not succeed."""
        code = getattr(self._library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} gave {code}: {self.mpi.Get_error_string(code)}")


@dataclass
class Call:
    """One case on one communicator: memory filled, called, looked at.

    Attributes
    ----------
    turn
        Of several calls in a row; each has values of its own.
    """

    handles: Handles
    collective: str
    case: Case
    comm: Any
    turn: int = 0

    def __post_init__(self) -> None:
        self.rank, self.size = int(self.comm.Get_rank()), int(self.comm.Get_size())
        case = self.case
        self.type, self.count = self.handles.types[case.layout], case.count
        self.operation = self.handles.operations.get(case.operation)
        self.counts = _counts(case, self.size)
        self.root = min(case.root, self.size - 1)
        self.sent, self.received, self.expected = self._prepared()

    def block_of(self, rank: int, to: int = 0, count: int | None = None) -> Values:
        """What a process sends to another in this turn."""
        return block(self.case.layout, rank, to, self.count if count is None else count, self.turn)

    def between(self, rank: int) -> list[int]:
        """Elements that alltoallv sends from a process to each, and to it from each."""
        return [self.counts[(rank + other) % self.size] for other in range(self.size)]

    def _prepared(self) -> tuple[Memory, Memory, Values | None]:
        """Memory to send from and to receive into, and what is to be in the latter."""
        inputs, outputs, start = _DATA[self.collective](self)
        in_place = self.case.place != "apart" and (self.collective not in ("reduce", "gather", "scatter") or self.leads)
        sent = Memory(self.case.layout, len(inputs))
        received = Memory(self.case.layout, max(len(inputs), 0 if outputs is None else len(outputs)))
        if self.collective == "bcast":
            received.expect(0, self.count)
            if self.leads:
                received.put(0, inputs)
        elif not in_place:
            sent.put(0, inputs)
        elif self.collective == "scatter":
            sent.put(0, inputs)
            outputs = None
        else:
            received.put(start, inputs)
        if outputs is not None:
            received.expect(0, len(outputs))
        self.in_place, self._kept = in_place, None if self.collective == "bcast" or in_place else inputs
        return sent, received, outputs

    @property
    def leads(self) -> bool:
        """Whether this process is the root."""
        return self.rank == self.root

    def make(self) -> None:
        """Make the call."""
        if self.in_place and self.case.place == "in place, with types":
            self.typed()
            return
        place = self.handles.mpi.IN_PLACE
        sent: Any = place if self.in_place else [self.sent.array, self.sent.elements, self.type]
        received: Any = [self.received.array, self.received.elements, self.type]
        _CALLS[self.collective](self, sent, received)

    def typed(self) -> None:
        """In place with a count and a datatype that the library is to ignore: mpi4py itself never passes them."""
        handles, size = self.handles, self.size
        data = handles.handle(self.type)
        place = ctypes.c_void_p(int(handles.mpi.IN_PLACE))
        memory = ctypes.c_void_p(self.received.array.ctypes.data)
        count, comm = ctypes.c_int(self.count), handles.handle(self.comm)
        vector = ctypes.c_int * size
        if self.collective == "gather":
            handles.raw("MPI_Gather", place, count, data, memory, count, data, ctypes.c_int(self.root), comm)
        elif self.collective in ("allgather", "alltoall"):
            name = f"MPI_{self.collective.capitalize()}"
            handles.raw(name, place, count, data, memory, count, data, comm)
        elif self.collective == "allgatherv":
            counts, starts = vector(*self.counts), vector(*_starts(self.counts))
            handles.raw("MPI_Allgatherv", place, count, data, memory, counts, starts, data, comm)
        else:
            between = self.between(self.rank)
            counts, starts = vector(*between), vector(*_starts(between))
            handles.raw("MPI_Alltoallv", place, counts, starts, data, memory, counts, starts, data, comm)

    def problem(self) -> str:
        """What is wrong with what it left on this process; empty when nothing is."""
        if self.expected is not None:
            found = self.received.get(0, len(self.expected))
            if wrong := int((found != self.expected).any(axis=1).sum()):
                return f"wrong result: {wrong} of {len(self.expected)} elements on rank {self.rank}"
        if self._kept is not None and not np.array_equal(self.sent.get(0, len(self._kept)), self._kept):
            return f"changed what it was to send on rank {self.rank}"
        if not (self.received.unharmed and self.sent.unharmed):
            return f"wrote where it may not on rank {self.rank}"
        return ""


def _counts(case: Case, size: int) -> list[int]:
    """Elements of each process's block; those that differ hold 0 and more than twice the mean."""
    if case.counts == "equal":
        return [case.count] * size
    return [(5 * rank % 4) * case.count for rank in range(size)]


def _starts(counts: list[int]) -> list[int]:
    return [sum(counts[:place]) for place in range(len(counts))]


def _joined(parts: list[Values]) -> Values:
    return np.concatenate(parts)


#: What a process puts in, what it must get (None: nothing), and where the former lies in place.
Data = tuple[Values, Values | None, int]


def _bcast(call: Call) -> Data:
    same = call.block_of(call.root)
    return same, same, 0


def _reduction(call: Call) -> Data:
    own = call.block_of(call.rank)
    ranks = range(call.rank + 1 if call.collective == "scan" else call.size)
    total = reduced(call.case.layout, [call.block_of(rank) for rank in ranks])
    return own, total if call.collective != "reduce" or call.leads else None, 0


def _reduce_scatter(call: Call) -> Data:
    counts = call.counts
    whole = sum(counts)
    total = reduced(call.case.layout, [call.block_of(rank, 0, whole) for rank in range(call.size)])
    start = _starts(counts)[call.rank]
    return call.block_of(call.rank, 0, whole), total[start : start + counts[call.rank]], 0


def _gather(call: Call) -> Data:
    every = _joined([call.block_of(rank) for rank in range(call.size)])
    mine = every if call.leads or call.collective != "gather" else None
    return call.block_of(call.rank), mine, call.rank * call.case.count


def _allgatherv(call: Call) -> Data:
    counts = call.counts
    every = _joined([call.block_of(rank, 0, count) for rank, count in enumerate(counts)])
    return call.block_of(call.rank, 0, counts[call.rank]), every, _starts(counts)[call.rank]


def _scatter(call: Call) -> Data:
    every = _joined([call.block_of(call.root, to) for to in range(call.size)])
    return (every if call.leads else every[:0]), call.block_of(call.root, call.rank), 0


def _alltoall(call: Call) -> Data:
    counts = call.between(call.rank)
    sent = [call.block_of(call.rank, to, count) for to, count in enumerate(counts)]
    got = [call.block_of(other, call.rank, count) for other, count in enumerate(counts)]
    return _joined(sent), _joined(got), 0


_DATA: Mapping[str, Callable[[Call], Data]] = {
    "bcast": _bcast,
    **dict.fromkeys(("reduce", "allreduce", "scan"), _reduction),
    "reduce_scatter": _reduce_scatter,
    **dict.fromkeys(("gather", "allgather"), _gather),
    "allgatherv": _allgatherv,
    "scatter": _scatter,
    **dict.fromkeys(("alltoall", "alltoallv"), _alltoall),
}


def _vector(call: Call, memory: Any, counts: list[int]) -> Any:
    """A buffer with counts and displacements; what is in place stays so."""
    return memory if not isinstance(memory, list) else [memory[0], counts, _starts(counts), memory[2]]


def _blocks(call: Call, memory: Any) -> Any:
    """A buffer of one block for each process; what is in place stays so."""
    return memory if not isinstance(memory, list) else [memory[0], call.case.count, memory[2]]


def _reduce(call: Call, sent: Any, received: Any) -> None:
    root = call.root
    call.comm.Reduce(sent, received if call.leads else None, call.operation, root)


def _gathered(call: Call, sent: Any, received: Any) -> None:
    call.comm.Gather(sent, _blocks(call, received) if call.leads else None, call.root)


def _scattered(call: Call, sent: Any, received: Any) -> None:
    own = [call.sent.array, call.case.count, call.type] if call.leads else None
    call.comm.Scatter(own, sent if call.in_place else _blocks(call, received), call.root)


def _alltoallv(call: Call, sent: Any, received: Any) -> None:
    counts = call.between(call.rank)
    call.comm.Alltoallv(_vector(call, sent, counts), _vector(call, received, counts))


_CALLS: Mapping[str, Callable[[Call, Any, Any], None]] = {
    "bcast": lambda call, sent, received: call.comm.Bcast(received, call.root),
    "reduce": _reduce,
    "allreduce": lambda call, sent, received: call.comm.Allreduce(sent, received, call.operation),
    "scan": lambda call, sent, received: call.comm.Scan(sent, received, call.operation),
    "reduce_scatter": lambda call, sent, received: call.comm.Reduce_scatter(
        sent,
        received if call.in_place else [received[0], call.counts[call.rank], received[2]],
        call.counts,
        call.operation,
    ),
    "gather": _gathered,
    "scatter": _scattered,
    "allgather": lambda call, sent, received: call.comm.Allgather(sent, _blocks(call, received)),
    "allgatherv": lambda call, sent, received: call.comm.Allgatherv(sent, _vector(call, received, call.counts)),
    "alltoall": lambda call, sent, received: call.comm.Alltoall(_blocks(call, sent), _blocks(call, received)),
    "alltoallv": _alltoallv,
}


def problem_of(handles: Handles, collective: str, case: Case, comm: Any) -> str:
    """Make the call or calls of a case; what is wrong on this process, empty when nothing is. Collective.

    Where the library refuses the call its own words, after ``refused:``.
    """
    if collective == "barrier":
        return _barrier(case, comm)
    calls = [Call(handles, collective, case, comm, turn) for turn in range(case.repeats)]
    try:
        for call in calls:
            call.make()
    except RuntimeError as error:
        return f"refused: {' '.join(str(error).strip().splitlines()[-1:])}"[:200]
    return next((problem for call in calls if (problem := call.problem())), "")


def _barrier(case: Case, comm: Any) -> str:
    """One process comes late: nobody may leave before it has come. Seen where processes share a machine's clock."""
    rank, size = comm.Get_rank(), comm.Get_size()
    late = min(case.root, size - 1)
    if rank == late:
        time.sleep(_LATE_S)
    came = time.monotonic()
    try:
        comm.Barrier()
    except RuntimeError as error:
        return f"refused: {' '.join(str(error).strip().splitlines()[-1:])}"[:200]
    left = time.monotonic()
    # Messages between pairs: what else could be trusted to bring the times together?
    if rank == late:
        for other in range(size):
            if other != late:
                comm.send((surroundings.machine(), came), other)
        return ""
    machine, came = comm.recv(source=late)
    if machine != surroundings.machine() or came <= left:
        return ""
    return f"wrong result: rank {rank} left before rank {late} had come"
