"""Which results of a collective are meant, of files that differ; of what is put together how far it is apart."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from loaders import pooling
from loaders.axes import Axes
from loaders.collectives import POINT_TO_POINT, REDUCING
from loaders.errors import MissingHintError
from loaders.facet_names import FACETS
from loaders.facets import FILE, OF_ROWS, SHOWN, Choice, Told, listed
from loaders.pooling import Means, cells_by_source, leave_to, means_by_source
from loaders.rows import CollectiveRows

_OF_REDUCTIONS = ("operation", "datatype")
_OF_MACHINES = ("system", "network", "library")
#: Means over times that are no further apart than by this ratio need no word.
_ALIKE = 1.1


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
        shown = listed(
            (f"of {files[each][0]} are those of {files[of][0]}" for each, of in sorted(copies.items())), ", "
        )
        remarks.append(f"{collective}: all times {shown} to the last digit: counted once, as one measurement")
        kept = {place: file for place, file in kept.items() if place not in copies}
        rows.keep(kept)
        times = means_by_source(rows, Axes(rows))
    _check_facets(collective, times, kept, choice, on_nodes(rows))
    _check_files(collective, times, kept, choice)
    far = times.between([[place] for place in kept])
    remarks += [] if far.apart else _put_together(collective, times, kept)
    if far.apart:
        shown = listed(dict.fromkeys(Path(files[place][0]).name for place in far.sources), ", ")
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
            shown = ", ".join(silent[:SHOWN]) + (" and others" if len(silent) > SHOWN else "")
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
    there = (f"{name}: {listed(map(repr, _values_of(files, name))) or 'none is told'}" for name in select)
    return f"{chosen} ({'; '.join(there)})"


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


def _put_together(collective: str, times: Means, files: Mapping[int, tuple[str, Told]]) -> list[str]:
    """Remark on cells that files of different facets measured, and not quite the same."""
    for name in FACETS:
        groups = _groups(files, name)
        if len(groups) > 1 and (far := times.between(list(groups.values()))).most > _ALIKE:
            first = shlex.quote(f"{name}={next(iter(groups))}")
            said = (
                f"{collective}: files that differ in {name} ({listed(groups)}) measured {far.cells:,} cells each, up "
                f"to {far.most:.3g} times apart: times there are means over them, unless --select {first} (page Data: "
                f"menu {name.capitalize()}) takes one"
            )
            return [said]
    return []


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
                f"{far.apart:,} of {far.cells:,} cells; times there are means over them (--statistic median takes "
                f"medians), {remedy}"
            )
        else:
            continue
        remarks.append(f"{rows.collective}: {what}")
    return remarks


def _differ(
    collective: str, name: str, files: Mapping[str, int], far: str, *, several: bool = True
) -> MissingHintError:
    """Results differ in a facet: with `several` files, these can also be loaded apart."""
    values = listed(f"{value!r} ({count} file{'' if count == 1 else 's'})" for value, count in files.items())
    apart = "load them apart, or" if several else "or"
    first = f"{name}={next(iter(files))}"
    return MissingHintError(
        f"{name} of {collective} is {values}{far}; choose one with --select {shlex.quote(first)} (page Data: "
        f"menu {name.capitalize()}), {apart} join them with --join {name}",
        hints=("select",),
        examples={"select": first},
    )
