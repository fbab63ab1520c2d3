"""Parsed rows of a table of text, and what their columns may hold: words, whole numbers, times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from loaders.source import KEPT_SKIPS, Source

LARGEST_WHOLE = 2**53
LONGEST_NAME = 200

Mask = npt.NDArray[np.bool_]


@dataclass
class Chunk:
    """Parsed rows: text as categoricals, numbers as float64 (NaN where blank) or int64, with their lines."""

    #: One row for each line that parsed.
    frame: pd.DataFrame
    #: Number of the first line of `text`.
    first: int = 0
    #: The lines; empty where the rows come of no text.
    text: bytes = b""
    #: Line of each row within `text`, from 0; `None` = all lines are rows.
    places: npt.NDArray[np.int64] | None = None

    def with_frame(self, data: Any) -> Chunk:
        """The same lines with other columns."""
        return replace(self, frame=pd.DataFrame(data, copy=False))

    def lines(self) -> npt.NDArray[np.int64]:
        """Line number of each row."""
        places = np.arange(len(self.frame)) if self.places is None else self.places
        return places + self.first

    def drop(self, source: Source, faults: Iterable[tuple[Mask, str]]) -> pd.DataFrame:
        """Skip the rows at fault, each for its first reason, count the others as loaded and return them."""
        left = self.sift(source, faults)
        source.loaded(len(left))
        return left

    def sift(self, source: Source, faults: Iterable[tuple[Mask, str]]) -> pd.DataFrame:
        """Skip the rows at fault and return the others, which are not counted yet."""
        good = np.ones(len(self.frame), dtype=np.bool_)
        for bad, reason in faults:
            places = np.flatnonzero(good & bad) if bad.any() else np.empty(0, dtype=np.intp)
            if len(places):
                self._skip(source, places, reason)
                good[places] = False
        return self.frame if good.all() else self.frame[good]

    def _skip(self, source: Source, rows: npt.NDArray[np.intp], reason: str) -> None:
        shown = rows[: max(0, KEPT_SKIPS - len(source.skips))]
        if len(shown):
            numbers = self.lines()
            texts = self.text.split(b"\n") if self.text else []
            for row in shown:
                number = int(numbers[row])
                source.skip(number, texts[number - self.first] if texts else self._shown(int(row)), reason)
        source.skip_many(len(rows) - len(shown), reason)

    def _shown(self, row: int) -> str:
        return ", ".join(str(v) for v in self.frame.iloc[row])


def words_of(column: pa.Array) -> pd.Categorical:
    """A column of Arrow's words as pandas has them."""
    codes = column.indices.fill_null(-1).to_numpy()
    return pd.Categorical.from_codes(codes, dtype=categories(tuple(column.dictionary.to_pylist())))


@lru_cache(maxsize=64)
def categories(words: tuple[Hashable, ...]) -> pd.CategoricalDtype:
    """Categories of words, made once for the blocks of a file; text where all are."""
    return pd.CategoricalDtype(pd.Index(words, dtype="str" if all(isinstance(w, str) for w in words) else object))


def translate(column: pd.Series[Any], word: Callable[[str], Hashable | None]) -> pd.Categorical:
    """Translate a categorical of text word by word; what has no translation becomes missing."""
    words = [word(str(c)) for c in column.cat.categories]
    if words == list(column.cat.categories):
        return pd.Categorical(column)
    codes = column.cat.codes.to_numpy()
    places: dict[Hashable, int] = {}
    for category in words:
        if category is not None:
            places.setdefault(category, len(places))
    table = np.array([-1 if w is None else places[w] for w in words] + [-1], dtype=np.int32)
    return pd.Categorical.from_codes(table[codes], dtype=categories(tuple(places)))


def plain_text(text: str) -> str | None:
    """Return a name without surrounding blanks; `None` if it is empty or holds what no name holds."""
    bare = text.strip()
    return bare if bare and len(bare) <= LONGEST_NAME and bare.isprintable() and "\ufffd" not in bare else None


def operation_name(text: str) -> str | None:
    """``sum`` for ``MPI_SUM``; None for a collective that has none, which PICO writes as ``null``."""
    plain = text.strip().lower().removeprefix("mpi_")
    return None if plain in ("", "null", "none") else plain_text(plain)


def not_whole(values: npt.NDArray[np.float64] | npt.NDArray[np.int64], low: int = 0) -> Mask:
    """Where values are not whole numbers from `low` to 2^53."""
    if values.dtype == np.int64 and values.min(initial=low) >= low and values.max(initial=low) < LARGEST_WHOLE:
        return np.zeros(len(values), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        integral: Mask = (values >= low) & (values < LARGEST_WHOLE) & (np.floor(values) == values)
    return ~integral


def not_time(values: npt.NDArray[np.float64]) -> Mask:
    """Where values are not positive and finite."""
    with np.errstate(invalid="ignore"):
        good: Mask = (values > 0) & np.isfinite(values)
    return ~good
