"""Making the call of a case and looking at what it left. Communicators are mpi4py's; it is not imported here."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.benchmarks.ranks import surroundings
from dashboard.benchmarks.ranks.exchange import Exchange, starts_of
from dashboard.benchmarks.safety.cases import Case, Layout
from dashboard.benchmarks.safety.memory import SHAPES, Memory, Values, block, operator, reduced
from loaders.collectives import COLLECTIVES, Part

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
        for datatype in self.types.values():
            datatype.Commit()
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
        self.entry = COLLECTIVES[self.collective]
        self.exchange = Exchange(
            self.entry,
            _counts(case, self.size),
            lambda rank, to, count: block(case.layout, rank, to, count, self.turn),
            lambda parts: reduced(case.layout, parts),
        )
        self.root = min(case.root, self.size - 1)
        self.sent, self.received, self.expected = self._prepared()

    def _prepared(self) -> tuple[Memory, Memory, Values | None]:
        """Memory to send from and to receive into, and what is to be in the latter."""
        entry, layout = self.entry, self.case.layout
        inputs = self.exchange.brings(self.rank)
        if entry.starts_at_root and not self.leads:
            inputs = inputs[:0]
        outputs = self.exchange.gets(self.rank, self.root)
        in_place = self.case.place != "apart" and (self.leads or not entry.rooted)
        sent = Memory(layout, len(inputs))
        received = Memory(layout, max(len(inputs), 0 if outputs is None else len(outputs)))
        if entry.in_one_buffer:
            if self.leads:
                received.put(0, inputs)
        elif not in_place:
            sent.put(0, inputs)
        elif entry.starts_at_root:
            sent.put(0, inputs)
            outputs = None
        else:
            begins = entry.sends == "block" and entry.receives == "blocks"
            received.put(self.exchange.starts[self.rank] if begins else 0, inputs)
        if outputs is not None:
            received.expect(0, len(outputs))
        elif entry.reduces == "below":
            # What the first process has afterwards is undefined.
            received.expect(0, len(inputs))
        self.in_place, self._kept = in_place, None if entry.in_one_buffer or in_place else inputs
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
        entry, place = self.entry, self.handles.mpi.IN_PLACE
        sent: Any = self._buffer(self.sent, entry.sends)
        received: Any = self._buffer(self.received, entry.receives)
        if self.in_place:
            sent, received = (sent, place) if entry.starts_at_root else (place, received)
        if entry.in_one_buffer:
            sent = received
        if not self.leads:
            sent = None if entry.starts_at_root else sent
            received = None if entry.ends_at_root else received
        arguments = entry.arguments(sent, received, op=self.operation, root=self.root, counts=self.exchange.counts)
        getattr(self.comm, entry.call)(*arguments)

    def _buffer(self, memory: Memory, part: Part) -> list[Any]:
        """Memory as mpi4py takes it."""
        array, counts = memory.array, self.exchange.counts
        if part == "block" and not (self.in_place and self.entry.name == "reduce_scatter"):
            return [array, counts[self.rank], self.type]
        if part == "blocks" and self.entry.counts == "equal":
            return [array, self.case.count, self.type]
        if part != "blocks" or self.entry.reduces:
            return [array, memory.elements, self.type]
        if self.entry.counts == "of pairs":
            counts = self.exchange.between(self.rank)
        starts = starts_of(counts)
        if self.entry.call == "Alltoallw":
            return [array, (counts, [start * self.type.extent for start in starts]), [self.type] * self.size]
        return [array, counts, starts, self.type]

    def typed(self) -> None:
        """In place with a count and a datatype that the library is to ignore: mpi4py itself never passes them."""
        handles, entry = self.handles, self.entry
        place = ctypes.c_void_p(int(handles.mpi.IN_PLACE))
        memory = ctypes.c_void_p(self.received.array.ctypes.data)
        sends, receives = self._counted(entry.sends), self._counted(entry.receives)
        root = [ctypes.c_int(self.root)] if entry.rooted else []
        handles.raw(f"MPI_{entry.call}", place, *sends, memory, *receives, *root, handles.handle(self.comm))

    def _counted(self, part: Part) -> list[Any]:
        """Counts and datatype of a buffer as C passes them."""
        data, entry = self.handles.handle(self.type), self.entry
        if entry.counts == "equal" or part == "block":
            return [ctypes.c_int(self.exchange.counts[self.rank]), data]
        counts = self.exchange.between(self.rank) if entry.counts == "of pairs" else self.exchange.counts
        vector = ctypes.c_int * self.size
        return [vector(*counts), vector(*starts_of(counts)), data]

    def problem(self) -> str:
        """What is wrong with what it left on this process; empty when nothing is."""
        if self.expected is not None:
            elements = self.received.get(0, len(self.expected))
            if wrong := int((elements != self.expected).any(axis=1).sum()):
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
