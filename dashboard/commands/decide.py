"""``colltune decide`` and ``colltune export``: one decision function, shown or written."""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import naming as cli_naming
from dashboard.commands import output as cli_output
from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.arguments import C_TARGETS
from dashboard.commands.load import load
from dashboard.commands.output import answer, say, show
from dashboard.commands.prepared import as_asked_beyond, grown, held_out, preparation, preparations
from dashboard.commands.usage import Usage
from dashboard.commands.view import link_of
from dashboard.decisions import DecisionFunction, select_ppn
from dashboard.decisions.grown.c45.report import TABLE_6_7, TABLE_6_8, c45_table
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.units import format_count
from dashboard.domain.written import OF_TARGETS
from dashboard.export import ExportError, source_lines, writing
from dashboard.export.components import asks_han
from dashboard.export.library_names import is_of_library, rules_target
from dashboard.export.targets.c.header import to_header
from dashboard.export.targets.c.selftest import to_selftest
from dashboard.export.targets.mpich.base import kept
from dashboard.export.writing import Order, Written
from dashboard.session.choice import Choice
from dashboard.session.prepared import Decided, Prepared
from dashboard.session.sweep import sweep

#: Exit status of an export that costs more than its tree, above what is allowed.
LOSES = 1
#: A drawn tree of more leaves than this is no help.
_DRAWN_LEAVES = 64


def decide(args: argparse.Namespace) -> None:
    """Show a decision function with its size and penalty, or how these change with a limit."""
    if args.sweep:
        if args.link:
            raise Usage("--link: an address tells one tree, no sweep; the page Decisions has the sweep below the tree")
        _sweep(args)
        return
    results = load(args)
    decided = grown(preparation(args, results), args.tree, cli_trees.chosen(args))
    link = link_of(args.link, results, decided) if args.link else ""
    args.decided = decided.decision.collective
    args.alternatives = len(decided.prepared.problem.methods)
    args.rules_target = rules_target(decided.decision.provenance)
    args.on_nodes = asks_han(decided.decision.methods)
    args.runs_own = not all(is_of_library(decided.decision.methods[place]) for place in decided.decision.used)
    facts = decided.answer()
    # Last, for who reads the JSON with his eyes.
    saved = facts.pop("decision")
    if (judged := held_out(args, decided)) is not None:
        facts["held_out"] = judged.to_dict()
        for note in judged.notes:
            say(f"note: {note}")
    result = {**facts, "decision": saved}
    show(args, result, lambda: decision_lines(args, result, decided))
    if link:
        answer(f"{link}\n")


def export(args: argparse.Namespace) -> None:
    """Write decision functions for a target; SystemExit with `LOSES` when that costs more than is allowed."""
    target = cli_arguments.target(args.to)
    _check_beside(args)
    decisions, statistics = [], {}
    given = _given(args, target.options)
    made = preparations(args, cli_naming.named(args, given))
    for prepared in made:
        decided = grown(prepared, args.tree, cli_trees.chosen(args))
        statistics[decided.decision.collective] = decided.statistics
        decisions.append(decided.decision)
    parts = [part for prepared in made for part in prepared.problem.slices]
    bounded = as_asked_beyond(args, decisions)
    order = Order.of(args.to, bounded, parts, provenance={"statistics": statistics}, **given)
    # What a file that knows no processes per node is for.
    args.written_for = {select_ppn(cube)[1] for cube in order.cubes.values()}
    loses = deliver(order, args.output, args.allow_loss)
    if args.output != "-":
        _write_beside(args, order.decisions, order.provenance)
    if loses:
        raise SystemExit(LOSES)


def _check_beside(args: argparse.Namespace) -> None:
    """Usage where there is no C file that a header or a self-test could stand beside."""
    asked = [f"--{name.replace('_', '-')}" for name in ("header", "self_test") if getattr(args, name)]
    if asked and (args.to not in C_TARGETS or Path(args.output).suffix != ".c"):
        raise Usage(f"{asked[0]} goes with --to {' or '.join(C_TARGETS)} and -o FILE.c")


def _write_beside(
    args: argparse.Namespace, decisions: Sequence[DecisionFunction], provenance: Mapping[str, Any]
) -> None:
    """Write the header and the self-test of a C file, as far as they are asked for."""
    file = Path(args.output)
    texts = {}
    if args.header:
        texts[file.with_suffix(".h")] = to_header(decisions, provenance=provenance)
    if args.self_test:
        test = file.with_name(f"{file.stem}_test.c")
        texts[test] = to_selftest(decisions, provenance=provenance, file=file.name)
    for path, text in texts.items():
        cli_output.write(path, text)
        say(f"wrote {path}")


def deliver(order: Order, output: str, allowed: float = 0.0) -> bool:
    """Write what is asked for to standard output (``-``) or a file; whether that costs more points than are allowed."""
    written = writing.write(order)
    if written.left_out:
        raise ExportError("; ".join(f"{name}: {why}" for name, why in written.left_out.items()))
    loses = _say_losses(written, allowed)
    what = ", ".join(
        f"{decision.collective} ({format_count(decision.leaves, 'leaf', 'leaves')})" for decision in order.decisions
    )
    cli_output.deliver(output, written.text, what)
    return loses


def _say_losses(written: Written, allowed: float) -> bool:
    """Say what of the decisions the file does not say, and what that costs; whether it is more than allowed."""
    for part in written.parts:
        for note in part.notes:
            say(f"note: {part.source.collective}: {note}")
        if part.differs:
            say(f"note: {part.source.collective}: {part.costs}")
        if part.leaves_alone:
            say(f"note: {part.source.collective}: the file decides nothing of it: all is left to the library")
    worst = max((part.loss for part in written.parts), default=0.0)
    if worst > allowed and math.isinf(worst):
        say("what the file costs is not known: nothing of what it says was measured")
    elif worst > allowed:
        say(f"the file costs {worst:.2f} points more than was decided; --allow-loss {math.ceil(worst)} accepts that")
    return worst > allowed


def _given(args: argparse.Namespace, known: Sequence[str]) -> dict[str, Any]:
    """What is asked of the target; `Usage` for options that mean nothing to it."""
    asked = {option.name: getattr(args, option.name) for option in OF_TARGETS}
    asked["base"] = cli_arguments.selection(args)
    given = {name: value for name, value in asked.items() if value is not None}
    for option in OF_TARGETS:
        if option.name in given and option.name not in known:
            raise Usage(f"{option.flags[0]} means nothing to --to {args.to}")
    if "base" in known and "base" not in given and (text := kept(args.paths)) is not None:
        given["base"] = text
    return given


def _sweep(args: argparse.Namespace) -> None:
    if (args.tree, args.sweep == "settings") not in {("quadtree", False), ("c45", True)}:
        raise Usage(
            f"--sweep {args.sweep} is for --tree {'c45' if args.sweep == 'settings' else 'quadtree'}; "
            f"'colltune frontier' tries --tree {args.tree} over its options"
        )
    prepared, options = preparation(args), cli_trees.chosen(args)
    if args.sweep == "settings":
        _show_sweep(args, prepared, _c45_settings(prepared.problem, options))
    else:
        _show_sweep(args, prepared, sweep(prepared, args.sweep, Choice.of(args.tree, options)))


def _c45_settings(problem: Problem, options: Mapping[str, Any]) -> pd.DataFrame:
    """The figures of Table 6.7, of a combined tree those of Table 6.8."""
    others = {name: value for name, value in options.items() if name not in ("min_cases", "confidence")}
    return c45_table(problem, TABLE_6_8 if problem.categories else TABLE_6_7, **others).reset_index(names="setting")


def _show_sweep(args: argparse.Namespace, prepared: Prepared, frame: pd.DataFrame) -> None:
    result = {"collective": prepared.problem.collective, "tree": args.tree, "sweep": args.sweep}
    result["rows"] = cli_text.records(frame)
    show(args, result, lambda: cli_text.frame_table(frame))


def decision_lines(args: argparse.Namespace, result: Mapping[str, Any], decided: Decided) -> list[str]:
    """Lines on a decision function; `args` has the name of its ``tree``, and whether to ``draw`` it."""
    decision = decided.decision
    try:
        in_c = source_lines(decision)
    except ExportError:
        in_c = None
    options = cli_trees.words_of(decision.options, FAMILIES[args.tree])
    lines = cli_text.decision_text(result, options.replace(",", ", ").replace("=", " "), in_c)
    if args.draw or (args.draw is None and decision.leaves <= _DRAWN_LEAVES):
        merged = decision.simplified()
        drawn = merged.to_text(counts=decided.counts(merged)).splitlines()
        return [*lines, "", _head_of_tree(decided), *map(cli_text.one_line, drawn)]
    if args.draw is None:
        lines += ["", "--draw draws the tree"]
    return lines


def _head_of_tree(decided: Decided) -> str:
    """What a drawn tree counts, as `Decided.counts` has it."""
    treatment = decided.prepared.treatment
    if decided.choice.by_labels:
        wrong = f"how many have another {'method as learnt' if treatment.resolves_ties else 'best method'}"
    else:
        ties = " nor tied with it" if treatment.tolerance or treatment.statistical is not None else ""
        wrong = f"in how many its method is not the best{ties}"
    return f"with equal branches merged, cases of each leaf and {wrong}:"
