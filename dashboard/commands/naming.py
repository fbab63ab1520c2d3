"""Names of methods that the target of an export does not know: said with near ones, mapped, or left out."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xarray as xr

from dashboard.commands.load import load
from dashboard.commands.output import say
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction, Method
from dashboard.decisions.measured.map import methods_of
from dashboard.domain.errors import meant
from dashboard.domain.units import format_names
from dashboard.export import TARGETS
from dashboard.export.library_names import measured_series
from dashboard.export.naming import known, lacking, near, renamed, renamed_rules
from dashboard.export.substitute import apart
from dashboard.export.unsafe import is_unsafe
from loaders.collectives import POINT_TO_POINT
from loaders.openmpi import DEFAULT_VERSION

_LISTED = 8


def named(args: argparse.Namespace, options: Mapping[str, Any]) -> xr.DataTree:
    """The results with the target's names; methods that it lacks are said, and left out where that is asked for.

    Parameters
    ----------
    options
        Of the target, as they were given.

    Raises
    ------
    Usage
        An algorithm is to be renamed that is not there, or the target has none of those that alone are asked for.
    """
    results = load(args)
    cubes = {name: node.to_dataset() for name, node in results.children.items()}
    _check_there(args, (str(name) for cube in cubes.values() for name in cube["algorithm"].values), "results have")
    cubes = {name: renamed(cube, dict(args.names)) for name, cube in cubes.items()}
    left: dict[str, set[str]] = {}
    wanted = [args.collective] if isinstance(args.collective, str) else args.collective or list(cubes)
    wanted = [name for name in wanted if name in cubes]
    target = TARGETS[args.to]
    if "version" in target.options and not options.get("version"):
        options = {**options, "version": measured_series(cubes[name].attrs for name in wanted) or DEFAULT_VERSION}
    version = options.get("version")
    for name in wanted:
        if name != POINT_TO_POINT:
            methods, facts = methods_of(cubes[name]), cubes[name].attrs
            without = lacking(target, name, methods, facts, options)
            _check_renamed(args, name, [method.algorithm for method in without], version)
            unnamed = [
                each for each in lacking(target, name, methods, facts, options, segments=False) if each in without
            ]
            unknown = dict.fromkeys(method.algorithm for method in unnamed)
            if unknown and target.unwritten and (words := target.unwritten(facts, ", ".join(unknown))):
                say(f"note: {name}: {words}")
            else:
                _say(args, name, unknown, version)
            if without and not args.only:
                cut = format_names([method.label for method in without])
                what = "they" if unnamed else f"{args.to} does not cut messages into segments in {cut}: they"
                say(f"note: {name}: {what} are replaced where they are chosen; --only target decides among what it has")
            if args.only and len(without) == len(methods):
                none = f"{args.to} has none of the methods of {name} under a name that is sure"
                raise Usage(f"{none}; --name THEIRS=NAME says what they are")
            if args.only:
                without += _apart(args, cubes[name], [method for method in methods if method not in without])
                left[name] = {method.label for method in without}
    _leave_out(args, cubes, left)
    made = xr.DataTree.from_dict({f"/{name}": cube for name, cube in cubes.items()})
    made.attrs.update(results.attrs)
    return made


def _leave_out(args: argparse.Namespace, cubes: dict[str, xr.Dataset], left: Mapping[str, set[str]]) -> None:
    """Leave out of each collective what its target lacks; by name where that is no loss to another one that has it."""
    for label in sorted(set().union(*left.values())):
        if all(label in lacked or label not in cubes[name]["method"].values for name, lacked in left.items()):
            args.without = [*args.without, label] if label not in args.without else args.without
            continue
        for name in (name for name, lacked in left.items() if label in lacked):
            cubes[name] = cubes[name].isel(method=cubes[name]["method"].values != label)
            say(f"note: {name}: {label} is left out as if it had not been measured: {args.to} has it of others only")


def _apart(args: argparse.Namespace, cube: xr.Dataset, methods: Sequence[Method]) -> list[Method]:
    """Methods that the target has, but not beside better ones; they are said."""
    if left := apart(TARGETS[args.to], cube, methods):
        names = ", ".join(method.label for method in left)
        say(f"note: {cube.attrs['collective']}: {args.to} has {names}, but not beside others that are better together")
    return left


def named_rules(
    args: argparse.Namespace, rules: Mapping[str, DecisionFunction], options: Mapping[str, Any]
) -> dict[str, DecisionFunction]:
    """Rules with the target's names; `options` of the target as for `named`, and so `Usage`."""
    _check_there(args, (method.algorithm for decision in rules.values() for method in decision.methods), "rules have")
    made = {name: renamed_rules(decision, dict(args.names)) for name, decision in rules.items()}
    if args.names:
        for decision in made.values():
            methods = [decision.methods[place] for place in decision.used]
            without = lacking(
                TARGETS[args.to], decision.collective, methods, decision.provenance, options, segments=False
            )
            _check_renamed(args, decision.collective, [each.algorithm for each in without], options.get("version"))
    return made


def _check_there(args: argparse.Namespace, algorithms: Iterable[str], have: str) -> None:
    """Usage when an algorithm is to be renamed that is not there."""
    there = dict.fromkeys(algorithms)
    for theirs, _ in args.names:
        if theirs not in there:
            near = meant(theirs, there) or f"; they have {', '.join(there)}"
            raise Usage(f"--name {theirs}: the {have} no algorithm of that name{near}")


def _check_renamed(args: argparse.Namespace, collective: str, without: Sequence[str], version: str | None) -> None:
    """Usage when the name that an algorithm is to have is none of the target's."""
    for theirs, name in args.names:
        there = known(TARGETS[args.to], collective, version)
        if name in without and name not in there:
            has = near(TARGETS[args.to], collective, name, version) or there
            but = f", but {', '.join(has)}" if has else ""
            raise Usage(f"--name {theirs}={name}: for {collective} {args.to} has no {name!r}{but}")


def _say(args: argparse.Namespace, collective: str, algorithms: Iterable[str], version: str | None) -> None:
    """Say which algorithms the target lacks, and which of its own they may be."""
    if numbers := [name for name in algorithms if name.isdigit()]:
        said = ", ".join(numbers[:_LISTED])
        say(f"note: {collective}: algorithms {said} are numbers; --numbers openmpi-5.0 names them")
    names = {
        name: [
            each
            for each in near(TARGETS[args.to], collective, name, version)
            if not is_unsafe(args.to, collective, each, {"version": version})
        ]
        for name in algorithms
    }
    for name, alike in [pair for pair in names.items() if pair[1]][:_LISTED]:
        what = f"{args.to} has no {name!r}; if it is what {args.to} calls {' or '.join(alike)}"
        if name in alike:
            what = f"whether {name!r} is {args.to}'s {name!r}, too, nothing says; if it is"
        say(f"note: {collective}: {what}: --name {name}={name if name in alike else alike[0]}")
    far = [name for name, alike in names.items() if not alike]
    if far:
        more = f" and {len(far) - _LISTED} more" if len(far) > _LISTED else ""
        say(f"note: {collective}: {args.to} has nothing like {', '.join(far[:_LISTED])}{more}")
