"""What ``info`` says: the files, why rows or files were skipped, what each collective has."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dashboard.commands.text import one_line, percent, table, time
from dashboard.domain.units import format_bytes, format_count, format_range

_SHOWN_SKIPS = 3
_SHOWN_TEXT = 60
_SHOWN_VALUES = 8


def info_lines(answer: Mapping[str, Any]) -> list[str]:
    """Lines of ``info``: the files, why rows or files were skipped, what each collective has."""
    files = answer["files"]
    folder = _common_folder([f["path"] for f in files])
    names = {f["path"]: f["path"].removeprefix(folder) for f in files}
    lines = [f"in {folder}"] if folder else []
    lines += _in_short(files)
    rows = [[names[f["path"]], f["format"] or "-", f["rows"], f["skipped"], _holds(f)] for f in files]
    lines += table(["file", "format", "rows", "skipped", "what it holds"], rows, right=(2, 3))
    unusable = [[names[f["path"]], f["error"].removeprefix(f"{f['path']}: ")] for f in files if f["error"]]
    skipped = [[names[f["path"]], n, reason] for f in files for reason, n in f.get("reasons", {}).items()]
    examples = [
        [f"{names[f['path']]}:{skip['line']}", skip["reason"], skip["text"][:_SHOWN_TEXT]]
        for f in files
        for skip in f.get("skips", [])[:_SHOWN_SKIPS]
    ]
    for head, cells, right in (
        (["not used", "why"], unusable, ()),
        (["skipped in", "rows", "why"], skipped, (1,)),
        (["for example", "why", "text"], examples, ()),
    ):
        if cells:
            lines += ["", *table(head, cells, right)]
    noted: dict[str, list[str]] = {}
    for f in files:
        for note in f.get("notes", []):
            noted.setdefault(one_line(note), []).append(names[f["path"]])
    lines += ["", *(f"note: {_of_files(where, len(files))}{note}" for note, where in noted.items())] if noted else []
    differ = [[name, _few(values)] for name, values in answer.get("facets", {}).items() if len(values) > 1]
    lines += (
        ["", *table(["facet", "values; one of them is chosen with --select FACET=VALUE"], differ)] if differ else []
    )
    for name, cube in answer["collectives"].items():
        lines += ["", *_collective_text(name, cube)]
        lines += [f"    {line}" for line in doubtful_lines(cube["doubtful"])]
        if "outliers" in answer:
            lines += [f"    {line}" for line in _outliers_text(answer["outliers"][name])]
        if "between_sizes" in answer:
            lines += [f"    {line}" for line in _between_text(answer["between_sizes"][name])]
    return lines


def _of_files(names: Sequence[str], count: int) -> str:
    """Of which files something is said, before it; nothing where that is all of them."""
    if len(names) == count:
        return ""
    return f"{names[0]}: " if len(names) == 1 else f"{len(names):,} of {count:,} files, such as {names[0]}: "


def _few(values: Sequence[str]) -> str:
    """The first of many values, and how many there are more."""
    more = [f"{len(values) - _SHOWN_VALUES} more"] if len(values) > _SHOWN_VALUES else []
    return ", ".join([*(f"'{value}'" if "," in value else value for value in values[:_SHOWN_VALUES]), *more])


def _in_short(files: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many files of which format, and what they lack; nothing for one file."""
    if len(files) < 2:
        return []
    formats = Counter(file["format"] for file in files if file["format"])
    lacking = Counter(need for file in files for need in file["needs"])
    said = [f"{count:,} {name}" for name, count in formats.most_common()]
    said += [f"{len(files) - formats.total():,} no results"] if formats.total() < len(files) else []
    lines = [f"{len(files):,} files: {', '.join(said)}"]
    if lacking:
        lines.append(f"not said: {', '.join(f'{name} by {count:,}' for name, count in lacking.most_common())}")
    return [*lines, ""]


def doubtful_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Times that cannot be trusted, with the reason; nothing where all can."""
    if not rows:
        return []
    head = ["method", "processes", "message size", "time", "why it cannot be trusted"]
    body = [
        [row["method"], row["comm_size"], format_bytes(row["message_size"]), time(row["time"]), row["reason"]]
        for row in rows
    ]
    return [f"doubtful times: {len(rows):,}", *table(head, body, right=(1, 2, 3))]


def _between_text(errors: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Errors of times that are left out and interpolated from their neighbours."""
    lines = []
    for along, rows in errors.items():
        what = along.replace("_", " ")
        if not rows:
            lines.append(f"nothing was measured on both sides of any {what}")
            continue
        figures = [[f"{row[name]:.1f}" for name in ("median", "p95", "max")] for row in rows]
        body = [[row[along], row["cells"], *text] for row, text in zip(rows, figures, strict=True)]
        head = [what, "cells", "median (%)", "95 % (%)", "max (%)"]
        lines += ["interpolated where it was measured, off by:", *table(head, body, right=range(5))]
    return lines


def _outliers_text(outliers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines on the times that do not fit those around them."""
    if not outliers:
        return ["no outliers"]
    rows = [
        [
            row["method"],
            row["comm_size"],
            format_bytes(row["message_size"]),
            time(row["time"]),
            time(row["expected"]),
            f"{row['ratio']:.2f}",
            row["reason"],
        ]
        for row in outliers
    ]
    head = ["method", "processes", "message size", "time", "expected", "ratio", "why"]
    return [f"outliers: {len(outliers):,}", *table(head, rows, right=(1, 2, 3, 4, 5))]


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that all of several files are in, with its last slash; empty where that says nothing."""
    if len(paths) < 2 or len({Path(path).is_absolute() for path in paths}) > 1:
        return ""
    folder = os.path.commonpath([Path(path).parent for path in paths])
    return f"{folder.rstrip(os.sep)}{os.sep}" if folder else ""


def _holds(file: Mapping[str, Any]) -> str:
    if file["error"]:
        return "(not used)"
    needs = f"needs hints: {', '.join(file['needs'])}" if file["needs"] else ""
    return "; ".join(text for text in (", ".join(file["collectives"]), needs) if text)


def _doubles_text(doubles: Mapping[str, Any]) -> str:
    """A line on the methods that ran as another one; empty without any."""
    if not doubles["cells"]:
        return ""
    what = f"    cells where a method ran as another one, which wins there: {doubles['cells']:,}"
    if doubles["median"] is None:
        return what
    spread = f"median {percent(doubles['median'])}, 90 % below {percent(doubles['p90'])}"
    return f"{what}; two measurements of one program differ by {spread} ({doubles['pairs']:,} pairs)"


def _collective_text(name: str, cube: Mapping[str, Any]) -> list[str]:
    def span(values: Sequence[Any], text: Any) -> str:
        return f"{len(values):,} ({format_range(min(values), max(values), text)})" if values else "0"

    noise = cube["noise"]
    measured, cells = cube["measured"], cube["cells"]
    about = [f"{measured:,} of {cells:,} cells measured ({100 * measured / cells:.1f} %)"]
    if noise["median"] is not None:
        about.append(f"spread / time: median {percent(noise['median'])}, 90 % below {percent(noise['p90'])}")
    axes = [
        format_count(len(cube["methods"]), "method"),
        f"communicator sizes {span(cube['comm_size'], '{:,}'.format)}",
        f"message sizes {span(cube['message_size'], format_bytes)}",
    ]
    lines = [
        f"{name}: {', '.join(axes)}",
        f"    {'; '.join(about)}",
        f"    statistic: {cube['statistic']}" if cube["statistic"] else "",
        _doubles_text(cube["doubles"]),
    ]
    partly = [m for m in cube["methods"] if m["measured"] < m["cells"]]
    if partly:
        lines.append(f"    {format_count(len(partly), 'method')} not measured everywhere:")
        rows = [[m["method"], f"{m['measured']:,} of {m['cells']:,}"] for m in partly]
        lines += [f"    {line}" for line in table(["method", "cells"], rows)]
    return [line for line in lines if line]
