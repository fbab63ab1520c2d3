"""When adaptive measuring ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.benchmarks.errors import PlanError
from dashboard.domain.adaptive import budget_seconds
from dashboard.domain.units import format_duration


@dataclass(frozen=True)
class Goal:
    """When a campaign that chooses its points itself ends, of which at least one is said, and what counts to it."""

    #: Of measuring, over all launches; None: as long as it takes.
    seconds: float | None = None
    #: Mean expected loss of the decision, of every collective; None: until nothing is left to measure.
    percent: float | None = None
    #: Collective, communicator and message size on the grid, and how often programs call it, which is what it counts;
    #: empty: all sizes count alike.
    calls: tuple[tuple[str, int, int, float], ...] = ()

    def __post_init__(self) -> None:
        if self.seconds is None and self.percent is None:
            raise PlanError("adaptive measuring needs an end: a time (--budget) or an expected loss (--until)")
        for name in ("seconds", "percent"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
                raise PlanError(f"goal {name}: {value!r}; allowed is a number above 0")
        for call in self.calls:
            if [type(value) for value in call] != [str, int, int, float] or not 0 <= call[-1] < math.inf:
                raise PlanError(f"goal calls: {call!r:.60}; allowed are a collective, two sizes and a number")

    def words(self) -> str:
        """As ``after 2.0 h of measuring, or at 1 % of expected loss``."""
        time = [] if self.seconds is None else [f"after {format_duration(self.seconds)} of measuring"]
        loss = [] if self.percent is None else [f"at {self.percent:g} % of expected loss"]
        return ", or ".join([*time, *loss])

    @classmethod
    def asked(cls, *, adaptive: bool | None, budget: str | None, until: float | None) -> Goal | None:
        """Read what was chosen of `dashboard.domain.adaptive`; None where all points are to be measured.

        Raises
        ------
        PlanError
            There is no end, an end without adaptive measuring, or the budget is no time.
        """
        if not adaptive:
            if budget or until is not None:
                why = "--budget and --until go with --adaptive: all points of the plan are measured without it"
                raise PlanError(why)
            return None
        try:
            seconds = budget_seconds(budget)
        except ValueError as error:
            raise PlanError(f"budget {error}") from None
        return cls(seconds, until)

    @classmethod
    def from_json(cls, record: Mapping[str, Any] | None) -> Goal | None:
        """Read the goal of a plan; None where it has none."""
        return None if record is None else cls(**{**record, "calls": tuple(map(tuple, record.get("calls", ())))})
