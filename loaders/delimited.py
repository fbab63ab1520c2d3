"""Tables of text in blocks of whole lines: a parser in C where all is well, line by line where it is not.

A block is first given to a parser in C (Arrow's, or pandas' where blanks separate). If it does not parse into exactly
one row for each line, its lines are held against the form of a row: those that have it go to that parser together, each
other line is looked at by itself and skipped with its number if it is at fault. So all whole lines load.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv_of
from pandas.api.types import union_categoricals

from loaders.ahead import one_ahead
from loaders.chunk import Chunk, words_of
from loaders.sizes import parse_size
from loaders.source import Source, line_ends
from loaders.text import COMMA, with_comma

_NUMBERS = ("number", "whole")
#: What may have a unit.
_SIZES = frozenset({"message_size", "segment_size", "total_size"})
_DTYPES = {"number": np.float64, "whole": np.int64}
#: Bytes that Arrow's threads parse at once; a longer line goes the slow way.
_ARROW_BYTES = 1 << 20
_NO_END = "the last line has no line end: where the file was cut off, its last number may be too"
_WORDS = pa.dictionary(pa.int32(), pa.string())

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

Finish = Callable[[Chunk], pd.DataFrame]


@dataclass(frozen=True)
class Field:
    """One column of a table of text: its name and what it holds.

    Whole numbers are int64 where all of a block are such, else numbers like others.
    """

    name: str
    kind: Literal["text", "number", "whole", "ignored"]


Begins = Callable[[str], tuple["Delimited", Finish] | None]
#: Reader, what finishes its rows, number of the first line, and lines.
_Rest = tuple["Delimited", Finish, int, bytes]


def _unless_empty(table: pd.DataFrame) -> list[pd.DataFrame]:
    return [table] if len(table) else []


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
        self._may_end_open = open_end
        self._used = [n for n, f in enumerate(self._fields) if f.kind != "ignored"]
        self._form = _row_form(self._fields, separator)

    @property
    def _open_end(self) -> bool:
        """Whether what comes last may be a row without its line end."""
        return self._may_end_open and not self._source.broken

    def parse(self, text: bytes, line: int, finish: Finish) -> pd.DataFrame | None:
        """Parse whole lines.

        Parameters
        ----------
        line
            Number of the first.
        finish
            Checks the rows of a chunk, counts each of them and returns the table made of the good ones.

        Returns
        -------
        DataFrame or None
            What `finish` made of the rows; `None` if there are none.
        """
        if not text or text.isspace():
            return None
        table = finish(self._plain(text, line) or self._mixed(text, line))
        return table if len(table) else None

    def tables(
        self, blocks: Iterator[tuple[int, bytes]], finish: Finish, begins: Begins | None = None
    ) -> Iterator[pd.DataFrame]:
        """Parse block after block, each ``(number of its first line, whole lines)``; `finish` as for `parse`.

        Where `begins` gives another reader and what finishes its rows, a line is the header of what follows it.
        """
        reader = self
        # A block is parsed while the one before is checked and collected.
        for line, text, chunk in one_ahead(self._chunks(blocks)):
            if reader is self and chunk is not None:
                yield from _unless_empty(finish(chunk))
                continue
            rest: _Rest | None = (reader, finish, line, text)
            while rest is not None:
                reader, finish, line, text = rest  # noqa: PLW2901 - what is left of the block
                tables, rest = reader.until_header(line, text, finish, begins, mixed=reader is self)
                yield from tables

    def until_header(
        self, line: int, text: bytes, finish: Finish, begins: Begins | None, *, mixed: bool
    ) -> tuple[list[pd.DataFrame], _Rest | None]:
        """Parse the lines before the next header; the table of these, and what is left with its reader.

        `mixed` says that they are known not to be rows all of them.
        """
        chunk = None if mixed or text.isspace() else self._plain(text, line)
        position = 0
        for number, raw in enumerate(text.splitlines(keepends=True) if chunk is None and begins else (), line + 1):
            content = raw.decode("utf-8", "replace").strip()
            isolated = content and content != self._header and not self._form.fullmatch(raw.rstrip(b"\r\n"))
            if begins is not None and isolated and (following := begins(content)) is not None:
                before = self._mixed(text[:position], line)
                return _unless_empty(finish(before)), (*following, number, text[position + len(raw) :])
            position += len(raw)
        return _unless_empty(finish(chunk or self._mixed(text, line))), None

    def _chunks(self, blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes, Chunk | None]]:
        """Each block that is not blank, and its rows if every line is one."""
        for line, text in blocks:
            if text and not text.isspace():
                yield line, text, self._plain(text, line)

    def _plain(self, text: bytes, line: int) -> Chunk | None:
        """Parse a text every line of which is a row; `None` if one is not."""
        ends = text.endswith(b"\n")
        if b"\0" in text or not (ends or self._open_end):
            return None
        lines = line_ends(text) + (not ends)
        frame = self._parsed(text, lines)
        if not ends:
            self._source.note(_NO_END)
        return None if frame is None else Chunk(frame, line, text)

    def _parsed(self, text: bytes, lines: int) -> pd.DataFrame | None:
        """The columns that are used; None where the text has not one row for each line."""
        frame = self._of_blanks(text) if self._separator is None else self._of_separators(text, self._separator)
        if frame is None or len(frame) != lines:
            return None
        frame.columns = pd.Index([self._fields[n].name for n in self._used])
        return frame

    def _of_blanks(self, text: bytes) -> pd.DataFrame | None:
        dtype: dict[Hashable, Any] = {n: _DTYPES.get(field.kind, "category") for n, field in enumerate(self._fields)}
        names = list(range(len(self._fields)))
        try:
            # Of a number that is too large for a whole one NumPy would warn; it is no row.
            with np.errstate(invalid="ignore"):
                frame = pd.read_csv(
                    io.BytesIO(text), sep=r"\s+", header=None, names=names, dtype=dtype, quoting=3, na_filter=False
                )
        except (ValueError, OverflowError):
            return None
        return frame[self._used] if isinstance(frame.index, pd.RangeIndex) and not _short(frame) else None

    def _of_separators(self, text: bytes, separator: str) -> pd.DataFrame | None:
        """Arrow reads these without keeping other threads from running."""
        names = [str(n) for n in range(len(self._fields))]
        for integer in (pa.int64(), pa.float64()):
            types = {"number": pa.float64(), "whole": integer}
            kinds = {names[n]: types.get(self._fields[n].kind, _WORDS) for n in self._used}
            try:
                table = csv_of.read_csv(
                    pa.py_buffer(text),
                    csv_of.ReadOptions(block_size=_ARROW_BYTES, column_names=names),
                    csv_of.ParseOptions(delimiter=separator),
                    csv_of.ConvertOptions(
                        column_types=kinds, null_values=[""], strings_can_be_null=True, include_columns=list(kinds)
                    ),
                )
            except (pa.ArrowException, ValueError):
                continue
            return pd.DataFrame({name: _values(table.column(name)) for name in table.column_names}, copy=False)
        return None

    def _mixed(self, text: bytes, line: int) -> Chunk:
        """Parse the lines that are rows, skip the others."""
        lines = text.split(b"\n")
        cut = bool(lines[-1]) and not self._open_end
        last = len(lines) - 1
        formed = [n for n, raw in enumerate(lines) if self._form.fullmatch(raw) and not (cut and n == last)]
        frame = self._parsed(b"\n".join([lines[n] for n in formed]) + b"\n", len(formed)) if formed else None
        taken = set(formed) if frame is not None else set()
        values: list[list[Any]] = []
        places: list[int] = []
        for n, raw in enumerate(lines):
            content = raw.decode("utf-8", "replace").strip() if n not in taken and raw else ""
            if not content or content.startswith("#") or content == self._header:
                continue
            row = self._row(raw.decode("utf-8", "replace").strip("\r"))
            if isinstance(row, str) or (cut and n == last):
                self._source.skip(line + n, raw, "cut off" if cut and n == last else str(row))
            else:
                values.append(row)
                places.append(n)
        slow = self._table(values)
        if frame is None:
            return Chunk(slow, line, text, np.array(places, dtype=np.int64))
        rows = np.array([*formed, *places], dtype=np.int64)
        order = np.argsort(rows, kind="stable")
        joined = _stack(frame, slow).iloc[order].reset_index(drop=True) if places else frame
        return Chunk(joined, line, text, rows[order])

    def _table(self, values: list[list[Any]]) -> pd.DataFrame:
        columns = list(zip(*values, strict=True)) if values else [() for _ in self._used]
        return pd.DataFrame(
            {
                self._fields[n].name: pd.Categorical(pd.array(list(column), dtype="str"))
                if self._fields[n].kind == "text"
                else np.array(column, dtype=np.float64)
                for n, column in zip(self._used, columns, strict=True)
            }
        )

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
            elif _NUMBER.fullmatch(cell):
                values.append(float(cell))
            elif field.name in _SIZES and (size := _size(cell)) is not None:
                self._source.note("sizes with a unit, such as 8KiB, are read by powers of 1024")
                values.append(size)
            elif with_comma(cell):
                return f"{field.name} is {COMMA}"
            else:
                return f"{field.name} is not a number"
        return values


def _size(text: str) -> float | None:
    """Bytes of a size with a unit, such as ``8KiB``."""
    try:
        return float(parse_size(text))
    except ValueError:
        return None


def _values(column: pa.ChunkedArray) -> Any:
    joined = column.unify_dictionaries().combine_chunks()
    array = joined if isinstance(joined, pa.Array) else joined.chunk(0)
    if isinstance(array, pa.DictionaryArray):
        return words_of(array)
    # A gap among whole numbers makes them numbers like others.
    return array.to_numpy(zero_copy_only=False)


def _row_form(fields: Sequence[Field], separator: str | None) -> re.Pattern[bytes]:
    """What a line looks like that is a row without quotes."""
    number = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    if separator is None:
        forms = [number if field.kind in _NUMBERS else r"[^\s\0]+" for field in fields]
        return re.compile((r"[ \t]*" + r"[ \t]+".join(forms) + r"[ \t]*\r?").encode())
    text = rf"[^{re.escape(separator)}\"\r\n\0]*"
    forms = [f"(?:{number})?" if field.kind in _NUMBERS else text for field in fields]
    return re.compile((re.escape(separator).join(forms) + r"\r?").encode())


def _short(frame: pd.DataFrame) -> bool:
    """Whether a line separated by blanks lacked columns: then the last of them is empty."""
    last = frame[frame.columns[-1]]
    return isinstance(last.dtype, pd.CategoricalDtype) and bool(last.isna().any() or "" in last.cat.categories)


def _stack(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Put two tables with the same columns under each other; categoricals stay categoricals of text."""
    data: dict[str, Any] = {}
    for name in first.columns:
        parts = [first[name], second[name]]
        if isinstance(parts[0].dtype, pd.CategoricalDtype):
            data[str(name)] = union_categoricals([_of_text(p.array) for p in parts])
        else:
            data[str(name)] = np.concatenate([p.to_numpy() for p in parts])
    return pd.DataFrame(data)


def _of_text(words: pd.Categorical) -> pd.Categorical:
    """The same words; a column that is blank or looks like numbers may have got other categories."""
    return pd.Categorical.from_codes(words.codes, categories=words.categories.astype("str"))
