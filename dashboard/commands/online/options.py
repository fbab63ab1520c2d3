"""The options of ``colltune online``."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.online.settings import MODES, OPTIONS


def add_parser(commands: Any, common: argparse.ArgumentParser, hints: argparse.ArgumentParser) -> None:
    """Add ``online`` to the subcommands of ``colltune``."""
    about = "Online tuning: learn which methods to take from the programs that users run anyway."
    add = cli_arguments.Subcommands(cli_arguments.command(commands, "online", about), [common]).add
    simulate = add("simulate", "Tune a simulated application, whose true times are known.", hints)
    _simulate_options(simulate)
    _folder_parsers(add)
    _profile_parsers(add, hints)


def _simulate_options(simulate: argparse.ArgumentParser) -> None:
    simulate.add_argument(
        "--scenario", required=True, metavar="NAME|FILE", help="name of a scenario, or a JSON file with one"
    )
    simulate.add_argument("--seed", type=cli_values.seed, default=1, metavar="N", help="random seed (default 1)")
    simulate.add_argument("--iterations", type=cli_values.count, default=8, metavar="K", help="how many (default 8)")
    simulate.add_argument("--results", nargs="+", metavar="PATH", help="measurements for the scenario 'replay'")
    cli_arguments.collectives(simulate)
    simulate.add_argument("--traces", metavar="FOLDER", help="write the timings as traces, as real runs leave them")
    _learning(simulate)


def _learning(parser: argparse.ArgumentParser) -> None:
    """Add what can be chosen of the learning."""
    group = parser.add_argument_group("learning", "what is made of the timings")
    for option in OPTIONS:
        cli_trees.add_choice(group, option)


def _folder_parsers(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the subcommands that work on a folder."""

    def of_folder(name: str, summary: str, **more: Any) -> argparse.ArgumentParser:
        made = add(name, summary, **more)
        made.add_argument("folder", metavar="FOLDER", type=Path)
        return made

    init = of_folder("init", "Make the folder: choose the methods, and build the library that programs preload.")
    _what_is_tried(init)
    _block(init)
    _learning(init)
    run = of_folder("run", "Run a program under the library.", answers=False)
    run.add_argument("--mode", choices=MODES, default="tuning", help="mode of the run (default tuning)")
    run.add_argument("--run", dest="run_name", metavar="NAME", help="name of the run (default: a generated one)")
    run.add_argument("words", nargs="+", metavar="COMMAND", help="command: -- mpiexec -n 4 ./program")
    train = of_folder("train", "Take in the traces that programs left, and learn from all of them.")
    train.add_argument("--traces", type=Path, metavar="FOLDER", help="read the traces of another folder")
    train.add_argument(
        "--settled",
        type=cli_values.percent,
        default=300.0,
        metavar="SECONDS",
        help="seconds without a new record after which a run that has not ended is read all the same (default 300)",
    )
    loop = of_folder("loop", "Run batches of programs with training between them; called again it goes on.")
    loop.add_argument("--plan", required=True, type=Path, metavar="FILE", help="JSON: runs, evaluate, iterations, …")
    loop.add_argument("--seed", type=cli_values.seed, default=1, metavar="N", help="random seed (default 1)")
    shown = of_folder("show", "Show what was learnt and judged so far.")
    shown.add_argument(
        "--course",
        action="store_true",
        help="learn again by iterations from what was kept; with other settings where they are given",
    )
    _block(shown)
    _learning(shown)
    about = "Write what was learnt as a decision function, for a library or a program."
    export = of_folder("export", about, answers=False)
    export.add_argument("--to", required=True, metavar="TARGET", help="as for 'colltune export'")
    cli_arguments.collectives(export, "of these (default: all that were learnt)")
    export.add_argument(
        "--ppn",
        type=cli_values.count,
        metavar="N",
        help="fix the processes per node (default, for rules files: those seen most)",
    )
    export.add_argument("-o", "--output", default="-", metavar="FILE", help="- is standard output (default)")


def _what_is_tried(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the machine, the library and the methods."""
    parser.add_argument("--for", dest="version", metavar="V", help="version of Open MPI (default: that of the mpicc)")
    parser.add_argument("--mpicc", metavar="FILE", help="mpicc of the programs (default: beside Python, or the PATH's)")
    parser.add_argument("--nodes", type=cli_values.count, default=1, metavar="N", help="nodes (default 1)")
    parser.add_argument("--cores", type=cli_values.count, required=True, metavar="N", help="per node")
    cli_arguments.collectives(parser, "tune these (default: allreduce, bcast, allgather, alltoall)")
    for name, kind in (
        ("segment-sizes", cli_values.size),
        ("fan-outs", cli_values.count),
        ("max-requests", cli_values.processes),
    ):
        parser.add_argument(
            f"--{name}", nargs="+", type=kind, metavar="N", help="values that make methods of their own"
        )
    parser.add_argument(
        "--own",
        nargs="+",
        default=[],
        metavar="METHOD",
        help="try own methods and grids, such as pipeline:segment_size=8192 or orthogonal:grid=4x4:inner=linear",
    )
    parser.add_argument(
        "--processes",
        type=cli_values.count,
        nargs="+",
        metavar="N",
        help="processes of the communicators that own methods are for (default: all cores of all nodes)",
    )


def _block(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--block", action="append", default=[], metavar="COLLECTIVE:METHOD", help="never choose this; * ends names"
    )


def _profile_parsers(add: Callable[..., argparse.ArgumentParser], hints: argparse.ArgumentParser) -> None:
    """Add what tells of programs' calls; `hints` has the options of results."""
    profile = add("profile", "Show what programs call: calls, time and sizes, from traces or tunings.", hints)
    profile.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    profile.add_argument(
        "--over", nargs="+", metavar="RESULTS", help="show what the methods in use lose by these measurements"
    )
    profile.add_argument("--ppn", type=cli_values.count, metavar="N", help="processes per node, if several")
    profile.add_argument("--weights", metavar="FILE", help="write the calls as a workload for --weights")
    skeleton = add("skeleton", "Write a C program with the call mix of an application.")
    skeleton.add_argument("name", metavar="NAME", help="application, such as miniAMR; any other name lists them")
    skeleton.add_argument("-o", "--output", default="-", metavar="FILE", help="- is standard output (default)")
