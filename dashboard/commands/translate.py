"""``colltune translate``: rules of one library as rules of another, or as source code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands.output import deliver, say
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction
    from dashboard.export.target import Target

_TOLD = 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``translate``."""
    parser.add_argument("rules", metavar="RULESFILE", help="rules of Open MPI, MPICH, Intel MPI or UCC")
    parser.add_argument("--to", required=True, metavar="TARGET", help="as for export, such as openmpi or c")
    cli_arguments.collectives(parser)
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


def translate(args: argparse.Namespace) -> None:
    """Write what a rules file means for another target; what that cannot say is left out and said."""
    from dashboard.export.rules.lint import read_rules
    from dashboard.export.rules.over import by_blocks

    target = cli_arguments.target(args.to)
    rules = read_rules(args.rules, version=args.library_series)
    if rules.errors:
        say(f"note: {args.rules} has {rules.errors} errors; translated as it is meant ('colltune lint' names them)")
    wanted = args.collective or [decision.collective for decision in rules.meant.values()]
    chosen = {name: decision for name, decision in rules.meant.items() if decision.collective in wanted}
    if not chosen:
        raise Usage(f"{args.rules}: no rules for {', '.join(args.collective or ['any collective'])}")
    if args.sizes_are_blocks:
        chosen = {name: by_blocks(decision) for name, decision in chosen.items()}
    text = _text(target, args, chosen)
    deliver(args.output, text, f": {text.count(chr(10)):,} lines")


def _text(target: Target, args: argparse.Namespace, chosen: dict[str, DecisionFunction]) -> str:
    from dashboard.export.target import ExportError

    options: dict[str, Any] = {}
    if "version" in target.options:
        options["version"] = args.library_series
    if args.base is not None and "base" in target.options:
        options["base"] = args.base
    facts = {"translated_from": Path(args.rules).name}
    kept: list[DecisionFunction] = []
    reasons: list[str] = []
    for name, decision in chosen.items():
        if any(decision.collective == other.collective for other in kept):
            reasons.append(f"{name}: a second decision for {decision.collective}")
            continue
        try:
            target.write([decision], facts, **options)
        except ExportError as error:
            reasons.append(str(error))
            continue
        kept.append(decision)
    if not kept:
        raise Usage(f"nothing can be translated: {reasons[0]}")
    for reason in reasons[:_TOLD]:
        say(f"note: left out: {reason}")
    if len(reasons) > _TOLD:
        say(f"note: and {len(reasons) - _TOLD} more collectives; -c chooses")
    return target.write(kept, facts, **options)
