"""What stands between the true time of a call and the time that is written down."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.online.errors import OnlineError

PATTERNS = ("none", "uniform", "late", "recurring")
PROFILES = ("equal", "staggered", "pairs")
#: Processes of a call that are simulated one by one.
_PROCESSES = 32


def _check_number(name: str, value: float, most: float = math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most or value == math.inf:
        upto = f" to {most:g}" if most < math.inf else " or more"
        raise OnlineError(f"{name} is {value!r}, expected a number of 0{upto}")


@dataclass(frozen=True)
class Noise:
    """Spread of timings."""

    #: Of the logarithm of a call's time.
    sigma: float = 0.25
    #: Share of calls that take longer by a factor between those of `outlier_factor`.
    outliers: float = 0.02
    outlier_factor: tuple[float, float] = (2.0, 20.0)
    #: Of the logarithm of a factor that all calls of a run have in common.
    allocation: float = 0.0

    def __post_init__(self) -> None:
        for name in ("sigma", "outliers", "allocation"):
            _check_number(f"noise: {name}", getattr(self, name), 1.0 if name == "outliers" else math.inf)
        factors = self.outlier_factor
        try:
            low, high = factors
            fits = 0 < low <= high < math.inf
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise OnlineError(f"noise: outlier_factor is {factors}, expected the least and the largest factor, above 0")

    def of_run(self, generator: np.random.Generator) -> float:
        """Factor of one run."""
        return float(np.exp(generator.normal(0, self.allocation))) if self.allocation else 1.0

    def on(self, times: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Times as calls take them."""
        spread = np.exp(generator.normal(0, self.sigma, times.shape))
        slow = generator.random(times.shape) < self.outliers
        return times * spread * np.where(slow, generator.uniform(*self.outlier_factor, times.shape), 1.0)


@dataclass(frozen=True)
class Processes:
    """When processes come to a call and leave it, and how their clocks go."""

    #: ``none``: all at once; ``uniform``: within `spread` seconds; ``late``: one comes `spread` after all others;
    #: ``recurring``: each call as the one before.
    arrivals: str = "none"
    spread: float = 0.0
    #: By method: all leave together (``equal``), one after the other as from a chain (``staggered``), or one of each
    #: two early (``pairs``); Steiner, Figure 4.3.
    profiles: Mapping[str, str] = field(default_factory=dict)
    #: Seconds, and seconds per call, of the spread of clocks between processes.
    clock_offset: float = 0.0
    clock_drift: float = 0.0

    def __post_init__(self) -> None:
        for name in ("spread", "clock_offset", "clock_drift"):
            _check_number(f"processes: {name}", getattr(self, name))

    @property
    def simple(self) -> bool:
        """Whether all processes of a call see the same."""
        return self.arrivals == "none" and not self.profiles and not self.clock_offset and not self.clock_drift

    def recorded(
        self, times: FloatArray, profile: list[str], processes: int, metric: str, generator: np.random.Generator
    ) -> FloatArray:
        """Time of each call as its processes tell it.

        Parameters
        ----------
        times
            ``(call,)`` seconds from the last arrival to the last leaving.
        profile
            Of each call's method.
        processes
            Of the communicator; those beyond `_PROCESSES` are like these.
        metric
            One of `loaders.online.METRICS`.
        """
        count = min(processes, _PROCESSES)
        calls = len(times)
        come = self._arrivals(calls, count, generator)
        rank = np.arange(count)
        shares = {"equal": np.ones(count), "staggered": (rank + 1) / count, "pairs": np.where(rank % 2 == 1, 0.5, 1.0)}
        share = np.stack([shares[each] for each in profile])
        leave = np.maximum(come.max(axis=1, keepdims=True) + times[:, None] * share, come)
        clocks = generator.normal(0, self.clock_offset, count) if self.clock_offset else np.zeros(count)
        drift = generator.normal(0, self.clock_drift, count) if self.clock_drift else np.zeros(count)
        wrong = clocks + drift * np.arange(calls)[:, None]
        start, end = come + wrong, leave + wrong
        each = end - start
        least = np.min(times) / 100
        recorded_times = {
            "max": each.max(axis=1),
            "makespan": end.max(axis=1) - start.min(axis=1),
            "mean": each.mean(axis=1),
            "root": each[:, 0],
        }[metric]
        return np.asarray(np.maximum(recorded_times, least))

    def _arrivals(self, calls: int, count: int, generator: np.random.Generator) -> FloatArray:
        if self.arrivals == "uniform":
            return generator.uniform(0, self.spread, (calls, count))
        come = np.zeros((calls, count))
        if self.arrivals == "late":
            come[np.arange(calls), generator.integers(0, count, calls)] = self.spread
        elif self.arrivals == "recurring":
            come[:] = generator.uniform(0, self.spread, count)
        return come
