"""Rows of many files, kept compactly until the cubes are made of them.

Each row costs some 12 bytes: a method number, places on the axes, a time. Text and sizes are held
once, in vocabularies, so that large files need less memory than they have bytes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from loaders.errors import LoadError
from loaders.methods import MethodKey, method_label
from loaders.names import COLUMNS, block_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Numbers of a vocabulary, in the smallest type that holds them.
Codes = npt.NDArray[np.unsignedinteger[Any]]

_METHOD = ("algorithm", "segment_size")
#: Whole numbers that a float tells apart.
_EXACT = 2**53
_NOT_PARAMETERS = frozenset({*COLUMNS, "total_size", "sample"})


class Vocabulary:
    """Numbers for values, in the order of their first appearance."""

    def __init__(self, values: Iterable[Hashable] = ()) -> None:
        self.values: list[Any] = list(values)
        self._numbers: dict[Any, int] = {value: number for number, value in enumerate(self.values)}

    def number(self, value: Hashable) -> int:
        """Return the number of one value; a new one gets the next."""
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number

    def numbers(self, values: Iterable[Hashable]) -> npt.NDArray[np.int32]:
        """Return the numbers of many values."""
        return np.fromiter((self.number(v) for v in values), dtype=np.int32)

    def encode(self, column: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Encode a whole column of integers."""
        codes, uniques = pd.factorize(np.asarray(column))
        return self.numbers(int(u) for u in uniques)[codes]


@dataclass
class Part:
    """Rows of one collective in columns of equal length; `None` where a column is not told."""

    method: Codes
    comm_size: Codes
    message_size: Codes
    ppn: Codes
    time: Floats
    time_std: Floats | None = None
    repetitions: Floats | None = None
    raw: bool = False
    double_of: npt.NDArray[np.int32] | None = None
    library_ids: dict[int, int] = field(default_factory=dict)
    #: Place of the file among those of its collective.
    source: int = 0
    #: How far totals are from what their blocks make on all processes, see `CollectiveRows.add`; None: none were told.
    off: Ints | None = None

    def keep(self, rows: npt.NDArray[np.bool_]) -> None:
        """Keep some rows."""
        for column in fields(self):
            if isinstance(values := getattr(self, column.name), np.ndarray):
                setattr(self, column.name, values[rows])


@dataclass
class CollectiveRows:
    """All rows of one collective, with the vocabularies of its axes."""

    collective: str
    methods: Vocabulary = field(default_factory=Vocabulary)
    comm_sizes: Vocabulary = field(default_factory=Vocabulary)
    message_sizes: Vocabulary = field(default_factory=Vocabulary)
    ppns: Vocabulary = field(default_factory=Vocabulary)
    doubles: Vocabulary = field(default_factory=lambda: Vocabulary([""]))
    parts: list[Part] = field(default_factory=list)

    @property
    def library_ids(self) -> dict[int, int]:
        """The library's number of each method.

        Raises
        ------
        LoadError
            Two files tell different ones.
        """
        joined: dict[int, int] = {}
        for part in self.parts:
            for number, library_id in part.library_ids.items():
                self._same_id(joined, number, library_id)
        return joined

    def _same_id(self, ids: dict[int, int], number: int, library_id: int) -> None:
        if (known := ids.setdefault(number, library_id)) != library_id:
            key = self.methods.values[number]
            raise LoadError(
                f"the method {key.algorithm!r} (segment size {key.segment_size}) has the library's numbers "
                f"{known} and {library_id}; load results of different libraries apart"
            )

    def by_source(self) -> dict[int, list[Part]]:
        """The parts of each file."""
        parts: dict[int, list[Part]] = {}
        for part in self.parts:
            parts.setdefault(part.source, []).append(part)
        return parts

    def keep(self, sources: Iterable[int]) -> None:
        """Keep the rows of some files; methods and sizes that only others have are forgotten."""
        wanted = set(sources)
        if all(part.source in wanted for part in self.parts):
            return
        self.parts = [part for part in self.parts if part.source in wanted]
        for column in ("method", "comm_size", "message_size", "ppn"):
            name = f"{column}s"
            used = np.unique(np.concatenate([getattr(part, column) for part in self.parts]))
            places = np.full(len(getattr(self, name).values), -1, dtype=np.int32)
            places[used] = np.arange(len(used))
            setattr(self, name, Vocabulary(getattr(self, name).values[number] for number in used))
            for part in self.parts:
                setattr(part, column, _small(places[getattr(part, column)]))
                if column == "method":
                    part.library_ids = {int(places[number]): each for number, each in part.library_ids.items()}

    def points(self, source: int) -> set[tuple[Any, ...]]:
        """What a file measured: label of the method, communicator size and message size, and these with the ppn."""
        points: set[tuple[Any, ...]] = set()
        for part in self.by_source().get(source, ()):
            columns = np.stack([part.method, part.comm_size, part.message_size, part.ppn], axis=1, dtype=np.int64)
            for method, comm_size, message_size, ppn in np.unique(columns, axis=0).tolist():
                point = (
                    method_label(self.methods.values[method]),
                    self.comm_sizes.values[comm_size],
                    self.message_sizes.values[message_size],
                )
                points |= {point, (*point, self.ppns.values[ppn])}
        return points

    def add(self, table: pd.DataFrame, source: int = 0) -> None:
        """Add a table (one collective, all columns there) of aggregated rows or of raw samples, from one file.

        Of totals that the processes do not divide the block is rounded; that of 1 KiB on 12 processes is 85 bytes.
        """
        method, library_ids = self._methods(table)
        message_size, off = self._message_size(table)
        comm_size = table["comm_size"].to_numpy(dtype=np.int64)
        ppn = table["ppn"].to_numpy(dtype=np.int64) if "ppn" in table else None
        self.parts.append(
            Part(
                method=_small(method),
                comm_size=_small(self.comm_sizes.encode(comm_size)),
                message_size=_small(self.message_sizes.encode(message_size)),
                ppn=_small(np.full(len(table), self.ppns.number(0)) if ppn is None else self.ppns.encode(ppn)),
                time=table["time"].to_numpy(dtype=np.float64),
                time_std=_floats(table, "time_std"),
                repetitions=_floats(table, "repetitions"),
                raw="repetition" in table,
                double_of=self._double_of(table),
                library_ids=library_ids,
                source=source,
                off=off,
            )
        )

    def _double_of(self, table: pd.DataFrame) -> npt.NDArray[np.int32] | None:
        """Labels of the methods that rows ran as, by their number; 0 = as told."""
        if "double_of" not in table:
            return None
        codes, uniques = pd.factorize(table["double_of"].astype(object).fillna("").astype(str))
        return self.doubles.numbers(map(str, uniques))[codes]

    def _methods(self, table: pd.DataFrame) -> tuple[npt.NDArray[np.int32], dict[int, int]]:
        extra = sorted(str(c) for c in table.columns if c not in _NOT_PARAMETERS)
        names = [*_METHOD, *extra]
        code = np.zeros(len(table), dtype=np.int64)
        levels: list[Any] = []
        for name in names:
            codes, uniques = coded(table[name])
            levels.append([None, *uniques])
            code = code * (len(uniques) + 1) + (codes + 1)
        combined, firsts = _factorized(code, math.prod(map(len, levels)))
        numbers = self.methods.numbers(self._key(int(c), levels, extra) for c in firsts)
        method = numbers[combined]
        library_ids: dict[int, int] = {}
        if "library_id" in table:
            pairs = (
                pd.DataFrame({"method": method, "id": table["library_id"].to_numpy()})
                .dropna()
                .query("id >= 0")
                .drop_duplicates()
            )
            for number, library_id in pairs.itertuples(index=False):
                self._same_id(library_ids, int(number), int(library_id))
        return method, library_ids

    @staticmethod
    def _key(code: int, levels: list[Any], extra: list[str]) -> MethodKey:
        values = []
        for level in reversed(levels):
            code, place = divmod(code, len(level))
            values.append(level[place])
        algorithm, segment_size, *rest = reversed(values)
        parameters = tuple(
            (name, _plain(value)) for name, value in zip(extra, rest, strict=True) if not _is_missing(value)
        )
        return MethodKey(str(algorithm), 0 if _is_missing(segment_size) else int(segment_size), parameters)

    def _message_size(self, table: pd.DataFrame) -> tuple[Ints, Ints | None]:
        """Bytes by the project's convention; and where totals are told how far each is, one above as further.

        A table with both has the totals of those rows whose message size was made of them, else 0.
        """
        block = table["message_size"].to_numpy(dtype=np.int64) if "message_size" in table else None
        if block is not None and "total_size" not in table:
            return block, None
        total, comm_size = (table[name].to_numpy(dtype=np.int64) for name in ("total_size", "comm_size"))
        if block is None:
            block = block_of(total, comm_size)
        else:
            total = np.where(total > 0, total, block * comm_size)
        above = total - block * comm_size
        return block, 2 * np.abs(above) + (above > 0)


def coded(column: pd.Series[Any]) -> tuple[npt.NDArray[Any], Any]:
    """Numbers of the values of a column, -1 for none, and the values; those of a categorical are its own."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories
    return pd.factorize(column, use_na_sentinel=True)


def _factorized(codes: Ints, limit: int) -> tuple[Ints, Ints]:
    """Do as `pandas.factorize` for whole numbers from 0 to below `limit`; where these are few, without hashing."""
    if limit > 1 << 16:
        return pd.factorize(codes)
    first = np.full(limit, len(codes), dtype=np.int64)
    # The last that is written stays: the first of those from the end.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    there = np.flatnonzero(first < len(codes))
    uniques = there[np.argsort(first[there])]
    first[uniques] = np.arange(len(uniques))
    return first[codes], uniques


def _small(codes: npt.NDArray[np.int32]) -> Codes:
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def _floats(table: pd.DataFrame, name: str) -> Floats | None:
    return table[name].to_numpy(dtype=np.float64, na_value=np.nan) if name in table else None


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or bool(pd.isna(value))


def _plain(value: Any) -> Hashable:
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value
