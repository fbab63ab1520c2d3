"""Facets: in what files that measured the same collective differ, and which of their results are meant.

What differs in a facet is never averaged: it is chosen with the hint ``select``, or joined by the hint ``join``.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loaders.collectives import POINT_TO_POINT
from loaders.errors import LoadError, MissingHintError
from loaders.facet_names import FACETS
from loaders.pooling import Axes, means_by_source
from loaders.rows import CollectiveRows

#: What a file that does not tell it was measured with, beside others that tell.
_USUAL = {"device": "host", "operation": "sum"}
_NAMED = 4

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
        pairs = select.items() if isinstance(select, Mapping) else _pairs(select)
        chosen = {_facet(name): str(value).strip() for name, value in pairs}
        names = join.split(",") if isinstance(join, str) else join or ()
        return cls(chosen, tuple(_facet(name) for name in names if name.strip()))

    def keeps(self, facets: Told) -> bool:
        """Whether results of these facets are chosen."""
        return all(facets.get(name, "").casefold() == value.casefold() for name, value in self.select.items())


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


def facets_of(files: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, str]]:
    """Facets of files beside each other.

    Parameters
    ----------
    files
        ``(path, attributes)`` of each.

    Returns
    -------
    list of dict
        Those that each tells. The campaign of a file that names none is its folder.
    """
    facets = [{name: str(attrs[key]) for name, key in FACETS.items() if attrs.get(key)} for _, attrs in files]
    named = set().union(*facets)
    facets = [{name: value for name, value in _USUAL.items() if name in named} | each for each in facets]
    folders = [str(Path(path).parent) for path, _ in files]
    if len(set(folders)) > 1:
        above = os.path.commonpath(folders)
        for each, folder in zip(facets, folders, strict=True):
            beside = os.path.relpath(folder, above)
            each.setdefault("campaign", Path(above).name if beside == "." else beside)
    return facets


def values(files: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Values of each facet among files, as `loaders.scan` reports them."""
    facets = facets_of([(str(file.get("path")), file.get("attrs") or {}) for file in files if not file.get("error")])
    every = {name: list(dict.fromkeys(each[name] for each in facets if name in each)) for name in FACETS}
    return {name: each for name, each in every.items() if each}


def chosen(
    collective: str, rows: CollectiveRows, files: Sequence[tuple[str, Told]], choice: Choice
) -> tuple[list[int], list[str]]:
    """Choose among the files of a collective, and say how far apart those are that are joined.

    Parameters
    ----------
    rows
        All its rows; parts tell their file by its place in `files`.
    files
        Path and facets of each.

    Returns
    -------
    list of int
        Places of the files that are kept.
    list of str
        Remarks on what measured the same and differs.

    Raises
    ------
    LoadError
        Nothing is of the facets that are selected.
    MissingHintError
        Files that are kept differ in a facet that is neither selected nor joined; the hint is ``select``.
    """
    kept = [place for place, (_, facets) in enumerate(files) if choice.keeps(facets)]
    if not kept:
        return [], []
    rows.keep(kept)
    times = means_by_source(rows, Axes(rows)) if len(kept) > 1 else None
    for name in FACETS:
        groups: dict[str, list[int]] = {}
        for place in kept:
            if name in files[place][1]:
                groups.setdefault(files[place][1][name], []).append(place)
        if len(groups) < 2 or name in choice.join or times is None:
            continue
        far = times.between(list(groups.values()))
        if name == "campaign" and not (far.differs or (collective == POINT_TO_POINT and far.apart)):
            # What was measured again, and came out much the same, is repetitions of one thing.
            continue
        message, first = _differ(collective, name, groups, far.text), {"select": f"{name}={next(iter(groups))}"}
        raise MissingHintError(message, hints=("select",), path=files[kept[-1]][0], examples=first)
    remarks = []
    if times is not None and (far := times.between([[place] for place in kept])).apart:
        names = [Path(files[place][0]).name for place in far.sources]
        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        remarks.append(
            f"{collective}: files that measured the same differ by up to {far.most:.3g} times, far above the spread "
            f"within each, in {far.apart:,} of {far.cells:,} cells ({shown}); times there are means over both"
        )
    return kept, remarks


def chosen_among(files: Sequence[Told], choice: Choice) -> dict[str, str]:
    """What was chosen, and what was put together, where files of a collective differ in it: ``selected, joined``."""
    several = {name for name in FACETS if len({each[name] for each in files if name in each}) > 1}
    selected = ", ".join(f"{name}={value}" for name, value in choice.select.items() if name in several)
    joined = ", ".join(name for name in choice.join if name in several and name not in choice.select)
    return {name: text for name, text in (("selected", selected), ("joined", joined)) if text}


def _differ(collective: str, name: str, groups: Mapping[str, Sequence[int]], far: str) -> str:
    listed = [f"{value!r} ({len(places)} file{'' if len(places) == 1 else 's'})" for value, places in groups.items()]
    more = [f"{len(listed) - _NAMED} more"] if len(listed) > _NAMED else []
    values = " and ".join([*listed[:_NAMED], *more])
    first = shlex.quote(f"{name}={next(iter(groups))}")
    return (
        f"{name} of {collective} is {values}{far}; choose one with --select {first}, load them apart, or join them "
        f"with --join {name}"
    )


def check_selected(choice: Choice, files: Sequence[tuple[str, Told]]) -> None:
    """Raise `LoadError` when nothing is of the facets that are selected; the message lists what there is."""
    if files and not any(choice.keeps(facets) for _, facets in files):
        for name, value in choice.select.items():
            there = list(dict.fromkeys(facets[name] for _, facets in files if name in facets))
            if value.casefold() not in (each.casefold() for each in there):
                what = ", ".join(map(repr, there)) if there else "none is told"
                raise LoadError(f"select {name}={value}: there are no such results; {name}: {what}")
        raise LoadError("no results are of all the facets that are selected together")
