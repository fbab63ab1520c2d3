"""Writes colltune's own run format, `loaders.run`: light, since it runs in a benchmark's first process."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from loaders.names import RESERVED, plain_collective

#: Whole numbers of a point, from 0.
SIZES = ("segment_size", "comm_size", "message_size", "ppn", "library_id", "repetitions")


_BEGIN = b'{"colltune_run":'


class RunWriter:
    """Append points to a run file, each flushed to disk before the next is measured.

    Parameters
    ----------
    path
        The file; made with a header if it is new, else appended to.
    attrs
        What holds for the whole run: system, network, library, benchmark, statistic, …

    Raises
    ------
    ValueError
        The file is there and is no run.
    """

    def __init__(self, path: str | os.PathLike[str], attrs: Mapping[str, Any]) -> None:
        self.path = Path(path)
        there = self.path.exists() and self.path.stat().st_size > 0
        if there and not self._is_run():
            raise ValueError(f"{self.path} is no run of colltune, so that nothing is appended to it: name another file")
        torn = there and not self._ends_whole()
        if torn and not self._has_header():
            # Only a header that a crash cut off: without a whole one in front, no reader would know the file.
            os.truncate(self.path, 0)
            torn = False
        self._stream = self.path.open("a", encoding="utf-8")
        if torn:
            self._stream.write("\n")
        self._write({"colltune_run": 1, "attrs": dict(attrs)})

    def append(self, point: Mapping[str, Any]) -> None:
        """Append one measured point (see `loaders.run`); on disk when this returns.

        Raises
        ------
        ValueError
            The point lacks something or holds a time that is not positive.
        """
        point = {name: _plain(value) for name, value in point.items()}
        fault = "" if "error" in point else fault_of(point)
        if fault:
            raise ValueError(f"a run cannot take this point: {fault}: {dict(point)}")
        self._write(point)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_run(self) -> bool:
        """Whether it begins as a run, as far as a crash has let it."""
        with self.path.open("rb") as stream:
            begin = stream.read(64).lstrip().replace(b" ", b"")
        return begin[: len(_BEGIN)] == _BEGIN[: len(begin)]

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


def _plain(value: Any) -> Any:
    """A number or list of Python, of one of NumPy as a notebook has them."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.tolist() if type(value).__module__ == "numpy" else value


def fault_of(record: Mapping[str, Any]) -> str:
    """Why a line is no point of a run (see `loaders.run`); empty where it is one."""
    for name in ("collective", "algorithm"):
        if not isinstance(record.get(name), str) or not record[name]:
            return f"{name!r} is missing"
    for name in SIZES:
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
    if not isinstance(record.get("element_type") or "", str):
        return "'element_type' is not text"
    parameters = record.get("parameters") or {}
    if not isinstance(parameters, dict) or any(isinstance(v, list | dict) for v in parameters.values()):
        return "'parameters' is not an object of text and numbers"
    taken = sorted(RESERVED & set(parameters))
    return f"'parameters' holds {taken[0]!r}, which is no parameter" if taken else ""
