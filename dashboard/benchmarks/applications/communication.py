"""Collectives of an application on one communicator: one switch says whether they run in phases. Each is timed."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.providers.grid_comms import Caller, GridComms
from dashboard.domain.arrays import Array, FloatArray
from dashboard.schedules.layout import Grid, Step
from dashboard.schedules.orthogonal import inner_of
from dashboard.schedules.phases import LIBRARY, steps
from loaders.collectives import COLLECTIVES

COMPUTE = "compute"


class Clock:
    """Seconds by the name of what took them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._since = 0.0

    def start(self) -> None:
        """Begin."""
        self._since = time.perf_counter()

    def lap(self, name: str) -> None:
        """What went by since the last lap belongs to this name."""
        now = time.perf_counter()
        self.seconds[name] += now - self._since
        self._since = now


class Communication:
    """Collectives of doubles over a communicator; collective.

    Parameters
    ----------
    comm
        Of mpi4py.
    clock
        Takes the time of every phase, and of what is computed between.
    grid
        Collectives run in its phases; None: as they are.
    inner
        As of `dashboard.benchmarks.applications.order.Order`.
    where
        Put behind the names of collectives.
    """

    def __init__(
        self,
        mpi: Any,
        comm: Any,
        executor: Executor,
        clock: Clock,
        grid: Grid | None,
        inner: Mapping[str, str],
        where: str = "",
    ) -> None:
        # Own messages go over a duplicate, as the application's own may be under way.
        self.comm, self._clock, self._inner, self._where = comm.Dup(), clock, inner, where
        self.rank, self.size = int(comm.Get_rank()), int(comm.Get_size())
        self._caller = Caller(executor, mpi.DOUBLE, mpi.SUM)
        self._grid = None if grid is None else GridComms(self.comm, grid)

    def bound(
        self, collective: str, sent: Array | None, received: Array | None, lengths: Sequence[int] = ()
    ) -> Callable[[], None]:
        """A collective with its buffers, to be called as often as wanted; the root is the first rank.

        Parameters
        ----------
        collective
            Such as ``allgatherv``; arguments as of `dashboard.schedules.phases.steps`.

        Returns
        -------
        Callable
            What was computed since the last call is taken for `COMPUTE`.
        """
        plain = collective.removesuffix("v")
        inner, title = self._inner.get(plain, self._inner.get("", LIBRARY)), plain + self._where
        grid = self._grid
        calls: list[tuple[str, Callable[[], None]]] = []
        if grid is None:
            counts = tuple(lengths) if COLLECTIVES[collective].by_block else ()
            name = f"{plain}v" if len(set(counts)) > 1 else plain
            step = Step(0, name, sent, received, counts, 0)
            calls.append((title, self._caller.bound(step, self.comm, inner)))
        else:
            names = inner_of(inner, len(grid.comms))
            for step in steps(collective, grid.grid, grid.rank, sent, received, lengths):
                part = f"{title}, phase {step.phase + 1} of {grid.grid}"
                calls.append((part, self._caller.bound(step, grid.comms[step.phase], names[step.phase])))
        clock = self._clock

        def run() -> None:
            clock.lap(COMPUTE)
            for title, call in calls:
                call()
                clock.lap(title)

        return run

    def free(self) -> None:
        """Free everything; collective."""
        self._caller.free()
        if self._grid is not None:
            self._grid.free()
        self.comm.Free()


def empty(length: int, *more: int) -> FloatArray:
    """Memory whose pages are all touched."""
    # Zeros of NumPy's own are touched at their first use, which then takes longer than a call.
    return np.full((length, *more), 0.0)
