"""Arguments that several commands take, each written here alone."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboard.commands import values as cli_values
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.export import Target

#: Help of ``--launch``.
LAUNCH = (
    "here: the library's own start command, in an allocation over all its nodes (default); slurm: a job of its own; or "
    "a start command such as 'mpiexec --hostfile hosts -n {ranks} --map-by ppr:{ppn}:node', whose {ranks}, {ppn}, "
    "{nodes} and {program} are replaced word by word, by no shell"
)
#: Targets that are C, whose file may have others beside it.
C_TARGETS = ("c", "c-table")


class Subcommands:
    """The subcommands of a command; each that has an answer takes ``--json``."""

    def __init__(self, parser: argparse.ArgumentParser, common: Sequence[argparse.ArgumentParser]) -> None:
        name = parser.prog.split()[-1]
        self._parsers = parser.add_subparsers(dest=f"{name}_command", metavar="SUBCOMMAND", required=True)
        self._common = tuple(common)

    def add(
        self, name: str, about: str, *parents: argparse.ArgumentParser, answers: bool = True, **more: Any
    ) -> argparse.ArgumentParser:
        """Add a subcommand; `answers`: whether it has an answer of its own."""
        made = command(self._parsers, name, about, *parents, *self._common, **more)
        if answers:
            json(made)
        return made


def command(
    commands: Any, name: str, about: str, *parents: argparse.ArgumentParser, more: str = "", **further: Any
) -> argparse.ArgumentParser:
    """Add a command; `more` stands behind what its own help says that it is `about`."""
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=about.replace("%", "%%"), description=about + more, parents=list(parents), **further
    )
    return made


def json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="machine-readable output")


def collectives(parser: Any, about: str = "only this one") -> None:
    """Add ``--collective``, the names of collectives; none when it is not given."""
    parser.add_argument(
        "-c",
        "--collective",
        action=cli_values.Names,
        default=[],
        metavar="NAME[,NAME…]",
        help=f"{about}; several, with commas between, or given again",
    )


def ppn(parser: Any, *, every: bool = False) -> None:
    """Add ``--ppn``, the processes per node of measurements; ``all`` of them where one tree may decide `every` one."""
    about = "processes per node, where the results have several; where they do not say, how many there were"
    if every:
        about += "; all: one tree for all of them, if it can test ppn"
    kind, metavar = (cli_values.count_or_all, "N|all") if every else (cli_values.one_ppn, "N")
    parser.add_argument("--ppn", type=kind, metavar=metavar, help=about)


def results(
    parser: argparse.ArgumentParser,
    metavar: str = "PATH",
    about: str = "benchmark files or folders with them, .nc, .zarr or long tables",
) -> None:
    """Add the files to read."""
    parser.add_argument("paths", nargs="+", metavar=metavar, help=about)


def selection(args: argparse.Namespace) -> str | None:
    """The text of the selection that ``--base`` names; None where it is not given, Usage where it cannot be read."""
    from dashboard.export.targets.mpich.base import given

    if args.base is None:
        return None
    try:
        return given(args.base)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Usage(f"--base {args.base}: cannot be read: {reason}") from error


def only(parser: Any) -> None:
    """Add ``--only``."""
    parser.add_argument(
        "--only", choices=("target",), help="decide only among methods that the target has, instead of replacing"
    )


def name(parser: Any, given: str) -> None:
    """Add ``--name``."""
    parser.add_argument(
        "--name",
        dest="names",
        action="append",
        default=[],
        type=cli_values.pair("THEIRS=NAME", "bin_tree=binary_tree"),
        metavar="THEIRS=NAME",
        help=f"what the target calls an algorithm of {given}, such as bin_tree=binary_tree; may be given several times",
    )


def target(name: str) -> Target:
    """The target that ``--to`` names; Usage where there is none."""
    from dashboard.export import TARGETS

    if name not in TARGETS:
        raise Usage(f"--to {name}: no such target; available: {', '.join(TARGETS)}")
    return TARGETS[name]


def starting(parser: argparse.ArgumentParser, *, each_node: bool = True) -> None:
    """Add the options that say how ranks are started.

    Parameters
    ----------
    each_node
        Whether to add ``--ppn`` too; a campaign's plan has one of its own.
    """
    group = parser.add_argument_group("how ranks are started")
    group.add_argument("--launch", metavar="COMMAND", help=LAUNCH)
    if each_node:
        group.add_argument("--ppn", type=cli_values.count, metavar="N", help="processes per node (the site's)")
    site(group)


def site(group: argparse._ArgumentGroup) -> None:
    """Add ``--site``."""
    group.add_argument(
        "--site",
        metavar="FILE",
        help="file of the site's settings: launch, ppn, folder, [environment], [slurm] (default: $COLLTUNE_SITE, "
        "~/.config/colltune/colltune.toml, /etc/colltune/colltune.toml)",
    )


def beyond(parser: Any) -> None:
    """Add ``--beyond``."""
    parser.add_argument(
        "--beyond",
        choices=("nearest", "default"),
        default="nearest",
        help="below and above the sizes that were measured: decide as at the nearest one (default), or leave it to the "
        "library",
    )


def beside_c(parser: argparse.ArgumentParser) -> None:
    """Add ``--header`` and ``--self-test``."""
    group = parser.add_argument_group("C", f"for --to {' and '.join(C_TARGETS)} with -o FILE.c")
    group.add_argument("--header", action="store_true", help="write FILE.h beside it")
    group.add_argument(
        "--self-test",
        action="store_true",
        help="write FILE_test.c beside it: a program that checks the decisions at every border, 0 = right",
    )


def start_command(parser: argparse.ArgumentParser) -> None:
    """Add ``--mpiexec``."""
    parser.add_argument("--mpiexec", metavar="PATH", help="start command (default: beside this Python, else on PATH)")
