"""SKaMPI 5 and 6 (5 + OpenSHMEM) output.

A data line holds ``name= value`` for every enclosing loop, then ``%8d %9.1f %9.1f %8d``: the message
size in bytes, the result time and its standard error in microseconds, the number of measurements;
then the times of the processes. Source: SKaMPI 5's ``output.c`` and manual, section 7.1.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from loaders.collectives import COLLECTIVES, POINT_TO_POINT
from loaders.facet_names import FACETS
from loaders.hints import hinted
from loaders.names import RESERVED
from loaders.source import Format, Source, line_ends
from loaders.text import size_column

STATISTIC = "SKaMPI result: per repetition the maximum over processes, mean of the middle half of the repetitions"

_MARKER = re.compile(rb'^[ \t]*(?:#[ \t]*)?(begin|end) result "([^"\r\n]*)".*$', re.MULTILINE)
_HEADER = re.compile(rb"^#[ \t]*SKaMPI Version[ \t]+(\S+)", re.MULTILINE)
_ROW = re.compile(
    r"\s*(?P<loops>(?:[A-Za-z_]\w*=\s+[-+\d.eE]+\s+)*)(?P<size>\d+)\s+(?P<time>-?\d+(?:\.\d*)?)"
    r"\s+(?P<error>\d+(?:\.\d*)?)\s+(?P<count>\d+)(?P<nodes>(?:\s+(?:-?\d+(?:\.\d*)?|---))*)\s*$"
)
_LOOP = re.compile(r"([A-Za-z_]\w*)=\s+([-+\d.eE]+)")
_COMM_LOOPS = frozenset({"nodes", "procs", "np", "nprocs", "processes", "p", "comm_size", "ranks"})
_SIZE_LOOPS = frozenset({"count", "length", "len", "size", "bytes", "msgsize", "message_size"})
#: Columns of a parsed block; loop variables may bear any name without a leading blank or sign.
_FIELDS = ("_size", "_time", "_error", "_count")
#: Columns that the block itself fills: a loop over a variable of such a name becomes a parameter of another name.
_TAKEN = RESERVED - {"algorithm", "segment_size", "ppn", "library_id", *FACETS.values()}
_NODE_TIMES = 16
_MAX_DIGITS = 15
_COLLECTIVES = frozenset({*COLLECTIVES, "comm_split", "comm_dup"})


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text has SKaMPI's header or a result marker."""
    return bool(_HEADER.search(head) or _MARKER.search(head))


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read every result block; see `loaders.source.Format`.

    The block's name gives the collective (and for SKaMPI's own implementations the algorithm). Where
    no loop gives the communicator size, the number of process times tells it if there are fewer than
    16 (SKaMPI prints quantiles beyond), unless the hint ``comm_size`` is given.
    """
    source.attrs.update(benchmark="SKaMPI", statistic=STATISTIC, statistic_kind="completion")
    name: str | None = None
    for first, block in source.blocks():
        if b"SKaMPI Version" in block and (header := _HEADER.search(block)) is not None:
            source.attrs["benchmark"] = f"SKaMPI {header[1].decode('ascii', 'replace')}"
        position, line = 0, first
        for marker in _markers(block):
            text = block[position : marker.start()]
            yield from _block_tables(source, text, line, name)
            line += block.count(b"\n", position, marker.end())
            position = marker.end()
            name = marker[2].decode("utf-8", "replace") if marker[1] == b"begin" else None
        yield from _block_tables(source, block[position:], line, name)
    if not source.rows:
        raise source.without_rows(
            "no measurement found: SKaMPI rows look like 'nodes= 2 count= 1  1  105.4  4.0  5' "
            f"inside '# begin result' … '# end result' ({source.skipped} other lines)"
        )


def _markers(block: bytes) -> Iterator[re.Match[bytes]]:
    """Find the lines that begin or end a result; a search for one byte is much faster than the expression."""
    at = 0
    while (at := block.find(b'"', at)) >= 0:
        start = block.rfind(b"\n", 0, at) + 1
        if (marker := _MARKER.match(block, start)) is not None:
            yield marker
        # A line is looked at once, however many quotes stand in it.
        at = block.find(b"\n", at)
        if at < 0:
            return


def _block_tables(source: Source, text: bytes, line: int, name: str | None) -> Iterator[pd.DataFrame]:
    """Yield the tables of a result block, whose text begins at `line`; without a name none are read."""
    if not text or text.isspace():
        return
    if name is None:
        source.skip_lines(line, text, "not inside a result block")
        return
    table = _fast(text)
    if table is not None:
        source.loaded(len(table))
        yield _finish(source, table, name)
        return
    for table in _slow(source, text, line):
        yield _finish(source, table, name)


def _fast(text: bytes) -> pd.DataFrame | None:
    """Parse a block whose lines all have the form of the first; None where one has not."""
    body = text.strip(b"\r\n")
    match = _ROW.match(body[: (body + b"\n").index(b"\n")].decode("ascii", "replace"))
    if match is None or not text.endswith(b"\n") or b"#" in body:
        return None
    loops = [name for name, _ in _LOOP.findall(match["loops"])]
    lines = line_ends(body) + 1
    if not _same_loops(body, loops, lines):
        return None
    first = 2 * len(loops)
    columns = [*range(1, first, 2), *range(first, first + 4)]
    try:
        # A size such as 1e19 has no place among whole numbers: the lines are looked at one by one then.
        with np.errstate(invalid="raise"):
            table = pd.read_csv(
                io.BytesIO(body),
                sep=r"\s+",
                header=None,
                names=list(range(first + 4)),
                usecols=columns,
                index_col=False,
                quoting=3,
                na_filter=False,
                dtype={**dict.fromkeys(columns, np.float64), first: np.int64, first + 3: np.int64},
            )
    except (ValueError, OverflowError, FloatingPointError):
        return None
    table.columns = pd.Index([*loops, *_FIELDS])
    table.attrs["nodes"] = len(match["nodes"].split())
    return table if len(table) == lines and _plausible(table) else None


def _same_loops(body: bytes, loops: list[str], lines: int) -> bool:
    """Whether so many lines have the loop variables of the first one, and no others."""
    text = np.frombuffer(body, dtype=np.uint8)
    signs = np.flatnonzero(text == ord("="))
    if len(signs) != lines * len(loops) or not (text[np.minimum(signs + 1, len(text) - 1)] == ord(" ")).all():
        return False
    for place, loop in enumerate(loops):
        # From the sign back to the blank or line end before the name.
        ends = signs[place + len(loops) :: len(loops)]
        if any((text[ends - back] != ord(letter)).any() for back, letter in enumerate(reversed(loop), start=1)):
            return False
        if not np.isin(text[ends - len(loop) - 1], (ord(" "), ord("\t"), ord("\n"))).all():
            return False
    return True


def _plausible(table: pd.DataFrame) -> bool:
    size, time, error, count = (table[name].to_numpy() for name in _FIELDS)
    return bool((np.isfinite(time) & (time > 0) & np.isfinite(error) & (size >= 0) & (count > 0)).all())


def _slow(source: Source, text: bytes, line: int) -> Iterator[pd.DataFrame]:
    """Parse line by line: one table for each set of loop variables and number of process times."""
    groups: dict[tuple[tuple[str, ...], int], list[tuple[float, ...]]] = {}
    ended = text.endswith(b"\n")
    raw_lines = text.split(b"\n")
    for offset, raw in enumerate(raw_lines):
        content = raw.decode("utf-8", "replace").strip()
        if not content or content.startswith("#"):
            continue
        match = _ROW.match(content)
        cut = not ended and offset == len(raw_lines) - 1
        if match is None or (cut and not match["nodes"]):
            source.skip(line + offset, content, "cut off" if cut else "not a row of SKaMPI")
            continue
        reason = _fault(match)
        if reason:
            source.skip(line + offset, content, reason)
            continue
        loops = _LOOP.findall(match["loops"])
        key = (tuple(loop for loop, _ in loops), len(match["nodes"].split()))
        if cut and not any(loop.lower() in _COMM_LOOPS for loop in key[0]):
            # Its process times tell the communicator size, and some of them may be missing.
            source.skip(line + offset, content, "cut off")
            continue
        values = (*(float(value) for _, value in loops), *(float(match[n]) for n in ("size", "time", "error", "count")))
        groups.setdefault(key, []).append(values)
    for (names, nodes), rows in groups.items():
        table = pd.DataFrame(rows, columns=[*names, *_FIELDS])
        table.attrs["nodes"] = nodes
        source.loaded(len(table))
        yield table


def _fault(match: re.Match[str]) -> str:
    """Tell what is wrong with the values of a row of the right form; empty if nothing."""
    if max(len(match["size"]), len(match["count"])) > _MAX_DIGITS:
        return "a number is out of range"
    loops = _LOOP.findall(match["loops"])
    faults = {
        "the time is not positive": not 0 < float(match["time"]) < np.inf,
        "the standard error is not finite": not np.isfinite(float(match["error"])),
        "no repetitions": int(match["count"]) <= 0,
        "a loop variable is not a number": not all(_is_number(value) for _, value in loops),
        "a loop variable stands twice": len({name for name, _ in loops}) < len(loops),
    }
    return next((fault for fault, applies in faults.items() if applies), "")


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _finish(source: Source, table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Turn loop variables, microseconds and standard errors into the columns of `COLUMNS`."""
    collective, algorithm = block_name(name)
    unit = 1e-6
    # By MPI_Sendrecv both send at a time, which is no round trip.
    if collective == POINT_TO_POINT and not str(algorithm).startswith("pingpong_sendrecv"):
        unit /= 2
        source.note("ping-pong: SKaMPI's full round trip was halved, as the other benchmarks report it")
    count = table["_count"].to_numpy()
    rows: dict[str, Any] = {
        "time": table["_time"].to_numpy() * unit,
        "time_std": table["_error"].to_numpy() * np.sqrt(count) * unit,
        "repetitions": count.astype(np.int64),
        size_column(collective): table["_size"].to_numpy().astype(np.int64),
    }
    loops = [loop for loop in map(str, table.columns[: -len(_FIELDS)]) if loop.lower() not in _SIZE_LOOPS]
    # Beside processes a number of nodes is no communicator size: it tells the processes per node.
    counts = [loop for loop in loops if loop.lower() in _COMM_LOOPS]
    processes = sorted(counts, key=lambda loop: loop.lower() == "nodes")
    for loop in loops:
        own = f"loop_{loop}" if loop in _TAKEN else loop
        rows["comm_size" if loop in processes[:1] else own] = _as_integers(table[loop].to_numpy())
    nodes = int(table.attrs["nodes"])
    if "comm_size" not in rows and hinted(source, "comm_size") is None and 0 < nodes < _NODE_TIMES:
        rows["comm_size"] = nodes
        source.note("communicator size taken from the number of process times where no loop gives it")
    identity = {"collective": collective, "algorithm": algorithm}
    return pd.DataFrame(rows | {name: value for name, value in identity.items() if value is not None})


def _as_integers(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
    if (np.abs(values) < 2**53).all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    return values


def block_name(name: str) -> tuple[str | None, str | None]:
    """Collective and algorithm that a result block's name tells, None where it does not.

    ``MPI_Bcast-procs-short`` is the library's broadcast, ``Bcast_using_Send_Recv-length`` SKaMPI's own
    over point-to-point, ``Pingpong_Send_Recv`` its ping-pong.
    """
    base = name.partition("-")[0].strip().lower()
    if base.startswith("pingpong"):
        kind = base.removeprefix("pingpong").strip("_")
        return POINT_TO_POINT, "pingpong" if kind in ("", "send_recv") else f"pingpong_{kind}"
    if base == "reduce_scatterv":
        return "reduce_scatter", "reduce_scatterv"
    own = base.removeprefix("mpi_")
    collective, _, how = own.partition("_using_")
    if collective.startswith("i") and collective[1:] in _COLLECTIVES:
        return collective, how or None
    return (collective, how or None) if collective in _COLLECTIVES else (None, None)


FORMAT = Format("skampi", "SKaMPI 5 and 6", recognises, read)
