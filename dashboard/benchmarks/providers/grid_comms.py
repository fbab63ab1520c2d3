"""Grids over communicators of their rows and columns, made once: phases may be the library's own calls there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.providers.bound import Bound
from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.providers.phases import LIBRARY, Caller, steps
from dashboard.benchmarks.ranks.operations import Operation
from dashboard.schedules.errors import NotApplicableError
from dashboard.schedules.layout import Grid
from dashboard.schedules.orthogonal import BETWEEN_PHASES

COLLECTIVES = ("bcast", "scatter", "gather", "reduce", "allreduce", "allgather", "allgatherv")


class GridComms:
    """Communicators of the phases of a grid, one for each; collective.

    Parameters
    ----------
    comm
        Communicator of mpi4py with as many processes as the grid has.
    grid
        The grid.

    Raises
    ------
    NotApplicableError
        When the communicator has another number of processes; the same on all ranks.
    """

    def __init__(self, comm: Any, grid: Grid) -> None:
        if grid.processes != (size := int(comm.Get_size())):
            raise NotApplicableError(f"a grid of {grid} is for {grid.processes} processes; found {size}")
        self.grid, self.rank = grid, int(comm.Get_rank())
        phases = range(len(grid.factors))
        groups = [grid.group(self.rank, phase) for phase in phases]
        self.comms = [comm.Split(groups[phase][0], grid.coordinate(self.rank, phase)) for phase in phases]

    def free(self) -> None:
        """Free them; collective."""
        for each in self.comms:
            each.Free()

    def inner(self, names: str) -> list[str]:
        """The inner method of each phase, of one for all or one for each; `NotApplicableError` for other numbers."""
        words = names.split(BETWEEN_PHASES)
        if len(words) not in (1, len(self.comms)):
            raise NotApplicableError(f"inner names {len(words)} methods; expected one, or one for each phase")
        return words * len(self.comms) if len(words) == 1 else words

    def bound(self, operation: Operation, method: Method, executor: Executor) -> tuple[Bound, Callable[[], None]]:
        """Bind a method to the buffers of an operation, and what frees it; memory is made at a root's first call."""
        caller = Caller(executor, operation.handle, operation.sum)
        inner = self.inner(str(dict(method.parameters)["inner"]))
        made: dict[tuple[int, int], list[Callable[[], None]]] = {}

        def calls(copy: int, root: int) -> list[Callable[[], None]]:
            if (copy, root) not in made:
                sent, received = operation.pairs[copy]
                name = operation.cell.collective
                parts = steps(name, self.grid, self.rank, sent, received, operation.counts, root)
                made[copy, root] = [caller.bound(step, self.comms[step.phase], inner[step.phase]) for step in parts]
            return made[copy, root]

        def call(turn: int, root: int) -> None:
            for each in calls(turn % operation.copies, root):
                each()

        def ready(first: int, number: int, roots: int) -> None:
            for turn in range(first, first + min(number, operation.copies * roots)):
                calls(turn % operation.copies, turn % roots)

        named = " ".join(f"{name}={value}" for name, value in method.parameters)
        return Bound(call, (f"{method.provider} {named}",), ready=ready), caller.free


def by_library(inner: str) -> bool:
    """Whether a phase of a grid is the library's own call, so that it needs communicators of its own."""
    return LIBRARY in inner.split(BETWEEN_PHASES)
