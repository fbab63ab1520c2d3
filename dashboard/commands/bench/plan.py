"""The options of ``colltune bench`` that say what is measured and how, and the plan that is made of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dashboard.commands import values as cli_values
from dashboard.commands.output import say
from dashboard.commands.trees import add_option
from dashboard.domain.adaptive import OPTIONS
from dashboard.domain.units import format_duration

if TYPE_CHECKING:
    from dashboard.benchmarks.adaptive import Goal
    from dashboard.benchmarks.campaigns.pace import Estimate
    from dashboard.benchmarks.campaigns.plan import Plan
    from dashboard.benchmarks.libraries.library import Installation

_GRID = "2-16 (all), 1-1MiB:x4 (times 4), 2-64:+2 (steps), 8-1MiB:9 (log-spaced) or a list of these"
_DEFAULT_SIZES = "4-1MiB:x4"


def plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is measured."""
    group = parser.add_argument_group("what is measured", f"grids of sizes: {_GRID}")
    _sizes_options(group)
    _methods_options(group)
    _how_much_options(group)


def _sizes_options(group: argparse._ArgumentGroup) -> None:
    """Collectives, sizes and what is carried."""
    group.add_argument("--ranks", type=cli_values.count, metavar="N", help="processes to launch (default: the cores)")
    group.add_argument(
        "-c",
        "--collective",
        dest="collectives",
        action="append",
        metavar="NAME[,NAME…]",
        help="collectives (default: all that can be measured)",
    )
    group.add_argument("--comm-sizes", metavar="GRID", help="communicator sizes (default: powers of two up to ranks)")
    group.add_argument("--message-sizes", metavar="GRID", help=f"bytes (default {_DEFAULT_SIZES})")
    group.add_argument("--ppn", metavar="GRID", help="processes per node (default: as the launcher places them)")
    group.add_argument(
        "--operation", metavar="NAME", help="of reductions: sum (default), or first, which does not commute"
    )
    group.add_argument(
        "--datatype", metavar="NAME[,NAME…]", help="of reductions: uint8, int32, float32 (default), float64"
    )
    group.add_argument("--memory", metavar="SIZE", help="buffers of one process at most (default 256MiB)")


def _methods_options(group: argparse._ArgumentGroup) -> None:
    """Whose methods, which of them, with which parameters."""
    group.add_argument(
        "--provider",
        dest="providers",
        action="append",
        metavar="NAME[,NAME…]",
        help="whose methods: library (default), own (run over it as schedules), orthogonal (grids) or all",
    )
    group.add_argument(
        "--components",
        metavar="NAME[,NAME…]",
        help="parts of Open MPI that answer calls by themselves, as methods: han ('han @simple': that algorithm of its "
        "own alone), tuned, adapt, basic, sm, all or none (default: all where ranks are on several nodes, else none)",
    )
    group.add_argument("--grids", metavar="WHICH", help="all, 2, 3 (dimensions) or 4x8,8x4 (default 2 with orthogonal)")
    group.add_argument(
        "--inner",
        metavar="NAME[,NAME…]",
        help="inside of grids: own algorithms, library (its own calls), or library.NAME (forced)",
    )
    group.add_argument(
        "--algorithms",
        metavar="NAME[,NAME…]",
        help="only these; 'default' is the library's decision; with parameters: k_ary:fan_out=4, linear:provider=own",
    )
    group.add_argument("--segment-sizes", metavar="GRID", help="0 = none (default 0,1KiB,8KiB,64KiB)")
    group.add_argument("--fan-outs", metavar="GRID", help="of trees and chains (default 4)")
    group.add_argument("--radixes", metavar="GRID", help="of k-nomial trees (default 4)")
    group.add_argument(
        "--max-requests", metavar="GRID", help="messages at once of own linear_sync (default all of interest)"
    )
    group.add_argument("--first-segments", metavar="GRID", help="bytes, of the own synchronised gather")
    group.add_argument(
        "--group",
        dest="groups",
        action="append",
        metavar="LOW-HIGH=NAME[,NAME…]",
        help="message sizes that only these algorithms are measured at; may be given again",
    )


def _how_much_options(group: argparse._ArgumentGroup) -> None:
    """What is recorded and checked beside, how often, and how much of the grid."""
    group.add_argument("--no-graphs", action="store_true", default=None, help="do not record who sent what to whom")
    group.add_argument(
        "--unchecked",
        action="store_true",
        default=None,
        help="do not call the methods in every way first, as after 'colltune check-methods'",
    )
    group.add_argument("--launches", type=cli_values.count, metavar="N", help="measure all so often, ranks anew (1)")
    group.add_argument(
        "--launch-per-method",
        action="store_true",
        default=None,
        help="force each method by the environment of ranks of its own, as where the library cannot switch",
    )
    group.add_argument("--seed", type=cli_values.count, metavar="N", help="of the order of methods (default 1)")
    for option, metavar in zip(OPTIONS, (None, "TIME", "PCT"), strict=True):
        add_option(group, option, metavar)
    group.add_argument(
        "--weights", metavar="FILE", help="of --adaptive: count sizes by collective, comm_size, message_size, calls"
    )


def protocol_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how it is measured."""
    group = parser.add_argument_group("how it is measured")
    group.add_argument(
        "--protocol", metavar="NAME", help="skampi: common start (default); occ: loop with barrier, less the barrier"
    )
    group.add_argument("--repetitions", metavar="MIN-MAX", help="of each point (default 9-60)")
    group.add_argument(
        "--relative-error", type=float, metavar="SHARE", help="repeat until the standard error is so small (0.05)"
    )
    group.add_argument("--rounds", type=cli_values.count, metavar="N", help="turns of the methods (default 3)")
    group.add_argument("--iterations", type=cli_values.count, metavar="N", help="operations in a loop of occ (10)")
    group.add_argument("--point-seconds", type=float, metavar="S", help="longest time for one point (default 5)")
    group.add_argument("--buffers", metavar="HOW", help="reuse (default) or rotate beyond the caches")
    group.add_argument("--roots", metavar="HOW", help="first (default) or rotate")
    group.add_argument("--counts", metavar="HOW", help="blocks of allgatherv, alltoallv: equal (default) or skewed")


@cache
def planning() -> Mapping[str, None]:
    """Options that make a plan: all None when not given, so that a plan that is there is taken as it is."""
    parser = argparse.ArgumentParser(add_help=False)
    plan_options(parser)
    protocol_options(parser)
    return vars(parser.parse_args([]))


def plans(args: argparse.Namespace) -> bool:
    """Whether any option was given that makes a plan."""
    return any(getattr(args, name, None) is not None for name in planning())


def planned(
    args: argparse.Namespace, installation: Installation, ranks: int | None = None, *, spread: bool = False
) -> Plan:
    """Make the plan of the options.

    Parameters
    ----------
    ranks
        Where no option says how many; None: as many as this machine has cores.
    spread
        Whether they run on several nodes, where other parts of the library answer.
    """
    from dashboard.benchmarks.adaptive import Goal
    from dashboard.benchmarks.campaigns.control import Wish, make_plan
    from dashboard.benchmarks.campaigns.groups import parse_group
    from dashboard.benchmarks.campaigns.protocol import Protocol
    from dashboard.benchmarks.campaigns.ranges import parse_size, parse_sizes
    from dashboard.benchmarks.libraries.methods import Variants, components_of
    from dashboard.benchmarks.providers import orthogonal

    ranks = args.ranks or ranks or max(2, os.cpu_count() or 2)
    collectives, message_sizes = cli_values.names(args.collectives), parse_sizes(args.message_sizes or _DEFAULT_SIZES)
    asked = ((name, getattr(args, name)) for name in _VARIANTS)
    sizes: dict[str, Any] = {name: parse_sizes(text) for name, text in asked if text is not None}
    names = ("datatype", "operation", "seed", "launches")
    further = {name: value for name in names if (value := getattr(args, name)) is not None}
    if args.memory is not None:
        further["memory"] = parse_size(args.memory)
    providers = _providers(args)
    comm_sizes = parse_sizes(args.comm_sizes or f"2-{max(2, ranks)}:x2")
    components = components_of(args.components, spread=spread)
    grids = orthogonal.grids(args.grids or "2", comm_sizes) if orthogonal.NAME in providers else ()
    algorithms = cli_values.names([args.algorithms] if args.algorithms else None)
    goal = Goal.asked(**{option.name: getattr(args, option.name) for option in OPTIONS})
    if args.weights:
        goal = _weighed(goal, args.weights, collectives, comm_sizes, message_sizes)
    wish = Wish(
        ranks=ranks,
        collectives=collectives,
        comm_sizes=comm_sizes,
        message_sizes=message_sizes,
        providers=providers,
        algorithms=algorithms,
        ppns=parse_sizes(args.ppn) if args.ppn else (),
        variants=Variants(
            **sizes,
            components=components,
            grids=grids,
            inner=cli_values.names([args.inner] if args.inner else None),
            named=tuple(word for word in algorithms if ":" in word),
            launched=bool(args.launch_per_method),
        ),
        protocol=Protocol(**_protocol(args), race=bool(args.adaptive)),
        graphs=not args.no_graphs,
        apart=bool(args.launch_per_method),
        checked=not args.unchecked,
        goal=goal,
        groups=tuple(parse_group(text) for text in args.groups or ()),
        **further,
    )
    plan = make_plan(wish, installation)
    if plan.components:
        known = ", ".join(plan.components)
        say(f"note: parts of the library as methods: {known} (--components)")
    return plan


def _weighed(goal: Goal | None, file: str, collectives: Sequence[str], *sizes: Sequence[int]) -> Goal:
    from dashboard.benchmarks.errors import PlanError
    from dashboard.decisions.function.attributes import SIZES
    from dashboard.decisions.measured.workload import calls_on
    from loaders.workload import read_workload

    workload = read_workload(file)
    calls = calls_on(workload, collectives, *sizes)
    if goal is None or not calls:
        why = "goes with --adaptive" if goal is None else f"calls none of {', '.join(collectives)}"
        raise PlanError(f"--weights {file}: {why}")
    own = workload[workload["collective"].isin(list(collectives))]
    on_grid = [own[name].isin(list(axis)) for name, axis in zip(SIZES, sizes, strict=True)]
    exact = own["calls"][on_grid[0] & (on_grid[1] | (own["collective"] == "barrier"))].sum()
    counted = f"{exact:,.0f} at sizes of the plan, the others at the nearest"
    say(f"note: workload of {own['calls'].sum():,.0f} calls: {counted}")
    return replace(goal, calls=tuple((*place, number) for place, number in calls.items()))


def cost(estimate: Estimate) -> str:
    """What a campaign will cost, in words, with no more digits than an estimate deserves."""
    from dashboard.benchmarks.campaigns.pace import GUESSED, roughly

    why = f"by the {estimate.measured:,} points measured" if estimate.measured else GUESSED
    seconds, at_most, core_hours = map(roughly, (estimate.seconds, estimate.at_most, estimate.core_hours))
    return (
        f"about {format_duration(seconds)} ({why}), at most {format_duration(at_most)}; about {core_hours:g} core-hours"
    )


def left(now: Mapping[str, Any]) -> str:
    """How much longer a campaign takes, to be put behind its points; empty when that is not known."""
    from dashboard.benchmarks.campaigns.pace import roughly

    return "" if now["remaining"] is None else f", about {format_duration(roughly(now['remaining']))} left"


_VARIANTS = ("segment_sizes", "fan_outs", "radixes", "max_requests", "first_segments")


def _protocol(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the protocol that were given."""
    from dashboard.benchmarks.campaigns.ranges import parse_sizes

    names = {"protocol": "name", "point_seconds": "seconds"}
    given: dict[str, Any] = {}
    for option in ("protocol", "relative_error", "rounds", "iterations", "point_seconds", "buffers", "roots", "counts"):
        if (value := getattr(args, option)) is not None:
            given[names.get(option, option)] = value
    if args.repetitions is not None:
        ends = parse_sizes(args.repetitions)
        given |= {"min_repetitions": ends[0], "max_repetitions": ends[-1]}
    return given


def _providers(args: argparse.Namespace) -> tuple[str, ...]:
    """Providers by name; who asks for grids asks for those who offer them, beside the library."""
    from dashboard.benchmarks.libraries.methods import LIBRARY
    from dashboard.benchmarks.providers import NAMES, orthogonal

    grids = (orthogonal.NAME,) if args.grids or args.inner else ()
    named = cli_values.names(args.providers) or (LIBRARY,)
    return NAMES if "all" in named else tuple(dict.fromkeys((*named, *grids)))
