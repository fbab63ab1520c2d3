"""Methods that were forced on all processes of a job, where a library cannot switch methods while it runs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.libraries.methods import Method


@dataclass(frozen=True)
class Forced:
    """Methods that the same `variables` force, as collective and number in the plan, in one launch."""

    numbers: Sequence[tuple[str, int]]
    launch: int
    variables: Mapping[str, str] = field(default_factory=dict)

    def methods(self, plan: Plan) -> set[tuple[str, Method]]:
        """The methods themselves, each with its collective."""
        return {(collective, plan.methods[collective][number]) for collective, number in self.numbers}

    def lost(self, rank: int) -> str:
        """Say which of the variables did not reach this process; nothing when all did."""
        lost = {name: value for name, value in self.variables.items() if os.environ.get(name) != value}
        if not lost:
            return ""
        variables = " ".join(f"{name}={value}" for name, value in lost.items())
        return f"rank {rank} was started without {variables}: have the start command hand on its environment to all"
