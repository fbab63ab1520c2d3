"""Making the call of a case and looking at what it left. Communicators are mpi4py's; it is not imported here."""

import ctypes
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.benchmarks.ranks import surroundings
from dashboard.benchmarks.ranks.exchange import Exchange, starts_of
from dashboard.benchmarks.ranks.handles import handle
from dashboard.benchmarks.safety.cases import Case, Layout
from dashboard.benchmarks.safety.memory import SHAPES, Memory, Values, block, operator, reduced
from loaders.collectives import COLLECTIVES, Part

_LATE_S = 0.002


class Handles:
    """Datatypes and operations of the cases in the MPI in use.

    Parameters
    ----------
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

    def raw(self, name: str, *arguments: Any) -> None:
        """Call a function of the library; RuntimeError when it does not succeed."""
        code = getattr(self._library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} gave {code}: {self.mpi.Get_error_string(code)}")


@dataclass
class Call:
    """One case on one communicator: memory filled, called, looked at."""

    handles: Handles
    collective: str
    case: Case
    comm: Any
    #: Of several calls in a row; each has values of its own.
    turn: int = 0

    def __post_init__(self) -> None:
        self.rank, self.size = int(self.comm.Get_rank()), int(self.comm.Get_size())
        case, mpi = self.case, self.handles.mpi
        self.type, self.count = self.handles.types[case.layout], case.count
        self.operation = self.handles.operations.get(case.operation)
        self.entry = COLLECTIVES[self.collective]
        if case.made == "between":
            mine, theirs = groups(mpi, self.comm)
            given = self.entry, case.count, self._block, self._reduced
            self.exchange = Exchange.between_groups(*given, mine, theirs)
            self.root, self.leads = case.root, mine[self.rank] == case.root
            self._at = mpi.ROOT if self.leads else mpi.PROC_NULL if case.root in mine else theirs.index(case.root)
        else:
            counts = _counts(case, self.size)
            self.exchange = Exchange.within(self.entry, counts, self._block, self._reduced)
            self.root = self._at = min(case.root, self.size - 1)
            self.leads = self.rank == self.root
        self.sent, self.received, self.expected = self._prepared()

    def _block(self, rank: int, to: int, count: int) -> Values:
        return block(self.case.layout, rank, to, count, self.turn)

    def _reduced(self, parts: Iterable[Values]) -> Values:
        return reduced(self.case.layout, parts)

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
            received.put(starts_of(self.exchange.counts)[self.rank] if begins else 0, inputs)
        if outputs is not None:
            received.expect(0, len(outputs))
        elif entry.reduces == "below":
            # What the first process has afterwards is undefined.
            received.expect(0, len(inputs))
        self.in_place, self._kept = in_place, None if entry.in_one_buffer or in_place else inputs
        return sent, received, outputs

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
        arguments = entry.arguments(sent, received, op=self.operation, root=self._at, counts=self.exchange.counts)
        getattr(self.comm, entry.call)(*arguments)

    def _buffer(self, memory: Memory, part: Part) -> list[Any]:
        """Memory as mpi4py takes it."""
        array, counts = memory.array, self.exchange.counts
        if part == "block" and not (self.in_place and self.entry.name == "reduce_scatter"):
            return [array, self.exchange.own(self.rank), self.type]
        if part == "blocks" and self.entry.counts == "equal":
            return [array, self.exchange.own(self.rank), self.type]
        if part != "blocks" or self.entry.reduces:
            return [array, memory.elements, self.type]
        if self.entry.counts == "of pairs":
            counts = self.exchange.between(self.rank)
        starts = starts_of(counts)
        if self.entry.call == "Alltoallw":
            return [array, (counts, [start * self.type.extent for start in starts]), [self.type] * len(counts)]
        return [array, counts, starts, self.type]

    def typed(self) -> None:
        """In place with a count and a datatype that the library is to ignore: mpi4py itself never passes them."""
        handles, entry = self.handles, self.entry
        place = ctypes.c_void_p(int(handles.mpi.IN_PLACE))
        memory = ctypes.c_void_p(self.received.array.ctypes.data)
        sends, receives = self._counted(entry.sends), self._counted(entry.receives)
        root = [ctypes.c_int(self.root)] if entry.rooted else []
        handles.raw(f"MPI_{entry.call}", place, *sends, memory, *receives, *root, handle(handles.mpi, self.comm))

    def _counted(self, part: Part) -> list[Any]:
        """Counts and datatype of a buffer as C passes them."""
        data, entry = handle(self.handles.mpi, self.type), self.entry
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


def groups(mpi: Any, comm: Any) -> tuple[list[int], list[int]]:
    """Processes of this group and of the other one of an intercommunicator, as they are numbered in the world."""
    world = mpi.COMM_WORLD.Get_group()
    both = comm.Get_group(), comm.Get_remote_group()
    mine, theirs = (list(group.Translate_ranks(None, world)) for group in both)
    for group in (world, *both):
        group.Free()
    return mine, theirs


def problem_of(handles: Handles, collective: str, case: Case, comms: Sequence[Any]) -> str:
    """Make the call or calls of a case; what is wrong on this process, empty when nothing is. Collective.

    Where the library refuses the call its own words, after ``refused:``.

    Parameters
    ----------
    comms
        A communicator for each thread of the case.
    """
    if len(comms) == 1:
        return _problem(handles, collective, case, comms[0], 0)
    with ThreadPoolExecutor(len(comms)) as threads:
        first = range(0, len(comms) * case.repeats, case.repeats)
        problems = list(threads.map(lambda comm, turn: _problem(handles, collective, case, comm, turn), comms, first))
    return next(filter(None, problems), "")


def _problem(handles: Handles, collective: str, case: Case, comm: Any, first: int) -> str:
    """The same in one thread, with the data of the turns from `first` on."""
    try:
        if collective == "barrier":
            return _barrier(handles.mpi, case, comm)
        calls = [Call(handles, collective, case, comm, first + turn) for turn in range(case.repeats)]
        for call in calls:
            call.make()
    except RuntimeError as error:
        return f"refused: {' '.join(str(error).strip().splitlines()[-1:])}"[:200]
    return next((problem for call in calls if (problem := call.problem())), "")


def _barrier(mpi: Any, case: Case, comm: Any) -> str:
    """One process comes late: nobody may leave before it has come. Seen where processes share a machine's clock.

    Between groups it is the other one that must wait for it.
    """
    mine = list(range(comm.Get_size()))
    mine, others = groups(mpi, comm) if case.made == "between" else (mine, mine)
    rank, late = mine[comm.Get_rank()], min(case.root, max(mine + others))
    if rank == late:
        time.sleep(_LATE_S)
    came = time.monotonic()
    comm.Barrier()
    left = time.monotonic()
    # Messages between pairs: what else could be trusted to bring the times together?
    if rank == late:
        for place, other in enumerate(others):
            if other != late:
                comm.send((surroundings.machine(), came), place)
    if rank == late or late not in others:
        return ""
    machine, came = comm.recv(source=others.index(late))
    if machine != surroundings.machine() or came <= left:
        return ""
    return f"wrong result: rank {rank} left before rank {late} had come"
