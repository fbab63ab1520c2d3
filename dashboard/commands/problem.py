"""From arguments to what is decided on: measurements as they are judged by, and as they are learnt from."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dashboard.commands import text as cli_text
from dashboard.commands.load import cubes_of
from dashboard.commands.output import Working, say
from dashboard.commands.trust import trusted
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    import xarray as xr

    from dashboard.decisions import DecisionFunction
    from dashboard.decisions.problem import Problem
    from dashboard.models import PointToPointModel


_LISTED = 5


@dataclass(frozen=True, eq=False)
class Task:
    """What one decision function is made from.

    Attributes
    ----------
    problem
        The measurements, which decisions are judged by.
    prepare
        Fills missing cells and resolves ties, as asked: what trees are grown from.
    sources
        The files of each collective, as the cubes tell them.
    """

    problem: Problem
    prepare: Callable[[Problem], Problem]
    sources: dict[str, Any]

    @cached_property
    def learnt(self) -> Problem:
        """What trees are grown from."""
        return self.prepare(self.problem)


def tasks_of(args: argparse.Namespace) -> list[Task]:
    """What to decide on: one task for each collective, or one for all of them together."""
    cubes = cubes_of(args, args.collective)
    if len(cubes) > 1 and not args.combined and args.command != "export":
        raise Usage(f"-c is given {len(cubes)} times; --combined makes one tree for {' and '.join(cubes)}")
    if args.combined and len(cubes) < 2:
        raise Usage("--combined makes one tree for several collectives; name them with -c, such as -c bcast -c reduce")
    if args.ppn is None:
        _say_ppn(cubes)
    cubes = trusted(args, cubes)
    if args.without_outliers:
        cubes = _without_outliers(cubes)
    if args.combined:
        return [_task(args, cubes, {name: cube.attrs.get("sources") for name, cube in cubes.items()})]
    return [_task(args, cube, {name: cube.attrs.get("sources")}) for name, cube in cubes.items()]


def one_task(args: argparse.Namespace) -> Task:
    """The only task; `tasks_of` has seen to it for all commands but ``export``."""
    (task,) = tasks_of(args)
    return task


def _without_outliers(cubes: dict[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """The cubes without outliers; which they were is said."""
    from dashboard.decisions.outliers import outliers, without_outliers

    left = {}
    for name, cube in cubes.items():
        found = outliers(cube)
        left[name] = without_outliers(cube, found)
        kinds = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in found["kind"].value_counts().items()]
        say(f"note: {name}: left out as outliers: {' and '.join(kinds) or 'nothing'} ({found.attrs['note']})")
        for row in found.head(_LISTED).to_dict("records"):
            where = f"{row['comm_size']} processes, {cli_text.size(row['message_size'])}"
            say(f"  {row['method']}, {where}: {cli_text.time(row['time'])}, expected {cli_text.time(row['expected'])}")
        if len(found) > _LISTED:
            say(f"  and {len(found) - _LISTED} more; 'colltune info --outliers' lists them")
    return left


def _task(args: argparse.Namespace, cubes: Any, sources: dict[str, Any]) -> Task:
    from dashboard.decisions.problem import Problem

    problem = Problem.of(cubes, ppn=args.ppn)
    if args.weights:
        problem = _weighed(problem, args.weights)
    if args.interpolate:
        for part in _interpolated(problem).slices:
            say(f"note: interpolated for deciding: {part.cube.attrs['interpolation']}")
    if args.complete:
        for part in _completed(problem, args.parameters, args.complete).slices:
            say(f"note: completed for deciding: {part.cube.attrs['completion']}")
    return Task(problem, _preparation(args), sources)


def _weighed(problem: Problem, path: str) -> Problem:
    """The problem with the calls of a workload; what of them is not at measured sizes is said."""
    from dashboard.decisions.workload import weighed
    from loaders.workload import read_workload

    found = weighed(problem, read_workload(path))
    calls = found.provenance["workload"]
    parts = {
        "exact": "at measured sizes",
        "moved": "counted at the nearest measured size",
        "beyond": "outside the measured range, counted at its border",
        "unmeasured": "at cells where nothing is measured",
        "other_ppn": "at other processes per node, not counted",
    }
    told = ", ".join(f"{calls[name]:g} {text}" for name, text in parts.items() if calls[name])
    say(f"note: workload of {calls['calls']:g} calls: {told}")
    if calls["without_results"]:
        say(f"note: its calls of {', '.join(calls['without_results'])} are not decided on")
    return found


def _interpolated(problem: Problem) -> Problem:
    from dashboard.decisions.folds import with_cubes
    from dashboard.decisions.interpolate import interpolated

    return with_cubes(problem, [interpolated(part.cube) for part in problem.slices])


def _completed(problem: Problem, network: str | None, model: str) -> Problem:
    from dashboard.decisions.folds import with_cubes
    from dashboard.models.completing import completed
    from dashboard.models.fit import fit
    from dashboard.models.observations import observe
    from dashboard.models.parameter_set import find_parameters

    given = None if network is None else find_parameters(network, model).of(model)

    def parameters(cube: xr.Dataset) -> PointToPointModel:
        return fit(observe(cube), model).parameters if given is None else given

    return with_cubes(problem, [completed(part.cube, parameters(part.cube)) for part in problem.slices])


def _preparation(args: argparse.Namespace) -> Callable[[Problem], Problem]:
    """What is made of measurements before deciding; of each part that is decided on by itself."""

    def prepare(problem: Problem) -> Problem:
        """Fill in what is missing and settle ties, as far as the options ask for it."""
        from dashboard.decisions.noise import indistinguishable
        from dashboard.decisions.simplest import simplest

        if args.interpolate:
            problem = _interpolated(problem)
        if args.complete:
            problem = _completed(problem, args.parameters, args.complete)
        if args.ties == "fastest":
            return problem
        level = args.statistical
        ties = None if level is None else [indistinguishable(part.cube, level)["tied"] for part in problem.slices]
        return simplest(problem, args.tolerance, ties=ties)

    return prepare


def grow(tree: str, options: dict[str, Any], task: Task) -> DecisionFunction:
    """Grow a tree; on a terminal a line says how far it is."""
    from dashboard.decisions.families import family

    with Working() as progress:
        return family(tree).grow(task.learnt, progress=progress, **options)


def _say_ppn(cubes: dict[str, xr.Dataset]) -> None:
    from dashboard.decisions import select_ppn

    for cube in cubes.values():
        if "ppn" in cube.dims:
            chosen = select_ppn(cube)[1]
            others = ", ".join(str(int(value)) for value in cube["ppn"].values)
            say(f"note: {chosen} processes per node (most measured cells) of {others}; --ppn chooses")
