"""``colltune lint``: what is wrong with a rules file, and what it costs over measurements."""

import argparse
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from dashboard.commands.load import load
from dashboard.commands.output import penalty, show
from dashboard.commands.prepared import judged_as_asked
from dashboard.commands.usage import Usage
from dashboard.decisions import select_ppn
from dashboard.decisions.function.nodes import LEFT_ALONE
from dashboard.decisions.measured.workload import called
from dashboard.domain.units import format_count
from dashboard.export.rules import Fault, RulesFile
from dashboard.export.rules.given import listed, read_beside
from dashboard.export.rules.lint import read_rules, text_of, written_for
from dashboard.export.rules.over import Cost, costs
from loaders.workload import read_workload


def lint(args: argparse.Namespace) -> None:
    """Print the faults; `Usage` (exit status 2) when one of them is an error, so that scripts can rely on it."""
    args.version = args.version or written_for(text_of(args.rules))
    if args.han:
        _, rules = read_beside(Path(args.rules), Path(args.han), args.version)
    else:
        rules = read_rules(args.rules, version=args.version)
    args.found_format = rules.format
    if args.paths and rules.listings:
        raise Usage(f"--over: {args.rules}: {listed(rules)}; 'colltune export' says what a file costs that it writes")
    faults = list(rules.faults)
    prices: list[Cost] = []
    if args.paths:
        judged = rules.of(args.collective) if args.collective else rules
        ruled = {decision.collective for decision in judged.meant.values()}
        if not ruled and rules.meant:
            there = ", ".join(dict.fromkeys(decision.collective for decision in rules.meant.values()))
            raise Usage(f"-c {args.collective}: {args.rules} has no rules for it; it has them for {there}")
        cubes = _judged_by(args, ruled)
        prices, more = costs(judged, cubes, args.version, _weights(args.weights, cubes))
        faults += more
    result = {
        "path": str(args.rules),
        "format": rules.format,
        "errors": rules.errors,
        "faults": [fault.to_dict() for fault in faults],
        "collectives": {name: _described(rules, name) for name in rules.meant} | _listed(rules),
        "penalty": {price.name: _priced(price) for price in prices},
    }
    show(args, result, lambda: _lines(args, rules, faults, prices))
    if rules.errors:
        raise Usage(f"{args.rules}: {format_count(rules.errors, 'error')}")


def _judged_by(args: argparse.Namespace, ruled: Container[str]) -> dict[str, xr.Dataset]:
    """The measurements by collective: of those that there are rules for what every command judges by."""
    cubes = {name: child.to_dataset() for name, child in load(args).children.items()}
    judging = judged_as_asked(args, {name: cube for name, cube in cubes.items() if name in ruled})
    return cubes | {name: select_ppn(cube, args.ppn)[0] for name, cube in judging.items()}


def _weights(path: str | None, cubes: Mapping[str, Any]) -> dict[str, Any]:
    """How often a workload calls the cells of each collective that it calls."""
    if path is None:
        return {}
    return called(read_workload(path), cubes)


def _described(rules: RulesFile, name: str) -> dict[str, Any]:
    decision = rules.meant[name]
    return {
        "collective": decision.collective,
        "rules": rules.count(name),
        "methods": [decision.methods[place].label for place in decision.used],
        "accepted": name in rules.decisions,
        "unchanged": name in rules.unchanged,
    }


def _listed(rules: RulesFile) -> dict[str, Any]:
    return {
        name: {
            "collective": name,
            "rules": listing.rules,
            "methods": list(listing.methods),
            "accepted": True,
            "not_by_sizes": listing.not_by_sizes,
        }
        for name, listing in rules.listings.items()
    }


def _priced(price: Cost) -> dict[str, Any]:
    return {
        **{
            name: None if (cost := getattr(price, name)) is None else penalty(cost)
            for name in ("acted", "meant", "as_blocks")
        },
        "not_measured": list(price.lacking),
    }


def _lines(args: argparse.Namespace, rules: RulesFile, faults: Sequence[Fault], prices: Sequence[Cost]) -> list[str]:
    lines = [f"{args.rules}: {rules.title}"]
    for name, decision in rules.meant.items():
        if name in rules.unchanged:
            continue
        methods = [place for place in decision.used if decision.methods[place] != LEFT_ALONE]
        size = f"{format_count(rules.count(name), 'rule')}, {format_count(len(methods), 'method')}"
        state = "" if name in rules.decisions else " (as meant; the library does not take the file)"
        lines.append(f"  {name}: {size}{state}")
    if rules.as_without:
        lines.append(f"  {rules.as_without}")
    for name, listing in rules.listings.items():
        size = f"{format_count(listing.rules, 'rule')}, {format_count(len(listing.methods), 'method')}"
        more = f"; {listing.not_by_sizes:,} not by sizes alone" if listing.not_by_sizes else ""
        lines.append(f"  {name}: {size}{more}")
    if rules.not_by_sizes:
        lines.append(f"  no decision by communicator and message size: {rules.not_by_sizes}")
    for price in prices:
        lines += _price_lines(price)
    for fault in faults:
        where = "" if fault.line is None else f"{fault.line}: "
        lines += [f"{args.rules}:{where or ' '}{fault.severity}: {fault.text}", f"    effect: {fault.effect}"]
    counts = [(kind, sum(fault.severity == kind for fault in faults)) for kind in ("error", "warning", "note")]
    lines.append(", ".join(format_count(count, kind) for kind, count in counts))
    return lines


def _price_lines(price: Cost) -> list[str]:
    rows = [("as the library acts", price.acted), ("as meant", price.meant), ("sizes as blocks", price.as_blocks)]
    lines = []
    for what, summary in rows:
        if summary is not None:
            mean = f"mean {summary.mean:.3g} %, max {summary.max:.3g} %" if summary.cells else "not known"
            lacking = f", {summary.unmeasured:,} not measured" if summary.unmeasured else ""
            lines.append(f"  {price.name}, penalty {what}: {mean} ({format_count(summary.cells, 'cell')}{lacking})")
    if price.lacking:
        lines.append(f"  {price.name}: not measured: {', '.join(price.lacking)}")
    return lines
