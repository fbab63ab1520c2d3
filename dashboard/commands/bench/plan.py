"""The plan that is made of the options of ``colltune bench``, and what it costs."""

import argparse
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.pace import GUESSED, Estimate, about, most, roughly
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import PointKey
from dashboard.benchmarks.campaigns.reach import reach_of, why_beyond
from dashboard.benchmarks.campaigns.wish import make_plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.commands.output import say
from dashboard.domain.campaign import OPTIONS
from dashboard.measuring.asked import Asked


def given(args: argparse.Namespace) -> dict[str, Any]:
    """What was given of the options that make a plan."""
    values = {option.name: getattr(args, option.name, None) for option in OPTIONS}
    return {name: value for name, value in values.items() if value is not None}


def plans(args: argparse.Namespace) -> bool:
    """Whether any option was given that makes a plan."""
    return bool(given(args) or args.weights)


def planned(args: argparse.Namespace, installation: Installation, *, spread: bool = False, **otherwise: Any) -> Plan:
    """Make the plan of the options.

    Parameters
    ----------
    spread
        Whether the ranks run on several nodes, where other parts of the library answer.
    otherwise
        Values of options where none is given.
    """
    wish = Asked.of(**{**otherwise, **given(args)}).wish(spread=spread)
    if weights := getattr(args, "weights", None):
        wish = replace(wish, goal=_weighed(wish.goal, weights, wish.collectives, wish.comm_sizes, wish.message_sizes))
    plan = make_plan(wish, installation)
    if not plan.cells():
        raise PlanError(f"nothing would be measured: {'; '.join(plan.left_out()) or 'the grid is empty'}")
    if plan.components:
        known = ", ".join(plan.components)
        say(f"note: parts of the library as methods: {known} (--components)")
    return plan


def with_another_end(args: argparse.Namespace) -> Plan | None:
    """The adaptive plan of the folder, where ``--budget`` and ``--until`` are all that is given; None otherwise."""
    campaign = Campaign(Path(args.folder))
    ends_alone = bool(given(args)) and given(args).keys() <= {"budget", "until"} and not args.weights
    plan = campaign.plan() if ends_alone and campaign.plan_file.exists() else None
    if plan is None or plan.goal is None:
        return None
    asked = Goal.asked(adaptive=True, budget=args.budget, until=args.until) or plan.goal
    seconds, percent = asked.seconds or plan.goal.seconds, asked.percent or plan.goal.percent
    return replace(plan, goal=replace(plan.goal, seconds=seconds, percent=percent))


def _weighed(goal: Goal | None, file: str, collectives: Sequence[str], *sizes: Sequence[int]) -> Goal:
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


def beyond(
    plan: Plan, launcher: Launcher, done: Collection[PointKey], campaign: Campaign | None = None
) -> frozenset[PointKey]:
    """Points that are not `done` and that a launcher cannot have measured, after a line that says why there are any."""
    reach = reach_of(plan, launcher, campaign)
    points = reach.beyond(plan).difference(done)
    if points:
        say(f"note: {why_beyond(points, reach)}; they are left out")
    return points


def cost(estimate: Estimate, limit: float | None = None, *, checked: bool = False) -> str:
    """What a campaign will cost, in words, with no more digits than an estimate deserves.

    Parameters
    ----------
    limit, checked
        As for `dashboard.benchmarks.campaigns.pace.most`.
    """
    why = f"by the {estimate.measured:,} points measured" if estimate.measured else GUESSED
    at_most = f"at most {most(estimate.at_most, limit, checked=checked)}"
    return f"{about(estimate.seconds)} ({why}), {at_most}; about {roughly(estimate.core_hours):g} core-hours"
