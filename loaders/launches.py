"""Launches of one campaign that stand out: all their times are longer, or shorter, than those of the others."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np

#: A launch stands out when its typical time is off by more than this share, and by more than so many deviations.
_SHARE, _DEVIATIONS = 0.05, 3.0
_FEWEST = 3


class Launch(NamedTuple):
    """One launch against the others.

    Attributes
    ----------
    number
        From 1.
    ratio
        Its times divided by the medians over all launches, the median over all points.
    points
        That it shares with the others.
    outlier
        Whether it stands out; never among fewer than three.
    """

    number: int
    ratio: float
    points: int
    outlier: bool


def compare(medians: Mapping[Hashable, Mapping[int, float]]) -> list[Launch]:
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
