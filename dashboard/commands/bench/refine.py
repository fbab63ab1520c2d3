"""``colltune bench refine``: of results from elsewhere, what to measure next, as a list and as a plan."""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from dashboard.benchmarks.adaptive.expected import Known
from dashboard.benchmarks.adaptive.refine import (
    Advice,
    doubted_of,
    known_of,
    matched,
    offered,
    points_of,
    refined,
    wish_of,
)
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import missing
from dashboard.benchmarks.campaigns.ranges import parse_sizes
from dashboard.benchmarks.campaigns.wish import make_plan
from dashboard.benchmarks.libraries import library
from dashboard.commands import text as cli_text
from dashboard.commands.bench.options import POINTS
from dashboard.commands.load import cubes_of, load
from dashboard.commands.output import say, show, working
from dashboard.commands.prepared import say_done, say_ppn
from dashboard.commands.usage import Usage
from dashboard.decisions.measured.map import select_ppn
from dashboard.domain.adaptive import budget_seconds
from dashboard.domain.units import format_bytes, format_count, format_duration
from dashboard.session.prepared import prepare
from loaders.collectives import POINT_TO_POINT

_NAMED = 3
_UNKNOWN = "unknown (no time can be trusted)"


def run(args: argparse.Namespace) -> None:
    """Say what to measure next, and write the plan that is asked for."""
    cubes, trusted = _cubes(args)
    known = {name: _known(args, name, cube, trusted.get(name, cube)) for name, cube in cubes.items()}
    untrusted = {name: doubted_of(known[name], cube, trusted.get(name)) for name, cube in cubes.items()}
    wanted = {"percent": args.until, "untrusted": untrusted}
    advised: list[Advice] = []
    most = args.points or POINTS
    with working() as progress:
        for advice in refined(known, points=most, seconds=budget_seconds(args.budget), **wanted):
            advised.append(advice)
            progress(min(1.0, sum(each.step.points for each in advised) / most), "what to measure next")
    answer = {
        "loss": {name: grid.mean_loss if name in trusted else None for name, grid in known.items()},
        "points": sum(advice.step.points for advice in advised),
        "again": sum(advice.step.points for advice in advised if advice.again),
        "seconds": sum(advice.step.seconds for advice in advised),
        "steps": [_as_json(advice, known, cubes) for advice in advised],
    }
    if args.output and advised:
        answer["plan"] = _write(args, advised, known, cubes)
    # What comes next is run by a plan that was written.
    args.planned = "plan" in answer
    steps = [] if advised else offered(known, **wanted)
    between = args.comm_sizes is None or args.message_sizes is None
    show(args, answer, lambda: _lines(answer, _too_large(steps, most, args.budget), between=between))


def _cubes(args: argparse.Namespace) -> tuple[dict[str, xr.Dataset], dict[str, xr.Dataset]]:
    """All results, and those whose times can be trusted, without collectives that have none."""
    results = load(args)
    names = args.collective or [name for name in results.children if name != POINT_TO_POINT]
    cubes, trusted = {}, {}
    for name, cube in cubes_of(args, names, results).items():
        prepared = prepare(cube, ppn=args.ppn)
        if args.ppn is None:
            say_ppn(prepared.cubes)
        say_done(prepared, None)
        judged, ppn = select_ppn(prepared.cubes[name], args.ppn)
        judged = judged.load()
        cubes[name] = select_ppn(prepare(cube, keep_doubtful=True).cubes[name], ppn)[0].load()
        if judged["time"].notnull().any():
            trusted[name] = judged
    return cubes, trusted


def _known(args: argparse.Namespace, name: str, cube: xr.Dataset, trusted: xr.Dataset) -> Known:
    given = [None if text is None else parse_sizes(text) for text in (args.comm_sizes, args.message_sizes)]
    known = known_of(trusted, *given, every=cube)
    if (ppn := _ppn(cube)) is not None:
        # Others cannot be placed so.
        known = replace(known, able=known.able & (known.comm_sizes % ppn == 0)[None, :, None])
    if not known.cells.any():
        raise Usage(f"{name}: nothing is measured, so there is nothing to refine")
    return known


def _ppn(cube: xr.Dataset) -> int | None:
    """Processes per node of results that tell them, in points or of all, as what is loaded with them must, too."""
    ppn = cube["ppn"] if "ppn" in cube.coords else cube.attrs.get("ppn")
    return None if ppn is None else int(ppn)


def _as_json(advice: Advice, known: Mapping[str, Known], cubes: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    step, grid = advice.step, known[advice.step.collective]
    labels = [str(label) for label in cubes[step.collective]["method"].values]
    return {
        "collective": step.collective,
        "comm_size": int(grid.comm_sizes[step.row]),
        "cells": [
            {"message_size": int(grid.message_sizes[column]), "methods": [labels[place] for place in methods]}
            for column, methods in step.cells
        ],
        "seconds": step.seconds,
        "expected_loss": step.loss if math.isfinite(step.loss) else None,
        "mean_loss_before": advice.before if math.isfinite(advice.before) else None,
    }


def _too_large(steps: Sequence[tuple[int, float]], most: int, budget: str | None) -> str:
    """Why no step is measured: none is worth it, or none is within a limit."""
    if not steps:
        return "nothing that can be measured on this grid is worth it"
    least, _ = min(steps)
    if least > most:
        return f"no step fits {format_count(most, 'point')}: the least has {least:,} (--points)"
    took = format_duration(min(seconds for points, seconds in steps if points <= most))
    return f"no step fits {budget}: the least takes about {took} of repetitions (--budget)"


def _lines(answer: Mapping[str, Any], nothing: str, *, between: bool) -> list[str]:
    losses = {name: _UNKNOWN if value is None else f"{value:.3g} %" for name, value in answer["loss"].items()}
    grid = "the grid, sizes between the measured ones included" if between else "the grid"
    lines = [f"expected loss of what is decided now, mean over {grid}: {', '.join(map(' '.join, losses.items()))}"]
    if not answer["steps"]:
        return [*lines, nothing]
    took = format_duration(answer["seconds"])
    again = f"{answer['again']:,} again whose times cannot be trusted, then " if answer["again"] else ""
    what = f"{again}what tells most" if again else "what tells most first"
    lines += [f"{format_count(answer['points'], 'point')} to measure, about {took} of repetitions, {what}:", ""]
    together: dict[tuple[str, int, float | None], list[Mapping[str, Any]]] = {}
    for step in answer["steps"]:
        of = (step["collective"], step["comm_size"], step["mean_loss_before"])
        together.setdefault(of, []).extend(step["cells"])
    rows = []
    for (collective, comm_size, before), cells in together.items():
        sizes = ", ".join(format_bytes(size) for size in sorted(cell["message_size"] for cell in cells))
        methods = list(dict.fromkeys(name for cell in cells for name in cell["methods"]))
        more = f" and {len(methods) - _NAMED} more" if len(methods) > _NAMED else ""
        named = ", ".join(methods[:_NAMED]) + more
        rows.append([collective, str(comm_size), "" if before is None else f"{before:.2f}", sizes, named])
    head = ["collective", "processes", "loss before (%)", "message sizes", "methods"]
    lines += cli_text.table(head, rows, right=range(1, 3))
    if plan := answer.get("plan"):
        lines += ["", f"plan: {plan['folder']}, {format_count(plan['points'], 'point')}"]
        lines += [f"not in the plan: {name} of {what}" for what, each in plan["lacking"].items() for name in each]
    return lines


def _write(
    args: argparse.Namespace, advised: Sequence[Advice], known: Mapping[str, Known], cubes: Mapping[str, xr.Dataset]
) -> dict[str, Any]:
    """Write the plan; what it has, and the methods that the library here does not offer."""
    names = list(dict.fromkeys(advice.step.collective for advice in advised))
    ppns = tuple(sorted({ppn for name in names if (ppn := _ppn(cubes[name])) is not None}))
    if len(ppns) > 1:
        raise Usage(f"the most cells of {' and '.join(names)} are at different processes per node: --ppn chooses")
    wish = replace(wish_of({name: known[name] for name in names}, cubes, args.ranks), ppns=ppns)
    plan = make_plan(wish, library.find())
    args.planned_ppn = next(iter(ppns), None)
    places = {name: matched(cubes[name], plan.methods[name]) for name in names}
    only = points_of(advised, known, places)
    lacking: dict[str, list[str]] = {}
    for advice in advised:
        name = advice.step.collective
        for place in sorted({place for _, methods in advice.step.cells for place in methods} - set(places[name])):
            label = str(cubes[name]["method"].values[place])
            lacking.setdefault(name, []).extend([label] if label not in lacking.get(name, ()) else [])
    if not only:
        raise Usage(f"{plan.library} {plan.library_version} here offers none of the methods that should be measured")
    again = any(advice.again for advice in advised)
    plan = replace(plan, only={name: only.get(name, ()) for name in names}, anew=again)
    Campaign.create(Path(args.output), plan)
    points = sum(len(methods) for _, methods in missing(plan, ()))
    if points < sum(advice.step.points for advice in advised):
        say("note: the plan lacks methods that the library here does not offer, and sizes that it cannot measure")
    return {"folder": str(args.output), "points": points, "lacking": lacking}
