"""The options of ``colltune bench``."""

import argparse
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import values as cli_values
from dashboard.commands.trees import add_option
from dashboard.domain.adaptive import BUDGET, UNTIL
from dashboard.domain.campaign import GRIDS, HOW, WHAT
from dashboard.domain.jobs import SLURM

#: Points that are advised at most where nobody says how many.
POINTS = 200
#: Time limit of a job, for people (`dashboard.benchmarks.campaigns.limits.limit_of`).
USUAL_LIMIT = "5 x the estimate, 15 x where it is a guess about a cluster, 2min at least"
_REFINED = (
    "Of results from anywhere, say what to measure next: times that cannot be trusted again, then the points that can "
    "still change the decision."
)
_PARAMETERS = "Measure gaps and overheads of messages and local operations: the table that 'model parameters' takes."


def add_parser(commands: Any, common: argparse.ArgumentParser, hints: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its orders to the subcommands of ``colltune``."""
    about = "Measure every algorithm of the installed MPI in one job."
    bench = cli_arguments.command(commands, "bench", about)
    orders = bench.add_subparsers(dest="order", metavar="ORDER", required=True)
    summaries = {
        "plan": "Say what would be measured and how long it takes; write it into FOLDER.",
        "run": "Measure where --launch says, by the plan in FOLDER or by one made of the options.",
        "submit": "Measure on a Slurm cluster, by the plan in FOLDER or by one made of the options.",
        "resume": "Measure what is missing in FOLDER, nothing twice, where it was started.",
        "status": "Say how far the campaign in FOLDER is.",
        "cancel": "End the running campaign in FOLDER with all its ranks; what was measured stays.",
    }
    for name, summary in summaries.items():
        order = cli_arguments.command(orders, name, summary, common)
        order.add_argument("folder", metavar="FOLDER", help="the campaign's folder")
        cli_arguments.json(order)
        if name in ("plan", "run", "submit"):
            plan_options(order)
            protocol_options(order)
        if name in ("plan", "run"):
            cli_arguments.starting(order, each_node=False)
        if name == "submit":
            slurm_options(order)
        if name in ("run", "submit", "resume"):
            _run_options(order, name)
        if name == "status":
            order.add_argument("--log", type=cli_values.count, metavar="N", help="show the last N lines of its log")
            order.add_argument("--follow", action="store_true", help="report every change of its state until it ends")
    _refine(orders, common, hints)
    _parameters(orders, common)


def _run_options(parser: argparse.ArgumentParser, order: str) -> None:
    group = parser.add_argument_group("how it is run")
    group.add_argument(
        "--time-limit",
        type=cli_values.seconds,
        metavar="TIME",
        help=f"end the job after so long: 90 (seconds), 30min or 2h (default: {USUAL_LIMIT}, and what the safety "
        "check may take)",
    )
    if order != "submit":
        group.add_argument("--detach", action="store_true", help="return at once; see bench status")
    if order != "run":
        group.add_argument("--follow", action="store_true", help="watch the submitted jobs until they end")


def plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is measured."""
    group = parser.add_argument_group("what is measured", f"grids of sizes: {GRIDS}")
    for option in WHAT:
        add_option(group, option)
    group.add_argument(
        "--weights", metavar="FILE", help="with --adaptive: table of collective, comm_size, message_size, calls"
    )


def protocol_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how it is measured."""
    group = parser.add_argument_group("how it is measured")
    for option in HOW:
        add_option(group, option)


def slurm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is asked of Slurm."""
    group = parser.add_argument_group("what is asked of Slurm")
    for option in SLURM:
        add_option(group, option)
    group.add_argument(
        "--library",
        metavar="NAME-VERSION",
        help="plan for this library, such as openmpi-5.0 (default: the installed one; where none is, that of --module)",
    )
    cli_arguments.site(group)
    group.add_argument("--dry-run", action="store_true", help="print the batch script, submit nothing")


def _refine(orders: Any, common: argparse.ArgumentParser, hints: argparse.ArgumentParser) -> None:
    parser = cli_arguments.command(orders, "refine", _REFINED, hints, common)
    cli_arguments.results(parser, metavar="RESULTS")
    cli_arguments.collectives(parser)
    cli_arguments.ppn(parser)
    cli_arguments.json(parser)
    group = parser.add_argument_group("what may be measured")
    further = "further ones (default: one between each two neighbours)"
    group.add_argument("--comm-sizes", metavar="GRID", help=f"communicator sizes: {further}")
    group.add_argument("--message-sizes", metavar="GRID", help=f"bytes: {further}")
    group.add_argument("--points", type=cli_values.count, metavar="N", help=f"at most so many (default {POINTS})")
    add_option(group, BUDGET)
    add_option(group, UNTIL)
    group = parser.add_argument_group("plan")
    group.add_argument("-o", "--output", metavar="FOLDER", help="write a plan of these points, for 'bench run FOLDER'")
    group.add_argument("--ranks", type=cli_values.count, metavar="N", help="ranks (default: the largest size)")


def _parameters(orders: Any, common: argparse.ArgumentParser) -> None:
    parser = cli_arguments.command(orders, "parameters", _PARAMETERS, common)
    cli_arguments.json(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.csv", help="the table to write")
    parser.add_argument("--sizes", metavar="GRID", help="bytes (default 0,1-1MiB:x2)")
    parser.add_argument("--repetitions", type=cli_values.count, metavar="N", help="round trips per round (100)")
    parser.add_argument("--rounds", type=cli_values.count, metavar="N", help="rounds; the quietest counts (3)")
    parser.add_argument(
        "--ranks", type=cli_values.count, metavar="N", help="ranks; 0 talks to the first on another node (2)"
    )
    cli_arguments.starting(parser)
    parser.add_argument(
        "--time-limit", type=cli_values.seconds, metavar="TIME", help="end the job after this time (default 10min)"
    )
