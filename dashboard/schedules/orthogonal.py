"""Orthogonal structures: a collective in phases over the groups of a grid, each phase an algorithm of its own.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, section 2.
Groups are made of ranks such that blocks come out in rank order without moving them, and reductions combine ranges of
ranks in order. Ranks of a group meet in no other phase, so phases need no tags of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.schedules import allgather, allreduce, bcast, compositions, reduce, rooted
from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm, Parameter
from dashboard.schedules.call import Blocks, Call, View
from dashboard.schedules.errors import NotApplicableError, ScheduleError
from dashboard.schedules.layout import Grid, balanced
from dashboard.schedules.rank import RECEIVE, SEND, Log, Rank
from loaders.collectives import COLLECTIVES

NAME = "orthogonal"
BALANCED = "balanced"
#: Between the algorithms of the phases, where they are not the same in all; before each of an algorithm's parameters.
BETWEEN_PHASES, BEFORE_PARAMETERS = "+", ":"

_INNER: Mapping[str, Mapping[str, Algorithm]] = {
    collective: {each.name: each for module in modules for each in module.ALGORITHMS if each.collective == collective}
    for collective, modules in (
        ("bcast", (bcast,)),
        ("scatter", (rooted,)),
        ("gather", (rooted,)),
        ("reduce", (reduce,)),
        ("allreduce", (allreduce, compositions)),
        ("allgather", (allgather, compositions)),
    )
}
#: Inner algorithms that serve every group; what serves where there is no grid.
_DEFAULT = {
    "bcast": "binomial",
    "scatter": "binomial",
    "gather": "binomial",
    "reduce": "in_order_binary",
    "allreduce": "recursive_doubling",
    "allgather": "ring",
}


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


@dataclass(frozen=True)
class _Phase:
    """One phase, as a rank sees it."""

    rank: Rank
    grid: Grid
    number: int

    @property
    def takes_part(self) -> bool:
        return self.grid.leads(self.rank.rank, self.rank.root, self.number)

    @property
    def root(self) -> int:
        """Coordinate of the root."""
        return self.grid.coordinate(self.rank.root, self.number)

    @property
    def is_root(self) -> bool:
        return self.grid.coordinate(self.rank.rank, self.number) == self.root

    @property
    def last(self) -> bool:
        """Whether members stand for themselves only."""
        return self.grid.strides[self.number] == 1

    def lengths(self) -> tuple[int, ...]:
        """Elements that each member of the group stands for."""
        blocks = self.rank.call.blocks.lengths
        return tuple(sum(blocks[each.start : each.stop]) for each in self.grid.ranges(self.rank.rank, self.number))

    @property
    def own(self) -> int:
        """Elements that this rank stands for."""
        return self.lengths()[self.grid.coordinate(self.rank.rank, self.number)]

    def run(self, input: View, output: View, *, in_place: bool = False) -> None:
        """Write the operations of this rank in its group."""
        rank, entry = self.rank, COLLECTIVES[self.rank.call.collective]
        made = _group_call(rank.call, self.grid, self.number, self.lengths() if entry.by_block else None)
        made = replace(made, root=self.root if entry.rooted else 0, in_place=in_place)
        algorithm, values = _inner(made, rank.parameters, self.number, len(self.grid.factors))
        log = _GroupLog(rank.log, self.grid.group(rank.rank, self.number))
        place = self.grid.coordinate(rank.rank, self.number)
        algorithm.write(Rank(made, place, values, log, input, output, tag=rank.tag))


def _group_call(call: Call, grid: Grid, phase: int, counts: tuple[int, ...] | None) -> Call:
    """The call of a group in a phase, with root 0."""
    return Call(
        call.collective.removesuffix("v"),
        grid.factors[phase],
        0 if counts is not None else call.count,
        element_size=call.element_size,
        commutative=call.commutative,
        counts=counts,
    )


def _inner(call: Call, values: Mapping[str, Any], phase: int, phases: int) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm of a phase, or what it falls back to in a group of this size; the same in all groups.

    Raises
    ------
    NotApplicableError
        When it cannot serve, nor what it falls back to.
    """
    names = str(values["inner"]).split(BETWEEN_PHASES)
    if len(names) not in (1, phases):
        raise NotApplicableError(f"inner names {len(names)} algorithms; expected one, or one for each of {phases}")
    name, given = worded(names[phase % len(names)])
    given = {"segment_size": values["segment_size"], **given}
    algorithm = _INNER[call.collective][name]
    while True:
        known = {each.name for each in algorithm.parameters}
        chosen = algorithm.values({key: value for key, value in given.items() if key in known})
        try:
            algorithm.check(call, chosen)
        except NotApplicableError:
            if not algorithm.fallback:
                raise
            algorithm = _INNER[call.collective][algorithm.fallback]
        else:
            return algorithm, chosen


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
        counts = (call.count,) * factor if COLLECTIVES[call.collective].by_block else None
        names.append(_inner(_group_call(call, grid, phase, counts), values, phase, len(grid.factors))[0].name)
    return tuple(names)


def _phases(rank: Rank) -> list[_Phase]:
    """Phases from the first dimension, whose groups are columns, to the last, whose groups are rows."""
    grid = grid_of(rank.call, rank.parameters)
    return [_Phase(rank, grid, number) for number in range(len(grid.factors))]


def _bcast(rank: Rank) -> None:
    """The root's column first, then the rows of each member."""
    for phase in _phases(rank):
        if phase.takes_part:
            phase.run(rank.input, rank.output)


def _scatter(rank: Rank) -> None:
    """Parts of rows to the root's column first, then blocks in each row."""
    held = rank.input
    for phase in _phases(rank):
        if phase.takes_part:
            target = rank.output if phase.last else rank.scratch(phase.own)
            phase.run(held if phase.is_root else held.part(0, 0), target)
            held = target


def _gather(rank: Rank) -> None:
    """Rows first, then the root's column with what the rows gathered, or combined: always a range of ranks."""
    held = rank.input
    for phase in _phases(rank)[::-1]:
        if not phase.takes_part:
            return
        target = rank.output.part(0, 0)
        if phase.is_root:
            room = held.length if rank.call.reducing else sum(phase.lengths())
            target = rank.scratch(room) if phase.number else rank.output
        phase.run(held, target)
        held = target


def _allreduce(rank: Rank) -> None:
    """Every row first, then every column."""
    in_place = rank.call.in_place
    for phase in _phases(rank)[::-1]:
        phase.run(rank.output if in_place else rank.input, rank.output, in_place=in_place)
        in_place = True


def _allgather(rank: Rank) -> None:
    """Every row first, then every column with the blocks of rows, built where they belong in the result."""
    blocks = Blocks.dense(rank.call.blocks.lengths)
    result = rank.output if rank.call.blocks.is_dense else rank.scratch(blocks.end)
    in_place = rank.call.in_place and rank.call.blocks.is_dense
    for phase in _phases(rank)[::-1]:
        first = phase.grid.ranges(rank.rank, phase.number)[0].start
        target = result.part(blocks.offsets[first], sum(phase.lengths()))
        phase.run(target.part(0, 0) if in_place else rank.input, target, in_place=in_place)
        in_place = True
    if not rank.call.blocks.is_dense:
        for start, offset, length in zip(blocks.offsets, *rank.call.blocks, strict=True):
            rank.copy(result.part(start, length), rank.output.part(offset, length))


def _of(collective: str, write: Callable[[Rank], None], *, order: bool = False) -> Algorithm:
    plain = collective.removesuffix("v")
    known = _INNER[plain]
    parameters = [
        _GridParameter("grid", BALANCED, (BALANCED,)),
        _InnerParameter("inner", _DEFAULT[plain], tuple(known)),
    ]
    return Algorithm(
        collective,
        NAME,
        write,
        "Kühnemann, Rauber, Rünger, section 2",
        (*parameters, SEGMENT_SIZE),
        order="rank order" if order else "",
        fallback=_DEFAULT[plain],
        also=inside,
    )


ALGORITHMS = (
    _of("bcast", _bcast),
    _of("scatter", _scatter),
    _of("gather", _gather),
    _of("reduce", _gather, order=True),
    _of("allreduce", _allreduce, order=True),
    _of("allgather", _allgather),
    _of("allgatherv", _allgather),
)
