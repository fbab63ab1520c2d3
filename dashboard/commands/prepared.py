"""Measurements as decisions are judged by them, and what is said of what was done to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboard.commands import text as cli_text
from dashboard.commands.output import say
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_bytes, format_count

if TYPE_CHECKING:
    import xarray as xr

    from dashboard.session.prepared import Prepared

_LISTED = 5
KEEP = ", or add --keep-doubtful"


def judged(
    cubes: Mapping[str, xr.Dataset], otherwise: str | None = "", *, keep_doubtful: bool = False
) -> dict[str, xr.Dataset]:
    """Measurements as decisions are judged by them where nothing else is asked for; what was left out is said.

    Parameters
    ----------
    otherwise
        As for `say_done`.
    keep_doubtful
        Whether times count that cannot be trusted.
    """
    from dashboard.session.prepared import prepare

    made = {name: prepare(cube, keep_doubtful=keep_doubtful) for name, cube in cubes.items()}
    for each in made.values():
        say_done(each, otherwise)
    return {name: next(iter(each.cubes.values())) for name, each in made.items()}


def say_done(prepared: Prepared, otherwise: str | None = KEEP) -> None:
    """Say what was left out, weighed and filled in.

    Parameters
    ----------
    otherwise
        What else than measuring again can be done where no time can be trusted; None: that is no error.
    """
    from dashboard.decisions.measured import trust
    from dashboard.decisions.measured.map import select_ppn
    from dashboard.decisions.measured.workload import in_words
    from dashboard.export.unsafe import LEFT_OUT

    treatment = prepared.treatment
    for name, cube in prepared.cubes.items():
        if LEFT_OUT in cube.attrs:
            say(f"note: {name}: unsafe methods {cube.attrs[LEFT_OUT]}")
        ppn = None if treatment.across else treatment.ppn or select_ppn(cube)[1]
        _say_doubtful(name, cube, trust.at_ppn(prepared.doubtful[name], ppn), otherwise)
    if treatment.outliers:
        for name, table in prepared.outliers.items():
            _say_outliers(name, table)
    _say_tests(prepared)
    weighed = None if treatment.workload is None else prepared.problem.provenance["workload"]
    for text in in_words(weighed):
        say(f"note: {text}")
    if treatment.fills:
        for part in prepared.filled.slices:
            notes = {"interpolated": "interpolation", "completed": "completion", "predicted": "surfaces"}
            for what, attribute in notes.items():
                if attribute in part.cube.attrs:
                    say(f"note: {what} for deciding: {part.cube.attrs[attribute]}")


def _say_doubtful(name: str, cube: xr.Dataset, table: Any, otherwise: str | None) -> None:
    """Say which times cannot be right; Usage where none is left."""
    from dashboard.decisions.measured import trust

    if len(table):
        gone = trust.LEFT_OUT in cube.attrs
        say(f"note: {name}: {'left out' if gone else 'kept'}: {trust.words(table)}; measure again on a quiet machine")
        if gone and otherwise is not None and not bool(cube["time"].notnull().any()):
            raise Usage(f"{name}: no time can be trusted: measure again on a quiet machine{otherwise}")


def _say_outliers(name: str, table: Any) -> None:
    kinds = [format_count(count, str(kind)) for kind, count in table["kind"].value_counts().items()]
    say(f"note: {name}: left out as outliers: {' and '.join(kinds) or 'nothing'} ({table.attrs['note']})")
    for row in table.head(_LISTED).to_dict("records"):
        where = f"{row['comm_size']} processes, {format_bytes(row['message_size'])}"
        say(f"  {row['method']}, {where}: {cli_text.time(row['time'])}, expected {cli_text.time(row['expected'])}")
    if len(table) > _LISTED:
        say(f"  and {len(table) - _LISTED:,} more; 'colltune info --outliers' lists them")


def _say_tests(prepared: Prepared) -> None:
    if prepared.treatment.statistical is None:
        return
    for part, test in zip(prepared.problem.slices, prepared.tests, strict=True):
        where = "".join(f"{name} {value}: " for name, value in part.given.items()) if len(prepared.tests) > 1 else ""
        say(f"note: {where}{test.attrs['note']}")
