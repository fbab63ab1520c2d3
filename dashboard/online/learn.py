"""From timings to predicted times: one regression per method, with guards against too little and too old data.

Source: Steiner, section 4.5.1. A regression learns the time of a call from message size, nodes and processes per node.
All losses here are linear in the times, so that timings of the same three sizes may be replaced by their mean, weighted
by their number: the trees that grow are the same, and are grown in a hundredth of the time.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import ThreadpoolController

from dashboard.domain.arrays import FloatArray
from dashboard.online.errors import OnlineError
from dashboard.online.settings import Learning

SIZES = ["message_size", "nodes", "ppn"]
METHOD = ["collective", "alg"]
CELL = [*METHOD, *SIZES, "iteration"]
_LEAF = 5
#: Message sizes at which the trend may bend, bytes.
_KNEES = (1 << 10, 1 << 16)
_RIDGE = 1e-3
#: Timings on both sides before a change of a method's times is believed.
_ENOUGH = 10
#: Predicts times of one method: seconds at ``(point, axis)`` of message size, nodes and processes per node, none below
#: the shortest that was seen.
Regression = Callable[[FloatArray], FloatArray]


def summarise(timings: pd.DataFrame, tail: float = math.inf) -> pd.DataFrame:
    """Timings of each method, sizes and iteration together.

    Parameters
    ----------
    timings
        ``collective, alg`` (from 1), ``message_size, nodes, ppn, iteration, time`` (seconds).
    tail
        A time of more than so many times the median of its row counts as that: a few calls that something else held up
        move the mean of a hundred by more than methods differ.

    Returns
    -------
    DataFrame
        One row for each of `CELL` with ``count``, ``mean`` (seconds), ``log_mean``, ``log_median`` and ``least``
        (seconds).
    """
    median = timings.groupby(CELL, observed=True)["time"].transform("median")
    frame = timings.assign(time=np.minimum(timings["time"], tail * median), log=np.log(timings["time"]))
    grouped = frame.groupby(CELL, sort=True, observed=True)
    made = grouped.agg(
        count=("time", "size"),
        mean=("time", "mean"),
        log_mean=("log", "mean"),
        log_median=("log", "median"),
        least=("time", "min"),
    )
    return made.reset_index()


def since_change(cells: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Leave out what was measured of one method before its times changed by more than `factor`.

    Each iteration is compared with those before it at the sizes that both have, by the median of the ratios of their
    medians, weighted by the timings; outliers do not move that.
    """
    iterations, rows = np.unique(cells["iteration"].to_numpy(), return_inverse=True)
    if not math.isfinite(factor) or iterations.size < 2:
        return cells
    columns = cells.groupby(SIZES).ngroup().to_numpy()
    count, logs = np.zeros((2, iterations.size, int(columns.max()) + 1))
    count[rows, columns] = cells["count"]
    logs[rows, columns] = cells["log_median"]
    begin, before, weighted = 0, np.zeros(count.shape[1]), np.zeros(count.shape[1])
    for number in range(iterations.size):
        both = (before > 0) & (count[number] > 0)
        if min(before[both].sum(), count[number, both].sum()) >= _ENOUGH:
            ratio = logs[number, both] - weighted[both] / before[both]
            median = np.quantile(ratio, 0.5, weights=np.minimum(before, count[number])[both], method="inverted_cdf")
            if abs(median) > math.log(factor):
                begin, before, weighted = number, np.zeros_like(before), np.zeros_like(weighted)
        before = before + count[number]
        weighted = weighted + count[number] * logs[number]
    return pd.DataFrame(cells[cells["iteration"] >= iterations[begin]])


def fit(cells: pd.DataFrame, learner: str = "gamma", rounds: int = 200) -> Regression:
    """Learn the times of one method.

    Parameters
    ----------
    cells
        Rows of `summarise`, of one method.
    learner
        One of `dashboard.online.settings.LEARNERS`.
    rounds
        Trees of the boosting.

    Raises
    ------
    OnlineError
        The learner's package is not installed.
    """
    weighted = cells.assign(mean=cells["mean"] * cells["count"], log_mean=cells["log_mean"] * cells["count"])
    summed = weighted.groupby(SIZES, as_index=False)[["mean", "log_mean", "count"]].sum()
    count, points = summed["count"].to_numpy(), summed[SIZES].to_numpy(dtype=np.float64)
    logs = summed["log_mean"].to_numpy() / count
    line = trend(points, logs, count)
    aim = logs - line(points) if learner == "log" else summed["mean"].to_numpy() / count / np.exp(line(points))
    # A leaf of so many timings is one of so many rows: each cell stands in up to that many.
    repeats = np.minimum(count, _LEAF)
    machine = _machine(learner, rounds)
    weights = np.repeat(count / repeats, repeats)
    with _one_thread(learner):
        machine.fit(np.repeat(points, repeats, axis=0), np.repeat(aim, repeats), sample_weight=weights)
    least = float(cells["least"].min())

    def predict(points: FloatArray) -> FloatArray:
        with _one_thread(learner):
            factor = np.asarray(machine.predict(points), dtype=np.float64)
        return np.asarray(np.maximum(np.exp(line(points)) * (np.exp(factor) if learner == "log" else factor), least))

    return predict


def trend(points: FloatArray, logs: FloatArray, weights: npt.NDArray[Any]) -> Callable[[FloatArray], FloatArray]:
    """The logarithm of times as a sum of lines over the logarithms of the sizes, by least squares.

    Times range over six orders of magnitude, over which the steps of a boosting with gamma loss do not come to rest;
    what is left above and below the lines does not, and trees, which are flat beyond what was seen, go on with them.
    """

    def terms(where: FloatArray) -> FloatArray:
        size, nodes, ppn = np.log(np.maximum(where, 1.0)).T
        bent = [np.maximum(size - math.log(knee), 0.0) for knee in _KNEES]
        return np.stack([np.ones(len(where)), size, *bent, nodes, ppn], axis=1)

    matrix = terms(points)
    root = np.sqrt(weights)[:, None]
    # A little of a ridge: sizes of one value only tell no slope.
    ridge = math.sqrt(_RIDGE) * np.eye(matrix.shape[1])[1:]
    left = np.concatenate([matrix * root, ridge])
    right = np.concatenate([logs * root[:, 0], np.zeros(len(ridge))])
    slopes = np.linalg.lstsq(left, right)[0]
    return lambda where: np.asarray(terms(where) @ slopes)


def _machine(learner: str, rounds: int) -> Any:
    if learner == "xgboost":
        try:
            from xgboost import XGBRegressor  # noqa: PLC0415 - an extra
        except ImportError:
            raise OnlineError(
                "the learner xgboost is not installed: pip install '.[online-xgboost]' in the folder of colltune"
            ) from None
        return XGBRegressor(n_estimators=rounds, objective="reg:tweedie", tweedie_variance_power=1.5)
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 - takes a second

    loss = "squared_error" if learner == "log" else learner
    return HistGradientBoostingRegressor(loss=loss, max_iter=rounds, min_samples_leaf=_LEAF, early_stopping=False)


@cache
def _libraries(learner: str) -> ThreadpoolController:
    # Those that are loaded: not to be asked before the learner is.
    return ThreadpoolController()


def _one_thread(learner: str) -> AbstractContextManager[Any]:
    """A few hundred rows: threads wait for each other longer than they compute, on a busy machine a slice each."""
    context: AbstractContextManager[Any] = _libraries(learner).limit(limits=1, user_api="openmp")
    return context


def regressions(
    cells: pd.DataFrame, settings: Learning, pause: Callable[[], None] = lambda: None
) -> Mapping[tuple[str, int], Regression]:
    """Learn all methods that have been timed often enough, by collective and AlgID.

    Parameters
    ----------
    cells
        As `summarise` gives them.
    pause
        Called before each is learnt; may raise to end it.
    """
    fitted = {}
    for (collective, alg), own in cells.groupby(METHOD, sort=True, observed=True):
        recent = since_change(own, settings.changed_by)
        if recent["count"].sum() >= settings.min_samples:
            pause()
            fitted[str(collective), int(str(alg))] = fit(recent, settings.learner, settings.rounds)
    return fitted
