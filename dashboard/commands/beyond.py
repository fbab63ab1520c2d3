"""What rules say where nothing was measured, and which sizes a rules file was made of."""

import argparse
import re
from collections.abc import Sequence

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.cutting import as_nearest_beyond, within_measured

_RANGES = re.compile(r"\b(\d+) to (\d+) processes, (\d+) to (\d+) bytes\b")


def bounded(args: argparse.Namespace, decisions: Sequence[DecisionFunction]) -> list[DecisionFunction]:
    """The decisions as ``--beyond`` asks for them."""
    bound = within_measured if args.beyond == "default" else as_nearest_beyond
    return [bound(decision) for decision in decisions]


def measured_ranks(text: str) -> int | None:
    """Largest number of processes that a rules file was measured with, as its head tells; None where it tells none."""
    head = " ".join(line.lstrip("#/* ") for line in text.splitlines() if line.lstrip().startswith(("#", "/*", "*")))
    return max((int(match[2]) for match in _RANGES.finditer(head)), default=None)
