"""The options of the command ``colltune``: what can be said, and one clear line when it is said wrongly."""

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import treatment as cli_treatment
from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.commands.bench import options as cli_bench
from dashboard.commands.load import HELD
from dashboard.commands.methods import options as cli_methods
from dashboard.commands.model import command as cli_model
from dashboard.commands.online import options as cli_online
from dashboard.commands.options import libraries, results
from dashboard.commands.orthogonal import options as cli_orthogonal
from dashboard.commands.output import answer
from dashboard.commands.tune_check import options as cli_tune_check
from dashboard.commands.usage import Usage
from dashboard.session.reading import COLLECTIVE, PPN
from dashboard.session.reading import OPTIONS as READING
from loaders.collectives import COLLECTIVES

__all__ = ["build", "parse"]


#: Groups of options that stand behind all others.
_LAST = ("measurements", "models", "hints")


class _Help(argparse.HelpFormatter):
    """The help of a command: what must be said first, the rest where it is explained."""

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action], groups: Any, prefix: Any = None) -> None:
        if prefix is None:
            needed = [action for action in actions if action.required or not action.option_strings]
            actions = [argparse.Action(["options"], "options", nargs=0), *needed]
        super().add_usage(usage, actions, (), prefix)

    def add_argument(self, action: argparse.Action) -> None:
        # Names that are to be typed stay as they are.
        if action.help and re.match("[a-z-]+;? ", action.help):
            action.help = action.help[0].upper() + action.help[1:]
        super().add_argument(action)


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing several lines and leaving."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, "formatter_class": _Help, **kwargs})

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message} (see '{self.prog} --help')")

    def format_help(self) -> str:
        self._action_groups.sort(key=lambda group: _LAST.index(group.title) if group.title in _LAST else -1)
        return super().format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse takes no notice of what cannot be written.
        if message:
            answer(message)


class _Version(argparse.Action):
    """Look the version up only when it is asked for: importlib.metadata takes longer than all the rest."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        try:
            version = metadata.version("colltune")
        except metadata.PackageNotFoundError:
            version = "(not installed)"
        answer(f"colltune {version}\n")
        parser.exit()


#: Makes the parser of a command that reads results: name, summary, and parsers with further options.
_Add = Callable[..., argparse.ArgumentParser]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the command.

    Raises
    ------
    Usage
        They are wrong.
    """
    command = next((word for word in argv if not word.startswith("-")), None)
    args, unknown = build(argv, command).parse_known_args(argv)
    if unknown:
        if command in cli_trees.WITH_TREE:
            cli_trees.refuse(args.tree, unknown)
        also = f"; several by commas: -c NAME,{','.join(unknown)}" if set(unknown) <= set(COLLECTIVES) else ""
        raise Usage(f"unrecognized arguments: {' '.join(unknown)}{also} (see 'colltune {args.command} --help')")
    return args


def build(argv: Sequence[str] = (), command: str | None = None) -> _Parser:
    """Make the parser with all subcommands; the options of trees only for the command that is called."""
    parser = _Parser(
        prog="colltune",
        description="From MPI benchmark files to decision functions for collective operations.",
        epilog="Every subcommand has its own --help. Exit status: 0 success, 2 bad usage or input, 1 internal fault, "
        "or an export that loses more than --allow-loss; what else one ends with, its --help says.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    common, hints, chosen = _common(), _hints(), _chosen()

    def add(name: str, summary: str, *parents: _Parser) -> argparse.ArgumentParser:
        made = cli_arguments.command(commands, name, summary, *parents, common)
        cli_arguments.results(made)
        return made

    as_hint = _Parser(add_help=False)
    cli_trees.add_option(as_hint, COLLECTIVE)
    cli_trees.add_option(as_hint, PPN, HELD[PPN.name])
    _add_reading(add, hints, as_hint, chosen)
    _add_deciding(add, hints, argv, command)
    _add_libraries(commands, common, hints)
    made, also = cli_arguments.command, (hints, as_hint, common)
    libraries.view_options(made(commands, "view", "Show what an address of the page shows, without a browser.", *also))
    libraries.serve_options(made(commands, "serve", "Run the dashboard, as 'panel serve dashboard' does.", *also))
    return parser


def _add_reading(add: _Add, hints: _Parser, as_hint: _Parser, chosen: _Parser) -> None:
    """Add what shows results as they are."""
    info = add(
        "info", "Show what the files hold, how complete and how noisy it is, what was skipped and why.", hints, as_hint
    )
    info.add_argument("--outliers", action="store_true", help="list the times that do not fit those around them")
    info.add_argument(
        "--between-sizes", action="store_true", help="how far times interpolated between measured sizes are off"
    )
    cli_arguments.json(info)
    convert = add("convert", "Load results and save them as .nc, .zarr, .csv (long table) or .occ.", hints, as_hint)
    convert.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="name ending in .nc, .zarr, .csv or .occ"
    )
    dmap = add("map", "Show the decision map: the best method for each pair of sizes.", hints, chosen)
    results.map_options(dmap)
    cli_arguments.json(dmap)


def _add_deciding(add: _Add, hints: _Parser, argv: Sequence[str], command: str | None) -> None:
    """Add what makes decisions of results."""
    decide = add("decide", "Make a decision function; show its size and what it costs against the best.", hints)
    results.decide_options(decide)
    export = add("export", "Write the decision function as source code or for a library.", hints)
    results.export_options(export)
    frontier = add("frontier", "Compare all ways of deciding by size and penalty, and recommend one.", hints)
    results.frontier_options(frontier)
    compare = add("compare", "Compare some decision functions with each other, cell by cell.", hints)
    results.compare_options(compare)
    port = add(
        "portability", "Set two campaigns beside each other: what the decisions of one cost on the other.", hints
    )
    cli_arguments.collectives(port, "the collective")
    cli_arguments.ppn(port)
    results.portability_options(port)
    cli_arguments.json(port)
    report = add("report", "Write one HTML file with maps, penalties, frontier and rules that anyone can open.", hints)
    results.report_options(report)
    for command_parser in (decide, export, frontier, compare, port, report):
        cli_treatment.add_options(command_parser)
        cli_model.add_parameters(command_parser)
    for command_parser in (decide, frontier, compare, report):
        cli_treatment.add_held_out(command_parser, "lines" if command_parser is frontier else "none")
    parsers = {"decide": decide, "export": export, "portability": port, "report": report}
    if command in cli_trees.WITH_TREE:
        tree = cli_trees.named(argv) if {"-h", "--help"} & set(argv) else cli_trees.meant(argv)
        cli_trees.add_options(parsers[command], tree)


def _add_libraries(commands: Any, common: _Parser, hints: _Parser) -> None:
    """Add what has to do with MPI libraries and with models of them."""
    made = cli_arguments.command
    about = "Check a rules file of an MPI library: what is wrong, and what the library really does with it."
    judging = _Parser(add_help=False)
    cli_treatment.add_options(judging, *cli_treatment.JUDGED_BY)
    lint = made(commands, "lint", about, hints, judging, common)
    libraries.lint_options(lint)
    cli_arguments.json(lint)
    about = "Communication models: predict, optimal segments, parameters and fits, what deciding by them costs."
    cli_model.add_options(made(commands, "model", about), [common], [hints], judging)
    about = "Write a rules file of one MPI library for another one, or as source code."
    libraries.translate_options(made(commands, "translate", about, common))
    libraries.tune_parser(commands, common)
    cli_bench.add_parser(commands, common, hints)
    libraries.prove_parser(commands, common)
    cli_methods.add_parser(commands, common)
    cli_online.add_parser(commands, common, hints)
    for each in cli_orthogonal.add_parser(commands, common, hints, judging):
        cli_treatment.add_options(each)
    libraries.check_methods_parser(commands, common)
    cli_tune_check.add_parser(commands, common)
    timed = libraries.decide_time_parser(commands, [hints, common])
    results.collectives(timed)
    cli_treatment.add_options(timed)


def _common() -> _Parser:
    parser = _Parser(add_help=False)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    return parser


def _chosen() -> _Parser:
    parser = _Parser(add_help=False)
    parser.add_argument("-c", "--collective", help="the collective, if the results hold several or do not say")
    cli_arguments.ppn(parser)
    return parser


def _hints() -> _Parser:
    parser = _Parser(add_help=False)
    group = parser.add_argument_group("hints", "what the files do not say themselves")
    group.add_argument("--format", metavar="NAME", help="format of the files (default: recognised by their content)")
    group.add_argument(
        "--column",
        dest="columns",
        action="append",
        type=cli_values.pair("OURS=THEIRS", "time=latency_us"),
        metavar="OURS=THEIRS",
        help="column of a table under another name, such as time=latency_us",
    )
    group.add_argument("--recursive", action="store_true", default=None, help="enter sub-folders")
    for option in READING:
        cli_trees.add_option(group, option, HELD[option.name])
    return parser
