"""Launches of one campaign: which stand out, and what a method's differ by beyond what all methods share."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

#: A launch stands out when its typical time is off by more than this share, and by more than so many deviations.
_SHARE, _DEVIATIONS = 0.05, 3.0
_FEWEST = 3


class Launch(NamedTuple):
    """One launch against the others."""

    #: From 1.
    number: int
    #: Its times divided by the medians over all launches, the median over all points.
    ratio: float
    #: That it shares with the others.
    points: int
    #: Whether it stands out; never among fewer than three.
    outlier: bool


def compare(medians: Mapping[Any, Mapping[int, float]]) -> list[Launch]:
    """Compare the launches of a campaign.

    Parameters
    ----------
    medians
        For each point the median time of its repetitions, seconds, by the number of the launch.

    Returns
    -------
    list of Launch
        In their order. A launch is an outlier when its ratio deviates from the launches' median ratio by more than 5 %
        and by more than three times the median absolute deviation (times 1.4826) of the launches.
    """
    numbers = sorted({number for each in medians.values() for number in each})
    logs: dict[int, list[float]] = {number: [] for number in numbers}
    for each in medians.values():
        if len(each) < 2:
            continue
        middle = float(np.median(list(each.values())))
        for number, time in each.items():
            logs[number].append(float(np.log(time / middle)))
    typical = {number: float(np.median(values)) for number, values in logs.items() if values}
    if not typical:
        return []
    middle = float(np.median(list(typical.values())))
    off = {number: abs(value - middle) for number, value in typical.items()}
    usual = 1.4826 * float(np.median(list(off.values())))
    limit = max(float(np.log1p(_SHARE)), _DEVIATIONS * usual)
    several = len(typical) >= _FEWEST
    return [
        Launch(number, float(np.exp(value)), len(logs[number]), several and off[number] > limit)
        for number, value in typical.items()
    ]


def spreads(medians: Mapping[tuple[Any, Hashable], Mapping[int, float]]) -> list[dict[str, Any]]:
    """How much a method differs from launch to launch, by collective.

    All methods are measured in turns within each launch, so what a launch does to all alike drops out. Of each cell the
    variance of what is left is taken, of all cells of a collective its median, which is about half as well known as
    their mean would be.

    Parameters
    ----------
    medians
        As of `compare`; points are ``(cell, method)``, and the first of a cell is its collective.

    Returns
    -------
    list of dict
        ``collective``, ``deviation`` (relative standard deviation of a method's mean over all launches), ``freedom``
        (degrees of freedom by which it is known) and ``launches``; none where no two launches share two methods.
    """
    cells: dict[Any, list[Mapping[int, float]]] = {}
    for (cell, _), each in medians.items():
        cells.setdefault(cell, []).append(each)
    variances: dict[str, list[tuple[float, int, int]]] = {}
    for cell, methods in cells.items():
        shared = sorted(set.intersection(*(set(each) for each in methods)))
        if freedom := (len(methods) - 1) * (len(shared) - 1) if shared else 0:
            logs = np.log([[each[number] for number in shared] for each in methods])
            own = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
            # The median of variances is that of a chi-squared variable (Wilson, Hilferty).
            middle = (1 - 2 / (9 * freedom)) ** 3
            variances.setdefault(cell[0], []).append((float((own**2).sum()) / freedom / middle, freedom, len(shared)))
    differ = []
    for collective, known in variances.items():
        variance, freedoms, launches = (np.array(column) for column in zip(*known, strict=True))
        number, sure = int(launches.max()), float(max(freedoms.max(), freedoms.sum() / 2))
        deviation = float(np.sqrt(np.median(variance) / number))
        differ.append({"collective": collective, "deviation": deviation, "freedom": sure, "launches": number})
    return differ
