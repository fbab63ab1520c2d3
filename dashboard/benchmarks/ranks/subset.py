"""A communicator of a part of a job's ranks, while the others wait without using the processor."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dashboard.benchmarks.ranks.mpit import ToolInterface

#: Seconds between two looks of a rank that waits.
_WAIT_S = 0.0005


@contextmanager
def subset(mpi: Any, world: Any, *, member: bool, tools: ToolInterface | None = None) -> Iterator[Any]:
    """Split the job's ranks, and bring all of them together again.

    Parameters
    ----------
    world
        All ranks, which all call this: its ``COMM_WORLD``, or a `Plain` of it where methods are forced on all there is.
    tools
        Takes back at the end what was set meanwhile. The ranks that wait have set nothing: as long as the others keep a
        method, a call of all together is one algorithm here and another there, which of Open MPI's han never ends.

    Yields
    ------
    mpi4py.MPI.Comm or None
        Of the ranks that take part, in their order; None on the others. It is freed at the end.
    """
    comm = world.Split(0 if member else mpi.UNDEFINED, world.Get_rank())
    yield comm if member else None
    if tools is not None:
        tools.restore()
    if member:
        comm.Free()
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(_WAIT_S)
