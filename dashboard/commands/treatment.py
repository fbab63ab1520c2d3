"""Options on what is made of measurements before deciding, and the methods that are left out."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboard.commands import model as cli_model
from dashboard.commands import trust as cli_trust
from dashboard.commands import values as cli_values
from dashboard.commands.output import say
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    import xarray as xr

#: What can be held out, as `dashboard.decisions.folds.SCHEMES`, or nothing.
HELD_OUT = ("lines", "comm_size", "message_size", "repetitions", "none")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all of them."""
    group = add_of_page(parser)
    group.add_argument(
        "--statistical",
        type=cli_values.level,
        metavar="LEVEL",
        help="so are methods that repetitions cannot tell from the best; level of the test, such as 0.05",
    )
    cli_model.add_measurement_options(parser)


def add_of_page(parser: argparse.ArgumentParser) -> Any:
    """Add those that a page can show, too."""
    group = parser.add_argument_group("measurements", "what is made of them before deciding")
    group.add_argument(
        "--tolerance",
        type=cli_values.percent,
        default=0.0,
        metavar="PCT",
        help="methods within PCT %% of the best are ties",
    )
    group.add_argument(
        "--ties",
        choices=("simplest", "fastest"),
        default="simplest",
        help="method to learn among ties: the one that gives the fewest rules (default), or the fastest",
    )
    group.add_argument("--weights", metavar="FILE", help="workload: collective, comm_size, message_size, calls")
    group.add_argument("--interpolate", action="store_true", help="fill missing cells in between for deciding")
    group.add_argument("--without-outliers", action="store_true", help="leave outliers out; they are listed")
    cli_trust.add_option(group)
    add_without(group)
    return group


def add_without(parser: Any) -> None:
    """Add the option that leaves methods out."""
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="METHOD",
        help="leave a method out, as 'colltune map' names it, or 'ALGORITHM *' for all its segment sizes and "
        "parameters; may be given several times",
    )


def add_held_out(parser: argparse.ArgumentParser, default: str) -> None:
    """Add what is held out for judging."""
    group = parser.add_argument_group("held out", "penalty on measurements that were not used for deciding")
    group.add_argument(
        "--held-out",
        choices=HELD_OUT,
        default=default,
        metavar="WHAT",
        help="what to hold out: every N-th communicator and message size in turn (lines), only one of both "
        f"(comm_size, message_size), half of the repetitions, or none (default {default})",
    )
    group.add_argument(
        "--folds", type=cli_values.folds, default=5, metavar="N", help="parts held out in turn (default 5)"
    )


def named(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> tuple[str, ...]:
    """What ``--without`` names.

    Raises
    ------
    Usage
        No cube has such a method, or one would have none left.
    """
    from dashboard.decisions import selection

    wanted = tuple(getattr(args, "without", ()))
    known = list(dict.fromkeys(name for cube in cubes.values() for name in selection.selectable(cube)))
    for name in wanted:
        if name not in known and name not in getattr(args, "without_known", ()):
            near = difflib.get_close_matches(name, known, 1)
            meant = f"; did you mean {near[0]!r}?" if near else "; 'colltune map' shows them"
            raise Usage(f"--without {name!r}: there is no such method of {' or '.join(cubes)}{meant}")
    for name, cube in cubes.items():
        if wanted and len(selection.left_out(cube, wanted)) == cube.sizes["method"]:
            raise Usage(f"--without leaves no method of {name}")
    return wanted


def without_methods(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """The cubes without the methods that ``--without`` names, and those that are unsafe; which they were is said.

    Raises
    ------
    Usage
        As `named`.
    """
    from dashboard.decisions import selection
    from dashboard.export.unsafe import LEFT_OUT, without_unsafe

    wanted = named(args, cubes)
    for name, cube in cubes.items():
        if gone := selection.left_out(cube, wanted):
            say(f"note: {name}: methods left out: {', '.join(gone)}")
    left = {name: without_unsafe(cube, wanted) for name, cube in cubes.items()}
    for name, cube in left.items():
        if LEFT_OUT in cube.attrs:
            say(f"note: {name}: unsafe methods {cube.attrs[LEFT_OUT]}")
    return left
