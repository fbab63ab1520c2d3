"""Checks and conversions of the rows of a table, however the table was stored."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from loaders.chunk import LONGEST_NAME, Chunk, Mask, not_time, not_whole, operation_name, plain_text, translate
from loaders.columns import TEXTS, Plan
from loaders.delimited import Delimited, Finish
from loaders.facet_names import ROW_FACETS
from loaders.names import collective_name, meant
from loaders.source import Source

#: How many lines may stand before a table's header.
HEADER_LINES = 60

#: Seconds that no collective takes in the middle of a campaign.
_LONG_S = 60.0
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)


class Rows:
    """Turns parsed rows of one table into the columns of `loaders.names.COLUMNS`.

    Parameters
    ----------
    source
        Where rows are counted.
    plan
        What the columns mean.
    """

    def __init__(self, source: Source, plan: Plan) -> None:
        self._source = source
        self._plan = plan
        self._raw = "repetition" in plan.names
        # Of rows that measured the same, which else are results of which the mean is taken.
        self._medians = source.options.get("statistic") == "median" and not {"repetitions", "time_std"} & {*plan.names}
        if self._medians:
            source.heeded.add("statistic")
        self._unit_asked = False
        source.unused = list(plan.unknown)
        if plan.unknown:
            names = ", ".join(repr(n) for n in plan.unknown)
            source.note(f"columns not used: {names} (the hint columns maps them, --column of a command)", warn=True)
        unit = {1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}.get(plan.scale["time"])
        if unit:
            source.note(f"times converted from {unit}")

    def finish(self, chunk: Chunk) -> pd.DataFrame:
        """Skip rows at fault with their reasons, count the others as loaded, and return them."""
        data, faults = self._checked(chunk.frame)
        chunk = chunk.with_frame(data)
        kept = chunk.drop(self._source, faults)
        self._doubt_unit(kept)
        if others := {n: np.int64 for n in self._whole_columns() if kept[n].dtype != np.int64}:
            kept = kept.astype(others)
        if self._medians:
            kept = kept.assign(repetition=0)
        return kept if self._plan.adjust is None else self._plan.adjust(self._source, kept)

    def _doubt_unit(self, kept: pd.DataFrame) -> None:
        """Say once that times which name no unit are too long for seconds."""
        if self._unit_asked or self._plan.scale["time"] != 1.0 or not len(kept):
            return
        self._unit_asked = True
        if (middle := float(kept["time"].median())) > _LONG_S:
            remedy = "if they are no seconds, --column time_us=COLUMN (time_ns, time_ms)"
            self._source.note(f"half of the times are above {middle:,.0f} s: {remedy}", warn=True)

    def _whole_columns(self) -> list[str]:
        floats = ("time", "time_std", "repetitions", *TEXTS)
        return [n for n in self._columns() if n not in floats and n not in self._plan.parameters]

    def _columns(self) -> Iterator[str]:
        for name in self._plan.names:
            if not (self._raw and name == "repetitions"):
                yield name

    def _checked(self, frame: pd.DataFrame) -> tuple[dict[str, Any], list[tuple[Mask, str]]]:
        data: dict[str, Any] = {}
        faults: list[tuple[Mask, str]] = []
        for name in sorted(self._columns(), key="collective".__ne__):
            column = frame[name]
            if name == "operation":
                data[name] = translate(column, operation_name)
            elif name in ROW_FACETS or name == "double_of":
                data[name] = translate(column, plain_text)
            elif name in TEXTS:
                words = translate(column, collective_name if name == "collective" else plain_text)
                data[name] = words
                lacking = f"no {name} of 1 to {LONGEST_NAME} printable characters"
                faults.append((words.codes < 0, _unknown(column) if name == "collective" else lacking))
            elif name in self._plan.parameters:
                data[name] = translate(column, parameter_value)
            else:
                integral = column.dtype == np.int64
                values = data[name] = column.to_numpy(dtype=np.int64 if integral else np.float64, copy=not integral)
                faults.append(self._number(name, values, data))
                if name == "message_size" and not self._plan.empty_sends:
                    faults.append((values == 0, "size 0: nothing is sent"))
        return data, faults

    def _number(self, name: str, values: npt.NDArray[Any], data: dict[str, Any]) -> tuple[Mask, str]:
        """Convert values in place; where they are at fault, and why."""
        if name == "time":
            values *= self._plan.scale["time"]
            return not_time(values), "the time is not a positive number"
        low = {"comm_size": 1, "ppn": 1, "nodes": 1, "repetitions": 1, "library_id": -1}.get(name, 0)
        if values.dtype == np.int64:
            return not_whole(values, low), f"{name} is not a whole number from {low} to below 2^53"
        blank = np.isnan(values)
        if name == "time_std":
            values *= self._plan.scale["time_std"]
            return ~blank & ~((values >= 0) & np.isfinite(values)), "time_std is not a number from 0 up"
        if name == "repetitions":
            return ~blank & not_whole(values, 1), "repetitions is not a whole number from 1 up"
        if name == "library_id":
            values[blank] = -1
        elif name == "segment_size":
            values[blank] = 0
        elif name in ("message_size", "total_size") and "collective" in data:
            barrier = np.asarray(data["collective"] == "barrier", dtype=np.bool_)
            values[blank & barrier] = 0
        return not_whole(values, low), f"{name} is not a whole number from {low} to below 2^53"


def of_text(
    source: Source, layout: Callable[[str], Plan | None], lacking: Callable[[str], str], what: str
) -> Iterator[pd.DataFrame]:
    """Read a table of text below its header.

    Parameters
    ----------
    layout
        What the columns mean that a line names; None where it is no header. A header further down begins another table.
    lacking
        What is wrong where there is none, of the first line that is no remark.
    what
        Name of the format, for reasons.
    """

    def begins(line: str) -> tuple[Delimited, Finish] | None:
        if (plan := layout(line)) is None:
            return None
        return Delimited(source, plan.fields, plan.separator, what=what, header=plan.header), Rows(source, plan).finish

    blocks = source.blocks()
    first, block = next(blocks, (1, b""))
    passed: list[tuple[int, str]] = []
    for number, (end, line) in enumerate(header_lines(block), start=first):
        if (begun := begins(line)) is not None:
            for skipped, text in passed:
                source.skip(skipped, text, f"not a row of {what}")
            reader, finish = begun
            yield from reader.tables(itertools.chain([(number + 1, block[end:])], blocks), finish, begins)
            return
        if line.strip() and not line.lstrip().startswith("#"):
            passed.append((number, line))
    raise source.fail(lacking(passed[0][1] if passed else ""))


def _unknown(column: pd.Series[Any]) -> str:
    """Why rows without a known collective are none, with what the first of these names may mean."""
    strange = next((str(word) for word in column.cat.categories if collective_name(str(word)) is None), "")
    asked = meant(strange[:40])
    return f"no collective that is known ({strange[:40]!r}: {asked})" if asked else "no collective that is known"


def header_lines(text: bytes) -> Iterator[tuple[int, str]]:
    """The first lines, each with the position after it; undecodable bytes become U+FFFD."""
    start = 0
    for _ in range(HEADER_LINES):
        if start >= len(text):
            return
        end = text.find(b"\n", start) + 1 or len(text)
        yield end, text[start:end][: 1 << 16].decode("utf-8", "replace").rstrip("\r\n")
        start = end


def parameter_value(text: str) -> Hashable | None:
    """Value of a method parameter: a whole number where it is one, else text; `None` where it is blank."""
    bare = plain_text(text)
    return int(bare) if bare is not None and _WHOLE.fullmatch(bare) else bare
