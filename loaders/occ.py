"""OCC, the optimized collective communication library's benchmark, in a documented tabular form.

No sample and no description of OCC's own file layout is public: **the historic layout is unconfirmed**.
What its author says of the measurements (dissertation, chapter 6; quadtree report, appendix A) is one
result for each collective, algorithm, topology, segment size, communicator size and message size, where

    time = max over processes of (repeated [collective + Bruck barrier]) / repetitions - barrier time.

This reader takes exactly these columns, in any order, under a header line, separated by blanks or commas::

    collective algorithm topology segment_size communicator_size message_size time repetitions
    bcast generalized binomial 8192 16 65536 1.234e-3 20

``segment size``, ``communicator size`` and ``message size`` may be written with blanks or underscores
and in the other spellings of `loaders.columns`. Sizes are bytes by the project's convention. The time
is in seconds unless the header says otherwise: ``time_us``, ``time [us]``, ``time_ms``. The topology is
a parameter of the method; ``-`` or ``none`` stands for no topology. Files whose columns bear other names are
mapped with the hint ``columns``, ``{their name: our name}``.

`table` gives results in this form, to be written; ``fan_out`` and ``radix``, parameters of Open MPI's methods, and
``ppn`` are further columns where they are told.
"""

import dataclasses
import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

import pandas as pd
import xarray as xr

from loaders import columns
from loaders.columns import Plan
from loaders.cube import cube_table
from loaders.errors import LoadError
from loaders.source import Format, Source
from loaders.tablerows import header_lines, of_text

_PARAMETER = "topology"
_FURTHER = ("fan_out", "radix")
_COLUMNS = {
    "collective": "collective",
    "algorithm": "algorithm",
    _PARAMETER: _PARAMETER,
    **{name: name for name in _FURTHER},
    "segment_size": "segment_size",
    "comm_size": "communicator_size",
    "ppn": "ppn",
    "message_size": "message_size",
    "time": "time",
    "repetitions": "repetitions",
}
#: What a cube tells and the form has no room for: spread, doubles, and the numbers that a library gives its algorithms.
_LEFT_OUT = ("time_std", "double_of", "library_id")
_NO_TOPOLOGY = ("-", "none")
_LACKING = (
    "no header line with a column time; the columns are collective, algorithm, topology, segment_size, "
    "communicator_size, message_size, time, repetitions, separated by blanks or commas, or mapped by the hint columns"
)
_PHRASE = re.compile(r"\b(segment|communicator|comm|message|msg|seg)[ \t-]+(size)\b", re.IGNORECASE)
_UNIT = re.compile(r"\b(time)[ \t]*[\[(][ \t]*(\w+)[ \t]*[\])]", re.IGNORECASE)


def recognises(head: bytes, path: Path) -> bool:
    """Whether one of the first lines names a topology, an algorithm and a time."""
    if b"\0" in head[:1024]:
        return False
    source = Source(path)
    for _, line in header_lines(head):
        if _PARAMETER in line.lower():
            try:
                plan = _plan(source, line, {})
            except LoadError:
                return True
            if plan is not None and {_PARAMETER, "algorithm"} <= set(plan.names):
                return True
    return False


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read all rows; see `loaders.source.Format`."""
    source.attrs.update(
        benchmark="OCC",
        statistic="maximum over processes of a barrier-separated loop, per repetition, less the barrier's time",
        statistic_kind="completion",
    )
    mapping = columns.mapping_of(source)
    yield from of_text(source, lambda line: _plan(source, line, mapping), lambda line: _LACKING, "OCC")
    if not source.rows:
        raise source.without_rows(f"no row can be used ({source.skipped} skipped)")


def _plan(source: Source, line: str, mapping: Mapping[str, str]) -> Plan | None:
    separator = columns.separator_of(line)
    if separator is None:
        joined = _UNIT.sub(r"\1_\2", _PHRASE.sub(r"\1_\2", line.replace("#", " ")))
        cells = joined.split()
    else:
        cells = line.split(separator)
    if len(cells) < 2:
        return None
    parameters = (_PARAMETER, *_FURTHER)
    plan = columns.plan(source, cells, mapping, parameters=parameters, separator=separator, header=line)
    return None if plan is None else dataclasses.replace(plan, adjust=_without_topology)


def _without_topology(source: Source, table: pd.DataFrame) -> pd.DataFrame:
    if _PARAMETER in table:
        words: list[Hashable] = [c for c in table[_PARAMETER].cat.categories if str(c).lower() in _NO_TOPOLOGY]
        table[_PARAMETER] = table[_PARAMETER].cat.remove_categories(words)
    return table


def table(tree: xr.DataTree) -> pd.DataFrame:
    """Results in this form, one row for each measured cell, times in seconds.

    Standard deviations and a library's numbers are left out, and so are cells in which a method did what another one
    does: the form cannot say so of them.

    Raises
    ------
    ValueError
        When the methods have a parameter that there is no column for.
    """
    rows = pd.concat([cube_table(node.to_dataset()) for node in tree.children.values()])
    if "double_of" in rows:
        rows = rows[rows["double_of"].fillna("") == ""]
    rows = rows.drop(columns=[name for name in _LEFT_OUT if name in rows])
    if unknown := [str(name) for name in rows.columns if name not in _COLUMNS]:
        raise ValueError(f"OCC's form has no column {unknown[0]!r}; .nc has all")
    if _PARAMETER not in rows:
        rows[_PARAMETER] = _NO_TOPOLOGY[0]
    rows[_PARAMETER] = rows[_PARAMETER].replace("", None).fillna(_NO_TOPOLOGY[0])
    if "repetitions" in rows:
        rows["repetitions"] = rows["repetitions"].astype("Int64")
    return rows[[name for name in _COLUMNS if name in rows]].rename(columns=_COLUMNS)


FORMAT = Format("occ", "OCC, tabular form", recognises, read)
