"""What programs call, from the traces that online tuning leaves; and programs with the call mix of an application."""

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dashboard.commands import output
from dashboard.commands import text as cli_text
from dashboard.commands import values as cli_values
from dashboard.commands.output import say, show
from dashboard.commands.usage import Usage


def add_parsers(add: Callable[..., argparse.ArgumentParser], hints: argparse.ArgumentParser) -> None:
    """Add the subcommands; `hints` has the options of results."""
    profile = add("profile", "Show what programs call: calls, time and sizes, from traces or tunings.", hints)
    profile.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    profile.add_argument(
        "--over", nargs="+", metavar="RESULTS", help="measurements; show what the methods that were taken lose on it"
    )
    profile.add_argument("--ppn", type=cli_values.count, metavar="N", help="of the measurements, if there are several")
    profile.add_argument("--weights", metavar="FILE", help="write the calls as a workload for --weights")
    skeleton = add("skeleton", "Write a C program with the call mix of an application.")
    skeleton.add_argument("name", metavar="NAME", help="of the application, such as miniAMR; any other name lists them")
    skeleton.add_argument("-o", "--output", default="-", metavar="FILE", help="- is standard output (default)")


def _profile(args: argparse.Namespace) -> None:
    from dashboard.online.noted import NOT_WATCHED
    from dashboard.online.profile import by_collective, by_size, calls_of, losses, workload_text

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
        say(f"wrote {args.weights}: {len(sizes)} sizes")
    named = [n if count == len(ranks) else f"{n} (in {count} of {len(ranks)} runs)" for n, count in watched.items()]
    about = f"watched: {', '.join(named)}; {NOT_WATCHED} are not, and no part of these figures"
    table = cli_text.frame_table(collectives) if len(collectives) else ["no call is noted"]
    show(args, result, lambda: [about, *table])


def _measured(args: argparse.Namespace) -> dict[str, Any]:
    """Cubes of the results that a workload is laid over."""
    from dashboard.commands.load import load

    args.paths, args.collective = args.over, None
    return {str(name): child.to_dataset() for name, child in load(args).children.items()}


def _skeleton(args: argparse.Namespace) -> None:
    from dashboard.online.skeletons import skeleton

    text = skeleton(args.name)
    output.deliver(args.output, text, f"a skeleton of {args.name}, not the application")


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {"profile": _profile, "skeleton": _skeleton}
