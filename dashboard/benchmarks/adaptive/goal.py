"""When adaptive measuring ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.benchmarks.errors import PlanError


@dataclass(frozen=True)
class Goal:
    """When a campaign that chooses its points itself ends; at least one of both is said.

    Attributes
    ----------
    seconds
        Of measuring, over all launches; None: as long as it takes.
    percent
        Mean expected loss of the decision, of every collective; None: until nothing is left to measure.
    """

    seconds: float | None = None
    percent: float | None = None

    def __post_init__(self) -> None:
        if self.seconds is None and self.percent is None:
            raise PlanError("adaptive measuring needs an end: a time (--budget) or an expected loss (--until)")
        for name in ("seconds", "percent"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
                raise PlanError(f"goal {name}: {value!r}; allowed is a number above 0")

    @classmethod
    def from_json(cls, record: Mapping[str, Any] | None) -> Goal | None:
        """Read the goal of a plan; None where it has none."""
        return None if record is None else cls(**record)
