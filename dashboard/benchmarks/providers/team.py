"""The methods of a plan for the processes of one communicator size, bound by whoever offers them."""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.libraries.methods import LIBRARY, Method
from dashboard.benchmarks.libraries.programs import programs
from dashboard.benchmarks.providers.bound import Bound
from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.providers.own import Own
from dashboard.benchmarks.providers.switched import Switch
from dashboard.benchmarks.ranks.mpit import ToolInterface
from dashboard.benchmarks.ranks.operations import Operation


class Methods:
    """What binds methods.

    Parameters
    ----------
    plan
        Whose methods they are.
    comm
        Whose processes they are for.
    tools
        The tool interface; None when nothing is switched.
    executor
        Of schedules; None when the library's methods are all that there are.
    """

    def __init__(self, plan: Plan, comm: Any, tools: ToolInterface | None, executor: Executor | None) -> None:
        self._plan, self._comm, self._tools, self._executor = plan, comm, tools, executor
        self._switch = Switch(plan, comm, tools)
        self._own: Own | None = None

    def bind(self, operation: Operation, method: Method) -> Bound:
        """Make a method ready to be called with the buffers of an operation; collective, before every batch of calls.

        Raises
        ------
        NotApplicableError
            When it cannot serve the operation; the same on all processes, before any message.
        """
        collective = operation.cell.collective
        if method.provider == LIBRARY:
            comm = self._switch(collective, method)
            return Bound(partial(operation.call, comm), programs(collective, method))
        if self._tools is not None:
            # Communicators are to be made, and called in grids, as the library likes: not by the method before.
            self._tools.restore()
            if settings := self._plan.settings_of(collective, method):
                # But for what is forced inside of a grid.
                self._tools.write(settings)
        if self._own is None:
            if self._executor is None:
                raise TypeError("methods over the library need an executor")
            self._own = Own(self._comm, self._executor)
        return self._own.bind(operation, method)

    def strictly(self) -> AbstractContextManager[None]:
        """Within it a library's method that cannot work is refused."""
        return self._switch.strictly()

    def free(self) -> None:
        """Free all communicators; collective."""
        if self._own is not None:
            self._own.free()
        self._switch.free()
