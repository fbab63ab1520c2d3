"""``colltune translate``: rules of one library as rules of another, or as source code."""

import argparse
from pathlib import Path
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands.naming import named_rules
from dashboard.commands.output import deliver, say
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction
from dashboard.domain.units import format_count
from dashboard.export.rules.lint import read_rules, text_of
from dashboard.export.rules.over import by_blocks
from dashboard.export.target import ExportError, Target
from dashboard.export.translation import base_of, lacking, listed, of_section, sections_of, taken
from dashboard.export.writing import Order, write
from loaders.openmpi import DEFAULT_VERSION

_TOLD = 4


def translate(args: argparse.Namespace) -> None:
    """Write what a rules file means for another target; what that cannot say is left out and said."""
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
    chosen = of_section(meant, args.section or "")
    if not chosen:
        there = listed([f"[{words}]" for words in sections_of(meant)]) or "none"
        raise Usage(f"{args.rules}: no rules in a section with {args.section!r}; sections are {there}")
    if args.sizes_are_blocks:
        chosen = {name: by_blocks(decision) for name, decision in chosen.items()}
    base = cli_arguments.selection(args) or base_of(target, rules, text_of(args.rules))
    deliver(args.output, _text(target, args, chosen, base))


def _text(target: Target, args: argparse.Namespace, rules: dict[str, DecisionFunction], base: str | None) -> str:
    given: dict[str, Any] = {"version": args.version or DEFAULT_VERSION, "base": base}
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
        cut = [each for place in decision.used if (each := decision.methods[place]).segment_size]
        if uncut := ", ".join(method.label for method in cut if not target.segments(collective, method)):
            say(f"note: {collective}: {args.to} does not cut messages into segments in {uncut}: written without")
    for part in written.parts:
        for note in part.notes:
            say(f"note: {part.source.collective}: {note}")
    return written.text
