"""``colltune translate``: rules of one library as rules of another, or as source code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.commands import arguments as cli_arguments
from dashboard.commands.output import deliver, say
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count
from dashboard.export.rules import TRANSLATED

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction
    from dashboard.export.target import Target

_TOLD = 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``translate``."""
    parser.add_argument("rules", metavar="RULESFILE", help=f"rules of {TRANSLATED}")
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
        "--for",
        dest="library_series",
        default="5.0",
        metavar="V",
        help="version of Open MPI that openmpi is written for: 4.1 or 5.0 (default); openmpi-json is for 6. Sets of "
        "versions 1 and 2 are read as 4.x and 5.x read them; as 6 does, which shifts them, export --tree rules "
        "--read-by 6.0 takes them",
    )
    parser.add_argument(
        "--sizes-are-blocks",
        action="store_true",
        help="the file has bytes per process where the library compares the total: repair that",
    )
    cli_arguments.base(parser)
    cli_arguments.name(parser, "the rules")


def translate(args: argparse.Namespace) -> None:
    """Write what a rules file means for another target; what that cannot say is left out and said."""
    from dashboard.export.rules.lint import read_rules, text_of
    from dashboard.export.rules.over import by_blocks
    from dashboard.export.translation import base_of, lacking, listed, of_section, sections_of

    target = cli_arguments.target(args.to)
    rules = read_rules(args.rules)
    if reason := lacking(rules):
        raise Usage(f"{args.rules}: {reason}")
    if rules.errors:
        errors = format_count(rules.errors, "error")
        say(f"note: {args.rules} has {errors}; translated as it is meant ('colltune lint' names them)")
    wanted = args.collective or [decision.collective for decision in rules.meant.values()]
    meant = {name: decision for name, decision in rules.meant.items() if decision.collective in wanted}
    if not meant:
        raise Usage(f"{args.rules}: no rules for {', '.join(wanted)}")
    chosen = of_section(meant, args.section)
    if not chosen:
        there = listed([f"[{words}]" for words in sections_of(meant)]) or "none"
        raise Usage(f"{args.rules}: no rules in a section with {args.section!r}; sections are {there}")
    if args.sizes_are_blocks:
        chosen = {name: by_blocks(decision) for name, decision in chosen.items()}
    base = cli_arguments.selection(args) or base_of(target, rules, text_of(args.rules))
    deliver(args.output, _text(target, args, chosen, base))


def _text(target: Target, args: argparse.Namespace, rules: dict[str, DecisionFunction], base: str | None) -> str:
    from dashboard.commands.naming import named_rules
    from dashboard.export.target import ExportError
    from dashboard.export.translation import taken
    from dashboard.export.writing import Order, write

    given = {"version": args.library_series, "base": base}
    options = {name: value for name, value in given.items() if name in target.options and value is not None}
    facts = {"translated_from": Path(args.rules).name}
    named = named_rules(args, rules, options)
    try:
        kept = taken(named, lambda decision: target.write([decision], facts, **options))
        written = write(Order(args.to, tuple(kept.decisions.values()), {}, provenance=facts, **given))
    except ExportError as error:
        raise Usage(str(error)) from None
    for line in kept.left_out("--section", most=_TOLD):
        say(f"note: left out: {line}")
    for collective, decision in kept.decisions.items():
        cut = [each.label for place in decision.used if (each := decision.methods[place]).segment_size]
        if cut and not target.segments:
            say(f"note: {collective}: {args.to} cuts no messages into segments, written without: {', '.join(cut)}")
    for part in written.parts:
        for note in part.notes:
            say(f"note: {part.source.collective}: {note}")
    return written.text
