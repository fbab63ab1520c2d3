"""Which predictor and how many leaves: judged by lines of the measurements that are left out in turn."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.decisions.surfaces.counted import counted
from dashboard.decisions.surfaces.grow import COARSE, Growing, Table
from dashboard.decisions.surfaces.lines import ALIKE
from dashboard.decisions.surfaces.surface import PREDICTORS, Predictor
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.units import format_count

FOLDS = 5
"""Every so-manieth line is left out, along either axis."""

FEWEST = 4
"""Lines without which none is left out: one inside, and three to interpolate between."""


LARGEST = 2**14
"""Sizes of a table beyond which one predictor is enough: so many lines leave little between."""

CLOSE = 0.03
"""How far above the best, as a share of it, anything may be that is taken instead."""


@dataclass(frozen=True, eq=False)
class Left:
    """A table without some lines inside its range, and these lines."""

    #: What is decided on.
    learn: Table
    #: What is judged at, filled in by `surfaces.counted.counted`; NaN where the others tell of no method, as in a
    #: corner of the grid beyond which nothing was measured.
    judge: Table
    #: Of `SIZES` the place of that which lines are left out of.
    axis: int = 0

    @property
    def _weights(self) -> FloatArray:
        calls = 1.0 if self.judge.calls is None else self.judge.calls
        return np.asarray(np.isfinite(self.judge.times[0]) * calls)

    @property
    def counts(self) -> bool:
        """Whether anything is judged: there may be no calls at these sizes."""
        return bool(self._weights.any())

    def penalty(self, chosen: IntArray) -> float:
        """Mean penalty of methods chosen at the left-out sizes, percent."""
        times, weights = self.judge.times, self._weights
        low = times.min(axis=0)
        took = np.take_along_axis(times, chosen[None], axis=0)[0]
        percent = np.where(np.isfinite(low), 100.0 * (took / low - 1.0), 0.0)
        return float((percent * weights).sum() / weights.sum())


@dataclass(frozen=True)
class Judged:
    """What one way costs at left-out lines."""

    #: For people.
    name: str
    #: Over the folds, percent.
    mean: float
    #: Standard error of that mean over the folds, points; None of a single one.
    error: float | None

    @property
    def figure(self) -> str:
        """As ``1.9 % ± 0.3``."""
        if self.error is None:
            return f"{self.mean:.2g} % at the only line left out"
        places = min(2, max(0, -math.floor(math.log10(self.error)))) if self.error > 0 else 2
        return f"{self.mean:.{places}f} % ± {self.error:.{places}f}"

    def words(self) -> str:
        """As ``by kind: 1.9 % ± 0.3``."""
        return f"{self.name}: {self.figure}"


def left_out(table: Table) -> list[Left]:
    """Leave out every `FOLDS`-th line inside the range, along either axis; none of few, or without calls."""
    folds = []
    full = replace(table, times=counted(table.times, table.comm_sizes, table.message_sizes, table.incumbent))
    lines = np.arange(table.comm_sizes.size), np.arange(table.message_sizes.size)
    for axis in (0, 1):
        if lines[axis].size < FEWEST:
            continue
        for first in range(min(FOLDS, lines[axis].size - 2)):
            out = lines[axis][1:-1][first::FOLDS]
            kept = np.setdiff1d(lines[axis], out)
            both = [(kept, out) if each == axis else (lines[each], lines[each]) for each in (0, 1)]
            learn, judge = (surface.part(both[0][n], both[1][n]) for n, surface in enumerate((table, full)))
            left = Left(learn, replace(judge, times=np.where(_predictable(learn, judge), judge.times, np.nan)), axis)
            folds += [left] if left.counts else []
    return folds


def _predictable(learn: Table, judge: Table) -> BoolArray:
    """At which left-out sizes the others tell of any method; of one that they all have, at all of them."""
    if np.isfinite(learn.times).all(axis=(1, 2)).any():
        return np.ones(judge.times.shape[1:], dtype=np.bool_)
    predicted = learn.surfaces().at(judge.comm_sizes, judge.message_sizes)
    return np.asarray(np.isfinite(predicted.log_time).any(axis=0))


def choose_predictor(folds: Sequence[Left], step: Callable[[], None] = lambda: None) -> tuple[Predictor, list[Judged]]:
    """Take the predictor whose fastest methods cost least at left-out lines, another than the first for a reason.

    Calls `step` before each predictor of each fold.
    """
    if not folds:
        return PREDICTORS[0], []
    tried = PREDICTORS if folds[0].learn.times[0].size <= LARGEST else PREDICTORS[:1]
    table = np.array([[_argmin(fold, predictor, step) for predictor in tried] for fold in folds])
    best = int(table.mean(axis=0).argmin())
    chosen = next(number for number in range(len(tried)) if _as_good(table[:, number], table[:, best]))
    return PREDICTORS[chosen], [
        Judged(predictor.name, float(table[:, n].mean()), _error(table[:, n])) for n, predictor in enumerate(tried)
    ]


def _argmin(fold: Left, predictor: Predictor, step: Callable[[], None]) -> float:
    step()
    logs = fold.learn.surfaces(predictor).at(fold.judge.comm_sizes, fold.judge.message_sizes)
    return fold.penalty(np.where(np.isfinite(logs.log_time), logs.log_time, np.inf).argmin(axis=0))


def _error(values: FloatArray) -> float | None:
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None


def _as_good(values: FloatArray, best: FloatArray) -> bool:
    """Whether the mean lies within one standard error of the best one's, of their differences fold by fold.

    And within `CLOSE`: where folds differ much, the error alone would let much worse ones pass. A single one has none.
    """
    error, close = _error(values - best), CLOSE * float(best.mean())
    return bool((values - best).mean() <= (close if error is None else min(error, close)) + 1e-12)


@dataclass(frozen=True)
class Size:
    """How large a tree, and what it may ask."""

    #: Of `surfaces.lines.KINDS`.
    kind: str
    #: Most leaves.
    leaves: int
    #: What that costs at left-out lines; None where none could be left out.
    judged: Judged | None


@dataclass(frozen=True, eq=False)
class Sizes:
    """What trees of each size cost."""

    #: At left-out lines: by leaves and kind, mean penalty of each fold in percent; empty where none could be left out.
    costs: dict[tuple[int, str], FloatArray]
    #: Over predicted times: by kind, percent of the best tree of at most 1, 2, … leaves.
    expected: dict[str, FloatArray]

    def best(self, most: int) -> Size:
        """Take the fewest leaves that cost no more than the best number up to `most`, within one standard error.

        A tree costs what it does at left-out lines, and over predicted times, in the mean of both: of few lines the one
        is right but scatters, the other scatters little and flatters large trees. Of equally many leaves a tree of the
        sizes alone is taken before one that asks more. Without folds it is `most`.
        """
        usable = {
            (leaves, kind): (values + self.expected[kind][leaves - 1]) / 2
            for (leaves, kind), values in self.costs.items()
            if leaves <= most
        }
        if not usable:
            return Size(ALIKE, most, None)
        best = min(usable.values(), key=lambda values: float(values.mean()))
        leaves, kind = next(
            key
            for key in sorted(usable, key=lambda key: (key[0], key[1] != ALIKE, float(usable[key].mean())))
            if _as_good(usable[key], best)
        )
        values, words = self.costs[leaves, kind], format_count(leaves, "leaf", "leaves")
        return Size(kind, leaves, Judged(f"tree of at most {words}", float(values.mean()), _error(values)))


def judge_sizes(
    folds: Sequence[Left],
    predictor: Predictor,
    methods: tuple[Method, ...],
    expected: dict[str, FloatArray],
    most: int,
    step: Callable[[], None],
) -> Sizes:
    """Grow trees of up to so many leaves, of the kinds of `expected`, without some lines, and judge them there.

    Calls `step` before each fold, and before each kind in it.
    """
    costs: dict[tuple[int, str], list[float]] = {}
    for fold in folds:
        for key, chosen in _tried(fold, predictor, methods, tuple(expected), most, step):
            costs.setdefault(key, []).append(fold.penalty(chosen))
    return Sizes({key: np.array(each) for key, each in costs.items() if len(each) == len(folds)}, expected)


def _tried(
    fold: Left,
    predictor: Predictor,
    methods: tuple[Method, ...],
    kinds: Sequence[str],
    most: int,
    step: Callable[[], None],
) -> Iterator[tuple[tuple[int, str], IntArray]]:
    learn, judge = fold.learn, fold.judge
    step()
    growing = Growing(learn, learn.surfaces(predictor))
    for kind in kinds:
        step()
        trees = growing.trees(kind, most, COARSE)
        if trees is None:
            continue
        chosen: dict[int, IntArray] = {}
        for _, root in trees.roots():
            decision = DecisionFunction("", methods, root)
            if decision.leaves <= most:
                chosen[decision.leaves] = decision.predict(judge.comm_sizes[:, None], judge.message_sizes[None, :])
        last = None
        for leaves in range(1, most + 1):
            last = chosen.get(leaves, last)
            if last is not None:
                yield (leaves, kind), last
