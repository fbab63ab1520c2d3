"""Rabenseifner's halving of a vector, which keeps rank order, and the two ways back (Figure 4.8).

Ranks beyond a power of two share the work with their neighbours: each of a pair combines one half, then the even one
goes on.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from dashboard.schedules.call import Call, View
from dashboard.schedules.parts import Fold, fold, power_below, unfolded
from dashboard.schedules.rank import Rank

RESULT, BACK = 1, 2


class Halved(NamedTuple):
    """What a rank has after the halving: its fold, and the ranges (start, end) that it held, the last one now."""

    fold: Fold
    ranges: tuple[tuple[int, int], ...]


def needs(call: Call, _: Mapping[str, Any]) -> int:
    """Elements below which parts would be empty."""
    return power_below(call.processes)


def halve(rank: Rank, result: View) -> Halved:
    """Exchange halves at doubling distances and combine the own one, in `result`."""
    own = fold(rank.rank, rank.size, stays=0)
    received = rank.scratch(result.length)
    if own.mate >= 0:
        _share(rank, own, result, received)
    ranges = [(0, result.length)]
    distance = 1
    while own.number >= 0 and distance < own.group:
        low, high = ranges[-1]
        middle = (low + high) // 2
        upper = bool(own.number & distance)
        mine, other = ((middle, high), (low, middle)) if upper else ((low, middle), (middle, high))
        mate = unfolded(own.number ^ distance, rank.size, stays=0)
        coming = received.part(mine[0], mine[1] - mine[0])
        rank.exchange(_range(result, other), mate, coming, mate)
        rank.merge(coming, _range(result, mine), lower=upper)
        ranges.append(mine)
        distance *= 2
    return Halved(own, tuple(ranges))


def _share(rank: Rank, own: Fold, result: View, received: View) -> None:
    """Combine a half each with the neighbour; the even one then has both."""
    middle = result.length // 2
    lower, upper = (0, middle), (middle, result.length)
    mine, other = (lower, upper) if own.number >= 0 else (upper, lower)
    rank.exchange(_range(result, other), own.mate, _range(received, mine), own.mate)
    rank.merge(_range(received, mine), _range(result, mine), lower=own.number < 0)
    if own.number >= 0:
        rank.take(_range(result, upper), own.mate, RESULT)
    else:
        rank.put(_range(result, upper), own.mate, RESULT)


def gather_halves(rank: Rank, result: View, halved: Halved) -> None:
    """Gather the parts at the root, those of the last exchange first."""
    own, ranges = halved
    target = fold(rank.root, rank.size, stays=0)
    # A root that was folded away gets the result of its neighbour.
    new_root = target.number if target.number >= 0 else rank.root // 2
    held = len(ranges) - 1
    while own.number >= 0 and held:
        distance = 1 << held - 1
        mate = unfolded(own.number ^ distance, rank.size, stays=0)
        above, mine = ranges[held - 1], ranges[held]
        if (own.number ^ new_root) & distance:
            rank.put(_range(result, mine), mate, BACK)
            break
        rank.take(_range(result, _rest(above, mine)), mate, BACK)
        held -= 1
    if target.number < 0 and rank.rank == target.mate:
        rank.put(result, rank.root, RESULT)
    elif target.number < 0 and rank.rank == rank.root:
        rank.take(result, target.mate, RESULT)


def spread_halves(rank: Rank, result: View, halved: Halved) -> None:
    """Exchange the parts back, so that all have the whole vector."""
    own, ranges = halved
    for held in range(len(ranges) - 1, 0, -1):
        mate = unfolded(own.number ^ (1 << held - 1), rank.size, stays=0)
        mine, other = ranges[held], _rest(ranges[held - 1], ranges[held])
        rank.exchange(_range(result, mine), mate, _range(result, other), mate, BACK)
    if own.mate >= 0 and own.number >= 0:
        rank.put(result, own.mate, RESULT)
    elif own.mate >= 0:
        rank.take(result, own.mate, RESULT)


def _range(view: View, ends: tuple[int, int]) -> View:
    return view.part(ends[0], ends[1] - ends[0])


def _rest(above: tuple[int, int], mine: tuple[int, int]) -> tuple[int, int]:
    """What of a range the partner has; one of both is empty when they begin alike."""
    return (mine[1], above[1]) if mine[0] == above[0] and mine != above else (above[0], mine[0])
