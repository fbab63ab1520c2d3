"""``colltune frontier``: all ways of deciding by size and penalty, and which one to take."""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.commands import rules as cli_rules
from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.output import show, working
from dashboard.commands.prepared import preparation
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.frontier import Frontier, listed, time_to_decide
from dashboard.decisions.judged.frontier import frontier as find
from dashboard.decisions.judged.recommend import Recommendation, falls_below, recommend
from dashboard.domain.held_out import CRITERION, over
from dashboard.domain.units import format_count
from dashboard.session.choice import Choice
from dashboard.session.recipes import tree_words

_TITLES = {"mean": "mean", "median": "median", "p95": "95 %", "max": "max"}


def frontier(args: argparse.Namespace) -> None:
    """Show the frontier and the recommendation."""
    prepared = preparation(args)
    with working() as progress:
        tried = find(
            prepared.problem,
            families=args.families,
            further=cli_rules.settings(args),
            held_out=None if args.held_out == "none" else args.held_out,
            folds=args.folds,
            prepare=prepared.learn,
            criterion=args.criterion or CRITERION.default,
            progress=progress,
        )
    times = [time_to_decide(prepared.problem, decision) if args.timed else None for decision in tried.decisions]
    chosen = recommend(tried, within=args.within)
    below = _records(falls_below(tried))
    result = {
        "collective": prepared.problem.collective,
        "held_out": tried.scheme,
        "folds": args.folds if tried.scheme else None,
        "criterion": tried.value,
        "points": [
            {**row, "options": json.loads(row["options"]), **({} if seconds is None else {"decide_time": seconds})}
            for row, seconds in zip(_records(tried.table), times, strict=True)
        ],
        "below": below,
        "skipped": tried.skipped,
        "notes": list(tried.notes),
        "recommendation": {
            "point": chosen.row,
            "reason": chosen.reason,
            "rule": chosen.rule,
            "best": chosen.best,
            "limit": chosen.limit,
        },
    }
    show(args, result, lambda: _lines(args, result, tried, chosen))


def _records(frame: Any) -> list[dict[str, Any]]:
    return cli_text.records(frame.astype(object).where(frame.notna(), None))


def _lines(args: argparse.Namespace, result: Mapping[str, Any], tried: Frontier, chosen: Recommendation) -> list[str]:
    outside = tried.scheme is not None
    points = result["points"]
    leaves = tried.table["leaves"].to_numpy()
    kept = leaves.argsort(kind="stable") if args.all else listed(tried.table, tried.value, chosen.row)
    rows = [_row(points[number], number == chosen.row, outside) for number in kept]
    head = ["", "tree", "options", "leaves", "levels", *(f"{title} (%)" for title in _TITLES.values())]
    head += (
        [f"held out: {_TITLES['mean']} (%)", "± (%)", "95 % (%)", "max (%)", "unmeasured"]
        if outside
        else ["unmeasured"]
    )
    lines = [f"{result['collective']}: penalties of {format_count(len(points), 'tree')}{_about(tried)}", ""]
    lines += cli_text.table(head, rows, right=range(3, len(head)))
    hidden = len(points) - len(rows)
    if hidden:
        lines.append(f"not listed: {format_count(hidden, 'tree')} that others beat in size and penalty (--all)")
    lines += ["", *_below_lines(result["below"], tried.value), ""]
    lines += [f"{name} was not tried: {reason}" for name, reason in tried.skipped.items()]
    lines += [f"note: {note}" for note in tried.notes]
    lines.append(f"* recommended: {chosen.reason}")
    lines.append(f"  {_command(points[chosen.row])}")
    return lines


def _about(tried: Frontier) -> str:
    if tried.scheme is None:
        return ", over the cells they are made from; --held-out judges them by others"
    words = over(tried.scheme)
    folds = next(len(each.folds) for each in tried.held if each is not None)
    return f", held out: {tried.scheme}, {format_count(folds, 'fold')}{words and ' '}{words}"


def _row(point: Mapping[str, Any], recommended: bool, outside: bool) -> list[str]:  # noqa: FBT001 - two columns
    row = ["*" if recommended else "", point["family"], cli_trees.words_of(point["options"], FAMILIES[point["family"]])]
    row += [str(point["leaves"]), cli_text.two_decimals(point["expected_depth"])]
    row += [cli_text.two_decimals(point[f"penalty_{name}"]) for name in _TITLES]
    if outside:
        row += [cli_text.two_decimals(point[f"held_out_{name}"]) for name in ("mean", "error", "p95", "max")]
    return [*row, str(point["held_out_unmeasured" if outside else "unmeasured"])]


def _below_lines(below: Sequence[Mapping[str, Any]], value: str) -> list[str]:
    limits = [name for name in below[0] if name.startswith("below_")]
    what = ("held-out " if value.startswith("held_out") else "in-sample ") + _TITLES[value.rpartition("_")[2]]
    head = ["tree", *(f"below {name.removeprefix('below_')} %" for name in limits), "least (%)", "with"]
    rows = []
    for family in below:
        counts = [_leaves(family[name]) for name in limits]
        rows.append(
            [family["family"], *counts, cli_text.two_decimals(family["least"]), _leaves(family["least_leaves"])]
        )
    return [f"smallest trees by {what} penalty:", *cli_text.table(head, rows, right=range(1, len(head)))]


def _leaves(count: int | None) -> str:
    return "never" if count is None else "1 leaf" if count == 1 else f"{count:,} leaves"


def _command(point: Mapping[str, Any]) -> str:
    return f"colltune decide … {' '.join(tree_words(Choice.of(point['family'], point['options'])))}"
