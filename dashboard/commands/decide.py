"""``colltune decide`` and ``colltune export``: one decision function, shown or written."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import beside as cli_beside
from dashboard.commands import beyond as cli_beyond
from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.options import TARGETS
from dashboard.commands.output import Working, answer, say, show
from dashboard.commands.problem import Task, grow, one_task, tasks_of
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    import pandas as pd

    from dashboard.decisions import DecisionFunction
    from dashboard.decisions.problem import Problem

#: A drawn tree of more leaves than this is no help.
_DRAWN_LEAVES = 64


def decide(args: argparse.Namespace) -> None:
    """Show a decision function with its size and penalty, or how these change with a limit."""
    if args.sweep:
        _sweep(args)
        return
    task = one_task(args)
    decision = grow(args.tree, cli_trees.chosen(args), task)
    result = _result(args, task, decision)
    show(args, result, lambda: _decision_lines(args, result, decision))


def export(args: argparse.Namespace) -> None:
    """Write decision functions for a target."""
    from dashboard.export import TARGETS as WRITERS

    if args.to not in WRITERS:
        there = f"available: {', '.join(WRITERS)}"
        known = args.to in TARGETS
        raise Usage(
            f"--to {args.to} is not available yet; {there}" if known else f"--to {args.to}: no such target; {there}"
        )
    cli_beside.check(args)
    decisions, statistics, sources = [], {}, {}
    tasks = tasks_of(args)
    for task in tasks:
        decision = grow(args.tree, cli_trees.chosen(args), task)
        statistics[decision.collective] = _statistics(task, decision)
        sources.update(task.sources)
        decisions.append(decision)
    further = _further(args, WRITERS[args.to].options, tasks)
    decisions = cli_beyond.bounded(args, _sayable(args, decisions, tasks, further))
    provenance = {"statistics": statistics, "sources": sources}
    text = WRITERS[args.to].write(decisions, provenance, **further)
    if args.output == "-":
        answer(text)
        return
    try:
        Path(args.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Usage(f"{args.output}: cannot be written: {error.strerror or error}") from error
    what = ", ".join(f"{decision.collective} ({decision.leaves:,} leaves)" for decision in decisions)
    say(f"wrote {args.output}: {what}, {text.count(chr(10)):,} lines")
    cli_beside.write(args, decisions, provenance)


def _sayable(
    args: argparse.Namespace, decisions: list[DecisionFunction], tasks: Sequence[Task], options: Mapping[str, Any]
) -> list[DecisionFunction]:
    """The decisions with the best substitutes for what the target lacks, where its writer does not see to it itself."""
    from dashboard.export import TARGETS as WRITERS
    from dashboard.export.parts import per_collective
    from dashboard.export.substitute import takes_substitutes, with_substitutes

    if not takes_substitutes(WRITERS[args.to]):
        return decisions
    parts = {
        str(part.given.get("collective", part.cube.attrs["collective"])): part
        for t in tasks
        for part in t.problem.slices
    }
    found = []
    for decision in per_collective(decisions):
        part = parts[decision.collective]
        said, notes = with_substitutes(WRITERS[args.to], decision, part.cube, part.weights, options)
        for note in notes:
            say(f"note: {decision.collective}: {WRITERS[args.to].title}: {note}")
        found.append(said)
    return found


def _further(args: argparse.Namespace, known: Sequence[str], tasks: Sequence[Task]) -> dict[str, Any]:
    """What targets that are rules of a library take beside the decisions; `Usage` for what this one does not."""
    given = {name: getattr(args, name) for name in ("version", "most_rules", "base") if getattr(args, name) is not None}
    for name in given:
        if name not in known:
            option = {"version": "--for", "most_rules": "--max-rules"}.get(name, f"--{name}")
            raise Usage(f"{option} means nothing to --to {args.to}")
    if "version" in known and "version" not in given and (measured := _measured_version(tasks)):
        given["version"] = measured
    if "base" in given:
        try:
            given["base"] = Path(args.base).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Usage(f"--base {args.base}: cannot be read: {error}") from error
    if "cubes" in known:
        parts = [part for task in tasks for part in task.problem.slices]
        named = {part.given.get("collective", part.cube.attrs.get("collective")): part for part in parts}
        given["cubes"] = {name: part.cube for name, part in named.items()}
        if "weights" in known:
            given["weights"] = {name: part.weights for name, part in named.items() if part.weights is not None}
    return given


def _measured_version(tasks: Sequence[Task]) -> str:
    """Series of Open MPI that all results were measured with, where it is one whose numbers are known; else empty."""
    from dashboard.export.library_names import series

    attrs = [part.cube.attrs for task in tasks for part in task.problem.slices]
    if not all(str(one.get("library", "")).lower().replace(" ", "").startswith("openmpi") for one in attrs):
        return ""
    try:
        found = {series(str(one.get("library_version", ""))) for one in attrs}
    except ValueError:
        return ""
    return found.pop() if len(found) == 1 and found <= {"4.1", "5.0"} else ""


def _statistics(task: Task, decision: DecisionFunction) -> dict[str, Any]:
    from dashboard.decisions.statistics import statistics_of

    return statistics_of(decision, task.problem.penalties(decision))


def _result(args: argparse.Namespace, task: Task, decision: DecisionFunction) -> dict[str, Any]:
    """The JSON answer of ``decide``."""
    return {
        "collective": decision.collective,
        "tree": args.tree,
        "options": decision.options,
        **_statistics(task, decision),
        "methods": [method.label for method in decision.methods],
        **_c45(decision),
        **_held_out(args, task, decision),
        "decision": decision.to_dict(),
    }


def _c45(decision: DecisionFunction) -> dict[str, Any]:
    """Size and errors before and after pruning; C4.5 counts cases, people read percent."""
    known: Mapping[str, Any] = decision.provenance.get("c45", {})
    return {
        when: {
            name: value if name in ("size", "leaves") else 100 * value / known["cases"]
            for name, value in known[when].items()
        }
        for when in ("before", "after")
        if when in known
    }


def _held_out(args: argparse.Namespace, task: Task, decision: DecisionFunction) -> dict[str, Any]:
    """The penalty where the decision was not made from, if it is asked for."""
    if args.held_out == "none":
        return {}
    from dashboard.decisions.families import family
    from dashboard.decisions.heldout import heldout

    options = cli_trees.chosen(args)

    def again(part: Problem) -> DecisionFunction:
        return family(args.tree).grow(task.prepare(part), **options)

    with Working() as progress:
        found = heldout(task.problem, again, args.held_out, args.folds, whole=decision, progress=progress)
    for note in found.notes:
        say(f"note: {note}")
    return {"held_out": found.to_dict()}


def _sweep(args: argparse.Namespace) -> None:
    from dashboard import decisions

    if (args.tree, args.sweep == "settings") not in {("quadtree", False), ("c45", True)}:
        raise Usage(
            f"--sweep {args.sweep} is for --tree {'c45' if args.sweep == 'settings' else 'quadtree'}; "
            f"'colltune frontier' tries --tree {args.tree} over its options"
        )
    task = one_task(args)
    options = cli_trees.chosen(args)
    if args.sweep == "settings":
        frame = _c45_settings(task.problem, options)
        _show_sweep(args, task, frame)
        return
    part = task.problem.single("a quadtree")
    cube, ppn = part.cube, part.given.get("ppn")
    if args.sweep == "depth":
        frame = decisions.sweep_depth(cube, ppn=ppn, threshold=options.get("threshold", 1.0))
    else:
        frame = decisions.sweep_threshold(cube, max_depth=options.get("max_depth"), ppn=ppn)
    _show_sweep(args, task, frame)


def _c45_settings(problem: Problem, options: Mapping[str, Any]) -> pd.DataFrame:
    """The figures of Table 6.7, of a combined tree those of Table 6.8."""
    from dashboard.decisions.c45.report import TABLE_6_7, TABLE_6_8, c45_table

    others = {name: value for name, value in options.items() if name not in ("min_cases", "confidence")}
    return c45_table(problem, TABLE_6_8 if problem.categories else TABLE_6_7, **others).reset_index(names="setting")


def _show_sweep(args: argparse.Namespace, task: Task, frame: pd.DataFrame) -> None:
    columns = [str(column) for column in frame.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in cli_text.frame_rows(frame)]
    result = {"collective": task.problem.collective, "tree": args.tree, "sweep": args.sweep, "rows": rows}
    show(args, result, lambda: cli_text.frame_table(frame))


def _decision_lines(args: argparse.Namespace, result: Mapping[str, Any], decision: DecisionFunction) -> list[str]:
    from dashboard.decisions.families import FAMILIES
    from dashboard.export import ExportError, source_lines

    try:
        in_c = source_lines(decision)
    except ExportError:
        in_c = None
    options = cli_trees.words_of(decision.options, FAMILIES[args.tree])
    lines = cli_text.decision_text(result, options.replace(",", ", ").replace("=", " "), in_c)
    if args.draw or (args.draw is None and decision.leaves <= _DRAWN_LEAVES):
        drawn = decision.simplified().to_text().splitlines()
        return [*lines, "", "with equal branches merged:", *map(cli_text.one_line, drawn)]
    if args.draw is None:
        lines += ["", "--draw draws the tree"]
    return lines
