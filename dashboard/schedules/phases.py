"""What a rank calls in each phase of a grid, as arrays and counts: of communicators nothing is known here.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, sections 2.1, 2.2.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.errors import NotApplicableError
from dashboard.schedules.layout import Grid, Memory, Step, group_steps
from dashboard.schedules.orthogonal import BETWEEN_PHASES, worded
from dashboard.schedules.schedule import Program, program, resolve
from loaders.collectives import COLLECTIVES

Array = npt.NDArray[Any]
#: Inner method that is the library's own decision on the small communicators; before the name of one that is forced.
LIBRARY, FORCED = "library", "library."


def steps(
    collective: str,
    grid: Grid,
    rank: int,
    sent: Array | None,
    received: Array | None,
    lengths: Sequence[int] = (),
    root: int = 0,
) -> list[Step[Array]]:
    """Calls of a rank, in order; memory between phases is made here, every page of it touched: that takes long.

    Parameters
    ----------
    collective, grid, rank, lengths, root
        As of `dashboard.schedules.layout.group_steps`.
    sent, received
        What the rank brings and gets, an element each along the first axis.
    """
    like = next(each for each in (sent, received) if each is not None)
    memory = Memory[Array](
        len(like),
        lambda length: np.ones((length, *like.shape[1:]), like.dtype),
        lambda array, start, length: array[start : start + length],
    )
    return list(group_steps(collective, grid, rank, (sent, received), lengths, root, memory))


def library_call(step: Step[Array], comm: Any, element: Any, op: Any, in_place: Any) -> Callable[[], None]:
    """What makes a step's call by the library.

    Parameters
    ----------
    comm
        Communicator of mpi4py of the step's group.
    element, op
        MPI's type of an element, and its operation of a reduction.
    in_place
        mpi4py's ``MPI.IN_PLACE``.
    """
    entry = COLLECTIVES[step.collective]
    first = in_place if step.in_place else _buffer(step.sent, step, element, blocks=entry.sends == "blocks")
    second = _buffer(step.received, step, element, blocks=entry.receives == "blocks")
    arguments = entry.arguments(first, second, op=op, root=step.root)
    call = getattr(comm, entry.call)
    return lambda: call(*arguments)


def _buffer(array: Array | None, step: Step[Array], element: Any, *, blocks: bool) -> list[Any] | None:
    if array is None or not blocks:
        return None if array is None else [array, len(array), element]
    return [array, np.array(step.counts, np.intc) if step.collective.endswith("v") else step.counts[0], element]


def step_program(
    step: Step[Array], size: int, rank: int, inner: str, *, commutative: bool = True
) -> tuple[Program, tuple[Array, Array]]:
    """The program of an own method that makes a step's call, and its input and output.

    Parameters
    ----------
    inner
        An own method with parameters as `dashboard.schedules.orthogonal.worded` reads it.

    Raises
    ------
    ScheduleError
        When there is no such method of the collective.
    NotApplicableError
        When neither it nor its fallback can serve the call.
    """
    name, given = worded(inner)
    held = next(each for each in (step.sent, step.received) if each is not None)
    call = step.call(size, len(held), held.dtype.itemsize, commutative=commutative)
    made = program(call, *resolve(call, name, given, fallback=True), rank)
    nothing = np.empty((0, *held.shape[1:]), held.dtype)
    # What is broadcast is all output, see `dashboard.schedules.rank.Rank`.
    source = None if step.in_place or call.collective == "bcast" else step.sent
    return made, (nothing if source is None else source, nothing if step.received is None else step.received)


def is_library(word: str) -> bool:
    """Whether an inner method is a call of the library, by its own decision or forced."""
    return word == LIBRARY or word.startswith(FORCED)


def by_library(inner: str) -> bool:
    """Whether a phase of a grid is the library's own call, so that it needs communicators of its own."""
    return any(is_library(word) for word in inner.split(BETWEEN_PHASES))


def group_comms(comm: Any, grid: Grid) -> list[Any]:
    """Communicators of mpi4py of each phase of a grid; collective.

    Raises
    ------
    NotApplicableError
        When the communicator has another number of processes; the same on all ranks.
    """
    if grid.processes != (size := int(comm.Get_size())):
        raise NotApplicableError(f"a grid of {grid} is for {grid.processes} processes; found {size}")
    rank = int(comm.Get_rank())
    return [comm.Split(grid.group(rank, phase)[0], grid.coordinate(rank, phase)) for phase in range(len(grid.factors))]
