"""Grids over communicators of their rows and columns, made once: phases may be the library's own calls there."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.providers.bound import Bound, when_needed
from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.ranks.operations import Operation
from dashboard.domain.arrays import Array
from dashboard.schedules.layout import Grid, Step
from dashboard.schedules.orthogonal import BETWEEN_PHASES, inner_of
from dashboard.schedules.phases import (
    FORCED,
    group_comms,
    is_library,
    library_call,
    step_program,
    steps,
)


class Caller:
    """Makes calls of steps, by the library or by own methods; the same on all ranks of a communicator.

    Parameters
    ----------
    element, op
        MPI's type of an element, and its operation of a reduction.
    """

    def __init__(self, executor: Executor, element: Any, op: Any) -> None:
        self._executor, self._element, self._op = executor, element, op
        self._commutes = op is None or bool(op.Is_commutative())
        self._made = ExitStack()

    def bound(self, step: Step[Array], comm: Any, inner: str) -> Callable[[], None]:
        """What makes a step's call on the communicator of its group.

        Parameters
        ----------
        inner
            Of the library, or an own method as `dashboard.schedules.phases.step_program` takes it; errors are its.
        """
        if is_library(inner):
            return library_call(step, comm, self._element, self._op, self._executor.in_place)
        size, rank = int(comm.Get_size()), int(comm.Get_rank())
        made, memory = step_program(step, size, rank, inner, commutative=self._commutes)
        run = self._executor.bind(comm, made, memory, self._element, self._op)
        self._made.callback(run.free)
        return run

    def free(self) -> None:
        """Give back what was made for calls; they cannot be made any more."""
        self._made.close()


class GridComms:
    """Communicators of the phases of a grid, one for each; collective.

    Parameters
    ----------
    comm
        Communicator of mpi4py with as many processes as the grid has.

    Raises
    ------
    NotApplicableError
        When the communicator has another number of processes; the same on all ranks.
    """

    def __init__(self, comm: Any, grid: Grid) -> None:
        self.grid, self.rank, self.comms = grid, int(comm.Get_rank()), group_comms(comm, grid)

    def free(self) -> None:
        """Free them; collective."""
        for each in self.comms:
            each.Free()

    def bound(self, operation: Operation, method: Method, executor: Executor) -> Bound:
        """Bind a method to the buffers of an operation."""
        caller = Caller(executor, operation.handle, operation.sum)
        inner = inner_of(str(dict(method.parameters)["inner"]), len(self.comms))

        def make(copy: int, root: int) -> Callable[[], None]:
            """What makes the calls of all phases, with a pair of buffers and a root."""
            name, (sent, received) = operation.cell.collective, operation.pairs[copy]
            parts = steps(name, self.grid, self.rank, sent, received, operation.counts, root)
            calls = [caller.bound(step, self.comms[step.phase], inner[step.phase]) for step in parts]

            def run() -> None:
                for call in calls:
                    call()

            return run

        named = " ".join(f"{name}={value}" for name, value in method.parameters)
        return when_needed(make, operation.copies, (f"{method.provider} {named}",), caller.free)


def forced_of(method: Method) -> str:
    """The algorithm of the library that is forced inside of a grid, with its parameters; empty without one."""
    words = str(dict(method.parameters).get("inner", "")).split(BETWEEN_PHASES)
    return next((word.removeprefix(FORCED) for word in words if word.startswith(FORCED)), "")
