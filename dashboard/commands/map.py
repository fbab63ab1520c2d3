"""``colltune map``: the decision map of one collective, with its ties."""

from __future__ import annotations

import argparse
import shutil
from typing import TYPE_CHECKING, Any

from dashboard.commands import text as cli_text
from dashboard.commands.load import cubes_of
from dashboard.commands.output import finite, say, show

if TYPE_CHECKING:
    import xarray as xr


def decision_map(args: argparse.Namespace) -> None:
    """Show the decision map of one collective."""
    from dashboard import decisions

    ((name, cube),) = cubes_of(args, [args.collective] if args.collective else None).items()
    dmap = decisions.decision_map(cube, ppn=args.ppn, tolerance=args.tolerance)
    if args.statistical is not None:
        dmap = _tested(cube, dmap, args.statistical)
    if args.ties == "simplest":
        dmap = _simplest(cube, dmap, args)
    if note := dmap.attrs.get("ppn_note"):
        say(f"note: {note}" + ("" if args.ppn else "; --ppn chooses"))
    answer = {
        "collective": name,
        "comm_size": dmap["comm_size"].values.tolist(),
        "message_size": dmap["message_size"].values.tolist(),
        "methods": [str(label) for label in dmap["method"].values],
        "best": [[None if i < 0 else i for i in row] for row in _rows(dmap["best"])],
        "time": [[finite(t) for t in row] for row in _rows(dmap["best_time"])],
    }
    if args.tolerance or args.statistical is not None:
        answer["ties"] = _rows(dmap["ties"])
    show(args, answer, lambda: _lines(name, dmap, args))


def _tested(cube: xr.Dataset, dmap: xr.Dataset, level: float) -> xr.Dataset:
    """The map with as ties what repetitions cannot tell from the best."""
    from dashboard.decisions.noise import indistinguishable

    found = indistinguishable(cube, level, ppn=dmap.attrs.get("ppn") if "ppn" in cube.dims else None)
    say(f"note: {found.attrs['note']}")
    return dmap.assign(ties=found["tied"].sum("method").transpose(*dmap["ties"].dims), tied=found["tied"])


def _simplest(cube: xr.Dataset, dmap: xr.Dataset, args: argparse.Namespace) -> xr.Dataset:
    """The map that takes among ties what gives the fewest rules."""
    from dashboard.decisions.problem import Problem
    from dashboard.decisions.simplest import simplest

    problem = Problem.of(cube, ppn=dmap.attrs.get("ppn") if "ppn" in cube.dims else None)
    found = simplest(problem, args.tolerance, ties=dmap.get("tied"))
    facts = found.provenance.get("simplest")
    if facts:
        told = f"{facts['before']} changes between neighbouring cells became {facts['after']}"
        say(f"note: {facts['relabelled']:,} cells take another method than the fastest; {told}")
    return dmap.assign(best=found.slices[0].dmap["best"])


def _lines(name: str, dmap: xr.Dataset, args: argparse.Namespace) -> list[str]:
    told = [str(dmap.attrs[key]) for key in ("system", "network", "library", "library_version") if dmap.attrs.get(key)]
    what = "the simplest choice among the best methods" if args.ties == "simplest" else "the fastest method"
    lines = [f"{name}: {what} for each pair of sizes" + (f" ({', '.join(told)})" if told else ""), ""]
    several = args.tolerance or args.statistical is not None
    lines += cli_text.map_text(dmap, shutil.get_terminal_size((120, 24)).columns, ties=bool(several))
    if several:
        within = f"within {args.tolerance:g} % of the best"
        within = (
            within if args.statistical is None else f"that cannot be told from the best (level {args.statistical:g})"
        )
        ties, measured = int((dmap["ties"] > 1).sum()), int((dmap["measured"] > 0).sum())
        lines.append(f"' = {ties:,} of {measured:,} cells have more than one method {within}.")
    return lines


def _rows(array: xr.DataArray) -> list[list[Any]]:
    rows: list[list[Any]] = array.transpose("comm_size", "message_size").values.tolist()
    return rows
