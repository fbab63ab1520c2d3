"""Traces of methods as runs, so that they are drawn as simulated ones are."""

from collections import defaultdict
from typing import Literal

from dashboard.models.simulator import Event, Message, Run
from dashboard.schedules.rank import COMBINE, COPY, RECEIVE, SEND, WAIT
from dashboard.schedules.trace import Trace

_KINDS: dict[int, Literal["send", "receive", "compute", "copy", "wait"]] = {
    SEND: "send",
    RECEIVE: "receive",
    WAIT: "wait",
    COPY: "copy",
    COMBINE: "compute",
}
#: A message by its way: from, to and tag.
_Way = tuple[int, int, int]


def run_of(trace: Trace) -> Run:
    """What each process did and when, with its waits; a message goes from its send to the end of the wait for it."""
    size = trace.call.element_size
    events: list[Event] = []
    sent: defaultdict[_Way, list[tuple[float, int]]] = defaultdict(list)
    taken: defaultdict[_Way, list[float]] = defaultdict(list)
    finished = []
    for rank, (program, times) in enumerate(zip(trace.schedule.programs, trace.times, strict=True)):
        rows = program.rows.tolist()
        ended = {row[1]: end for row, (_, end) in zip(rows, times.tolist(), strict=True) if row[0] == WAIT}
        for line, (row, (start, end)) in enumerate(zip(rows, times.tolist(), strict=True)):
            # A wait is for the message of another row.
            of = rows[row[1]] if row[0] == WAIT else row
            events.append(Event(rank, _KINDS[row[0]], start, end, of[1], of[5] * size, of[2]))
            if row[0] == SEND:
                sent[rank, row[1], row[2]].append((start, row[5] * size))
            elif row[0] == RECEIVE:
                taken[row[1], rank, row[2]].append(ended.get(line, end))
        finished.append(float(times[-1, 1]) if len(times) else 0.0)
    messages = [
        Message(way[0], way[1], start, end, length, way[2])
        for way, posts in sent.items()
        for (start, length), end in zip(posts, taken[way], strict=True)
    ]
    return Run(finished, events, messages)
