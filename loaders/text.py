"""What the readers of printed benchmark tables share: lines, numbers, titles, and tables of rows."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from loaders.collectives import COLLECTIVES, plain_name
from loaders.errors import LoadError
from loaders.source import HEAD_BYTES, Source
from loaders.start_line import Starts

#: What is said of a number that `with_comma` finds.
COMMA = "a number with a comma: write 1.5 for 1,5 and 1024 for 1,024"
#: Longest line of a printed table, in bytes; rows of the benchmarks have a few hundred.
LONGEST_LINE = 1 << 14
#: Rows held before they are handed on as tables.
ROWS_HELD = 20_000
#: Rows of a table that are looked at to know it.
_TABLE_ROWS = 50
#: How far into a file the header is looked for when a job's chatter fills the head.
LOOK_BYTES = 8 << 20
#: How far into the head another format's title is looked for.
LINE_BYTES = 4096

#: What launchers put before each line to tell whose it is: Open MPI's ``--output tag``, ``[1,0]<stdout>: ``, MPICH's
#: ``-l``, ``[0] ``, and srun's, ``0: ``.
_LABEL = re.compile(
    rb"^(?:\[[^]\n]{1,60}\](?:\[[^]\n]{1,60}\])?<std(?:out|err)>: ?|\[\d{1,7}\] |[ \t]{0,6}\d{1,7}: )", re.MULTILINE
)
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_DIGIT = re.compile(rb"\d")
_DECIMAL = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?\d*(?:[.,]\d+)*,\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)
_TWO_DECIMALS = re.compile(r"\.\d\d$", re.ASCII)
_TITLE = re.compile(
    r"#\s*(?:(?P<osu>OSU\s)|(?P<mpi4py>MPI\s.*\sTest\s*$)|(?P<imb>Benchmarking\s|Intel\s*\(R\)\s*MPI\s)"
    r"|(?P<skampi4>/\*\s*@in)|(?P<skampi>SKaMPI\s|begin\s+result\s)|(?P<reprompi>@|Command-[Ll]ine\s))"
)


class Line(NamedTuple):
    """A line: its number from 1, its text, and whether a line end follows (else it may be cut off)."""

    number: int
    text: str
    ended: bool


class Title(NamedTuple):
    """What a title tells; `refused` says why the rows below it are no times of collectives.

    `started` is what the command above it tells, as columns of rows.
    """

    collective: str | None = None
    algorithm: str | None = None
    comm_size: int | None = None
    refused: str = ""
    started: Mapping[str, str | int] = {}

    @property
    def columns(self) -> dict[str, str | int]:
        """Columns of the rows below it."""
        own = columns_of(collective=self.collective, algorithm=self.algorithm, comm_size=self.comm_size)
        return {**self.started, **own}

    def below(self, starts: Starts, source: Source) -> Title:
        """The same below the commands that a log shows."""
        collective = self.collective or ""
        return self._replace(started=starts.take(collective).columns_of(collective, source))


def lines(source: Source, *, labelled: bool = False) -> Iterator[Line]:
    """Yield every line that is not blank; undecodable bytes become U+FFFD.

    Where lines may be `labelled` by whose they are, they come without that. A line of more than `LONGEST_LINE` bytes is
    none of a printed table: it is skipped, and counted unless a comment.
    """
    for first, block in source.blocks():
        parts = block.split(b"\n")
        last = len(parts) - 1
        for offset, raw in enumerate(parts):
            if len(raw) > LONGEST_LINE and not raw.isspace():
                if not raw.lstrip().startswith(b"#"):
                    source.skip(first + offset, raw[:LONGEST_LINE], f"longer than {LONGEST_LINE:,} bytes")
                continue
            text = (_LABEL.sub(b"", raw, 1) if labelled else raw).decode("utf-8", "replace").rstrip()
            if text.strip():
                yield Line(first + offset, text, offset < last)


def single_spaced(line: str) -> str:
    """Put one blank where there are several: an expression that allows for many of them takes long to fail."""
    return " ".join(line.split())


def title_of(comment: str) -> str | None:
    """Name the format whose title or header a comment line is, None for any other comment."""
    match = _TITLE.match(comment)
    return None if match is None else match.lastgroup


def integer(text: str) -> int | None:
    """Return a whole number of at most 15 digits; None for anything else."""
    return int(text) if _WHOLE.fullmatch(text) else None


def decimal(text: str) -> float | None:
    """Return a finite decimal number; None for anything else, such as ``nan`` or ``12.3.4``."""
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def positive(text: str) -> float | None:
    """Return a finite number above 0; None for anything else."""
    value = decimal(text)
    return value if value is not None and value > 0 else None


def with_comma(text: str) -> bool:
    """Whether it is a number with a decimal comma, or with commas between thousands."""
    return _WITH_COMMA.fullmatch(text) is not None


def no_row(line: Line) -> str:
    """Why a line within a table of numbers is no row of it."""
    if not line.ended:
        return "cut off"
    words = line.text.split()
    numbers = all(with_comma(word) or decimal(word) is not None for word in words)
    return COMMA if numbers and any(map(with_comma, words)) else "not a row of the table"


def cut_off(line: Line) -> bool:
    """Whether the file may end inside the last number of this line (tables print two decimals)."""
    return not line.ended and not _TWO_DECIMALS.search(line.text)


def size_column(collective: str | None) -> str:
    """Name the column for a printed size: the reduce-scatter family prints the total vector."""
    entry = COLLECTIVES.get(plain_name(collective or ""))
    return "total_size" if entry and entry.reduces and entry.by_block else "message_size"


def columns_of(**values: Any) -> dict[str, Any]:
    """Those columns of a row whose value is told, not None."""
    return {name: value for name, value in values.items() if value is not None}


def reasons(source: Source) -> str:
    """Why the most rows were passed over, for who finds none that can be used."""
    return ", ".join(f"{count} × {reason}" for reason, count in source.reasons.most_common(3)) or "no rows"


def first_fault(faults: Iterable[tuple[bool, str]]) -> str:
    """Return the reason of the first condition that holds, empty where none does."""
    return next((reason for holds, reason in faults if holds), "")


def printed(
    source: Source,
    rows: list[dict[str, Any]],
    comment: Callable[[str], None],
    row: Callable[[Line], str],
    starts: Starts | None = None,
) -> Iterator[pd.DataFrame]:
    """Give the tables of what a benchmark printed line by line.

    Parameters
    ----------
    rows
        Where `row` puts what it takes.
    comment
        Called with each line that begins with ``#``.
    row
        Called with each other one; says why it is none, or nothing.
    starts
        Looks at each line that is none, for benchmarks that jobs start and whose lines their launcher may label.
    """
    looked = starts or Starts()
    for line in lines(source, labelled=starts is not None):
        stripped = line.text.strip()
        if stripped.startswith("#"):
            looked.look(stripped)
            comment(stripped)
        elif reason := row(line):
            looked.look(stripped)
            source.skip(line.number, line.text, reason)
        else:
            source.loaded(1)
        if len(rows) >= ROWS_HELD:
            yield from tables(rows)
            rows.clear()
    yield from tables(rows)


def tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[pd.DataFrame]:
    """Make tables of rows, one for each set of columns, in the order of first appearance."""
    kinds: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(tuple(row), []).append(row)
    for group in kinds.values():
        yield pd.DataFrame(group)


def wanted_statistic(source: Source, possible: Sequence[str]) -> str | None:
    """Return the statistic that the hint ``statistic`` asks for; None where it asks for none.

    Raises
    ------
    LoadError
        The format has no such statistic.
    """
    asked = source.option("statistic")
    if asked is None:
        return None
    name = {"avg": "mean", "average": "mean"}.get(str(asked).lower(), str(asked).lower())
    if name not in possible:
        raise source.fail(f"there is no statistic {asked!r} in this format; possible are {', '.join(possible)}")
    return name


def has_header(pattern: re.Pattern[bytes], needles: Sequence[bytes], head: bytes, path: Path) -> bool:
    """Whether a header stands in the head or, where chatter fills the head, in the next `LOOK_BYTES`.

    Parameters
    ----------
    pattern
        The header.
    needles
        Bytes one of which every match holds: finding them is much faster than the pattern.
    head
        First 64 KiB of the file.
    path
        The file, read on only if the head is full, is text, and holds no other format's header.
    """
    if _search(pattern, needles, head):
        return True
    if len(head) < HEAD_BYTES or b"\0" in head or _of_another(head):
        return False
    source = Source(path)
    try:
        with source.open() as stream:
            return _search(pattern, needles, stream.read(LOOK_BYTES))
    except (LoadError, OSError, EOFError, zlib.error):
        return False


def _search(pattern: re.Pattern[bytes], needles: Sequence[bytes], data: bytes) -> bool:
    if not any(needle in data for needle in needles):
        return False
    return any(pattern.search(each) for each in (data, _LABEL.sub(b"", data)))


def _is_table(rows: Sequence[bytes]) -> bool:
    """Whether these are a header without digits and rows with digits, all with the same number of separators."""
    if len(rows) < 2 or _DIGIT.search(rows[0]) or not _DIGIT.search(rows[1]):
        return False
    counts = [{row.count(separator) for row in rows} for separator in (b",", b"\t", b";")]
    return any(len(count) == 1 and count != {0} for count in counts)


def _of_another(head: bytes) -> bool:
    """Whether the head starts as another format does: as JSON, as a table, or with a title among its first lines."""
    if head.lstrip()[:1] in (b"{", b"["):
        return True
    if _is_table(head.split(b"\n", _TABLE_ROWS)[:-1]):
        return True
    return any(title_of(row.decode("utf-8", "replace").strip()) for row in head[:LINE_BYTES].splitlines())
