"""PICO's tables of one row for each test: the aggregated summary and the consolidated table.

The time is the median over iterations of the maximum over processes, or what the hint ``statistic`` (max,
mean, min) asks for. ``nnodes`` may be the shape of a torus (``8x8x8``); the communicator size is the nodes times
``tasks_per_node``. Buffers of a GPU, the operation of a reduction and the type of the elements are facets
(`loaders.facets`), as are system, library, version and campaign: of what differs in them nothing is averaged.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from loaders.chunk import Chunk, not_time, not_whole, operation_name, plain_text, translate
from loaders.delimited import Delimited, Field
from loaders.names import collective_name, counts_blocks
from loaders.pico_names import parse_nodes, split_algorithm, without_library
from loaders.source import Source
from loaders.text import wanted_statistic

STATISTICS = ("max", "mean", "median", "min")
_AGGREGATED = {"collective_type", "buffer_size", "algo_name", "nnodes", "tasks_per_node"}
_CONSOLIDATED = {"collective", "bytes", "algorithm", "segsize_bytes", "ranks", "tasks_per_node"}
#: Our name of each column that is used, for both tables: {theirs: (ours, kind)}.
_COLUMNS: Mapping[str, tuple[str, str]] = {
    "collective_type": ("collective", "text"),
    "collective": ("collective", "text"),
    "buffer_size": ("vector_size", "number"),
    "bytes": ("vector_size", "number"),
    "algo_name": ("raw", "text"),
    "algorithm": ("algorithm", "text"),
    "segsize_bytes": ("segment_size", "number"),
    "nnodes": ("nodes", "text"),
    "ranks": ("comm_size", "number"),
    "tasks_per_node": ("ppn", "number"),
    "n_iter": ("repetitions", "number"),
    "std": ("time_std", "number"),
    "stddev_ns": ("time_std", "number"),
    "system": ("system", "text"),
    "mpi_lib": ("library", "text"),
    "mpi_lib_version": ("library_version", "text"),
    "gpu_awareness": ("device", "text"),
    "gpu": ("device", "text"),
    "MPI_Op": ("operation", "text"),
    "datatype": ("element_type", "text"),
    "timestamp": ("campaign", "text"),
}
#: Columns that tell a facet; what is started at one time is a campaign.
FACETS = ("system", "library", "library_version", "device", "operation", "element_type", "campaign")


def is_header(line: str) -> bool:
    """Whether a line is the header of one of the two tables."""
    names = set(cells(line))
    return names >= _AGGREGATED or names >= _CONSOLIDATED


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read a summary or the consolidated table."""
    reader: SummaryReader | None = None
    for first, block in source.blocks():
        text, line = block, first
        if reader is None:
            end = block.find(b"\n") + 1 or len(block)
            reader = SummaryReader(source, block[:end].decode("utf-8", "replace"))
            text, line = block[end:], first + 1
        table = reader.parse(text, line)
        if table is not None and len(table):
            yield table


def date(timestamp: str) -> str | None:
    """Write ``2025_03_27___04_01_47`` as ``2025-03-27 04:01:47``; None where it is no name at all."""
    day, _, time = timestamp.partition("___")
    return plain_text(f"{day.replace('_', '-')} {time.replace('_', ':')}")


def device(awareness: str) -> str | None:
    """``gpu`` where buffers are those of one, else ``host``; None where nothing is said."""
    return {"": None, "yes": "gpu"}.get(awareness.strip().lower(), "host")


_FACET_WORDS = {"campaign": date, "device": device, "operation": operation_name}


def facets_of(cells: Mapping[str, str]) -> dict[str, str | None]:
    """What a row tells of each facet, by its cells."""
    names = {ours: theirs for theirs, (ours, _) in _COLUMNS.items() if ours in FACETS and theirs in cells}
    return {ours: _FACET_WORDS.get(ours, plain_text)(cells[theirs]) for ours, theirs in names.items()}


class SummaryReader:
    """Reads the rows under one header.

    Parameters
    ----------
    source
        Where rows are counted.

    Raises
    ------
    LoadError
        The statistic asked for is not in the table.
    """

    def __init__(self, source: Source, header: str) -> None:
        self._source = source
        names = cells(header)
        statistic = wanted_statistic(source, STATISTICS) or "median"
        column = next((c for c in (statistic, f"{statistic}_ns") if c in names), None)
        if column is None:
            raise source.fail(f"there is no column {statistic} in this summary; there are {', '.join(names)[:300]}")
        fields = [self._field(c, place, column) for place, c in enumerate(names)]
        used = [f.name for f in fields if f.kind != "ignored"]
        if len(set(used)) < len(used):
            raise source.fail(f"two columns of the summary mean the same: {', '.join(names)[:300]}")
        self._reader = Delimited(source, fields, ",", what="PICO's summary", header=header)
        source.attrs["statistic"] = f"{statistic} over iterations of the maximum over processes"

    @staticmethod
    def _field(cell: str, place: int, time: str) -> Field:
        if cell == time:
            return Field("time", "number")
        name, kind = _COLUMNS.get(cell, ("", ""))
        if kind == "text":
            return Field(name, "text")
        return Field(name, "number") if kind else Field(f"column {place}", "ignored")

    def parse(self, text: bytes, line: int) -> pd.DataFrame | None:
        """Parse rows, count them, and return those that are good."""
        table = self._reader.parse(text, line, self._finish)
        if table is None:
            return None
        empty = [n for n in FACETS if n in table and not table[n].notna().any()]
        return table.drop(columns=empty)

    def _finish(self, chunk: Chunk) -> pd.DataFrame:
        frame = chunk.frame
        data: dict[str, Any] = {"collective": translate(frame["collective"], collective_name)}
        data["vector_size"] = frame["vector_size"].to_numpy()
        data["ppn"] = frame["ppn"].to_numpy()
        data |= _method(frame)
        if "nodes" in frame:
            data["comm_size"] = numbers(frame["nodes"], parse_nodes) * data["ppn"]
        else:
            data["comm_size"] = frame["comm_size"].to_numpy()
        data["time"] = frame["time"].to_numpy() * 1e-9
        if "time_std" in frame:
            std = frame["time_std"].to_numpy() * 1e-9
            data["time_std"] = np.where(np.isfinite(std) & (std >= 0), std, np.nan)
        if "repetitions" in frame:
            data["repetitions"] = frame["repetitions"].to_numpy()
        for name in FACETS:
            if name in frame:
                data[name] = translate(frame[name], _FACET_WORDS.get(name, plain_text))
        faults = [
            (data["collective"].codes < 0, "no collective that is known"),
            (data["algorithm"].codes < 0, "no algorithm"),
            (not_whole(data["vector_size"]), "the buffer size is not a whole number"),
            (not_whole(data["ppn"], 1), "tasks_per_node is not a whole number from 1 up"),
            (not_whole(data["comm_size"], 1), "the number of nodes or ranks is not a whole number from 1 up"),
            (not_whole(data["segment_size"]), "the segment size is not a whole number"),
            (not_time(data["time"]), "the time is not a positive number"),
        ]
        if "repetitions" in frame:
            repetitions = data["repetitions"]
            faults.append(
                (~np.isnan(repetitions) & not_whole(repetitions, 1), "n_iter is not a whole number from 1 up")
            )
        table = chunk.with_frame(data).drop(self._source, faults)
        say_converted(self._source, table["collective"].cat.categories)
        return table.astype(dict.fromkeys(("vector_size", "comm_size", "ppn", "segment_size"), np.int64))


def numbers(column: pd.Series[Any], number: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Apply ``number(text)`` to each word of a categorical; NaN where it gives `None`."""
    categories = [number(str(c)) for c in column.cat.categories]
    table = np.array([np.nan if n is None else n for n in categories] + [np.nan], dtype=np.float64)
    return table[column.cat.codes.to_numpy()]


def _method(frame: pd.DataFrame) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if "raw" in frame:
        raw = frame["raw"]
        data["algorithm"] = translate(raw, lambda text: plain_text(split_algorithm(text.strip()).name))
        data["segment_size"] = numbers(raw, lambda text: split_algorithm(text.strip()).segment_size)
    else:
        data["algorithm"] = translate(frame["algorithm"], lambda text: plain_text(without_library(text.strip())))
        data["segment_size"] = frame["segment_size"].to_numpy()
    return data


def say_converted(source: Source, collectives: Iterable[str]) -> None:
    """Say how sizes of collectives are converted, where any of these is."""
    if any(map(counts_blocks, collectives)):
        source.note(
            "sizes of collectives with a block per process converted from the whole vector; where the ranks do not "
            "divide it, the block is rounded half up, to at least 1 byte"
        )


def cells(line: str) -> list[str]:
    """Names in a header line."""
    try:
        fields = next(csv.reader([line.lstrip("\ufeff").strip()]), [])
    except csv.Error:
        fields = line.split(",")
    return [c.strip() for c in fields]
