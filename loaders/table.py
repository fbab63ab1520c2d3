"""Tables: CSV, TSV and Parquet with one measured point (or raw sample) in each row.

The long table of the project needs no hints: ``collective, algorithm, segment_size, comm_size, message_size, time``
(bytes by the project's convention, seconds), optionally ``ppn, repetition, repetitions, time_std, library_id`` and the
facets of `loaders.facet_names`, such as ``system``; ``operation`` is the collective where no other column is that.
Other headers are mapped with the hint ``columns``, ``{their name: our name}``. The times may be in other units if their
column says so: ``time_us``, ``time_ms``, ``time_ns``, ``time [us]``; `time_std` is in the unit of the times if it names
none. A column ``parameter NAME`` is a further parameter of the method, ``double_of`` the method that ran instead.
``total_size`` in place of ``message_size`` holds the bytes of all processes together. A column mapped to any other name
is a further parameter of the method; a column that is neither known nor mapped is left out, and said. With a column
``repetition`` the rows are raw samples.

What the columns do not say comes from hints. Three other tables are known by their headers: the CSV
of MPIBenchmarks.jl, the CSV that it makes of IMB, and the tuner data of NCCL (see `loaders.presets`).
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from loaders import columns, occ, parquet, pico, presets
from loaders.columns import Plan
from loaders.errors import LoadError
from loaders.source import Format, Source
from loaders.tablerows import header_lines, of_text

_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq")


def recognises(head: bytes, path: Path) -> bool:
    """Whether this is Parquet, or text whose suffix or first lines say that it is a table, but no other format's."""
    if head.startswith(parquet.MAGIC):
        return True
    if b"\0" in head[:1024] or occ.recognises(head, path) or pico.recognises(head, path):
        return False
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    source = Source(path)
    for _, line in header_lines(head):
        separator = columns.separator_of(line)
        if separator is None:
            continue
        if suffix.lower() in _SUFFIXES:
            return True
        try:
            if presets.find(_cells(line, separator)) or columns.plan(source, _cells(line, separator), {}) is not None:
                return True
        except LoadError:
            return True
    return False


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read all rows; see `loaders.source.Format`."""
    tables = parquet.read(source) if source.head().startswith(parquet.MAGIC) else _text(source)
    yield from tables
    if not source.rows:
        raise source.without_rows(f"the table holds no usable row ({source.skipped} skipped: {_reasons(source)})")


def _text(source: Source) -> Iterator[pd.DataFrame]:
    mapping = columns.mapping_of(source)

    def lacking(line: str) -> str:
        separator = columns.separator_of(line)
        return columns.no_times(_cells(line, separator) if separator else [line], source.path.name)

    return of_text(source, lambda line: _layout(source, line, mapping), lacking, "the table")


def _layout(source: Source, line: str, mapping: Mapping[str, str]) -> Plan | None:
    """What the columns mean that a line names; None where it is no header."""
    separator = columns.separator_of(line)
    cells = _cells(line, separator) if separator else [line]
    layout = presets.plan(source, cells, separator, line) if not mapping else None
    if layout is None and (separator or mapping):
        layout = columns.plan(source, cells, mapping, separator=separator or ",", header=line)
    return layout


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def _reasons(source: Source) -> str:
    reasons = ", ".join(f"{count} × {reason}" for reason, count in source.reasons.most_common(3)) or "no row at all"
    first = next((skip for skip in source.skips if skip.line), None)
    return reasons if first is None else f"{reasons}; the first in line {first.line}: {first.text!r}"


FORMAT = Format("table", "table: CSV, TSV or Parquet", recognises, read)
