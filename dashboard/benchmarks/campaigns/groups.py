"""Methods by groups of message sizes: which algorithms are measured from where to where."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dashboard.benchmarks.campaigns.ranges import parse_size
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import Method


class Group(NamedTuple):
    """From `low` to `high` bytes, both included, these algorithms are measured and no others."""

    low: int
    high: int
    algorithms: tuple[str, ...]


def parse_group(text: str) -> Group:
    """Read ``LOW-HIGH=NAME,NAME``.

    Raises
    ------
    PlanError
        When it is none.
    """
    sizes, equals, names = text.partition("=")
    low, dash, high = sizes.partition("-")
    algorithms = tuple(filter(None, (name.strip() for name in names.split(","))))
    if not (equals and dash and algorithms):
        raise PlanError(f"group {text!r}: must be LOW-HIGH=NAME[,NAME…], such as 1-4KiB=linear,binomial")
    group = Group(parse_size(low), parse_size(high), algorithms)
    if group.low > group.high:
        raise PlanError(f"group {text!r}: {low} is more than {high}")
    return group


def only(
    groups: Sequence[Group],
    methods: Mapping[str, Sequence[Method]],
    comm_sizes: Sequence[int],
    message_sizes: Sequence[int],
) -> dict[str, tuple[tuple[int, int, tuple[int, ...]], ...]]:
    """What of the grid is measured, as `Plan.only`: sizes outside of all groups have all methods.

    Raises
    ------
    PlanError
        When a group names an algorithm that no collective has, or leaves a collective without any.
    """
    known = {method.algorithm for each in methods.values() for method in each}
    if lost := [name for group in groups for name in group.algorithms if name not in known]:
        raise PlanError(f"group: no collective asked for has an algorithm {lost[0]!r}; they have {', '.join(known)}")
    chosen = {}
    for collective, each in methods.items() if groups else ():
        if collective == "barrier":
            continue
        points = []
        for size in message_sizes:
            named = {name for group in groups if group.low <= size <= group.high for name in group.algorithms}
            places = tuple(place for place, method in enumerate(each) if not named or method.algorithm in named)
            if not places:
                raise PlanError(f"group: {collective} has none of {', '.join(sorted(named))}")
            points += [(comm_size, size, places) for comm_size in comm_sizes]
        chosen[collective] = tuple(points)
    return chosen
