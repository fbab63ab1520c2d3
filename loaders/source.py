"""One benchmark file on its way in: its text, what was read of it and what was passed over."""

import gzip
import hashlib
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from loaders import disk
from loaders.ahead import one_ahead
from loaders.errors import LoadError, NoRowsError

BLOCK_BYTES = 8 << 20
#: A longer line is none of a file of results.
LONGEST_BYTES = 64 << 20
HEAD_BYTES = 1 << 16
KEPT_SKIPS = 1000
KEPT_TEXT = 200
KEPT_NOTES = 200
#: Most bytes that a compressed file may unpack to, whatever its size.
UNPACKED_BYTES = 4 << 30
#: Times its own size that it may, beyond `UNPACKED_FREE` bytes; text of measurements stays below 60.
UNPACKED_TIMES = 200
UNPACKED_FREE = 64 << 20

#: What some editors put before text.
_BOM = b"\xef\xbb\xbf"
_BROKEN = "the rest of the file cannot be read"
_Stream = io.BufferedReader | gzip.GzipFile
Progress = Callable[[str, int, int], None]
"""Called as ``progress(path, bytes_done, bytes_total)`` while a file is read."""


@dataclass(frozen=True)
class Skip:
    """A row that was not loaded: its line (from 1, 0 = no line), its text and the reason."""

    line: int
    text: str
    reason: str


@dataclass
class Source:
    """A file being read.

    A reader takes the text from `lines` or `blocks`, yields tables of rows, and says here what it
    loaded (`loaded`), passed over (`skip`) and learned of the whole file (`attrs`). Every row that
    is present must be counted once, as loaded or as skipped.

    Attributes
    ----------
    attrs
        What the file says of the whole of itself: ``system, network, library, library_version,
        benchmark, statistic, date, …``, text or numbers.
    several
        What rows tell apart of what `attrs` tells of whole files: values by name.
    unused
        Columns that are not read.
    rows
        Rows loaded so far, those excluded later among them.
    excluded
        Rows of these that were left out again.
    skipped
        Rows skipped so far.
    skips
        The first `KEPT_SKIPS` of them, with line and reason.
    reasons
        How many rows were skipped for which reason.
    notes
        Remarks for the user on how the file was read (conversions, choices made).
    warnings
        Those of them that the user should see without asking.
    options
        The user's hints, for readers that must choose (``statistic=…``, ``columns=…``).
    heeded
        Names of those that its reader looked at.
    format
        Name of its format, once that is known.
    broken
        Why the rest of a damaged compressed file cannot be read; empty: it can.
    """

    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    several: dict[str, list[str]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    rows: int = 0
    excluded: int = 0
    skipped: int = 0
    skips: list[Skip] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    heeded: set[str] = field(default_factory=set)
    format: str | None = None
    broken: str = ""
    _digest: str | None = field(default=None, repr=False)

    def option(self, name: str) -> Any:
        """One of `options`, which the reader heeds; None where it is not given."""
        self.heeded.add(name)
        return self.options.get(name)

    def loaded(self, rows: int) -> None:
        """Count `rows` rows of the file as loaded."""
        self.rows += rows

    def skip(self, line: int, text: str | bytes, reason: str) -> None:
        """Count one row as skipped; its line from 1, its text and why."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        self.skipped += 1
        self.reasons[reason] += 1
        if len(self.skips) < KEPT_SKIPS:
            self.skips.append(Skip(line, text.rstrip("\r\n")[:KEPT_TEXT], reason))

    def skip_lines(self, first: int, text: bytes, reason: str) -> None:
        """Count lines as skipped, but for blank ones and remarks; the number of the first and why."""
        for number, raw in enumerate(text.split(b"\n"), first):
            content = raw.strip()
            if content and not content.startswith(b"#"):
                self.skip(number, content, reason)

    def skip_many(self, count: int, reason: str) -> None:
        """Count `count` rows that were left out together."""
        if count:
            self.skipped += count
            self.reasons[reason] += count

    def exclude(self, count: int, reason: str) -> None:
        """Count `count` rows that were loaded but are left out all the same, such as rows of another system."""
        self.excluded += count
        self.skip_many(count, reason)

    def note(self, text: str, *, warn: bool = False) -> None:
        """Add a remark once; with `warn` it is also shown where nobody asked for remarks."""
        if text in self.notes or len(self.notes) > KEPT_NOTES:
            return
        self.notes.append(text if len(self.notes) < KEPT_NOTES else "further remarks are left out")
        if warn:
            self.warnings.append(text)

    def fail(self, message: str, line: int | None = None) -> LoadError:
        """Make the error that names this file (and line); the caller raises it."""
        return LoadError(message, path=self.path, line=line)

    def without_rows(self, message: str) -> LoadError:
        """As `fail`, of a file that gave no row; of one that has none that was passed over it is a `NoRowsError`."""
        return LoadError(message, path=self.path) if self.skipped else NoRowsError(message, path=self.path)

    def open(self) -> _Stream:
        """Open the bytes of the file; gzip is unpacked on the way."""
        try:
            stream = disk.opened(self.path)
        except OSError as error:
            raise LoadError(f"cannot be opened: {error.strerror or error}", path=self.path) from error
        if stream.read(2) == b"\x1f\x8b":
            stream.close()
            return _Unpacked(self.path)
        stream.seek(0)
        return stream

    def unpack(self, size: int) -> None:
        """Raise where unpacking would give `size` bytes and that is more than a file of measurements holds.

        Raises
        ------
        LoadError
            It is more than `UNPACKED_BYTES`, or more than `UNPACKED_TIMES` the file's own size.
        """
        most = most_unpacked(self.path)
        if size > most:
            raise self.fail(f"unpacks to more than {most >> 20:,} MiB; unpack it yourself and load the files")

    def head(self) -> bytes:
        """First 64 KiB, for recognising the format."""
        with self.open() as stream:
            head = self._read(stream, HEAD_BYTES)
        self._tell_broken()
        return head.removeprefix(_BOM)

    def digest(self) -> str | None:
        """SHA-256 of the file as it lies on disk, first 16 hex digits; None for a folder or what cannot be read."""
        if self._digest is None:
            try:
                with disk.opened(self.path) as stream:
                    return hashlib.file_digest(stream, "sha256").hexdigest()[:16]
            except OSError:
                return None
        return self._digest

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield ``(number of the first line, bytes)`` in blocks of whole lines, about 8 MiB each."""
        total = self.path.stat().st_size
        # A large file is read on while its blocks are parsed.
        pieces = self._pieces() if total <= BLOCK_BYTES else one_ahead(self._pieces())
        for number, block, done in pieces:
            if self.progress is not None:
                self.progress(str(self.path), min(done, total), total)
            yield number, block
        self._tell_broken()

    def _pieces(self) -> Iterator[tuple[int, bytes, int]]:
        """Blocks as `blocks` gives them, each with the bytes read so far; the digest is taken on the way."""
        number, rest, done, hashed = 1, b"", 0, hashlib.sha256()
        with self.open() as stream:
            while data := self._read(stream, BLOCK_BYTES):
                hashed.update(data)
                data, done = data.removeprefix(_BOM) if not done else data, done + len(data)
                cut = data.rfind(b"\n") + 1
                if not cut:
                    rest += data
                    if len(rest) > LONGEST_BYTES:
                        raise self.fail("a line is longer than 64 MiB; this is not a text file of results", number)
                    continue
                view = memoryview(data)
                block, rest = b"".join((rest, view[:cut])), bytes(view[cut:])
                yield number, block, done
                number += line_ends(block)
            if not isinstance(stream, _Unpacked) and not self.broken:
                self._digest = hashed.hexdigest()[:16]
        if rest:
            yield number, rest, done

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield ``(line number, text without line end)``; undecodable bytes become U+FFFD."""
        for number, block in self.blocks():
            for offset, raw in enumerate(block.split(b"\n")[: -1 if block.endswith(b"\n") else None]):
                yield number + offset, raw.decode("utf-8", "replace").rstrip("\r")

    def _read(self, stream: _Stream, size: int) -> bytes:
        """Read up to `size` bytes; of a damaged compressed file what can still be unpacked."""
        pieces: list[bytes] = []
        try:
            while size > 0 and (piece := stream.read1(size)):
                pieces.append(piece)
                size -= len(piece)
        except _TooMuchError as error:
            raise self.fail(str(error)) from None
        except (OSError, EOFError, zlib.error) as error:
            self.broken = f"{_BROKEN}: {error}"
        return b"".join(pieces)

    def _tell_broken(self) -> None:
        """Count what could not be read as one skipped row; not where it is read, which may be another thread."""
        if self.broken and not any(reason.startswith(_BROKEN) for reason in self.reasons):
            self.skip(0, "", self.broken)


def most_unpacked(path: Path) -> int:
    """Bytes that a compressed file may unpack to."""
    return min(UNPACKED_BYTES, UNPACKED_FREE + UNPACKED_TIMES * path.stat().st_size)


class _TooMuchError(ValueError):
    """A compressed file unpacks to more than it may."""


class _Unpacked(gzip.GzipFile):
    """A gzip file on its way in; it ends with an error rather than without end."""

    def __init__(self, path: Path) -> None:
        self._most = most_unpacked(path)
        super().__init__(path, "rb")

    def read1(self, size: int = -1) -> bytes:
        """Some bytes."""
        return self._counted(super().read1(size))

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, or all that are left."""
        return self._counted(super().read(self._most + 1 if size is None or size < 0 else size))

    def _counted(self, data: bytes) -> bytes:
        if self.tell() > self._most:
            raise _TooMuchError(f"unpacks to more than {self._most >> 20:,} MiB; unpack it yourself and load the files")
        return data


def line_ends(text: bytes) -> int:
    """How many lines end in a text; several times faster than `bytes.count` where they are short."""
    values, step = np.frombuffer(text, dtype=np.uint8), 1 << 17
    # Piece by piece, so that what the comparison gives stays in the processor's cache.
    return sum(int(np.count_nonzero(values[at : at + step] == ord("\n"))) for at in range(0, values.size, step))


@dataclass(frozen=True)
class Format:
    """A file format: how it is recognised and how it is read.

    Attributes
    ----------
    name
        As in ``format=`` and ``--format``.
    title
        For people.
    recognises
        ``recognises(head, path)``: whether the first 64 KiB (and the name) are of this format.
    read
        ``read(source)``: yields tables of rows. Columns are those of `loaders.names.COLUMNS` that the file tells (sizes
        in bytes by the project's convention, times in seconds), one row a measured point or, with a column
        ``repetition``, one row a raw sample. Instead of its message size a row may tell ``total_size``, that of the
        blocks of all processes, or ``vector_size``, that of a vector or of these. What the file does not tell is left
        out: hints add it.
    """

    name: str
    title: str
    recognises: Callable[[bytes, Path], bool]
    read: Callable[[Source], Iterator[pd.DataFrame]]
