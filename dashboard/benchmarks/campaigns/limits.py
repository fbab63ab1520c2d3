"""Time limits of a campaign's jobs, and what is left of their time."""

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType

from dashboard.benchmarks.adaptive.goal import Goal
from dashboard.benchmarks.campaigns.campaign import Campaign, Done
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import PointKey
from dashboard.benchmarks.launchers import launcher_of
from dashboard.benchmarks.launchers.launch import cores_of
from dashboard.benchmarks.safety.check import order_of_plan

_SHORTEST_LIMIT, _LIMIT_FACTOR = 120.0, 5.0
#: Instead, of a cluster of which nothing is known: over a slow network its guess is a tenth of what it takes.
_GUESS_FACTOR = 15.0
#: Seconds in which a busy machine has called a method in every way at a communicator size.
_CHECK_S = 2.0


def limit_of(
    plan: Plan,
    done: set[PointKey],
    cores: int | None,
    took: Mapping[PointKey, float] = MappingProxyType({}),
    again: float = 0.0,
) -> float:
    """Time limit in seconds that is taken when none is given: several times the estimate, at least two minutes.

    An adaptive campaign ends by itself when its time is up, which it has whatever is guessed of its points, and a
    quarter of it to measure again what cannot be trusted. What the safety check may take comes on top. The arguments
    are those of `Plan.estimate`, and seconds of points that are measured again since nothing is missing.
    """
    estimate = plan.estimate(done, cores, took)
    factor = _LIMIT_FACTOR if estimate.measured or cores else _GUESS_FACTOR
    measuring = max(_SHORTEST_LIMIT, factor * estimate.seconds, _LIMIT_FACTOR * again)
    if plan.goal is not None and plan.goal.seconds is not None:
        measuring = _SHORTEST_LIMIT + 1.25 * plan.goal.seconds + _LIMIT_FACTOR * again
    return math.ceil(measuring + check_of(plan, done))


def limit_again(campaign: Campaign, cores: int | None, again: float = 0.0) -> float:
    """Time limit in seconds of a resume for which none is given: what was asked for before, else as `limit_of`.

    On this machine, where none waits for it to be granted, it is no shorter than that.

    Parameters
    ----------
    cores
        Of this machine if it runs here, else None.
    again
        As in `limit_of`.
    """
    done, asked = campaign.done(), campaign.state().get("asked")
    if asked and cores is None:
        return float(asked)
    return max(asked or 0.0, limit_of(campaign.plan(), done.all, cores, done.seconds, again))


def check_of(plan: Plan, done: Collection[PointKey] = ()) -> float:
    """Seconds that calling every method in every way may take, which comes before the first point; 0 without it."""
    order = None if done else order_of_plan(plan)
    return 0.0 if order is None else _CHECK_S * len(order.steps)


def left_of(campaign: Campaign, plan: Plan, done: Done) -> float | None:
    """Seconds that the missing points of a campaign will take, by those that it has; of an adaptive one, of its time.

    None when nothing is missing, or when no point says how long it took, as those of earlier versions.
    """
    if plan.goal is not None:
        return left_of_goal(campaign, plan.goal)
    estimate = plan.estimate(done.all, cores_of(launcher_of(campaign)), done.seconds)
    return round(estimate.seconds, 1) if estimate.points and estimate.measured else None


def left_of_goal(campaign: Campaign, goal: Goal) -> float | None:
    """Seconds of measuring that an adaptive campaign still has: of an array as many jobs at once have theirs.

    None where no time is said, before anything was chosen, and once it is up.
    """
    if goal.seconds is None or not campaign.choices():
        return None
    spent = [
        math.inf if job.settled(goal) else job.choices().get("spent", 0.0) for job in campaign.parts() or [campaign]
    ]
    left = [max(0.0, goal.seconds - each) for each in spent]
    return round(max(*left, sum(left) / (launcher_of(campaign).array or 1)), 1) or None
