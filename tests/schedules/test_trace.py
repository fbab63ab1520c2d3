"""Traces of methods: kept in a file, fitted to their schedule, and drawn as runs."""

import json
from typing import Any

import numpy as np
import pytest

from dashboard.models.traced import run_of
from dashboard.schedules import Call, ScheduleError, schedule
from dashboard.schedules.trace import Trace


def traced(call: Call, name: str, **parameters: Any) -> Trace:
    """A trace whose ranks take a second for each operation, and begin one after the other."""
    made = schedule(call, name, **parameters)
    times = [
        np.column_stack([rank + np.arange(len(each.rows)), rank + 1 + np.arange(len(each.rows))]).astype(float)
        for rank, each in enumerate(made.programs)
    ]
    return Trace(call, name, made.parameters, times, {"executor": "native"})


def test_a_trace_is_the_same_after_it_was_written() -> None:
    trace = traced(Call("bcast", 4, 1000, 2, 8), "pipeline", segment_size=2000)
    again = Trace.from_json(json.loads(json.dumps(trace.to_json())))
    assert (again.call, again.algorithm, again.parameters) == (trace.call, "pipeline", {"segment_size": 2000})
    assert again.facts == {"executor": "native"}
    assert all(np.array_equal(*pair) for pair in zip(again.times, trace.times, strict=True))
    assert len(again.schedule.messages) == 3 * 4


def test_a_trace_as_a_run_has_waits_and_messages_from_send_to_the_end_of_the_wait() -> None:
    # Rank 0 sends 25 elements of 4 B and waits for them; rank 1 posts, and waits from second 2 to 3 by its own clock.
    run = run_of(traced(Call("bcast", 2, 25, 0, 4), "linear"))
    assert [(each.process, each.kind, each.start, each.end, each.peer, each.size) for each in run.events] == [
        (0, "send", 0.0, 1.0, 1, 100),
        (0, "wait", 1.0, 2.0, 1, 100),
        (1, "receive", 1.0, 2.0, 0, 100),
        (1, "wait", 2.0, 3.0, 0, 100),
    ]
    assert [(each.source, each.to, each.start, each.end, each.size) for each in run.messages] == [(0, 1, 0.0, 3.0, 100)]
    assert run.finished == [2.0, 3.0]
    kinds = {each.kind for each in run_of(traced(Call("allreduce", 4, 8, 0, 8), "ring")).events}
    assert kinds == {"send", "receive", "wait", "copy", "compute"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"colltune_trace": 2}, "'colltune_trace' must be 1"),
        ({"algorithm": "no such"}, "there is no bcast algorithm"),
        ({"ranks": [[[0, 1]]]}, "too few ranks or operations"),
        ({"ranks": [[[0, 1]], [[0, 1]]]}, "the trace has 2 operations of 2 ranks, its method 4 of 2"),
        ({"ranks": [[[0, 1], [2, 1]], [[0, 1], [1, 2]]]}, "ends before it begins"),
        ({"ranks": [[[0, 1], [1, float("nan")]], [[0, 1], [1, 2]]]}, "no number"),
        ({"ranks": "none"}, "cannot be read"),
        ({"call": {}}, "cannot be read: KeyError"),
        ({"algorithm": ["linear"]}, "cannot be read: TypeError"),
        ({"algorithm": "pipeline", "parameters": {"segment_size": "x"}}, "cannot be read: TypeError"),
        ({"call": {"root": "first"}}, "expected a rank"),
        # A call whose schedule would fill the memory.
        ({"call": {"count": 10**15}, "algorithm": "pipeline", "parameters": {"segment_size": 1}}, "too few"),
        ({"call": {"count": 10**15}, "parameters": {"inner": "pipeline:segment_size=1"}}, "too few"),
        ({"call": {"processes": 10**9}}, "too few ranks"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_reason(change: dict[str, Any], why: str) -> None:
    record = traced(Call("bcast", 2, 100), "linear").to_json()
    call = {**record["call"], **change["call"]} if change.get("call") else change.get("call", record["call"])
    with pytest.raises(ScheduleError, match=why):
        Trace.from_json({**record, **change, "call": call})
    with pytest.raises(ScheduleError, match="not a trace"):
        Trace.from_json([record])
