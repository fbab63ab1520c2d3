"""``colltune orthogonal run``: applications whose collectives are the original ones or run in phases over a grid."""

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dashboard.benchmarks.applications.order import JACOBI, VARIANTS, Order
from dashboard.benchmarks.applications.run import run as run_order
from dashboard.benchmarks.libraries.library import at
from dashboard.commands import launching as cli_launching
from dashboard.commands import text as cli_text
from dashboard.commands.output import say, show, working
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count
from dashboard.models.applications import answer_of, beyond, gain, phase_times, predicted
from dashboard.models.errors import ModelError
from dashboard.models.fitted_runtime import unfitted_note
from dashboard.models.grids import PHASED
from dashboard.models.placement import nodes_recorded, shares
from dashboard.models.published import Runtime
from dashboard.schedules.layout import Grid
from loaders import disk
from loaders.collectives import COLLECTIVES

#: Options that are as in an order, where they were given.
_NAMED = ("stages", "iterations", "steps", "step_size", "tolerance", "repetitions", "seed")


def run(args: argparse.Namespace, runtime: Callable[[str, str], Runtime]) -> None:
    """Run it and print times, gains and whether all computed the same; `runtime` of a collective and a method."""
    output = Path(args.output) if args.output else None
    if output is not None and not output.resolve().parent.is_dir():
        raise Usage(f"-o {output}: there is no such folder")
    orders = [_order(args, size) for size in args.sizes]
    installation = at(args.mpiexec)
    launcher = cli_launching.launcher_of(args, installation)
    answers = []
    for order in orders:
        with working() as progress:
            answers.append(run_order(order, installation, launcher, seconds=args.time_limit, progress=progress))
        _compare(answers[-1], _predictions(args, answers[-1], runtime))
        if output is not None:
            disk.write_text(output, json.dumps(answer_of(answers), indent=1) + "\n")
    show(args, answer_of(answers), lambda: [line for answer in answers for line in _lines(answer)])
    if not all(_same(way) for answer in answers for way in answer["ways"]):
        raise Usage("not all ways computed what one process computes alone")


def _order(args: argparse.Namespace, size: int) -> Order:
    given: dict[str, Any] = {name: value for name in _NAMED if (value := getattr(args, name)) is not None}
    if args.application == JACOBI:
        given.setdefault("steps", 1000)
    if args.problem:
        given["system"] = args.problem
    if args.ways:
        given["ways"] = tuple(args.ways)
    variant = args.variant or VARIANTS.get(args.application, ("",))[0]
    given["inner"] = _by_collective(args.inner, tuple(COLLECTIVES))
    return Order(args.application, variant, args.processes, size, **given)


def _by_collective(words: Sequence[str], collectives: Sequence[str]) -> dict[str, str]:
    """What is given by collective; under the empty name what is for all."""
    given = {}
    for word in words:
        name, equals, value = word.partition("=")
        given.update({name: value} if equals and name in collectives else {"": word})
    return given


def _predictions(
    args: argparse.Namespace, answer: Mapping[str, Any], runtime: Callable[[str, str], Runtime]
) -> Iterator[float | None]:
    """Seconds of a step of each way; None without a machine, or where it is not known."""
    methods = _by_collective(args.method, PHASED)
    alone = answer["alone"]["seconds"] / answer["alone"]["steps"]

    @cache
    def of(collective: str) -> Runtime:
        return runtime(collective, methods.get(collective, methods.get("", "default")))

    for way in answer["ways"]:
        if args.machine is None:
            yield None
            continue
        what = answer["order"], way["way"], way["grid"], of
        try:
            if words := beyond(*what):
                way["unfitted"] = words
                say(f"note: {way['way']}: {unfitted_note(words)}")
            yield predicted(*what, alone)
        except ModelError as error:
            say(f"note: {way['way']} is not predicted: {error}")
            yield None


def _compare(answer: Mapping[str, Any], predictions: Iterator[float | None]) -> None:
    """Add to each way seconds of a step, measured and predicted, its gain, and the pairs of its grid on one node."""
    first = answer["ways"][0]
    nodes = nodes_recorded(answer["rank_nodes"], answer["order"]["processes"])
    for way, prediction in zip(answer["ways"], predictions, strict=True):
        # The mean that gains are of.
        step = statistics.geometric_mean(way["seconds"]) / max(way["steps"], 1)
        way["step"] = step
        if way["grid"] and nodes:
            way["within_nodes"] = shares(Grid.of(way["grid"]), nodes)
        if prediction is not None:
            way |= {"predicted": prediction, "deviation": 100 * (step - prediction) / step}
        if way is not first:
            figures = gain(first["seconds"], way["seconds"])._asdict()
            way["gain"] = {name: None if math.isnan(value) else value for name, value in figures.items()}


def _same(way: Mapping[str, Any]) -> bool:
    """Whether every iterate is that of one process, to rounding."""
    return way["difference"] is not None and way["difference"] < 1e-9


def _lines(answer: Mapping[str, Any]) -> list[str]:
    order, alone = answer["order"], answer["alone"]
    ways = answer["ways"]
    processes = format_count(order["processes"], "process", "processes")
    head = f"{order['application']} {order['variant']}, {format_count(order['size'], 'unknown')}, {processes} on "
    head += f"{format_count(answer['nodes'], 'node')}; {format_count(ways[0]['steps'], 'step')}, "
    head += f"{format_count(len(ways[0]['seconds']), 'turn')}; "
    head += f"one process alone {cli_text.time(alone['seconds'] / alone['steps'])} a step"
    rows = []
    for way in ways:
        figures = way.get("gain") or {}
        ends = [figures.get(name) for name in ("low", "high")]
        between = f"{ends[0]:.1f} to {ends[1]:.1f}" if None not in ends and figures else ""
        rows.append(
            [
                way["way"] + (f" {way['grid']}" if way["grid"] not in ("", way["way"]) else ""),
                cli_text.time(way["step"]),
                f"{figures['mean']:.1f}" if figures else "",
                between,
                cli_text.time(way["predicted"]) if "predicted" in way else "",
                "no" if not _same(way) else f"{way['difference']:.0e}",
            ]
        )
    columns = ["way", "a step, geometric mean", "gain (%)", "95 %", "predicted", "differs by"]
    lines = [head, *cli_text.table(columns, rows, (1, 2, 3, 4, 5)), ""]
    shares = [[way["way"], name, cli_text.time(each)] for way in ways for name, each in phase_times(way).items()]
    return [*lines, *cli_text.table(["way", "phase", "mean of ranks, a step"], shares, (2,))]
