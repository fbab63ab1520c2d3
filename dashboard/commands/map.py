"""``colltune map``: the decision map of one collective, with its ties."""

import argparse
from typing import Any

import xarray as xr

from dashboard.commands import text as cli_text
from dashboard.commands.output import say, show
from dashboard.commands.prepared import preparation
from dashboard.decisions.measured.simplest import tied_words
from dashboard.domain.units import format_count, format_share

#: Cells whose method is the fastest with less probability are marked.
UNSURE = 0.5
#: What the head of a map names of its measurements.
_TOLD = ("system", "network", "library", "library_version", "device", "placement", "selected")


def decision_map(args: argparse.Namespace) -> None:
    """Show the decision map of one collective."""
    # Here ties are marked unless the simplest map is asked for.
    marks = args.ties == "mark"
    prepared = preparation(argparse.Namespace(**{**vars(args), "ties": None if marks else args.ties}))
    (name,), dmap = prepared.measured, prepared.decision_map
    if args.statistical is not None:
        dmap = dmap.assign(ties=prepared.ties)
    if not marks:
        dmap = dmap.assign(best=prepared.learnt.slices[0].dmap["best"])
        if facts := prepared.learnt.provenance.get("simplest"):
            changes = f"{facts['before']} changes between neighbouring cells became {facts['after']}"
            say(f"note: {facts['relabelled']:,} cells take another method than the fastest; {changes}")
    answer = {
        "collective": name,
        "comm_size": dmap["comm_size"].values.tolist(),
        "message_size": dmap["message_size"].values.tolist(),
        "methods": [str(label) for label in dmap["method"].values],
        "best": [[None if i < 0 else i for i in row] for row in _rows(dmap["best"])],
        "time": _rows(dmap["best_time"]),
    }
    if args.tolerance or args.statistical is not None:
        answer["ties"] = _rows(dmap["ties"])
    sureness = prepared.sureness if args.uncertainty else None
    if sureness is not None:
        answer["sureness"] = sureness.tolist()
    show(args, answer, lambda: _lines(name, dmap, args, sureness))


def _lines(name: str, dmap: xr.Dataset, args: argparse.Namespace, sureness: Any) -> list[str]:
    remarks = [str(dmap.attrs[key]) for key in _TOLD if dmap.attrs.get(key)]
    what = "the simplest choice among the best methods" if args.ties == "simplest" else "the fastest method"
    lines = [f"{name}: {what} for each pair of sizes" + (f" ({', '.join(remarks)})" if remarks else ""), ""]
    several = args.tolerance or args.statistical is not None
    unsure = None if sureness is None else (sureness < UNSURE)
    lines += cli_text.map_text(dmap, ties=bool(several), unsure=None if unsure is None else unsure.tolist())
    if unsure is not None:
        words = f"is the fastest at the sizes that it stands for with less than {format_share(UNSURE)}."
        lines.append(f"? = the method of {format_count(int(unsure.sum()), 'cell')} {words}")
    if several:
        tied = tied_words(args.tolerance, tested=args.statistical is not None)
        ties, measured = int((dmap["ties"] > 1).sum()), int((dmap["measured"] > 0).sum())
        have = "has" if ties == 1 else "have"
        lines.append(f"' = {ties:,} of {measured:,} cells {have} more than one of the {tied}.")
    return lines


def _rows(array: xr.DataArray) -> list[list[Any]]:
    rows: list[list[Any]] = array.transpose("comm_size", "message_size").values.tolist()
    return rows
