"""Parallel Adams methods of one rank: PAB, and PABM with a fixed number of corrections, by data or by tasks (K 5.2).

K counts K·I function evaluations of PABM in a step; here they are K·(I + 1), as the slopes of what was accepted are
those that the next step begins with.
"""

import numpy as np

from dashboard.benchmarks.applications.communication import Communication, empty
from dashboard.benchmarks.applications.order import PABM, Order, shares
from dashboard.benchmarks.applications.systems import slopes
from dashboard.benchmarks.applications.weights import radau, weights
from dashboard.domain.arrays import FloatArray


class DataParallel:
    """Every rank has some components of all stages; each evaluation gathers a whole stage first.

    Parameters
    ----------
    begin
        Stages of the first step (K × n).

    Attributes
    ----------
    mine
        Components of this rank of the last stage.
    """

    def __init__(self, order: Order, communication: Communication, begin: FloatArray) -> None:
        lengths = shares(order.size, communication.size)
        first, last = sum(lengths[: communication.rank]), sum(lengths[: communication.rank + 1])
        self._weights, self._h = weights(radau(order.stages)), order.step_size
        self._slopes = slopes(order.system, order.size, order.seed, first, last)
        self._corrections = order.iterations if order.application == PABM else 0
        self._stages = begin[:, first:last].copy()
        self._values = empty(order.stages, order.size)
        self._gather = [
            communication.bound("allgatherv", *pair, lengths) for pair in zip(self._stages, self._values, strict=True)
        ]
        self._time = self._h

    @property
    def mine(self) -> FloatArray:
        """Components of the last stage."""
        return np.asarray(self._stages[-1])

    def step(self) -> float:
        """One step of time; the time reached."""
        h, by = self._h, self._weights
        known = self._evaluated(self._time - h)
        base = self._stages[-1].copy()
        self._stages[:] = base + h * (by.predictor @ known)
        constant = base + h * (by.corrector @ known)
        for _ in range(self._corrections):
            self._stages[:] = constant + h * by.implicit[:, None] * self._evaluated(self._time)
        self._time += h
        return self._time

    def _evaluated(self, begin: float) -> FloatArray:
        """Slopes of all stages (K × components), of a step that begins at a time."""
        made = np.empty_like(self._stages)
        for stage, gather in enumerate(self._gather):
            gather()
            made[stage] = self._slopes(begin + self._weights.abscissae[stage] * self._h, self._values[stage])
        return made


class TaskParallel:
    """Each group of ranks has one stage; at the end of a step all stages are exchanged.

    Parameters
    ----------
    group
        Communicates within the stage's group, by rank.
    exchange
        Communicates at the end of a step: among the ranks that have the same components, or among all.
    begin
        As of `DataParallel`.

    Attributes
    ----------
    mine
        Components of this rank of its stage; empty where that is not the last stage.
    """

    def __init__(self, order: Order, group: Communication, exchange: Communication, begin: FloatArray) -> None:
        lengths = shares(order.size, group.size)
        place, everyone = group.rank, exchange.size > order.stages
        first, last = sum(lengths[:place]), sum(lengths[: place + 1])
        self._stage = exchange.rank // group.size if everyone else exchange.rank
        self._weights, self._h = weights(radau(order.stages)), order.step_size
        self._slopes = slopes(order.system, order.size, order.seed, first, last)
        self._corrections = order.iterations if order.application == PABM else 0
        self._length = last - first
        self._block, self._values = begin[self._stage, first:last].copy(), empty(order.size)
        self._gather = group.bound("allgatherv", self._block, self._values, lengths)
        # Slope and value of a stage travel together.
        blocks = [2 * length for length in lengths] * order.stages if everyone else [2 * self._length] * order.stages
        starts = np.concatenate([[0], np.cumsum(blocks)[:-1]])
        self._starts = starts[place :: group.size] if everyone else starts
        self._sent, self._all = empty(2 * self._length), empty(sum(blocks))
        self._exchange = exchange.bound("allgatherv", self._sent, self._all, blocks)
        self._time = self._h

    @property
    def mine(self) -> FloatArray:
        """Components of the last stage."""
        return self._block if self._stage == self._weights.abscissae.size - 1 else self._block[:0]

    def step(self) -> float:
        """One step of time; the time reached."""
        h, by, stage = self._h, self._weights, self._stage
        self._sent[: self._length] = self._evaluated(self._time - h)
        self._sent[self._length :] = self._block
        self._exchange()
        known = np.stack([self._all[start : start + self._length] for start in self._starts])
        base = self._all[self._starts[-1] + self._length :][: self._length].copy()
        self._block[:] = base + h * (by.predictor[stage] @ known)
        constant = base + h * (by.corrector[stage] @ known)
        for _ in range(self._corrections):
            self._block[:] = constant + h * by.implicit[stage] * self._evaluated(self._time)
        self._time += h
        return self._time

    def _evaluated(self, begin: float) -> FloatArray:
        self._gather()
        return self._slopes(begin + self._weights.abscissae[self._stage] * self._h, self._values)


def begin_of(order: Order) -> FloatArray:
    """Stages of the first step (K × n), by a one-step method at tolerance 1e-12."""
    from scipy.integrate import solve_ivp  # noqa: PLC0415 - only one rank needs it

    from dashboard.benchmarks.applications.systems import start  # noqa: PLC0415 - likewise

    all_slopes = slopes(order.system, order.size, order.seed, 0, order.size)
    places = radau(order.stages) * order.step_size
    solved = solve_ivp(
        all_slopes, (0, order.step_size), start(order.system, order.size), "DOP853", places, rtol=1e-12, atol=1e-13
    )
    return np.ascontiguousarray(solved.y.T)
