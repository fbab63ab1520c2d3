"""The options of commands that have to do with an MPI library, and of those that show the pages."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.commands.bench import options as bench_options
from dashboard.domain.tuning import OPTIONS
from dashboard.domain.written import BASE, BLOCKS, SECTION, VERSION
from dashboard.export.rules import TRANSLATED
from loaders.openmpi import DEFAULT_VERSION

#: Forms of a proof, by how the name of its file ends.
WRITTEN_AS = (".txt", ".md", ".json")
_EPILOG = (
    "Sizes are drawn with a fixed seed: uniformly, as for the published tables, log-uniformly, and from the workload "
    "of --weights. The empty call is in all times of C, the loop of the interpreter in those of Python."
)


def lint_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``lint``, all but ``--json`` and those that every command has."""
    parser.add_argument("rules", metavar="RULESFILE", help="rules of Open MPI, MPICH, Intel MPI, UCC or NCCL")
    parser.add_argument("--han", metavar="FILE", help="HAN's rules that belong to it: both are one decision")
    parser.add_argument(
        "--over",
        dest="paths",
        action="extend",
        nargs="+",
        default=[],
        metavar="RESULTS",
        help="show what the rules cost by these measurements",
    )
    parser.add_argument("-c", "--collective", help="judge this collective; measurements need not say theirs")
    cli_arguments.ppn(parser)
    parser.add_argument("--weights", metavar="FILE", help="workload as weights: collective, comm_size, …, calls")
    cli_trees.add_option(parser, replace(VERSION, unlimited="the one that its head names, else 5.0"))


def translate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``translate``."""
    parser.add_argument("rules", metavar="RULESFILE", help=f"rules of {TRANSLATED}")
    parser.add_argument("--to", required=True, metavar="TARGET", help="as for export, such as openmpi or c")
    cli_arguments.collectives(parser)
    cli_trees.add_option(parser, SECTION)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="file to write (default: standard output)")
    more = "Sets of versions 1 and 2 are read as 4.x and 5.x read them; as 6 does, which shifts them, export --tree "
    more += "rules --read-by 6.0 takes them."
    cli_trees.add_option(parser, replace(VERSION, default=DEFAULT_VERSION, help=f"{VERSION.help} {more}"))
    for option in (BLOCKS, BASE):
        cli_trees.add_option(parser, option)
    cli_arguments.name(parser, "the rules")


def prove_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``prove`` to the subcommands of ``colltune``."""
    about = "Run the installed MPI library with a rules file, and show that every region does what the file asks."
    ends = "Exit status: 0 all that could be run did as asked, 3 something did not, 2 bad usage or input."
    parser = cli_arguments.command(commands, "prove", about, common, epilog=ends)
    parser.add_argument("rules", metavar="RULESFILE", help="rules of Open MPI (version 1 or 2) or MPICH (JSON)")
    parser.add_argument("--library", choices=("openmpi", "mpich"), help="refuse to prove it on any other library")
    parser.add_argument("--han", metavar="FILE", help="HAN's rules that belong to it: both are proven as one decision")
    cli_arguments.start_command(parser)
    cli_arguments.collectives(parser)
    parser.add_argument(
        "--ranks", type=cli_values.count, metavar="N", help="largest communicator tried (default: as measured, else 8)"
    )
    parser.add_argument(
        "--memory", default="4MiB", metavar="SIZE", help="most memory for the buffers of one process (default 4MiB)"
    )
    parser.add_argument(
        "--time-limit", type=cli_values.seconds, default=300.0, metavar="TIME", help="longest duration (default 5min)"
    )
    cli_arguments.starting(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help=f"write the report: {', '.join(WRITTEN_AS)}")
    cli_arguments.json(parser)


def check_methods_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``check-methods`` to the subcommands of ``colltune``."""
    about = "Call every method of the installed MPI in every way that programs may, and say which are at fault."
    ends = "Exit status: 0 every method can be chosen, 3 one must not or not all were called, 2 bad usage or input."
    parser = cli_arguments.command(commands, "check-methods", about, common, epilog=ends)
    cli_arguments.collectives(parser)
    parser.add_argument(
        "--algorithm", action="append", default=[], metavar="NAME", help="only this one; may be given several times"
    )
    parser.add_argument(
        "--ranks", default="2-8", metavar="GRID", help="communicator sizes, such as 4 or 2-9 (default 2-8)"
    )
    cli_arguments.start_command(parser)
    parser.add_argument(
        "--hangs",
        type=cli_values.positive,
        default=20.0,
        metavar="S",
        help="a method counts as hanging when no call returns for this many seconds (default 20)",
    )
    parser.add_argument(
        "--time-limit", type=cli_values.seconds, default=600.0, metavar="TIME", help="longest duration (default 10min)"
    )
    cli_arguments.starting(parser)
    parser.add_argument("--program", metavar="NAME", help="print the C program of this name that shows a known fault")
    parser.add_argument("--known", action="store_true", help="list the known faults, and call nothing")
    cli_arguments.json(parser)


def decide_time_parser(commands: Any, parents: Sequence[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add ``decide-time`` to the subcommands; collectives and the options of measurements are still to come."""
    about = "Compile decision functions in every way they can be written, and time one decision of each."
    parser = cli_arguments.command(commands, "decide-time", about, *parents, epilog=_EPILOG)
    cli_arguments.results(parser)
    parser.add_argument(
        "--trees",
        nargs="+",
        action="extend",
        metavar="TREE:OPTION=VALUE,…",
        help='such as "quadtree:max_depth=3" "c45:min_cases=4" (default: quadtrees of depth 1 to 6 and the exact one)',
    )
    ends: dict[str, Any] = {"type": cli_values.sizes, "metavar": "LOW-HIGH"}
    parser.add_argument("--comm-range", help="numbers of processes (default: as measured)", **ends)
    parser.add_argument("--message-range", help="message sizes, such as 1-16MiB (default: as measured)", **ends)
    parser.add_argument(
        "--rounds", type=cli_values.count, default=9, metavar="N", help="take the best of N (default 9)"
    )
    cli_arguments.json(parser)
    parser.set_defaults(combined=False)
    return parser


def tune_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``tune`` to the subcommands of ``colltune``."""
    about = "Tune the installed MPI: measure, decide, export, prove, compare with its own decision, and bundle."
    more = " Called again it goes on where it was, and does only what has changed."
    ends = (
        "Exit status: 0 proven, nothing slower; 3 nothing better than the library's own decision; 4 unsafe or "
        "unproven; 5 too noisy, or too little time, to say; 2 bad usage or input. With --status the same; 0 while it "
        "runs, 2 where it ended before all was done."
    )
    parser = cli_arguments.command(commands, "tune", about, common, more=more, epilog=ends)
    parser.add_argument("folder", metavar="FOLDER", help="folder that keeps all of it")
    cli_arguments.json(parser)
    group = parser.add_argument_group("what is tuned, and how much of it")
    for option in OPTIONS:
        cli_trees.add_option(group, option)
    group.add_argument("--workload", metavar="FILE", help="collective, comm_size, message_size, calls")
    other = parser.add_argument_group("what was tuned before").add_mutually_exclusive_group()
    other.add_argument(
        "--again",
        action="store_true",
        help="check by fresh launches whether the rules still hold, and measure again only where they do not",
    )
    other.add_argument("--status", action="store_true", help="show how far it is and what it came to; run nothing")
    other.add_argument("--compare", metavar="OTHER", help="what the rules of the folder OTHER cost on this one's times")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--here", action="store_true", help="run here, or on all nodes of this allocation (default)")
    where.add_argument("--slurm", action="store_true", help="run as Slurm jobs, with the options below")
    where.add_argument("--launch", metavar="COMMAND", help=cli_arguments.LAUNCH)
    bench_options.slurm_options(parser)


def view_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``view``, all but the hints."""
    parser.add_argument("address", metavar="ADDRESS", help="address of the page, or the part behind its question mark")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="results to evaluate it over (default: those that serve opens)"
    )
    parser.add_argument("--weights", metavar="FILE", help="workload that the address asks for")
    parser.add_argument("--json", action="store_true", help="machine-readable output, as of 'colltune decide'")


def serve_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``serve``, all but the hints."""
    what = "results to open; default: those in $COLLTUNE_DATA, else the sample data"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=what)
    parser.add_argument("--data", action="extend", nargs="+", default=[], metavar="PATH", help="as PATH")
    parser.add_argument("--port", type=cli_values.port, default=5006, help="port (default 5006; 0: any free)")
    parser.add_argument(
        "--num-procs", type=cli_values.processes, default=1, metavar="N", help="processes (1; 0: all cores)"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    parser.add_argument(
        "--campaigns",
        metavar="FOLDER",
        help="where page Measure keeps its campaigns; default: $COLLTUNE_CAMPAIGNS, else a folder of your own",
    )
    group = parser.add_argument_group("who may reach it")
    group.add_argument(
        "--address", default="127.0.0.1", help="default 127.0.0.1, this machine only; others need log-in and origin"
    )
    group.add_argument(
        "--allow-websocket-origin",
        dest="origins",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="name under which browsers reach the page, where it is not this machine's own, such as a proxy's",
    )
    group.add_argument(
        "--basic-auth", metavar="FILE", help='names and passwords, as {"alice": "…"}; only you may be able to read it'
    )
    group.add_argument(
        "--hash-password", action="store_true", help="ask for a password and print the hash for that FILE"
    )
    group.add_argument(
        "--oauth-provider",
        metavar="NAME",
        help="log in there; PANEL_OAUTH_KEY, PANEL_OAUTH_SECRET and PANEL_OAUTH_ENCRYPTION are in the environment, for "
        "generic also PANEL_OAUTH_AUTHORIZE_URL, PANEL_OAUTH_TOKEN_URL, PANEL_OAUTH_USER_URL and PANEL_USER_KEY (which "
        "field of the user is the name; default: email)",
    )
    group.add_argument(
        "--launchers",
        type=lambda text: [name for name in map(str.strip, text.split(",")) if name],
        default=[],
        metavar="NAME,…",
        help="users who may start jobs from the page once logged in (also $COLLTUNE_LAUNCHERS); default: nobody",
    )
    group.add_argument("--ssl-certfile", metavar="FILE", help="speak HTTPS with this certificate")
    group.add_argument("--ssl-keyfile", metavar="FILE", help="and this key, if it is not in the same file")
