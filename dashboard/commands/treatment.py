"""What is made of measurements before deciding: its options, and from arguments to what is decided on."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.commands.model import command as cli_model
from dashboard.commands.model.predict import say_undetermined_choices
from dashboard.commands.output import Working, say
from dashboard.commands.prepared import say_done
from dashboard.commands.usage import Usage
from dashboard.domain import held_out as held_out_words
from dashboard.domain.errors import meant
from dashboard.domain.units import format_ppn
from dashboard.session.treatment import OPTIONS

if TYPE_CHECKING:
    import xarray as xr

    from dashboard.decisions.judged.heldout import HeldOut
    from dashboard.session.prepared import Decided, Prepared
    from dashboard.session.treatment import Treatment

#: Options that the models share with the tree of that name.
_OF_MODELS = ("complete", "parameters")
#: Those of decisions that are there already.
JUDGED_BY = ("outliers", "keep_doubtful")


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the options of the treatment, or those named."""
    group = parser.add_argument_group("measurements", "what is made of them before deciding")
    for option in OPTIONS:
        if option.name not in _OF_MODELS and option.name in (names or (option.name,)):
            cli_trees.add_option(group, option)
    group.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="METHOD",
        help="leave a method out, as 'colltune map' names it, or 'ALGORITHM *' for all its segment sizes and "
        "parameters; may be given several times",
    )
    if not names:
        group.add_argument("--weights", metavar="FILE", help="workload: collective, comm_size, message_size, calls")
        cli_model.add_measurement_options(parser)


def add_held_out(parser: argparse.ArgumentParser, default: str) -> None:
    """Add what is held out for judging."""
    group = parser.add_argument_group("held out", "penalty on measurements that were not used for deciding")
    group.add_argument(
        "--held-out",
        choices=tuple(held_out_words.SCHEMES.values()),
        default=default,
        metavar="WHAT",
        help="what to hold out: every N-th communicator and message size in turn (lines), only one of both "
        f"(comm_size, message_size), half of the repetitions, or none (default {default})",
    )
    group.add_argument(
        "--folds",
        type=cli_values.folds,
        default=5,
        metavar="N",
        help="parts held out in turn (default 5; of lines so many along each of both sizes)",
    )


def treatment_of(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> Treatment:
    """The treatment that the arguments ask for, of these measurements.

    Raises
    ------
    Usage
        A method that is to be left out is not there, or none would be left.
    """
    from dashboard.session.treatment import Treatment, Workload
    from loaders.workload import read_workload

    given = {option.name: getattr(args, option.name, None) for option in OPTIONS}
    chosen = {name: value for name, value in given.items() if value is not None}
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
    from dashboard.commands.load import cubes_of

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
    from dashboard.session.prepared import prepare

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
    from dashboard.session.choice import Choice

    choice = Choice.of(tree, options)
    with Working() as progress:
        decided = prepared.decided(choice, prepared.grow(choice, progress))
    say_undetermined_choices(decided.decision)
    return decided


def held_out(args: argparse.Namespace, decided: Decided) -> HeldOut | None:
    """The penalty where a decision was not made from, if it is asked for."""
    if args.held_out == held_out_words.NOTHING:
        return None
    with Working() as progress:
        return decided.prepared.held_out(
            decided.choice, args.held_out, args.folds, decision=decided.decision, progress=progress
        )


def _named(args: argparse.Namespace, cubes: Mapping[str, xr.Dataset]) -> tuple[str, ...]:
    """What ``--without`` names."""
    from dashboard.decisions.measured import selection

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
    from dashboard.decisions import select_ppn

    notes = []
    for cube in cubes.values():
        if "ppn" in cube.dims:
            chosen = select_ppn(cube)[1]
            others = ", ".join(str(int(value)) for value in cube["ppn"].values)
            notes.append(f"note: {format_ppn(chosen)} (most measured cells) of {others}; --ppn chooses")
    for note in dict.fromkeys(notes):
        say(note)
