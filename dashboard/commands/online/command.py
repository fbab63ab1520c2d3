"""``colltune online``: tuning by what users' programs call anyway, and its simulation."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.load import cubes_of, load
from dashboard.commands.online import folder as cli_online_folder
from dashboard.commands.online import profile as cli_online_profile
from dashboard.commands.output import show, working
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_share
from dashboard.online.scenario import read
from dashboard.online.settings import Learning
from dashboard.online.simulation import Judged, Keep, simulate
from dashboard.online.table import AlgTable
from dashboard.online.writing import write_trace

_MOST_ITERATIONS = 1000


def online(args: argparse.Namespace) -> None:
    """Run the subcommand of ``online`` that was called."""
    {"simulate": _simulate, **cli_online_folder.COMMANDS, **cli_online_profile.COMMANDS}[args.online_command](args)


def _simulate(args: argparse.Namespace) -> None:
    if args.iterations > _MOST_ITERATIONS:
        raise Usage(f"--iterations {args.iterations}: at most {_MOST_ITERATIONS}")
    cubes = None
    if args.results:
        args.paths = args.results
        results = load(args)
        cubes = cubes_of(args, args.collective or list(results.children), results)
    scenario = read(args.scenario, cubes)
    if args.results and not scenario.in_sample:
        raise Usage(f"--results: scenario {scenario.name} brings its own times; they are for one that replays (replay)")
    if args.results is None and args.collective and (unknown := [*set(args.collective) - {*scenario.table.methods}]):
        there = ", ".join(scenario.table.methods)
        raise Usage(f"-c {unknown[0]}: scenario {scenario.name} has {there}; of results (--results) they are chosen")
    given = {**scenario.learning.to_dict(), **cli_trees.chosen(args)}
    scenario = replace(scenario, learning=Learning.of(given))
    judged: list[Judged] = []
    with working() as progress:
        for each in simulate(scenario, args.seed, args.iterations, _kept(args, scenario.table)):
            judged.append(each)
            progress(len(judged) / args.iterations, f"iteration {len(judged)}")
    result = {
        "scenario": scenario.name,
        "seed": args.seed,
        "in_sample": scenario.in_sample,
        "logic": scenario.logic,
        "metric": scenario.metric,
        "learning": scenario.learning.to_dict(),
        "methods": {name: [m.label for m in methods] for name, methods in scenario.table.methods.items()},
        "iterations": [each.to_dict() for each in judged],
    }
    show(args, result, lambda: _simulated_lines(result["iterations"], in_sample=scenario.in_sample))


def _kept(args: argparse.Namespace, table: AlgTable) -> Keep | None:
    """What writes each run's timings as a trace, where that is asked for."""
    if args.traces is None:
        return None
    folder = Path(args.traces)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = any(folder.glob(f"s{args.seed}-*"))
    except OSError as error:
        raise Usage(f"--traces {folder}: {error.strerror or error}") from None
    if there:
        raise Usage(f"--traces {folder}: holds traces of seed {args.seed} already; name another folder or --seed")
    return lambda iteration, run, timings: write_trace(folder, f"s{args.seed}-i{iteration}-r{run}", timings, table)


def _simulated_lines(iterations: Sequence[Mapping[str, Any]], *, in_sample: bool) -> list[str]:
    names = ["tuned_over_best", "tuned_mean", "default_over_best", "tuning_over_best", "calibration"]
    names.append("best_probability")
    head = ["iteration", "timings", "tuned/best", "mean call", "default/best", "tuning/best", "predicted off by"]
    head.append("P(best)")
    rows = [
        [each["iteration"], each["samples"], *("" if each[n] is None else f"{each[n]:.3f}" for n in names)]
        for each in iterations
    ]
    sizes = "the very calls that runs learn from, in sample" if in_sample else "other calls than runs learn from"
    notes = [f"simulated; tuned/best, mean call, default/best, predicted off by and P(best) are of {sizes}"]
    if most := max(each["unknown"] for each in iterations):
        notes.append(
            f"up to {format_share(most)} of these calls are left to the library, of which nobody knows what it takes: "
            "they are not in tuned/best; in runs they take what any method takes in the mean"
        )
    return [*cli_text.table(head, rows, range(len(head))), *notes]
