"""What programs call, from the traces that online tuning leaves; and programs with the call mix of an application."""

import argparse
import math
from collections.abc import Callable, Mapping
from typing import Any

from dashboard.commands import output
from dashboard.commands import text as cli_text
from dashboard.commands.load import load
from dashboard.commands.output import say, show
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count, format_time
from dashboard.online.noted import NOT_WATCHED
from dashboard.online.profile import by_collective, by_size, calls_of, losses, workload_text
from dashboard.online.skeletons import skeleton


def _profile(args: argparse.Namespace) -> None:
    if args.ppn and not args.over:
        raise Usage("--ppn is of measurements, which --over names")
    calls, ranks, watched, notes = calls_of(args.folders)
    for file, reason in notes.items():
        say(f"note: {file}: {reason}")
    collectives, sizes = by_collective(calls), by_size(calls)
    if args.over:
        lost = losses(calls, _measured(args), args.ppn)
        names = collectives["collective"]
        collectives["loss_percent"] = [lost[name].percent if name in lost else math.nan for name in names]
        collectives["judged_calls"] = [lost[name].judged if name in lost else 0.0 for name in names]
    result = {
        "runs": int(calls["run"].nunique()),
        "ranks": ranks,
        "watched": watched,
        "not_watched": NOT_WATCHED,
        "notes": notes,
        "collectives": cli_text.records(collectives),
        "sizes": cli_text.records(sizes),
    }
    if args.weights:
        output.write(args.weights, workload_text(calls))
        say(f"wrote {args.weights}: {format_count(len(sizes), 'size')}")
    named = [n if count == len(ranks) else f"{n} (in {count} of {len(ranks)} runs)" for n, count in watched.items()]
    about = f"watched: {', '.join(named)}; {NOT_WATCHED} are not, and no part of these figures"
    timed = collectives.assign(time=collectives["time"].map(format_time))
    table = cli_text.frame_table(timed) if len(timed) else ["no call is noted"]
    show(args, result, lambda: [about, *table])


def _measured(args: argparse.Namespace) -> dict[str, Any]:
    """Cubes of the results that a workload is laid over."""
    args.paths, args.collective = args.over, None
    return {str(name): child.to_dataset() for name, child in load(args).children.items()}


def _skeleton(args: argparse.Namespace) -> None:
    text = skeleton(args.name)
    output.deliver(args.output, text, f"a skeleton of {args.name}, not the application")


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {"profile": _profile, "skeleton": _skeleton}
