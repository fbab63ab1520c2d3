"""nccl-tests and rccl-tests: collectives of NCCL and RCCL, as ``all_reduce_perf`` prints them.

Comments tell the test (of older versions the command does, where a log shows it), how it was run and each rank with its
device; a header names the columns, twice those of times: the first are out of place, and are taken. Times are
microseconds, means over iterations and processes; sizes are the bytes of all ranks where a rank has a block, which is
made of them. Read are outputs of nccl-tests 2.13 to 2.18 and of rccl-tests.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from loaders import text
from loaders.collectives import COLLECTIVES, REDUCING
from loaders.hints import hinted
from loaders.names import collective_name
from loaders.source import Format, Source
from loaders.start_line import Starts

STATISTIC = "time: mean over iterations and processes, out of place"
_FOUND = re.compile(rb"^[ \t]*#[ \t]+size[ \t]+count[ \t]+type[ \t].*\btime[ \t]+algbw", re.MULTILINE)
_COLUMNS = {"size", "type", "time"}
_TEST = re.compile(r"# Collective test starting: (\w+)_perf")
_TESTS = frozenset({*COLLECTIVES, "all_reduce", "all_gather", "broadcast", "sendrecv", "hypercube"})
#: What may be the test of a line that starts one.
_STARTED = re.compile(r"(?:^|[\s/])(\w{1,40})_perf(?![\w.-])")
_RUN = re.compile(r"# nThread .*(?<!warmup )(?<!agg )iters: (\d{1,9})\b")
_RANK = re.compile(r"#\s+Rank\s+(\d{1,9})\s")
#: What the library logs breaks the rows that are printed meanwhile.
_LOG = "NCCL's log, which NCCL_DEBUG_FILE=FILE keeps out of the rows"
_VERSION = re.compile(r"# nccl-tests version (\S+)")


@dataclass
class _State:
    """Where in the file the reader is, and what it has collected."""

    hinted: str | None
    test: str = ""
    #: Whether a title says it, as of all later ones.
    titled: bool = False
    #: What the lines since the last table start.
    started: set[str] = field(default_factory=set)
    iterations: int = 0
    ranks: int = 0
    columns: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    starts: Starts = field(default_factory=Starts)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text holds a header of nccl-tests."""
    return text.has_header(_FOUND, (b"algbw",), head, path)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every table; see `loaders.source.Format`."""
    text.wanted_statistic(source, ("mean",))
    state = _State(hinted(source, "collective"))
    source.attrs.update(library="NCCL", device="CUDA", benchmark="nccl-tests")
    source.attrs.update(statistic=STATISTIC, statistic_kind="mean over processes")
    comment, row = partial(_comment, source, state), partial(_row, source, state)
    yield from text.printed(source, state.rows, comment, row, state.starts)
    if not source.rows:
        raise source.without_rows(f"no times of collectives found ({text.reasons(source)})")


def _comment(source: Source, state: _State, line: str) -> None:
    if (match := _TEST.match(line)) is not None:
        state.test, state.titled, state.columns = match[1], True, []
    elif (match := _RUN.match(line)) is not None:
        state.iterations, state.ranks, state.columns = int(match[1]), 0, []
    elif (match := _RANK.match(line)) is not None:
        if state.columns:
            # Another run, which does not say how.
            state.iterations, state.ranks, state.columns = 0, 0, []
        # The last one tells how many there are; a line before it may be garbled.
        state.ranks = max(state.ranks, int(match[1]) + 1)
    elif (match := _VERSION.match(line)) is not None:
        source.attrs["benchmark"] = f"nccl-tests {match[1]}"
    elif set(words := line.lstrip("# ").split()) >= _COLUMNS:
        state.columns = words
        if not state.titled:
            # A script shows all that it starts: of several none is taken.
            state.test = state.started.pop() if len(state.started) == 1 else ""
            state.started.clear()


def _row(source: Source, state: _State, line: text.Line) -> str:
    """Take a row into the state; the reason where it cannot be taken."""
    if line.text.lstrip().startswith("rccl-tests"):
        source.attrs.update(library="RCCL", device="ROCM", benchmark="rccl-tests")
    words = line.text.split()
    if not state.columns or len(words) != len(state.columns):
        state.started.update(filter(_TESTS.__contains__, _STARTED.findall(line.text)))
        return _LOG if "NCCL INFO" in line.text else "not a row of the table"
    # The first of two columns of one name is out of place.
    fields = dict(zip(reversed(state.columns), reversed(words), strict=True))
    collective = collective_name(state.test) if state.test else state.hinted
    redop = fields.get("redop") if not state.titled and collective in COLLECTIVES else None
    refused = text.first_fault(
        (
            (not line.ended, "cut off"),
            (text.integer(fields["size"]) is None, "not a row of the table"),
            (bool(state.test) and collective is None, f"{state.test} is not a collective"),
            (
                redop is not None and (redop != "none") != (collective in REDUCING),
                f"not of {collective}: redop {redop}",
            ),
            (text.integer(fields["size"]) == 0, "size 0: no data"),
            (fields.get("#wrong", "0") not in ("0", "N/A"), "validation failed"),
            (text.positive(fields["time"]) is None, "the time is not positive"),
        )
    )
    if not refused:
        state.rows.append(_made(state, collective, fields))
    return refused


def _made(state: _State, collective: str | None, fields: Mapping[str, str]) -> dict[str, Any]:
    row = text.columns_of(collective=collective, comm_size=state.ranks or None, repetitions=state.iterations or None)
    row |= {"vector_size": int(fields["size"]), "time": float(fields["time"]) * 1e-6}
    operation = {"operation": fields["redop"]} if fields.get("redop", "none") != "none" else {}
    return row | {"element_type": fields["type"]} | operation


FORMAT = Format("nccl_tests", "nccl-tests, rccl-tests", recognises, read)
