"""Opening results: find the files, read them, apply the hints, make the cubes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from loaders import choosing, facet_nodes, facets, run
from loaders.collectives import POINT_TO_POINT
from loaders.cube import RAW_STATISTIC, combine_attrs, make_cube
from loaders.errors import LoadError, MissingHintError, NoRowsError
from loaders.facet_names import ANEW, DOUBTFUL, FACETS, POINTS, listed
from loaders.files import Found, Paths, detect, find
from loaders.formats import FORMATS
from loaders.hints import FileHints, Hints
from loaders.pooling import nearest_totals
from loaders.rows import CollectiveRows
from loaders.scheduler import connect
from loaders.source import Progress, Source
from loaders.storage import complete, is_stored, lost_chunks, open_stored


def open_results(
    paths: Paths,
    format: str | None = None,
    *,
    progress: Progress | None = None,
    collectives: Collection[str] = (),
    **hints: Any,
) -> xr.DataTree:
    """Load benchmark files into one cube per collective.

    Parameters
    ----------
    paths
        Files, folders or a mixed list. A folder gives the files in it in the order of their names.
    format
        A name in `FORMATS` if the content is not to decide.
    progress
        Called as ``progress(path, bytes done, bytes in all)``.
    collectives
        Those that are asked for: others whose files differ in a facet are left out, with a remark. Default: all but
        ``pt2pt``.
    **hints
        What the files do not say: ``collective, algorithm, segment_size, comm_size, message_size, ppn,
        library_id, system, network, library, library_version`` as values, or ``pattern`` over the path
        such as ``"{collective}__{algorithm}__seg{segment_size}.sko"``. ``statistic`` (max, mean, median,
        min) chooses among several columns of times, ``columns`` maps the columns of a table,
        ``recursive=True`` enters sub-folders, ``numbers`` (such as ``openmpi-5.0``) names algorithms that are numbers.
        ``select`` (such as ``device=host``) chooses among the facets in which files differ, ``join`` names those in
        which they do not matter, see `loaders.facets`. ``scheduler`` (such as ``tcp://head:8786``) has what is lazy
        computed by the workers of dask.distributed; results in one netCDF file or Zarr store are lazy then.

    Returns
    -------
    xarray.DataTree
        One child per collective, each a cube: ``time`` in seconds over ``method, comm_size,
        message_size[, ppn]``, sizes in bytes. ``attrs["sources"]`` tells as JSON what each file gave.
        A single large netCDF file or Zarr store opens lazily.

    Raises
    ------
    LoadError
        A file cannot be used, hints contradict files, or files contradict each other.
    MissingHintError
        A file does not say everything, or files differ in a facet; `hints` names what is to be given.
    """
    scheduler = hints.pop("scheduler", None)
    checked = Hints(hints)
    files = find(paths, checked)
    if scheduler is not None:
        connect(str(scheduler))
    if format is None and len(files.files) == 1 and not hints and is_stored(files.files[0][0]):
        return _stored(files.files[0][0], lazy=scheduler is not None)
    collector = _Collector(checked)
    for source, tables, own, named in _readers(files, format, checked, progress):
        collector.take(source, tables, own, named=named, alone=len(files.files) == 1)
    return collector.tree(files, collectives)


def scan(
    paths: Paths, format: str | None = None, *, progress: Progress | None = None, **hints: Any
) -> list[dict[str, Any]]:
    """Read files without making cubes: what each of them gives, needs and leaves out.

    Parameters
    ----------
    paths, format, progress, **hints
        As for `open_results`.

    Returns
    -------
    list of dict
        For each file ``path, format, rows`` (loaded)``, skipped, present, collectives, needs`` (hints to
        give)``, skips`` (``line, text, reason``)``, reasons, notes, attrs, digest, error``.

    Raises
    ------
    LoadError
        A path does not exist or a hint is wrong; faults of single files stand in ``error``.
    """
    checked = Hints(hints)
    reports = []
    for source, tables, own, _ in _readers(find(paths, checked), format, checked, progress):
        collectives: dict[str, None] = {}
        needs: set[str] = set()
        error = None
        try:
            file_hints = FileHints(own, source)
            for table in tables:
                filled = file_hints.apply(table)
                if "collective" in filled:
                    collectives.update(dict.fromkeys(map(str, filled["collective"].unique())))
            needs = file_hints.needs
            if not needs:
                file_hints.finish()
        except LoadError as fault:
            error = str(fault)
        reports.append({**report(source, error), "collectives": list(collectives), "needs": sorted(needs)})
    return reports


def report(source: Source, error: str | None = None) -> dict[str, Any]:
    """What one file gave, in plain types."""
    return {
        "path": str(source.path),
        "format": source.format,
        "rows": source.rows - source.excluded,
        "skipped": source.skipped,
        "present": source.rows - source.excluded + source.skipped,
        "reasons": dict(source.reasons),
        "skips": [{"line": s.line, "text": s.text, "reason": s.reason} for s in source.skips],
        "notes": list(source.notes),
        "attrs": {k: v for k, v in source.attrs.items() if isinstance(v, str | int | float)},
        **({"several": source.several} if source.several else {}),
        "digest": source.digest(),
        "error": error,
    }


def _readers(
    files: Found, format: str | None, hints: Hints, progress: Progress | None
) -> Iterator[tuple[Source, Iterator[pd.DataFrame], Hints, bool]]:
    """Each file with an iterator over its tables and the hints for it; faults come when the iterator starts."""
    for path, named in files.files:
        source = Source(path, options=hints.options(), progress=progress)
        own = hints if hints.matches(path) or not (named and _says_all(source)) else hints.without_pattern()
        yield source, _tables(source, format), own, named


def _says_all(source: Source) -> bool:
    """Whether a file is one of results that were saved here, or of a run: these need no pattern over their paths."""
    try:
        return is_stored(source.path) or run.recognises(source.head(), source.path)
    except LoadError:
        return False


def _tables(source: Source, format: str | None) -> Iterator[pd.DataFrame]:
    chosen = detect(source, FORMATS, format)
    source.format = chosen.name
    yield from chosen.read(source)
    for name in ("statistic", "columns"):
        if source.options.get(name) and name not in source.heeded:
            source.note(f"the hint {name} means nothing to this format ({chosen.name}); it is not heeded", warn=True)


#: Sizes of a row, and the least that each can be.
_LEAST = {"comm_size": 1, "ppn": 1, "segment_size": 0, "message_size": 0, "total_size": 0}


def _not_whole(column: pd.Series[Any]) -> npt.NDArray[np.bool_]:
    """Where numbers have no place among whole ones of 64 bits; a gap is none of these where gaps are numbers."""
    if column.dtype.kind != "f":
        return np.zeros(len(column), dtype=np.bool_)
    values = column.to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        integral: npt.NDArray[np.bool_] = (np.floor(values) == values) & (np.abs(values) < 2.0**62)
    return ~(integral | np.isnan(values)) if column.name == "segment_size" else ~integral


class _Collector:
    """Rows and remarks of all files until the cubes are made."""

    def __init__(self, hints: Hints) -> None:
        self._rows: dict[str, CollectiveRows] = {}
        self._told: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self._choice = hints.choice
        self._reports: list[dict[str, Any]] = []
        self._refused: list[LoadError] = []
        self._warnings: list[str] = []
        self._unused: dict[str, list[str]] = {}

    def take(self, source: Source, tables: Iterator[pd.DataFrame], hints: Hints, *, named: bool, alone: bool) -> None:
        """Read one file's tables; what cannot be used is an error if the file was named, else a remark.

        So it is, too, if a file that was named beside others holds no row.
        """
        parts: dict[str, list[dict[str, str]]] = {}
        raw = False
        try:
            file_hints = FileHints(hints, source)
            for table in tables:
                filled = file_hints.apply(table)
                raw = raw or "repetition" in filled
                if not file_hints.needs and len(filled):
                    self._add(source, filled, parts)
            file_hints.finish()
        except LoadError as error:
            # A folder may hold other things beside results; what was named must be usable.
            lacking = isinstance(error, NoRowsError) and not alone
            if (named and not lacking) or (source.rows and not isinstance(error, MissingHintError)):
                raise
            for name in parts:
                self._leave_out(name)
            self._refused.append(error)
            needs = list(getattr(error, "hints", ()))
            self._reports.append({**report(source, str(error)), "collectives": [], "needs": needs})
            return
        attrs = {k: v for k, v in source.attrs.items() if isinstance(v, str | int | float)}
        if raw:
            attrs["statistic"] = "; ".join(filter(None, (RAW_STATISTIC, str(attrs.get("statistic", "")))))
        for collective, groups in parts.items():
            # What no row of a collective tells, such as the operation of a broadcast, does not set it apart.
            telling = {name for each in groups for name, value in each.items() if value and name in source.several}
            for each in groups:
                said = {n: value or facets.untold(n) for n, value in each.items() if value or n in telling}
                self._told.setdefault(collective, []).append((str(source.path), {**attrs, **said}))
        self._unused[str(source.path)] = source.unused
        self._reports.append({**report(source), "collectives": list(parts)})
        self._warnings += [f"{source.path}: {text}" for text in source.warnings]

    def _leave_out(self, name: str) -> None:
        """Leave out what the last file gave of a collective."""
        if files := self._told.get(name):
            self._rows[name].keep(range(len(files)))
        else:
            del self._rows[name]

    def _add(self, source: Source, table: pd.DataFrame, parts: dict[str, list[dict[str, str]]]) -> None:
        for column, least in _LEAST.items():
            if column not in table or (table[column].dtype == np.int64 and table[column].min() >= least):
                continue
            below = (table[column] < least).to_numpy(dtype=bool, na_value=False)
            wild = _not_whole(table[column]) & ~below
            for bad, reason in ((below, f"is below {least}"), (wild, "is not a whole number below 2^62")):
                source.exclude(int(bad.sum()), f"{column} {reason}")
            if below.any() or wild.any():
                table = table[~(below | wild)]
        columns = [name for name in FACETS.values() if name in table]
        for facts, part in facets.of_rows(table, ["collective", *columns]):
            if not len(part):
                continue
            name = facts.pop("collective")
            known = parts.setdefault(name, [])
            if facts not in known:
                known.append(facts)
            place = len(self._told.get(name, ())) + known.index(facts)
            rest = part.drop(columns=columns) if columns else part
            self._rows.setdefault(name, CollectiveRows(name)).add(rest, place)

    def tree(self, files: Found, collectives: Collection[str] = ()) -> xr.DataTree:
        """Make the cubes of all that was taken; the rows are consumed."""
        if not self._rows:
            lacking = next((error for error in self._refused if isinstance(error, MissingHintError)), None)
            if lacking is not None:
                raise lacking
            refused = list(dict.fromkeys(map(str, self._refused)))
            reasons = "\n".join(f"  {error}" for error in refused[:10])
            more = f"\n  … and {len(refused) - 10} more" if len(refused) > 10 else ""
            raise LoadError(f"no file gives results:\n{reasons}{more}" if reasons else "the files hold no results")
        sources = json.dumps(self._reports)
        every = facets.facets_of([file for files in self._told.values() for file in files])
        facets.check_selected(self._choice, every)
        each = iter(every)
        facts = {name: list(itertools.islice(each, len(files))) for name, files in self._told.items()}
        asked = facts.keys() & set(collectives) or facts.keys() - {POINT_TO_POINT} or facts.keys()
        made = ((name, self._cube_or_remark(name, facts[name], asked=name in asked)) for name in facts)
        cubes = {name: cube for name, cube in made if cube is not None}
        tree = xr.DataTree.from_dict({f"/{name}": cube for name, cube in cubes.items()})
        tree.attrs["sources"] = sources
        tree.attrs["notes"] = json.dumps([*files.notes, *self._warnings])
        return tree

    def _cube_or_remark(self, name: str, facts: list[dict[str, str]], *, asked: bool) -> xr.Dataset | None:
        """The cube of a collective; one that is not asked for and whose files differ is left out, with a remark."""
        try:
            return self._cube(name, facts)
        except MissingHintError as error:
            if asked:
                raise
            self._warnings.append(f"left out: {error}")
            return None

    def _check_ppn(self, rows: CollectiveRows, facts: list[dict[str, str]]) -> None:
        """Raise `MissingHintError` where files that are kept tell the processes per node and others do not."""
        name, files = rows.collective, self._told[rows.collective]
        places = {ppns != {0}: place for place, ppns in reversed(choosing.on_nodes(rows).items())}
        if len(places) > 1:
            raise MissingHintError(
                f"the file does not say the processes per node of {name}, which {files[places[True]][0]} does; give "
                "the hint ppn, or a pattern over the path with {ppn}, or load them apart",
                hints=("ppn",),
                path=files[places[False]][0],
                examples={"select": f"campaign={facts[places[True]][facets.FILE]}"},
            )

    def _cube(self, name: str, facts: list[dict[str, str]]) -> xr.Dataset | None:
        """The cube of a collective from the files that are chosen, whose facets are told; None when none is."""
        files = self._told[name]
        rows = self._rows.pop(name)
        paths_facts = [(path, each) for (path, _), each in zip(files, facts, strict=True)]
        anew = [place for place, (_, attrs) in enumerate(files) if attrs.get(POINTS) == ANEW]
        anew.sort(key=lambda place: str(files[place][1].get("date", "")))
        kept, remarks = choosing.chosen(rows, paths_facts, self._choice, anew)
        if not kept:
            self._warnings += remarks
            return None
        self._check_ppn(rows, facts)
        remarks += nearest_totals(rows)
        by_ppn = facet_nodes.by_ppn(rows, {place: facts[place] for place in kept})
        remarks += facet_nodes.notes(name, by_ppn)
        remarks += choosing.unexplained(rows, [path for path, _ in files], self._unused)
        self._warnings += remarks
        said = {place: files[place][1] for place in kept}
        if anew:
            said = {place: _trusted(each, rows, place) for place, each in said.items()}
        if not said.keys() <= set(anew):
            # For themselves they stay what they are, as when they are saved.
            said = {place: _left_of(each) for place, each in said.items()}
        attrs = combine_attrs([(files[place][0], each) for place, each in said.items()])
        attrs |= facets.of_kept([facts[place] for place in kept]) | facets.chosen_among(facts, self._choice)
        attrs |= facet_nodes.attributes(by_ppn)
        paths = {files[place][0] for place in kept}
        mine = [
            {k: r[k] for k in ("path", "digest", "format", "rows", "skipped")}
            for r in self._reports
            if r["path"] in paths and name in r["collectives"]
        ]
        apart = {"apart": "; ".join(remarks)} if remarks else {}
        return make_cube(rows, {**attrs, **apart, "sources": json.dumps(mine)})


def _left_of(attrs: dict[str, Any]) -> dict[str, Any]:
    """What a file says of itself, but for that it measured points anew."""
    return {name: value for name, value in attrs.items() if (name, value) != (POINTS, ANEW)}


def _trusted(attrs: dict[str, Any], rows: CollectiveRows, place: int) -> dict[str, Any]:
    """What a file says of itself, without doubts about points that are left to others which measured them anew."""
    if DOUBTFUL not in attrs:
        return attrs
    points, names = rows.points(place), ("method", "comm_size", "message_size", "ppn")
    left = [each for each in listed(attrs, DOUBTFUL) if tuple(each[name] for name in names if name in each) in points]
    others = {name: value for name, value in attrs.items() if name != DOUBTFUL}
    return {**others, DOUBTFUL: json.dumps(left)} if left else others


def _stored(path: Any, *, lazy: bool) -> xr.DataTree:
    opened = open_stored(path, lazy=lazy)
    cubes = {f"/{name}": complete(node.to_dataset(), name) for name, node in opened.children.items()}
    tree = xr.DataTree.from_dict(cubes)
    # What was to be said of the files was said when these results were made of them; what their times are is not.
    made = opened.attrs.get("notes_when_made", opened.attrs.get("notes", "[]"))
    notes = [cube.attrs["apart"] for cube in cubes.values() if "apart" in cube.attrs]
    if lost := lost_chunks(path):
        notes.append(f"{path}: {lost}")
    tree.attrs.update({**opened.attrs, "stored": str(path), "notes_when_made": made, "notes": json.dumps(notes)})
    tree.attrs.setdefault(
        "sources",
        json.dumps(
            [{"path": str(path), "format": "zarr" if path.is_dir() else "netcdf", "collectives": list(opened.children)}]
        ),
    )
    return tree
