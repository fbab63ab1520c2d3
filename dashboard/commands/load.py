"""What the subcommands work on: results from files, with what was left out of them said."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands.output import loading, say
from dashboard.commands.usage import Usage
from dashboard.domain.errors import meant
from dashboard.session.reading import OPTIONS as READING
from loaders.collectives import POINT_TO_POINT

if TYPE_CHECKING:
    import xarray as xr

#: Where the parsed arguments hold each hint to the loaders; filled only when given.
HELD = {name: name for name in (*(option.name for option in READING), "columns", "recursive")}
HELD |= {"message_size": "bytes", "ppn": "ppn_hint"}
_COLLECTIVE_IS_HINT = ("info", "convert", "serve", "view")
_NAMED = 5


def hints_of(args: argparse.Namespace) -> dict[str, Any]:
    """Hints to the loaders, those that were given."""
    given = ((name, getattr(args, held, None)) for name, held in HELD.items())
    hints = {name: value for name, value in given if value is not None}
    if "columns" in hints:
        hints["columns"] = _columns(hints["columns"])
    # Where -c is a hint it stands for every file; elsewhere it chooses from what the files say themselves.
    if args.command in _COLLECTIVE_IS_HINT and args.collective is not None:
        hints["collective"] = args.collective
    return hints


def _columns(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Their names with ours; Usage where one of theirs is taken twice."""
    taken: dict[str, str] = {}
    for ours, theirs in pairs:
        if taken.setdefault(theirs, ours) != ours:
            raise Usage(f"--column takes {theirs!r} for both {taken[theirs]} and {ours}; a column is one of them")
    return taken


def load(args: argparse.Namespace, *, ppn_hints: bool = True) -> xr.DataTree:
    """Load the results; what was left out is said on standard error.

    Parameters
    ----------
    ppn_hints
        Whether ``--ppn N`` is the hint where no results tell their processes per node.

    Returns
    -------
    xarray.DataTree
        As `loaders.open_results` gives it.

    Raises
    ------
    LoadError
        As `loaders.open_results`.
    """
    from loaders import MissingHintError, open_results

    hints = hints_of(args)
    named = [args.collective] if isinstance(args.collective, str) else args.collective or []
    asked = [] if args.command in _COLLECTIVE_IS_HINT else named
    read = partial(open_results, args.paths, args.format, collectives=asked)
    ppn = getattr(args, "ppn", None)
    chosen = {"collective": next(iter(named), None), "ppn": None if ppn == "all" else ppn}
    with loading() as progress:
        try:
            results = read(progress=progress, **hints)
        except MissingHintError as error:
            # What chooses among results stands in for what the files do not say.
            further = {n: v for n, v in chosen.items() if n in error.hints and v is not None and n not in hints}
            if not further:
                raise
            hints |= further
            results = read(progress=progress, **hints)
        hinted = ppn_hints and chosen["ppn"] and not any(map(tells_ppn, results.children.values()))
        if hinted:
            results = read(progress=progress, **hints, ppn=ppn)
    if hinted:
        say(f"note: the files do not tell their processes per node; taken as --ppn says: {ppn}")
    for note in json.loads(results.attrs.get("notes", "[]")):
        say(f"note: {note}")
    if args.command != "info" and "stored" not in results.attrs:
        _say_what_was_left(json.loads(results.attrs.get("sources", "[]")))
    return results


def cubes_of(
    args: argparse.Namespace, names: Sequence[str] | None, results: xr.DataTree | None = None
) -> dict[str, xr.Dataset]:
    """The cubes of the collectives asked for, or of the only one there is, by name."""
    results = load(args) if results is None else results
    there = list(results.children)
    if not names:
        # A ping-pong is measured beside the collectives; nothing is decided about it.
        candidates = [name for name in there if name != POINT_TO_POINT] or there
        if len(candidates) > 1:
            raise Usage(f"these results hold {', '.join(there)}; choose with -c, such as -c {candidates[0]}")
        names = candidates
    for name in names:
        if name not in there:
            raise Usage(f"-c {name}: these results hold {', '.join(there)}{meant(name, there)}")
    cubes = {name: results[name].to_dataset() for name in names}
    if getattr(args, "ppn", None) is not None:
        for name, cube in cubes.items():
            _check_ppn(args.ppn, name, cube)
    return cubes


def tells_ppn(cube: xr.Dataset | xr.DataTree) -> bool:
    """Whether results tell their processes per node."""
    return "ppn" in cube.dims or "ppn" in cube.coords or cube.attrs.get("ppn") is not None


def _check_ppn(ppn: int | str, name: str, cube: xr.Dataset) -> None:
    """Usage when processes per node are asked for that the results do not tell; `OptionError` when they have others."""
    from dashboard.decisions import select_ppn

    if not tells_ppn(cube):
        raise Usage(f"--ppn {ppn}: the results of {name} do not tell their processes per node, so none can be chosen")
    if ppn != "all":
        select_ppn(cube, int(ppn))


def file_report(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One file's report; stored results say less of themselves than benchmark files."""
    usual: dict[str, Any] = {
        "path": None,
        "format": None,
        "rows": 0,
        "skipped": 0,
        "collectives": [],
        "needs": [],
        "error": None,
    }
    return {**usual, **entry}


def _say_what_was_left(sources: Iterable[Mapping[str, Any]]) -> None:
    files = [file_report(source) for source in sources]
    used = [file for file in files if not file["error"]]
    skipped = sum(file["skipped"] for file in used)
    if skipped:
        present = skipped + sum(file["rows"] for file in used)
        were = "was" if skipped == 1 else "were"
        say(f"note: {skipped:,} of {present:,} rows {were} skipped; 'colltune info' says which and why")
    unused = [Path(str(file["path"])).name for file in files if file["error"]]
    if unused:
        names = ", ".join(unused[:_NAMED]) + (", …" if len(unused) > _NAMED else "")
        were = "was" if len(unused) == 1 else "were"
        say(f"note: {len(unused)} of {len(files)} files {were} not used ({names}); 'colltune info' says why")
