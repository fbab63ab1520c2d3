"""``colltune tune-check --decided``: whether the rules gain in use what they gained when they were decided."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.commands import text as cli_text
from dashboard.commands.tune_check.text import signed
from dashboard.decisions import DecisionFunction
from dashboard.decisions.judged.improvement import Improvement
from dashboard.decisions.judged.reproduced import reproduced
from dashboard.decisions.measured.trust import without_doubtful
from dashboard.domain.units import format_bytes
from dashboard.export.rules.over import fitted
from loaders import open_results

Frames = Mapping[str, "pd.DataFrame"]


def held_against(
    files: Sequence[str],
    improvements: Mapping[str, Improvement],
    decisions: Mapping[str, DecisionFunction],
    version: str,
) -> dict[str, pd.DataFrame]:
    """Each collective's cells as decided and as measured.

    Parameters
    ----------
    files
        Results that were decided from.
    improvements
        What was measured through the rules file.
    version
        Of the Open MPI that reads the rules.
    """
    results = open_results(list(files))
    frames = {}
    for name in (name for name in improvements if name in decisions and name in results.children):
        cube = without_doubtful(results[name].to_dataset())
        decision = fitted(decisions[name], cube, version)
        frames[name] = reproduced(improvements[name], decision, cube)
    return frames


def described(frames: Frames) -> dict[str, list[dict[str, Any]]]:
    """As JSON takes it."""
    return {name: cli_text.records(frame) for name, frame in frames.items()}


def lines_of(frames: Frames) -> list[str]:
    """A table of each collective."""
    lines: list[str] = []
    head = ["processes", "message", "decided for", "improvement decided", "measured", "p", ""]
    usual = ("as decided", "not measured")
    for name, frame in frames.items():
        count = int((frame["outcome"] == "as decided").sum())
        lines += ["", f"{name}: as decided at {count} of {len(frame)} cells, within noise", ""]
        rows = [
            [
                row["comm_size"],
                format_bytes(row["message_size"]),
                row["method"],
                *("-" if row[key] is None else signed(row[key]) for key in ("decided", "measured")),
                "-" if row["p"] is None else f"{row['p']:.2g}",
                row["outcome"] if row["outcome"] in usual else f"{row['outcome']} than decided",
            ]
            for row in cli_text.records(frame)
        ]
        lines += cli_text.table(head, rows, right=(0, 1, 3, 4, 5))
    return lines
