"""Orthogonal structures: a collective in phases over the groups of a grid, each phase an algorithm of its own.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, section 2.
Groups are made of ranks such that blocks come out in rank order without moving them, and reductions combine ranges of
ranks in order. Ranks of a group meet in no other phase, so phases need no tags of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.schedules import allgather, allreduce, bcast, compositions, reduce, rooted
from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm, Parameter, by_collective
from dashboard.schedules.call import Blocks, Call, View
from dashboard.schedules.errors import NotApplicableError, ScheduleError
from dashboard.schedules.layout import Grid, Memory, Step, balanced, group_steps
from dashboard.schedules.rank import OUTPUT, RECEIVE, SEND, Log, Rank
from loaders.collectives import COLLECTIVES

NAME = "orthogonal"
BALANCED = "balanced"
#: Between the algorithms of the phases, where they are not the same in all; before each of an algorithm's parameters.
BETWEEN_PHASES, BEFORE_PARAMETERS = "+", ":"

_INNER = by_collective(
    each for module in (bcast, rooted, reduce, allreduce, allgather, compositions) for each in module.ALGORITHMS
)
#: Inner algorithms that serve every group; what serves where there is no grid.
_DEFAULT = {**compositions.DEFAULT, "allreduce": "recursive_doubling", "allgather": "ring"}


@dataclass(frozen=True)
class _GridParameter(Parameter):
    def check(self, where: str, value: Any) -> None:
        """Refuse what is no grid."""
        if not isinstance(value, str):
            raise ScheduleError(f"{where}: {self.name} is {value!r}; expected {BALANCED} or factors such as 4x8")
        if value != BALANCED:
            Grid.of(value)


@dataclass(frozen=True)
class _InnerParameter(Parameter):
    def check(self, where: str, value: Any) -> None:
        """Refuse what names other algorithms, or parameters that they have not."""
        for word in str(value).split(BETWEEN_PHASES):
            name, given = worded(word)
            super().check(where, name)
            _INNER[where.partition(" ")[0].removesuffix("v")][name].values(given)


def default_inner(collective: str) -> str:
    """The inner algorithm of a collective where none is named.

    Raises
    ------
    NotApplicableError
        When it does not run in phases over a grid.
    """
    plain = collective.removesuffix("v")
    if plain not in _DEFAULT:
        raise NotApplicableError(f"{collective} has no grids; those that have are {', '.join(_DEFAULT)}")
    return _DEFAULT[plain]


def worded(text: str) -> tuple[str, dict[str, int | str]]:
    """Read an algorithm with parameters, such as ``binary:segment_size=8192``: its name, and what is given of them."""
    name, *parts = text.split(BEFORE_PARAMETERS)
    pairs = [part.partition("=") for part in parts]
    return name, {key: int(value) if value.isdecimal() else value for key, _, value in pairs}


def inner_of(names: str, phases: int) -> list[str]:
    """The inner method of each phase, of one for all or one for each; `NotApplicableError` for other numbers."""
    words = names.split(BETWEEN_PHASES)
    if len(words) not in (1, phases):
        raise NotApplicableError(f"inner names {len(words)} methods; expected one, or one for each of {phases} phases")
    return words * phases if len(words) == 1 else words


class _GroupLog(Log):
    """Rows of a group's member, written into those of the rank: peers are the group's ranks."""

    def __init__(self, log: Log, members: tuple[int, ...]) -> None:
        self._log, self._members = log, members

    @property
    def scratch(self) -> int:
        """Scratch memory of the rank."""
        return self._log.scratch

    @scratch.setter
    def scratch(self, value: int) -> None:
        self._log.scratch = value

    def add(self, *row: int) -> int:
        """Write a row."""
        kind, peer, *others = row
        return self._log.add(kind, self._members[peer] if kind in (SEND, RECEIVE) else peer, *others)


def grid_of(call: Call, values: Mapping[str, Any]) -> Grid:
    """The grid of a call.

    Raises
    ------
    NotApplicableError
        When the communicator has another number of processes, or there is no grid of so many.
    """
    if values["grid"] != BALANCED:
        grid = Grid.of(values["grid"])
        if grid.processes != call.processes:
            raise NotApplicableError(f"a grid of {grid} is for {grid.processes} processes; found {call.processes}")
        return grid
    layout = balanced(call.processes)
    if layout is None:
        raise NotApplicableError(f"there is no grid of {call.processes} processes, which is a prime or below 4")
    return layout


def _inner(
    call: Call, grid: Grid, step: Step[View], values: Mapping[str, Any]
) -> tuple[Call, Algorithm, dict[str, Any]]:
    """The call of a group, and its algorithm, or what that falls back to in a group of this size; the same in all.

    Raises
    ------
    NotApplicableError
        When it cannot serve, nor what it falls back to.
    """
    phase, phases = step.phase, len(grid.factors)
    made = step.call(grid.factors[phase], call.count, call.element_size, commutative=call.commutative)
    name, given = worded(inner_of(str(values["inner"]), phases)[phase])
    given = {"segment_size": values["segment_size"], **given}
    algorithm = _INNER[made.collective][name]
    while True:
        known = {each.name for each in algorithm.parameters}
        chosen = algorithm.values({key: value for key, value in given.items() if key in known})
        try:
            algorithm.check(made, chosen)
        except NotApplicableError:
            if not algorithm.fallback:
                raise
            algorithm = _INNER[made.collective][algorithm.fallback]
        else:
            return made, algorithm, chosen


def inside(call: Call, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Algorithm that runs in each phase, by its name: a fallback where the one asked for cannot serve the groups.

    Raises
    ------
    NotApplicableError
        When the grid does not fit, or an inner algorithm cannot serve, nor what it falls back to.
    """
    grid = grid_of(call, values)
    names = []
    for phase, factor in enumerate(grid.factors):
        counts = (call.count,) * factor if call.entry.by_block else ()
        names.append(_inner(call, grid, Step(phase, call.collective, None, None, counts), values)[1].name)
    return tuple(names)


def _write(rank: Rank) -> None:
    """Write the operations of a rank in its group of each phase; blocks with gaps are put in order at the end."""
    call, grid = rank.call, grid_of(rank.call, rank.parameters)
    entry, blocks = call.entry, Blocks.dense(call.blocks.lengths)
    apart = entry.counts == "of ranks" and not call.blocks.is_dense
    result = rank.scratch(blocks.end) if apart else rank.output
    buffers = rank.output if entry.in_one_buffer else rank.input, result
    where = rank.rank, buffers, blocks.lengths, call.root
    memory, in_place = Memory(call.count, rank.scratch, View.part), call.in_place and not apart
    for step in group_steps(call.collective, grid, *where, memory, in_place=in_place):
        made, algorithm, values = _inner(call, grid, step, rank.parameters)
        log = _GroupLog(rank.log, grid.group(rank.rank, step.phase))
        source, target = (View(OUTPUT, 0, 0) if each is None else each for each in (step.sent, step.received))
        place = grid.coordinate(rank.rank, step.phase)
        algorithm.write(Rank(made, place, values, log, source, target, tag=rank.tag))
    if apart:
        for other in range(rank.size):
            rank.copy(blocks.of(result, other), call.blocks.of(rank.output, other))


def _of(collective: str) -> Algorithm:
    plain = collective.removesuffix("v")
    known = _INNER[plain]
    parameters = [
        _GridParameter("grid", BALANCED, (BALANCED,)),
        _InnerParameter("inner", _DEFAULT[plain], tuple(known)),
    ]
    return Algorithm(
        collective,
        NAME,
        _write,
        "Kühnemann, Rauber, Rünger, section 2",
        (*parameters, SEGMENT_SIZE),
        order="rank order" if COLLECTIVES[collective].reduces else "",
        fallback=_DEFAULT[plain],
        also=inside,
    )


ALGORITHMS = tuple(map(_of, (*_DEFAULT, "allgatherv")))
