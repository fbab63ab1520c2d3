"""Rules against the library's own decision, as measured: what two comparisons say of each rule, and of each size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.grown.default import is_default
from dashboard.decisions.judged.improvement import (
    OUTCOMES,
    Improvement,
    Verdict,
    half_of_mean,
    judge,
    leaves_of,
)
from dashboard.decisions.measured.noise import joint_freedom
from dashboard.domain.arrays import BoolArray
from dashboard.domain.units import format_bytes, format_count

_SLOWER = OUTCOMES.index("slower")
#: Variance of a gain below which none is surer.
_SURE = 1e-12
#: Standard errors by which a size is slower by itself, however few launches tell them: cutting it harms nobody.
_SLOWER_BY = 1.96
#: Levels (two-sided) at which a comparison by itself promises that a rule is faster, and at which both together say so.
PROMISING, _KEPT = 0.3, 0.01
#: Percent: where most rules could not have shown such a gain, times scatter too much to say anything.
_TOO_WIDE = 10.0


@dataclass(frozen=True)
class Compared:
    """Rules against the library's own decision."""

    #: By collective: the rules, what was measured, and what it says of each of them.
    decisions: Mapping[str, DecisionFunction]
    improvements: Mapping[str, Improvement]
    verdicts: Mapping[str, Sequence[Verdict]]
    #: An earlier comparison of the same rules among others, which counts as much.
    before: Compared | None = None
    #: By collective ``(comm_size, message_size)``: where times were measured that cannot be trusted.
    untrusted: Mapping[str, BoolArray] = field(default_factory=dict)
    #: By collective and sizes: why what could not be called was refused, or wrong.
    refused: Mapping[tuple[str, int, int], str] = field(default_factory=dict)

    @property
    def too_wide(self) -> bool:
        """Whether a difference of `_TOO_WIDE` percent, in the mean of its cells, would not have shown of most rules.

        It would not where more of these could not be trusted than could; of one that is faster or slower it has shown.
        """
        halves = []
        for name, comparison in self.improvements.items():
            leaves = leaves_of(comparison, self.decisions[name])
            for verdict in self.verdicts[name]:
                part = (leaves == verdict.node) & np.isfinite(comparison.cells["error"].values)
                lost = self.lost(name, verdict.node)
                if verdict.default or not part.sum() + lost:
                    continue
                if lost > part.sum():
                    halves.append(np.inf)
                else:
                    shown = verdict.outcome in ("faster", "slower")
                    halves.append(0.0 if shown else half_of_mean(comparison.cells, part))
        return not halves or bool(np.median(halves) > np.log1p(_TOO_WIDE / 100))

    def lost(self, name: str, node: int) -> int:
        """Cells that a rule decides whose times were measured, and cannot be trusted."""
        if name not in self.untrusted:
            return 0
        cells = self.improvements[name].cells
        sizes = np.meshgrid(cells[COMM_SIZE].values, cells[MESSAGE_SIZE].values, indexing="ij")
        return int((self.untrusted[name] & (self.decisions[name].leaf_places(*sizes) == node)).sum())

    def refusal(self, name: str, node: int) -> str:
        """Why calls were refused or wrong at a size that a rule decides; empty where none was."""
        leaf = self.decisions[name].leaf_places
        return next((why for (each, *at), why in self.refused.items() if each == name and leaf(*at) == node), "")

    def alone(self, name: str, level: float | None = None) -> list[Verdict]:
        """Verdicts on the rules of a collective, each by itself: not corrected for their number.

        What was compared before is faster where both say so together, and this one by itself promises it.
        """
        decision, measured = self.decisions[name], self.measured(name)
        if self.before is None:
            return judge(replace(measured, level=level or measured.level), decision, corrected=False)
        last = _filled(self.improvements[name], self.before.improvements[name], decision)
        promises = judge(replace(last, level=PROMISING), decision, corrected=False)
        verdicts = judge(replace(measured, level=level or _KEPT), decision, corrected=False)
        return [
            verdict if promise.outcome == "faster" else replace(verdict, outcome=promise.outcome)
            for promise, verdict in zip(promises, verdicts, strict=True)
        ]

    def measured(self, name: str) -> Improvement:
        """What was measured, together with what was of the same rules before.

        A cell is slower that is by itself, not corrected for their number: of a rule that is faster as a whole nothing
        else finds what it harms. It is in both comparisons together, or in one and in both no faster.
        """
        last = _with_slower(self.improvements[name], np.False_)
        if self.before is None:
            return last
        return _together(last, _with_slower(self.before.improvements[name], np.False_), self.decisions[name])

    def narrowed(self, decisions: Mapping[str, DecisionFunction]) -> Compared:
        """What it says of rules from which some were taken out since; nothing of what is left to the library."""
        named = {name: decision for name, decision in decisions.items() if not is_default(decision)}
        improvements = {name: each for name, each in self.improvements.items() if name in named}
        verdicts = {name: judge(each, named[name]) for name, each in improvements.items()}
        own = {name: [verdict for verdict in each if not verdict.default] for name, each in verdicts.items()}
        return replace(self, decisions=named, improvements=improvements, verdicts=own)

    def has(self, name: str, before: Compared, node: int) -> bool:
        """Whether any size at which a rule was compared before is decided by a rule still."""
        if name not in self.decisions:
            return False
        cells = leaves_of(before.improvements[name], before.decisions[name]) == node
        return bool((cells & _by_rules(self.decisions[name], before.improvements[name].cells).values).any())

    def gain(self, name: str) -> dict[str, Any]:
        """Mean improvement in percent over the cells that rules decide, with its interval; how many, of which sizes.

        Rules that are all faster by what they were judged by, as `alone` has it, have an interval above 0.
        """
        own = [verdict.node for verdict in self.verdicts.get(name, ()) if not verdict.default]
        comparison = self.measured(name)
        cells = comparison.cells
        decided = np.isin(leaves_of(comparison, self.decisions[name]), own) & np.isfinite(cells["gain"].values)
        if not decided.any():
            return {"cells": 0, "mean": None, "low": None, "high": None, "sizes": []}
        mean, half = float(cells["gain"].values[decided].mean()), half_of_mean(cells, decided)
        ends = {"mean": mean, "low": mean - half, "high": mean + half}
        sizes = cells[MESSAGE_SIZE].values[decided.any(axis=0)]
        percents = {key: round(100 * (1 - np.exp(-end)), 2) for key, end in ends.items()}
        return {"cells": int(decided.sum()), **percents, "sizes": [int(sizes.min()), int(sizes.max())]}


def cells_of(gain: Mapping[str, Any]) -> str:
    """How many cells a gain is the mean of, and of which sizes: ``3 sizes compared (2,052 B to 8 KiB)``."""
    sizes = " to ".join(dict.fromkeys(map(format_bytes, filter(None, gain.get("sizes", ())))))
    return f"{format_count(gain['cells'], 'size')} compared{sizes and f' ({sizes})'}"


def marked(
    comparison: Improvement, verdicts: Sequence[Verdict], decision: DecisionFunction
) -> tuple[Improvement, list[Verdict]]:
    """The same, with all that is not faster called slower, so that it is left to the library."""
    faster = OUTCOMES.index("faster")
    outcome, leaves, judged = comparison.cells["outcome"].values.copy(), leaves_of(comparison, decision), []
    for verdict in verdicts:
        part = leaves == verdict.node
        if verdict.outcome != "faster" and (outcome[part] == faster).any():
            outcome[part & (outcome != faster)] = _SLOWER
            judged.append(replace(verdict, outcome="no difference", slower=int((outcome[part] == _SLOWER).sum())))
        else:
            judged.append(verdict if verdict.outcome == "faster" else replace(verdict, outcome="slower"))
    cells = comparison.cells.assign(outcome=(comparison.cells["outcome"].dims, outcome))
    return replace(comparison, cells=cells), judged


def _filled(improvement: Improvement, before: Improvement, decision: DecisionFunction) -> Improvement:
    """Cells with those of another comparison where rules decide and nothing could be trusted."""
    last, first = _both(improvement, before, decision)
    there = {name: improvement.cells[name] for name in (COMM_SIZE, MESSAGE_SIZE)}
    return replace(improvement, cells=last.where(np.isfinite(last["gain"]), first).sel(there))


def _together(improvement: Improvement, before: Improvement, decision: DecisionFunction) -> Improvement:
    """Cells by two comparisons where rules decide: each gain weighs as it is sure."""
    last, first = _both(improvement, before, decision)
    weights = [(1 / table["error"].clip(_SURE)).fillna(0.0) for table in (last, first)]
    total = weights[0] + weights[1]
    gain = (weights[0] * last["gain"].fillna(0.0) + weights[1] * first["gain"].fillna(0.0)) / total
    freedom = [each["freedom"].fillna(np.inf).values for each in (last, first)]
    joint = joint_freedom([each.values for each in weights], freedom)
    known = {"gain": gain, "error": 1 / total, "freedom": (gain.dims, joint)}
    together = xr.Dataset({**known, "improvement": 100 * (1 - np.exp(-gain))})
    cells = last.where(np.isfinite(last["gain"]), first)
    cells = cells.assign(together.where(total > 0, cells[[*together]]))
    slower = ((last["outcome"] == _SLOWER) | (first["outcome"] == _SLOWER)) & (gain < 0)
    return _with_slower(replace(improvement, cells=cells), slower.values)


def _both(improvement: Improvement, before: Improvement, decision: DecisionFunction) -> tuple[xr.Dataset, xr.Dataset]:
    """Cells of two comparisons at the sizes of both; of the earlier one where rules decide still."""
    nothing = {**dict.fromkeys(before.cells, np.nan), "outcome": OUTCOMES.index("not measured"), "same": False}
    last, first = xr.align(improvement.cells, before.cells, join="outer", fill_value=nothing)
    return last, first.where(_by_rules(decision, first), xr.Dataset(nothing))


def _with_slower(improvement: Improvement, slower: BoolArray | np.bool_) -> Improvement:
    """The same, with those cells called slower that are by themselves, not corrected for their number, and these."""
    cells = improvement.cells
    slower = slower | (cells["gain"].values < -_SLOWER_BY * np.sqrt(cells["error"].values))
    outcome = cells["outcome"].where(cells["outcome"] != _SLOWER, OUTCOMES.index("no difference"))
    outcome = outcome.where(~slower, _SLOWER)
    return replace(improvement, cells=cells.assign(outcome=outcome))


def _by_rules(decision: DecisionFunction, cells: xr.Dataset) -> xr.DataArray:
    """Where rules decide and not the library: ``(comm_size, message_size)``."""
    rows, columns = (cells[name].values for name in (COMM_SIZE, MESSAGE_SIZE))
    rules = np.array([default_of([method]) is None for method in decision.methods])
    return xr.DataArray(rules[decision.predict(rows[:, None], columns[None, :])], dims=(COMM_SIZE, MESSAGE_SIZE))
