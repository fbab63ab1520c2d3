"""Facets: in what files, and rows of one file, differ that measured the same collective.

What differs in a facet is never averaged: it is chosen with the hint ``select``, or joined by the hint ``join``. Files
of one folder that measured the same and are mostly far apart are campaigns, by their names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from loaders.errors import LoadError
from loaders.facet_names import CHOSEN, FACETS
from loaders.rows import coded

#: What a file, or rows of it, that do not tell it were measured with, beside others that tell.
_USUAL = {"device": "host", "operation": "sum"}
#: Facets in which rows of one file need no choice where the processes per node keep them apart already.
OF_ROWS = ("device", "operation", "datatype")
#: Most values that are named.
SHOWN = 4
#: Beside the facets of a file, its name.
FILE = "file"
#: Value of rows that leave out what others in the same file tell.
NOT_TOLD = "not told"

Told = Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """What is chosen among facets, and in which of them results are joined."""

    #: Values by facet.
    select: Mapping[str, str] = field(default_factory=dict)
    #: Facets.
    join: tuple[str, ...] = ()

    @classmethod
    def of(cls, select: Any, join: Any) -> Choice:
        """Read the hints.

        Parameters
        ----------
        select
            Mapping, or text such as ``device=host,library=Open MPI``.
        join
            Names, or text such as ``device,campaign``.

        Raises
        ------
        LoadError
            A facet is not known or has no value; the message lists them.
        """
        if not isinstance(select, Mapping | str | None):
            raise LoadError(f"the hint select must be FACET=VALUE or {{facet: value}}, not {select!r}")
        if not isinstance(join, Iterable | None):
            raise LoadError(f"the hint join must be facets, not {join!r}")
        pairs = select.items() if isinstance(select, Mapping) else _pairs(select)
        chosen = {_facet(str(name)): str(value).strip() for name, value in pairs}
        names = join.split(",") if isinstance(join, str) else map(str, join or ())
        return cls(chosen, tuple(_facet(name) for name in names if name.strip()))

    def keeps(self, facets: Told) -> bool:
        """Whether results of these facets are chosen; a file is one campaign of a folder of several."""
        names = {name: (name, FILE) if name == "campaign" else (name,) for name in self.select}
        return all(
            value.casefold() in [facets.get(each, "").casefold() for each in names[name]]
            for name, value in self.select.items()
        )


def _pairs(text: str | None) -> list[tuple[str, str]]:
    # A value may hold a comma, but no facet's name and a sign of equality after it.
    parts = [part.partition("=") for part in re.split(r",(?=\s*\w+\s*=)", text or "") if part.strip()]
    if wrong := next(("".join(part) for part in parts if not part[1] or not part[2].strip()), None):
        raise LoadError(f"select {wrong!r}: write FACET=VALUE, such as device=host; facets are {', '.join(FACETS)}")
    return [(name, value) for name, _, value in parts]


def _facet(name: str) -> str:
    plain = name.strip().lower().replace("library_version", "version")
    if plain not in FACETS:
        raise LoadError(f"there is no facet {name.strip()!r}; possible are {', '.join(FACETS)}")
    return plain


def untold(name: str) -> str:
    """Value of a facet of rows that leave out what others in the same file tell."""
    return _USUAL.get(name, NOT_TOLD)


def facets_of(files: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, str]]:
    """Facets of files beside each other.

    Parameters
    ----------
    files
        ``(path, attributes)`` of each.

    Returns
    -------
    list of dict
        Those that each tells, and its name as `FILE`. The campaign of a file that names none is its folder; `.` where
        one of the same name is in it.
    """
    facets = [{name: str(attrs[key]) for name, key in FACETS.items() if attrs.get(key)} for _, attrs in files]
    named = set().union(*facets)
    facets = [{name: value for name, value in _USUAL.items() if name in named} | each for each in facets]
    folders = [str(Path(path).absolute().parent) for path, _ in files]
    above = os.path.commonpath(folders) if folders else ""
    for each, (path, _) in zip(facets, files, strict=True):
        each[FILE] = os.path.relpath(Path(path).absolute(), above)
    if len(set(folders)) > 1:
        beside = [os.path.relpath(folder, above) for folder in folders]
        own = "." if Path(above).name in beside else Path(above).name
        for each, name in zip(facets, beside, strict=True):
            each.setdefault("campaign", own if name == "." else name)
    return facets


def values(files: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Values of each facet among files and their rows, as `loaders.scan` reports them."""
    each_file = []
    for file in files:
        if file.get("error"):
            continue
        several = file.get("several") or {}
        rows = [{name: value} for name, words in several.items() for value in words if value != NOT_TOLD]
        each_file += [(str(file.get("path")), {**(file.get("attrs") or {}), **each}) for each in rows or [{}]]
    facets = facets_of(each_file)
    every = {name: list(dict.fromkeys(each[name] for each in facets if name in each)) for name in FACETS}
    return {name: each for name, each in every.items() if each}


def of_rows(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """The rows of a table by what columns tell of each, empty where they tell nothing."""
    words = {name: coded(table[name]) for name in columns if name in table}
    varying = [pair for pair in words.values() if (pair[0] != pair[0][:1]).any()]
    if not varying and len(table):
        yield {name: str(uniques[codes[0]]) if codes[0] >= 0 else "" for name, (codes, uniques) in words.items()}, table
    if not varying:
        return
    code = np.zeros(len(table), dtype=np.int64)
    for codes, uniques in varying:
        code = pd.factorize(code * (len(uniques) + 1) + codes + 1)[0]
    for each in range(code.max() + 1):
        rows = np.flatnonzero(code == each)
        first = {name: (codes[rows[0]], uniques) for name, (codes, uniques) in words.items()}
        yield {name: str(uniques[at]) if at >= 0 else "" for name, (at, uniques) in first.items()}, table.iloc[rows]


def listed(values: Iterable[str], between: str = " and ") -> str:
    """The first of them, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return between.join(listed[:SHOWN]) + more


def of_kept(files: Sequence[Told]) -> dict[str, str]:
    """Attributes of a cube made of files that differ in facets: all values, also the usual one that no file tells."""
    values = {FACETS[name]: list(dict.fromkeys(each[name] for each in files if name in each)) for name in FACETS}
    return {key: listed(each, "; ") for key, each in values.items() if len(each) > 1}


def chosen_among(files: Sequence[Told], choice: Choice) -> dict[str, str]:
    """What was chosen, and what was put together, where files of a collective differ in it: ``selected, joined``."""
    several = {name for name in FACETS if len({each[name] for each in files if name in each}) > 1}
    several |= {"campaign"} if len({each[FILE] for each in files}) > 1 else set()
    selected = ", ".join(f"{name}={value}" for name, value in choice.select.items() if name in several)
    joined = ", ".join(name for name in choice.join if name in several and name not in choice.select)
    return {name: text for name, text in zip(CHOSEN, (selected, joined), strict=True) if text}


def check_selected(choice: Choice, files: Sequence[Told]) -> None:
    """Raise `LoadError` when nothing is of the facets that are selected; the message lists what there is."""
    if files and not any(choice.keeps(facets) for facets in files):
        for name, value in choice.select.items():
            there = list(dict.fromkeys(facets[name] for facets in files if name in facets))
            if name == "campaign" and not there:
                there = list(dict.fromkeys(facets[FILE] for facets in files))
            if value.casefold() not in (each.casefold() for each in there):
                what = ", ".join(map(repr, there)) if there else "none is told"
                raise LoadError(f"select {name}={value}: there are no such results; {name}: {what}")
        raise LoadError("no results are of all the facets that are selected together")
