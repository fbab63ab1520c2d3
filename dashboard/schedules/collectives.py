"""Collectives that decide for themselves: what a module of the export target ``python-collectives`` calls.

A call goes by the decision to an own method, whose schedule runs over a duplicate of the communicator, or to the MPI
library, where the decision is the library's own or the method cannot serve the call. All ranks decide alike and before
any message. mpi4py is given by the module; it is not imported here.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.schedules.call import COLLECTIVES, Call
from dashboard.schedules.errors import NotApplicableError
from dashboard.schedules.in_process import Array
from dashboard.schedules.layout import Grid
from dashboard.schedules.orthogonal import inner_of
from dashboard.schedules.over_mpi import Bound
from dashboard.schedules.phases import LIBRARY, by_library, group_comms, library_call, step_program, steps
from dashboard.schedules.schedule import Program, program, resolve
from loaders.collectives import COLLECTIVES as ENTRIES
from loaders.collectives import Collective

#: Programs that are kept for the next call with the same sizes.
MOST_PROGRAMS = 256
#: An own method as (algorithm, parameters); None for the library's own decision.
Choice = tuple[str, Mapping[str, Any]] | None

#: What is called of the library for each collective: equal counts only.
CALLED: Mapping[str, Collective] = {
    name: ENTRIES["reduce_scatter_block" if name == "reduce_scatter" else name]
    for name in COLLECTIVES
    if ENTRIES[name].counts == "equal" or name == "reduce_scatter"
}


@dataclass(frozen=True)
class Decided:
    """How a collective is decided: ``decide(comm_size, message_size)`` gives a position in `methods`."""

    decide: Callable[[int, int], int]
    methods: Sequence[Choice]


class Collectives:
    """Collectives of a program.

    Parameters
    ----------
    decided
        By collective.
    """

    def __init__(self, mpi: Any, decided: Mapping[str, Decided]) -> None:
        self._mpi, self._decided = mpi, decided
        self._key = mpi.Comm.Create_keyval(delete_fn=_freed)
        self._programs: OrderedDict[tuple[Any, ...], Program | None] = OrderedDict()

    def __call__(
        self, collective: str, comm: Any, sent: Array | None, received: Array | None, *, op: Any = None, root: int = 0
    ) -> None:
        """Call a collective; buffers are contiguous arrays of NumPy, as their MPI call takes them.

        Parameters
        ----------
        sent, received
            What this process sends and receives; of a broadcast the same one, of a barrier none. None where the
            collective does not look at it: what is received of a gather or a reduction, and what is sent of a
            scatter, on all but the root.

        Raises
        ------
        ValueError
            When a buffer is no contiguous array.
        """
        arrays = [_checked(each) for each in (sent, received)]
        size, rank = int(comm.Get_size()), int(comm.Get_rank())
        called = CALLED[collective]
        own = arrays[called.receives == "block"]
        count, itemsize = (0, 1) if own is None else (own.size, own.itemsize)
        if collective == "alltoall":
            count //= size
        commutes = op is None or bool(op.Is_commutative())
        decided = self._decided[collective]
        choice = decided.methods[decided.decide(size, count * itemsize)]
        made = None
        if choice is not None and by_library(str(choice[1].get("inner", ""))):
            # Where a grid of the library's own calls does not fit, the library does it as a whole.
            if (grid := Grid.of(str(choice[1]["grid"]))).processes == size:
                self._by_grid(collective, comm, grid, str(choice[1]["inner"]), arrays, count, op, root)
                return
        elif choice is not None:
            made = self._program(Call(collective, size, count, root, itemsize, commutative=commutes), rank, *choice)
        if made is None:
            getattr(comm, called.call)(*called.arguments(*arrays, op=op, root=root))
            return
        empty = np.empty(0, np.uint8 if own is None else own.dtype)
        source, target = (empty if each is None else each.reshape(-1) for each in arrays)
        element = self._mpi.BYTE if own is None else self._type(own.dtype)
        _run(self._comms(comm)[0], made, (source, target), element, op)

    def _program(self, call: Call, rank: int, name: str, parameters: Mapping[str, Any]) -> Program | None:
        """The program of a call by a method; None where that cannot serve it."""
        key = (call.collective, call.processes, call.count, call.root, call.element_size, call.commutative, rank)
        if key in self._programs:
            self._programs.move_to_end(key)
            return self._programs[key]
        made = None
        with suppress(NotApplicableError):
            made = program(call, *resolve(call, name, dict(parameters), fallback=True), rank)
        self._programs[key] = made
        if len(self._programs) > MOST_PROGRAMS:
            self._programs.popitem(last=False)
        return made

    def _by_grid(
        self,
        collective: str,
        comm: Any,
        grid: Grid,
        inner: str,
        arrays: Sequence[Array | None],
        count: int,
        op: Any,
        root: int,
    ) -> None:
        """Phase by phase, on communicators that are made at the first call."""
        comms, names = self._comms(comm, grid), inner_of(inner, len(grid.factors))
        source, target = (None if each is None else each.reshape(-1) for each in arrays)
        held = next(each for each in (source, target) if each is not None)
        element = self._type(held.dtype)
        commutes = op is None or bool(op.Is_commutative())
        lengths = [count] * grid.processes
        for step in steps(collective, grid, int(comm.Get_rank()), source, target, lengths, root):
            group, name = comms[step.phase], names[step.phase]
            if name == LIBRARY:
                library_call(step, group, element, op, self._mpi.IN_PLACE)()
                continue
            size, rank = int(group.Get_size()), int(group.Get_rank())
            made, memory = step_program(step, size, rank, name, commutative=commutes)
            _run(group, made, memory, element, op)

    def _comms(self, comm: Any, grid: Grid | None = None) -> list[Any]:
        """Communicators of a grid's phases, else the duplicate that own messages go over; collective at the first call.

        They are freed with the one that they are made of.
        """
        known: dict[Grid | None, list[Any]] | None = comm.Get_attr(self._key)
        if known is None:
            known = {}
            comm.Set_attr(self._key, known)
        if grid not in known:
            known[grid] = [comm.Dup()] if grid is None else group_comms(comm, grid)
        return known[grid]

    def _type(self, dtype: Any) -> Any:
        """MPI's type of an element."""
        by_code = getattr(self._mpi.Datatype, "fromcode", None)
        return by_code(dtype.char) if by_code else self._mpi._typedict[dtype.char]  # noqa: SLF001 - mpi4py 3's only way


def _freed(comm: Any, key: int, value: dict[Grid | None, list[Any]]) -> None:
    del comm, key
    for each in value.values():
        for group in each:
            group.Free()


def _checked(array: Any) -> Array | None:
    if array is None:
        return None
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
        raise ValueError(f"a buffer is {type(array).__name__}; expected a contiguous array of NumPy")
    return array


def _run(comm: Any, made: Program, memory: tuple[Array, Array], element: Any, op: Any) -> None:
    """Run a program once; `op` combines, where it is one of a reduction."""

    def combine(lower: Array, into: Array) -> None:
        """As MPI does it."""
        op.Reduce_local([lower, lower.size, element], [into, into.size, element])

    bound = Bound(comm, made, memory, element, None if op is None else combine, persistent=False)
    bound()
    bound.free()
