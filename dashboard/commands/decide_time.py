"""``colltune decide-time``: how long one decision takes, compiled and timed on the spot."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.output import show, working
from dashboard.commands.prepared import preparation
from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.statistics import statistics_of
from dashboard.decisions.grown.families import family
from dashboard.export.decide_time import Sizes, Variant, found_compiler, log_uniform, uniform, workload_sizes
from dashboard.export.decide_time import decide_time as timed
from dashboard.session.prepared import Prepared

#: As the rows of Table 4 of the quadtree report, the last one exact.
_TREES = (*(f"quadtree:max_depth={depth}" for depth in range(1, 7)), "quadtree")


def decide_time(args: argparse.Namespace) -> None:
    """Print sizes and times of each tree."""
    wanted = [(text, *cli_trees.read(text)) for text in dict.fromkeys(args.trees or _TREES)]
    found_compiler()
    prepared = preparation(args)
    sizes = _sizes(args, prepared)
    rows: list[dict[str, Any]] = []
    with working() as progress:
        for place, (text, name, options) in enumerate(wanted):
            progress(place / len(wanted), text)
            decision = family(name).grow(prepared.learnt, **options)
            # Deeper limits than the tree has levels give the same tree again.
            if not args.trees and rows and decision.nodes == rows[-1]["nodes"]:
                continue
            rows.append(_row(text, prepared, decision, timed(decision, sizes, rounds=args.rounds)))
    result = {"collective": prepared.problem.collective, "sizes": list(sizes), "rows": rows}
    show(args, result, lambda: _lines(result))


def _sizes(args: argparse.Namespace, prepared: Prepared) -> dict[str, Sizes]:
    cube = prepared.problem.slices[0].cube
    comm, message = (
        asked or (int(cube[dim].values.min()), int(cube[dim].values.max()))
        for asked, dim in ((args.comm_range, "comm_size"), (args.message_range, "message_size"))
    )
    sizes = {"uniform": uniform(comm, message), "log-uniform": log_uniform(comm, message)}
    if args.weights:
        from loaders.workload import read_workload

        sizes["workload"] = workload_sizes(read_workload(args.weights), prepared.problem.collective)
    return sizes


def _row(text: str, prepared: Prepared, decision: DecisionFunction, variants: Sequence[Variant]) -> dict[str, Any]:
    figures = statistics_of(decision, prepared.problem.penalties(decision))
    levels = figures["depth"]["mean"] + 1
    return {
        "tree": text,
        "mean_depth": figures["depth"]["mean"],
        "penalty_mean": figures["penalty"]["mean"],
        "leaves": figures["leaves"],
        "nodes": figures["nodes"],
        "variants": [
            {
                "name": variant.name,
                "nanoseconds": dict(variant.nanoseconds),
                "per_level": {name: value / levels for name, value in variant.nanoseconds.items()},
                "bytes": variant.size,
                "lines": variant.lines,
                "tests": variant.tests,
            }
            for variant in variants
        ],
    }


def _lines(result: Mapping[str, Any]) -> list[str]:
    names = list(dict.fromkeys(variant["name"] for row in result["rows"] for variant in row["variants"]))
    lines = [f"{result['collective']}: nanoseconds of one decision"]
    for sizes in result["sizes"]:
        head = ["tree", "mean depth", "penalty", "leaves", "nodes", *names, "in memory, per level"]
        rows = [[*_about(row), *_times(row, names, sizes), _per_level(row, sizes)] for row in result["rows"]]
        lines += ["", f"{sizes} sizes", *cli_text.table(head, rows, right=range(1, len(head)))]
    head = ["tree", *(f"{name}: {what}" for name in names[:4] for what in ("bytes", "lines")), "ifs"]
    rows = [_space(row, names[:4]) for row in result["rows"]]
    return [*lines, "", "size", *cli_text.table(head, rows, right=range(1, len(head)))]


def _about(row: Mapping[str, Any]) -> list[object]:
    penalty = cli_text.percent(row["penalty_mean"])
    return [row["tree"], f"{row['mean_depth']:.2f}", penalty, row["leaves"], row["nodes"]]


def _variants(row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {variant["name"]: variant for variant in row["variants"]}


def _times(row: Mapping[str, Any], names: Sequence[str], sizes: str) -> list[str]:
    known = _variants(row)
    return [f"{known[name]['nanoseconds'][sizes]:.2f}" if name in known else "-" for name in names]


def _per_level(row: Mapping[str, Any], sizes: str) -> str:
    known = _variants(row)
    return f"{known['tree in memory']['per_level'][sizes]:.2f}" if "tree in memory" in known else "-"


def _space(row: Mapping[str, Any], names: Sequence[str]) -> list[object]:
    known = _variants(row)
    cells: list[object] = [row["tree"]]
    for name in names:
        cells += [known[name][what] if name in known else "-" for what in ("bytes", "lines")]
    return [*cells, known.get("nested ifs", {}).get("tests") or 0]
