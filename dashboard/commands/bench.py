"""``colltune bench``: plan a measurement campaign, run it, look how far it is, cancel and resume it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import values as cli_values
from dashboard.commands.output import Working, say, show
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.benchmarks.campaign import Campaign
    from dashboard.benchmarks.launch import LocalLauncher
    from dashboard.benchmarks.library import Installation
    from dashboard.benchmarks.plan import Plan

_GRID = "2-16 (all), 1-1MiB:x4 (times 4), 2-64:+2 (steps), 8-1MiB:9 (log-spaced) or a list of these"
_WATCH_S = 0.25
_DEFAULT_SIZES = "4-1MiB:x4"
#: Options that make a plan: all None when not given, so that a plan that is there is taken as it is.
_PLANNING = (
    "ranks",
    "collectives",
    "comm_sizes",
    "message_sizes",
    "ppn",
    "algorithms",
    "segment_sizes",
    "fan_outs",
    "radixes",
    "protocol",
    "repetitions",
    "relative_error",
    "rounds",
    "iterations",
    "point_seconds",
    "buffers",
    "roots",
    "datatype",
    "memory",
    "no_graphs",
    "seed",
)


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its orders to the subcommands of ``colltune``."""
    about = "Measure every algorithm of the installed MPI in one job."
    bench = commands.add_parser("bench", help=about, description=about)
    orders = bench.add_subparsers(dest="order", metavar="ORDER", required=True)
    told = {
        "plan": "Say what would be measured and how long it takes; write it into FOLDER.",
        "run": "Measure, by the plan in FOLDER or by one made of the options.",
        "resume": "Measure what is missing in FOLDER, nothing twice.",
        "status": "Say how far the campaign in FOLDER is.",
        "cancel": "End the running campaign in FOLDER with all its ranks; what was measured stays.",
    }
    for name, summary in told.items():
        order = orders.add_parser(name, help=summary, description=summary, parents=[common])
        order.add_argument("folder", metavar="FOLDER", help="the campaign's folder")
        order.add_argument("--json", action="store_true", help="machine-readable output")
        if name in ("plan", "run"):
            _plan_options(order)
            _protocol_options(order)
        if name in ("run", "resume"):
            _run_options(order)
        if name == "status":
            order.add_argument("--log", type=cli_values.count, metavar="N", help="show the last N lines of its log")


def _plan_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is measured", f"grids of sizes: {_GRID}")
    group.add_argument("--ranks", type=cli_values.count, metavar="N", help="processes to launch (default: the cores)")
    group.add_argument(
        "-c",
        "--collective",
        dest="collectives",
        action="append",
        metavar="NAME[,NAME…]",
        help="collectives (default: all that can be measured)",
    )
    group.add_argument("--comm-sizes", metavar="GRID", help="communicator sizes (default: powers of two up to ranks)")
    group.add_argument("--message-sizes", metavar="GRID", help=f"bytes (default {_DEFAULT_SIZES})")
    group.add_argument("--ppn", metavar="GRID", help="processes per node (default: as the launcher places them)")
    group.add_argument("--algorithms", metavar="NAME[,NAME…]", help="only these; 'default' is the library's decision")
    group.add_argument("--segment-sizes", metavar="GRID", help="0 = none (default 0,1KiB,8KiB,64KiB)")
    group.add_argument("--fan-outs", metavar="GRID", help="of trees and chains (default 4)")
    group.add_argument("--radixes", metavar="GRID", help="of k-nomial trees (default 4)")
    group.add_argument("--datatype", metavar="NAME", help="of reductions: uint8, int32, float32 (default), float64")
    group.add_argument("--memory", metavar="SIZE", help="buffers of one process at most (default 256MiB)")
    group.add_argument("--no-graphs", action="store_true", default=None, help="do not record who sent what to whom")
    group.add_argument("--seed", type=cli_values.count, metavar="N", help="of the order of methods (default 1)")


def _protocol_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it is measured")
    group.add_argument(
        "--protocol", metavar="NAME", help="skampi: common start (default); occ: loop with barrier, less the barrier"
    )
    group.add_argument("--repetitions", metavar="MIN-MAX", help="of each point (default 9-60)")
    group.add_argument(
        "--relative-error", type=float, metavar="SHARE", help="repeat until the standard error is so small (0.05)"
    )
    group.add_argument("--rounds", type=cli_values.count, metavar="N", help="turns of the methods (default 3)")
    group.add_argument("--iterations", type=cli_values.count, metavar="N", help="operations in a loop of occ (10)")
    group.add_argument("--point-seconds", type=float, metavar="S", help="longest time for one point (default 5)")
    group.add_argument("--buffers", metavar="HOW", help="reuse (default) or rotate beyond the caches")
    group.add_argument("--roots", metavar="HOW", help="first (default) or rotate")


def _run_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it is run")
    group.add_argument(
        "--time-limit", type=float, metavar="S", help="the job is ended then (default: 5 times the estimate)"
    )
    group.add_argument("--detach", action="store_true", help="return at once; see bench status")


def bench(args: argparse.Namespace) -> None:
    """Run the order that was given."""
    orders = {"plan": _plan, "run": _run, "resume": _run, "status": _status, "cancel": _cancel}
    with _usage():
        orders[args.order](args)


@contextmanager
def _usage() -> Iterator[None]:
    """Turn what the user can set right into the command's one clear line."""
    from dashboard.benchmarks.errors import BenchError

    try:
        yield
    except BenchError as error:
        raise Usage(str(error)) from error


def _plan(args: argparse.Namespace) -> None:
    from dashboard.benchmarks.campaign import Campaign

    plan = _planned(args, _installation())
    _offer(args, Campaign.create(Path(args.folder), plan), plan)


def _offer(args: argparse.Namespace, campaign: Campaign, plan: Plan) -> None:
    estimate = plan.estimate(campaign.done().all, os.cpu_count())
    answer = {
        "folder": str(campaign.folder),
        "library": plan.library,
        "library_version": plan.library_version,
        "ranks": plan.ranks,
        "methods": {name: len(methods) for name, methods in plan.methods.items()},
        "cells": len(plan.cells()),
        "points": estimate.points,
        "seconds": round(estimate.seconds, 1),
        "at_most": round(estimate.at_most, 1),
        "core_hours": round(estimate.core_hours, 4),
        "left_out": plan.left_out(),
    }
    show(args, answer, lambda: _offer_lines(answer))


def _offer_lines(answer: Mapping[str, Any]) -> list[str]:
    methods = ", ".join(f"{name} {count}" for name, count in answer["methods"].items())
    what = f"{answer['folder']}: {answer['points']} points in {answer['cells']} cells"
    times = f"{_duration(answer['seconds'])}, at most {_duration(answer['at_most'])}"
    lines = [
        f"{what}, {answer['ranks']} ranks, {answer['library']} {answer['library_version']}",
        f"methods: {methods}",
        f"estimated {times}; {answer['core_hours']:.3g} core-hours",
    ]
    return lines + [f"left out: {count} cells, {why}" for why, count in answer["left_out"].items()]


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _run(args: argparse.Namespace) -> None:
    from dashboard.benchmarks import control
    from dashboard.benchmarks.campaign import Campaign

    if args.time_limit is not None and not args.time_limit > 0:
        raise Usage(f"--time-limit {args.time_limit:g}: allowed are seconds above 0")
    installation = _installation()
    campaign = Campaign(Path(args.folder))
    given = [name for name in _PLANNING if getattr(args, name, None) is not None]
    if args.order == "run" and (given or not campaign.plan_file.exists()):
        campaign = Campaign.create(Path(args.folder), _planned(args, installation))
    plan = campaign.plan()
    done = campaign.done().all
    limit = args.time_limit or control.limit_of(plan, done, os.cpu_count())
    estimate = plan.estimate(done, os.cpu_count())
    say(
        f"{estimate.points} points, estimated {_duration(estimate.seconds)}, {estimate.core_hours:.3g} core-hours; "
        f"time limit {_duration(limit)}"
    )
    launcher = _launcher(installation)
    now = control.start(campaign, launcher, installation, limit)
    if not args.detach:
        now = _watched(campaign, launcher)
    show(args, now, lambda: _status_lines(campaign, now))
    if now["state"] not in ("queued", "running", "finished"):
        raise Usage(f"{campaign.folder}: {now['state']}: {now['reason']} (colltune bench resume {campaign.folder})")


def _watched(campaign: Campaign, launcher: LocalLauncher) -> dict[str, Any]:
    """Wait for the end, with a line that says how far it is; an interrupt cancels."""
    from dashboard.benchmarks import control

    try:
        with Working() as progress:

            def tell(now: Mapping[str, Any]) -> None:
                if progress is not None:
                    done = now["measured"] + now["refused"]
                    left = "" if now["remaining"] is None else f", {_duration(now['remaining'])} left"
                    progress(done / max(1, now["points"]), f"{done} of {now['points']} points{left}: {now['now']}")

            return control.wait(campaign, launcher, _WATCH_S, tell)
    except KeyboardInterrupt:
        control.cancel(campaign, launcher)
        raise


def _status(args: argparse.Namespace) -> None:
    from dashboard.benchmarks import control
    from dashboard.benchmarks.campaign import Campaign
    from dashboard.benchmarks.launch import LocalLauncher

    campaign = Campaign(Path(args.folder))
    now = control.status(campaign, LocalLauncher())
    if args.log:
        now["log"] = campaign.tail(args.log)
    show(args, now, lambda: _status_lines(campaign, now))


def _status_lines(campaign: Campaign, now: Mapping[str, Any]) -> list[str]:
    reason = f" ({now['reason']})" if now["reason"] else ""
    left = "" if now["remaining"] is None else f", {_duration(now['remaining'])} left"
    lines = [
        f"{campaign.folder}: {now['state']}{reason}",
        f"{now['measured']} of {now['points']} points measured, {now['refused']} refused or wrong{left}",
    ]
    if now["measured"]:
        lines.append(f"results: {campaign.results}")
    return lines + list(now.get("log", []))


def _cancel(args: argparse.Namespace) -> None:
    from dashboard.benchmarks import control
    from dashboard.benchmarks.campaign import Campaign
    from dashboard.benchmarks.launch import LocalLauncher

    campaign = Campaign(Path(args.folder))
    now = control.cancel(campaign, LocalLauncher())
    show(args, now, lambda: _status_lines(campaign, now))


def _installation() -> Installation:
    from dashboard.benchmarks.library import find
    from dashboard.benchmarks.methods import Fixed

    found = find()
    if isinstance(found.library, Fixed):
        say(f"note: {found.library.why}")
    return found


def _launcher(installation: Installation) -> LocalLauncher:
    from dashboard.benchmarks.launch import LocalLauncher

    return LocalLauncher((str(installation.mpiexec),))


def _planned(args: argparse.Namespace, installation: Installation) -> Plan:
    """The plan of the options."""
    from dashboard.benchmarks.control import Wish, make_plan
    from dashboard.benchmarks.methods import COLLECTIVES, Variants
    from dashboard.benchmarks.plan import Protocol
    from dashboard.benchmarks.ranges import parse_size, parse_sizes

    ranks = args.ranks or max(2, os.cpu_count() or 2)
    sizes = {name: parse_sizes(text) for name in _VARIANTS if (text := getattr(args, name)) is not None}
    further = {name: getattr(args, name) for name in ("datatype", "seed") if getattr(args, name) is not None}
    if args.memory is not None:
        further["memory"] = parse_size(args.memory)
    wish = Wish(
        ranks=ranks,
        collectives=_names(args.collectives) or COLLECTIVES,
        comm_sizes=parse_sizes(args.comm_sizes or f"2-{max(2, ranks)}:x2"),
        message_sizes=parse_sizes(args.message_sizes or _DEFAULT_SIZES),
        algorithms=_names([args.algorithms] if args.algorithms else None),
        ppns=parse_sizes(args.ppn) if args.ppn else (),
        variants=Variants(**sizes),
        protocol=Protocol(**_protocol(args)),
        graphs=not args.no_graphs,
        **further,
    )
    return make_plan(wish, installation)


_VARIANTS = ("segment_sizes", "fan_outs", "radixes")


def _protocol(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the protocol that were given."""
    from dashboard.benchmarks.ranges import parse_sizes

    names = {"protocol": "name", "point_seconds": "seconds"}
    given: dict[str, Any] = {}
    for option in ("protocol", "relative_error", "rounds", "iterations", "point_seconds", "buffers", "roots"):
        if (value := getattr(args, option)) is not None:
            given[names.get(option, option)] = value
    if args.repetitions is not None:
        ends = parse_sizes(args.repetitions)
        given |= {"min_repetitions": ends[0], "max_repetitions": ends[-1]}
    return given


def _names(given: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for text in given or [] for name in text.split(",") if name.strip()))
