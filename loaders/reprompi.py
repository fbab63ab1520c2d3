"""ReproMPI 0.x and 1.x output: raw, with window errors, summary and verbose tables.

The header lines ``#@name=value`` give the number of processes and the extent of the datatype; a column
``count`` is in elements, ``msize_bytes`` in bytes. In both versions the count of reduce_scatter is the
block of one process (``mpi_collectives.c``), as for all collectives with blocks, so sizes need no conversion.
Times are in seconds. Rows of several collectives interleave.

- *raw* ``test nrep count [errorcode] runtime_sec``: one sample for each repetition, the maximum over
  processes. Repetitions with an error code (outside the synchronisation window) are skipped.
- *summary* ``test count total_nrep valid_nrep mean_sec median_sec …``: the median, or what the hint
  ``statistic`` asks for; ``stddev_sec`` or ``var_sec`` where there.
- *verbose* ``process test nrep count [errorcode] loc_tstart_sec loc_tend_sec [gl_tstart_sec gl_tend_sec]``:
  one row for each process; see `loaders.reprompi_verbose`.

``--params=alg:3,seg:8192`` names method parameters: 0.x repeats them as ``#@alg=3``, in 1.x they stand only
in the command line. ``alg`` is the number of the algorithm in the library, ``seg`` the segment size.
Source: hunsa/reprompi @2e73f3d6 and its 0.x, ``results_output.c``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from loaders.chunk import Chunk, not_time, not_whole, translate
from loaders.collectives import REDUCING
from loaders.delimited import Delimited, Field
from loaders.hints import hinted
from loaders.names import collective_name
from loaders.reprompi_verbose import Verbose
from loaders.source import Format, Source
from loaders.text import integer, wanted_statistic

_COMMAND = re.compile(r"#Command-[Ll]ine [Aa]rguments:\s*(.*)")
_SETTING = re.compile(r"#@([\w.]+)=(.*)")
_STARTED = re.compile(r"# Benchmark started at (.*)")
_PARAMS = re.compile(r"--params=(\S+)")
_MARK = re.compile(
    rb"^#(?:Command-[Ll]ine [Aa]rguments:|@(?:nprocs|reproMPIcommitSHA1|clock|procsync|sync|nrep)=)", re.MULTILINE
)
_TABLE = re.compile(rb"^[ \t]*(?:process[ \t]+)?test[ \t].*_sec[ \t]*\r?$", re.MULTILINE)
_MOCKUP = re.compile(r"(?:GL|PG)_(\w+)", re.ASCII)
_ALGORITHM = ("alg", "algo", "algorithm")
_SEGMENT = ("seg", "segsize", "segment", "segment_size")
_EXTENTS = {"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_INT": 4, "MPI_FLOAT": 4, "MPI_DOUBLE": 8}
_SIZES = ("count", "msize_bytes", "msize")
_TEXTS = ("test",)
_STATISTICS = ("max", "mean", "median", "min")


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text has ReproMPI's settings or the header of one of its tables."""
    return bool(_MARK.search(head) or _TABLE.search(head))


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every table; see `loaders.source.Format`."""
    source.attrs.update(benchmark="ReproMPI", statistic_kind="completion")
    wanted_statistic(source, _STATISTICS)
    state = _State(source)
    for first, block in source.blocks():
        position, line = 0, first
        for start, end in _special_lines(block):
            yield from state.rows(block[position:start], line)
            line += block.count(b"\n", position, start)
            text = block[start:end].decode("utf-8", "replace").strip()
            yield from state.special(line, text)
            line += block.count(b"\n", start, end)
            position = end
        yield from state.rows(block[position:], line)
    yield from state.finish()
    if not source.rows:
        raise source.without_rows(
            "no measurement found: ReproMPI's rows stand under a header such as 'test nrep count runtime_sec' "
            f"({source.skipped} other lines)"
        )


def _special_lines(block: bytes) -> Iterator[tuple[int, int]]:
    """Ends of the lines that are comments or headers; rows hold neither ``#`` nor ``_sec``."""
    position = 0
    comment, header = block.find(b"#"), block.find(b"_sec")
    while comment >= 0 or header >= 0:
        place_of_mark = min(place for place in (comment, header) if place >= 0)
        start = block.rfind(b"\n", position, place_of_mark) + 1 or position
        end = block.find(b"\n", place_of_mark) + 1 or len(block)
        if block[start:end].lstrip().startswith(b"#") or _TABLE.match(block[start:end].rstrip(b"\r\n")):
            yield start, end
        position = end
        comment = comment if comment < 0 or comment >= end else block.find(b"#", end)
        header = header if header < 0 or header >= end else block.find(b"_sec", end)


@dataclass
class _State:
    """What the header lines so far say, and the table that is being read."""

    source: Source
    settings: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    reader: Delimited | None = None
    verbose: Verbose | None = None

    def special(self, line: int, text: str) -> Iterator[pd.DataFrame]:
        """Take in a comment or the header of a table; yields what the table before it still holds."""
        if not text.startswith("#"):
            yield from self.finish()
            self._table(line, text)
        elif match := _COMMAND.match(text):
            yield from self.finish()
            self.params = _params(match[1])
            self.settings = {}
            version = "1.x" if "Command-Line" in text else "0.x"
            self.source.attrs["benchmark"] = f"ReproMPI {version}"
        elif match := _SETTING.match(text):
            self._setting(match[1], match[2].strip())
        elif match := _STARTED.match(text):
            self.source.attrs.setdefault("date", match[1].strip())

    def rows(self, text: bytes, line: int) -> Iterator[pd.DataFrame]:
        """Parse rows below the header that was seen last."""
        if not text or text.isspace():
            return
        if self.reader is None:
            self.source.skip_lines(line, text, "not in a table of ReproMPI")
            return
        table = self.reader.parse(text, line, self._finish)
        if table is not None and len(table):
            yield from self.verbose.add(table) if self.verbose is not None else (self._named(table),)

    def finish(self) -> Iterator[pd.DataFrame]:
        """Hand on what verbose rows are left."""
        if self.verbose is not None:
            yield from self.verbose.finish()

    def _setting(self, name: str, value: str) -> None:
        self.settings[name] = value
        if name in (*_ALGORITHM, *_SEGMENT):
            self.params[name] = value
        shown = {"procsync": "process_sync", "sync": "process_sync", "clocksync": "clock_sync"}.get(name)
        if shown is not None:
            self.source.attrs[shown] = value
        elif name == "reproMPIcommitSHA1" and value and value != "unknown":
            self.source.attrs["benchmark"] = f"{self.source.attrs['benchmark']} {value[:12]}"

    def _table(self, line: int, header: str) -> None:
        self.names = tuple(header.split())
        self.reader = self.verbose = None
        size = next((n for n in _SIZES if n in self.names), None)
        raw = {"nrep", "runtime_sec"} <= set(self.names)
        verbose = {"process", "nrep", "loc_tstart_sec", "loc_tend_sec"} <= set(self.names)
        summary = bool(self._statistics()) and "valid_nrep" in self.names
        if size is None or len(set(self.names)) < len(self.names) or not (raw or verbose or summary):
            self.source.note(
                f"line {line}: a table with the columns {' '.join(self.names)[:200]} is not known; not read"
            )
            return
        fields = [Field(n, "text" if n in _TEXTS else "number") for n in self.names]
        self.reader = Delimited(self.source, fields, None, what="ReproMPI", header=header, open_end=False)
        if verbose:
            self.verbose = Verbose(self.source, self._number("nprocs"), self._named)
        kind = "one sample for each repetition" if raw or verbose else f"{self._statistic()} of the valid repetitions"
        self.source.attrs["statistic"] = f"maximum over processes; {kind}"

    def _statistics(self) -> tuple[str, ...]:
        return tuple(n for n in _STATISTICS if f"{n}_sec" in self.names)

    def _statistic(self) -> str:
        asked = wanted_statistic(self.source, _STATISTICS)
        if asked is not None and asked not in self._statistics():
            raise self.source.fail(
                f"there is no {asked}_sec in this summary; there are {', '.join(self._statistics())}"
            )
        return asked or next(n for n in ("median", "mean", "min", "max") if n in self._statistics())

    def _number(self, name: str) -> int | None:
        """A whole number from 1 that is set; None where it is none."""
        number = integer(self.settings.get(name, ""))
        return number if number and number < 2**31 else None

    def _extent(self) -> int:
        if "count" not in self.names:
            return 1
        extent = self._number("datatype_extent_bytes") or _EXTENTS.get(self.settings.get("datatype", ""))
        if extent is None:
            raise self.source.fail(
                "sizes are counts, but no line '#@datatype_extent_bytes=' says how long an element is"
            )
        return extent

    def _finish(self, chunk: Chunk) -> pd.DataFrame:
        """Check rows; those of raw tables and summaries are counted here, of verbose ones later."""
        frame = chunk.frame
        size = next(n for n in _SIZES if n in self.names)
        tests = translate(frame["test"], _test_name)
        count = frame[size].to_numpy()
        faults = [
            (tests.codes < 0, "no collective that is known"),
            (not_whole(count), "the size is not a whole number"),
        ]
        integers = [n for n in ("nrep", "process", "valid_nrep") if n in frame]
        faults += [(not_whole(frame[n].to_numpy()), f"{n} is not a whole number") for n in integers]
        faults.append((count * self._extent() >= 2**53, "the size is out of range"))
        data: dict[str, Any] = {"test": tests, "message_size": count * self._extent()}
        if self.verbose is not None:
            return chunk.with_frame(frame.assign(**data)).sift(self.source, faults)
        if "errorcode" in frame:
            faults.append((frame["errorcode"].to_numpy() != 0, "errorcode: outside the window"))
        if "runtime_sec" in frame:
            data |= {"repetition": frame["nrep"], "time": frame["runtime_sec"]}
        else:
            faults.append((frame["valid_nrep"].to_numpy() < 1, "no valid repetition"))
            data |= {"repetitions": frame["valid_nrep"], "time": frame[f"{self._statistic()}_sec"]}
            if "stddev_sec" in frame or "var_sec" in frame:
                std = frame["stddev_sec"] if "stddev_sec" in frame else np.sqrt(frame["var_sec"].clip(lower=0))
                data["time_std"] = std.where(np.isfinite(std) & (std >= 0))
        faults.append((not_time(np.asarray(data["time"])), "the time is not positive"))
        return chunk.with_frame(data).drop(self.source, faults)

    def _named(self, table: pd.DataFrame) -> pd.DataFrame:
        """Columns of `COLUMNS` for checked rows: names, sizes, parameters."""
        tests = table["test"]
        rows = pd.DataFrame(
            {
                "collective": translate(tests, lambda test: test.split(" ")[0]),
                "message_size": table["message_size"].to_numpy().astype(np.int64),
                "time": table["time"].to_numpy(),
            }
        )
        for name in ("repetition", "repetitions"):
            if name in table:
                rows[name] = table[name].to_numpy().astype(np.int64)
        if "time_std" in table:
            rows["time_std"] = table["time_std"].to_numpy()
        rows.loc[(rows["collective"] == "barrier").to_numpy(), "message_size"] = 0
        if (reduces := rows["collective"].isin(REDUCING).to_numpy()).any():
            words = {"element_type": self.settings.get("datatype", "")}
            words["operation"] = self.settings.get("operation", "").lower().removeprefix("mpi_")
            for name, word in words.items():
                if word:
                    rows[name] = np.where(reduces, word, "")
        comm_size = self._number("nprocs")
        if comm_size is not None:
            rows["comm_size"] = comm_size
        self._method(rows, tests)
        return rows

    def _method(self, rows: pd.DataFrame, tests: pd.Series[Any]) -> None:
        parameters = {n: v for n, v in self.params.items() if v}
        algorithm = next((parameters.pop(n) for n in _ALGORITHM if n in parameters), None)
        segment = next((parameters.pop(n) for n in _SEGMENT if n in parameters), None)
        if (number := integer(algorithm or "")) is not None:
            rows["library_id"] = number
        if algorithm is not None and hinted(self.source, "algorithm") is None:
            rows["algorithm"] = algorithm
        if (size := integer(segment or "")) is not None:
            rows["segment_size"] = size
        if parameters:
            further = ", ".join(f"{n} = {v}" for n, v in parameters.items())
            self.source.note(f"further parameters in the file, not used: {further[:200]}")
        own = translate(tests, lambda test: test.partition(" ")[2] or None)
        if (own.codes >= 0).any():
            rows["algorithm"] = own


def _test_name(test: str) -> str | None:
    """Collective and, after a blank, the algorithm that the name of a test tells; `None` if it is neither."""
    mockup = _MOCKUP.fullmatch(test)
    operation, _, other = ("", "", "") if mockup is None else mockup[1].partition("_as_")
    if operation and other:
        collective = collective_name(operation)
        return None if collective is None else f"{collective} as_{other.lower()}"
    if re.fullmatch(r"I?send_I?recv|Sendrecv", test, re.IGNORECASE):
        return f"pt2pt {test.lower()}"
    return collective_name(test)


def _params(command: str) -> dict[str, str]:
    """Parameters of the option ``--params=name:value,…`` in a command line."""
    match = _PARAMS.search(command)
    if match is None:
        return {}
    pairs = (pair.partition(":") for pair in match[1].strip("'\"").split(","))
    return {name: value for name, _, value in pairs if name and value}


FORMAT = Format("reprompi", "ReproMPI 0.x and 1.x", recognises, read)
