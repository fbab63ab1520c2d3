"""The subcommands of ``colltune``: each loads, computes and prints; what it computes is done elsewhere."""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
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
_COLLECTIVE_IS_HINT = ("info", "convert", "serve")
_NAMED = 5
_PROGRESS_AFTER_S = 0.5
_PROGRESS_EVERY_S = 0.1


def say(text: str) -> None:
    """Print one line for people on standard error."""
    print(f"colltune: {text}", file=sys.stderr)


def info(args: argparse.Namespace) -> None:
    """Show what files hold, also where hints are lacking; Usage if a named file, or all of them, are of no use."""
    from loaders import LoadError, scan

    cubes: dict[str, dict[str, Any]] = {}
    try:
        results = _open(args)
        files = json.loads(results.attrs["sources"])
        cubes = {name: coverage(node.to_dataset()) for name, node in results.children.items()}
    except LoadError as error:
        with _Progress() as progress:
            files = scan(args.paths, args.format, progress=progress, **_hints(args))
        if not any(file["error"] for file in files):
            say(f"note: {error}")
    files = [_file(file) for file in _stored(args, files, cubes)]
    answer = {"files": files, "collectives": cubes}
    _print(args, answer, lambda: cli_text.info_text(answer))
    faults = [file for file in files if file["error"]]
    named = {str(Path(path)) for path in args.paths}
    for file in faults:
        if file["path"] in named or len(faults) == len(files):
            raise Usage(file["error"])


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
    decision, numbers = _decided(args, cube)
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
    from dashboard.export import TARGETS

    decisions, statistics, sources = [], {}, {}
    for name, cube in _cubes(args, args.collective):
        decision, statistics[name] = _decided(args, cube)
        sources[name] = cube.attrs.get("sources")
        decisions.append(decision)
    text = TARGETS[args.to].write(decisions, {"statistics": statistics, "sources": sources})
    if args.output == "-":
        _answer(text)
        return
    try:
        Path(args.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Usage(f"{args.output}: cannot be written: {error.strerror or error}") from error
    what = ", ".join(f"{decision.collective} ({decision.leaves} leaves)" for decision in decisions)
    say(f"wrote {args.output}: {what}, {text.count(chr(10))} lines")


def serve(args: argparse.Namespace) -> None:
    """Run the dashboard until it is stopped."""
    from dashboard.serve import serve as run

    hints = {**_hints(args), **({"format": args.format} if args.format else {})}
    where = {"address": args.address, "port": args.port, "show": not args.no_browser, "origins": args.origins}
    try:
        run([*args.paths, *args.data], **where, **hints)
    except OSError as error:
        raise Usage(f"cannot serve at {args.address}:{args.port}: {error.strerror or error}") from error


def coverage(cube: xr.Dataset) -> dict[str, Any]:
    """How complete and how noisy the results of one collective are.

    Returns
    -------
    dict
        ``methods`` (each with ``method, measured, cells``), the axes, ``measured`` of ``cells``, ``statistic`` and
        ``noise``: median and 90 % quantile of ``time_std / time`` in percent, None where no spread is known.
    """
    import numpy as np

    there = cube["time"].notnull()
    others = [dim for dim in there.dims if dim != "method"]
    counts = there.sum(others).values.tolist()
    each = math.prod(cube.sizes[dim] for dim in others)
    noise: dict[str, float | None] = {"median": None, "p90": None}
    if "time_std" in cube:
        spread = (100 * cube["time_std"] / cube["time"]).values
        spread = spread[np.isfinite(spread)]
        if spread.size:
            noise = {"median": float(np.median(spread)), "p90": float(np.quantile(spread, 0.9))}
    axes = {name: cube[name].values.tolist() for name in ("comm_size", "message_size", "ppn") if name in cube.dims}
    return {
        "methods": [
            {"method": str(label), "measured": count, "cells": each}
            for label, count in zip(cube["method"].values, counts, strict=True)
        ],
        **axes,
        "measured": sum(counts),
        "cells": each * len(counts),
        "statistic": cube.attrs.get("statistic"),
        "statistic_kind": cube.attrs.get("statistic_kind"),
        "noise": noise,
    }


def _stored(
    args: argparse.Namespace, files: list[dict[str, Any]], cubes: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The file of saved results in place of those that it was made of, which it tells as its own sources."""
    from loaders.storage import is_stored

    path = Path(args.paths[0])
    if len(args.paths) > 1 or not cubes or not is_stored(path):
        return files
    rows = sum(cube["measured"] for cube in cubes.values())
    made_of = [file for file in files if file["path"] != str(path)]
    kind = "zarr" if path.is_dir() else "netcdf"
    return [{"path": str(path), "format": kind, "rows": rows, "collectives": list(cubes), "made_of": made_of}]


def _file(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One file's report; stored results say less of themselves than benchmark files."""
    usual: dict[str, Any] = {
        "path": None,
        "format": None,
        "rows": 0,
        "skipped": 0,
        "collectives": [],
        "needs": [],
        "error": None,
    }
    return {**usual, **entry}


def _hints(args: argparse.Namespace) -> dict[str, Any]:
    hints = {name: value for name in HINTS if (value := getattr(args, name, None)) is not None}
    if "columns" in hints:
        hints["columns"] = {theirs: ours for ours, theirs in hints["columns"]}
    if "ppn_hint" in hints:
        hints["ppn"] = hints.pop("ppn_hint")
    # Where -c is a hint it stands for every file; elsewhere it chooses from what the files say themselves.
    if args.command in _COLLECTIVE_IS_HINT and args.collective is not None:
        hints["collective"] = args.collective
    return hints


def _open(args: argparse.Namespace) -> xr.DataTree:
    """Load the results; what was left out is said on standard error."""
    from loaders import MissingHintError, open_results

    hints = _hints(args)
    wanted = args.collective if isinstance(args.collective, str) else (args.collective or [None])[0]
    with _Progress() as progress:
        try:
            results = open_results(args.paths, args.format, progress=progress, **hints)
        except MissingHintError as error:
            # What chooses among results stands in for what the files do not say.
            chosen = {"collective": wanted, "ppn": getattr(args, "ppn", None)}
            further = {n: v for n, v in chosen.items() if n in error.hints and v is not None and n not in hints}
            if not further:
                raise
            results = open_results(args.paths, args.format, progress=progress, **hints, **further)
    for note in json.loads(results.attrs.get("notes", "[]")):
        say(f"note: {note}")
    if args.command != "info":
        _say_what_was_left(json.loads(results.attrs.get("sources", "[]")))
    return results


def _say_what_was_left(sources: Iterable[Mapping[str, Any]]) -> None:
    files = [_file(source) for source in sources]
    used = [file for file in files if not file["error"]]
    skipped = sum(file["skipped"] for file in used)
    if skipped:
        present = skipped + sum(file["rows"] for file in used)
        say(f"note: {skipped} of {present} rows were skipped; 'colltune info' says which and why")
    unused = [Path(str(file["path"])).name for file in files if file["error"]]
    if unused:
        names = ", ".join(unused[:_NAMED]) + (", …" if len(unused) > _NAMED else "")
        say(f"note: {len(unused)} of {len(files)} files were not used ({names}); 'colltune info' says why")


def _cubes(args: argparse.Namespace, names: Sequence[str] | None) -> list[tuple[str, xr.Dataset]]:
    """The cubes of the collectives asked for, or of the only one there is."""
    results = _open(args)
    there = list(results.children)
    if not names:
        # A ping-pong is measured beside the collectives; nothing is decided about it.
        candidates = [name for name in there if name != "pt2pt"] or there
        if len(candidates) > 1:
            raise Usage(f"these results hold {', '.join(there)}; choose with -c, such as -c {candidates[0]}")
        names = candidates
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(name, there, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise Usage(f"-c {name}: these results hold {', '.join(there)}{meant}")
    return [(name, results[name].to_dataset()) for name in dict.fromkeys(names)]


def _one(args: argparse.Namespace) -> tuple[str, xr.Dataset]:
    return _cubes(args, [args.collective] if args.collective else None)[0]


def _map(cube: xr.Dataset, ppn: int | None, tolerance: float = 0.0) -> xr.Dataset:
    from dashboard import decisions

    dmap = decisions.decision_map(cube, ppn=ppn, tolerance=tolerance)
    if note := dmap.attrs.get("ppn_note"):
        say(f"note: {note}" + ("" if ppn else "; --ppn chooses"))
    return dmap


def _decided(args: argparse.Namespace, cube: xr.Dataset) -> tuple[DecisionFunction, dict[str, Any]]:
    """The decision function asked for, and its statistics."""
    from dashboard import decisions

    dmap = _map(cube, args.ppn)
    if args.tree == "exact":
        decision = decisions.exact(dmap)
    else:
        decision = decisions.quadtree(dmap, max_depth=args.max_depth, threshold=_threshold(args))
    numbers = decisions.statistics(cube, decision, ppn=dmap.attrs.get("ppn") if "ppn" in cube.dims else args.ppn)
    return decision, numbers


def _threshold(args: argparse.Namespace) -> float:
    return 1.0 if args.threshold is None else float(args.threshold)


def _sweep(args: argparse.Namespace, name: str, cube: xr.Dataset) -> None:
    from dashboard import decisions

    ppn = _map(cube, args.ppn).attrs.get("ppn") if "ppn" in cube.dims else args.ppn
    if args.sweep == "depth":
        frame = decisions.sweep_depth(cube, ppn=ppn, threshold=_threshold(args))
    else:
        frame = decisions.sweep_threshold(cube, max_depth=args.max_depth, ppn=ppn)
    columns = [str(column) for column in frame.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in cli_text.frame_rows(frame)]
    answer = {"collective": name, "tree": args.tree, "sweep": args.sweep, "rows": rows}
    _print(args, answer, lambda: cli_text.frame_table(frame))


def _map_lines(name: str, dmap: xr.Dataset, tolerance: float) -> list[str]:
    told = [str(dmap.attrs[key]) for key in ("system", "network", "library", "library_version") if dmap.attrs.get(key)]
    lines = [f"{name}: the fastest method for each pair of sizes" + (f" ({', '.join(told)})" if told else ""), ""]
    lines += cli_text.map_text(dmap, shutil.get_terminal_size((120, 24)).columns)
    if tolerance:
        ties, measured = int((dmap["ties"] > 1).sum()), int((dmap["measured"] > 0).sum())
        lines.append(f"{ties} of {measured} cells have more than one method within {tolerance:g} % of the best.")
    return lines


def _decision_lines(args: argparse.Namespace, answer: Mapping[str, Any], decision: DecisionFunction) -> list[str]:
    from dashboard.export import source_lines

    lines = cli_text.decision_text(answer, source_lines(decision))
    if args.draw or (args.draw is None and decision.leaves <= _DRAWN_LEAVES):
        drawn = decision.simplified().to_text().splitlines()
        return [*lines, "", "with equal branches merged:", *map(cli_text.one_line, drawn)]
    if args.draw is None:
        lines += ["", "--draw draws the tree"]
    return lines


def _rows(array: xr.DataArray) -> list[list[Any]]:
    rows: list[list[Any]] = array.transpose("comm_size", "message_size").values.tolist()
    return rows


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _print(args: argparse.Namespace, answer: Mapping[str, Any], lines: Callable[[], Iterable[str]]) -> None:
    _answer((json.dumps(answer, allow_nan=False) if args.json else "\n".join(lines())) + "\n")


def _answer(text: str) -> None:
    if sys.stdout is None:
        raise Usage("standard output is closed, so there is nowhere to write the answer")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left in the buffer must not fail again when Python leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Usage(f"the answer cannot be written to standard output: {error.strerror or error}") from error


class _Progress:
    """Shows on a terminal how far a long load is; quick loads and files show nothing."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PROGRESS_AFTER_S
        self._shown = 0

    def __enter__(self) -> Callable[[str, int, int], None] | None:
        return self._show if sys.stderr.isatty() else None

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)

    def _show(self, path: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PROGRESS_EVERY_S
        share = f"{100 * done // total:3d} %" if total else ""
        text = f"loading {Path(path).name} {share}"[: shutil.get_terminal_size().columns - 1]
        print("\r" + text.ljust(self._shown), end="", file=sys.stderr, flush=True)
        self._shown = len(text)


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "info": info,
    "convert": convert,
    "map": decision_map,
    "decide": decide,
    "export": export,
    "serve": serve,
}
