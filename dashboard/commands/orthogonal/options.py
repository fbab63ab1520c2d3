"""The options of ``colltune orthogonal``."""

import argparse
from collections.abc import Callable
from typing import Any, Literal

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import values as cli_values

_MACHINE = "clic-lam, xeon-scampi or t3e as published, or results that runtime functions are fitted to"
_RUN = "Run an application with original collectives and with such that run in phases over a grid, in turns."
#: Placement of ranks on nodes where nothing else is said.
BLOCK: Literal["block"] = "block"


def add_parser(
    commands: Any, common: argparse.ArgumentParser, hints: argparse.ArgumentParser, judging: argparse.ArgumentParser
) -> list[Any]:
    """Add ``orthogonal`` to the subcommands of ``colltune``; those of its parsers that take a treatment."""
    about = "Orthogonal structures: grids of processes, what they are predicted to gain, and what they gained."
    add = cli_arguments.Subcommands(cli_arguments.command(commands, "orthogonal", about), [common]).add
    listing = add("layouts", "List the grids of a number of processes: its ordered factorizations.")
    listing.add_argument("processes", type=cli_values.count, metavar="P")
    _dimensions(listing)
    _nodes(listing)
    simulate = add("simulate", "Simulate each grid message by message, with an own algorithm inside.")
    _call(simulate)
    about = "alone and inside of each phase (default: that of grids of the collective, which the answer names)"
    simulate.add_argument("--inner", metavar="METHOD", help=about)
    simulate.add_argument("--model", default="hockney", metavar="NAME", help="hockney (default), loggp or plogp")
    simulate.add_argument(
        "--between", required=True, metavar="PARAMETERS", help="between nodes: machine, file, or alpha=1e-4,beta=8e-8"
    )
    simulate.add_argument("--within", metavar="PARAMETERS", help="within a node (default: as between nodes)")
    _nodes(simulate)
    _dimensions(simulate)
    predict = add("predict", "Predict the time of each grid by runtime functions, phase by phase.", hints)
    _call(predict)
    predict.add_argument("--machine", required=True, metavar="NAME|RESULTS", help=_MACHINE)
    predict.add_argument("--method", help="method of the results that runs in each phase (default: 'default')")
    predict.add_argument(
        "--inner", metavar="NAME", help="of the results: what grids are called by that it runs inside of (library)"
    )
    _dimensions(predict)
    improve = add(
        "improve", "Show what measured grids gain over the original, over an interval of sizes.", hints, judging
    )
    improve.add_argument("--original", default="default", metavar="METHOD", help="compared with (default: 'default')")
    improve.add_argument(
        "--between", type=cli_values.sizes, metavar="FROM-TO", help="such as 8KiB-512KiB (default: all message sizes)"
    )
    select = add("select", "Select a method for intervals of message size: the tree 'intervals' of decide.", hints)
    for each in (improve, select):
        each.add_argument("paths", nargs="+", metavar="PATH", help="results of a campaign with grids")
        each.add_argument("-c", "--collective", help="the collective, if there are several")
        cli_arguments.ppn(each)
    select.add_argument("--price", type=float, metavar="PCT", help="what a further interval must save (default 0)")
    select.add_argument("--least-gain", type=float, metavar="PCT", help="percent over the default (default 2)")
    select.add_argument("--max-intervals", type=cli_values.count, metavar="N", help="most per communicator size")
    select.add_argument(
        "--significance", type=float, metavar="LEVEL", help="count only what is faster beyond noise, such as 0.05"
    )
    _run(add, hints)
    return [select]


def _call(parser: argparse.ArgumentParser) -> None:
    about = "bcast, scatter, gather, reduce, allreduce, allgather"
    parser.add_argument("-c", "--collective", required=True, help=about)
    parser.add_argument("--processes", required=True, type=cli_values.count, metavar="P")
    parser.add_argument(
        "--message-size", required=True, type=cli_values.size, metavar="BYTES", help="such as 100000 or 64KiB"
    )


def _dimensions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dimensions", type=cli_values.count, metavar="D", help="dimensions (default: any)")


def _nodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ppn", type=cli_values.count, metavar="N", help="processes on each node (default 1)")
    parser.add_argument(
        "--placement", choices=(BLOCK, "cyclic"), help="of ranks on nodes, where --ppn is given (default block)"
    )


def _run(add: Callable[..., argparse.ArgumentParser], hints: argparse.ArgumentParser) -> None:
    parser = add("run", _RUN, hints)
    parser.add_argument("application", metavar="jacobi|pab|pabm", help="the program")
    parser.add_argument("--ranks", required=True, dest="processes", type=cli_values.count, metavar="P")
    parser.add_argument(
        "--size",
        required=True,
        dest="sizes",
        type=cli_values.counts,
        metavar="N[,N…]",
        help="unknowns of the system; of several one job after the other",
    )
    parser.add_argument(
        "--variant", metavar="NAME", help="jacobi: row, column, reduce_bcast, gather_scatter; pab, pabm: data, task"
    )
    parser.add_argument(
        "--ways",
        action=cli_values.Names,
        default=[],
        metavar="WAY[,WAY…]",
        help="original, orthogonal (the balanced grid; of tasks: columns only) or grids such as 4x4 "
        "(default original,orthogonal)",
    )
    parser.add_argument(
        "--inner",
        action="append",
        default=[],
        metavar="[COLLECTIVE=]METHOD",
        help="what runs in the original and in each phase: library (default), or an own method with its parameters, "
        "such as gather_bcast:gather=linear:bcast=linear; may be given again",
    )
    _steps_options(parser)
    group = parser.add_argument_group("prediction beside")
    group.add_argument("--machine", metavar="NAME|RESULTS", help=_MACHINE)
    group.add_argument(
        "--method",
        action="append",
        default=[],
        metavar="[COLLECTIVE=]LABEL",
        help="method of the results that runs in each phase (default: 'default'); may be given several times",
    )
    cli_arguments.starting(parser)
    cli_arguments.start_command(parser)
    parser.add_argument("-o", "--output", metavar="FILE.json", help="write the answer into this file as well")
    # Results may hold any number of them.
    parser.set_defaults(collective=None)


def _steps_options(parser: argparse.ArgumentParser) -> None:
    """What of the integration, and how long."""
    group = parser.add_argument_group("pab and pabm")
    group.add_argument("--stages", type=cli_values.count, metavar="K", help="stages (default 4)")
    group.add_argument("--iterations", type=cli_values.count, metavar="I", help="corrections of pabm (default 1)")
    group.add_argument("--problem", metavar="NAME", help="sparse: Brusselator of 2 N² unknowns (default); dense")
    group.add_argument("--step-size", type=cli_values.positive, metavar="H", help="time step (0.002)")
    group = parser.add_argument_group("how long")
    group.add_argument("--steps", type=cli_values.count, metavar="N", help="time steps (10); most jacobi iterations")
    group.add_argument(
        "--tolerance", type=cli_values.positive, metavar="X", help="change at which jacobi ends (default 1e-10)"
    )
    group.add_argument("--repetitions", type=cli_values.count, metavar="N", help="turns that all ways take (default 3)")
    group.add_argument("--seed", type=cli_values.count, metavar="N", help="seed of the random matrices (default 1)")
    group.add_argument("--time-limit", type=cli_values.seconds, default=600.0, metavar="TIME", help="(default 10min)")
