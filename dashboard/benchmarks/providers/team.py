"""The methods of a plan for the processes of one communicator size, bound by whoever offers them."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.libraries import mpich
from dashboard.benchmarks.libraries.methods import LIBRARY, Method
from dashboard.benchmarks.libraries.programs import programs
from dashboard.benchmarks.providers.bound import Bound
from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.providers.own import Own
from dashboard.benchmarks.ranks.mpit import ToolInterface
from dashboard.benchmarks.ranks.operations import Operation
from dashboard.benchmarks.ranks.selection import preferring


class Methods:
    """What binds methods, on communicators that each take one, made and used under the control variables that say so.

    Parameters
    ----------
    plan
        Whose methods they are, and which control variables make the library take each.
    tools
        The tool interface; None when nothing is switched.
    executor
        Of schedules; None when the library's methods are all that there are.
    """

    def __init__(self, plan: Plan, comm: Any, tools: ToolInterface | None, executor: Executor | None) -> None:
        self._plan, self._comm, self._tools, self._executor = plan, comm, tools, executor
        self._made: dict[tuple[str, Method], Any] = {}
        # MPICH's settings act on all communicators at once: another one, made under them, would be made by the method.
        self._only = comm.Dup() if plan.library == mpich.NAME else None
        self._own: Own | None = None

    def bind(self, operation: Operation, method: Method) -> Bound:
        """Make a method ready to be called with the buffers of an operation; collective, before every batch of calls.

        The variables are written each time: some, such as the radix of Open MPI's k-nomial broadcast, act when a
        communicator is used, not when it is made.

        Raises
        ------
        NotApplicableError
            When it cannot serve the operation; the same on all processes, before any message.
        """
        collective = operation.cell.collective
        if self._tools is not None:
            # Of another method nothing may stay: some are made of other collectives' own decisions, and what runs over
            # the library is made, and calls it in grids, as that likes, but for what is forced inside of a grid.
            self._tools.restore()
            self._tools.write(self._plan.settings_of(collective, method))
        if method.provider == LIBRARY:
            comm = self._communicator(collective, method)
            return Bound(partial(operation.call, comm), programs(collective, method))
        if self._own is None:
            if self._executor is None:
                raise TypeError("methods over the library need an executor")
            self._own = Own(self._comm, self._executor)
        return self._own.bind(operation, method)

    def _communicator(self, collective: str, method: Method) -> Any:
        """The communicator of a method of the library; collective at the first call for it."""
        if self._only is not None:
            return self._only
        key = (collective, method)
        if key not in self._made:
            self._made[key] = preferring(self._comm, self._plan.component_of(method))
        return self._made[key]

    @contextmanager
    def strictly(self) -> Iterator[None]:
        """Have the library refuse a method that cannot work, where it would else take another one in silence.

        For a single call only: the worker's own communication is to go on whatever is set.
        """
        if self._tools is None or not self._plan.strict:
            yield
            return
        self._tools.write(self._plan.strict)
        try:
            yield
        finally:
            self._tools.restore(self._plan.strict)

    def free(self) -> None:
        """Free all communicators; collective."""
        if self._own is not None:
            self._own.free()
        if self._tools is not None and self._only is not None:
            self._tools.restore()
        for comm in (*self._made.values(), *filter(None, [self._only])):
            comm.Free()
