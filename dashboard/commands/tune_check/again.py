"""What is left of rules after the slower ones are gone: proven, and measured once more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.benchmarks.proof.verdict import Proof
from dashboard.commands.output import say
from dashboard.decisions.judged.improvement import Improvement, Verdict
from dashboard.domain.units import format_count


@dataclass(frozen=True)
class Again:
    """The proof of what is left, its comparison with the library's own decision, and the verdicts on its rules."""

    proof: Proof
    improvements: Mapping[str, Improvement]
    verdicts: Mapping[str, Sequence[Verdict]]

    @property
    def slower(self) -> int:
        """Rules that are slower even now, as a whole or at some cell."""
        every = [verdict for each in self.verdicts.values() for verdict in each if not verdict.default]
        return sum(verdict.outcome == "slower" or verdict.slower > 0 for verdict in every)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        cells = {
            name: {"faster": improvement.count("faster"), "slower": improvement.count("slower")}
            for name, improvement in self.improvements.items()
        }
        return {
            "proven": self.proof.holds,
            "outcome": self.proof.outcome,
            "regions": len(self.proof.verdicts),
            "unsafe": [finding.to_dict() for finding in self.proof.unsafe],
            "cells": cells,
            "slower_rules": self.slower,
        }

    def say(self, path: str) -> None:
        """Say it on standard error."""
        word = self.proof.outcome if self.proof.holds else "NOT PROVEN"
        say(f"{path}: {word}: {format_count(len(self.proof.verdicts), 'region')}")
        for name, improvement in self.improvements.items():
            faster, slower = format_count(improvement.count("faster"), "cell"), improvement.count("slower")
            say(f"{path}: measured once more: {name}: {faster} faster, {slower:,} slower beyond noise")
        if self.slower:
            are = "rule is" if self.slower == 1 else "rules are"
            say(f"{path}: {self.slower} {are} slower at some cell even now: measure with more launches (--launches)")
