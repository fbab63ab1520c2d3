"""Traces of online tuning: what each process of a program noted of its collective calls; and their data set as Parquet.

A trace is a file of one process, ``RUN.RANK.trace``, where a run's second program is called ``RUN.2``, its third
``RUN.3``, each a run of its own: a line of JSON, filled with blanks to a multiple of 64 bytes, and
records of 48 bytes, little-endian, one a call::

    double start, end        seconds of the process's own clock
    int64  message_size      bytes by the project's convention
    uint64 comm              id of the communicator, the same on all its processes
    uint32 call              number of the call on it, from 0
    int32  comm_size, nodes  of the communicator
    uint16 ppn               processes per node
    uint8  collective, alg   numbers in the header's ``methods``; alg from 1, 0 = the library's own decision

The header tells ``colltune_trace`` (1), ``run, rank, ranks, mode, table`` (digest of the methods), ``library,
library_version, seed`` and ``methods``: by collective, in the order of their numbers, objects of ``label, algorithm,
segment_size, parameters``. A file that a crash cut off ends in a part of a record, which is passed over.

The time of a call is the longest of its processes' (Steiner, section 4.3): the files of a run are read together, with
that of the lowest rank. Calls that some of them do not tell, or tell otherwise, are skipped and counted. Ranks of the
job whose trace is missing, damaged or without a record are counted too, unless the header says ``simulated``.

A run that has ended leaves ``.RUN.totals.json``, whose ``seconds`` reach from before its first call to after the last
one on any process. A record is damaged whose times are below 0 or above 2³² s (a clock counts from 1970 at the
earliest), whose end is not after its start, or whose call took longer than the run.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from loaders import disk
from loaders.errors import LoadError
from loaders.names import RESERVED
from loaders.source import Format, Source

RECORD = np.dtype(
    [
        *(("start", "<f8"), ("end", "<f8"), ("message_size", "<i8"), ("comm", "<u8"), ("call", "<u4")),
        *(("comm_size", "<i4"), ("nodes", "<i4"), ("ppn", "<u2"), ("collective", "u1"), ("alg", "u1")),
    ]
)
ALIGNED = 64
MARK = b'{"colltune_trace":'
DATA_NAME = "online.parquet"
#: Times of a call by those of its processes.
METRICS = ("max", "makespan", "mean", "root")
_METHODS = b"colltune_online"
_SAME = ("collective", "alg", "message_size", "comm_size", "nodes", "ppn")
_NAME = re.compile(r"(?P<run>.+)\.(?P<rank>\d{1,9})\.trace")
_MOST_BYTES = 4 << 30
_LATEST_S = 2.0**32
_DEFAULT = {"label": "default", "algorithm": "default", "segment_size": 0, "parameters": {}}


def recognises(head: bytes, path: Path) -> bool:
    """Whether it is a trace, or a data set made of traces."""
    return head.startswith(MARK) or (head.startswith(b"PAR1") and path.name.endswith(DATA_NAME))


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read the calls of a run, or of a data set; see `loaders.source.Format`."""
    source.attrs.update(
        benchmark="online", statistic="longest time of a call over its processes", statistic_kind="completion"
    )
    if source.head().startswith(MARK):
        first = siblings(source.path)[0]
        if first != source.path:
            source.note(f"read together with {first.name}")
            return
        header, calls = run_of(source)
        source.attrs.update({name: str(header[name]) for name in ("library", "library_version") if header.get(name)})
        methods = header["methods"]
    else:
        calls, methods = read_data(source.path)
    source.loaded(len(calls))
    yield from tables(calls, methods)
    if not source.rows:
        raise source.fail(f"the trace holds no call that can be used ({source.skipped} skipped)")


def totals_of(traces: Path, run: str) -> Path:
    """What the first process of a run writes at its end."""
    return traces / f".{run}.totals.json"


def programs_of(traces: Path, run: str) -> dict[str, Path]:
    """Of each program that a run started its name and one of its traces; the first is called as the run is."""
    named = ((_NAME.fullmatch(file.name), file) for file in sorted(traces.glob(f"{run}.*.trace")))
    own = re.compile(rf"{re.escape(run)}(\.\d+)?")
    return {match["run"]: file for match, file in named if match and own.fullmatch(match["run"])}


def _seconds(trace: Path) -> float:
    """How long the run of a trace took; infinite where it has not told."""
    match = _NAME.fullmatch(trace.name)
    try:
        seconds = float(disk.read_json(totals_of(trace.parent, match["run"]))["seconds"]) if match else math.inf
    except (OSError, ValueError, LookupError, TypeError, OverflowError):
        return math.inf
    return seconds if seconds > 0 else math.inf


def siblings(path: Path) -> list[Path]:
    """Files of the same run, that of the lowest rank first."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return [path]
    ranks = {}
    for file in path.parent.glob("*.trace"):
        other = _NAME.fullmatch(file.name)
        if other is not None and other["run"] == match["run"]:
            ranks[int(other["rank"])] = file
    return [ranks[rank] for rank in sorted(ranks)] or [path]


def read_file(path: Path) -> tuple[dict[str, Any], npt.NDArray[Any], int]:
    """Header, records and bytes left over of one process's trace.

    Raises
    ------
    LoadError
        It is none, or its header is damaged.
    """
    try:
        content = disk.read_bytes(path, _MOST_BYTES)
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror or error}", path=path) from None
    end = content.find(b"\n")
    try:
        header = json.loads(content[: max(end, 0)])
        fit = header["colltune_trace"] == 1 and (end + 1) % ALIGNED == 0
        methods = {str(name): [_method(method) for method in listed] for name, listed in header["methods"].items()}
        names = [str(header[name]) for name in ("run", "table")]
        header |= {"methods": methods, **{name: int(header.get(name, 0)) for name in ("rank", "ranks")}}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise LoadError("the header of the trace is damaged; expected a line of JSON of version 1", path=path) from None
    if not fit or not methods or not all(names):
        raise LoadError("the header of the trace is not of version 1, or damaged", path=path, line=1)
    count, left = divmod(len(content) - end - 1, RECORD.itemsize)
    return header, np.frombuffer(content, RECORD, count, end + 1), left


def _method(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A method of a header; `ValueError` and its like where it is none."""
    parameters = dict(entry.get("parameters") or {})
    if any(name in RESERVED or not isinstance(value, str | int | float) for name, value in parameters.items()):
        raise ValueError("a method's parameters must be names and numbers")
    size = int(entry.get("segment_size") or 0)
    return {"algorithm": str(entry["algorithm"]), "segment_size": size, "parameters": parameters}


def run_of(source: Source, metric: str = "max") -> tuple[dict[str, Any], pd.DataFrame]:
    """The calls of a run, from the files of all its processes.

    Parameters
    ----------
    source
        One of the files; what is skipped is counted here.
    metric
        One of `METRICS`.

    Returns
    -------
    header
        That of the lowest rank whose file can be read, with ``ranks`` and ``unusable``: the traces there should be, and
        how many of them are ``missing``, ``damaged`` and ``empty``.
    calls
        ``comm, call``, those of `_SAME` (collective by name), ``time`` (seconds) and ``traced`` (processes).
    """
    header, records = _records_of(source)
    return header, _joined(source, records, header["methods"], metric, _seconds(source.path))


def _records_of(source: Source) -> tuple[dict[str, Any], pd.DataFrame]:
    """Header as of `run_of`, and the records of all processes with their ``rank``."""
    header: dict[str, Any] = {}
    parts: list[pd.DataFrame] = []
    files, faults, empty = siblings(source.path), [], 0
    for file in files:
        try:
            own_header, records, left = read_file(file)
        except LoadError as error:
            if files == [source.path]:
                raise
            faults.append(str(error))
            continue
        if header and (own_header["run"], own_header["table"]) != (header["run"], header["table"]):
            other = f"run {own_header['run']}, table {own_header['table']}"
            faults.append(f"{file.name} is of {other}, not of {header['run']}, {header['table']}: left out")
            continue
        header, empty = header or own_header, empty + (not len(records))
        if left:
            source.skip(0, file.name, "the last record of a process is cut off")
        frame = pd.DataFrame(
            {name: records[name].astype(RECORD[name].newbyteorder("=")) for name in RECORD.names or ()}
        )
        parts.append(frame.assign(rank=own_header["rank"]))
    ranks = max(len(files), 0 if header.get("simulated") else header.get("ranks", 0))
    unusable = {"missing": ranks - len(files), "damaged": len(faults), "empty": empty}
    if any(unusable.values()):
        counts = ", ".join(f"{count} {what}" for what, count in unusable.items() if count)
        lost = f"{sum(unusable.values())} of {ranks} ({counts})"
        others = "; times are those of the others" if sum(unusable.values()) < ranks else ""
        source.note(f"ranks without a trace that can be used: {lost}{others}", warn=True)
    for fault in faults:
        source.note(fault, warn=True)
    if not header:
        raise source.fail("none of the traces of this run can be read")
    return {**header, "ranks": ranks, "unusable": unusable}, pd.concat(parts, ignore_index=True)


def _joined(
    source: Source, records: pd.DataFrame, methods: Mapping[str, Sequence[Any]], metric: str, longest: float
) -> pd.DataFrame:
    """One row for each call, of the records of all processes; no call takes more than `longest` (seconds)."""
    names = list(methods)
    counts = np.array([len(listed) for listed in methods.values()])
    known = records["collective"] < len(names)
    sound = known & (records["alg"] <= counts[np.where(known, records["collective"], 0)])
    sound &= (records["message_size"] >= 0) & (records[["comm_size", "nodes", "ppn"]] > 0).all(axis=1)
    sound &= (records["end"] > records["start"]) & (records["start"] >= 0) & (records["end"] <= _LATEST_S)
    sound &= records["end"] - records["start"] <= longest
    source.skip_many(int((~sound).sum()), "a record is damaged: no such method, or sizes or times that cannot be")
    kept = records[sound].assign(each=records["end"] - records["start"])
    grouped = kept.groupby(["comm", "call"], sort=True)
    joined = grouped.agg(
        **{name: (name, "first") for name in _SAME},
        **{f"{name}_last": (name, "nunique") for name in _SAME},
        longest=("each", "max"),
        mean=("each", "mean"),
        root=("each", "first"),
        begin=("start", "min"),
        end=("end", "max"),
        traced=("rank", "nunique"),
        told=("rank", "size"),
    ).reset_index()
    same = (joined[[f"{name}_last" for name in _SAME]] == 1).all(axis=1)
    source.skip_many(int((~same).sum()), "the processes of a call tell different methods or sizes")
    twice = joined["told"] > joined["traced"]
    source.skip_many(int((same & twice).sum()), "a process tells a call twice")
    complete = joined["traced"] == joined.groupby("comm")["traced"].transform("max")
    source.skip_many(int((same & ~twice & ~complete).sum()), "not all processes of a call told it")
    times = {
        "max": joined["longest"],
        "mean": joined["mean"],
        "root": joined["root"],
        "makespan": joined["end"] - joined["begin"],
    }
    made = joined.assign(time=times[metric], collective=[names[place] for place in joined["collective"]])
    return pd.DataFrame(made.loc[same & ~twice & complete, ["comm", "call", *_SAME, "time", "traced"]])


def tables(calls: pd.DataFrame, methods: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[pd.DataFrame]:
    """Rows of calls as readers give them, those of one method together."""
    for (name, alg), own in calls.groupby(["collective", "alg"], sort=True, observed=True):
        number = int(str(alg))
        method: Mapping[str, Any] = methods[str(name)][number - 1] if number else _DEFAULT
        rows = own[["collective", "comm_size", "message_size", "ppn", "time"]].reset_index(drop=True)
        identity: dict[str, Any] = {"algorithm": str(method["algorithm"])}
        identity["segment_size"] = int(method.get("segment_size") or 0)
        yield rows.assign(**identity, **(method.get("parameters") or {}), repetition=0)


def write_data(path: Path, calls: pd.DataFrame, methods: Mapping[str, Any], table: str) -> None:
    """Write a data set as Parquet, whole or not at all; `table` is the digest of the methods."""
    records = pa.Table.from_pandas(calls, preserve_index=False)
    said = json.dumps({"methods": methods, "table": table}).encode()
    with disk.aside(path) as partial:
        pq.write_table(records.replace_schema_metadata({**(records.schema.metadata or {}), _METHODS: said}), partial)


def read_data(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What `write_data` wrote: calls, and methods by collective.

    Raises
    ------
    LoadError
        It is damaged, or no such data set.
    """
    try:
        stored = pq.read_table(path)
        methods = json.loads((stored.schema.metadata or {})[_METHODS])["methods"]
        stored.select([*_SAME, "time", "run", "mode", "iteration"])
        return stored.to_pandas(), methods
    except KeyError:
        raise LoadError("is Parquet, but no data set of online tuning", path=path) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [repr(error)])[0]
        raise LoadError(f"cannot be read as Parquet: {reason[:200]}", path=path) from error


FORMAT = Format("online", "colltune online: traces and their data set", recognises, read)
