"""What a rank calls in each phase of a grid, as arrays and counts: of communicators nothing is known here.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, sections 2.1, 2.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.call import Call
from dashboard.schedules.errors import NotApplicableError
from dashboard.schedules.layout import Grid
from dashboard.schedules.orthogonal import BETWEEN_PHASES, worded
from dashboard.schedules.schedule import Program, program, resolve
from loaders.collectives import COLLECTIVES

Array = npt.NDArray[Any]
#: Inner method that is the library's own decision on the small communicators; before the name of one that is forced.
LIBRARY, FORCED = "library", "library."
#: Collectives that run in phases, and what each is called when the blocks are not all equal.
PHASED = ("bcast", "scatter", "scatterv", "gather", "gatherv", "reduce", "allreduce", "allgather", "allgatherv")


@dataclass(frozen=True)
class Step:
    """A collective call of one rank in its group.

    Attributes
    ----------
    phase
        Number of the dimension whose group it is.
    collective
        What is called: with a v where the members' blocks differ.
    sent, received
        Buffers; of a broadcast both the same. None where MPI does not look at it.
    counts
        Elements of each member's block; empty where there are no blocks.
    root
        Coordinate of the root.
    in_place
        Whether what is sent stands in `received` already.
    """

    phase: int
    collective: str
    sent: Array | None
    received: Array | None
    counts: tuple[int, ...] = ()
    root: int = 0
    in_place: bool = False


def steps(
    collective: str,
    grid: Grid,
    rank: int,
    sent: Array | None,
    received: Array | None,
    lengths: Sequence[int] = (),
    root: int = 0,
) -> list[Step]:
    """Calls of a rank, in order; memory between phases is made here.

    Parameters
    ----------
    collective
        One of `PHASED`.
    grid, rank
        The grid, and a rank in it.
    sent, received
        What the rank brings and gets, an element each along the first axis; of a broadcast the same. Blocks of all
        ranks stand one after the other. None where the collective does not look at it.
    lengths
        Elements of the block of every rank, of collectives that have blocks.
    root
        Rank, where there is one.
    """
    entry, plain = COLLECTIVES[collective], collective.removesuffix("v")
    rising = plain in ("bcast", "scatter")
    numbers = range(len(grid.factors))
    made: list[Step] = []
    held = sent
    for phase in numbers if rising else reversed(numbers):
        if entry.rooted and not grid.leads(rank, root, phase):
            continue
        at = grid.coordinate(root, phase)
        has = grid.coordinate(rank, phase) == at
        ranges = grid.ranges(rank, phase)
        counts = tuple(sum(lengths[each.start : each.stop]) for each in ranges) if entry.by_block else ()
        name = f"{plain}v" if len(set(counts)) > 1 else plain
        target: Array | None
        if plain == "bcast":
            made.append(Step(phase, name, sent, sent, root=at))
        elif plain == "scatter":
            own = counts[grid.coordinate(rank, phase)]
            target = received if phase == len(numbers) - 1 else _like(held, received, own)
            made.append(Step(phase, name, held if has else None, target, counts, at))
            held = target
        elif plain in ("gather", "reduce"):
            size = len(_there(held)) if plain == "reduce" else sum(counts)
            target = None if not has else received if phase == 0 else _like(held, received, size)
            made.append(Step(phase, name, held, target, counts, at))
            held = target
        elif plain == "allreduce":
            made.append(Step(phase, name, sent, received, in_place=bool(made)))
        else:
            first = sum(lengths[: ranges[0].start])
            block = _there(received)[first : first + sum(counts)]
            made.append(Step(phase, name, sent, block, counts, in_place=bool(made)))
    return made


def _there(array: Array | None) -> Array:
    if array is None:
        raise TypeError("a buffer is missing that this rank needs")
    return array


def _like(held: Array | None, received: Array | None, length: int) -> Array:
    """Memory for so many elements, every page of it touched: the first touch takes longer than a call."""
    model = _there(received if held is None else held)
    return np.ones((length, *model.shape[1:]), model.dtype)


def library_call(step: Step, comm: Any, element: Any, op: Any, in_place: Any) -> Callable[[], None]:
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


def _buffer(array: Array | None, step: Step, element: Any, *, blocks: bool) -> list[Any] | None:
    if array is None or not blocks:
        return None if array is None else [array, len(array), element]
    return [array, np.array(step.counts, np.intc) if step.collective.endswith("v") else step.counts[0], element]


def step_program(
    step: Step, size: int, rank: int, inner: str, *, commutative: bool = True
) -> tuple[Program, tuple[Array, Array]]:
    """The program of an own method that makes a step's call, and its input and output.

    Parameters
    ----------
    inner
        An own method with parameters as `dashboard.schedules.orthogonal.worded` reads it.
    commutative
        Whether the operation commutes.

    Raises
    ------
    ScheduleError
        When there is no such method of the collective.
    NotApplicableError
        When neither it nor its fallback can serve the call.
    """
    name, given = worded(inner)
    held = next(each for each in (step.sent, step.received) if each is not None)
    call = Call(
        step.collective.removesuffix("v"),
        size,
        0 if step.counts else len(held),
        step.root,
        held.dtype.itemsize,
        in_place=step.in_place,
        commutative=commutative,
        counts=step.counts or None,
    )
    made = program(call, *resolve(call, name, given, fallback=True), rank)
    nothing = np.empty((0, *held.shape[1:]), held.dtype)
    # What is broadcast is all output, see `dashboard.schedules.rank.Rank`.
    source = None if step.in_place or call.collective == "bcast" else step.sent
    return made, (nothing if source is None else source, nothing if step.received is None else step.received)


def inner_of(names: str, phases: int) -> list[str]:
    """The inner method of each phase, of one for all or one for each; `NotApplicableError` for other numbers."""
    words = names.split(BETWEEN_PHASES)
    if len(words) not in (1, phases):
        raise NotApplicableError(f"inner names {len(words)} methods; expected one, or one for each phase")
    return words * phases if len(words) == 1 else words


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
