"""A schedule for any number of elements: offsets and lengths count units, and a unit is as many elements as needed.

What a schedule does does not depend on how long its elements are. One that is written for a few elements therefore
serves any message that is cut into as many equal parts: an allgather for blocks of one unit, a ring for a vector of as
many units as processes, a pipeline for as many as segments. That is how a program that has no Python runs it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import Call, View
from dashboard.schedules.errors import NotApplicableError
from dashboard.schedules.layout import Grid, Memory, group_steps
from dashboard.schedules.parts import power_below
from dashboard.schedules.rank import COLUMNS, OPERATIONS, SCRATCH, Rank
from dashboard.schedules.schedule import Program, program, resolve
from loaders.collectives import COLLECTIVES

#: Segments of the longest program; longer messages are run so many segments at a time.
MOST_SEGMENTS = 16
#: What a row does beside `dashboard.schedules.rank.OPERATIONS`: it calls the library on the group of a dimension.
CALL = len(OPERATIONS)
_SEGMENT = "segment_size"
_SIZES = (_SEGMENT, "first_segment")
_SCALED = [COLUMNS.index(name) for name in ("offset", "length", "to_offset")]


@dataclass(frozen=True, eq=False)
class Units:
    """The programs of one method on one number of processes."""

    #: Ranks of the communicator.
    processes: int
    #: That the vector, or each block, is cut into at least; each of them has at least one element.
    units: int
    #: Bytes of a unit where the method cuts messages into segments; 0: units have no size of their own.
    segment_size: int
    #: By number of segments less one (one entry without segments), then by rank, counted from the root on. Of a grid by
    #: root, then by rank.
    programs: tuple[tuple[Program, ...], ...]
    #: Likewise, in units: what a rank brings and what its result takes.
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    #: Whose groups the programs call the library on; None: they send messages.
    grid: Grid | None = None


def in_units(collective: str, name: str, parameters: Mapping[str, Any], processes: int) -> Units:
    """Write the programs of a method in units.

    Parameters
    ----------
    collective, name, parameters
        The method, as `dashboard.schedules.schedule` takes it; its fallback where it does not serve so many processes.
    processes
        Of the communicator, at least 2.

    Raises
    ------
    NotApplicableError
        When the method does not serve so many processes, or cuts messages in a way that units cannot say: by bytes
        other than segments, or the blocks of a collective that has blocks.
    ScheduleError
        When there is no such method.
    """
    # Long enough for whatever can be cut: what serves is what a campaign measures there.
    longest = _call(collective, processes, 4 * power_below(processes) * processes)
    algorithm, values = resolve(longest, name, dict(parameters), fallback=True)
    acting = [key for key in values if key.endswith(_SIZES) and _acts(algorithm, values, key, processes)]
    for other in acting:
        if other != _SEGMENT:
            raise NotApplicableError(f"{algorithm.title}: {other}={values[other]} cuts messages at a number of bytes")
    size = int(values[_SEGMENT]) if acting else 0
    unsegmented = {**values, _SEGMENT: 0} if _SEGMENT in values else values
    units = next(_unit_counts(algorithm, unsegmented, processes), 0)
    if not units:
        raise NotApplicableError(f"{algorithm.title} cuts messages in a way that units cannot say")
    if COLLECTIVES[collective].by_block and (units > 1 or size):
        raise NotApplicableError(f"{algorithm.title} cuts blocks, which units cannot say")
    if not size:
        runs = [(units, unsegmented)]
    else:
        runs = [(units * count, {**values, _SEGMENT: 1}) for count in range(1, MOST_SEGMENTS + 1)]
    calls = [_call(collective, processes, count) for count, _ in runs]
    ranks = range(processes)
    return Units(
        processes,
        units,
        size,
        tuple(
            tuple(_program(algorithm, given, call, rank) for rank in ranks)
            for call, (_, given) in zip(calls, runs, strict=True)
        ),
        tuple(tuple(call.input_length(rank) for rank in ranks) for call in calls),
        tuple(tuple(call.output_length(rank) for rank in ranks) for call in calls),
    )


def calls_in_units(collective: str, grid: Grid) -> Units:
    """Write the phases of a grid as calls of the library in units, a row for each call of a rank.

    The columns of a row are `CALL`; the dimension; the root's coordinate in it; what is sent, of so many units for each
    member (buffer -1: in place); and what is received.

    Parameters
    ----------
    collective
        As of `dashboard.schedules.layout.group_steps`, without counts for each process.
    """
    processes = grid.processes
    roots = range(processes if COLLECTIVES[collective].rooted else 1)
    calls = [Call(collective, processes, 1, root) for root in roots]
    ranks = range(processes)
    return Units(
        processes,
        1,
        0,
        tuple(tuple(_phases(call, grid, rank) for rank in ranks) for call in calls),
        tuple(tuple(call.input_length(rank) for rank in ranks) for call in calls),
        tuple(tuple(call.output_length(rank) for rank in ranks) for call in calls),
        grid,
    )


def _phases(call: Call, grid: Grid, rank: int) -> Program:
    entry, writer = call.entry, Rank(call, rank, {})
    log, buffers = writer.log, (writer.output if entry.in_one_buffer else writer.input, writer.output)
    lengths = (1,) * call.processes if entry.by_block else ()
    memory = Memory(call.count, writer.scratch, View.part)
    for step in group_steps(call.collective, grid, rank, buffers, lengths, call.root, memory):
        source, target = (View(SCRATCH, 0, 0) if each is None else each for each in (step.sent, step.received))
        sent = (-1, 0) if step.in_place else source[:2]
        log.add(CALL, step.phase, step.root, *sent, step.counts[0] if step.counts else 1, *target[:2])
    return Program(log.array(), log.scratch)


@cache
def _call(collective: str, processes: int, count: int) -> Call:
    return Call(collective, processes, 0 if collective == "barrier" else count)


def _program(algorithm: Algorithm, values: dict[str, Any], call: Call, rank: int) -> Program:
    algorithm.check(call, values)
    return program(call, algorithm, values, rank)


def _unit_counts(algorithm: Algorithm, values: dict[str, Any], processes: int) -> Iterator[int]:
    """Numbers of units that serve: what is written for so many is what is written for a multiple, but for lengths."""
    power = power_below(processes)
    factor = 4 * power * processes
    for units in sorted({1, 2, power, 2 * power, processes, 2 * processes, power * processes}):
        try:
            if _scales(algorithm, values, processes, units, factor):
                yield units
        except NotApplicableError:
            if units == power * processes:
                raise


def _scales(algorithm: Algorithm, values: dict[str, Any], processes: int, units: int, factor: int) -> bool:
    """Whether what is written for `units` is, times `factor`, what is written for so many times as many."""
    few, many = (_call(algorithm.collective, processes, units * times) for times in (1, factor))
    for rank in range(processes):
        small, large = (_program(algorithm, values, call, rank) for call in (few, many))
        if small.rows.shape != large.rows.shape or small.scratch * factor != large.scratch:
            return False
        scaled = small.rows.copy()
        scaled[:, _SCALED] *= factor
        if not np.array_equal(scaled, large.rows):
            return False
    return True


def _acts(algorithm: Algorithm, values: dict[str, Any], name: str, processes: int) -> bool:
    """Whether a size in bytes changes what is written for a message of some such sizes."""
    if not values[name]:
        return False
    call = _call(algorithm.collective, processes, 3 * int(values[name]) + 1)
    cut, uncut = (
        [_program(algorithm, given, call, rank).rows for rank in range(processes)]
        for given in (values, {**values, name: 0})
    )
    return not all(map(np.array_equal, cut, uncut))
