"""``colltune translate``: rules of one library as rules of another, or as source code."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import naming as cli_naming
from dashboard.commands.output import deliver, say
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction
    from dashboard.export.target import Target

_TOLD = 4
_SOURCES = "Open MPI, MPICH, Intel MPI or UCC"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``translate``."""
    parser.add_argument("rules", metavar="RULESFILE", help=f"rules of {_SOURCES}")
    parser.add_argument("--to", required=True, metavar="TARGET", help="as for export, such as openmpi or c")
    cli_arguments.collectives(parser)
    parser.add_argument(
        "--section",
        default="",
        metavar="WORDS",
        help="of a ucc.conf: the sections with these words, such as team_size=28",
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    parser.add_argument(
        "--for", dest="library_series", default="5.0", metavar="V", help="version of Open MPI (default 5.0)"
    )
    parser.add_argument(
        "--sizes-are-blocks",
        action="store_true",
        help="the file has bytes per process where the library compares the total: repair that",
    )
    cli_arguments.base(parser)
    cli_naming.add_name(parser, "the rules")


def translate(args: argparse.Namespace) -> None:
    """Write what a rules file means for another target; what that cannot say is left out and said."""
    from dashboard.export.rules.lint import read_rules
    from dashboard.export.rules.over import by_blocks

    target = cli_arguments.target(args.to)
    rules = read_rules(args.rules, version=args.library_series)
    if rules.errors:
        say(f"note: {args.rules} has {rules.errors} errors; translated as it is meant ('colltune lint' names them)")
    if not rules.meant:
        raise Usage(f"{args.rules}: {rules.title}: nothing to translate; translated are rules of {_SOURCES}")
    wanted = args.collective or [decision.collective for decision in rules.meant.values()]
    chosen = {name: decision for name, decision in rules.meant.items() if decision.collective in wanted}
    if not chosen:
        raise Usage(f"{args.rules}: no rules for {', '.join(wanted)}")
    sections = dict.fromkeys(_section(decision) for decision in chosen.values() if _section(decision))
    chosen = {name: decision for name, decision in chosen.items() if args.section in _section(decision)}
    if not chosen:
        there = _listed([f"[{words}]" for words in sections]) or "none"
        raise Usage(f"{args.rules}: no rules in a section with {args.section!r}; sections are {there}")
    if args.sizes_are_blocks:
        chosen = {name: by_blocks(decision) for name, decision in chosen.items()}
    text = _text(target, args, chosen)
    deliver(args.output, text, f": {text.count(chr(10)):,} lines")


def _section(decision: DecisionFunction) -> str:
    """Of a ucc.conf: what teams the decision is for; else empty."""
    return str(decision.provenance.get("section", ""))


def _listed(words: Sequence[str], most: int = _TOLD) -> str:
    return ", ".join([*words[:most], *(["…"] if len(words) > most else [])])


def _text(target: Target, args: argparse.Namespace, rules: dict[str, DecisionFunction]) -> str:
    from dashboard.export.target import ExportError

    given = {"version": args.library_series, "base": args.base}
    options = {name: value for name, value in given.items() if name in target.options and value is not None}
    facts = {"translated_from": Path(args.rules).name}
    kept: dict[str, DecisionFunction] = {}
    reasons: list[str] = []
    further: dict[str, list[str]] = {}
    for name, decision in cli_naming.named_rules(args, rules, options).items():
        if decision.collective in kept:
            further.setdefault(decision.collective, []).append(name)
            continue
        try:
            target.write([decision], facts, **options)
        except ExportError as error:
            reasons.append(f"{name}: {str(error).removeprefix(f'{decision.collective}: ')}")
            continue
        kept[decision.collective] = decision
    if not kept:
        raise Usage(f"nothing can be translated: {reasons[0]}")
    for reason in reasons[:_TOLD]:
        say(f"note: left out: {reason}")
    if len(reasons) > _TOLD:
        say(f"note: and {len(reasons) - _TOLD} more collectives; -c chooses")
    for collective, names in further.items():
        chooses = "; --section chooses" if _section(kept[collective]) else ""
        say(f"note: left out: {len(names)} further decisions for {collective}: {_listed(names, 1)}{chooses}")
    for collective, decision in kept.items():
        cut = [each.label for place in decision.used if (each := decision.methods[place]).segment_size]
        if cut and not target.segments:
            say(f"note: {collective}: {args.to} cuts no messages into segments, written without: {', '.join(cut)}")
    return target.write(list(kept.values()), facts, **options)
