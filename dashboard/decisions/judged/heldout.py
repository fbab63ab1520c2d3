"""Held-out truth: what a way of deciding costs where it was not allowed to look.

The penalty over the measurements that a decision was made from flatters it: the dissertation says so of its own figures
(chapter 6: "evaluated against the data that was used to generate the decision functions"). Here some sizes, or half of
the repetitions, are kept away, and the decision made from the rest is judged at what was kept away.
"""

import math
import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.judged.folds import Fold, folds_of, penalties_of_labels
from dashboard.decisions.judged.gain import Gain, gain_over
from dashboard.decisions.judged.penalty import PenaltySummary, summarise_all
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.units import format_count

Key = TypeVar("Key", bound=Hashable)

Grow = Callable[[Problem], DecisionFunction]
"""Makes a decision; `Family.grow` with its options bound, for one."""

_FIGURES = ("mean", "median", "p95", "max", "unmeasured", "cells")

LARGER = 2.0
"""Where the trees of the folds, in their middle, have more than so many times the leaves of the one that is judged,
what they cost says nothing of a tree of its size."""


class FoldResult(NamedTuple):
    """One fold: what was left out, the figures there, and the size of what was grown without it."""

    name: str
    axis: str
    left_out: tuple[int, ...]
    figures: PenaltySummary
    leaves: int


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a way of deciding costs at what it did not see.

    Attributes
    ----------
    scheme
        What was left out.
    figures
        Over all that was left out.
    within
        Of these the cells between sizes that were decided on: the others are beyond the range, where the
        border rule decides.
    in_sample
        The decision made from all measurements, judged by these same.
    floor
        What even a perfect map of the part that was decided on costs at the other, because both are
        noisy; None where sizes are left out, since such a map says nothing there.
    gain
        Over the library's own decision, at all that was left out; None where that is not among the methods.
    spread
        Standard deviation of the mean over the folds, in percent points; NaN for one fold.
    folds
        Each by itself.
    maps
        For each slice over ``comm_size`` and ``message_size``: ``penalty`` in percent (mean where judged more
        than once, NaN where not) and ``judged``, how often.
    unjudged
        Measured cells that no fold could judge.
    leaves
        Of the decision made from all measurements.
    notes
        What else should be known, for people.
    """

    scheme: str
    figures: PenaltySummary
    within: PenaltySummary
    in_sample: PenaltySummary
    floor: PenaltySummary | None
    gain: Gain | None
    spread: float
    folds: tuple[FoldResult, ...]
    maps: tuple[xr.Dataset, ...]
    unjudged: int
    leaves: int
    notes: tuple[str, ...]

    @property
    def mean(self) -> float:
        """Mean held-out penalty in percent."""
        return self.figures.mean

    @property
    def fold_leaves(self) -> float:
        """Leaves of the trees of the folds, in their middle."""
        return statistics.median(fold.leaves for fold in self.folds)

    def to_dict(self) -> dict[str, Any]:
        """All but the maps, as JSON takes it."""
        return {
            "scheme": self.scheme,
            **self.figures.to_dict(*_FIGURES),
            "within": self.within.to_dict(*_FIGURES),
            "in_sample": self.in_sample.to_dict(*_FIGURES),
            "floor": None if self.floor is None else self.floor.to_dict(*_FIGURES),
            "against_default": None if self.gain is None else self.gain.to_dict(),
            "spread": self.spread if math.isfinite(self.spread) else None,
            "folds": [
                {"left_out": f.name, "axis": f.axis, "leaves": f.leaves, **f.figures.to_dict(*_FIGURES)}
                for f in self.folds
            ],
            "unjudged": self.unjudged,
            "notes": list(self.notes),
        }


def heldout(
    problem: Problem,
    grow: Grow,
    scheme: str = "lines",
    folds: int = 5,
    *,
    grown: DecisionFunction | None = None,
    progress: Progress | None = None,
) -> HeldOut:
    """Judge a way of deciding by measurements it did not see.

    Parameters
    ----------
    problem
        The measurements. Labels changed by `Problem.relabelled` stay, except where repetitions are left
        out; `grow` had better change them itself, so that it does not see what is left out.
    grow
        Makes the decision from a part of the problem.
    scheme, folds
        As for `dashboard.decisions.judged.folds.folds_of`.
    grown
        What `grow` makes of the whole problem, if it is there already.
    progress
        Told before each fold; may raise to stop.

    Raises
    ------
    OptionError
        When the scheme or the number of folds is not allowed.
    DecisionError
        When nothing can be left out.
    """
    many = heldout_many(
        problem,
        lambda part: {0: grow(part)},
        scheme,
        folds,
        grown=None if grown is None else {0: grown},
        progress=progress,
    )
    held = many[0]
    if not of_larger(held.fold_leaves, held.leaves):
        return held
    sizes = f"{format_count(held.leaves, 'leaf', 'leaves')}, those of its folds {held.fold_leaves:,g} in their middle"
    note = f"the tree has {sizes}: what these cost says nothing of a tree of its size"
    return replace(held, notes=(*held.notes, note))


def of_larger(folds: npt.ArrayLike, leaves: npt.ArrayLike) -> BoolArray:
    """Tell which held-out penalties are of trees more than `LARGER` times as large as those that are judged.

    Parameters
    ----------
    folds
        Leaves of the trees of the folds, in their middle; NaN where nothing was held out.
    leaves
        Of the trees that are judged, of the same shape.
    """
    return np.asarray(np.asarray(folds) > LARGER * np.asarray(leaves))


def heldout_many(
    problem: Problem,
    grow_many: Callable[[Problem], Mapping[Key, DecisionFunction]],
    scheme: str = "lines",
    folds: int = 5,
    *,
    grown: Mapping[Key, DecisionFunction] | None = None,
    progress: Progress | None = None,
) -> dict[Key, HeldOut]:
    """Judge many settings at once, as `heldout`: one call of `grow_many` for each fold.

    Parameters
    ----------
    grow_many
        Makes one decision for each setting. A setting that it does not make of every fold (such as a
        number of leaves that a smaller part does not need) is judged by those it is made of; a note says so.
    grown
        What `grow_many` makes of the whole problem, if it is there already.
    problem, scheme, folds, progress
        As for `heldout`.
    """
    plan, notes = folds_of(problem, scheme, folds)
    steps = len(plan) + (grown is None)
    tallies: dict[Key, _Tally] = {}
    floor = _Tally(problem)
    for number, make in enumerate(plan):
        fold = make()
        if progress is not None:
            progress(number / steps, f"fold {number + 1} of {len(plan)}: {fold.name}")
        for key, decision in grow_many(fold.learn).items():
            tallies.setdefault(key, _Tally(problem)).add(fold, fold.judge.penalties(decision), decision.leaves)
        if fold.axis not in SIZES:
            floor.add(fold, penalties_of_labels(fold.learn, fold.judge), 0)
    if grown is None:
        if progress is not None:
            progress(len(plan) / steps, "all measurements")
        grown = grow_many(problem)
    least = floor.figures() if floor.folds else None
    return {
        key: tally.result(scheme, grown[key], least, len(plan), notes) for key, tally in tallies.items() if key in grown
    }


class _Tally:
    """What one setting costs in the folds so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.folds: list[FoldResult] = []
        self.tables: list[xr.Dataset] = []
        self.inner: list[xr.Dataset] = []
        self.default: list[FloatArray] = []
        self.sums = [np.zeros(part.labels.shape) for part in problem.slices]
        self.counts = [np.zeros(part.labels.shape, dtype=np.int64) for part in problem.slices]

    def add(self, fold: Fold, penalties: Sequence[xr.Dataset], leaves: int) -> None:
        """Take in what the tree of a fold costs on the sizes that it has not seen."""
        tables = [_bare(table) for table in penalties]
        self.tables += tables
        self.default += fold.default or []
        self.inner += [_only_inside(table, inside) for table, inside in zip(tables, fold.inside(), strict=True)]
        for (number, rows, columns), table in zip(fold.places, tables, strict=True):
            values = np.asarray(table["penalty"].values)
            there = np.ix_(rows, columns)
            self.sums[number][there] += np.nan_to_num(values)
            self.counts[number][there] += ~np.isnan(values)
        self.folds.append(FoldResult(fold.name, fold.axis, fold.left_out, summarise_all(tables), leaves))

    def figures(self) -> PenaltySummary:
        return summarise_all(self.tables)

    def result(
        self, scheme: str, grown: DecisionFunction, floor: PenaltySummary | None, asked: int, notes: Sequence[str]
    ) -> HeldOut:
        """What the folds so far say."""
        means = np.array([fold.figures.mean for fold in self.folds if fold.figures.cells])
        remarks = [*notes]
        if len(self.folds) < asked:
            remarks.append(f"made of {len(self.folds)} of {asked} folds only")
        maps = tuple(self._map(number) for number in range(len(self.sums)))
        unjudged = sum(
            int(((part.labels >= 0) & (count == 0)).sum())
            for part, count in zip(self.problem.slices, self.counts, strict=True)
        )
        return HeldOut(
            scheme,
            self.figures(),
            summarise_all(self.inner),
            summarise_all(self.problem.penalties(grown)),
            floor,
            gain_over(self.default, self.tables) if self.default else None,
            float(means.std(ddof=1)) if means.size > 1 else math.nan,
            tuple(self.folds),
            maps,
            unjudged,
            grown.leaves,
            tuple(remarks),
        )

    def _map(self, number: int) -> xr.Dataset:
        part, count = self.problem.slices[number], self.counts[number]
        mean = np.where(count > 0, self.sums[number] / np.maximum(count, 1), np.nan)
        coords = {name: part.cube[name] for name in SIZES}
        table = xr.Dataset({"penalty": (SIZES, mean), "judged": (SIZES, count)}, coords, {**part.given})
        table["penalty"].attrs["units"] = "%"
        return table


def _bare(table: xr.Dataset) -> xr.Dataset:
    """What the figures need of a table of penalties: much less than there is."""
    names = ("penalty", "weight", "chosen_time", "unmeasured")
    kept = {name: (SIZES, table[name].values) for name in names if name in table}
    return xr.Dataset(kept, attrs={"unmeasured": int(table["unmeasured"].sum())})


def _only_inside(table: xr.Dataset, inside: BoolArray) -> xr.Dataset:
    if inside.all():
        return table
    values = np.where(inside, table["penalty"].values, np.nan)
    missed = int((table["unmeasured"].values & inside).sum())
    return table.assign(penalty=(SIZES, values)).assign_attrs(unmeasured=missed)
