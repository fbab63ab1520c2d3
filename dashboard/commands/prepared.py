"""From arguments to what is decided on and judged by, and what is said of what was done to the measurements."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from dashboard.commands import text as cli_text
from dashboard.commands.load import cubes_of
from dashboard.commands.output import say, working
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction, select_ppn
from dashboard.decisions.function.cutting import as_nearest_beyond, within_measured
from dashboard.decisions.judged.heldout import HeldOut
from dashboard.decisions.measured import selection, trust
from dashboard.decisions.measured.workload import in_words
from dashboard.domain import held_out as held_out_words
from dashboard.domain.errors import meant
from dashboard.domain.units import format_bytes, format_count, format_ppn
from dashboard.export.provenance import unsure
from dashboard.export.unsafe import LEFT_OUT
from dashboard.models.parameter_text import written_out
from dashboard.session.choice import Choice
from dashboard.session.prepared import Decided, Prepared, prepare
from dashboard.session.treatment import OPTIONS, Treatment, Workload
from loaders.workload import read_workload

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
    made = {name: prepare(cube, keep_doubtful=keep_doubtful) for name, cube in cubes.items()}
    for each in made.values():
        say_done(each, otherwise)
    return {name: next(iter(each.cubes.values())) for name, each in made.items()}


def judged_as_asked(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Measurements as decisions are judged by them, with what the arguments ask for; what was left out is said."""
    return {name: cube for each in preparations_of(args, cubes) for name, cube in each.cubes.items()}


def say_done(prepared: Prepared, otherwise: str | None = KEEP) -> None:
    """Say what was left out, weighed and filled in.

    Parameters
    ----------
    otherwise
        What else than measuring again can be done where no time can be trusted; None: that is no error.
    """
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


def treatment_of(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> Treatment:
    """The treatment that the arguments ask for, of these measurements.

    Raises
    ------
    Usage
        A method that is to be left out is not there, or none would be left.
    """
    given = {option.name: getattr(args, option.name, None) for option in OPTIONS}
    chosen = {name: value for name, value in given.items() if value is not None}
    # Those that `colltune model` is given are its own.
    parameters = chosen.pop("parameters", None)
    if parameters and "complete" in chosen:
        chosen["parameters"] = written_out(parameters)
    if getattr(args, "weights", None):
        chosen["workload"] = Workload.of(read_workload(args.weights))
    across = getattr(args, "ppn", None) == "all"
    ppn = None if across else getattr(args, "ppn", None)
    return Treatment.of({**chosen, "without": _named(args, cubes), "ppn": ppn, "across": across})


def preparations(args: argparse.Namespace, results: xr.DataTree | None = None) -> list[Prepared]:
    """What to decide on: one for each collective, or one for all of them together; what was done is said.

    Raises
    ------
    Usage
        The arguments do not say which collectives, or not so that it can be done.
    """
    combined = getattr(args, "combined", False)
    cubes = cubes_of(args, [args.collective] if isinstance(args.collective, str) else args.collective, results)
    if len(cubes) > 1 and not combined and args.command != "export":
        raise Usage(f"-c names {len(cubes)} collectives; --combined makes one tree for {' and '.join(cubes)}")
    if combined and len(cubes) < 2:
        raise Usage("--combined makes one tree for several collectives; name them with -c, such as -c bcast -c reduce")
    return preparations_of(args, cubes, combined=combined)


def preparations_of(
    args: argparse.Namespace, cubes: Mapping[str, xr.Dataset], *, combined: bool = False
) -> list[Prepared]:
    """As `preparations`, of these measurements."""
    treatment = treatment_of(args, cubes)
    made = [prepare(cubes, treatment)] if combined else [prepare(cube, treatment) for cube in cubes.values()]
    if args.ppn is None:
        # Of what is judged: times that cannot be trusted do not count.
        say_ppn({name: cube for each in made for name, cube in each.cubes.items()})
    for each in made:
        say_done(each)
    return made


def preparation(args: argparse.Namespace, results: xr.DataTree | None = None) -> Prepared:
    """The only one; `preparations` has seen to it for all commands but ``export``."""
    (made,) = preparations(args, results)
    return made


def grown(prepared: Prepared, tree: str, options: Mapping[str, Any]) -> Decided:
    """Grow a tree; on a terminal a line says how far it is."""
    choice = Choice.of(tree, options)
    with working() as progress:
        decided = prepared.decided(choice, prepared.grow(choice, progress))
    say_undetermined_choices(decided.decision)
    return decided


def held_out(args: argparse.Namespace, decided: Decided) -> HeldOut | None:
    """The penalty where a decision was not made from, if it is asked for."""
    if args.held_out == held_out_words.NOTHING:
        return None
    with working() as progress:
        return decided.prepared.held_out(
            decided.choice, args.held_out, args.folds, decision=decided.decision, progress=progress
        )


def _named(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> tuple[str, ...]:
    """What ``--without`` names."""
    wanted = tuple(getattr(args, "without", ()))
    known = list(dict.fromkeys(name for cube in cubes.values() for name in selection.selectable(cube)))
    for name in wanted:
        there = name in known or any(selection.left_out(cube, [name]) for cube in cubes.values())
        if not there and name not in getattr(args, "without_known", ()):
            near = meant(name, known) or "; 'colltune map' shows them"
            raise Usage(f"--without {name!r}: there is no such method of {' or '.join(cubes)}{near}")
    for name, cube in cubes.items():
        gone = selection.left_out(cube, wanted)
        if wanted and len(gone) == cube.sizes["method"]:
            raise Usage(f"--without leaves no method of {name}")
        if gone:
            against = selection.yardstick({selection.WITHOUT: gone})
            say(f"note: {name}: methods left out: {', '.join(gone)}; penalties are against the {against}")
    return wanted


def say_ppn(cubes: Mapping[str, xr.Dataset]) -> None:
    """Say which processes per node are meant where none were chosen."""
    notes = []
    for cube in cubes.values():
        if "ppn" in cube.dims:
            chosen = select_ppn(cube)[1]
            others = ", ".join(str(int(value)) for value in cube["ppn"].values)
            notes.append(f"note: {format_ppn(chosen)} (most measured cells) of {others}; --ppn chooses")
    for note in dict.fromkeys(notes):
        say(note)


def say_undetermined_choices(decision: DecisionFunction) -> None:
    """Warn of choices of models that rest on parameters which their fit did not determine."""
    if words := unsure(decision):
        say(f"warning: {decision.collective}: {words}")


def as_asked_beyond(args: argparse.Namespace, decisions: Sequence[DecisionFunction]) -> list[DecisionFunction]:
    """The decisions as ``--beyond`` asks for them."""
    bound = within_measured if args.beyond == "default" else as_nearest_beyond
    return [bound(decision) for decision in decisions]
