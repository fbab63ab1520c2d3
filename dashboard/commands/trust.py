"""Times that cannot be trusted: told by ``info``, and left out before anything is decided unless kept on demand."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dashboard.commands.output import finite, say
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    import xarray as xr


def add_option(parser: Any) -> None:
    """Add ``--keep-doubtful``."""
    parser.add_argument(
        "--keep-doubtful",
        action="store_true",
        help="decide also by times of a campaign that cannot be trusted ('colltune info' lists them)",
    )


def trusted(args: argparse.Namespace, cubes: dict[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """The cubes without doubtful times; what is gone, or doubtful and kept, is said.

    Raises
    ------
    Usage
        When nothing would be left to decide by.
    """
    from dashboard.decisions import trust

    left = {}
    for name, cube in cubes.items():
        table = trust.doubtful(cube)
        gone = len(table) and trust.is_own(cube) and not getattr(args, "keep_doubtful", False)
        left[name] = trust.without_doubtful(cube) if gone else cube
        if len(table):
            what = f"{'left out' if gone else 'kept'}: {trust.words(table)}"
            say(f"note: {name}: {what}; measure again on a quiet machine")
        if gone and not bool(left[name]["time"].notnull().any()):
            raise Usage(f"{name}: no time can be trusted: measure again on a quiet machine, or add --keep-doubtful")
    return left


def listed(cube: xr.Dataset) -> list[dict[str, Any]]:
    """Doubtful times of a cube, as JSON takes them."""
    from dashboard.decisions.trust import doubtful

    found = doubtful(cube)
    names = [str(name) for name in found.columns if name not in ("kind", "repetition")]
    rows = found[names].to_dict("records")
    return [{str(name): finite(v) if isinstance(v, float) else v for name, v in row.items()} for row in rows]
