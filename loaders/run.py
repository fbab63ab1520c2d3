"""colltune's own run format: JSON Lines, appended to while a campaign runs.

The first line is a header ``{"colltune_run": 1, "attrs": {…}}`` (``attrs``: system, network, library,
library_version, benchmark, statistic, …), every further line one measured point::

    {"collective": "bcast", "algorithm": "pipeline", "segment_size": 8192, "comm_size": 8,
     "message_size": 65536, "samples": [1.23e-3, 1.21e-3]}

Sizes are bytes by the project's convention, times seconds. Instead of ``samples`` a point may hold ``time`` with
``time_std`` and ``repetitions``. Optional: ``ppn``, ``element_type`` (text, of a reduction where several are measured),
``library_id``, ``parameters`` (an object of further method parameters), ``launch`` (from 1, where there are several; a
point then stands in one line for each), ``late`` (repetitions left out since a process started late), ``stolen``
(repetitions during which a process waited for its core, left out unless there are no others), ``waited`` (an object:
``seconds`` that the process ``rank`` on ``node`` waited for a core ``of`` those that it measured, the largest share of
all), ``crowded`` (true where there were more processes than cores: then they wait for each other), ``seconds`` (what
the point took with all that was done around its repetitions), ``again`` (text: why it was measured once more; the lines
of the same point and launch before it are passed over), ``graph`` (an object: ``digest`` of the messages of one call
and ``programs``, see `loaders.doubles`) and ``error`` (text: the method was refused, is unsafe or gave a wrong result;
such a point is not timed). A resumed campaign may repeat the header, be it of another node. Where headers differ in a
facet and the same points stand below them, these are several runs, and each point has the facets of its own header. A
line that a crash cut off is passed over; the next one starts anew.
"""

import contextlib
import json
import math
import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from loaders.collectives import REDUCING
from loaders.cores import KEYS, say, stolen
from loaders.doubles import Ran, doubles_of, ran
from loaders.facet_names import DOUBTFUL, LAUNCHES, LISTS, ROW_FACETS
from loaders.launches import compare, spreads
from loaders.methods import MethodKey, method_label
from loaders.names import plain_collective
from loaders.run_writer import SIZES, fault_of
from loaders.source import Format, Source

_POINTS = 20_000
#: Points with one of these are read before all others.
_HEADER = '"colltune_run"'
_LOOKED_AT = ('"graph"', '"launch"', '"late"', '"again"', '"stolen"', '"crowded"', _HEADER)
#: Launches of one point disagree when one takes more than so many times another one.
_DISAGREE = 3.0
_NOT_OF_METHOD = frozenset(
    ("comm_size", "message_size", "ppn", "repetitions", "time", "time_std", "library_id", "double_of", *ROW_FACETS)
)
#: Facets of whole headers: of the points, the elements of a reduction are told by themselves, too.
_OF_HEADERS = tuple(name for name in ROW_FACETS if name not in ("element_type", "placement"))


@dataclass
class _Run:
    """What all points together tell, and the header that a point stands below."""

    #: Methods that ran as another one by cell and method: a double may stand before the other.
    double_of: dict[tuple[Hashable, Hashable], str] = field(default_factory=dict)
    #: Line from which on a point of a launch counts, with the reason, where it was measured once more.
    since: dict[Hashable, tuple[int, str]] = field(default_factory=dict)
    #: Facets in which headers of several runs differ.
    varying: set[str] = field(default_factory=set)
    #: These of the last header.
    facts: dict[str, str] = field(default_factory=dict)

    def begin(self, header: Mapping[str, Any]) -> None:
        """Take the facets of a header; what it does not tell is as before."""
        self.facts |= {name: value for name, value in _facts(header).items() if name in self.varying}


def recognises(head: bytes, path: Path) -> bool:
    """Whether the text starts with the run header."""
    return head.lstrip()[:64].replace(b" ", b"").startswith(b'{"colltune_run":')


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read all whole points; see `loaders.source.Format`."""
    source.attrs.setdefault("statistic_kind", "completion")
    run = _whole_run(source)
    held: list[dict[str, Any]] = []
    for number, line in source.lines():
        if not line.strip():
            continue
        fault = _take(source, line, held, run, number)
        if fault:
            source.skip(number, line, fault)
        if len(held) >= _POINTS:
            yield from _tables(held)
            held = []
    yield from _tables(held)
    if not source.rows:
        raise source.fail(f"the run holds no finished point ({source.skipped} lines passed over)")


def _of_launch(record: Mapping[str, Any], facts: Mapping[str, str]) -> Hashable:
    launch = record.get("launch")
    return (*_place(record, facts), launch if type(launch) is int else 1)


def _facts(header: Mapping[str, Any]) -> dict[str, str]:
    """Facets that a header tells."""
    attrs = header.get("attrs")
    return {n: str(attrs[n]) for n in _OF_HEADERS if attrs.get(n)} if isinstance(attrs, dict) else {}


def _varying(source: Source) -> set[str]:
    """Facets in which headers differ below which the same points stand: several runs, and none that was resumed."""
    values: dict[str, set[str]] = {}
    for _, line in source.lines():
        with contextlib.suppress(ValueError, RecursionError, AttributeError):
            for name, value in _facts(json.loads(line) if _HEADER in line else {}).items():
                values.setdefault(name, set()).add(value)
    varying = {name for name, each in values.items() if len(each) > 1}
    run, measured = _Run(varying=varying), dict[Hashable, tuple[str, ...]]()
    for _, line in source.lines() if varying else ():
        with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError, AttributeError):
            record = json.loads(line)
            if "colltune_run" in record:
                run.begin(record)
            elif "error" not in record and "again" not in record:
                own = tuple(run.facts.values())
                if measured.setdefault(_of_launch(record, {}), own) != own:
                    return varying
    return set()


def _whole_run(source: Source) -> _Run:
    """What only all points together tell, in passes of its own; launches that stand out are noted."""
    run = _Run(varying=_varying(source))
    cells: dict[Hashable, dict[Hashable, tuple[tuple[int, int], Ran]]] = {}
    medians: dict[tuple[Any, Hashable], dict[int, float]] = {}
    alone: dict[Hashable, tuple[Hashable, str]] = {}
    cores: dict[Hashable, Mapping[str, Any]] = {}
    for number, line in source.lines():
        with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
            record = json.loads(line) if any(word in line for word in _LOOKED_AT) else {}
            if "colltune_run" in record:
                run.begin(record)
            if isinstance(record.get("again"), str):
                launch = _of_launch(record, run.facts)
                run.since[launch] = number, record["again"]
                alone.pop(launch, None)
                cores.pop(launch, None)
            if "error" in record or "samples" not in record or fault_of(record):
                continue
            cell, method = _place(record, run.facts)
            if (messages := ran(method, record)) is not None:
                cells.setdefault(cell, {}).setdefault(method, ((record.get("library_id") or 0, number), messages))
            if type(record.get("launch")) is int:
                medians.setdefault((cell, method), {})[record["launch"]] = median(record["samples"])
            if record.get("stolen") or record.get("crowded"):
                cores[_of_launch(record, run.facts)] = {name: record.get(name) for name in KEYS}
            if why := stolen(record) or _late(record):
                alone[_of_launch(record, run.facts)] = (cell, method), why
    _note_launches(source, medians)
    say(source, cores.values())
    _note_doubts(source, dict(alone.values()) | _disagreeing(medians))
    ordered = {
        cell: [messages for _, messages in sorted(there.values(), key=lambda pair: pair[0])]
        for cell, there in cells.items()
    }
    double_of = {double: method_label(MethodKey(*other)) for double, other in doubles_of(ordered).items()}
    return replace(run, double_of=double_of, facts={})


def _late(record: Mapping[str, Any]) -> str:
    """Why the starts of a point cannot be trusted; empty where they can."""
    late, left = record.get("late"), len(record["samples"])
    return f"{late} starts were late, and {left} were not" if type(late) is int and late > left else ""


def _disagreeing(medians: Mapping[Any, Mapping[int, float]]) -> dict[Hashable, str]:
    """Points whose launches are far apart, with the reason."""
    ratios = {point: max(each.values()) / min(each.values()) for point, each in medians.items() if len(each) > 1}
    return {
        point: f"its launches disagree: the longest takes {ratio:.1f} times the shortest"
        for point, ratio in ratios.items()
        if ratio > _DISAGREE
    }


def _note_doubts(source: Source, doubts: Mapping[Any, str]) -> None:
    """Have the cube tell which of its times are doubtful by what only single points show."""
    if not doubts:
        return
    records = [
        {
            "collective": cell[0],
            "method": method_label(MethodKey(*method)),
            "comm_size": cell[1],
            "message_size": cell[2],
            **({} if cell[3] is None else {"ppn": cell[3]}),
            "reason": reason,
        }
        for (cell, method), reason in doubts.items()
    ]
    source.attrs[DOUBTFUL] = json.dumps(records)


def _note_launches(source: Source, medians: Mapping[tuple[Any, Hashable], Mapping[int, float]]) -> None:
    if differ := spreads(medians):
        source.attrs[LAUNCHES] = json.dumps(differ)
    launches = compare(medians)
    for launch in launches:
        if launch.outlier:
            share = f"{launch.ratio:.2f} times those of the others in the middle of {launch.points} points"
            source.note(f"launch {launch.number} of {len(launches)} stands out: its times are {share}", warn=True)


def _place(record: Mapping[str, Any], facts: Mapping[str, str]) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """Cell, below a header of such facets, and method of a point."""
    sizes = tuple(record.get(name) for name in ("comm_size", "message_size", "ppn", "element_type"))
    parameters = tuple(sorted((record.get("parameters") or {}).items()))
    return (plain_collective(record["collective"]), *sizes, tuple(facts.items())), (
        record["algorithm"],
        record.get("segment_size") or 0,
        parameters,
    )


def _take(source: Source, line: str, held: list[dict[str, Any]], run: _Run, number: int) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "not a whole JSON record"
    if not isinstance(record, dict):
        return "not a JSON object"
    if "colltune_run" in record:
        attrs = record.get("attrs", {})
        if isinstance(attrs, dict):
            # The nodes of the ranks, in runs of before; how ranks are placed is another thing.
            attrs = {"rank_nodes" if k == "placement" else k: v for k, v in attrs.items()}
            # What loaders tell of a run is told anew.
            gone = {*run.varying, *LISTS}
            kept = {str(k): v for k, v in attrs.items() if isinstance(v, str | int | float) and k not in gone}
            source.attrs.update(kept)
        run.begin(record)
        return ""
    if "error" in record:
        return f"not timed: {record['error']}"[:120]
    if fault := fault_of(record) or _replaced(record, run, number):
        return fault
    row = {k: record[k] for k in ("collective", "algorithm", *SIZES, "element_type") if record.get(k) is not None}
    row["collective"] = plain_collective(row["collective"])
    if datatype := source.attrs.get("datatype"):
        # A campaign of one type says it of all its reductions at once; the others have none.
        row.setdefault("element_type", str(datatype) if row["collective"] in REDUCING else "")
    row |= {name: run.facts.get(name, "") for name in run.varying}
    row["parameters"] = record.get("parameters") or {}
    if run.double_of:
        row["double_of"] = run.double_of.get(_place(record, run.facts), "")
    if "samples" in record:
        row.pop("repetitions", None)
        held.append({**row, "time": record["samples"]})
    else:
        held.append(
            {
                **row,
                "time": record["time"],
                "time_std": math.nan if record.get("time_std") is None else record["time_std"],
            }
        )
    source.loaded(1)
    return ""


_FIGURES = re.compile(r"\d[\d.,]*")


def _replaced(record: Mapping[str, Any], run: _Run, number: int) -> str:
    """Why a point does not count, as it was measured once more further down; empty where it was not.

    Without its figures, so that points of one fault are counted together.
    """
    later, why = run.since.get(_of_launch(record, run.facts), (0, "")) if run.since else (0, "")
    return f"measured again: {_FIGURES.sub('…', why)}"[:120] if number < later else ""


def _tables(points: list[dict[str, Any]]) -> Iterator[pd.DataFrame]:
    """Tables of points with the same columns, the first point of each method before all others.

    So the methods appear in the order of the file, whatever they have besides.
    """
    firsts: dict[str, dict[str, Any]] = {}
    others: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for point in points:
        flat = {**point.pop("parameters"), **point}
        method = json.dumps([v for k, v in sorted(flat.items()) if k not in _NOT_OF_METHOD])
        if method in firsts:
            others.setdefault(_columns(flat), []).append(flat)
        else:
            firsts[method] = flat
    # Those that follow each other and have the same columns make one table: each table costs milliseconds.
    for group in [*(list(alike) for _, alike in groupby(firsts.values(), _columns)), *others.values()]:
        if not isinstance(group[0]["time"], list):
            yield pd.DataFrame(group)
            continue
        samples = [point.pop("time") for point in group]
        places = np.repeat(np.arange(len(group)), [len(each) for each in samples])
        table = pd.DataFrame(group).iloc[places].reset_index(drop=True)
        yield table.assign(time=np.array([time for each in samples for time in each], dtype=np.float64), repetition=0)


def _columns(point: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells apart points that cannot stand in one table."""
    return (*sorted(point), str(isinstance(point["time"], list)))


FORMAT = Format("run", "colltune run (JSON Lines)", recognises, read)
