"""Schedules: the operations of every rank in one call, written once and read by all that run, simulate or draw them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import Call
from dashboard.schedules.errors import NotApplicableError, ScheduleError
from dashboard.schedules.orthogonal import BETWEEN_PHASES, worded
from dashboard.schedules.rank import SEND, Rank, Rows
from dashboard.schedules.registry import algorithm_of

#: Segments of all ranks together: so many take some 4 GB and a minute.
MOST_SEGMENTS = 2**21


class Program(NamedTuple):
    """Operations of one rank, a row each (`dashboard.schedules.rank.COLUMNS`), and elements of scratch memory."""

    rows: Rows
    scratch: int


@dataclass(frozen=True, eq=False)
class Schedule:
    """Operations of all ranks."""

    #: What they make.
    call: Call
    #: What wrote them: a fallback, where the one asked for could not serve.
    algorithm: Algorithm
    #: Its parameters, all of them.
    parameters: dict[str, Any]
    #: By rank.
    programs: tuple[Program, ...]

    @cached_property
    def messages(self) -> npt.NDArray[np.int64]:
        """A row for each message in the order of its sender: from, to, bytes."""
        rows = [program.rows[program.rows[:, 0] == SEND] for program in self.programs]
        sources = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        sent = np.concatenate(rows)
        return np.column_stack([sources, sent[:, 1], sent[:, 5] * self.call.element_size])


def resolve(
    call: Call, name: str, parameters: dict[str, Any], *, fallback: bool = False
) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm that serves a call, with all its parameters; the same on all ranks.

    Raises
    ------
    NotApplicableError
        When it cannot serve, and `fallback` is not wanted or cannot either.
    ScheduleError
        When there is no such algorithm or parameter.
    """
    algorithm = algorithm_of(call.collective, name)
    values = algorithm.values(parameters)
    try:
        algorithm.check(call, values)
    except NotApplicableError as refusal:
        if not fallback or not algorithm.fallback:
            raise
        following = algorithm_of(call.collective, algorithm.fallback)
        kept = {each.name: values[each.name] for each in following.parameters if each.name in values}
        try:
            return resolve(call, following.name, kept, fallback=True)
        except NotApplicableError as other:
            raise NotApplicableError(f"{refusal}; its fallback: {other}") from other
    return algorithm, values


def program(call: Call, algorithm: Algorithm, values: dict[str, Any], rank: int) -> Program:
    """Operations of one rank; `algorithm` and `values` as `resolve` gives them."""
    writer = Rank(call, rank, values)
    if call.processes > 1:
        algorithm.write(writer)
    else:
        _alone(writer)
    return Program(writer.log.array(), writer.log.scratch)


def sent_by(made: Program, element_size: int) -> dict[int, tuple[int, int]]:
    """Messages and bytes that a program sends to each peer."""
    messages, size = Counter[int](), Counter[int]()
    for _, to, _, _, _, length, *_ in made.rows[made.rows[:, 0] == SEND].tolist():
        messages[to] += 1
        size[to] += length * element_size
    return {to: (messages[to], size[to]) for to in sorted(messages)}


def _alone(rank: Rank) -> None:
    """A single process has its result already; it is copied where it belongs."""
    call, entry, source, target = rank.call, rank.call.entry, rank.input, rank.output
    if entry.sends == "nothing" or entry.in_one_buffer or entry.reduces == "below":
        return
    if entry.sends == "blocks":
        # In place the blocks of an alltoall stand where they are received.
        source = (call.received(0) if call.in_place else call.sent(0)).of(source, 0)
    if entry.receives == "blocks":
        target = call.received(0).of(target, 0)
    rank.copy(source, target)


def segment_sizes(call: Call, values: Mapping[str, Any]) -> list[int]:
    """Bytes at which the algorithm, its parts or those inside of its grid cut the call's elements."""
    # Blocks are cut only where a part of a composition sends them as a vector.
    ending = "_segment_size" if call.entry.by_block else "segment_size"
    inner = [worded(word)[1] for word in str(values.get("inner", "")).split(BETWEEN_PHASES)]
    return [size for each in (values, *inner) for name, size in each.items() if name.endswith(ending) and size]


def _check_segments(call: Call, values: dict[str, Any]) -> None:
    total = call.elements * call.element_size
    segment = min(segment_sizes(call, values), default=total)
    segments = -(-total // segment) if segment else 1
    if segments > 1 and segments * call.processes > MOST_SEGMENTS:
        raise ScheduleError(
            f"{total:,} bytes in segments of {segment:,} are {segments:,} segments on each of {call.processes:,} "
            f"processes: at most {MOST_SEGMENTS:,} in all are written at once; take longer segments"
        )


def schedule(call: Call, name: str, *, fallback: bool = False, **parameters: Any) -> Schedule:
    """Write the operations of all ranks.

    Parameters
    ----------
    name
        Of the algorithm.
    fallback
        Take the algorithm's fallback where it cannot serve.
    **parameters
        Of the algorithm; those not given by default.

    Raises
    ------
    NotApplicableError
        When the algorithm cannot serve the call.
    ScheduleError
        When there is no such algorithm or parameter, or there would be more segments than memory is for.
    """
    algorithm, values = resolve(call, name, parameters, fallback=fallback)
    _check_segments(call, values)
    return Schedule(
        call, algorithm, values, tuple(program(call, algorithm, values, rank) for rank in range(call.processes))
    )
