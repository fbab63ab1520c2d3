"""Intel MPI Benchmarks (IMB-MPI1, IMB-NBC, IMB-MPI4), 4.1 to 2021.

Sections ``# Benchmarking Bcast`` / ``# #processes = 2``, a header such as ``#bytes #repetitions
t_min[usec] t_max[usec] t_avg[usec]``, then rows of as many fields; times in microseconds. With several
groups at once (``-multi``) the communicator is the group. Source: IMB_output.c of 2021.11.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import text
from loaders.collectives import COLLECTIVES, POINT_TO_POINT, REDUCING
from loaders.hints import hinted
from loaders.source import Format, Source
from loaders.start_line import Start, Starts

#: Columns of times, with their kind and what they are.
_TIMES: Mapping[str, tuple[str, str]] = {
    "t_max": ("completion", "IMB t_max: mean over repetitions, of the slowest process"),
    "t_avg": ("mean over processes", "IMB t_avg: mean over repetitions and processes"),
    "t_min": ("minimum over processes", "IMB t_min: mean over repetitions, of the fastest process"),
    "t": ("completion", "IMB t: mean over repetitions"),
    "t_pure": ("completion", "IMB t_pure: mean over repetitions, of the slowest process, without computation"),
}
#: Which columns serve which statistic; None = no statistic asked for.
_CHOICES: Mapping[str | None, tuple[str, ...]] = {
    None: ("t_max", "t", "t_pure"),
    "max": ("t_max", "t", "t_pure"),
    "mean": ("t_avg", "t"),
    "min": ("t_min", "t"),
}
_STATISTICS = ("max", "mean", "min")
_INTEGERS = frozenset({"group", "#bytes", "#repetitions"})

_FOUND = re.compile(
    rb"^#[ \t]*Intel[ \t]*\(R\)[ \t]*MPI[ \t]+Benchmarks"
    rb"|^[ \t]*(?:Group[ \t]+)?(?:#bytes[ \t]+)?#repetitions[ \t]+\S",
    re.MULTILINE,
)
# These are held against lines of single blanks.
_VERSION = re.compile(r"# ?Intel ?\(R\) ?MPI Benchmarks? (.+)")
_SECTION = re.compile(r"# ?Benchmarking (\S+)")
_PROCESSES = re.compile(r"# ?\(? ?#processes ?= ?([1-9]\d{0,8})\b")
_GROUPS = re.compile(r"# ?\( ?(\d{1,9}) groups of ([1-9]\d{0,8}) processes")
_DATE = re.compile(r"# ?Date ?:")
_REDUCED = re.compile(r"# ?MPI_Datatype for reductions ?: ?(\S+)")
_HEADER = re.compile(r"\s*(?:Group\s+)?(?:#bytes\s+)?#repetitions\s+\S")
_RULE = re.compile(r"#-{5,}")
_FAILED = re.compile(r"\s*(?:\d+\s+){1,2}(out-of-mem|int-overflow|time-out)")
_PATTERN = re.compile(r"(pingpong|pingping|sendrecv|exchange)(specificsource|anysource)?")
_COLLECTIVE = re.compile(rf"(i?)({'|'.join(COLLECTIVES)})(_persist)?(_pure)?")


@dataclass
class _State:
    """Where in the file the reader is, and what it has collected."""

    hinted: str | None
    name: str | None = None
    comm_size: int | None = None
    columns: list[str] = field(default_factory=list)
    sections: dict[str, None] = field(default_factory=dict)
    sized: bool = False
    groups: dict[int, dict[str, Any]] = field(default_factory=dict)
    first_variants: dict[str, bool] = field(default_factory=dict)
    used: dict[str, None] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    totals: bool = False
    reduced: str = ""
    starts: Starts = field(default_factory=Starts)
    start: Start = field(default_factory=Start)
    forced: dict[str, str | int] = field(default_factory=dict)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text holds IMB's title or a header of its tables."""
    return text.has_header(_FOUND, (b"MPI Benchmarks", b"#repetitions"), head, path)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every table; see `loaders.source.Format`.

    The time is t_max (the time of the slowest process), for non-blocking operations t_pure. Groups that ran at the same
    time give one point, the slowest group's. Where a file holds both ``Ibcast`` and ``Ibcast_pure``, the later has the
    parameter ``measurement``. Rows of size 0 are skipped, but for point-to-point: there they are the latency.
    """
    asked = text.wanted_statistic(source, _STATISTICS)
    state = _State(hinted(source, "collective"))
    for line in text.lines(source, labelled=True):
        if _HEADER.match(line.text):
            yield from _header(state, line.text)
        elif line.text.lstrip().startswith("#"):
            _comment(source, state, line.text.strip())
        elif reason := _row(state, line, asked):
            state.starts.look(line.text)
            source.skip(line.number, line.text, reason)
        else:
            source.loaded(1)
    yield from text.tables(state.rows)
    _finish(source, state)


def _header(state: _State, line: str) -> Iterator[pd.DataFrame]:
    if len(state.rows) >= text.ROWS_HELD:
        yield from text.tables(state.rows)
        state.rows = []
    if state.columns:
        # The section's title between two tables is garbled: what follows is of another benchmark.
        state.name = state.comm_size = None
    columns = [word.removesuffix("[usec]").lower() for word in line.split()]
    state.columns = columns if len(set(columns)) == len(columns) else []
    state.groups = {}


def _comment(source: Source, state: _State, comment: str) -> None:
    kind, line = text.title_of(comment), text.single_spaced(comment)
    if kind is not None or _RULE.match(line):
        state.groups = {}
        if state.columns or kind is not None:
            state.name, state.comm_size, state.columns = None, None, []
    if (match := _SECTION.match(line)) is not None:
        state.name = match[1]
        state.sections[match[1]] = None
        state.forced = state.start.columns_of(benchmark_name(match[1])[0] or "", source, sized=False)
    elif (match := _PROCESSES.match(line)) is not None:
        state.comm_size, state.sized = int(match[1]), True
    elif (match := _GROUPS.match(line)) is not None:
        state.comm_size, state.sized = int(match[2]), True
        source.note("groups of processes ran at the same time (-multi): the time is the slowest group's")
    elif (match := _VERSION.match(line)) is not None:
        state.start = state.starts.take()
        version, _, part = (each.strip() for each in match[1].partition(","))
        named = f"Intel MPI Benchmarks {version} {part.removesuffix(' part')}"
        source.attrs.setdefault("benchmark", named.strip())
    elif (match := _REDUCED.match(line)) is not None:
        state.reduced = match[1]
    elif _DATE.match(line) and (date := comment.partition(":")[2].strip()):
        source.attrs.setdefault("date", date)
    else:
        state.starts.look(line)


def benchmark_name(name: str) -> tuple[str | None, str | None, bool]:
    """Collective, algorithm and whether "pure" of a section's name; no collective where it is none.

    ``Multi-Allreduce`` is the allreduce of several groups, ``Ibcast_pure`` the non-blocking broadcast
    without computation, ``PingPong`` the point-to-point ``pingpong``.
    """
    plain = name.lower().removeprefix("multi-")
    if (match := _PATTERN.fullmatch(plain)) is not None:
        return POINT_TO_POINT, match[1] + (f"_{match[2]}" if match[2] else ""), False
    if (match := _COLLECTIVE.fullmatch(plain)) is not None:
        return match[1] + match[2] + ("_persistent" if match[3] else ""), None, bool(match[4])
    return None, None, False


def _row(state: _State, line: text.Line, asked: str | None) -> str:
    """Take a row into the state; the reason where it cannot be taken."""
    if not state.columns:
        return "not a row of a table"
    if (failed := _FAILED.match(line.text)) is not None:
        return f"not measured: {failed[1]}"
    words = line.text.split()
    fields = dict(zip(state.columns, words, strict=False))
    if len(words) != len(state.columns) or not all(_fits(n, f) for n, f in fields.items()):
        return text.no_row(line)
    column = next((c for c in _CHOICES[asked] if c in fields), None)
    if column is None:
        return "a bandwidth, not a time" if asked is None else f"the table has no column for the statistic {asked!r}"
    return _fault(state, fields, column, line) or _keep(state, fields, column)


def _fits(name: str, value: str) -> bool:
    return (text.integer(value) if name in _INTEGERS else text.decimal(value)) is not None


def _fault(state: _State, fields: Mapping[str, str], column: str, line: text.Line) -> str:
    collective = None if state.name is None else benchmark_name(state.name)[0]
    sizeless = "#bytes" not in fields and collective is not None and "barrier" not in collective
    return text.first_fault(
        (
            (text.cut_off(line), "cut off"),
            (state.name is None and bool(state.sections), "below no '# Benchmarking …'"),
            (state.comm_size is None and state.sized, "the number of processes is not told"),
            (
                state.name is not None and collective is None,
                f"{(state.name or '')[:40]} is no collective and no point-to-point pattern",
            ),
            (collective != POINT_TO_POINT and text.integer(fields.get("#bytes", "1")) == 0, "size 0: no data"),
            (sizeless, "no message size"),
            (text.integer(fields["#repetitions"]) == 0, "no repetitions"),
            (text.positive(fields.get("defects", "0")) is not None, "the results were wrong (defects)"),
            (text.positive(fields[column]) is None, "the time is not positive"),
        )
    )


def _keep(state: _State, fields: Mapping[str, str], column: str) -> str:
    seconds = float(fields[column]) * 1e-6
    size = int(fields.get("#bytes", "0"))
    state.used[column] = None
    if "group" in fields and (other := state.groups.get(size)) is not None:
        other["time"] = max(other["time"], seconds)
        return ""
    row: dict[str, Any] = {"time": seconds, "repetitions": int(fields["#repetitions"])}
    collective, algorithm, pure = (state.hinted, None, False) if state.name is None else benchmark_name(state.name)
    column = text.size_column(collective)
    row[column] = size
    state.totals = state.totals or column == "total_size"
    row |= state.forced if collective is not None else {}
    row |= text.columns_of(comm_size=state.comm_size, algorithm=algorithm, collective=collective)
    if collective is not None and state.first_variants.setdefault(collective, pure) != pure:
        row["measurement"] = "pure" if pure else "overlapped"
    if state.reduced and collective in REDUCING:
        row["element_type"] = state.reduced
    if "group" in fields:
        state.groups[size] = row
    state.rows.append(row)
    return ""


def _finish(source: Source, state: _State) -> None:
    """Say what was read, or why nothing was."""
    source.attrs.setdefault("benchmark", "Intel MPI Benchmarks")
    source.attrs["statistic"] = "; ".join(_TIMES[c][1] for c in state.used)
    source.attrs["statistic_kind"] = "; ".join(dict.fromkeys(_TIMES[c][0] for c in state.used))
    if state.totals:
        source.note(
            "reduce_scatter: the size is taken as the total vector and divided by the communicator size, as IMB up "
            "to 4.1 means it; builds of 2019 and later may mean the block of one process"
        )
    if not source.rows:
        names = ", ".join(list(state.sections)[:5]) or "no '# Benchmarking …'"
        raise source.without_rows(
            f"no times of collectives found ({names}: {text.reasons(source)}); right would be '# Benchmarking Bcast', "
            "'# #processes = 4', '#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]' and rows of five numbers"
        )


FORMAT = Format("imb", "Intel MPI Benchmarks", recognises, read)
