"""Communicators that take the methods of a plan, made and used under the control variables that say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.libraries import mpich
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks.mpit import ToolInterface
from dashboard.export.components import HINT, preference


def preferring(comm: Any, component: str) -> Any:
    """A duplicate of a communicator whose calls a part of the library is to answer, if it can; collective.

    Parameters
    ----------
    component
        Its name; empty: as the library finds.
    """
    if not component:
        return comm.Dup()
    info = comm.Get_info()
    try:
        info.Set(HINT, preference(component))
        return comm.Dup_with_info(info)
    finally:
        info.Free()


class Switch:
    """Communicators that each take one method, made when they are first asked for.

    Parameters
    ----------
    plan
        Which control variables make the library take a method.
    comm
        Whose processes they are for.
    tools
        The tool interface; None when the plan sets nothing.
    """

    def __init__(self, plan: Plan, comm: Any, tools: ToolInterface | None) -> None:
        self._plan, self._comm, self._tools = plan, comm, tools
        self._made: dict[tuple[str, Method], Any] = {}
        # MPICH's settings act on all communicators at once: another one, made under them, would be made by the method.
        self._only = comm.Dup() if plan.library == mpich.NAME else None

    def __call__(self, collective: str, method: Method) -> Any:
        """Give the communicator of a method; collective at the first call for it.

        The variables are written at every call: some, such as the radix of Open MPI's k-nomial broadcast, act when a
        communicator is used, not when it is made.
        """
        settings = self._plan.settings_of(collective, method)
        if self._tools is not None and settings:
            # Of another collective nothing may stay: some methods are made of other collectives' own decisions.
            self._tools.restore()
            self._tools.write(settings)
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
        """Free all of them; collective."""
        if self._tools is not None and self._only is not None:
            self._tools.restore()
        for comm in (*self._made.values(), *filter(None, [self._only])):
            comm.Free()
        self._made.clear()
