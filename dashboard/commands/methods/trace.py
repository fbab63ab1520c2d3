"""``colltune methods trace``: a method on the installed MPI, with when each rank ran each operation."""

import argparse
import json
from collections.abc import Iterator

from dashboard.benchmarks.tracing import trace_method
from dashboard.commands.output import say, show, write
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count, format_time
from dashboard.models.traced import run_of
from dashboard.schedules import Schedule
from dashboard.schedules.trace import REDUCED, Trace

_MOST_RANKS = 64


def trace(args: argparse.Namespace, made: Schedule) -> None:
    """Run a schedule, and print or write its trace."""
    if made.call.processes > _MOST_RANKS:
        raise Usage(f"--processes {made.call.processes}: allowed are 1 to {_MOST_RANKS}")
    run = _traced(made, args)
    record = run.to_json()
    if args.output:
        write(args.output, json.dumps(record) + "\n")
        say(f"wrote {args.output}")
    show(args, record, lambda: lines_of(run))


def _traced(made: Schedule, args: argparse.Namespace) -> Trace:
    size = made.call.element_size
    if made.call.entry.reduces and size not in REDUCED:
        known = ", ".join(map(str, REDUCED))
        raise Usage(f"--element-size {size}: elements that are reduced have {known} bytes here")
    how = {"repetitions": args.repetitions, "seconds": args.time_limit}
    return trace_method(made, executor=args.executor or "", **how)


def lines_of(trace: Trace) -> Iterator[str]:
    """A trace for people: when each rank was done, and what it spent its time on."""
    run, call = run_of(trace), trace.call
    facts, many = ", ".join(trace.facts.values()), format_count(call.processes, "process", "processes")
    yield f"{call.collective} {trace.algorithm}, {many}: {format_time(run.time)} ({facts})"
    for rank, done in enumerate(run.finished):
        spent: dict[str, float] = {}
        for each in run.events:
            if each.process == rank:
                spent[each.kind] = spent.get(each.kind, 0.0) + each.end - each.start
        words = ", ".join(f"{kind} {format_time(seconds)}" for kind, seconds in spent.items())
        yield f"rank {rank}: done after {format_time(done)}; {words or 'nothing to do'}"
