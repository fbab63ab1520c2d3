"""Which rank holds what after each step of a schedule, as the dissertation draws it (Figures 4.4 to 4.12)."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.call import BETWEEN, Call
from dashboard.schedules.errors import ScheduleError
from dashboard.schedules.in_process import Job, run
from dashboard.schedules.rank import RECEIVE, SEND, WAIT
from dashboard.schedules.schedule import Schedule
from dashboard.schedules.steps import steps

#: Contributions are bits of a number.
MOST_PROCESSES = 62
MOST_COLUMNS = 256
MOST_STEPS = 512
Array = npt.NDArray[np.int64]


def movement(schedule: Schedule) -> Array:
    """Contributions that each rank has of each element, after each step.

    Returns
    -------
    array of int
        ``(steps + 1, ranks, elements)``, before the first step and after each: 0 where a rank has nothing of an
        element, 1 where it has it, more where those of several ranks have been combined. Elements are those of the
        vector; of all blocks in turn, where each rank has one; of all pairs for an alltoall (from, to).

    Raises
    ------
    ScheduleError
        When there is too much to be drawn; the message says the limit.
    """
    call = schedule.call
    columns = elements_of(call)
    when = steps(schedule)
    last = max((step for each in when for step in each), default=0)
    for name, value, most in (
        ("processes", call.processes, MOST_PROCESSES),
        ("elements", columns, MOST_COLUMNS),
        ("steps", last, MOST_STEPS),
    ):
        if value > most:
            raise ScheduleError(
                f"{value} {name} are too many to be drawn, at most {most}; take fewer processes or bytes"
            )
    memories = [_memory(call, rank, each.scratch) for rank, each in enumerate(schedule.programs)]
    held = np.zeros((last + 1, call.processes, columns), dtype=np.int64)
    jobs = [[Job(each.rows.tolist(), memories[rank])] for rank, each in enumerate(schedule.programs)]
    coming: list[dict[int, list[int]]] = [{} for _ in jobs]

    def note(rank: int, line: int) -> None:
        """Write down what a rank holds from the step of this row on; what it has not waited for is not there yet."""
        row = jobs[rank][0].rows[line]
        if row[0] == RECEIVE:
            coming[rank][line] = row[3:6]
        elif row[0] == WAIT:
            coming[rank].pop(row[1], None)
        if row[0] not in (SEND, RECEIVE):
            held[when[rank][line] :, rank] = _held(memories[rank], columns, coming[rank].values())

    for rank in range(call.processes):
        held[:, rank] = _held(memories[rank], columns, ())
    run(jobs, _combine, watch=note)
    return held


def elements_of(call: Call) -> int:
    """Elements that are told apart."""
    if call.collective in BETWEEN:
        return sum(sum(call.sent(rank).lengths) for rank in range(call.processes))
    return call.elements


def _combine(lower: Any, into: Any) -> None:
    into[:, 1] |= lower[:, 1]


def _memory(call: Call, rank: int, scratch: int) -> tuple[Array, Array, Array]:
    """Buffers of a rank: of each element its number (-1: nothing) and the contributors as bits."""
    source, target, spare = (
        np.tile(np.array([-1, 0]), (length, 1))
        for length in (call.input_length(rank), call.output_length(rank), scratch)
    )
    first = 0
    if call.collective in BETWEEN:
        first = sum(sum(call.sent(other).lengths) for other in range(rank))
    elif call.entry.sends == "block":
        first = sum(call.blocks.lengths[:rank])
    brings = target if call.entry.in_one_buffer and rank == call.root else source
    brings[:, 0] = first + np.arange(len(brings))
    brings[:, 1] = 1 << rank
    return source, target, spare


def _held(memory: tuple[Array, Array, Array], columns: int, coming: Iterable[Sequence[int]]) -> Array:
    """Largest number of contributions of each element anywhere in a rank's memory, but for what is still to come."""
    there = [np.ones(len(each), dtype=bool) for each in memory]
    for buffer, offset, length in coming:
        there[buffer][offset : offset + length] = False
    every = np.concatenate([each[kept & (each[:, 0] >= 0)] for each, kept in zip(memory, there, strict=True)])
    counts = np.zeros(columns, dtype=np.int64)
    np.maximum.at(counts, every[:, 0], np.bitwise_count(every[:, 1]).astype(np.int64))
    return counts
