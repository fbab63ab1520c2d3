"""OSU Micro-Benchmarks, 5.6 to 7.4: latency tests of collectives and of two processes.

A title (``# OSU MPI Broadcast Latency Test v7.4``), from 7.1 on a datatype, a header whose words are
two or more blanks apart, then rows of as many fields; osu_latency of 7.3 prints the datatype below the header.
Times are microseconds. Neither the number of processes nor the algorithm is told, but where the job's command stands
above (`loaders.start_line`). Source: osu_util_mpi.c of 7.4 (`print_only_header`, `print_stats`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import text
from loaders.collectives import COLLECTIVES, POINT_TO_POINT
from loaders.hints import hinted
from loaders.source import Format, Source
from loaders.start_line import Starts
from loaders.text import Title

_MEAN = "mean over processes"
#: Columns of times, with their kind and what they are.
_TIMES: Mapping[str, tuple[str, str]] = {
    "max latency": ("completion", "OSU Max Latency: mean over iterations, of the slowest process"),
    "avg latency": (_MEAN, "OSU Avg Latency: mean over iterations and processes"),
    "latency": (_MEAN, "OSU Latency: mean over iterations"),
    "pure comm.": (_MEAN, "OSU Pure Comm.: mean over iterations and processes, without computation"),
    "max comm.": ("completion", "OSU Max Comm.: mean over iterations, of the slowest process"),
    "min latency": ("minimum over processes", "OSU Min Latency: mean over iterations, of the fastest process"),
    "min comm.": ("minimum over processes", "OSU Min Comm.: mean over iterations, of the fastest process"),
    "p50 tail lat": ("median", "OSU P50 Tail Lat: median over iterations"),
}
#: Which columns serve which statistic; None = no statistic asked for.
_CHOICES: Mapping[str | None, tuple[str, ...]] = {
    None: ("max latency", "avg latency", "latency", "pure comm."),
    "max": ("max latency", "max comm."),
    "mean": ("avg latency", "latency", "pure comm."),
    "median": ("p50 tail lat",),
    "min": ("min latency", "min comm."),
}
_STATISTICS = ("max", "mean", "median", "min")
_INTEGERS = frozenset({"size", "iterations"})

_FOUND = re.compile(rb"^[ \t]*#[ \t]*(?:OSU[ \t]+\S.*Test|Size(?:[ \t]{2,}|\t)\S.*(?:\(us\)|/s))", re.MULTILINE)
_TITLE = re.compile(
    r"# ?OSU (?P<library>[^\W_]+)(?P<window>_\w+)?(?:-(?P<memory>[A-Z]+))? "
    r"(?P<what>.*?) ?Test(?: \(?v(?:ersion ?)?(?P<version>\d[\w.]*))?",
    re.IGNORECASE,
)
_DATATYPE = re.compile(r"#\s*Datatype:\s*(\S+?)\.?\s*$")
_HEADER = re.compile(r"#\s*(?:Size(?:\s{2,}|\t)|(?:Avg Latency|Latency|Overall)\s?\(us\)|Bandwidth \(MB/s\))")
_WORDS = re.compile(r"\s*[^\S ]\s*|\s{2,}")
_OTHER_UNIT = re.compile(r"\((?:n|m)?s(?:ec)?\)$")
_PATTERNS = {
    "": ("pingpong", 2),
    "multi": ("multi_pingpong", None),
    "multi-threaded": ("pingpong_multithreaded", 2),
    "multi-process": ("pingpong_multiprocess", 2),
}


@dataclass
class _State:
    """Where in the file the reader is, and what it has collected."""

    hinted: str | None
    title: Title | None = None
    titles: dict[str, None] = field(default_factory=dict)
    datatype: str = ""
    datatypes_here: set[str] = field(default_factory=set)
    columns: list[str] = field(default_factory=list)
    fresh: bool = False
    headed: bool = False
    facets: dict[str, str] = field(default_factory=dict)
    used: dict[str | None, str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    starts: Starts = field(default_factory=Starts)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text holds a title of OSU or a header of its tables."""
    return text.has_header(_FOUND, (b"OSU ", b"# Size"), head, path)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every table; see `loaders.source.Format`.

    Of several columns the Max Latency is taken, which other benchmarks' completion times compare with,
    else the Avg Latency; for non-blocking operations the Pure Comm. time. Datatype, library and memory are facets
    of the rows.
    """
    asked = text.wanted_statistic(source, _STATISTICS)
    state = _State(hinted(source, "collective"))
    comment, row = partial(_comment, source, state), partial(_row, state, asked=asked)
    yield from text.printed(source, state.rows, comment, row, state.starts)
    _finish(source, state)


def _comment(source: Source, state: _State, line: str) -> None:
    kind = text.title_of(line)
    if kind is not None:
        state.title = parse_title(line).below(state.starts, source) if kind == "osu" else None
        state.datatype, state.columns, state.fresh = "", [], True
        state.datatypes_here = set()
        if state.title is not None:
            _learn(source, state, line)
    elif (match := _DATATYPE.match(line)) is not None:
        if match[1] in state.datatypes_here:
            # The title between two tables is garbled: what follows is of another collective.
            state.title = None
        state.datatypes_here.add(match[1])
        state.datatype = match[1]
        if not state.headed:
            state.columns, state.fresh = [], True
    elif _HEADER.match(line):
        if not state.fresh:
            state.title = None
        state.fresh, state.headed = False, True
        words = _WORDS.split(line.lstrip("#").strip())
        columns = [re.sub(r"\s?\(us\)$", "", word).lower() for word in words]
        state.columns = columns if len(set(columns)) == len(columns) else []


def _learn(source: Source, state: _State, line: str) -> None:
    match = _TITLE.match(text.single_spaced(line))
    state.titles[line] = None
    if match is None:
        state.facets = {}
        return
    if match["version"]:
        source.attrs.setdefault("benchmark", f"OSU Micro-Benchmarks {match['version']}")
    memory = (match["memory"] or "").upper()
    state.facets = {"library": "" if match["library"].upper() == "MPI" else match["library"], "device": memory}
    if memory:
        source.note(f"buffers in {memory} memory")


def parse_title(line: str) -> Title:
    """Collective and algorithm of a title such as ``# OSU MPI Non-Blocking Broadcast Latency Test v7.4``."""
    match = _TITLE.match(text.single_spaced(line))
    what = "" if match is None else match["what"].lower()
    refused = text.first_fault(
        (
            (re.search(r"bandwidth|message rate", what) is not None, "a bandwidth, not a time"),
            (match is not None and bool(match["window"]), "a one-sided operation, not a collective"),
            ("latency" not in what, "the title is not one of a latency test"),
        )
    )
    if refused:
        return Title(refused=refused)
    persistent = "persistent" in what
    what = re.sub(r"\blatency\b", "", what)
    what = re.sub(r"\bpersistent\b|\bpersonalized\s+exchange\b", "", what).strip()
    if what in _PATTERNS:
        algorithm, processes = _PATTERNS[what]
        return Title(POINT_TO_POINT, algorithm + "_persistent" * persistent, processes)
    what, nonblocking = re.subn(r"^non-?blocking\s+", "", what)
    what, neighbours = re.subn(r"^neighborhood\s+", "", what)
    name = what.replace("all-to-all", "alltoall").replace("broadcast", "bcast").strip()
    if name not in COLLECTIVES:
        return Title(refused="the title is not one of a latency test of a known collective")
    name = "i" * bool(nonblocking) + "neighbor_" * bool(neighbours) + name + "_persistent" * persistent
    return Title(name)


def _row(state: _State, line: text.Line, asked: str | None) -> str:
    """Take a row into the state; the reason where it cannot be taken."""
    state.headed = False
    if not state.columns:
        return "not a row of a table"
    fields = dict(zip(state.columns, line.text.split(), strict=False))
    if len(line.text.split()) != len(state.columns) or not all(_fits(n, f) for n, f in fields.items()):
        return text.no_row(line)
    if state.title is None and state.titles:
        return "below no title"
    title = state.title or Title(state.hinted)
    # One statistic for a collective: tables with and without -f are compared by what both have.
    before = state.used.get(title.collective)
    column = before if before in fields else next((c for c in _CHOICES[asked] if c in fields), None)
    if title.refused:
        return title.refused
    if column is None:
        return _lacking(state.columns, asked)
    return _fault(title, fields, column, line) or _keep(state, title, fields, column)


def _lacking(columns: Sequence[str], asked: str | None) -> str:
    """Why none of the columns can be taken."""
    if other := next(filter(_OTHER_UNIT.search, columns), None):
        return f"{other}: times are read in microseconds (us) alone"
    return "a bandwidth, not a time" if asked is None else f"the table has no column for the statistic {asked!r}"


def _fits(name: str, value: str) -> bool:
    if name in _INTEGERS:
        return text.integer(value) is not None
    return value in ("Pass", "Fail") if name == "validation" else text.decimal(value) is not None


def _fault(title: Title, fields: Mapping[str, str], column: str, line: text.Line) -> str:
    collective = title.collective or ""
    return text.first_fault(
        (
            (text.cut_off(line) and fields.get("validation") != line.text.split()[-1], "cut off"),
            (fields.get("validation") == "Fail", "validation failed"),
            (text.integer(fields.get("iterations", "1")) == 0, "no repetitions"),
            (text.integer(fields.get("size", "1")) == 0 and collective != POINT_TO_POINT, "size 0: no data"),
            ("size" not in fields and bool(collective) and "barrier" not in collective, "no message size"),
            (text.positive(fields[column]) is None, "the time is not positive"),
        )
    )


def _keep(state: _State, title: Title, fields: Mapping[str, str], column: str) -> str:
    if state.used.setdefault(title.collective, column) != column:
        return f"no {state.used[title.collective]!r} as in the tables before; the statistic 'mean' is in both"
    row: dict[str, Any] = {"time": float(fields[column]) * 1e-6}
    row[text.size_column(title.collective)] = int(fields.get("size", "0"))
    row |= title.columns | state.facets
    if "iterations" in fields:
        row["repetitions"] = int(fields["iterations"])
    if state.datatype:
        row["element_type"] = state.datatype
    state.rows.append(row)
    return ""


def _finish(source: Source, state: _State) -> None:
    """Say what was read, or why nothing was."""
    source.attrs.setdefault("benchmark", "OSU Micro-Benchmarks")
    columns = dict.fromkeys(state.used.values())
    source.attrs["statistic"] = "; ".join(_TIMES[c][1] for c in columns)
    source.attrs["statistic_kind"] = "; ".join(dict.fromkeys(_TIMES[c][0] for c in columns))
    if any(text.size_column(c) == "total_size" for c in state.used):
        source.note("reduce_scatter: the total vector is divided by the communicator size")
    if not source.rows:
        titles = ", ".join(repr(t.lstrip("# ")) for t in list(state.titles)[:3]) or "no title"
        reasons = text.reasons(source)
        raise source.without_rows(
            f"no times of collectives found ({titles}: {reasons}); right would be '# OSU MPI … Latency Test', "
            "'# Size  Avg Latency(us)' and rows such as '1  6.57'"
        )


FORMAT = Format("osu", "OSU Micro-Benchmarks", recognises, read)
