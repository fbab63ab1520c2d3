"""``colltune compare``: some decision functions side by side, and two of them cell by cell."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.output import say, show
from dashboard.commands.prepared import grown, held_out, preparation
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged import compare as comparing
from dashboard.decisions.measured.selection import yardstick
from dashboard.domain.unmeasured import RULE, absent
from dashboard.session.prepared import Prepared

#: What a cell of the map of two decisions shows, by the position in `dashboard.decisions.judged.compare.OUTCOMES`.
_SIGNS = "=AB~?"
_SAVED = ".json"


def compare(args: argparse.Namespace) -> None:
    """Show the comparison of approaches; of two decisions also where they differ."""
    _check(args.trees)
    prepared = preparation(args)
    decisions, held = {}, {}
    for text in dict.fromkeys(args.trees):
        # A name may have bytes that no table takes.
        name = cli_text.one_line(text)
        decisions[name], judged = _made(args, prepared, text)
        if judged is not None:
            held[name] = judged
    table = comparing.compare(prepared.problem, decisions)
    rows = [{"tree": tree, **row} for tree, row in zip(decisions, cli_text.records(table), strict=True)]
    for row in rows:
        row["absent"] = comparing.absent_methods(prepared.problem, decisions[row["tree"]])
    for row in rows if held else ():
        row["held_out"] = held.get(row["tree"])
    result: dict[str, Any] = {"collective": prepared.problem.collective, "rows": rows}
    apart = None
    if len(decisions) == 2:
        apart = comparing.difference(prepared.problem, *decisions.values())
        result["difference"] = _difference(apart)
    show(args, result, lambda: _lines(result, apart, yardstick(prepared.problem.provenance)))


def _check(trees: list[str]) -> None:
    """Usage for a tree that cannot be, before anything is loaded."""
    for text in trees:
        if not _is_file(text):
            cli_trees.read(text)


def _is_file(text: str) -> bool:
    """Whether a tree is the name of a saved one, and not a tree that takes such a file as its option."""
    return text.endswith(_SAVED) and text.partition(":")[0] not in FAMILIES


def _made(args: argparse.Namespace, prepared: Prepared, text: str) -> tuple[DecisionFunction, dict[str, Any] | None]:
    """A decision function, from a file or grown; and how it does held out, if that is asked for."""
    if _is_file(text):
        if not Path(text).is_file():
            raise Usage(f"{text}: no such file")
        if args.held_out != "none":
            say(f"note: {text} cannot be held out: nothing is known of what it was made from")
        return DecisionFunction.load(text), None
    decided = grown(prepared, *cli_trees.read(text))
    judged = held_out(args, decided)
    return decided.decision, None if judged is None else judged.to_dict()


def _difference(apart: xr.Dataset) -> dict[str, Any]:
    """Two decisions cell by cell, as JSON: maps as nested lists, of several tables one after another."""
    facts = {str(name): value for name, value in apart.attrs.items() if name != "collective"}
    names = ("comm_size", "message_size", "outcome", "difference")
    return {**facts, **{name: apart[name].values.tolist() for name in names}}


def _lines(result: Mapping[str, Any], apart: xr.Dataset | None, against: str) -> list[str]:
    outside = any(row.get("held_out") for row in result["rows"])
    head = ["tree", "leaves", "depth", "levels", "tests", "mean (%)", "95 % (%)", "max (%)"]
    head += ["held out: mean (%)", "95 % (%)", "max (%)"] if outside else []
    head += ["wrong cells", "unmeasured"]
    rows = []
    for row in result["rows"]:
        figures = [row["penalty_mean"], row["penalty_p95"], row["penalty_max"]]
        if outside:
            held = row["held_out"] or {}
            figures += [held.get(name) for name in ("mean", "p95", "max")]
        sizes = [row["tree"], row["leaves"], row["depth"], cli_text.number(row["expected_depth"]), row["tests"]]
        cells = f"{row['wrong']} of {row['cells']}"
        rows.append([*sizes, *map(cli_text.two_decimals, figures), cells, row["unmeasured"]])
    lines = [f"{result['collective']}: penalty of each decision against the {against}", ""]
    lines += cli_text.table(head, rows, right=range(1, len(head)))
    if any(row["unmeasured"] for row in result["rows"]):
        lines.append(f"unmeasured: {RULE}")
    lines += [absent(row["tree"], row["absent"]) for row in result["rows"] if row["absent"]]
    return lines + (["", *_apart_lines(list(result["rows"]), apart)] if apart is not None else [])


def _apart_lines(rows: list[Mapping[str, Any]], apart: xr.Dataset) -> list[str]:
    facts = apart.attrs
    legend = ["same method", "first faster", "second faster", "equally fast", "not comparable"]
    names = ["same_method", "first_faster", "second_faster", "equally_fast", "not_comparable"]
    counts = [
        f"{text} ({sign}): {facts[name]}" for sign, text, name in zip(_SIGNS, legend, names, strict=True) if facts[name]
    ]
    lines = [f"A = {rows[0]['tree']}, B = {rows[1]['tree']}"]
    lines.append(f"{'; '.join(counts)} of {facts['cells']:,} cells")
    if facts["mean_difference"] == facts["mean_difference"]:
        lines.append(f"mean penalty of A less that of B: {facts['mean_difference']:+.2f} points")
    if "table" in apart.dims:
        return lines
    signs = {-1: ".", **dict(enumerate(_SIGNS))}
    drawn = [
        [signs[value] for value in row]
        for row in apart["outcome"].transpose("comm_size", "message_size").values.tolist()
    ]
    sizes = apart["comm_size"].values.tolist(), apart["message_size"].values.tolist()
    return [*lines, "", *cli_text.grid(*sizes, drawn)]
