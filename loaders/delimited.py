"""Tables of text in blocks of whole lines: the C parser where all is well, line by line where it is not.

A block is first given to pandas' C parser. If it does not parse into exactly one row for each line, it
is halved until the halves parse or are small; a small one is read line by line, so that the lines at
fault are skipped with their numbers and all others load.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import union_categoricals

from loaders.source import KEPT_SKIPS, Source

LEAF_BYTES = 1 << 15
LARGEST_WHOLE = 2**53

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

Mask = npt.NDArray[np.bool_]
Finish = Callable[["Chunk"], pd.DataFrame]


@dataclass(frozen=True)
class Field:
    """One column of a table of text: its name, what it holds, and whether it may be blank."""

    name: str
    kind: Literal["text", "number", "ignored"]
    blank: bool = False


@dataclass
class Chunk:
    """Parsed rows: text as categoricals, numbers as float64 (NaN where blank), with their lines.

    Attributes
    ----------
    frame
        One row for each line that parsed.
    first
        Line of the first row, where the rows are consecutive lines of `text`.
    text
        These lines; empty where the rows come of no text.
    rows
        Else ``(line, text)`` of every row.
    """

    frame: pd.DataFrame
    first: int = 0
    text: bytes = b""
    rows: list[tuple[int, str]] | None = None

    def drop(self, source: Source, faults: Iterable[tuple[Mask, str]]) -> pd.DataFrame:
        """Skip the rows at fault, each for its first reason, count the others as loaded and return them."""
        left = self.sift(source, faults)
        source.loaded(len(left))
        return left

    def sift(self, source: Source, faults: Iterable[tuple[Mask, str]]) -> pd.DataFrame:
        """Skip the rows at fault and return the others, which are not counted yet."""
        good = np.ones(len(self.frame), dtype=np.bool_)
        for bad, reason in faults:
            if not bad.any():
                continue
            places = np.flatnonzero(good & bad)
            self._skip(source, places, reason)
            good[places] = False
        return self.frame if good.all() else self.frame[good]

    def _skip(self, source: Source, places: npt.NDArray[np.intp], reason: str) -> None:
        shown = places[: max(0, KEPT_SKIPS - len(source.skips))]
        lines = self.text.split(b"\n") if len(shown) and self.rows is None else []
        for place in map(int, shown):
            if self.rows is not None:
                source.skip(*self.rows[place], reason)
            else:
                source.skip(self.first + place, lines[place] if self.text else self._shown(place), reason)
        source.skip_many(len(places) - len(shown), reason)

    def _shown(self, place: int) -> str:
        return ", ".join(str(v) for v in self.frame.iloc[place])


class Delimited:
    """Reads lines of one table.

    Parameters
    ----------
    source
        Where skipped lines are counted.
    fields
        The columns in the order of the file.
    separator
        Between columns; `None` = blanks.
    what
        Name of the format, for reasons ("not a row of …").
    header
        The header line; where it stands again it is passed over.
    open_end
        Whether a last line may lack its line end; else it counts as cut off.
    """

    def __init__(
        self,
        source: Source,
        fields: Sequence[Field],
        separator: str | None,
        *,
        what: str,
        header: str = "",
        open_end: bool = True,
    ) -> None:
        self._source = source
        self._fields = list(fields)
        self._separator = separator
        self._what = what
        self._header = header.strip()
        self._open_end = open_end
        self._used = [n for n, f in enumerate(self._fields) if f.kind != "ignored"]
        self._dtype: dict[Hashable, Any] = {
            n: np.float64 if field.kind == "number" else "category" for n, field in enumerate(self._fields)
        }

    def parse(self, text: bytes, line: int, finish: Finish) -> pd.DataFrame | None:
        """Parse whole lines.

        Parameters
        ----------
        text
            The lines.
        line
            Number of the first.
        finish
            Checks the rows of a chunk, counts each of them and returns the table made of the good ones.

        Returns
        -------
        DataFrame or None
            The tables of all chunks in one; `None` if there are no rows.
        """
        frames: list[pd.DataFrame] = []
        todo = [(text, line)]
        while todo:
            piece, number = todo.pop()
            if not piece or piece.isspace():
                continue
            chunk = self._fast(piece, number)
            if chunk is None and len(piece) > LEAF_BYTES:
                middle = piece.find(b"\n", len(piece) // 2) + 1
                if 0 < middle < len(piece):
                    todo.append((piece[middle:], number + piece.count(b"\n", 0, middle)))
                    todo.append((piece[:middle], number))
                    continue
            frame = finish(self._slow(piece, number) if chunk is None else chunk)
            if len(frame):
                frames.append(frame)
        return stack(frames)

    def _fast(self, text: bytes, line: int) -> Chunk | None:
        whole = text.endswith(b"\n")
        if b"\0" in text or not (whole or self._open_end):
            return None
        lines = occurrences(text, "\n") + (not whole)
        blanks = self._separator is None
        if self._separator is not None and occurrences(text, self._separator) != lines * (len(self._fields) - 1):
            return None
        try:
            frame = pd.read_csv(
                io.BytesIO(text),
                sep=r"\s+" if self._separator is None else self._separator,
                header=None,
                names=list(range(len(self._fields))),
                usecols=None if blanks or len(self._used) == len(self._fields) else self._used,
                dtype=self._dtype,
                quoting=csv.QUOTE_NONE if blanks else csv.QUOTE_MINIMAL,
                na_filter=not blanks,
                keep_default_na=False,
                na_values=None if blanks else [""],
            )
        except (ValueError, OverflowError):
            return None
        if len(frame) != lines or not isinstance(frame.index, pd.RangeIndex) or self._short(frame):
            return None
        frame = frame[self._used]
        frame.columns = pd.Index([self._fields[n].name for n in self._used])
        return Chunk(frame, line, text)

    def _short(self, frame: pd.DataFrame) -> bool:
        """Whether a line lacked columns: then the last is missing, which blanks as separators cannot mean."""
        last = frame[frame.columns[-1]]
        return (
            self._separator is None
            and isinstance(last.dtype, pd.CategoricalDtype)
            and bool(last.isna().any() or "" in last.cat.categories)
        )

    def _slow(self, text: bytes, line: int) -> Chunk:
        values: list[list[Any]] = []
        rows: list[tuple[int, str]] = []
        lines = text.split(b"\n")
        for offset, raw in enumerate(lines):
            content = raw.decode("utf-8", "replace").strip("\r")
            bare = content.strip()
            if not bare or bare.startswith("#") or bare == self._header:
                continue
            cut = offset == len(lines) - 1
            found = self._row(content)
            if isinstance(found, str) or (cut and not self._open_end):
                self._source.skip(line + offset, content, "cut off" if cut else str(found))
                continue
            values.append(found)
            rows.append((line + offset, content))
        columns = list(zip(*values, strict=True)) if values else [() for _ in self._used]
        data = {
            self._fields[n].name: pd.Categorical(column)
            if self._fields[n].kind == "text"
            else np.array(column, dtype=np.float64)
            for n, column in zip(self._used, columns, strict=True)
        }
        return Chunk(pd.DataFrame(data), rows=rows)

    def _row(self, content: str) -> list[Any] | str:
        """Values of one line, or why it has none."""
        try:
            cells = (
                content.split() if self._separator is None else next(csv.reader([content], delimiter=self._separator))
            )
        except (csv.Error, StopIteration):
            return f"not a row of {self._what}"
        if len(cells) != len(self._fields):
            return f"not a row of {self._what}"
        values: list[Any] = []
        for n in self._used:
            field, cell = self._fields[n], cells[n].strip()
            if field.kind == "text":
                values.append(cell or None)
            elif not cell:
                values.append(math.nan)
            elif _NUMBER.fullmatch(cell) is None:
                return f"{field.name} is not a number"
            else:
                values.append(float(cell))
        return values


def occurrences(text: bytes, character: str) -> int:
    """How often an ASCII character stands in a text; several times faster than `bytes.count` where it is often."""
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == ord(character)))


def stack(frames: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    """Put tables under each other; categoricals stay categoricals where all tables have the same columns."""
    if len(frames) < 2:
        return frames[0] if frames else None
    if any(list(frame.columns) != list(frames[0].columns) for frame in frames):
        return pd.concat(frames, ignore_index=True)
    data: dict[str, Any] = {}
    for name in frames[0].columns:
        parts = [frame[name] for frame in frames]
        if isinstance(parts[0].dtype, pd.CategoricalDtype):
            data[str(name)] = union_categoricals([p.array for p in parts])
        else:
            data[str(name)] = np.concatenate([p.to_numpy() for p in parts])
    return pd.DataFrame(data)


def translate(column: pd.Series[Any], word: Callable[[str], Hashable | None]) -> pd.Categorical:
    """Translate a categorical of text word by word; what has no translation becomes missing."""
    codes = column.cat.codes.to_numpy()
    words = [word(str(c)) for c in column.cat.categories]
    places: dict[Hashable, int] = {}
    for found in words:
        if found is not None:
            places.setdefault(found, len(places))
    table = np.array([-1 if w is None else places[w] for w in words] + [-1], dtype=np.int32)
    kind = "str" if all(isinstance(w, str) for w in places) else object
    return pd.Categorical.from_codes(table[codes], categories=pd.Index(list(places), dtype=kind))


def plain_text(text: str) -> str | None:
    """Return a name without surrounding blanks; `None` if it is empty or holds what no name holds."""
    bare = text.strip()
    return bare if bare and len(bare) <= 200 and bare.isprintable() and "\ufffd" not in bare else None


def not_whole(values: npt.NDArray[np.float64], low: int = 0) -> Mask:
    """Where values are not whole numbers from `low` to 2^53."""
    with np.errstate(invalid="ignore"):
        whole: Mask = (values >= low) & (values < LARGEST_WHOLE) & (np.floor(values) == values)
    return ~whole


def not_time(values: npt.NDArray[np.float64]) -> Mask:
    """Where values are not positive and finite."""
    with np.errstate(invalid="ignore"):
        good: Mask = (values > 0) & np.isfinite(values)
    return ~good
