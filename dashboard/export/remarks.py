"""Comments at the head of a rules file: where it comes from, how to use it, and what it does not say."""

import textwrap
from collections.abc import Iterable, Sequence

from dashboard.decisions import DecisionFunction
from dashboard.export import provenance as origin
from dashboard.export.target import Facts
from dashboard.export.targets.c.text import comment_text

_WIDTH = 110


def wrapped(lines: Iterable[str]) -> list[str]:
    """Make lines of ASCII of a width that people read; one that begins with a blank is kept as it is."""
    wrapped_lines: list[str] = []
    for line in lines:
        safe = comment_text(line)
        if not safe.strip() or safe.startswith(" "):
            wrapped_lines.append(safe.rstrip())
        else:
            wrapped_lines += textwrap.wrap(safe, _WIDTH, subsequent_indent="    ", break_long_words=False)
    return wrapped_lines


def hashed(lines: Iterable[str]) -> list[str]:
    """The same as comments that begin with ``#``."""
    return [f"# {line}".rstrip() for line in wrapped(lines)]


def about(decision: DecisionFunction, provenance: Facts, notes: Sequence[str], cost: str = "") -> list[str]:
    """Lines on one decision function: what it is, what it comes from, what was lost."""
    lost = [f"Not as decided: {note}" for note in notes]
    doubts = [f"Unsure: {words}."] if (words := origin.unsure(decision)) else []
    return [
        f"{decision.collective}:",
        *origin.describe(decision, provenance),
        *doubts,
        *lost,
        *([cost] if cost else []),
    ]
