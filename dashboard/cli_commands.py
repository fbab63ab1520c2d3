"""The subcommands of ``colltune``: each loads, computes and prints; what it computes is done elsewhere."""

from __future__ import annotations

import argparse
import difflib
import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard import cli_text
from dashboard.cli_options import HINTS, Usage

if TYPE_CHECKING:
    import xarray as xr

    from dashboard.decisions import DecisionFunction

#: A drawn tree of more leaves than this is no help.
_DRAWN_LEAVES = 64
_SAVED_AS = (".nc", ".zarr", ".csv")
_PROGRESS_AFTER_S = 0.5
_PROGRESS_EVERY_S = 0.1


def say(text: str) -> None:
    """Print one line for people on standard error."""
    print(f"colltune: {' '.join(text.split('\n'))}", file=sys.stderr)


def info(args: argparse.Namespace) -> None:
    """Show what files hold; Usage if none of them, or one named outright, is of use."""
    from loaders import LoadError, scan

    why = None
    try:
        results = _open(args)
        files = json.loads(results.attrs["sources"])
    except LoadError as error:
        results, why = None, error
        with _Progress() as progress:
            files = scan(args.paths, args.format, progress=progress, **_hints(args))
    answer = {
        "files": [_file(entry) for entry in files],
        "collectives": {n: coverage(c.to_dataset()) for n, c in results.children.items()} if results is not None else {},
    }
    _print(args, answer, lambda: cli_text.info_text(answer))
    if why is not None:
        raise why


def convert(args: argparse.Namespace) -> None:
    """Load results and save them."""
    from loaders import save_results

    if Path(args.output).suffix not in _SAVED_AS:
        raise Usage(f"-o {args.output}: the name must end in one of {', '.join(_SAVED_AS)}")
    results = _open(args)
    save_results(results, args.output)
    say(f"wrote {args.output}: {', '.join(results.children)}")


def decision_map(args: argparse.Namespace) -> None:
    """Show the decision map of one collective."""
    name, cube = _one(args)
    dmap = _map(cube, args.ppn, args.tolerance)
    answer = {
        "collective": name,
        "comm_size": dmap["comm_size"].values.tolist(),
        "message_size": dmap["message_size"].values.tolist(),
        "methods": [str(label) for label in dmap["method"].values],
        "best": [[None if i < 0 else i for i in row] for row in _rows(dmap["best"])],
        "time": [[_number(t) for t in row] for row in _rows(dmap["best_time"])],
    }
    _print(args, answer, lambda: _map_lines(name, dmap, args.tolerance))


def decide(args: argparse.Namespace) -> None:
    """Show a decision function with its size and penalty, or how these change with a limit."""
    name, cube = _one(args)
    if args.sweep:
        _sweep(args, name, cube)
        return
    from dashboard.decisions import statistics

    decision = _decision(args, cube)
    numbers = statistics(cube, decision, **_ppn_of(decision))
    answer = {
        "collective": name,
        "tree": args.tree,
        "options": decision.options,
        **{key: numbers[key] for key in ("depth", "leaves", "nodes", "penalty")},
        "methods": [method.label for method in decision.methods],
        "decision": decision.to_dict(),
    }
    _print(args, answer, lambda: _decision_lines(args, answer, decision))


def export(args: argparse.Namespace) -> None:
    """Write decision functions for a target."""
    from dashboard.decisions import statistics
    from dashboard.export import TARGETS

    decisions, numbers = [], {}
    for name, cube in _cubes(args, args.collective):
        decision = _decision(args, cube)
        decisions.append(decision)
        numbers[name] = statistics(cube, decision, **_ppn_of(decision))
    text = TARGETS[args.to].write(decisions, {"statistics": numbers})
    if args.output == "-":
        sys.stdout.write(text)
        return
    try:
        Path(args.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Usage(f"{args.output}: cannot be written: {error.strerror or error}") from error
    what = ", ".join(f"{decision.collective} ({decision.leaves} leaves)" for decision in decisions)
    say(f"wrote {args.output}: {what}, {text.count('\n')} lines")


def serve(args: argparse.Namespace) -> None:
    """Run the dashboard until it is stopped."""
    from dashboard.serve import serve as run

    run(args.paths or [], address=args.address, port=args.port, show=not args.no_browser, format=args.format, **_hints(args))


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "info": info,
    "convert": convert,
    "map": decision_map,
    "decide": decide,
    "export": export,
    "serve": serve,
}
