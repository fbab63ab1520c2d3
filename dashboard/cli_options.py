"""The options of the command ``colltune``: what can be said, and one clear line when it is said wrongly."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

#: Named in the design, not built yet.
LATER_COMMANDS = ("lint", "model", "bench", "report")
TREES = ("quadtree", "exact")
LATER_TREES = ("c45", "cart", "optimal", "model")
TARGETS = ("c", "json")
LATER_TARGETS = ("c-table", "python", "openmpi", "openmpi-json", "mpich", "intel", "ucc")

#: Options that are hints to the loaders, by the names that these know; filled only when given.
HINTS = (
    "algorithm",
    "segment_size",
    "comm_size",
    "ppn_hint",
    "system",
    "network",
    "library",
    "library_version",
    "pattern",
    "statistic",
    "columns",
    "recursive",
)


class Usage(Exception):  # noqa: N818 - not a fault of the program, the user's
    """The command was called wrongly; the message says how to call it."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing several lines and leaving."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message} (see '{self.prog} --help')")


class _Version(argparse.Action):
    """Look the version up only when it is asked for: importlib.metadata takes longer than all the rest."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        try:
            found = metadata.version("colltune")
        except metadata.PackageNotFoundError:
            found = "(not installed)"
        print(f"colltune {found}")
        parser.exit()


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of the command.

    Raises
    ------
    Usage
        They are wrong, or name something that is not built yet.
    """
    command = next((word for word in argv if not word.startswith("-")), None)
    if command in LATER_COMMANDS:
        raise Usage(f"'colltune {command}' is not available yet")
    args, unknown = build().parse_known_args(argv)
    # First this: `--tree c45 -m 2` fails for the tree, not for options that only this tree will have.
    _available("--tree", getattr(args, "tree", None), TREES, LATER_TREES)
    _available("--to", getattr(args, "to", None), TARGETS, LATER_TARGETS)
    if unknown:
        raise Usage(f"unrecognized arguments: {' '.join(unknown)} (see 'colltune {args.command} --help')")
    if getattr(args, "tree", None) == "exact" and (args.max_depth is not None or args.threshold is not None):
        raise Usage("--tree exact takes neither --max-depth nor --threshold; they belong to --tree quadtree")
    return args


def _available(option: str, value: str | None, now: Sequence[str], later: Sequence[str]) -> None:
    if value in later:
        raise Usage(f"{option} {value} is not available yet; available: {', '.join(now)}")
    if value is not None and value not in now:
        raise Usage(f"{option} {value}: there is no such choice; available: {', '.join(now)}")


def build() -> _Parser:
    """Make the parser with all subcommands."""
    parser = _Parser(
        prog="colltune",
        description="From MPI benchmark files to decision functions for collective operations.",
        epilog="Every subcommand has its own --help. Exit status: 0 success, 2 bad usage or input, 1 internal fault.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    common, hints, chosen, tree = _common(), _hints(), _chosen(), _tree()

    def add(name: str, summary: str, *parents: _Parser, paths: str = "+") -> _Parser:
        made = commands.add_parser(name, help=summary, description=summary, parents=[*parents, common])
        where = "benchmark files or folders with them, .nc, .zarr or long tables"
        made.add_argument("paths", nargs=paths, metavar="PATH", help=where)
        return made

    as_hint = _Parser(add_help=False)
    as_hint.add_argument("-c", "--collective", help="the collective, where the files do not say it")
    as_hint.add_argument("--ppn", dest="ppn_hint", type=_count, metavar="N", help="processes per node, likewise")

    info = add(
        "info", "Show what the files hold, how complete and how noisy it is, what was skipped and why.", hints, as_hint
    )
    _json(info)
    convert = add("convert", "Load results and save them as .nc, .zarr or .csv (long table).", hints, as_hint)
    convert.add_argument("-o", "--output", required=True, metavar="FILE", help="name ending in .nc, .zarr or .csv")
    dmap = add("map", "Show the decision map: the best method for each pair of sizes.", hints, chosen)
    dmap.add_argument(
        "--tolerance", type=float, default=0.0, metavar="PCT", help="count methods within PCT %% of the best as ties"
    )
    _json(dmap)
    decide = add(
        "decide", "Make a decision function; show its size and what it costs against the best.", hints, chosen, tree
    )
    decide.add_argument(
        "--sweep", choices=("depth", "threshold"), help="show how size and penalty change with this limit"
    )
    drawing = argparse.BooleanOptionalAction
    decide.add_argument("--draw", action=drawing, default=None, help="draw the tree as text (default: up to 64 leaves)")
    _json(decide)
    export = add("export", "Write the decision function as source code or for a library.", hints, tree)
    _collectives(export)
    export.add_argument(
        "--to", required=True, metavar="TARGET", help=f"{', '.join(TARGETS)}; later {', '.join(LATER_TARGETS)}"
    )
    export.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="file to write; - is standard output (default)"
    )
    _serve(
        commands.add_parser(
            "serve",
            help="Run the dashboard.",
            description="Run the dashboard, as 'panel serve dashboard' does.",
            parents=[hints, as_hint, common],
        )
    )
    return parser


def _common() -> _Parser:
    parser = _Parser(add_help=False)
    parser.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    return parser


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="machine-readable output")


def _chosen() -> _Parser:
    parser = _Parser(add_help=False)
    parser.add_argument("-c", "--collective", help="the collective, if the results hold several or do not say")
    _ppn(parser)
    return parser


def _collectives(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--collective", action="append", help="the collective; may be given several times")
    _ppn(parser)


def _ppn(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ppn", type=_count, metavar="N", help="processes per node, if the results hold several")


def _tree() -> _Parser:
    parser = _Parser(add_help=False)
    group = parser.add_argument_group("decision")
    choices = f"{', '.join(TREES)} (no limit); later {', '.join(LATER_TREES)}"
    group.add_argument("--tree", default="quadtree", metavar="TREE", help=choices)
    group.add_argument("--max-depth", type=_depth, metavar="D", help="levels below the root at most")
    group.add_argument(
        "--threshold",
        type=float,
        metavar="T",
        help="a block with this share of one method is a leaf (0 to 1; 1 = exact)",
    )
    return parser


def _hints() -> _Parser:
    parser = _Parser(add_help=False)
    group = parser.add_argument_group("hints", "what the files do not say themselves")
    group.add_argument("--format", metavar="NAME", help="format of the files, if the content is not to decide")
    group.add_argument(
        "--pattern", metavar="PATTERN", help="over the path, such as '{collective}__{algorithm}__seg{segment_size}.sko'"
    )
    group.add_argument("--algorithm", metavar="NAME")
    group.add_argument("--segment-size", metavar="BYTES", help="such as 8192 or 8KiB; 0 = none")
    group.add_argument("--comm-size", metavar="P", help="number of processes")
    group.add_argument("--system", metavar="NAME", help="also chooses among the systems in one file")
    group.add_argument("--network", metavar="NAME")
    group.add_argument("--library", metavar="NAME")
    group.add_argument("--library-version", metavar="VERSION")
    group.add_argument(
        "--statistic", choices=("max", "mean", "median", "min"), help="which of several columns of times"
    )
    group.add_argument(
        "--column",
        dest="columns",
        action="append",
        type=_column,
        metavar="OURS=THEIRS",
        help="column of a table that bears another name, such as time=latency_us",
    )
    group.add_argument("--recursive", action="store_true", default=None, help="enter sub-folders")
    return parser


def _serve(parser: argparse.ArgumentParser) -> None:
    what = "results to open; default: those in $COLLTUNE_DATA, else the sample data"
    parser.add_argument("paths", nargs="*", metavar="PATH", help=what)
    parser.add_argument("--data", action="extend", nargs="+", default=[], metavar="PATH", help="the same")
    parser.add_argument("--port", type=_port, default=5006, help="default 5006; 0 = any free one")
    parser.add_argument("--address", default="127.0.0.1", help="default 127.0.0.1, this machine only")
    parser.add_argument(
        "--allow-websocket-origin",
        dest="origins",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="further name under which browsers reach the server, such as a proxy's",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")


def _count(text: str) -> int:
    return _whole(text, 1)


def _depth(text: str) -> int:
    return _whole(text, 0)


def _port(text: str) -> int:
    return _whole(text, 0, 65535)


def _whole(text: str, lowest: int, highest: int | None = None) -> int:
    try:
        value = int(text)
    except ValueError:
        value = lowest - 1
    if value < lowest or (highest is not None and value > highest):
        bound = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {bound}")
    return value


def _column(text: str) -> tuple[str, str]:
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form OURS=THEIRS, such as time=latency_us")
    return ours, theirs
