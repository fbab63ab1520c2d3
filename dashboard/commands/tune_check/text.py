"""What ``colltune tune-check`` prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.commands import text as cli_text
from dashboard.decisions.function.text import region
from dashboard.decisions.judged.improvement import Improvement, Verdict
from dashboard.domain.units import format_bytes, format_count

#: More cells than this stand in the answer for programs only.
_LISTED = 60
_WORDS = {"no difference": "within noise", "faster": "faster", "slower": "SLOWER", "not measured": "not measured"}


def lines_of(improvements: Mapping[str, Improvement], verdicts: Mapping[str, Sequence[Verdict]]) -> list[str]:
    """Tables of each collective: by communicator size, by cell where they are few, by rule."""
    lines: list[str] = []
    for name, improvement in improvements.items():
        lines += ["", *_collective_lines(name, improvement, verdicts.get(name, []))]
    return lines[1:]


def _collective_lines(name: str, improvement: Improvement, verdicts: Sequence[Verdict]) -> list[str]:
    if not (cells := cli_text.records(improvement.by_size())):
        return [f"{name}: nothing to compare: at no size can the times of both, the library and the rules, be trusted"]
    lines = [f"{name}: improvement, less time than the library's own decision takes; positive is better", ""]
    head = ["processes", "cells", "min", "max", "mean", "faster", "slower", "same messages"]
    rows = [
        [
            row["comm_size"] or "all",
            row["cells"],
            *(signed(row[key]) for key in ("min", "max", "mean")),
            *(row[key] for key in ("faster", "slower", "same")),
        ]
        for row in cli_text.records(improvement.table())
    ]
    lines += cli_text.table(head, rows, right=range(len(head)))
    lines += ["", *(_cell_lines(cells) if len(cells) <= _LISTED else [f"{len(cells):,} cells; --json lists them"])]
    return lines + (["", *_rule_lines(verdicts)] if verdicts else [])


def _cell_lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    head = ["processes", "message", "default", "tuned", "improvement", "from", "to", "p", ""]
    rows = [
        [
            cell["comm_size"],
            format_bytes(cell["message_size"]),
            cli_text.time(cell["default"]),
            cli_text.time(cell["tuned"]),
            *(signed(cell[key]) for key in ("improvement", "low", "high")),
            "-" if cell["p"] is None else f"{cell['p']:.2g}",
            _WORDS[cell["outcome"]] + (", same messages" if cell["same"] else ""),
        ]
        for cell in cells
    ]
    return cli_text.table(head, rows, right=range(len(head) - 1))


def _rule_lines(verdicts: Sequence[Verdict]) -> list[str]:
    head = ["rule", "method", "cells", "mean", "min", "max", "p", ""]
    measured = [verdict for verdict in verdicts if verdict.cells]
    rows = [
        [
            region(verdict.bounds),
            verdict.method,
            verdict.cells,
            *(signed(value) for value in (verdict.mean, verdict.min, verdict.max)),
            f"{verdict.p:.2g}",
            _WORDS[verdict.outcome] + (f", {format_count(verdict.slower, 'cell')} slower" if verdict.slower else ""),
        ]
        for verdict in measured
    ]
    left = len(verdicts) - len(measured)
    lines = cli_text.table(head, rows, right=range(2, len(head) - 1))
    return lines + ([f"{format_count(left, 'rule')} without a measured cell"] if left else [])


def signed(value: float | None) -> str:
    """A share in percent with its sign."""
    return cli_text.percent(value) if value is None or value <= 0 else f"+{cli_text.percent(value)}"


def described(improvement: Improvement, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A collective as JSON takes it."""
    return {
        "level": improvement.level,
        "table": cli_text.records(improvement.table()),
        "cells": cli_text.records(improvement.by_size()),
        "rules": [
            {
                "method": each.method,
                "bounds": {name: list(ends) for name, ends in each.bounds.items()},
                "cells": each.cells,
                **{name: getattr(each, name) for name in ("mean", "min", "max", "p")},
                "slower_cells": each.slower,
                "outcome": each.outcome,
                "default": each.default,
            }
            for each in verdicts
        ],
    }
