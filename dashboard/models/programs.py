"""Schedules as the simulator runs them: what each process sends, waits for and computes, message by message.

The schedules are those of `dashboard.schedules`, so what is simulated is what is run and measured. What the models
leave out is left out here: moving one's own block, and that reports of a flat barrier meet at its root (4.3.4).
"""

import math
from collections.abc import Iterator
from typing import Any

from dashboard.models.errors import NotApplicableError
from dashboard.models.registry import model_of
from dashboard.models.simulator import Both, Operation, Program, Programs, Receive, Send, Work
from dashboard.schedules import Call, Schedule, ScheduleError
from dashboard.schedules import schedule as schedule_of
from dashboard.schedules.rank import COMBINE, COPY, RECEIVE, SEND, WAIT, MessageKey, messages_of

#: Algorithms whose fan-in arrives as if each message came alone.
ALONE = {("barrier", "flat_tree")}
#: Messages of one way and tag follow each other; the simulator tells them apart by numbers of their own.
_PHASE = 1 << 40


def programs_of(
    collective: str, algorithm: str, processes: int, message_size: float = 0, segment_size: float = 0
) -> Programs:
    """Programs of all processes for the simulator; the root is process 0.

    Parameters
    ----------
    collective, algorithm
        Of a model.
    processes
        Number of them.
    message_size, segment_size
        Bytes, by the project's convention; 0 = no segments. Parts of bytes are rounded up.

    Raises
    ------
    ModelError
        When the algorithm is unknown.
    NotApplicableError
        When it does not work on that number of processes, or on so few bytes.
    """
    model = model_of(collective, algorithm)
    if processes < 1 or not model.applies(processes).all():
        raise NotApplicableError(f"{collective} {algorithm} works on {model.validity} of processes; found {processes}")
    name = "first_segment" if model.segmented == "first" else "segment_size"
    parameters: dict[str, Any] = {name: math.ceil(segment_size)} if model.segmented else {}
    count = 0 if collective == "barrier" else math.ceil(message_size)
    try:
        made = schedule_of(Call(collective, processes, count), algorithm, **parameters)
    except ScheduleError as error:
        raise NotApplicableError(str(error)) from error
    return programs_from(made)


def programs_from(made: Schedule) -> Programs:
    """Programs for the simulator of any schedule, that of an algorithm without a model too."""
    return _Reader(made, alone=(made.call.collective, made.algorithm.name) in ALONE).programs()


class _Reader:
    """Reads the rows of all ranks; messages are numbered by way first, at both ends alike."""

    def __init__(self, schedule: Schedule, *, alone: bool) -> None:
        self.size, self.alone = schedule.call.element_size, alone
        self.rows: list[list[list[int]]] = [program.rows.tolist() for program in schedule.programs]
        #: For each message the place of its send among all of its sender, which receives taken together follow.
        self.left: dict[MessageKey, int] = {}
        for rank, rows in enumerate(self.rows):
            for place, (key, _) in enumerate(messages_of(rank, rows, SEND)):
                self.left[key] = place

    def programs(self) -> list[Program]:
        """Programs of all ranks."""
        return [list(self._program(rank)) for rank in range(len(self.rows))]

    def _program(self, rank: int) -> Iterator[Operation]:
        rows = self.rows[rank]
        ways = {line: key for key, line in messages_of(rank, rows, SEND, RECEIVE)}
        sends: list[Send] = []
        posted: list[int] = []
        late: list[int] = []
        line = 0
        while line < len(rows):
            kind, _, tag, _, _, length, _, _ = rows[line]
            if kind == SEND:
                sends.append(self._send(ways[line], length * self.size))
            elif kind == RECEIVE:
                posted.append(line)
            elif kind == WAIT:
                end = line + 1
                while end < len(rows) and rows[end][0] == WAIT and rows[end][2]:
                    end += 1
                # A wait for what came while another was waited for takes nothing more.
                waited = {rows[each][1] for each in range(line, end)}.intersection(posted)
                early = [each for each in late if each not in waited] if waited else []
                yield from _together(sends, self._receives(early, sorted(waited), ways))
                if waited:
                    # What was posted before this wait and is not taken by it comes while the next one waits.
                    late = [each for each in posted if each not in waited and each not in early]
                    posted = list(late)
                sends = []
                line = end
                continue
            elif kind == COMBINE or (kind == COPY and tag):
                yield from sends
                sends = []
                yield Work(length * self.size, "compute" if kind == COMBINE else "copy")
            line += 1
        yield from sends

    def _send(self, key: MessageKey, size: int) -> Send:
        return Send(key[1], size, _numbered(key), self._is_alone(key))

    def _receives(self, early: list[int], waited: list[int], ways: dict[int, MessageKey]) -> list[Receive]:
        """What was posted earlier, then what is waited for; of that comes first what was sent first."""
        keys = [ways[line] for line in early]
        keys += sorted((ways[line] for line in waited), key=lambda key: self.left[key])
        return [Receive(key[0], _numbered(key), self._is_alone(key)) for key in keys]

    def _is_alone(self, key: MessageKey) -> bool:
        return self.alone and key[1] == 0


def _numbered(key: MessageKey) -> int:
    return key[2] * _PHASE + key[3]


def _together(sends: list[Send], receives: list[Receive]) -> Iterator[Operation]:
    """What is posted before one wait: sends by themselves in turn, one receive, or all at once."""
    if not receives:
        yield from sends
    elif sends or len(receives) > 1:
        yield Both(tuple(sends), tuple(receives))
    else:
        yield receives[0]
