"""colltune's own run format: JSON Lines, appended to while a campaign runs.

The first line is a header ``{"colltune_run": 1, "attrs": {…}}`` (``attrs``: system, network, library,
library_version, benchmark, statistic, …), every further line one measured point::

    {"collective": "bcast", "algorithm": "pipeline", "segment_size": 8192, "comm_size": 8,
     "message_size": 65536, "samples": [1.23e-3, 1.21e-3]}

Sizes are bytes by the project's convention, times seconds. Instead of ``samples`` a point may hold
``time`` with ``time_std`` and ``repetitions``. Optional: ``ppn``, ``library_id``, ``parameters`` (an
object of further method parameters), ``launch`` (from 1, where there are several; a point then stands in
one line for each), ``late`` (repetitions left out since a process started late), ``seconds`` (what the point
took with all that was done around its repetitions), ``again`` (text: why it was measured once more; the lines of
the same point and launch before it are passed over), ``graph`` (an object: ``digest`` of the messages of one call
and ``programs``, see `loaders.doubles`) and ``error`` (text: the method was refused, is unsafe or gave a wrong
result; such a point is not timed). A resumed campaign may repeat
the header. A line that a crash cut off is passed over; the next one starts anew.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Hashable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Self

import numpy as np
import pandas as pd

from loaders.cube import method_label
from loaders.doubles import Ran, doubles_of, ran
from loaders.launches import compare
from loaders.names import plain_collective
from loaders.rows import MethodKey
from loaders.source import RESERVED, Format, Source

_SIZES = ("segment_size", "comm_size", "message_size", "ppn", "library_id", "repetitions")
_POINTS = 20_000
#: Points with one of these are read before all others.
_LOOKED_AT = ('"graph"', '"launch"', '"late"', '"again"')
#: Launches of one point disagree when one takes more than so many times another one.
_DISAGREE = 3.0
#: Attribute of a cube: points that are doubtful by themselves, as JSON: ``collective, method, comm_size,
#: message_size``, ``ppn`` where told, and ``reason``.
DOUBTFUL = "doubtful_times"
_NOT_OF_METHOD = frozenset(
    ("comm_size", "message_size", "ppn", "repetitions", "time", "time_std", "library_id", "double_of")
)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text starts with the run header."""
    return head.lstrip()[:64].replace(b" ", b"").startswith(b'{"colltune_run":')


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read all whole points; see `loaders.source.Format`."""
    source.attrs.setdefault("statistic_kind", "completion")
    double_of, since = _whole_run(source)
    held: list[dict[str, Any]] = []
    for number, line in source.lines():
        if not line.strip():
            continue
        fault = _take(source, line, held, double_of, since, number)
        if fault:
            source.skip(number, line, fault)
        if len(held) >= _POINTS:
            yield from _tables(held)
            held = []
    yield from _tables(held)
    if not source.rows:
        raise source.fail(f"the run holds no finished point ({source.skipped} lines passed over)")


def _of_launch(record: Mapping[str, Any]) -> Hashable:
    launch = record.get("launch")
    return (*_place(record), launch if type(launch) is int else 1)


def _whole_run(source: Source) -> tuple[dict[tuple[Hashable, Hashable], str], dict[Hashable, tuple[int, str]]]:
    """What only all points together tell, in a pass of its own.

    Returns
    -------
    dict
        Methods that ran as another one by cell and method: a double may stand before the other. Launches that stand
        out are noted.
    dict
        Line from which on a point of a launch counts, with the reason, where it was measured once more.
    """
    since: dict[Hashable, tuple[int, str]] = {}
    cells: dict[Hashable, dict[Hashable, tuple[tuple[int, int], Ran]]] = {}
    medians: dict[Hashable, dict[int, float]] = {}
    late: dict[Hashable, tuple[Hashable, str]] = {}
    for number, line in source.lines():
        with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
            record = json.loads(line) if any(word in line for word in _LOOKED_AT) else {}
            if isinstance(record.get("again"), str):
                since[_of_launch(record)] = number, record["again"]
                late.pop(_of_launch(record), None)
            if "error" in record or "samples" not in record or _check(record):
                continue
            cell, method = _place(record)
            if (run := ran(method, record)) is not None:
                cells.setdefault(cell, {}).setdefault(method, ((record.get("library_id") or 0, number), run))
            if type(record.get("launch")) is int:
                medians.setdefault((cell, method), {})[record["launch"]] = median(record["samples"])
            if type(record.get("late")) is int and record["late"] > len(record["samples"]):
                why = f"{record['late']} starts were late, and {len(record['samples'])} were not"
                late[_of_launch(record)] = (cell, method), why
    _note_launches(source, medians)
    _note_doubts(source, dict(late.values()) | _disagreeing(medians))
    ordered = {
        cell: [run for _, run in sorted(there.values(), key=lambda pair: pair[0])] for cell, there in cells.items()
    }
    return {double: method_label(MethodKey(*other)) for double, other in doubles_of(ordered).items()}, since


def _disagreeing(medians: Mapping[Hashable, Mapping[int, float]]) -> dict[Hashable, str]:
    """Points whose launches are far apart, with the reason."""
    ratios = {point: max(each.values()) / min(each.values()) for point, each in medians.items() if len(each) > 1}
    return {
        point: f"its launches disagree: the longest takes {ratio:.1f} times the shortest"
        for point, ratio in ratios.items()
        if ratio > _DISAGREE
    }


def _note_doubts(source: Source, doubts: Mapping[Any, str]) -> None:
    """Have the cube tell which of its times are doubtful by what only single points show."""
    if not doubts:
        return
    records = [
        {
            "collective": cell[0],
            "method": method_label(MethodKey(*method)),
            "comm_size": cell[1],
            "message_size": cell[2],
            **({} if cell[3] is None else {"ppn": cell[3]}),
            "reason": reason,
        }
        for (cell, method), reason in doubts.items()
    ]
    source.attrs[DOUBTFUL] = json.dumps(records)


def _note_launches(source: Source, medians: Mapping[Hashable, Mapping[int, float]]) -> None:
    launches = compare(medians)
    for launch in launches:
        if launch.outlier:
            share = f"{launch.ratio:.2f} times those of the others in the middle of {launch.points} points"
            source.note(f"launch {launch.number} of {len(launches)} stands out: its times are {share}", warn=True)


def _place(record: Mapping[str, Any]) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Cell and method of a point."""
    sizes = tuple(record.get(name) for name in ("comm_size", "message_size", "ppn"))
    parameters = tuple(sorted((record.get("parameters") or {}).items()))
    return (plain_collective(record["collective"]), *sizes), (
        record["algorithm"],
        record.get("segment_size") or 0,
        parameters,
    )


def _take(
    source: Source,
    line: str,
    held: list[dict[str, Any]],
    double_of: Mapping[tuple[Hashable, Hashable], str],
    since: Mapping[Hashable, tuple[int, str]],
    number: int,
) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "not a whole JSON record"
    if not isinstance(record, dict):
        return "not a JSON object"
    if "colltune_run" in record:
        attrs = record.get("attrs", {})
        if isinstance(attrs, dict):
            # The nodes of the ranks, in runs of before; how ranks are placed is another thing.
            attrs = {"rank_nodes" if k == "placement" else k: v for k, v in attrs.items()}
            source.attrs.update({str(k): v for k, v in attrs.items() if isinstance(v, str | int | float)})
        return ""
    if "error" in record:
        return f"not timed: {record['error']}"[:120]
    if fault := _check(record) or _replaced(record, since, number):
        return fault
    row = {k: record[k] for k in ("collective", "algorithm", *_SIZES) if record.get(k) is not None}
    row["collective"] = plain_collective(row["collective"])
    row["parameters"] = record.get("parameters") or {}
    if double_of:
        row["double_of"] = double_of.get(_place(record), "")
    if "samples" in record:
        row.pop("repetitions", None)
        held.append({**row, "time": record["samples"]})
    else:
        held.append(
            {
                **row,
                "time": record["time"],
                "time_std": math.nan if record.get("time_std") is None else record["time_std"],
            }
        )
    source.loaded(1)
    return ""


def _replaced(record: Mapping[str, Any], since: Mapping[Hashable, tuple[int, str]], number: int) -> str:
    """Why a point does not count, as it was measured once more further down; empty where it was not."""
    later, why = since.get(_of_launch(record), (0, "")) if since else (0, "")
    return f"measured again: {why}"[:120] if number < later else ""


def _check(record: Mapping[str, Any]) -> str:
    for name in ("collective", "algorithm"):
        if not isinstance(record.get(name), str) or not record[name]:
            return f"{name!r} is missing"
    for name in _SIZES:
        value = record.get(name)
        needed = name in ("comm_size", "message_size")
        least = 1 if name in ("comm_size", "ppn") else 0
        if (needed or value is not None) and (type(value) is not int or not least <= value < 2**62):
            return f"{name!r} is not a size"
    return _check_names(record) or _check_times(record)


def _check_times(record: Mapping[str, Any]) -> str:
    times = record.get("samples", [record.get("time")])
    if not isinstance(times, list) or not times:
        return "no times"
    # A whole number of JSON may have more digits than a float has room for.
    if not all(type(t) in (int, float) and 0 < t <= sys.float_info.max for t in times):
        return "a time is not a positive number"
    std = record.get("time_std")
    if std is not None and (type(std) not in (int, float) or not 0 <= std <= sys.float_info.max):
        return "'time_std' is not a number"
    return ""


def _check_names(record: Mapping[str, Any]) -> str:
    if plain_collective(record["collective"]) is None:
        return "'collective' is not a name"
    parameters = record.get("parameters") or {}
    if not isinstance(parameters, dict) or any(isinstance(v, list | dict) for v in parameters.values()):
        return "'parameters' is not an object of text and numbers"
    taken = sorted(RESERVED & set(parameters))
    return f"'parameters' holds {taken[0]!r}, which is no parameter" if taken else ""


def _tables(points: list[dict[str, Any]]) -> Iterator[pd.DataFrame]:
    """Tables of points with the same columns, the first point of each method before all others.

    So the methods appear in the order of the file, whatever they have besides.
    """
    firsts: dict[str, dict[str, Any]] = {}
    others: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for point in points:
        flat = {**point.pop("parameters"), **point}
        method = json.dumps([v for k, v in sorted(flat.items()) if k not in _NOT_OF_METHOD])
        if method in firsts:
            others.setdefault(_columns(flat), []).append(flat)
        else:
            firsts[method] = flat
    # Those that follow each other and have the same columns make one table: each table costs milliseconds.
    for group in [*(list(alike) for _, alike in groupby(firsts.values(), _columns)), *others.values()]:
        if not isinstance(group[0]["time"], list):
            yield pd.DataFrame(group)
            continue
        samples = [point.pop("time") for point in group]
        places = np.repeat(np.arange(len(group)), [len(each) for each in samples])
        table = pd.DataFrame(group).iloc[places].reset_index(drop=True)
        yield table.assign(time=np.array([time for each in samples for time in each], dtype=np.float64), repetition=0)


def _columns(point: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells apart points that cannot stand in one table."""
    return (*sorted(point), str(isinstance(point["time"], list)))


class RunWriter:
    """Append points to a run file, each flushed to disk before the next is measured.

    Parameters
    ----------
    path
        The file; made with a header if it is new, else appended to.
    attrs
        What holds for the whole run: system, network, library, benchmark, statistic, …
    """

    def __init__(self, path: str | os.PathLike[str], attrs: Mapping[str, Any]) -> None:
        self.path = Path(path)
        torn = self.path.exists() and self.path.stat().st_size > 0 and not self._ends_whole()
        if torn and not self._has_header():
            # Only a header that a crash cut off: without a whole one in front, no reader would know the file.
            os.truncate(self.path, 0)
            torn = False
        self._stream = self.path.open("a", encoding="utf-8")
        if torn:
            self._stream.write("\n")
        self._write({"colltune_run": 1, "attrs": dict(attrs)})

    def append(self, point: Mapping[str, Any]) -> None:
        """Append one measured point (see the module's text); on disk when this returns.

        Raises
        ------
        ValueError
            The point lacks something or holds a time that is not positive.
        """
        fault = "" if "error" in point else _check(point)
        if fault:
            raise ValueError(f"a run cannot take this point: {fault}: {dict(point)}")
        self._write(point)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _has_header(self) -> bool:
        with self.path.open("rb") as stream:
            return stream.readline().endswith(b"\n")

    def _ends_whole(self) -> bool:
        with self.path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) == b"\n"

    def _write(self, record: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(record, allow_nan=False) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())


FORMAT = Format("run", "colltune run (JSON Lines)", recognises, read)
