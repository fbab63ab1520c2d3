"""The simplest map within a tolerance: among methods as good as the best, those that give fewer rules.

The decision map takes the fastest method of each cell, if only by a hundredth; so its regions are frayed where methods
are equally good, and trees spend leaves on it (dissertation, section 5.1: another than the fastest method gives a "less
accurate, but possibly less complicated and more stable method selection"). Here each cell may take any of the methods
tied with its best. Of all these maps one is sought with few changes between neighbouring measured cells: Potts' energy
(R. B. Potts, Mathematical Proceedings of the Cambridge Philosophical Society 48, 1952). Whole lines of the grid are
minimised at a time, exactly, by dynamic programming, rows and columns in turn until nothing falls any more. That is
done from several starting maps, since its end is only a local minimum; of equally many changes the smaller sum of
penalties counts.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.measured.fill import fill_missing
from dashboard.decisions.measured.map import DIMS, time_blocks
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.slice import Slice
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.errors import DecisionError, OptionError

_ROUNDS = 50
_SHARES = (0.125, 0.25, 0.5, 1.0)


def simplest(
    problem: Problem, tolerance: float = 0.0, *, ties: xr.DataArray | Sequence[xr.DataArray] | None = None
) -> Problem:
    """Label cells with methods as good as the best so that the map has few changes.

    Parameters
    ----------
    problem
        What is to be decided; penalties stay relative to the fastest method.
    tolerance
        In percent: a method may be so much slower than the fastest of the cell.
    ties
        Further methods that count as good as the best, bool over ``method, comm_size, message_size``, such as ``tied``
        of `dashboard.decisions.measured.noise.indistinguishable`; one for each slice where there are several.

    Returns
    -------
    Problem
        With other labels. ``provenance["simplest"]`` holds the ``tolerance``, whether ``ties`` were given,
        the cells ``relabelled`` and the changes between neighbouring cells ``before``
        and ``after``, never more than before. With tolerance 0 and no ties nothing changes.

    Raises
    ------
    OptionError
        When the tolerance is negative.
    DecisionError
        When `ties` do not fit the problem.
    """
    if not tolerance >= 0 or not math.isfinite(tolerance):
        raise OptionError(f"tolerance is {tolerance}, expected 0 or more percent")
    if tolerance == 0 and ties is None:
        return problem
    labels = []
    before = after = changed = 0
    for part, tied in zip(problem.slices, _each_ties(problem, ties), strict=True):
        old = np.asarray(part.dmap["best"].transpose(*SIZES).values, dtype=np.int64)
        new = _smoothed(part, old, tolerance, tied)
        labels.append(new)
        before, after = before + changes(old), after + changes(new)
        changed += int((old != new).sum())
    facts = {"tolerance": float(tolerance), "ties": ties is not None}
    facts |= {"relabelled": changed, "before": before, "after": after}
    return replace(problem.relabelled(labels), provenance={**problem.provenance, "simplest": facts})


def tied_words(tolerance: float | None, *, tested: bool) -> str:
    """Which methods of a cell tie: those within so many percent of the best, or that a test cannot tell from it."""
    near = [f"within {tolerance:g} % of the best"] if tolerance or not tested else []
    return f"methods {' or '.join([*near, *(['that cannot be told from the best by the test'] if tested else [])])}"


def changes(labels: IntArray) -> int:
    """How often the label changes between one measured cell and the next, along rows and columns; -1 = not measured."""
    total = 0
    for grid in (labels, labels.T):
        places = np.where(grid >= 0, np.arange(grid.shape[1]), -1)
        last = np.maximum.accumulate(places, axis=1)[:, :-1]
        previous = np.take_along_axis(grid, np.maximum(last, 0), axis=1)
        total += int(((grid[:, 1:] >= 0) & (last >= 0) & (previous != grid[:, 1:])).sum())
    return total


def _each_ties(problem: Problem, ties: xr.DataArray | Sequence[xr.DataArray] | None) -> list[BoolArray | None]:
    if ties is None:
        return [None] * len(problem.slices)
    tables = [ties] if isinstance(ties, xr.DataArray) else list(ties)
    if len(tables) != len(problem.slices):
        raise DecisionError(f"ties are given for {len(tables)} tables, expected {len(problem.slices)}")
    tied: list[BoolArray | None] = []
    for part, table in zip(problem.slices, tables, strict=True):
        shape = tuple(part.cube.sizes[name] for name in DIMS)
        if set(table.dims) != set(DIMS) or table.transpose(*DIMS).shape != shape or table.dtype != np.bool_:
            expected = ", ".join(f"{size} {name}" for name, size in zip(DIMS, shape, strict=True))
            raise DecisionError(f"ties are {table.dtype} over {dict(table.sizes)}, expected bool over {expected}")
        tied.append(np.asarray(table.transpose(*DIMS).values))
    return tied


def _smoothed(part: Slice, old: IntArray, tolerance: float, ties: BoolArray | None) -> IntArray:
    """Labels of one slice with few changes; indices into its cube's methods."""
    measured = old >= 0
    allowed, loss = _choices(part, old, tolerance, ties)
    used = np.flatnonzero(allowed.any(axis=(1, 2)))
    if used.size < 2:
        return old
    allowed, loss = allowed[used], loss[used]
    own = np.searchsorted(used, fill_missing(old))
    labellings = [own]
    # The results of stricter tolerances are good places to start from.
    widest = float(loss[allowed].max())
    for share in _SHARES:
        open_to = (allowed & (loss <= share * widest)) | ~measured
        np.put_along_axis(open_to, own[None], True, axis=0)  # noqa: FBT003 - a value, not an option
        # All penalties together weigh less than one change.
        unary = np.where(open_to, loss / (widest * (measured.sum() + 1)) if widest > 0 else 0.0, np.inf)
        starts = [labellings[-1], own, _fewest(open_to, measured)]
        turned = unary.transpose(0, 2, 1)
        ends = [end for start in starts for end in (_settled(start, unary), _settled(start.T, turned).T)]
        labellings += sorted(ends, key=lambda labelling: -_energy(labelling, unary))
    kept = [np.where(measured, used[labelling], -1) for labelling in labellings]
    costs = [
        np.where(measured, np.take_along_axis(loss, labelling[None], axis=0)[0], 0.0).sum() for labelling in labellings
    ]
    return min(zip(kept, costs, strict=True), key=lambda labelling: (changes(labelling[0]), labelling[1]))[0]


def _choices(part: Slice, old: IntArray, tolerance: float, ties: BoolArray | None) -> tuple[BoolArray, FloatArray]:
    """Which methods a cell may take, and the penalty of each in percent (0 where it may not)."""
    shape = tuple(part.cube.sizes[name] for name in DIMS)
    allowed, loss = np.zeros(shape, dtype=np.bool_), np.zeros(shape)
    times = np.asarray(part.dmap["best_time"].transpose(*SIZES).values)
    for rows, time in time_blocks(competing(part.cube)):
        with np.errstate(invalid="ignore"):
            slower = 100 * (time / times[rows] - 1)
            inside = time <= times[rows] * (1 + tolerance / 100)
            if ties is not None:
                inside |= ties[:, rows] & ~np.isnan(time)
        # The label that is there already may always stay.
        inside |= (np.arange(shape[0])[:, None, None] == old[rows]) & ~np.isnan(time)
        allowed[:, rows] = inside
        loss[:, rows] = np.where(inside, slower, 0.0)
    return allowed, loss


def _fewest(allowed: BoolArray, measured: BoolArray) -> IntArray:
    """A map of few methods: each in turn the one that most of the cells left may take."""
    left = measured.copy()
    labels = np.zeros(measured.shape, dtype=np.int64)
    while left.any():
        take = int((allowed & left).sum(axis=(1, 2)).argmax())
        labels[left & allowed[take]] = take
        left &= ~allowed[take]
    return labels


def _settled(labels: IntArray, unary: FloatArray) -> IntArray:
    """Minimise whole rows, then whole columns, until the energy falls no more."""
    energy = _energy(labels, unary)
    for _ in range(_ROUNDS):
        labels = _lines(labels, unary)
        labels = _lines(labels.T, unary.transpose(0, 2, 1)).T
        lower = _energy(labels, unary)
        if not lower < energy:
            break
        energy = lower
    return labels


def _energy(labels: IntArray, unary: FloatArray) -> float:
    own = np.take_along_axis(unary, labels[None], axis=0).sum()
    return float((labels[1:] != labels[:-1]).sum() + (labels[:, 1:] != labels[:, :-1]).sum() + own)


def _lines(labels: IntArray, unary: FloatArray) -> IntArray:
    """Give every other row the best labels for the rows between, then those for the others."""
    labels = labels.copy()
    kinds = np.arange(unary.shape[0])[:, None, None]
    for first in (0, 1):
        if first >= labels.shape[0]:
            break
        rows = np.arange(first, labels.shape[0], 2)
        cost = unary[:, rows].copy()
        for step in (-1, 1):
            there = (rows + step >= 0) & (rows + step < labels.shape[0])
            cost[:, there] += kinds != labels[rows[there] + step]
        labels[rows] = _along(cost)
    return labels


def _along(cost: FloatArray) -> IntArray:
    """Labels of least cost plus one for each change, exactly; cost ``(label, line, place)`` (Viterbi)."""
    steps = cost.shape[2]
    total = cost[..., 0]
    from_other = np.zeros(cost.shape, dtype=np.bool_)
    cheapest = np.zeros(cost.shape[1:], dtype=np.int64)
    for step in range(1, steps):
        cheapest[:, step] = total.argmin(axis=0)
        other = total.min(axis=0) + 1
        from_other[..., step] = other < total
        total = np.minimum(total, other) + cost[..., step]
    labels = np.empty(cost.shape[1:], dtype=np.int64)
    labels[:, -1] = total.argmin(axis=0)
    lines = np.arange(cost.shape[1])
    for step in range(steps - 1, 0, -1):
        here = labels[:, step]
        labels[:, step - 1] = np.where(from_other[here, lines, step], cheapest[:, step], here)
    return labels
