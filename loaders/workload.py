"""Workloads: how often an application calls each collective, from a table of text.

CSV or TSV with a header: ``collective, comm_size, message_size, calls``, optionally ``ppn``, in any order.
Message sizes are in bytes by the project's convention (see `loaders.collectives`); calls may be fractions.
Lines that start with ``#`` are remarks. Unlike in results, a line that cannot be used is an error: a
workload without it would be another one.
"""

import csv
import math
from collections.abc import Iterator
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import disk
from loaders.columns import separator_of
from loaders.errors import LoadError
from loaders.names import plain_collective

COLUMNS = ("collective", "comm_size", "message_size", "calls")
OPTIONAL = ("ppn",)
_LARGEST = 2**53


def read_workload(path: str | PathLike[str]) -> pd.DataFrame:
    """Read a workload.

    Returns
    -------
    DataFrame
        ``collective`` (the project's name), ``comm_size``, ``message_size`` (bytes), ``calls``; with ``ppn``, 0 where a
        line does not tell it, if the file has the column. Lines of the same call are summed, in the order of their
        first appearance. ``attrs["path"]`` and ``attrs["lines"]``, the number of lines read.

    Raises
    ------
    LoadError
        When the file cannot be read, has not these columns, or a line is not as it should be.
    """
    path = Path(path)
    try:
        text = disk.read_text(path, encoding="utf-8-sig")
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror or error}", path=path) from None
    except UnicodeDecodeError:
        raise LoadError("is not text in UTF-8; expected a table with a header, such as CSV", path=path) from None
    rows = list(_rows(text, path))
    if not rows:
        raise LoadError(f"holds no line of a workload; expected a header and lines of {', '.join(COLUMNS)}", path=path)
    table = pd.DataFrame(rows)
    keys = [name for name in table.columns if name != "calls"]
    summed = pd.DataFrame(table.groupby(keys, sort=False, as_index=False)["calls"].sum())[list(table.columns)]
    if not 0 < summed["calls"].sum() < math.inf:
        raise LoadError("the calls of all lines are 0 or their sum is not finite; expected some calls", path=path)
    summed.attrs.update(path=str(path), lines=len(rows))
    return summed


def _rows(text: str, path: Path) -> Iterator[dict[str, Any]]:
    places: dict[str, int] | None = None
    separator = ","
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if places is None:
            separator = separator_of(line) or ","
            places = _header([cell.lower() for cell in _cells(line, separator, path, number)], path, number)
            continue
        cells = _cells(line, separator, path, number)
        if len(cells) <= max(places.values()):
            raise LoadError(f"has {len(cells)} columns, expected as many as the header", path=path, line=number)
        yield _row({name: cells[place] for name, place in places.items()}, path, number)


def _cells(line: str, separator: str, path: Path, number: int) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True), [])]
    except csv.Error as error:
        raise LoadError(f"is not a line of a table: {error}", path=path, line=number) from None


def _header(names: list[str], path: Path, line: int) -> dict[str, int]:
    places = {name: names.index(name) for name in (*COLUMNS, *OPTIONAL) if name in names}
    missing = [name for name in COLUMNS if name not in places]
    if missing:
        near = [f"{match[0]} for {name}?" for name in missing if (match := get_close_matches(name, names, 1))]
        raise LoadError(
            f"the header has no column {', '.join(missing)}, only {', '.join(names)}; "
            f"expected {', '.join(COLUMNS)} and perhaps ppn" + (f" ({' '.join(near)})" if near else ""),
            path=path,
            line=line,
        )
    twice = [name for name in places if names.count(name) > 1]
    if twice:
        raise LoadError(f"the header has the column {twice[0]} twice", path=path, line=line)
    return places


def _row(cells: dict[str, str], path: Path, line: int) -> dict[str, Any]:
    collective = plain_collective(cells["collective"])
    if collective is None:
        raise LoadError(f"collective is {cells['collective']!r}, expected a name such as bcast", path=path, line=line)
    size = "0" if collective == "barrier" and not cells["message_size"] else cells["message_size"]
    try:
        calls = float(cells["calls"])
    except ValueError:
        calls = math.nan
    if not 0 <= calls < math.inf:
        raise LoadError(f"calls is {cells['calls']!r}, expected a number, 0 or more", path=path, line=line)
    row = {
        "collective": collective,
        "comm_size": _integer(cells["comm_size"], "comm_size", 1, path, line),
        "message_size": _integer(size, "message_size", 0, path, line),
        "calls": calls,
    }
    if "ppn" in cells:
        row["ppn"] = _integer(cells["ppn"], "ppn", 1, path, line) if cells["ppn"] else 0
    return row


def _integer(text: str, name: str, low: int, path: Path, line: int) -> int:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (low <= value <= _LARGEST and value == int(value)):
        raise LoadError(f"{name} is {text!r}, expected a whole number from {low}", path=path, line=line)
    return int(value)
