"""The options of ``colltune methods``."""

import argparse
from collections.abc import Callable
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import values as cli_values
from dashboard.domain.campaign import ORTHOGONAL, OWN

#: Those whose methods are schedules that can be shown without MPI.
PROVIDERS = (OWN, ORTHOGONAL)
_REPETITIONS, _SECONDS = 21, 120.0


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``methods`` to the subcommands of ``colltune``."""
    about = "Own methods: list them, show who sends what to whom in which step, and verify them."
    add = cli_arguments.Subcommands(cli_arguments.command(commands, "methods", about), [common]).add
    listing = add("list", "List methods with their parameters and the values of interest.")
    listing.add_argument("-c", "--collective", metavar="C", help="only this collective")
    listing.add_argument("--provider", choices=PROVIDERS, help="only this provider")
    schedule = add("schedule", "Show the operations of every rank, and how many messages and bytes they send.")
    _add_schedule(schedule)
    schedule.add_argument(
        "--parameters",
        dest="network",
        metavar="SET",
        help="also simulate how long it takes with these parameters: a machine of 'model list', or a file",
    )
    draw = add("draw", "Draw who sends to whom in which step, or what each rank holds after each step.")
    _add_schedule(draw)
    draw.add_argument("--movement", action="store_true", help="what each rank holds after each step")
    draw.add_argument("-o", "--output", metavar="FILE.svg", help="picture to write (default: as text)")
    _trace(add)
    verify = add(
        "verify",
        "Run methods and compare every buffer with what the collective promises.",
        epilog="Exit status: 0 all cases are right, 3 one is not or none ran what was asked for, 2 bad usage or input.",
    )
    cli_arguments.collectives(verify)
    verify.add_argument("--algorithm", metavar="NAME", help="only this one")
    verify.add_argument(
        "--processes",
        metavar="GRID",
        help="numbers of processes, such as 1-17,23 (default without MPI) or 2-5,8 (default)",
    )
    verify.add_argument("--without-mpi", action="store_true", help="run all ranks in this process, in random orders")
    verify.add_argument(
        "--cases",
        type=cli_values.count,
        metavar="N",
        help="over MPI: most cases of each algorithm with each number of processes (default 24)",
    )
    verify.add_argument(
        "--rendezvous",
        action="store_true",
        help="over Open MPI: let only messages below 80 bytes be sent ahead of their receive",
    )
    verify.add_argument(
        "--time-limit", type=cli_values.seconds, default=600.0, metavar="TIME", help="limit of the ranks (10min)"
    )


def _add_schedule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--collective", required=True, help="such as bcast")
    parser.add_argument("--algorithm", required=True, metavar="NAME", help="such as pipeline")
    parser.add_argument("--processes", required=True, type=cli_values.count, metavar="P", help="number of processes")
    parser.add_argument("--root", type=int, default=0, metavar="R", help="rank of the root (default 0)")
    size = {"metavar": "BYTES", "type": cli_values.size}
    add: Any = parser.add_argument
    about = "of the vector, or of each rank's block, such as 8192 or 8KiB (default: as few as show the messages)"
    add("--bytes", default=None, help=about, **size)
    add("--element-size", default=1, help="bytes of an element (default 1)", **size)
    add("--segment-size", default=None, help="such as 1024 or 1KiB; 0 = no segments (default)", **size)
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another parameter of the algorithm ('colltune methods list' names them); may be given again",
    )
    parser.add_argument("--in-place", action="store_true", help="input and output are one buffer (MPI_IN_PLACE)")
    parser.add_argument("--not-commutative", action="store_true", help="the operation does not commute")
    parser.add_argument("--fallback", action="store_true", help="use its fallback where the algorithm cannot run")


def _trace(add: Callable[..., Any]) -> None:
    parser = add("trace", "Run a method on the installed MPI, and write down when each rank ran each operation.")
    _add_schedule(parser)
    options: Any = parser.add_argument
    options("--executor", choices=("native", "mpi4py"), help="what runs it (default: native where there is an mpicc)")
    options(
        "--repetitions",
        type=cli_values.count,
        default=_REPETITIONS,
        metavar="N",
        help=f"runs, of which that of median duration is written down (default {_REPETITIONS})",
    )
    options(
        "--time-limit",
        type=cli_values.seconds,
        default=_SECONDS,
        metavar="TIME",
        help=f"limit of the ranks (default {_SECONDS:g} s)",
    )
    options("-o", "--output", metavar="FILE.json", help="trace to write, for the tab Schedule of the page Models")
