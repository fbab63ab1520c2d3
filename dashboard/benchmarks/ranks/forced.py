"""One method that was forced on all processes of a job, where a library cannot switch methods while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.libraries.methods import Method

Todo = list[tuple[Cell, list[Method]]]


@dataclass(frozen=True)
class Forced:
    """One method of a collective, by its number in the plan, in one launch; `variables` do it."""

    collective: str
    number: int
    launch: int
    variables: Mapping[str, str] = field(default_factory=dict)

    def method(self, plan: Plan) -> Method:
        """The method itself."""
        return plan.methods[self.collective][self.number]

    def of(self, todo: Todo, plan: Plan) -> Todo:
        """Of cells to measure those of this method."""
        method = self.method(plan)
        cells = [cell for cell, methods in todo if method in methods]
        return [(cell, [method]) for cell in cells if (cell.collective, cell.launch) == (self.collective, self.launch)]

    def lost(self, rank: int) -> str:
        """Say which of the variables did not reach this process; nothing when all did."""
        lost = {name: value for name, value in self.variables.items() if os.environ.get(name) != value}
        if not lost:
            return ""
        variables = " ".join(f"{name}={value}" for name, value in lost.items())
        return f"rank {rank} was started without {variables}: have the start command hand on its environment to all"
