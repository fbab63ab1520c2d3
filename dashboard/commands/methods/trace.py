"""``colltune methods trace``: a method on the installed MPI, with when each rank ran each operation."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dashboard.commands import values as cli_values
from dashboard.commands.output import say, show, write
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_time

if TYPE_CHECKING:
    from dashboard.schedules import Schedule
    from dashboard.schedules.trace import Trace

_MOST_RANKS, _REPETITIONS, _SECONDS = 64, 21, 120.0


def add_options(add: Callable[..., Any], add_schedule: Callable[[Any], None]) -> None:
    """Add the subcommand; `add_schedule` adds what says which schedule."""
    parser = add("trace", "Run a method on the installed MPI, and write down when each rank ran each operation.")
    add_schedule(parser)
    options: Any = parser.add_argument
    options("--executor", choices=("native", "mpi4py"), help="what runs it (default: native where there is an mpicc)")
    options(
        "--repetitions",
        type=cli_values.count,
        default=_REPETITIONS,
        metavar="N",
        help=f"runs; the one of median duration is written down (default {_REPETITIONS})",
    )
    options(
        "--time-limit",
        type=cli_values.seconds,
        default=_SECONDS,
        metavar="TIME",
        help=f"of the ranks (default {_SECONDS:g} s)",
    )
    options("-o", "--output", metavar="FILE.json", help="trace to write, for the tab Schedule of the page Models")


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
    from dashboard.benchmarks.tracing import trace_method
    from dashboard.schedules.trace import REDUCED

    size = made.call.element_size
    if made.call.entry.reduces and size not in REDUCED:
        known = ", ".join(map(str, REDUCED))
        raise Usage(f"--element-size {size}: elements that are reduced have {known} bytes here")
    how = {"repetitions": args.repetitions, "seconds": args.time_limit}
    return trace_method(made, executor=args.executor or "", **how)


def lines_of(trace: Trace) -> Iterator[str]:
    """A trace for people: when each rank was done, and what it spent its time on."""
    from dashboard.models.traced import run_of

    run, call = run_of(trace), trace.call
    facts = ", ".join(trace.facts.values())
    yield f"{call.collective} {trace.algorithm}, {call.processes} processes: {format_time(run.time)} ({facts})"
    for rank, done in enumerate(run.finished):
        spent: dict[str, float] = {}
        for each in run.events:
            if each.process == rank:
                spent[each.kind] = spent.get(each.kind, 0.0) + each.end - each.start
        words = ", ".join(f"{kind} {format_time(seconds)}" for kind, seconds in spent.items())
        yield f"rank {rank}: done after {format_time(done)}; {words or 'nothing to do'}"
