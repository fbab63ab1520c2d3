"""The best communicator bands that a given number of rules can say, by dynamic programming over measurements.

Over the communicator sizes it is decided where bands begin, within a band over the sizes that rules are compared
with where each rule begins and which method it takes, so that the sum of the performance penalties over all
measured cells is the least there is. It is orthogonal-structures' selection by intervals, in two levels.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import products
from dashboard.decisions.measured.map import DIMS
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.export.bands import Band, Bands, merged
from dashboard.export.library_names import Compared
from dashboard.export.target import ExportError
from dashboard.export.targets.c.text import INT_MAX


@dataclass(frozen=True, eq=False)
class BandSearch:
    """The best bands for every number of rules up to a limit."""

    compared: Compared
    #: ``costs[k - 1]`` is the mean penalty in percent of the best bands of at most k rules, over measured cells. A
    #: method that was not measured in a cell counts there as the slowest that was.
    costs: FloatArray
    _comm: IntArray
    _message: IntArray
    _penalty: FloatArray
    _allowed: IntArray
    _splits: IntArray
    _shares: IntArray

    def bands(self, rules: int | None = None) -> Bands:
        """Give the best bands of at most so many rules; with as few as cost the same."""
        limit = self.costs.size if rules is None else min(rules, self.costs.size)
        if limit < 1:
            raise ExportError(f"number of rules is {limit}, expected 1 or more")
        rest = int(np.argmax(self.costs <= self.costs[limit - 1] * (1 + 1e-12) + 1e-12))
        bands: list[Band] = []
        end = self._comm.size
        while end:
            first, share = int(self._splits[end, rest]), int(self._shares[end, rest])
            start = 1 if not first else int(self._comm[first - 1]) + 1
            if start <= INT_MAX:
                bands.append(Band(start, self._rules(first, end, share + 1)))
            end, rest = first, rest - share - 1
        return merged(Bands(self.compared, tuple(bands[::-1])))

    def _rules(self, first: int, end: int, most: int) -> tuple[tuple[int, int], ...]:
        """Rules of the band of the rows from `first` to before `end`."""
        sizes, costs = _columns(self._penalty, self._comm, self._message, self.compared, first, end)
        _, turned, before = _segments(costs, most, keep=True)
        last, count = costs.shape[1] - 1, most - 1
        method = int(before[last + 1][count])
        rules: list[tuple[int, int]] = []
        for place in range(last, -1, -1):
            if place and turned[place, count, method]:
                rules.append((int(sizes[place - 1]) + 1, int(self._allowed[method])))
                count -= 1
                method = int(before[place][count])
        rules.append((0, int(self._allowed[method])))
        return tuple(rules[::-1])


def best_bands(
    cube: xr.Dataset,
    compared: Compared,
    most_rules: int,
    *,
    allowed: Sequence[int] | None = None,
    weights: Any = None,
    beyond: int | None = None,
) -> BandSearch:
    """Search the best bands for measurements.

    Parameters
    ----------
    cube
        Measurements of one collective, without ``ppn``.
    compared
        What sizes of rules are compared with.
    most_rules
        All numbers of rules from 1 to this one are solved together.
    allowed
        Methods of the cube that rules may take, by index; default: all.
    weights
        Workload, ``(comm_size, message_size)``.
    beyond
        Method that the rules must take beyond the measured sizes, one of those allowed; the number after the cube's
        last is one that was not measured. Default: as at the nearest size.

    Raises
    ------
    ExportError
        When no rule or no method is allowed, or nothing is measured.
    """
    if most_rules < 1:
        raise ExportError(f"number of rules is {most_rules}, expected 1 or more")
    chosen = np.arange(cube.sizes["method"]) if allowed is None else np.asarray(list(allowed), dtype=np.int64)
    if not chosen.size:
        raise ExportError("none of the measured methods can be said in these rules")
    comm, message = (np.asarray(cube[name].values, dtype=np.int64) for name in DIMS[1:])
    table, weight = _penalties(cube, weights)
    penalty = table[chosen]
    if beyond is not None:
        penalty, comm, message = _with_beyond(penalty, comm, message, compared, chosen.tolist().index(beyond))
    rows, most = comm.size, min(most_rules, max(1, int(comm.size * message.size)))
    inner = np.full((rows, rows + 1, most), np.inf)
    for first in range(rows):
        for end in range(first + 1, rows + 1):
            costs = _columns(penalty, comm, message, compared, first, end)[1]
            inner[first, end] = _segments(costs, most)[0]
    totals, splits, shares = _partition(inner)
    return BandSearch(compared, totals[rows] / weight, comm, message, penalty, chosen, splits, shares)


def _penalties(cube: xr.Dataset, weights: Any) -> tuple[FloatArray, float]:
    """Weighted penalty of each method in each cell in percent, and the sum of the weights of measured cells.

    A method counts where it was not measured as the slowest that was; the last row is that of what the library decides
    by itself, where nobody measured that: as the middle of the methods.
    """
    times = np.asarray(cube["time"].transpose(*DIMS).values, dtype=np.float64)
    measured = np.isfinite(times)
    there = measured.any(axis=0)
    if not there.any():
        raise ExportError("nothing is measured: every time is missing")
    best = np.where(measured, times, np.inf).min(axis=0)
    slowest = np.where(measured, times, 0.0).max(axis=0)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        filled = np.concatenate([np.where(measured, times, slowest), np.nanmedian(times, axis=0)[None]])
        penalty = 100 * (filled / best - 1)
    weight = np.where(there, 1.0 if weights is None else np.asarray(weights, dtype=np.float64), 0.0)
    return np.where(there, penalty, 0.0) * weight, float(weight.sum()) or 1.0


def _with_beyond(
    penalty: FloatArray, comm: IntArray, message: IntArray, compared: Compared, own: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Sizes next to the measured ones as well, at which all methods but one are out of the question."""
    # No rule is asked for a process by itself, and none for no bytes is another than that for one.
    below, under = int(comm[0] > 2), int(message[0] > 1)
    columns = (0, 0) if compared == "nothing" else (under, 1)
    wider = np.pad(penalty, ((0, 0), (below, 1), columns), constant_values=np.inf)
    wider[own][np.isinf(wider[own])] = 0.0
    comm = np.concatenate([comm[:below] - 1, comm, comm[-1:] + 1])
    if compared != "nothing":
        message = np.concatenate([message[:under] - 1, message, message[-1:] + 1])
    return wider, comm, message


def _columns(
    penalty: FloatArray, comm: IntArray, message: IntArray, compared: Compared, first: int, end: int
) -> tuple[IntArray, FloatArray]:
    """Sizes that rules of a band can tell apart, ascending, and what each method costs at each of them."""
    part = penalty[:, first:end]
    if compared == "message":
        return message, part.sum(axis=1)
    if compared == "nothing":
        return np.zeros(1, dtype=np.int64), part.sum(axis=(1, 2))[:, None]
    totals = products(comm[first:end, None], message[None, :])
    sizes, place = np.unique(totals.ravel(), return_inverse=True)
    flat = part.reshape(part.shape[0], -1)
    costs: FloatArray = np.stack([np.bincount(place.ravel(), row, sizes.size) for row in flat]).astype(np.float64)
    # What is out of the question beyond the sizes of some processes is so where those of others reach further, too.
    out: BoolArray = np.isinf(part)
    costs[out[:, 0, -1, None] & (sizes >= totals[0, -1])] = np.inf
    costs[out[:, -1, 0, None] & (sizes <= totals[-1, 0])] = np.inf
    costs[np.any(np.all(out, axis=2), axis=1)] = np.inf
    return sizes, costs


def _segments(costs: FloatArray, most: int, *, keep: bool = False) -> tuple[FloatArray, BoolArray, list[IntArray]]:
    """Least cost of cutting a row of sizes into at most 1, 2, … `most` rules of one method each.

    Parameters
    ----------
    costs
        ``(method, size)``.
    keep
        Whether to give what the rules can be found from, too.

    Returns
    -------
    best
        ``(most,)``.
    turned
        ``(size, count, method)``: whether, with this method as the last of count + 1 rules, a rule begins here.
    before
        For each size the best last method before it, by count.
    """
    methods, length = costs.shape
    sums = np.zeros((most, methods))
    best = np.zeros(most)
    turned = np.zeros((length if keep else 0, most, methods), dtype=bool)
    before: list[IntArray] = [np.zeros(most, dtype=np.int64)]
    for place in range(length):
        if place:
            other = np.concatenate([[np.inf], best[:-1]])[:, None]
            turn = other < sums
            if keep:
                turned[place] = turn
            sums = np.where(turn, other, sums)
        sums = sums + costs[:, place]
        best = sums.min(axis=1)
        if keep:
            before.append(sums.argmin(axis=1))
    return best, turned, before


def _partition(inner: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Cut rows into bands: least cost for each end and number of rules, where its last band starts, its rules."""
    rows, _, most = inner.shape
    totals = np.full((rows + 1, most), np.inf)
    splits = np.zeros((rows + 1, most), dtype=np.int64)
    shares = np.zeros((rows + 1, most), dtype=np.int64)
    for end in range(1, rows + 1):
        for first in range(end):
            if not first:
                _take(totals[end], splits[end], shares[end], inner[0, end], 0, np.arange(most))
                continue
            for share in range(most - 1):
                cost = np.full(most, np.inf)
                cost[share + 1 :] = totals[first, : most - share - 1] + inner[first, end, share]
                _take(totals[end], splits[end], shares[end], cost, first, np.full(most, share))
    return totals, splits, shares


def _take(total: FloatArray, split: IntArray, share: IntArray, cost: FloatArray, first: int, rules: IntArray) -> None:
    better = cost < total - 1e-12
    total[better], split[better], share[better] = cost[better], first, rules[better]
