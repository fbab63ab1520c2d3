"""Surfaces: what each method takes at any size, from what it took at measured ones, and how sure that is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dashboard.decisions.surfaces.folding import folded, power_below
from dashboard.decisions.surfaces.lines import (
    ALIKE,
    KINDS,
    POWER_OF_TWO,
    between,
    between_own,
    kind_of,
    limited_to,
    openness,
    piece,
    scale,
    weighed,
)
from dashboard.decisions.surfaces.process import Process
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray

SURE = 0.9
"""Share of measured times that the bands are to hold."""

NEAR = 2
"""Message sizes on either side whose residuals tell how sure one is."""

LEAST = 0.01
"""Half of the narrowest band, as a share of the time: no measurement repeats itself better."""

WORTH = 0.9
"""Another way to tell curves apart must be off by so much less than the one before: a tenth may be chance."""

GAP = 0.5
"""How far a method is from its own sizes, of 1 halfway between two, where others were measured and it was not."""

OFF_KIND = 0.25
"""How much further times may be off, as a difference of logarithms, at sizes of a kind that nothing was measured of:
without it the bands of ten collectives of two machines, of powers of two alone, held 78 % of the times at other sizes;
with it 93 %."""

FOLDS = 3
"""Every so-manieth line is left out to see how wide bands must be."""

FEWEST = 20
"""Times without which that is not told,"""

UNTOLD = 1.5
"""and how much wider bands are then."""

WIDEST = 12.0
"""Bands are made no more than so many times wider or narrower by it."""

_SLACK = 1e-9


@dataclass(frozen=True)
class Predictor:
    """A way to predict times between measured ones."""

    #: For people.
    name: str
    #: Whether times are those of a Gaussian process through the measured ones instead of straight lines between.
    smooth: bool = False


PREDICTORS = (Predictor("by kind of communicator size"), Predictor("smooth curves", smooth=True))
"""Those that are tried, the first unless another one is better."""


@dataclass(frozen=True, eq=False)
class Predicted:
    """Times at wanted sizes."""

    #: ``(method, comm_size, message_size)``: natural logarithm of the seconds that are expected; NaN where nothing is
    #: known of a method.
    log_time: FloatArray
    _bands: Callable[[], FloatArray]

    @cached_property
    def half_width(self) -> FloatArray:
        """Likewise: half of the band that holds `SURE` of such times, as a difference of logarithms."""
        return self._bands()


class Surfaces:
    """Surfaces over the measured times of one table of sizes.

    Parameters
    ----------
    times
        Seconds, ``(method, comm_size, message_size)``, NaN where not measured.
    comm_sizes, message_sizes
        Ascending.
    folding
        Which methods fold (`surfaces.folding`), where communicator sizes of a kind that nothing was measured of are
        told apart; None: they are as all others, as for a campaign that will measure them.
    limited
        As of `surfaces.lines.limited_to`; None: worked out of the times.
    totals
        Whether times that nothing else tells are told by sizes of as many bytes in all, processes times message size.

    Attributes
    ----------
    kinds
        For each method what its curves over the communicator size are told apart by, of `KINDS` that which predicts
        left-out lines of its measurements best.

    Notes
    -----
    Times are interpolated log-log linearly, first along the message size, then along the communicator size. A method
    is known between the sizes it was measured at, and beyond those of all methods: where others were measured and it
    was not, beside or beyond its own, it cannot be told to run there at all. With `totals` sizes between which it is
    known may be of as many bytes in all: of blocks for each process larger communicators are measured at smaller ones.
    """

    def __init__(
        self,
        times: FloatArray,
        comm_sizes: IntArray,
        message_sizes: IntArray,
        predictor: Predictor = PREDICTORS[0],
        folding: BoolArray | None = None,
        limited: IntArray | None = None,
        *,
        totals: bool = False,
    ) -> None:
        self.comm_sizes, self.message_sizes = np.asarray(comm_sizes), np.asarray(message_sizes)
        with np.errstate(invalid="ignore"):
            self._logs = np.log(times)
        self._measured = np.isfinite(self._logs)
        self._predictor, self._totals = predictor, totals
        self._limited = limited_to(self._measured, self.comm_sizes) if limited is None else limited
        self.kinds = [ALIKE] * len(times)
        self._groups = list(self._by_rows())
        self._row_error = np.full(self._logs.shape, np.nan)
        self._values, self._known = between_own(self._logs, self.comm_sizes, self.message_sizes)
        for rows, methods in self._groups:
            self._choose(rows, methods)
        self._smooth = [self._process(*group) if predictor.smooth else None for group in self._groups]
        self._own_kinds = np.unique(kind_of(self.comm_sizes[self._measured.any(axis=(0, 2))], POWER_OF_TWO))
        self._apart, powers = folding is not None, self._own_kinds.tolist() == [1]
        self._folding = np.flatnonzero(folding) if folding is not None and powers else np.empty(0, dtype=np.int64)
        for method in self._folding:
            self.kinds[method] = POWER_OF_TWO

    def _by_rows(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Methods measured at the same communicator sizes: rows and methods."""
        there = self._measured.any(axis=2)
        patterns, which = np.unique(there, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            if pattern.any():
                yield np.flatnonzero(pattern), np.flatnonzero(which.ravel() == number)

    def _choose(self, rows: IntArray, methods: IntArray) -> None:
        """Choose what curves are told apart by."""
        sizes = self.comm_sizes[rows]
        values = self._values[np.ix_(methods, rows)]
        least = np.full(methods.size, np.inf)
        chosen = np.zeros_like(values)
        for kind in KINDS:
            if kind != ALIKE and np.unique(kind_of(sizes, kind)).size == 1:
                continue
            guess = weighed(between(sizes, sizes, kind, leave_out=True), values, 1)
            error = np.abs(guess - values)
            inner = error[:, 1:-1] if sizes.size > 2 else error
            better = inner.mean(axis=(1, 2)) < least * WORTH - _SLACK
            least[better] = inner.mean(axis=(1, 2))[better]
            chosen[better] = guess[better]
            for method in methods[better]:
                self.kinds[method] = kind
        if sizes.size > 1:
            self._row_error[np.ix_(methods, rows)] = np.abs(chosen - values)

    def _process(self, rows: IntArray, methods: IntArray) -> Process:
        return Process(self._values[np.ix_(methods, rows)], self.comm_sizes[rows], self.message_sizes)

    @cached_property
    def _column_error(self) -> FloatArray:
        """How far each measured time is from what its method's other message sizes say."""
        sizes = self.message_sizes
        if sizes.size < 2:
            return np.full(self._logs.shape, np.nan)
        guess = weighed(between(sizes, sizes, leave_out=True), self._values, 2)
        error = np.where(self._measured, np.abs(guess - self._logs), np.nan)
        if sizes.size > 2:
            error[..., [0, -1]] = np.nan
        return error

    @cached_property
    def _smoothed(self) -> FloatArray:
        """How far each measured time is from the smooth curves."""
        off = np.zeros(self._logs.shape)
        for (rows, methods), smooth in zip(self._groups, self._smooth, strict=True):
            if smooth is not None:
                places = np.ix_(methods, rows)
                expected = smooth.at(self.comm_sizes[rows], self.message_sizes)
                off[places] = np.where(self._measured[places], np.abs(expected - self._values[places]), 0.0)
        return off

    @property
    def scatter(self) -> float:
        """How far times are from what the message sizes beside them say, as the middle difference of logarithms."""
        error = self._column_error
        known = error[np.isfinite(error)]
        return float(np.median(known)) if known.size else 0.0

    def at(
        self, comm_sizes: IntArray, message_sizes: IntArray, factors: tuple[float, float] | None = None
    ) -> Predicted:
        """Predict times.

        Parameters
        ----------
        comm_sizes, message_sizes
            Ascending whole numbers; beyond the measured ones the last slope goes on, of message sizes one of 0 to 1.
        factors
            As `factors`, of surfaces over nearly the same times; None: worked out.
        """
        comm_sizes, message_sizes = np.asarray(comm_sizes), np.asarray(message_sizes)
        shape = (len(self._logs), comm_sizes.size, message_sizes.size)
        logs = np.full(shape, np.nan)
        across = between(self.message_sizes, message_sizes)
        beyond = scale(message_sizes) - scale(self.message_sizes)[-1]
        for rows, own, expected, last in self._parts(comm_sizes, message_sizes, across):
            # Where the bytes decide, twice as many take twice as long; no message takes less than a shorter one.
            logs[own] = np.where(beyond > 0, np.clip(expected, last, last + beyond), expected)
            logs[own] = np.where(self._reached(rows, own, comm_sizes, across), logs[own], np.nan)
        if self._totals and self.message_sizes.size > 1:
            self._along_totals(logs, comm_sizes, message_sizes)
        self._fold(logs, comm_sizes, message_sizes)
        return Predicted(logs, lambda: self._half_width(comm_sizes, message_sizes, factors or self.factors))

    def _along_totals(self, logs: FloatArray, comm_sizes: IntArray, message_sizes: IntArray) -> None:
        """Put in what sizes of as many bytes in all tell of methods of which nothing else does."""
        known, asked = scale(self.comm_sizes), scale(comm_sizes)
        for rows, methods in self._groups:
            unknown = np.isnan(logs[methods]) & self._runs(rows, methods, comm_sizes)[:, :, None]
            if not unknown.any():
                continue
            which, place, column = np.nonzero(unknown)
            ends = []
            for beside, order in ((1, rows), (-1, rows[::-1])):
                at, times = np.full((2, which.size), np.nan)
                for row in order:
                    near = np.flatnonzero((beside * (asked - known[row]) > 0)[place])
                    sizes = scale(message_sizes)[column[near]] + asked[place[near]] - known[row]
                    here = self._within_row(methods[which[near]], row, sizes)
                    near, here = near[np.isfinite(here)], here[np.isfinite(here)]
                    at[near], times[near] = known[row], here
                ends.append((at, times))
            (low, start), (high, end) = ends
            logs[methods[which], place, column] = start + (asked[place] - low) / (high - low) * (end - start)

    def _within_row(self, methods: IntArray, row: int, asked: FloatArray) -> FloatArray:
        """Times between a row's own sizes, each of a method at the logarithm of a message size; NaN where unknown."""
        upper, share = piece(scale(self.message_sizes), asked)
        values, unknown = self._values[:, row], ~self._known[:, row]
        lost = np.abs(1 - share) * unknown[methods, upper - 1] + np.abs(share) * unknown[methods, upper]
        times = (1 - share) * values[methods, upper - 1] + share * values[methods, upper]
        return np.where((lost < _SLACK) & (np.abs(share - 0.5) < 0.5 + _SLACK), times, np.nan)

    def _fold(self, logs: FloatArray, comm_sizes: IntArray, message_sizes: IntArray) -> None:
        """Put in what methods that fold take off powers of two, where nothing but these was measured."""
        off = np.flatnonzero(kind_of(comm_sizes, POWER_OF_TWO) == 0)
        if self._folding.size and off.size:
            below = power_below(comm_sizes[off])
            powers = np.union1d(below, [2])
            at_powers = self.at(powers, message_sizes).log_time[self._folding]
            places = np.ix_(self._folding, off)
            logs[places] = folded(logs[places], at_powers[:, np.searchsorted(powers, below)], at_powers[:, [0]])

    def _parts(
        self, comm_sizes: IntArray, message_sizes: IntArray, across: FloatArray
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray, FloatArray]]:
        """Rows and methods with what is expected of these at wanted sizes, and at the longest measured messages."""
        for (rows, methods), smooth in zip(self._groups, self._smooth, strict=True):
            if smooth is not None:
                both = smooth.at(comm_sizes, np.append(message_sizes, self.message_sizes[-1]))
                yield rows, methods, both[..., :-1], both[..., -1:]
                continue
            sizes = self.comm_sizes[rows]
            for kind in {self.kinds[method] for method in methods}:
                own = np.array([method for method in methods if self.kinds[method] == kind])
                lines = weighed(between(sizes, comm_sizes, kind), self._values[np.ix_(own, rows)], 1)
                yield rows, own, weighed(across, lines, 2), lines[..., -1:]

    def _reached(self, rows: IntArray, methods: IntArray, wanted: IntArray, across: FloatArray) -> BoolArray:
        """Where a method is known: ``(method, comm_size, message_size)``."""
        unknown = np.where(self._known[np.ix_(methods, rows)], 0.0, 1.0)
        lost = weighed(np.abs(across), weighed(np.abs(between(self.comm_sizes[rows], wanted)), unknown, 1), 2)
        return np.asarray((lost < _SLACK) & self._runs(rows, methods, wanted)[:, :, None])

    def _runs(self, rows: IntArray, methods: IntArray, wanted: IntArray) -> BoolArray:
        """At which communicator sizes a method may run at all: ``(method, comm_size)``."""
        sizes, every = self.comm_sizes[rows], self.comm_sizes
        runs = np.ones((methods.size, wanted.size), dtype=np.bool_)
        for kind, limits in zip(KINDS[1:], self._limited[:, methods], strict=True):
            runs &= (limits[:, None] < 0) | (kind_of(wanted, kind) == limits[:, None])
        if sizes[0] > every[0]:
            runs &= wanted >= sizes[0]
        if sizes[-1] < every[-1]:
            runs &= wanted <= sizes[-1]
        return runs

    @cached_property
    def factors(self) -> tuple[float, float]:
        """What bands are wider by, along the communicator size and along the message size, so that they hold `SURE`.

        The fewer independent times tell it (`effective_number`), the wider, as of split conformal prediction.
        """
        return self.factors_of(effective_number)

    def factors_of(self, independent: Callable[[Sequence[BoolArray]], float]) -> tuple[float, float]:
        """Likewise, with another count of the independent answers of lines, whether times are beyond their bands.

        Every `FOLDS`-th line inside is left out in turn, as if it had not been measured, and predicted by the others:
        what its times are off by, in half widths, tells how much too narrow or wide these are.
        """
        return self._factor(0, independent), self._factor(1, independent)

    def _factor(self, axis: int, independent: Callable[[Sequence[BoolArray]], float]) -> float:
        sizes = [self.comm_sizes, self.message_sizes]
        lines = sizes[axis]
        off: list[FloatArray] = []
        for first in range(min(FOLDS, lines.size - 2) if lines.size > FOLDS else 0):
            out = np.arange(1, lines.size - 1)[first::FOLDS]
            kept = np.setdiff1d(np.arange(lines.size), out)
            learn = [lines[kept] if each == axis else sizes[each] for each in (0, 1)]
            judge = [lines[out] if each == axis else sizes[each] for each in (0, 1)]
            others = Surfaces(np.exp(np.take(self._logs, kept, axis + 1)), learn[0], learn[1], self._predictor)
            error = np.abs(np.take(self._logs, out, axis + 1) - others.at(judge[0], judge[1]).log_time)
            ratio = np.moveaxis(error / others._half_width(judge[0], judge[1], (1.0, 1.0)), axis + 1, 0)
            off.extend(line[np.isfinite(line)] for line in ratio)
        ratios = np.concatenate([np.empty(0), *off])
        if ratios.size < FEWEST:
            return UNTOLD
        number = independent([line > np.quantile(ratios, SURE) for line in off])
        share = min(1.0, SURE * (number + 1) / number)
        return float(np.clip(np.quantile(ratios, share), 1 / WIDEST, WIDEST))

    def _half_width(self, comm_sizes: IntArray, message_sizes: IntArray, factors: tuple[float, float]) -> FloatArray:
        """Half of the bands: residuals of left-out lines, by how far the next measured ones are.

        A method that was not measured where others were is there at least `GAP` away from its own sizes.
        """
        near = np.abs(np.arange(self.message_sizes.size)[:, None] - np.arange(self.message_sizes.size)) <= NEAR
        rows, columns = (
            np.abs(scale(wanted)[:, None] - scale(known)).argmin(axis=1)
            for wanted, known in ((comm_sizes, self.comm_sizes), (message_sizes, self.message_sizes))
        )
        gaps = ~self._measured[:, rows][:, :, columns]
        far = openness(self.comm_sizes, comm_sizes)[:, None], openness(self.message_sizes, message_sizes)[None, :]
        squares = np.full((len(self._logs), comm_sizes.size, message_sizes.size), LEAST**2)
        for errors, distance, factor in zip((self._row_error, self._column_error), far, factors, strict=True):
            widths = np.zeros((len(errors), self.message_sizes.size))
            for column, around in enumerate(near):
                part = errors[:, :, around].reshape(len(errors), -1)
                known = np.isfinite(part)
                filled = np.where(known, part, -np.inf)
                order = np.sort(filled, axis=1)
                place = part.shape[1] - 1 - np.floor((1 - SURE) * known.sum(axis=1)).astype(int)
                width = np.take_along_axis(order, np.maximum(place, 0)[:, None], axis=1)[:, 0]
                widths[:, column] = np.where(np.isfinite(width), width, 0.0)
            away = np.where(gaps, max(factors) * np.maximum(distance, GAP), factor * distance)
            squares = squares + (widths[:, None, columns] * away) ** 2
        squares = squares + OFF_KIND**2 * self.is_off_kind(comm_sizes)[:, None]
        squares = squares + self._smoothed[:, rows][:, :, columns] ** 2
        return np.asarray(np.sqrt(squares))

    def is_off_kind(self, comm_sizes: IntArray) -> BoolArray:
        """Which sizes are powers of two where none was measured, or none where nothing else was."""
        return np.asarray(~np.isin(kind_of(comm_sizes, POWER_OF_TWO), self._own_kinds) & self._apart)


def effective_number(lines: Sequence[BoolArray]) -> float:
    """Count the independent answers that tell a share as surely as those of several lines, which go together in each.

    Parameters
    ----------
    lines
        The answers of each line; some may be empty.

    Returns
    -------
    float
        1 of a single line; else, by the design effect (L. Kish: Survey Sampling, 1965), up to the number of answers, as
        where lines differ in their shares no more than by chance.
    """
    sums, counts = np.array([(line.sum(), line.size) for line in lines if line.size]).T
    number, share = counts.sum(), sums.sum() / counts.sum()
    variance = ((sums - share * counts) ** 2).sum() / number**2
    if counts.size == 1 or not variance:
        return 1.0 if counts.size == 1 else float(number)
    return float(np.clip(share * (1 - share) / variance, 1, number))
