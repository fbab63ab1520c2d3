"""What the offline part of online tuning can be told: declared once for command, page and scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option

#: What the library and the tuner do with calls.
MODES = ("off", "trace", "tuning", "tuned")
LEARNERS = ("gamma", "log", "poisson", "xgboost")
BINS = ("regular", "seen")
UNSEEN = ("between", "default", "predict")


@dataclass(frozen=True)
class Learning:
    """Values of `OPTIONS`, which see, and what is usual."""

    learner: str = "gamma"
    rounds: int = 200
    min_samples: int = 100
    floor: float = 0.03
    cap: float = 0.5
    exact: bool = False
    blacklist: float | None = None
    tail: float | None = 3.0
    change: float | None = 1.5
    bins: str = "regular"
    unseen: str = "between"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Learning:
        """Check values by name; `OptionError` says what is allowed."""
        known = {option.name: option for option in OPTIONS}
        if unknown := sorted(set(given) - set(known)):
            raise OptionError(f"there is no setting {unknown[0]!r}, expected some of {', '.join(known)}")
        made = cls(**{name: known[name].checked(value) for name, value in given.items()})
        if made.floor > made.cap:
            raise OptionError(f"floor is {made.floor}, expected at most cap, {made.cap}")
        return made

    @property
    def longest(self) -> float:
        """Times the median that a time counts, infinite where as it is."""
        return math.inf if self.tail is None else self.tail

    @property
    def changed_by(self) -> float:
        """Factor of a change, infinite where nothing is forgotten."""
        return math.inf if self.change is None else self.change

    def to_dict(self) -> dict[str, Any]:
        """Values by name."""
        return dict(vars(self))


OPTIONS: tuple[Option, ...] = (
    Option(
        "learner",
        "learner",
        "What predicts times: boosted trees with this loss.",
        Learning.learner,
        "choice",
        choices=LEARNERS,
    ),
    Option("rounds", "trees", "Trees of each regression.", Learning.rounds, "int", low=1, high=10_000, log=True),
    Option(
        "min_samples",
        "timings needed",
        "Timings that a method must have before it is learnt.",
        Learning.min_samples,
        "int",
        low=1,
        log=True,
    ),
    Option(
        "floor",
        "least probability",
        "No method that can be chosen gets less, before all are divided by their sum.",
        Learning.floor,
        "float",
        low=0,
        high=1,
    ),
    Option(
        "cap",
        "largest probability",
        "No method gets more, before all are divided by their sum.",
        Learning.cap,
        "float",
        low=0,
        high=1,
    ),
    Option(
        "exact",
        "keep to both exactly",
        "Scale what lies between both until the sum is 1, rather than dividing all by it.",
        default=Learning.exact,
        kind="flag",
    ),
    Option(
        "blacklist",
        "leave out slower than",
        "Leave out methods that are predicted to take this many times as long as the best.",
        Learning.blacklist,
        "float",
        low=1,
        unlimited="no limit",
        log=True,
    ),
    Option(
        "tail",
        "longest time counted",
        "A longer time counts as this many times the median of its method and sizes.",
        Learning.tail,
        "float",
        low=1,
        unlimited="as they are",
        log=True,
    ),
    Option(
        "change",
        "change of times",
        "Forget what was measured of a method before its times changed by this factor.",
        Learning.change,
        "float",
        low=1,
        unlimited="nothing is forgotten",
        log=True,
    ),
    Option(
        "bins",
        "bins",
        "A regular grid over the machine, or bins around the sizes that were seen.",
        Learning.bins,
        "choice",
        choices=BINS,
    ),
    Option(
        "unseen",
        "where nothing was seen",
        "Beyond what was seen the library decides (between: with bins that lie between those seen or next to them as "
        "seen; default: only those next to them), or the regressions do all the same (predict).",
        Learning.unseen,
        "choice",
        choices=UNSEEN,
    ),
)
