"""Facets: in what files, and rows of one file, differ that measured the same collective, and which results are meant.

What differs in a facet is never averaged: it is chosen with the hint ``select``, or joined by the hint ``join``. Files
of one folder that measured the same and are mostly far apart are campaigns, by their names.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from loaders import pooling
from loaders.collectives import POINT_TO_POINT, REDUCING
from loaders.errors import LoadError, MissingHintError
from loaders.facet_names import FACETS
from loaders.pooling import Axes, Means, cells_by_source, leave_to, means_by_source
from loaders.rows import CollectiveRows, coded

#: What a file, or rows of it, that do not tell it were measured with, beside others that tell.
_USUAL = {"device": "host", "operation": "sum"}
#: Facets in which rows of one file need no choice where the processes per node keep them apart already.
OF_ROWS = ("device", "operation", "datatype")
_OF_REDUCTIONS = ("operation", "datatype")
_OF_MACHINES = ("system", "network", "library")
_NAMED = 4
#: Beside the facets of a file, its name.
FILE = "file"
#: Value of rows that leave out what others in the same file tell.
NOT_TOLD = "not told"

Told = Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """What is chosen among facets, and in which of them results are joined.

    Attributes
    ----------
    select
        Values by facet.
    join
        Facets.
    """

    select: Mapping[str, str] = field(default_factory=dict)
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


def chosen(
    rows: CollectiveRows, files: Sequence[tuple[str, Told]], choice: Choice, anew: Sequence[int] = ()
) -> tuple[list[int], list[str]]:
    """Choose among the files of a collective, and say how far apart those are that are joined.

    Parameters
    ----------
    rows
        All its rows; parts tell their file by its place in `files`.
    files
        Path and facets of each.
    anew
        Places of those that measured points anew of which others have times that cannot be trusted, the oldest first.

    Returns
    -------
    list of int
        Places of the files that are kept.
    list of str
        Remarks on what measured the same and differs, and on a collective of which nothing is kept.

    Raises
    ------
    LoadError
        Nothing is of the facets that are selected.
    MissingHintError
        Files that are kept differ in a facet that is neither selected nor joined, or measured the same and are far
        apart; the hint is ``select``.
    """
    # What nobody tells of a collective does not choose among its results; nor does what all of one that does not reduce
    # share, such as the elements of a broadcast.
    collective = rows.collective
    fewest = 1 if collective in REDUCING else 2
    alike = {name for name in _OF_REDUCTIONS if len(_values_of(files, name)) < fewest}
    here = replace(choice, select={name: value for name, value in choice.select.items() if name not in alike})
    kept = {place: file for place, file in enumerate(files) if here.keeps(file[1])}
    if not kept:
        return [], [f"left out: {collective} has no results of {_against(here.select, files)}"]
    rows.keep(kept)
    if len(kept) < 2:
        return list(kept), []
    remarks = _measured_anew(rows, kept, anew)
    remarks += _half_told(collective, list(kept.values()))
    times = means_by_source(rows, Axes(rows))
    copies = times.copies(cells_by_source(rows)) if times.place.size else {}
    copies = {each: of for each, of in copies.items() if _is_same(files[each][1], files[of][1])}
    if copies:
        remarks += [
            f"{collective}: all times of {files[each][0]} are those of {files[of][0]} to the last digit: counted once, "
            "as one measurement"
            for each, of in sorted(copies.items())
        ]
        kept = {place: file for place, file in kept.items() if place not in copies}
        rows.keep(kept)
        times = means_by_source(rows, Axes(rows))
    _check_facets(collective, times, kept, choice, on_nodes(rows))
    _check_files(collective, times, kept, choice)
    far = times.between([[place] for place in kept])
    if far.apart:
        shown = _listed(dict.fromkeys(Path(files[place][0]).name for place in far.sources), ", ")
        remarks.append(
            f"{collective}: files that measured the same differ by up to {far.most:.3g} times, far above the spread "
            f"within each, in {far.apart:,} of {far.cells:,} cells ({shown}); times there are means over both"
        )
    return list(kept), remarks


def _measured_anew(rows: CollectiveRows, files: Mapping[int, tuple[str, Told]], anew: Sequence[int]) -> list[str]:
    """Leave what others of the same facets have to files that measured it anew, and say so."""
    remarks = []
    newest_first = [place for place in reversed(anew) if place in files]
    for number, place in enumerate(newest_first):
        path, own = files[place]
        older = [each for each in files if each not in newest_first[: number + 1]]
        if points := leave_to(rows, place, [each for each in older if _is_same(files[each][1], own)]):
            count = f"{points:,} point{'' if points == 1 else 's'}"
            remarks.append(f"{rows.collective}: times of {count} are those of {path} alone, which measured them anew")
    return remarks


def _half_told(collective: str, files: Sequence[tuple[str, Told]]) -> list[str]:
    """Remarks on facets of a machine that some files tell and others leave open."""
    remarks = []
    for name in _OF_MACHINES:
        telling = {path: facets[name] for path, facets in files if name in facets}
        silent = sorted({Path(path).name for path, _ in files if path not in telling})
        if silent and len(set(telling.values())) == 1:
            (value,) = set(telling.values())
            shown = ", ".join(silent[:_NAMED]) + (" and others" if len(silent) > _NAMED else "")
            count = "which counts" if len(silent) == 1 else "which count"
            remarks.append(f"{collective}: no {name} is told by {shown}, {count} as {value!r} like the others")
    return remarks


def _is_same(first: Told, second: Told) -> bool:
    """Whether files tell the same facets, but for the campaign."""
    return all(first.get(name) == second.get(name) for name in FACETS if name != "campaign")


def _values_of(files: Iterable[tuple[str, Told]], name: str) -> list[str]:
    return list(dict.fromkeys(facets[name] for _, facets in files if name in facets))


def _against(select: Told, files: Sequence[tuple[str, Told]]) -> str:
    """What is selected, and what files tell of it."""
    chosen = ", ".join(f"{name}={value}" for name, value in select.items())
    there = (f"{name}: {_listed(map(repr, _values_of(files, name))) or 'none is told'}" for name in select)
    return f"{chosen} ({'; '.join(there)})"


def _listed(values: Iterable[str], between: str = " and ") -> str:
    """The first of them, and how many more there are."""
    listed = list(values)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return between.join(listed[:_NAMED]) + more


def on_nodes(rows: CollectiveRows) -> dict[int, set[int]]:
    """Processes per node that each file, or its rows of other facets, were measured with; 0 where that is not told."""
    return {
        source: {rows.ppns.values[code] for part in parts for code in np.unique(part.ppn)}
        for source, parts in rows.by_source().items()
    }


def _apart_by_nodes(groups: Mapping[str, Sequence[int]], paths: Collection[str], used: Mapping[int, set[int]]) -> bool:
    """Whether rows of one file differ in a facet and in the processes per node alike, a dimension of the results."""
    each = [set().union(*(used[place] for place in places)) for places in groups.values()]
    return len(paths) == 1 and len(set().union(*each)) == sum(map(len, each))


def _check_facets(
    collective: str, times: Means, files: Mapping[int, tuple[str, Told]], choice: Choice, used: Mapping[int, set[int]]
) -> None:
    """Raise `MissingHintError` where files differ in a facet that is not joined."""
    for name in FACETS:
        groups = _groups(files, name)
        if len(groups) < 2 or name in choice.join:
            continue
        paths = {files[place][0] for places in groups.values() for place in places}
        if name in OF_ROWS and _apart_by_nodes(groups, paths, used):
            continue
        far = times.between(list(groups.values()))
        if name == "campaign" and not (far.differs or (collective == POINT_TO_POINT and far.apart)):
            # What was measured again, and came out much the same, is repetitions of one thing.
            continue
        counts = {value: len({files[place][0] for place in places}) for value, places in groups.items()}
        raise _differ(collective, name, counts, far.text, several=len(paths) > 1)


def _check_files(collective: str, times: Means, files: Mapping[int, tuple[str, Told]], choice: Choice) -> None:
    """Raise `MissingHintError` where files measured the same, tell no difference, and are far apart all the same."""
    if "campaign" in choice.join:
        return
    alike: dict[tuple[str, ...], dict[int, tuple[str, Told]]] = {}
    for place, file in files.items():
        alike.setdefault(tuple(file[1].get(name, "") for name in choice.join), {})[place] = file
    for each in alike.values():
        far = times.between(list(_groups(each, FILE).values()))
        if far.mostly_apart or (collective == POINT_TO_POINT and far.apart):
            raise _differ(collective, "campaign", {files[place][1][FILE]: 1 for place in far.sources}, far.text)


def _groups(files: Mapping[int, tuple[str, Told]], name: str) -> dict[str, list[int]]:
    """Places of files by their value of a facet, those that tell it."""
    groups: dict[str, list[int]] = {}
    for place, (_, facets) in files.items():
        if name in facets:
            groups.setdefault(facets[name], []).append(place)
    return groups


def unexplained(rows: CollectiveRows, paths: Sequence[str], unused: Mapping[str, Sequence[str]]) -> list[str]:
    """Remarks on rows of a file that it has twice, or that are far apart for the same sizes: columns may tell why.

    Parameters
    ----------
    paths
        Of the files, by their places.
    unused
        Columns of files that are not read, by path.
    """
    remarks = []
    for place, repeated, far in pooling.unexplained(rows):
        path = paths[place]
        if repeated:
            what = f"{repeated:,} rows of {Path(path).name} repeat others to the last digit: they count once"
        elif far.mostly_apart:
            remedy = "runs of other sizes or systems belong in files of their own"
            if columns := unused.get(path):
                option = shlex.quote(f"system={columns[0]}")
                remedy = f"columns that may tell why are not used (--column {option})"
            what = (
                f"rows of {Path(path).name} that measured the same differ by up to {far.most:.3g} times in "
                f"{far.apart:,} of {far.cells:,} cells; times there are means over them, {remedy}"
            )
        else:
            continue
        remarks.append(f"{rows.collective}: {what}")
    return remarks


def of_kept(files: Sequence[Told]) -> dict[str, str]:
    """Attributes of a cube made of files that differ in facets: all values, also the usual one that no file tells."""
    values = {FACETS[name]: list(dict.fromkeys(each[name] for each in files if name in each)) for name in FACETS}
    return {key: _listed(each, "; ") for key, each in values.items() if len(each) > 1}


def chosen_among(files: Sequence[Told], choice: Choice) -> dict[str, str]:
    """What was chosen, and what was put together, where files of a collective differ in it: ``selected, joined``."""
    several = {name for name in FACETS if len({each[name] for each in files if name in each}) > 1}
    several |= {"campaign"} if len({each[FILE] for each in files}) > 1 else set()
    selected = ", ".join(f"{name}={value}" for name, value in choice.select.items() if name in several)
    joined = ", ".join(name for name in choice.join if name in several and name not in choice.select)
    return {name: text for name, text in (("selected", selected), ("joined", joined)) if text}


def _differ(
    collective: str, name: str, files: Mapping[str, int], far: str, *, several: bool = True
) -> MissingHintError:
    """Results differ in a facet: with `several` files, these can also be loaded apart."""
    values = _listed(f"{value!r} ({count} file{'' if count == 1 else 's'})" for value, count in files.items())
    apart = "load them apart, or" if several else "or"
    first = f"{name}={next(iter(files))}"
    return MissingHintError(
        f"{name} of {collective} is {values}{far}; choose one with --select {shlex.quote(first)} (page Data: "
        f"menu {name.capitalize()}), {apart} join them with --join {name}",
        hints=("select",),
        examples={"select": first},
    )


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
