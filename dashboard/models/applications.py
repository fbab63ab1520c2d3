"""Predicted and measured time of applications: computing, and the collectives of a step as runtime functions (K 5).

Equations 1 to 5 with rows of p2 ranks first, as section 2.1 has it; (4) is printed with p1 and p2 exchanged.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NamedTuple

import numpy as np

from dashboard.models.fitted_runtime import unfitted
from dashboard.models.grids import sizes
from dashboard.models.published import Runtime
from dashboard.schedules.layout import Grid

_DOUBLE = 8


_RUNS = "runs"


def answer_of(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answer of ``colltune orthogonal run``: of several sizes they stand together under ``runs``."""
    return answers[0] if len(answers) == 1 else {_RUNS: list(answers)}


def answers_in(file: Path) -> list[dict[str, Any]]:
    """What ``colltune orthogonal run -o FILE`` wrote: an answer for each size of the system, ascending."""
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return sorted(kept.get(_RUNS, [kept]), key=lambda answer: answer["order"]["size"])


class Use(NamedTuple):
    """A collective that each step calls so often, by so many processes, with bytes of the vector or of each block."""

    collective: str
    processes: int
    message_size: int
    times: int = 1


def uses(order: Mapping[str, Any], way: str) -> list[Use]:
    """Collectives of one step of an application.

    Parameters
    ----------
    order
        As `dashboard.benchmarks.applications.order.Order.to_json` writes it.
    way
        One of its ways.
    """
    n, p, variant = order["size"], order["processes"], order["variant"]
    block = _DOUBLE * math.ceil(n / p)
    if order["application"] == "jacobi":
        allgather = Use("allgather", p, block)
        return {
            "row": [allgather],
            "column": [Use("allreduce", p, _DOUBLE * n), allgather],
            "reduce_bcast": [Use("reduce", p, _DOUBLE * n), Use("bcast", p, _DOUBLE * n)],
            "gather_scatter": [Use("gather", p, _DOUBLE * n), Use("scatter", p, block + _DOUBLE)],
        }[variant]
    stages = order["stages"]
    evaluations = 1 + (order["iterations"] if order["application"] == "pabm" else 0)
    if variant == "data":
        return [Use("allgather", p, block, stages * evaluations)]
    group = p // stages
    part = _DOUBLE * math.ceil(n / group)
    inside = [Use("allgather", group, part, evaluations)] if group > 1 else []
    return [*inside, Use("allgather", p if way == "original" else stages, 2 * part)]


def predicted(
    order: Mapping[str, Any], way: str, grid: str, runtime: Callable[[str], Runtime], computing: float
) -> float:
    """Seconds of one step.

    Parameters
    ----------
    order, way
        As for `uses`.
    grid
        Whose phases the collectives run in; empty: as they are.
    runtime
        Runtime function of a collective.
    computing
        Seconds that one process takes to compute a step alone.

    Raises
    ------
    ModelError
        When a runtime function is not known.
    """
    total = computing / order["processes"]
    for use in uses(order, way):
        function = runtime(use.collective)
        total += use.times * sum(function.seconds(*call) for call in _calls(use, grid))
    return float(total)


def beyond(order: Mapping[str, Any], way: str, grid: str, runtime: Callable[[str], Runtime]) -> dict[str, str]:
    """Sizes of the collectives of a step that nothing was fitted to (`dashboard.models.fitted_runtime.unfitted`)."""
    words: dict[str, str] = {}
    for use in uses(order, way):
        words |= unfitted(runtime(use.collective), *_calls(use, grid))
    return words


def _calls(use: Use, grid: str) -> list[tuple[int, float]]:
    """Processes and bytes of what a collective runs as: its phases, or itself."""
    return sizes(use.collective, Grid.of(grid), use.message_size) if grid else [(use.processes, use.message_size)]


def phase_times(way: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of each phase in a step of a way: mean over ranks, and the geometric one of turns, as a step's time is.

    Slow turns so count for no more in the parts than in the whole.
    """
    return {
        name: (geometric_mean(means) if all(means := [turn["mean"] for turn in turns]) else 0.0) / max(way["steps"], 1)
        for name, turns in way["phases"].items()
    }


class Gain(NamedTuple):
    """Percent that a way takes less time than another one: mean of the logarithms, its interval of 95 %, and p."""

    mean: float
    low: float
    high: float
    p: float


def gain(original: Sequence[float], other: Sequence[float]) -> Gain:
    """Compare the seconds of turns by Welch's test on their logarithms; NaN where one turn leaves nothing to test."""
    from scipy.stats import ttest_ind  # noqa: PLC0415 - takes most of a second to import

    first, second = np.log(original), np.log(other)
    mean = 100 * (1 - math.exp(second.mean() - first.mean()))
    if min(first.size, second.size) < 2:
        return Gain(mean, math.nan, math.nan, math.nan)
    tested = ttest_ind(second, first, equal_var=False)
    interval = tested.confidence_interval(0.95)
    ends = [100 * (1 - math.exp(float(end))) for end in (interval.high, interval.low)]
    return Gain(mean, ends[0], ends[1], float(tested.pvalue))
