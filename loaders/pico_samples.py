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


@dataclass(frozen=True)
class SampleText:
    """A file of samples: its header line, the lines after it, what stands before the text of those that are skipped.

    A text without a header is taken as one column; `line` is the number of its first line.
    """

    header: str
    text: bytes
    label: str = ""
    line: int = 2


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
            source.skip(file.line + rows, f"{file.label}{footer.decode('utf-8', 'replace')}", _FOOTER_REASON)
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
    """Leave out the warm-up, what is no sample and what is not positive, and count all rows."""
    samples, footer = _without_footer(file.text)
    if footer:
        line = file.line + samples.count(b"\n")
        source.skip(line, f"{file.label}{footer.decode('utf-8', 'replace')}", _FOOTER_REASON)
    fields = [Field("time", "number"), *(Field(f"rank{n}", "ignored") for n in range(file.header.count(",")))]
    reader = Delimited(source, fields, ",", what="PICO's samples", header=file.header, open_end=False)
    table = reader.parse(samples, file.line, _with_lines)
    if table is None:
        return Samples(np.empty(0), np.empty(0, dtype=np.int64))
    repetition = np.arange(len(table))
    kept = slice(_warm_up(source, len(table), warm=bool(footer)), None)
    time, lines, repetition = table["time"].to_numpy()[kept], table["line"].to_numpy()[kept], repetition[kept]
    bad = not_time(time)
    for place in np.flatnonzero(bad):
        source.skip(int(lines[place]), f"{file.label}{time[place]}", "the time is not a positive number")
    source.loaded(int((~bad).sum()))
    return Samples(time[~bad] * 1e-9, repetition[~bad])


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read one file of samples that stands alone."""
    source.attrs["statistic"] = STATISTIC
    text = b"".join(block for _, block in source.blocks())
    end = text.find(b"\n") + 1 or len(text)
    header = text[:end].decode("utf-8", "replace").lstrip("\ufeff").strip()
    file = SampleText(header, text[end:]) if is_header(header) else SampleText(_HEADER, text, line=1)
    (samples,) = read_many(source, [file])
    if not len(samples.time):
        return
    data: dict[str, Any] = {"time": samples.time, "repetition": samples.repetition}
    named = split_file(source.path.name)
    if named is not None:
        data |= {"algorithm": named.algorithm.name, "segment_size": named.algorithm.segment_size}
        data |= {"vector_size": named.total_size, "element_type": named.datatype}
    yield pd.DataFrame(data)


def _with_lines(chunk: Chunk) -> pd.DataFrame:
    return pd.DataFrame({"time": chunk.frame["time"].to_numpy(), "line": chunk.lines()})
