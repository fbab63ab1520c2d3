"""What loading tells of each file, as tables and sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from dashboard.domain.units import format_count
from loaders import LoadError
from loaders.hints import Hints

MOST_SKIPS = 2_000
#: Names that show what a pattern says of them.
_PREVIEWED = 6
#: What `verdict` says of a file that cannot be read, and of what is not among what was chosen.
REFUSED, UNUSED = "refused", "left out"
Report = Mapping[str, Any]


def plain(text: str) -> str:
    """Markdown that shows a text as it is: files decide what an error quotes, and may hold markup."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text).replace("\n", "  \n")


def shown_name(path: str, folders: Iterable[Path]) -> str:
    """Path relative to the first of the folders that holds it, else its name."""
    for folder in folders:
        if PurePath(path).is_relative_to(folder) and PurePath(path) != folder:
            return str(PurePath(path).relative_to(folder))
    return PurePath(path).name


def without_folders(text: str, folders: Iterable[Path]) -> str:
    """Text that names files relative to their folders."""
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return text


def files_table(reports: Sequence[Report], folders: Sequence[Path] = (), *, loaded: bool = True) -> pd.DataFrame:
    """One row for each file: ``file, result, format, rows, skipped, collectives, remarks``.

    Parameters
    ----------
    reports
        Of all files.
    folders
        Names of files are said relative to these.
    loaded
        Whether results were made of them; else they are what could be.
    """
    rows = [
        {
            "file": shown_name(str(report["path"]), folders),
            "result": verdict(report, loaded=loaded),
            "format": report.get("format") or "",
            "rows": 0 if report.get("unused") else report.get("rows", 0),
            "skipped": report.get("skipped", 0),
            "collectives": ", ".join(report.get("collectives", ())),
            "remarks": without_folders(_remarks(report), folders),
        }
        for report in reports
    ]
    columns = ["file", "result", "format", "rows", "skipped", "collectives", "remarks"]
    return pd.DataFrame(rows, columns=columns)


def verdict(report: Report, *, loaded: bool = True) -> str:
    """One word for a file: ``loaded``, ``in part`` (rows were skipped), ``left out``, ``needs hints`` or ``refused``.

    While nothing was `loaded`, ``usable`` is what can be.
    """
    if report.get("error"):
        return REFUSED
    if report.get("needs"):
        return "needs hints"
    if report.get("unused"):
        return UNUSED
    if not loaded:
        return "usable"
    return "in part" if report.get("skipped") else "loaded"


def _remarks(report: Report) -> str:
    parts = [str(report["error"])] if report.get("error") else []
    if report.get("needs"):
        parts.append(f"does not say: {', '.join(report['needs'])}; give it as a hint")
    if report.get("unused"):
        parts.append(f"none of its {format_count(report['rows'], 'row')} is of what was chosen")
    parts += [f"{format_count(count, 'row')} skipped: {reason}" for reason, count in report.get("reasons", {}).items()]
    return "; ".join([*parts, *report.get("notes", ())])


def skipped_table(reports: Sequence[Report], folders: Sequence[Path] = ()) -> tuple[pd.DataFrame, int]:
    """Rows that were not loaded: ``file, line, reason, text``.

    Returns
    -------
    table
        At most `MOST_SKIPS` rows; line 0 stands for rows that were left out together.
    skipped
        How many there are in all.
    """
    rows = [
        {"file": shown_name(str(report["path"]), folders), **{key: skip[key] for key in ("line", "reason", "text")}}
        for report in reports
        for skip in report.get("skips", ())
    ]
    total = sum(report.get("skipped", 0) for report in reports)
    return pd.DataFrame(rows[:MOST_SKIPS], columns=["file", "line", "reason", "text"]), total


def skipped_text(reports: Sequence[Report], listed: int) -> str:
    """How many rows were skipped for which reason, the most frequent first.

    Parameters
    ----------
    reports
        Of all files.
    listed
        How many of the skipped rows `skipped_table` lists.
    """
    skipped = sum(report.get("skipped", 0) for report in reports)
    if not skipped:
        return "No row of the files was skipped." if reports else ""
    reasons: Counter[str] = Counter()
    for report in reports:
        reasons.update(report.get("reasons", {}))
    causes = "; ".join(f"{count:,} × {reason}" for reason, count in reasons.most_common(8))
    text = f"{format_count(skipped, 'row was', 'rows were')} not loaded: {causes}."
    return f"{text} {listed:,} of them are listed." if listed < skipped else text


def needed(reports: Sequence[Report]) -> dict[str, int]:
    """Hints that files need, with the number of files."""
    return dict(Counter(name for report in reports if not report.get("error") for name in report.get("needs", ())))


def usable(reports: Sequence[Report]) -> list[Path]:
    """Files that could be loaded as they are."""
    return [Path(report["path"]) for report in reports if not report.get("error") and not report.get("needs")]


def headline(reports: Sequence[Report], methods: int, cells: int, collectives: int) -> str:
    """One sentence on what is loaded."""
    refused, unused = (sum(bool(report.get(name)) for report in reports) for name in ("error", "unused"))
    skipped = sum(report.get("skipped", 0) for report in reports if not report.get("error"))
    parts = [
        f"{format_count(methods, 'method')} of {format_count(collectives, 'collective')}",
        format_count(cells, "measured cell"),
        f"from {format_count(len(reports) - refused - unused, 'file')}",
    ]
    parts.append(f"{format_count(skipped, 'row')} skipped" if skipped else "no row skipped")
    parts += [f"{format_count(unused, 'file')} {UNUSED}"] if unused else []
    parts += [f"{format_count(refused, 'file')} {REFUSED}"] if refused else []
    return " · ".join(parts)


def pattern_preview(pattern: str, names: Sequence[str]) -> tuple[list[tuple[str, str]], int, str]:
    """What a pattern says of file names.

    Parameters
    ----------
    pattern
        As the hint of `loaders.open_results`.
    names
        Of the files.

    Returns
    -------
    shown
        ``(name, what the pattern says)`` of the first names; half of the room is for those that do not match.
    matching
        How many names match.
    error
        What is wrong with the pattern; empty: nothing.
    """
    try:
        hints = Hints({"pattern": pattern})
    except LoadError as error:
        return [], 0, str(error)
    matched: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for name in names:
        try:
            hinted = hints.of(PurePath(name))
        except LoadError:
            others.append((name, "does not match"))
        else:
            matched.append((name, ", ".join(f"{key} {value}" for key, value in hinted.items())))
    shown = others[: _PREVIEWED // 2]
    return [*shown, *matched[: _PREVIEWED - len(shown)]], len(matched), ""
