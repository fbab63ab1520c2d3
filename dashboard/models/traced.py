"""Traces of methods as runs, so that they are drawn as simulated ones are."""

from typing import Literal

from dashboard.models.simulator import Event, Message, Run
from dashboard.schedules.rank import COMBINE, COPY, RECEIVE, SEND, WAIT, MessageKey, messages_of
from dashboard.schedules.trace import Trace

_KINDS: dict[int, Literal["send", "receive", "compute", "copy", "wait"]] = {
    SEND: "send",
    RECEIVE: "receive",
    WAIT: "wait",
    COPY: "copy",
    COMBINE: "compute",
}


def run_of(trace: Trace) -> Run:
    """What each process did and when, with its waits; a message goes from its send to the end of the wait for it."""
    size = trace.call.element_size
    events: list[Event] = []
    sent: dict[MessageKey, tuple[float, int]] = {}
    taken: dict[MessageKey, float] = {}
    finished = []
    for rank, (program, traced) in enumerate(zip(trace.schedule.programs, trace.times, strict=True)):
        rows, times = program.rows.tolist(), traced.tolist()
        ended = {row[1]: end for row, (_, end) in zip(rows, times, strict=True) if row[0] == WAIT}
        for row, (start, end) in zip(rows, times, strict=True):
            # A wait is for the message of another row.
            of = rows[row[1]] if row[0] == WAIT else row
            events.append(Event(rank, _KINDS[row[0]], start, end, of[1], of[5] * size, of[2]))
        sent |= {key: (times[line][0], rows[line][5] * size) for key, line in messages_of(rank, rows, SEND)}
        taken |= {key: ended.get(line, times[line][1]) for key, line in messages_of(rank, rows, RECEIVE)}
        finished.append(times[-1][1] if times else 0.0)
    messages = [Message(*key[:2], start, taken[key], length, key[2]) for key, (start, length) in sent.items()]
    return Run(finished, events, messages)
