"""What rules say where nothing was measured, and which sizes a rules file was made of."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction

BEYOND = ("nearest", "default")
_RANGES = re.compile(r"\b(\d+) to (\d+) processes, (\d+) to (\d+) bytes\b")


def add_option(parser: Any) -> None:
    """Add ``--beyond``."""
    parser.add_argument(
        "--beyond",
        choices=BEYOND,
        default=BEYOND[0],
        help="below and above the sizes that were measured: decide as at the nearest one (default), or leave it to the "
        "library",
    )


def bounded(args: argparse.Namespace, decisions: Sequence[DecisionFunction]) -> list[DecisionFunction]:
    """The decisions as ``--beyond`` asks for them."""
    from dashboard.decisions.function.cutting import as_nearest_beyond, within_measured

    bound = within_measured if args.beyond == "default" else as_nearest_beyond
    return [bound(decision) for decision in decisions]


def measured_ranks(text: str) -> int | None:
    """Largest number of processes that a rules file was measured with, as its head tells; None where it tells none."""
    head = " ".join(line.lstrip("#/* ") for line in text.splitlines() if line.lstrip().startswith(("#", "/*", "*")))
    return max((int(match[2]) for match in _RANGES.finditer(head)), default=None)
