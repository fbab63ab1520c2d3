"""ucc_perftest: collectives of UCC, as its own benchmark prints them.

A head tells collective, memory, datatype and operation, two lines the columns. Rows have a count of elements, their
size in bytes, and times in microseconds, means over iterations: of all processes, of the fastest and of the slowest
one. Numbers of processes and algorithms are told only where the job's command stands above (`loaders.start_line`).
A size is that of the vector or of a process's block. From 1.5 on, where ``Total time`` ends a table, it is that of the
blocks of all where each has one for each: of alltoall, scatter, reduce_scatter and those of these with counts.
Source: tools/perf of openucx/ucc (`print_header`, `print_time`, `get_src_count`), 1.0.0 to 1.10.0 (8263de4).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import text, ucc
from loaders.collectives import COLLECTIVES
from loaders.hints import hinted
from loaders.names import collective_name
from loaders.source import Format, Source
from loaders.start_line import Starts

#: Statistics: column, kind, and what it is.
_TIMES: Mapping[str, tuple[int, str, str]] = {
    "max": (4, "completion", "ucc_perftest max: mean over iterations, of the slowest process"),
    "mean": (2, "mean over processes", "ucc_perftest avg: mean over iterations and processes"),
    "min": (3, "minimum over processes", "ucc_perftest min: mean over iterations, of the fastest process"),
}
_FOUND = re.compile(rb"^[ \t]*Count[ \t]+Size[ \t]+Time, us[ \t\r]*(?:Bus[ \t]|Bandwidth|$)", re.MULTILINE)
_HEAD = re.compile(r"(Collective|Memory type|Datatype|Reduction|Inplace|Warmup|Iterations|Iteration mode): *(.*)")
_ITERATIONS = re.compile(r"(small|large) +(\d{1,9})")
_HEADER = re.compile(r"Count +Size +Time, us( +(?:Bus )?Bandwidth, GB/s)?")
_BELOW = re.compile(r"avg +min +max(?: +avg +(?:min +max|max +min))?")
_END = re.compile(r"Total time: \S+ ms")
_RELEASE = re.compile(r"(\d{1,6})\.(\d{1,6})")
#: UCC's that reduce and scatter: the one is what MPI does by blocks; the other stays, as its tune strings call it.
_NAMES = {"reduce_scatter": "reduce_scatter_block", "reduce_scatterv": "reduce_scatterv"}
_UNSURE = (
    "up to UCC 1.4 the size is a block, from 1.5 on that of all blocks: no 'Total time' of 1.5 ends the table; "
    "--library-version tells"
)
_OTHER_SIZE = "in place, where ucc_perftest prints another size than it measures"


@dataclass
class _State:
    """Where in the file the reader is, and what it has collected."""

    column: int
    head: dict[str, str] = field(default_factory=dict)
    #: Whether UCC is of 1.5 or newer; None: nothing tells it so far.
    newer: bool | None = None
    #: Columns of the rows of this table; 0: none has begun.
    columns: int = 0
    started: dict[str, str | int] = field(default_factory=dict)
    #: Rows of this table, whose sizes are understood at its end.
    held: list[tuple[text.Line, dict[str, Any]]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    starts: Starts = field(default_factory=Starts)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text holds a header of ucc_perftest."""
    return text.has_header(_FOUND, (b"Time, us",), head, path)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every table; see `loaders.source.Format`.

    The time is that of the slowest process. Memory, datatype and operation are facets of the rows; what was measured in
    place or without a barrier between the iterations is a campaign of its own.
    """
    column, kind, what = _TIMES[text.wanted_statistic(source, tuple(_TIMES)) or "max"]
    state = _State(column)
    source.attrs.update(library=ucc.NAME, benchmark="ucc_perftest", statistic=what, statistic_kind=kind)
    for line in text.lines(source, labelled=True):
        stripped = line.text.strip()
        if _is_head(source, state, stripped):
            continue
        if reason := _row(state, line):
            state.starts.look(stripped)
            if not stripped.startswith("#"):
                source.skip(line.number, line.text, reason)
        if len(state.held) >= text.ROWS_HELD:
            _settle(source, state)
        if len(state.rows) >= text.ROWS_HELD:
            yield from text.tables(state.rows)
            state.rows.clear()
    _settle(source, state)
    yield from text.tables(state.rows)
    if not source.rows:
        raise source.without_rows(f"no times of collectives found ({text.reasons(source)})")


def _is_head(source: Source, state: _State, line: str) -> bool:
    """Take what stands above and below rows; whether the line is of that."""
    if (match := _HEAD.fullmatch(line)) is not None:
        name, value = match.groups()
        if name in ("Collective", *state.head):
            # Where a title is garbled, what follows is of a collective that is not known.
            _end(source, state)
        state.head[name] = value
        state.newer = state.newer or name == "Iteration mode" or None
        if name == "Collective":
            _begin(source, state, value.lower())
    elif (match := _HEADER.fullmatch(line)) is not None:
        if state.columns:
            _end(source, state)
        state.columns = 8 if match[1] else 5
        state.newer = state.newer or "Bus" in (match[1] or "") or None
    elif _END.fullmatch(line) is not None:
        state.newer = True
        _end(source, state)
    else:
        return (_ITERATIONS.fullmatch(line) or _BELOW.fullmatch(line)) is not None
    return True


def _end(source: Source, state: _State) -> None:
    """Take the rows of a table that has ended, and forget what is said of it."""
    _settle(source, state)
    state.head, state.newer, state.columns, state.started = {}, None, 0, {}


def _begin(source: Source, state: _State, name: str) -> None:
    """Take what the command above tells of the table that begins."""
    start = state.starts.take()
    state.started = start.columns_of(name, source)
    state.head["persistent"] = "_persistent" if start.persistent else ""


def _row(state: _State, line: text.Line) -> str:
    """Hold a row until its table ends; the reason where it cannot be taken."""
    words = line.text.split()
    if not state.columns or len(words) != state.columns or not all(map(_fits, words[:2])):
        return text.no_row(line)
    name = state.head.get("Collective", "")
    collective = _NAMES.get(name.lower()) or collective_name(name)
    time = text.positive(words[state.column])
    refused = text.first_fault(
        (
            (any(text.decimal(word) is None for word in words[2:5]), "not a row of the table"),
            (text.cut_off(line), "cut off"),
            (not name, "below no title"),
            (collective is None, f"{name} is not a collective"),
            (words[1] == "N/A" and collective != "barrier", "no message size"),
            (words[1] == "0", "size 0: no data"),
            (time is None, "the time is not positive"),
        )
    )
    if refused or collective is None or time is None:
        return refused
    size = text.integer(words[1]) or 0
    row = {"collective": collective + state.head["persistent"], "time": time * 1e-6, "message_size": size}
    state.held.append((line, row | _facets(state.head) | state.started))
    return ""


def _fits(word: str) -> bool:
    return word == "N/A" or text.integer(word) is not None


def _facets(head: Mapping[str, str]) -> dict[str, str]:
    """Memory, operation and datatype; what is in place or streams is a campaign of its own."""
    memory = head.get("Memory type", "").upper()
    ways = {"in place": head.get("Inplace") == "1", "streaming": head.get("Iteration mode") == "streaming"}
    facets = {"device": "" if memory == "HOST" else memory, "campaign": ", ".join(way for way in ways if ways[way])}
    facets |= {"element_type": head["Datatype"]} if head.get("Datatype") else {}
    return facets | ({"operation": head["Reduction"]} if head.get("Reduction", "N/A") != "N/A" else {})


def _settle(source: Source, state: _State) -> None:
    """Take the rows that are held, by what their size means."""
    name = state.head.get("Collective", "").lower()
    entry = COLLECTIVES.get(name) or COLLECTIVES.get(name.removesuffix("v"))
    if entry is None or entry.sends != "blocks":
        refused = ""
    else:
        newer = _newer(source, state)
        refused = _UNSURE if newer is None else ""
        if newer and name == "reduce_scatter" and state.head.get("Inplace") == "1":
            refused = _OTHER_SIZE
        for _, row in state.held if newer else ():
            row["total_size"] = row.pop("message_size")
    for line, row in state.held:
        if refused:
            source.skip(line.number, line.text, refused)
        else:
            source.loaded(1)
            state.rows.append(row)
    state.held = []


def _newer(source: Source, state: _State) -> bool | None:
    """Whether a table is of 1.5 or newer; None where neither it nor a hint tells."""
    if state.newer is not None:
        return state.newer
    if (match := _RELEASE.match(hinted(source, "library_version") or "")) is not None:
        return (int(match[1]), int(match[2])) >= (1, 5)
    processes = int(state.started.get("comm_size") or hinted(source, "comm_size") or 0)
    # Blocks of all are as many as the processes.
    return False if processes and any(int(line.text.split()[0]) % processes for line, _ in state.held) else None


FORMAT = Format("ucc_perftest", "UCC's ucc_perftest", recognises, read)
