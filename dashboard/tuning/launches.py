"""How much the difference of two methods changes from launch to launch, beyond what repetitions within one show."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.campaigns.campaign import points_of, samples_of
from dashboard.decisions.judged.improvement import Launches
from loaders import disk

_FEWEST = 2


def between_launches(results: Iterable[Path], default: str, tuned: str) -> dict[str, Launches]:
    """What one method's launches differ by, as it explains how the difference of both changes.

    Both are measured in turns within each launch, so what a launch does to both alike drops out. Of each cell the
    variance of the differences over the launches is taken, of all cells of a collective its median, which is about half
    as well known as their mean would be.

    Parameters
    ----------
    results
        Run files of a campaign of several launches; of others nothing is known.
    default, tuned
        Algorithms.

    Returns
    -------
    dict
        By collective.
    """
    from scipy.special import chdtri  # noqa: PLC0415 - takes a while to import

    medians = _medians(results)
    spreads: dict[str, Launches] = {}
    for collective in {cell[0] for cell, _ in medians}:
        variances, launches = [], 1
        for cell in {cell for cell, _ in medians if cell[0] == collective}:
            both = [medians.get((cell, name), {}) for name in (default, tuned)]
            gaps = [np.log(both[0][number] / both[1][number]) for number in both[0] if number in both[1]]
            if len(gaps) >= _FEWEST:
                launches = max(launches, len(gaps))
                # The median of variances is that of a chi-squared variable, by its degrees of freedom.
                freedom = len(gaps) - 1
                variances.append(float(np.var(gaps, ddof=1)) * freedom / chdtri(freedom, 0.5))
        if variances:
            deviation = 100 * float(np.sqrt(np.median(variances) / (2 * launches)))
            spreads[collective] = Launches(deviation, max(1.0, len(variances) / 2) * (launches - 1), launches)
    return spreads


def _medians(results: Iterable[Path]) -> dict[tuple[tuple[Any, ...], str], dict[int, float]]:
    """Median seconds by cell and algorithm, then launch."""
    medians: dict[tuple[tuple[Any, ...], str], dict[int, float]] = {}
    files = (path for path in results if path.is_file())
    for (collective, method, *sizes, launch), record in points_of(chain.from_iterable(map(disk.read_lines, files))):
        if samples := samples_of(record):
            place = (collective, *sizes), method.algorithm
            medians.setdefault(place, {})[launch] = float(np.median(samples))
    return medians
