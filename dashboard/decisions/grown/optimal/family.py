"""Optimal trees as a family."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.family import Family, Progress, part_of
from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.decide import optimal, optimal_depth, optimal_frontier, optimal_price
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.options import Option

PATH = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 21, 25, 32, 40, 48, 64)

LEAVES = Option(
    "leaves",
    "most leaves",
    "Most leaves of the tree. Alternatives are a depth, or a price for each leaf.",
    default=8,
    kind="int",
    low=1,
    unlimited="no limit",
    log=True,
    group="size",
)
MAX_DEPTH = Option(
    "max_depth",
    "maximum depth (levels)",
    "Most levels below the root, whatever number of leaves; instead of leaves.",
    default=None,
    kind="int",
    low=0,
    unlimited="no limit",
    group="size",
)
PRICE = Option(
    "price",
    "price per leaf (points)",
    "Percent points of mean penalty that a leaf must save to be worth it; instead of leaves.",
    default=None,
    kind="float",
    low=0,
    unlimited="none",
    log=True,
    group="size",
)


def grow(
    problem: Problem,
    *,
    progress: Progress | None = None,
    **options: float | None,
) -> DecisionFunction:
    """Find the best tree by leaves, by depth or by price; `OptionError` when more than one is given."""
    name, value = _mode(options)
    if name == "max_depth":
        return optimal_depth(problem, value, progress)
    if name == "price":
        return optimal_price(problem, value, progress)
    return optimal(problem, leaves=value, progress=progress)


def grow_many(
    problem: Problem, settings: Sequence[dict[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Find the best trees of several settings: those by leaves from one search."""
    wanted = [_mode(options) for options in settings]
    counts = [value for name, value in wanted if name == "leaves"]
    steps = len(wanted) - len(counts) + bool(counts)
    parts = (part_of(progress, number, steps) for number in range(steps))
    frontier = optimal_frontier(problem, max(counts), next(parts)) if counts else None
    decisions = []
    for name, value in wanted:
        if name == "leaves" and frontier is not None:
            decisions.append(frontier.decision(value))
        else:
            decisions.append(grow(problem, **{name: value}, progress=next(parts)))
    return decisions


def _mode(options: Mapping[str, float | None]) -> tuple[str, Any]:
    """The one option that is given, and its value."""
    return next((name, value) for name, value in FAMILY.checked(options).items() if value is not None)


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    costs = Costs.of(problem.single("optimal"))
    for leaves in PATH:
        if leaves <= costs.cells[0].size:
            yield {"leaves": leaves}


FAMILY = Family(
    name="optimal",
    title="Optimal tree",
    source="Dynamic programming over rectangles; Lagrangian bounds after Everett, Operations Research 11, 1963",
    options=(LEAVES, MAX_DEPTH, PRICE),
    grow=grow,
    path=_path,
    grow_many=grow_many,
)
