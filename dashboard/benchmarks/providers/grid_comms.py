"""Grids whose phases are the library's own calls, on communicators of rows and columns that are made once."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.providers.bound import Bound
from dashboard.benchmarks.ranks.operations import Operation
from dashboard.schedules.layout import Grid

#: Inner "algorithm" that is the library's own decision on the small communicators.
LIBRARY = "library"
COLLECTIVES = ("bcast", "scatter", "gather", "reduce", "allreduce", "allgather")


class GridComms:
    """Communicators of the phases of a grid, one for each; collective.

    Parameters
    ----------
    comm
        Communicator of mpi4py with as many processes as the grid has.
    grid
        The grid.
    in_place
        mpi4py's ``MPI.IN_PLACE``.
    """

    def __init__(self, comm: Any, grid: Grid, in_place: Any) -> None:
        self.grid, self.rank, self._in_place = grid, int(comm.Get_rank()), in_place
        phases = range(len(grid.factors))
        groups = [grid.group(self.rank, phase) for phase in phases]
        self.comms = [comm.Split(groups[phase][0], grid.coordinate(self.rank, phase)) for phase in phases]

    def free(self) -> None:
        """Free them; collective."""
        for each in self.comms:
            each.Free()

    def bound(self, operation: Operation, method: Method) -> Bound:
        """Bind a method to the buffers of an operation; memory between phases is made here."""
        run = {
            "bcast": self._bcast,
            "scatter": self._scatter,
            "gather": self._gather,
            "reduce": self._reduce,
            "allreduce": self._allreduce,
            "allgather": self._allgather,
        }[operation.cell.collective]
        blocks = operation.cell.collective in ("scatter", "gather")
        length = operation.count * (self.grid.processes if blocks else 1)
        between = [np.ones(length, operation.dtype) for _ in self.comms]

        def call(turn: int, root: int) -> None:
            sent, received = operation.pairs[turn % operation.copies]
            run(operation, sent, received, between, root)

        named = " ".join(f"{name}={value}" for name, value in method.parameters)
        return Bound(call, (f"{method.provider} {named}",))

    def _leads(self, root: int, phase: int) -> tuple[bool, int, bool]:
        """Whether this rank takes part in a phase, the root's coordinate, and whether this rank has it."""
        at = self.grid.coordinate(root, phase)
        return self.grid.leads(self.rank, root, phase), at, self.grid.coordinate(self.rank, phase) == at

    def _bcast(self, op: Operation, sent: Any, received: Any, between: list[Any], root: int) -> None:
        del received, between
        for phase, comm in enumerate(self.comms):
            takes_part, at, _ = self._leads(root, phase)
            if takes_part:
                comm.Bcast([sent, op.count, op.handle], at)

    def _scatter(self, op: Operation, sent: Any, received: Any, between: list[Any], root: int) -> None:
        held = sent
        for phase, comm in enumerate(self.comms):
            takes_part, at, has = self._leads(root, phase)
            if takes_part:
                count = op.count * self.grid.strides[phase]
                target = received if phase == len(self.comms) - 1 else between[phase]
                comm.Scatter([held, count, op.handle] if has else None, [target, count, op.handle], at)
                held = target

    def _gather(self, op: Operation, sent: Any, received: Any, between: list[Any], root: int) -> None:
        held = sent
        for phase in reversed(range(len(self.comms))):
            takes_part, at, has = self._leads(root, phase)
            if not takes_part:
                return
            count = op.count * self.grid.strides[phase]
            target = between[phase] if phase else received
            self.comms[phase].Gather([held, count, op.handle], [target, count, op.handle] if has else None, at)
            held = target

    def _reduce(self, op: Operation, sent: Any, received: Any, between: list[Any], root: int) -> None:
        held = sent
        for phase in reversed(range(len(self.comms))):
            takes_part, at, has = self._leads(root, phase)
            if not takes_part:
                return
            target = between[phase] if phase else received
            into = [target, op.count, op.handle] if has else None
            self.comms[phase].Reduce([held, op.count, op.handle], into, op.sum, at)
            held = target

    def _allreduce(self, op: Operation, sent: Any, received: Any, between: list[Any], root: int) -> None:
        del root
        held = sent
        for phase in reversed(range(len(self.comms))):
            target = between[phase] if phase else received
            self.comms[phase].Allreduce([held, op.count, op.handle], [target, op.count, op.handle], op.sum)
            held = target

    def _allgather(self, op: Operation, sent: Any, received: Any, between: list[Any], root: int) -> None:
        del between, root
        for phase in reversed(range(len(self.comms))):
            count = op.count * self.grid.strides[phase]
            ranges = self.grid.ranges(self.rank, phase)
            # What a phase gathers is built where it belongs in the result.
            block = received[ranges[0].start * op.count : ranges[-1].stop * op.count]
            last = self.grid.strides[phase] == 1
            source = [sent, count, op.handle] if last else self._in_place
            self.comms[phase].Allgather(source, [block, count, op.handle])
