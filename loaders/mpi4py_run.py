"""Output of mpi4py's own benchmarks: ``demo/osu_*.py`` and ``python -m mpi4py.bench``.

The demos print ``# MPI Broadcast Latency Test``, ``# Size [B]  Latency [us]`` and rows of two numbers,
the time of rank 0 in microseconds; ``bench pingpong`` rows of size, bandwidth, mean and standard
deviation in seconds and the number of samples; ``bench ringtest`` one line for all rounds. Only
``ringtest`` tells the number of processes, of the demos the job's command where it stands above them
(`loaders.start_line`). Source: demo/osu_*.py and bench.py of mpi4py 4.1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import osu, text
from loaders.collectives import POINT_TO_POINT
from loaders.hints import hinted
from loaders.source import Format, Source
from loaders.start_line import Starts
from loaders.text import Title

STATISTIC = "mean over iterations of the time on rank 0"

_FOUND = re.compile(
    rb"^[ \t]*#[ \t]*MPI[ \t]+\S.*Test[ \t]*\r?$|^#[ \t]*Size[ \t]*\[B\]|^time for \d+ loops = "
    rb"|^[ \t]*\d+[ \t]+\d+\.\d+ \| \d\.\d+e[-+]\d+ \xc2\xb1 ",
    re.MULTILINE,
)
_HEADER = re.compile(r"#\s*Size\s*\[B\]\s+(\S.*)")
_PINGPONG = re.compile(
    r"\s*(?P<size>\d{1,15})\s+[-\d.einfa]+\s*\|\s*(?P<mean>\S+)\s+[^\s\d]{1,3}\s+(?P<std>\S+)\s+(?P<count>\d{1,15})\s*"
)
_RING = re.compile(
    r"\s*time for (?P<count>\d{1,15}) loops = (?P<time>\S+) seconds "
    r"\((?P<processes>\d{1,9}) processes, (?P<size>\d{1,15}) bytes\)\s*"
)


@dataclass
class _State:
    """Where in the file the reader is, and what it has collected."""

    hinted: str | None
    title: Title | None = None
    titles: dict[str, None] = field(default_factory=dict)
    table: bool = False
    refused: str = ""
    programs: dict[str, None] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    starts: Starts = field(default_factory=Starts)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text holds a title, a header or a row of mpi4py's benchmarks."""
    return text.has_header(_FOUND, (b" Test", b"[B]", b"time for ", b"\xc2\xb1"), head, path)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every table; see `loaders.source.Format`.

    Bandwidths are refused; they are told by their title, since ``osu_bw.py`` heads them "Latency [us]".
    A size of 0 moves no data and is skipped, except for the barrier.
    """
    text.wanted_statistic(source, ("mean",))
    state = _State(hinted(source, "collective"))
    yield from text.printed(source, state.rows, partial(_comment, source, state), partial(_row, state), state.starts)
    source.attrs.update(
        benchmark="; ".join(state.programs) or "mpi4py", statistic=STATISTIC, statistic_kind="mean over processes"
    )
    if any("Reduce_scatter" in title for title in state.titles):
        source.note("reduce_scatter: the total vector is divided by the communicator size")
    if not source.rows:
        raise source.without_rows(_nothing(source, state))


def _comment(source: Source, state: _State, line: str) -> None:
    kind = text.title_of(line)
    if kind is not None:
        state.title, state.table, state.refused = None, False, ""
        if kind == "mpi4py":
            state.titles[line.lstrip("# ")] = None
            state.title = parse_title(line).below(state.starts, source)
    elif (match := _HEADER.match(line)) is not None:
        if state.table:
            # The title between two tables is garbled: what follows is of another benchmark.
            state.title = None
        state.table = True
        state.refused = "" if re.match(r"Latency|Bandwidth.*Time Mean", match[1]) else "a bandwidth, not a time"


def parse_title(line: str) -> Title:
    """Collective and algorithm of a title such as ``# MPI All-to-All Latency Test``, which are those of OSU."""
    return osu.parse_title(line.replace("MPI", "OSU MPI", 1))


def _row(state: _State, line: text.Line) -> str:
    """Take a row into the state; the reason where it cannot be taken."""
    if (match := _PINGPONG.fullmatch(line.text)) is not None:
        return _pingpong(state, match, line)
    if (match := _RING.fullmatch(line.text)) is not None:
        return _ring(state, match)
    words = line.text.split()
    if not state.table:
        return "not a row of a table"
    if len(words) != 2 or text.integer(words[0]) is None or text.decimal(words[1]) is None:
        return text.no_row(line)
    return _demo(state, words, line)


def _demo(state: _State, words: list[str], line: text.Line) -> str:
    if state.title is None and state.titles:
        return "below no title"
    title = state.title or Title(state.hinted)
    if state.refused or title.refused:
        return state.refused or title.refused
    size, time = text.integer(words[0]), text.positive(words[1])
    if text.cut_off(line):
        return "cut off"
    if size == 0 and title.collective not in ("barrier", POINT_TO_POINT):
        return "size 0: no data"
    if time is None:
        return "the time is not positive"
    row: dict[str, Any] = {"time": time * 1e-6, text.size_column(title.collective): size}
    row |= title.columns
    state.programs["mpi4py demo/osu"] = None
    state.rows.append(row)
    return ""


def _pingpong(state: _State, match: re.Match[str], line: text.Line) -> str:
    mean, std = text.positive(match["mean"]), text.decimal(match["std"])
    if not line.ended:
        return "cut off"
    if mean is None:
        return "the time is not positive"
    if int(match["count"]) == 0:
        return "no repetitions"
    if std is None or std < 0:
        return "the standard deviation is not a number"
    state.programs["mpi4py.bench pingpong"] = None
    row = {"collective": POINT_TO_POINT, "algorithm": "pingpong", "comm_size": 2, "message_size": int(match["size"])}
    state.rows.append({**row, "time": mean, "time_std": std, "repetitions": int(match["count"])})
    return ""


def _ring(state: _State, match: re.Match[str]) -> str:
    elapsed, loops = text.positive(match["time"]), int(match["count"])
    if elapsed is None or loops == 0 or not elapsed / loops > 0:
        return "the time is not positive" if loops else "no repetitions"
    if int(match["processes"]) == 0:
        return "no processes"
    state.programs["mpi4py.bench ringtest"] = None
    row = {"collective": POINT_TO_POINT, "algorithm": "ring", "comm_size": int(match["processes"])}
    state.rows.append({**row, "message_size": int(match["size"]), "time": elapsed / loops, "repetitions": loops})
    return ""


def _nothing(source: Source, state: _State) -> str:
    titles = ", ".join(repr(t) for t in list(state.titles)[:3]) or "no title"
    if source.reasons["a bandwidth, not a time"]:
        return (
            f"holds bandwidths ({titles}), not times; right would be the output of a latency test such as "
            "osu_latency.py, or of mpi4py.bench pingpong without --no-stats"
        )
    reasons = text.reasons(source)
    return (
        f"no times of collectives found ({titles}: {reasons}); right would be '# MPI Broadcast Latency Test', "
        "'# Size [B]  Latency [us]' and rows such as '1  0.64'"
    )


FORMAT = Format("mpi4py_run", "mpi4py's own benchmarks", recognises, read)
