"""Arguments that several commands take, each written here alone."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dashboard.commands import values as cli_values


class Subcommands:
    """The subcommands of a command; each takes ``--json``.

    Parameters
    ----------
    parser
        Of the command.
    common
        Parents of every subcommand's parser.
    """

    def __init__(self, parser: argparse.ArgumentParser, common: Sequence[argparse.ArgumentParser]) -> None:
        name = parser.prog.split()[-1]
        self._parsers = parser.add_subparsers(dest=f"{name}_command", metavar="SUBCOMMAND", required=True)
        self._common = tuple(common)

    def add(self, name: str, about: str, *parents: argparse.ArgumentParser, **more: Any) -> argparse.ArgumentParser:
        """Add a subcommand."""
        made: argparse.ArgumentParser = self._parsers.add_parser(
            name, help=about.replace("%", "%%"), description=about, parents=[*parents, *self._common], **more
        )
        json(made)
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
        help=f"{about}; several by commas, or given again",
    )


def start_command(parser: argparse.ArgumentParser) -> None:
    """Add ``--mpiexec``."""
    parser.add_argument("--mpiexec", metavar="PATH", help="start command (default: beside this Python, else on PATH)")
