"""What the command prints for people: sizes and times with units, aligned tables, the decision map as text.

Numbers are written as on the pages (`dashboard.domain.units`): a blank before a unit, a comma after each three digits.
"""

from __future__ import annotations

import math
import shutil
import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboard.domain.held_out import BETWEEN, over, title
from dashboard.domain.units import format_count, format_gain, format_percent, format_time, size_parts
from dashboard.domain.unmeasured import unmeasured

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def time(seconds: float | None) -> str:
    """A time in seconds as everywhere, ``-`` for not measured."""
    return "-" if seconds is None or not math.isfinite(seconds) else format_time(seconds)


def percent(value: float | None) -> str:
    """A percentage as everywhere, ``-`` for none."""
    return "-" if value is None or not math.isfinite(value) else format_percent(value)


def two_decimals(value: float | None) -> str:
    """A figure in a column of figures, ``-`` for none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.2f}"


def one_line(text: object) -> str:
    """Text without line ends or control characters, so that it cannot break a table or a terminal."""
    return "".join(char if char.isprintable() else " " for char in str(text))


def table(head: Sequence[str], rows: Iterable[Sequence[object]], right: Collection[int] = ()) -> list[str]:
    """Lines of a table with aligned columns, those in `right` to the right."""
    import tabulate

    # Heads get no more room than cells, and cells keep what they are indented by.
    tabulate.MIN_PADDING, tabulate.PRESERVE_WHITESPACE = 0, True
    cells = [[_written(cell) for cell in row] for row in rows]
    sides = ["right" if column in right else "left" for column in range(len(head))]
    text = tabulate.tabulate(cells, list(head), tablefmt="plain", disable_numparse=True, colalign=sides)
    return [line.rstrip() for line in text.split("\n")]


def _written(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else one_line(cell)


def frame_table(frame: pd.DataFrame) -> list[str]:
    """Lines of a table of numbers; columns named ``penalty…`` are in percent."""
    shares = ("penalty", "errors", "predicted_error")
    head = [f"{name} (%)" if str(name).startswith(shares) else str(name) for name in frame.columns]
    rows = [[_cell(value) for value in row] for row in frame_rows(frame)]
    return table([name.replace("_", " ") for name in head], rows, right=range(len(head)))


def _cell(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:,.6g}"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as JSON takes them, None where a number is missing."""
    columns = [str(column) for column in frame.columns]
    return [dict(zip(columns, row, strict=True)) for row in frame_rows(frame)]


def frame_rows(frame: pd.DataFrame) -> Iterator[list[Any]]:
    """Rows of a table as plain Python values, None where a number is missing."""
    for row in frame.itertuples(index=False):
        values = [value.item() if hasattr(value, "item") else value for value in row]
        yield [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]


def map_text(dmap: xr.Dataset, *, ties: bool = False, unsure: Any = None) -> list[str]:
    """Draw a decision map as letters, with a legend.

    Parameters
    ----------
    dmap
        As `dashboard.decisions.decision_map` gives it.
    ties
        Mark cells where several methods are as good as the best.
    unsure
        bool ``(comm_size, message_size)``: cells to be marked with a question; None: none.

    Returns
    -------
    list of str
        One line a communicator size, one column a message size, ``.`` where nothing was measured. Only methods that are
        the best somewhere get a letter, the most frequent one ``A``; beyond 52 of them, two letters each.
    """
    best = dmap["best"].transpose("comm_size", "message_size").values.tolist()
    methods = [one_line(label) for label in dmap["method"].values.tolist()]
    counts = Counter(index for row in best for index in row if index >= 0)
    winners = sorted(counts, key=lambda index: (-counts[index], index))
    codes = dict(zip(winners, _codes(len(winners)), strict=True))
    rows = [[codes.get(index, ".") for index in row] for row in best]
    if ties:
        several = (dmap["ties"].transpose("comm_size", "message_size").values > 1).tolist()
        rows = [[code + "'" * tie for code, tie in zip(*pair, strict=True)] for pair in zip(rows, several, strict=True)]
    if unsure is not None:
        rows = [
            [code + "?" * mark for code, mark in zip(*pair, strict=True)] for pair in zip(rows, unsure, strict=True)
        ]
    lines = grid(dmap["comm_size"].values.tolist(), dmap["message_size"].values.tolist(), rows)
    measured = sum(counts.values())
    spans = _spans(best, dmap["best_time"].transpose("comm_size", "message_size").values.tolist())
    legend = [
        [codes[index], index, methods[index], counts[index], f"{100 * counts[index] / measured:.1f} %", *spans[index]]
        for index in winners
    ]
    head = ["", "index", "method", "cells", "share", "from", "to"]
    lines += ["", *table(head, legend, right=(1, 3, 4, 5, 6))]
    never = len(methods) - len(winners)
    if never:
        lines.append(f"{never:,} of {len(methods):,} methods {'is' if never == 1 else 'are'} nowhere the best.")
    missing = sum(len(row) for row in best) - measured
    if missing:
        lines.append(f". = not measured ({format_count(missing, 'cell')})")
    return lines


def _spans(best: Sequence[Sequence[int]], times: Sequence[Sequence[float]]) -> dict[int, tuple[str, str]]:
    """Shortest and longest time of each method over the cells where it is the best."""
    seconds_of: dict[int, list[float]] = {}
    for indices, row in zip(best, times, strict=True):
        for index, seconds in zip(indices, row, strict=True):
            seconds_of.setdefault(index, []).append(seconds)
    return {index: (time(min(values)), time(max(values))) for index, values in seconds_of.items()}


def _codes(count: int) -> list[str]:
    if count <= len(_LETTERS):
        return list(_LETTERS[:count])
    return [f"{_LETTERS[i // 26 % 52]}{string.ascii_lowercase[i % 26]}" for i in range(count)]


def grid(comm: Sequence[int], message: Sequence[int], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of the map, cut into parts that fit the terminal, under headings of two lines (number, unit)."""
    width = shutil.get_terminal_size((120, 24)).columns
    heads = [size_parts(count) for count in message]
    columns = [max(len(heads[c][0]), len(heads[c][1]), *(len(row[c]) for row in rows)) + 1 for c in range(len(message))]
    first = max(len("processes"), *(len(f"{count:,}") for count in comm))
    lines: list[str] = []
    start = 0
    while start < len(message):
        stop, used = start + 1, first + columns[start]
        while stop < len(message) and used + columns[stop] <= width:
            used += columns[stop]
            stop += 1
        part = range(start, stop)
        lines += [""] if lines else []
        lines.append(" " * first + "".join(heads[c][0].rjust(columns[c]) for c in part))
        lines.append("processes".rjust(first) + "".join(heads[c][1].rjust(columns[c]) for c in part))
        for count, row in zip(comm, rows, strict=True):
            lines.append(f"{count:,}".rjust(first) + "".join(row[c].rjust(columns[c]) for c in part))
        start = stop
    return lines


def decision_text(answer: Mapping[str, Any], options: str, source_lines: int | None) -> list[str]:
    """Lines on a decision function's size and quality.

    Parameters
    ----------
    answer
        What ``decide --json`` gives.
    options
        Those that differ from the defaults.
    source_lines
        Of the function in C; None where it cannot be written in C.
    """
    from dashboard.decisions.measured.selection import WITHOUT, yardstick

    depth, loss, facts = answer["depth"], answer["penalty"], answer["decision"]["provenance"]
    rows = [
        ("decision", f"{answer['collective']}, {answer['tree']}" + (f" ({options})" if options else "")),
        ("size", f"{format_count(answer['leaves'], 'leaf', 'leaves')}, {format_count(answer['nodes'], 'node')}"),
        ("depth", ", ".join(f"{name} {number(depth[name])}" for name in ("max", "min", "mean", "expected"))),
        ("penalty", ", ".join(f"{name} {percent(loss[name])}" for name in ("mean", "median", "min", "max"))),
        *([("", f"against the {yardstick(facts)}")] if facts.get(WITHOUT) else []),
        ("not measured", unmeasured(loss["unmeasured"])),
        *_over_default(answer["against_default"], "in sample"),
    ]
    rows += [(f"{when} pruning", _pruning(answer[when])) for when in ("before", "after") if when in answer]
    for table in facts.get("recommended", []):
        rows.append((title(table), table["said"]))
        rows += [("", BETWEEN)] if table["tried"] else []
    if "held_out" in answer:
        rows += _held_out(answer["held_out"])
    if source_lines is not None:
        rows.append(("C source", f"{source_lines:,} lines, equal branches merged"))
    return [f"{name:15} {text}" for name, text in rows]


def _pruning(figures: Mapping[str, Any]) -> str:
    """What C4.5 says of a tree."""
    predicted = figures.get("predicted_error")
    rest = "" if predicted is None else f", predicted error {percent(predicted)}"
    leaves = format_count(figures["leaves"], "leaf", "leaves")
    return f"size {figures['size']:,}, {leaves}, errors {percent(figures['errors'])}{rest}"


def _held_out(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The penalty at what was not decided on, in how many folds."""
    names = {"mean": "mean", "median": "median", "p95": "95 % of cells below", "max": "max"}
    text = ", ".join(f"{title} {percent(figures[name])}" for name, title in names.items())
    rows = [("held out", f"{text} ({figures['scheme']}, {len(figures['folds'])} folds)")]
    if words := over(figures["scheme"]):
        within = figures["within"]["mean"]
        rows.append(("", words + ("" if within is None else f"; between others alone: mean {percent(within)}")))
    if figures["unmeasured"]:
        rows.append(("", unmeasured(figures["unmeasured"])))
    rows += _over_default(figures["against_default"], "at what was left out")
    if figures["floor"] is not None:
        rows.append(("", f"a perfect map of what was decided on: mean {percent(figures['floor']['mean'])}"))
    return rows


def _over_default(gain: Mapping[str, Any] | None, of: str) -> list[tuple[str, str]]:
    """Times against the library's own decision; nothing where that was not measured."""
    if gain is None or gain["mean"] is None:
        return []
    slower = f"{gain['slower']:,} of {format_count(gain['cells'], 'cell')} slower"
    return [("over default", f"{format_gain(gain['mean'])} {of}, mean of cells; {slower}")]


def number(value: float | None) -> str:
    """Up to two decimals, ``-`` for none."""
    return "-" if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")
