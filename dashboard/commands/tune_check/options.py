"""The options of ``colltune tune-check``."""

import argparse
from dataclasses import replace
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.commands.bench import options as bench_options
from dashboard.domain.campaign import BY_NAME
from dashboard.session.treatment import OPTIONS

_FOLDER = "tune-check"
#: Of each of two methods that cannot be measured in one job.
LAUNCHES = 3
#: Options of a campaign that it has, and what differs of them here.
_MEASURED: dict[str, dict[str, Any]] = {
    "ranks": {"unlimited": "as measured, else those of the allocation or the cores"},
    "comm_sizes": {},
    "message_sizes": {},
    "datatype": {},
    "memory": {},
    "launches": {"help": f"All is measured so often, ranks anew; {LAUNCHES} where each of both needs its own."},
    "seed": {},
}
_EPILOG = (
    "Both are measured in turns in one job; MPICH's, and Open MPI's across nodes, in launches of their own. An "
    "improvement of 50 % means half the time; a difference counts where it is beyond noise "
    "(Yuen's test of the logarithms, corrected for the number of cells, of rules: for theirs)."
)


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``tune-check`` to the subcommands of ``colltune``."""
    about = "Measure rules against the library's own decision; point out, or drop, those that are slower."
    parser = cli_arguments.command(commands, "tune-check", about, common, epilog=_EPILOG)
    parser.add_argument("rules", nargs="?", metavar="RULESFILE", help="a rules file or a saved decision function")
    cli_arguments.collectives(parser)
    parser.add_argument("--for", dest="version", metavar="V", help="version of Open MPI (default: the installed one's)")
    where = parser.add_argument_group("where")
    parser.add_argument("--han", metavar="FILE", help="HAN's rules that belong to the rules file (Open MPI, nodes)")
    where.add_argument("--folder", default=_FOLDER, help=f"campaign, resumed if it is there (default {_FOLDER})")
    where.add_argument(
        "--results",
        nargs="+",
        metavar="FILE",
        help="measure nothing: judge by these results, which have the methods 'default' and 'tuned'",
    )
    _measuring(parser)
    judged = parser.add_argument_group("how it is judged")
    judged.add_argument(
        "--level", type=cli_values.level, default=0.05, metavar="LEVEL", help="level of the tests (default 0.05)"
    )
    judged.add_argument(
        "--decided",
        nargs="+",
        metavar="FILE",
        help="results that the rules were decided from: tell cell by cell whether they gain as much in use",
    )
    judged.add_argument(
        "--drop-slower",
        action="store_true",
        help="write the rules without those that are slower, and without the cells at which they are (-o), then prove "
        "what is left and, where anything was left out, measure it once more",
    )
    judged.add_argument("-o", "--output", metavar="FILE", help="rules file to write with --drop-slower")
    cli_arguments.beyond(judged)
    cli_trees.add_option(judged, next(option for option in OPTIONS if option.name == "keep_doubtful"))
    cli_arguments.json(parser)


def _measuring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is measured", "grids of sizes as for 'colltune bench run'")
    for name, otherwise in _MEASURED.items():
        cli_trees.add_option(group, replace(BY_NAME[name], **otherwise))
    bench_options.protocol_options(parser)
    parser.add_argument(
        "--time-limit",
        type=cli_values.seconds,
        metavar="TIME",
        help=f"end the job after it (default: {bench_options.USUAL_LIMIT})",
    )
    cli_arguments.starting(parser)
