"""PICO's files of samples: one column ``highest``, nanoseconds, one row for each iteration.

``highest`` is the maximum over processes; at output level "all" the times of the ranks follow it. The file's
name, ``<count>_<algorithm>[_<segment size>]_<datatype>.csv``, gives algorithm and total size; the collective and
the communicator size come from hints.

The first 20 % of the iterations are left out as warm-up, exactly as PICO's own summary does
(``plot/summarize_data.py``), and counted as skipped. LibBine's own driver (Fugaku) warms up before it writes and
ends its files with a line ``Average runtime: …``: there nothing is left out but this line.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from loaders.chunk import Chunk, not_time
from loaders.delimited import Delimited, Field
from loaders.hinted import hinted
from loaders.names import counts_blocks
from loaders.pico_names import split_file
from loaders.source import Source

WARM_UP = 0.2
STATISTIC = "maximum over processes of each iteration"
_WARM_UP_REASON = "warm-up: first 20 % of the iterations, as PICO's own summary leaves out"
_HEADER = "highest"
_FOOTER = b"Average runtime"
_FOOTER_REASON = "the program's own average, not a sample"


def is_header(line: str) -> bool:
    """Whether a line is the header of a file of samples."""
    return line == _HEADER or line.startswith(f"{_HEADER},rank")


@dataclass
class Samples:
    """Times in seconds and their repetitions."""

    time: npt.NDArray[np.float64]
    repetition: npt.NDArray[np.int64]


class SampleReader:
    """Collects the samples of one file block by block.

    Parameters
    ----------
    source
        Where rows are counted.
    header
        The header line; a text without one is taken as one column.
    label
        What stands before the text of skipped lines, such as the name within a tarball.
    """

    def __init__(self, source: Source, header: str, label: str = "") -> None:
        self._source = source
        self._label = label
        fields = [Field("time", "number"), *(Field(f"rank{n}", "ignored") for n in range(header.count(",")))]
        self._reader = Delimited(source, fields, ",", what="PICO's samples", header=header, open_end=False)
        self._parts: list[pd.DataFrame] = []
        self._warm = False

    def add(self, text: bytes, line: int) -> None:
        """Take whole lines; the first has the number `line`."""
        samples, footer = _without_footer(text)
        if footer:
            self._warm = True
            self._skip(line + samples.count(b"\n"), footer.decode("utf-8", "replace"), _FOOTER_REASON)
        table = self._reader.parse(samples, line, _with_lines)
        if table is not None:
            self._parts.append(table)

    def finish(self) -> Samples:
        """Leave out the warm-up and what is not positive, and count all rows."""
        if not self._parts:
            return Samples(np.empty(0), np.empty(0, dtype=np.int64))
        time = np.concatenate([p["time"].to_numpy() for p in self._parts])
        lines = np.concatenate([p["line"].to_numpy() for p in self._parts])
        repetition = np.arange(len(time))
        warm_up = _warm_up(self._source, len(time), warm=self._warm)
        time, lines, repetition = time[warm_up:], lines[warm_up:], repetition[warm_up:]
        bad = not_time(time)
        for place in np.flatnonzero(bad):
            self._skip(int(lines[place]), str(time[place]), "the time is not a positive number")
        self._source.loaded(int((~bad).sum()))
        return Samples(time[~bad] * 1e-9, repetition[~bad])

    def _skip(self, line: int, text: str, reason: str) -> None:
        self._source.skip(line, f"{self._label}{text}", reason)


def _without_footer(text: bytes) -> tuple[bytes, bytes]:
    """The samples, and the last line where it is the program's own average."""
    at = text.rfind(_FOOTER)
    last = at >= 0 and text[:at].endswith(b"\n") and text.find(b"\n", at) in (-1, len(text) - 1)
    return (text[:at], text[at:]) if last else (text, b"")


def _warm_up(source: Source, rows: int, *, warm: bool) -> int:
    """How many of the first rows are warm-up; they are counted as skipped."""
    warm_up = 0 if warm else int(rows * WARM_UP)
    source.skip_many(warm_up, _WARM_UP_REASON)
    return warm_up


@dataclass(frozen=True)
class SampleText:
    """A file of samples in a tarball: its header line, the lines after it, and its name."""

    header: str
    text: bytes
    label: str


def read_many(source: Source, files: Sequence[SampleText]) -> list[Samples]:
    """Read many small files, with one call of the parser where all lines of all of them are samples."""
    cut = [_without_footer(file.text) for file in files]
    plain = all(
        file.header == _HEADER and samples.endswith(b"\n") for file, (samples, _) in zip(files, cut, strict=True)
    )
    time = _parsed(b"".join(samples for samples, _ in cut)) if plain else None
    if time is None:
        return [_read_one(source, file) for file in files]
    read = []
    at = 0
    for file, (samples, footer) in zip(files, cut, strict=True):
        rows = samples.count(b"\n")
        if footer:
            source.skip(rows + 2, f"{file.label}{footer.decode('utf-8', 'replace')}", _FOOTER_REASON)
        warm_up = _warm_up(source, rows, warm=bool(footer))
        source.loaded(rows - warm_up)
        read.append(Samples(time[at + warm_up : at + rows] * 1e-9, np.arange(warm_up, rows)))
        at += rows
    return read


def _parsed(text: bytes) -> npt.NDArray[np.float64] | None:
    """The numbers of a text with one in each line; None where a line is none, or not a positive one."""
    try:
        frame = pd.read_csv(io.BytesIO(text), header=None, names=["time"], dtype=np.float64, na_filter=False)
    except (ValueError, OverflowError):
        return None
    time = frame["time"].to_numpy()
    complete = isinstance(frame.index, pd.RangeIndex) and len(time) == text.count(b"\n") and not not_time(time).any()
    return time if complete else None


def _read_one(source: Source, file: SampleText) -> Samples:
    reader = SampleReader(source, file.header, label=file.label)
    reader.add(file.text, 2)
    return reader.finish()


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read one file of samples that stands alone."""
    source.attrs["statistic"] = STATISTIC
    reader: SampleReader | None = None
    for first, block in source.blocks():
        text, line = block, first
        if reader is None:
            end = block.find(b"\n") + 1 or len(block)
            header = block[:end].decode("utf-8", "replace").lstrip("\ufeff").strip()
            reader = SampleReader(source, header if is_header(header) else _HEADER)
            if is_header(header):
                text, line = block[end:], first + 1
        reader.add(text, line)
    if reader is None:
        return
    samples = reader.finish()
    if not len(samples.time):
        return
    data: dict[str, Any] = {"time": samples.time, "repetition": samples.repetition}
    named = split_file(source.path.name)
    if named is not None:
        data |= {"algorithm": named.algorithm.name, "segment_size": named.algorithm.segment_size}
        data |= {size_column(source): named.total_size, "element_type": named.datatype}
    yield pd.DataFrame(data)


def size_column(source: Source) -> str:
    """Column for PICO's totals: the message size itself where hints name a collective that counts the vector."""
    collective = hinted(source, "collective")
    return "total_size" if collective is None or counts_blocks(str(collective)) else "message_size"


def _with_lines(chunk: Chunk) -> pd.DataFrame:
    return pd.DataFrame({"time": chunk.frame["time"].to_numpy(), "line": chunk.lines()})
