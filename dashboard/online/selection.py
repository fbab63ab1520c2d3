"""What is looked up at each call: for every bin the best method, and the probabilities with which others are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.domain.arrays import BoolArray, Float32, FloatArray, Int32, IntArray
from dashboard.online.bins import Bins
from dashboard.online.errors import OnlineError
from dashboard.online.learn import SIZES, Regression, regressions
from dashboard.online.settings import Learning
from dashboard.online.table import AlgTable, doubles, need_of, usable
from dashboard.online.vectors import chosen, prefix, probabilities

#: AlgID of the library's own decision.
DEFAULT = 0
#: Methods of a collective that must be learnt before any of what was learnt is used (all, where there are fewer).
_LEARNT = 5


@dataclass(frozen=True)
class Blocked:
    """Methods that are never to be chosen: of a collective, at these sizes (both ends included, None = open)."""

    collective: str
    #: Label; an asterisk at its end stands for anything.
    method: str
    message_size: tuple[float | None, float | None] = (None, None)
    nodes: tuple[float | None, float | None] = (None, None)
    ppn: tuple[float | None, float | None] = (None, None)

    def __post_init__(self) -> None:
        ends = (*self.message_size, *self.nodes, *self.ppn)
        if not isinstance(self.method, str) or not all(each is None or isinstance(each, int | float) for each in ends):
            raise OnlineError(f"what is blocked is a method between sizes, found {self}")

    def names(self, label: str) -> bool:
        """Whether a method of this label is one of them."""
        return label == self.method or (self.method.endswith("*") and label.startswith(self.method[:-1]))

    @property
    def everywhere(self) -> bool:
        """Whether it takes them away at all sizes."""
        return {*self.message_size, *self.nodes, *self.ppn} == {None}

    def at(self, collective: str, label: str, points: FloatArray) -> BoolArray:
        """Of which points ``(point, axis)`` it takes the method away."""
        if collective != self.collective or not self.names(label):
            return np.zeros(len(points), dtype=np.bool_)
        inside = np.ones(len(points), dtype=np.bool_)
        for axis, (low, high) in enumerate((self.message_size, self.nodes, self.ppn)):
            inside &= (low is None) | (points[:, axis] >= (low or 0))
            inside &= (high is None) | (points[:, axis] <= (np.inf if high is None else high))
        return inside


@dataclass(frozen=True, eq=False)
class Choice:
    """What was learnt of one collective."""

    #: On which it is looked up.
    bins: Bins
    #: ``(bin, method)`` float32, prefix sums of the probabilities.
    sums: Float32
    #: ``(bin,)`` AlgID to take when nothing is to be tried any more; 0 = the library's own decision.
    best: Int32
    #: ``(method,)`` see `dashboard.online.table.NEEDS`.
    needs: Int32
    #: ``(bin, method)`` predicted seconds, NaN for what is not learnt; empty in what was read from a file.
    times: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def probability(self) -> FloatArray:
        """``(bin, method)``."""
        return np.diff(self.sums.astype(np.float64), axis=1, prepend=0.0)

    def tried(self, sizes: Calls, draw: Any, allowed: BoolArray | None = None) -> IntArray:
        """AlgID of each call where methods are tried: by the draw, among those that its call is fit for; 0 = none.

        Parameters
        ----------
        draw
            ``(call,)`` in [0, 1).
        allowed
            ``(call, method)``: further methods that cannot be chosen.
        """
        sums = self.sums[self._place(sizes)].astype(np.float64)
        draw = np.asarray(draw, dtype=np.float64)
        first = chosen(sums, draw)
        rows = np.arange(len(first))
        able = self._able(sizes, allowed)
        refused = ~able[rows, first] & (first >= 0)
        if refused.any():
            # The draw lies anywhere in the share of the method that cannot be: there is its place among the others.
            low = np.where(first > 0, sums[rows, first - 1], 0.0)
            again = np.divide(draw - low, sums[rows, first] - low, out=np.zeros_like(draw), where=refused)
            cumulated = np.cumsum(np.where(able, np.diff(sums, axis=1, prepend=0.0), 0.0), axis=1)
            total = cumulated[:, -1]
            other = (cumulated > (again * total)[:, None]).argmax(axis=1)
            first = np.where(refused, np.where(total > 0, other, -1), first)
        return first + 1

    def tuned(self, sizes: Calls, allowed: BoolArray | None = None) -> IntArray:
        """AlgID of each call where the best is taken; where its call is not fit for that, the likeliest other one."""
        place = self._place(sizes)
        best = self.best[place].astype(np.int64)
        able = self._able(sizes, allowed)
        refused = (best != DEFAULT) & ~able[np.arange(len(best)), best - 1]
        if refused.any():
            share = np.where(able, np.diff(self.sums[place].astype(np.float64), axis=1, prepend=0.0), 0.0)
            other = np.where(share.max(axis=1) > 0, share.argmax(axis=1) + 1, DEFAULT)
            best = np.where(refused, other, best)
        return best

    def _place(self, sizes: Calls) -> IntArray:
        return self.bins.number(sizes.message_size, sizes.nodes, sizes.ppn)

    def _able(self, sizes: Calls, allowed: BoolArray | None) -> BoolArray:
        """``(call, method)``: whether the call is as the method needs it."""
        processes, size = np.asarray(sizes.comm_size)[:, None], np.asarray(sizes.message_size)[:, None]
        able = usable(self.needs[None, :], processes, size)
        return able if allowed is None else able & allowed


@dataclass(frozen=True)
class Calls:
    """Sizes of calls, arrays of one length: bytes by the project's convention, nodes, processes per node and in all."""

    message_size: Any
    nodes: Any
    ppn: Any
    comm_size: Any

    @classmethod
    def even(cls, message_size: Any, nodes: Any, ppn: Any) -> Calls:
        """On communicators that are spread evenly."""
        made = np.broadcast_arrays(*(np.asarray(each, dtype=np.int64) for each in (message_size, nodes, ppn)))
        return cls(made[0], made[1], made[2], made[1] * made[2])


@dataclass(frozen=True, eq=False)
class SelectionModel:
    """What was learnt of all collectives."""

    table: AlgTable
    #: By collective; those that are not there are still chosen evenly.
    choices: Mapping[str, Choice]
    #: What is kept beside it: iteration, timings, settings, library.
    provenance: Mapping[str, Any] = field(default_factory=dict)


def learn(
    cells: pd.DataFrame,
    table: AlgTable,
    settings: Learning,
    *,
    machine: tuple[int, int],
    blocked: Sequence[Blocked] = (),
    provenance: Mapping[str, Any] | None = None,
    memo: dict[Any, Any] | None = None,
    pause: Callable[[], None] = lambda: None,
) -> SelectionModel:
    """Learn from timings.

    Parameters
    ----------
    cells
        As `dashboard.online.learn.summarise` gives them.
    machine
        Nodes, and cores per node: what regular bins reach to.
    blocked
        Methods never to be chosen.
    memo
        Keeps what was worked out of the same timings: other probabilities or bins of them are then there at once.
    pause
        Called before each method is learnt; may raise to end it.
    """
    memo = {} if memo is None else memo
    key = (settings.learner, settings.rounds, settings.min_samples, settings.changed_by)
    if key not in memo:
        memo[key] = regressions(cells, settings, pause)
    fitted = memo[key]
    choices = {}
    for name, methods in table.methods.items():
        own = cells[cells["collective"] == name]
        learnt = {
            alg: each for (collective, alg), each in fitted.items() if collective == name and 0 < alg <= len(methods)
        }
        bins = (
            Bins.seen(own["message_size"], own["nodes"], own["ppn"])
            if settings.bins == "seen" and len(own)
            else Bins.regular(*machine)
        )
        allowed = allowed_in(bins, name, table, blocked)
        place = (*key, name, settings.bins)
        if place not in memo:
            memo[place] = _times(bins, learnt, len(methods))
        needs = np.array([need_of(name, m) for m in methods])
        choices[name] = _choice(bins, allowed, own, memo[place], settings, needs)
    return SelectionModel(table, choices, {**(provenance or {}), "settings": settings.to_dict()})


def allowed_in(bins: Bins, collective: str, table: AlgTable, blocked: Sequence[Blocked]) -> BoolArray:
    """``(bin, method)``: whether a method may be chosen, one of several that do the same, and not blocked."""
    methods, points = table.methods[collective], bins.grid()
    border = bins.borders[0]
    largest = np.append(np.ceil(border[1:]) - 1, np.inf)
    by_size = np.stack([~doubles(methods, each) for each in largest])
    allowed = np.repeat(by_size, bins.count // len(border), axis=0)
    for place, method in enumerate(methods):
        for each in blocked:
            allowed[:, place] &= ~each.at(collective, method.label, points)
    return allowed


def _times(bins: Bins, learnt: Mapping[int, Regression], count: int) -> FloatArray:
    """``(bin, method)`` predicted seconds; nothing is known before enough of the methods are."""
    times = np.full((bins.count, count), np.nan)
    if len(learnt) >= min(_LEARNT, count):
        points = bins.grid()
        for alg, regression in learnt.items():
            times[:, alg - 1] = regression(points)
    return times


def _choice(
    bins: Bins, allowed: BoolArray, cells: pd.DataFrame, times: FloatArray, settings: Learning, needs: npt.NDArray[Any]
) -> Choice:
    enough = not np.isnan(times).all()
    if enough and settings.blacklist is not None:
        allowed = allowed & ~(times > settings.blacklist * np.nanmin(times, axis=1, keepdims=True))
    performance = 1 / times
    # What is not learnt yet goes on being tried as often as the others are in the mean.
    mean = np.nanmean(performance, axis=1, keepdims=True) if enough else np.ones((len(times), 1))
    performance = np.where(np.isnan(performance), mean, performance)
    share = probabilities(performance, allowed, floor=settings.floor, cap=settings.cap, exact=settings.exact)
    candidates = np.where(allowed & ~np.isnan(times), times, np.inf)
    known = _known(bins, cells, settings) & np.isfinite(candidates.min(axis=1))
    best = np.where(known, candidates.argmin(axis=1) + 1, DEFAULT)
    return Choice(bins, prefix(share), best.astype(np.int32), needs.astype(np.int32), times)


def _known(bins: Bins, cells: pd.DataFrame, settings: Learning) -> BoolArray:
    """Of which bins what was learnt holds, by what was seen."""
    if settings.unseen == "predict" or not len(cells):
        return np.ones(bins.count, dtype=np.bool_)
    where = [cells[axis].to_numpy() for axis in SIZES]
    if settings.unseen == "between":
        return bins.near(*where)
    from scipy.ndimage import binary_dilation  # noqa: PLC0415 - for this alone

    seen = np.zeros(bins.shape, dtype=np.bool_)
    seen[bins.places(*where)] = True
    return np.asarray(binary_dilation(seen, np.ones((3, 3, 3))).ravel())
