"""``colltune portability``: two campaigns, and what the decisions of one cost on the other."""

import argparse
from collections.abc import Mapping
from typing import Any

from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.load import cubes_of, load, tells_ppn
from dashboard.commands.output import say, show, working
from dashboard.commands.prepared import preparation
from dashboard.decisions.judged.portability import SIDES, campaign_facts, ppn_of_both, time_ratios
from dashboard.domain.units import format_count, format_gap, format_ratio
from dashboard.domain.unmeasured import RULE
from dashboard.session.choice import Choice
from dashboard.session.prepared import Prepared

_FIGURES = ("mean", "median", "max")


def portability(args: argparse.Namespace) -> None:
    """Show what differs, and the penalties of both decisions on both campaigns."""
    first, second = _both(args)
    choice = Choice.of(args.tree, cli_trees.chosen(args))
    with working() as progress:
        judged = first.against(second, choice, common=not args.all_methods, progress=progress)
    cubes = [each.problem.single("a comparison of two campaigns").cube for each in (first, second)]
    result = {
        "collective": first.problem.collective,
        "tree": args.tree,
        "among": judged.among,
        "differs": campaign_facts(*cubes).to_dict("records"),
        "times": time_ratios(*cubes).to_dict("records"),
        "penalties": judged.table.to_dict("records"),
    }
    gaps = {there: judged.gap(made, there) for made, there in (("A", "B"), ("B", "A"))}
    result["gaps"] = {there: {"points": points, "cells": cells} for there, (points, cells) in gaps.items()}
    show(args, result, lambda: _lines(result))


def _both(args: argparse.Namespace) -> list[Prepared]:
    """Both campaigns, at the processes per node that both have where none are asked for.

    Where one of them does not tell its own, those asked for are the other's, as on the page *Compare*.
    """
    # What is left out need not be known to both.
    sides = [args, argparse.Namespace(**{**vars(args), "paths": args.against, "without_known": args.without})]
    results = [load(each, ppn_hints=False) for each in sides]
    unasked = argparse.Namespace(**{**vars(args), "ppn": None})
    cubes = [next(iter(cubes_of(unasked, args.collective, each).values())) for each in results]
    known = [tells_ppn(cube) for cube in cubes]
    if args.ppn is None:
        shared, note = ppn_of_both(*cubes)
        if note:
            say(f"note: {note}{'; --ppn chooses' if shared else ''}")
        sides = [argparse.Namespace(**{**vars(each), "ppn": shared}) for each in sides]
    elif any(known) and not all(known):
        silent = known.index(False)
        say(f"note: {SIDES[silent]} does not tell its processes per node: --ppn {args.ppn} is for the other campaign")
        sides[silent] = argparse.Namespace(**{**vars(sides[silent]), "ppn": None})
    elif not any(known):
        results = [load(each) for each in sides]
    return [preparation(each, loaded) for each, loaded in zip(sides, results, strict=True)]


def _lines(result: Mapping[str, Any]) -> list[str]:
    lines = [f"{result['collective']}: A and the campaign it is set against, B", ""]
    if result["differs"]:
        lines += cli_text.table(["", "A", "B"], [[row["what"], row["A"], row["B"]] for row in result["differs"]])
    else:
        lines.append("nothing differs in what the files tell, nor in methods and sizes")
    times = [
        [row["method"], str(row["cells"]), *(format_ratio(row[name]) for name in ("low", "median", "high"))]
        for row in result["times"]
    ]
    lines += ["", "time of B / time of A, over the cells of both:"]
    lines += cli_text.table(["method", "cells", "10 %", "median", "90 %"], times, right=range(1, 5))
    head = ["decision made from", "judged on", "leaves", *(f"{name} (%)" for name in _FIGURES), "unmeasured"]
    rows = [
        [row["made"], row["judged"], str(row["leaves"])]
        + [cli_text.two_decimals(row[name]) for name in _FIGURES]
        + [str(row["unmeasured"])]
        for row in result["penalties"]
    ]
    among = f", {result['among']} (--all-methods compares with all)" if result["among"] else ""
    lines += [
        "",
        f"penalty of {result['tree']} decisions{among}:",
        *cli_text.table(head, rows, right=range(2, len(head))),
    ]
    if any(row["unmeasured"] for row in result["penalties"]):
        lines.append(f"unmeasured: {RULE}")
    for made, there in (("A", "B"), ("B", "A")):
        gap = result["gaps"][there]
        if gap["cells"]:
            cells = f"over the {format_count(gap['cells'], 'cell')} in which both have a penalty"
            own = f"one made from {there} itself"
            lines += ["", f"on {there} the decision of {made} costs {format_gap(gap['points'])} {own}, {cells}"]
    return lines
