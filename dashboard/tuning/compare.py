"""Stage *compare*: rules against the library's own decision by fresh launches; only what is faster is kept.

What promises to be faster is cut out of the rules, written, linted, proven and compared again. All is left to the
library that does not promise it in each of two comparisons and is not faster by both together, or was not compared.
They are judged at a level of 1 % for each rule by itself, so that of a thousand rules that change nothing no more than
five are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.benchmarks import tune_check
from dashboard.benchmarks.errors import PlanError
from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.cutting import without_slower
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.default import default_of, is_default
from dashboard.decisions.judged.improvement import (
    DEFAULT,
    OUTCOMES,
    TUNED,
    Improvement,
    Verdict,
    improvement,
    judge,
    leaves_at,
    leaves_of,
    region,
)
from dashboard.decisions.measured import trust
from dashboard.domain.arrays import BoolArray
from dashboard.domain.units import format_count, format_percent
from dashboard.tuning import decide
from dashboard.tuning.folder import Result, digest
from dashboard.tuning.launches import between_launches
from dashboard.tuning.measure import finish
from dashboard.tuning.rules import (
    ACROSS,
    NAMES,
    Rules,
    file_of,
    han_of,
    linted,
    obeyed,
    put,
    read,
    rewritten,
    target_of,
    text_of,
)
from dashboard.tuning.sizes import plan_of
from dashboard.tuning.stages import Work
from loaders import open_results

#: Times that rules are compared, at most.
_ROUNDS = 4
_AROUND_S = 300.0
#: Variance of a gain below which none is surer.
_SURE = 1e-12
#: Levels (two-sided) at which a comparison by itself promises that a rule is faster, and at which both together say so.
_PROMISING, _KEPT = 0.3, 0.01
_WORDS = {"no difference": "same", "not measured": "not measured", "faster": "faster", "slower": "slower"}
#: Percent: where most rules could not have shown such a gain, times scatter too much to say anything.
_TOO_WIDE = 10.0


@dataclass(frozen=True)
class Compared:
    """Rules against the library's own decision.

    Attributes
    ----------
    decisions, improvements, verdicts
        By collective: the rules, what was measured, and what it says of each of them.
    before
        An earlier comparison of the same rules among others, which counts as much.
    """

    decisions: Mapping[str, DecisionFunction]
    improvements: Mapping[str, Improvement]
    verdicts: Mapping[str, Sequence[Verdict]]
    before: Compared | None = None

    @property
    def too_wide(self) -> bool:
        """Whether a difference of `_TOO_WIDE` percent, in the mean of its cells, would not have shown of most rules."""
        halves = []
        for name, comparison in self.improvements.items():
            leaves = leaves_of(comparison, self.decisions[name])
            for verdict in self.verdicts[name]:
                errors = comparison.cells["error"].values[leaves == verdict.node]
                errors = errors[np.isfinite(errors)]
                if errors.size and not verdict.default:
                    halves.append(1.96 * np.sqrt(errors.sum()) / errors.size)
        return not halves or bool(np.median(halves) > np.log1p(_TOO_WIDE / 100))

    def alone(self, name: str, level: float | None = None) -> list[Verdict]:
        """Verdicts on the rules of a collective, each by itself: not corrected for their number.

        What was compared before is faster where both say so together, and this one by itself promises it.
        """
        decision, measured = self.decisions[name], self.measured(name)
        if self.before is None:
            return judge(replace(measured, level=level or measured.level), decision, corrected=False)
        promises = judge(replace(measured, level=_PROMISING), decision, corrected=False)
        both = _together(self.improvements[name], self.before.improvements[name], decision)
        return [
            verdict if promise.outcome == "faster" else replace(verdict, outcome=promise.outcome)
            for promise, verdict in zip(
                promises, judge(replace(both, level=level or _KEPT), decision, corrected=False), strict=True
            )
        ]

    def measured(self, name: str) -> Improvement:
        """What was measured; at sizes of which times could not be trusted, of the same rules before."""
        if self.before is None:
            return self.improvements[name]
        return _filled(self.improvements[name], self.before.improvements[name], self.decisions[name])

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
        return bool((cells & _by_rules(self.decisions[name], before.improvements[name])).any())

    def gain(self, name: str) -> dict[str, Any]:
        """Mean improvement in percent over the cells that rules decide, with its interval, and how many they are."""
        own = [verdict.node for verdict in self.verdicts.get(name, ()) if not verdict.default]
        comparison = self.measured(name)
        cells = comparison.cells
        decided = np.isin(leaves_of(comparison, self.decisions[name]), own) & np.isfinite(cells["gain"].values)
        if not decided.any():
            return {"cells": 0, "mean": None, "low": None, "high": None}
        gains, errors = cells["gain"].values[decided], np.nan_to_num(cells["error"].values[decided])
        mean, half = float(gains.mean()), 1.96 * float(np.sqrt(errors.sum())) / gains.size
        ends = {"mean": mean, "low": mean - half, "high": mean + half}
        return {"cells": int(decided.sum()), **{key: round(100 * (1 - np.exp(-end)), 2) for key, end in ends.items()}}


def compare(work: Work) -> Result:
    """Compare, cut, prove and compare again."""
    file = file_of(work, "prove") or file_of(work)
    if file is None:
        # Where nothing could be decided, nobody knows whether anything is better.
        outcome = "nothing" if decide.some_decided(work) else "noise"
        return Result({"rules": None, "compared": [], "gain": {}, "outcome": outcome, "said": "no rules to compare"})
    if not work.facts("prove")["holds"]:
        said = "not compared: the rules are not proven"
        return Result({"rules": None, "compared": [], "gain": {}, "outcome": "unproven", "said": said})
    facts, files = settled(work, read(work, text_of(work, file)), work.facts("prove"))
    return Result(facts, files)


def settled(work: Work, rules: Rules, proof: dict[str, Any], mark: str = "") -> tuple[dict[str, Any], list[Path]]:
    """Compare proven rules twice, and cut them until nothing that is left is slower.

    Where the second comparison refutes some of them, the others were faster by both, and are only proven once more; all
    are compared once more where what was left to the library was slower beside them.

    Parameters
    ----------
    rules, proof
        The rules, and what their proof came to.
    mark
        Tells comparisons of the same rules from each other, which are measured anew then.

    Returns
    -------
    facts
        ``rules`` (the file that is left, None where none is), ``proof`` of it, ``compared`` (every rule that was
        judged, with whether it is kept), ``gain`` by collective, and ``outcome``: ``proven``, ``nothing``, ``noise``,
        ``unproven``.
    files
        The rules that are left.
    """
    try:
        first = against(work, rules, mark)
    except PlanError as error:
        return {"rules": None, "compared": [], "gain": {}, "outcome": "unproven", "said": str(error)}, []
    own = _own(first)
    if own and all(verdict.outcome == "faster" and not verdict.slower for verdict in own) and not _harmed(work, first):
        file = _file(work, 0)
        put(file, rules.text)
        return _left(work, file, proof, (first, first), "proven")
    harmed, last = _harmed(work, first), first
    kept = _kept(rules, first, harmed, only_faster=True)
    for turn in range(1, _ROUNDS):
        if not kept:
            break
        rewritten(work, kept, file := _file(work, turn))
        refuted = proof.get("refuted", [])
        _, proof = obeyed(work, file, "compare", file)
        proof["refuted"] = [*refuted, *proof["refuted"]]
        left = read(work, text_of(work, file))
        if not proof["holds"] or linted(work, left.text)["errors"]:
            return _left(work, None, proof, (first, last), "unproven")
        if last is not first and not harmed:
            return _left(work, file, proof, (first, last.narrowed(left.decisions)), "proven")
        last = replace(against(work, left, mark), before=first)
        harmed = _harmed(work, last)
        if not harmed and not any(_refuted(verdict) for name in last.verdicts for verdict in last.alone(name)):
            return _left(work, file, proof, (first, last), "proven")
        kept = _kept(left, last, harmed, only_faster=False)
    return _left(work, None, proof, (first, last), "noise" if kept or first.too_wide else "nothing")


def _file(work: Work, turn: int) -> Path:
    return work.room("compare") / f"{turn}-{NAMES[target_of(work)]}"


def against(work: Work, rules: Rules, mark: str = "") -> Compared:
    """Measure rules and the library's own decision in turns, by fresh launches; what is measured with a mark stays.

    Raises
    ------
    PlanError
        The library cannot be measured so.
    """
    named = {name: decision for name, decision in rules.decisions.items() if not is_default(decision)}
    folder = work.room("compare") / digest(
        [rules.text, work.asked.comparing, work.asked.launches, work.facts("look"), mark]
    )
    across = target_of(work) == ACROSS
    given = tune_check.with_rules(work.installation, tune_check.rules_of(folder), han=across)
    decided = {name: named[name] for name in tune_check.measurable(named)}
    plan = plan_of(work, decided, given, everywhere=across)
    campaign = tune_check.prepare(folder, rules.text, plan)
    finish(work, "compare", campaign, given, work.asked.comparing + _AROUND_S)
    spread = between_launches(campaign.results, DEFAULT, TUNED)
    improvements = {}
    for name, child in open_results([str(campaign.results)]).children.items():
        cube = trust.without_doubtful(child.to_dataset())
        improvements[str(name)] = improvement(cube, between_launches=spread.get(str(name), 0.0))
    return Compared(
        named,
        improvements,
        {name: judge(comparison, rules.decisions[name]) for name, comparison in improvements.items()},
    )


def _filled(improvement: Improvement, before: Improvement, decision: DecisionFunction) -> Improvement:
    """Cells with those of another comparison where rules decide and nothing could be trusted."""
    known = np.isfinite(improvement.cells["gain"]) | ~_by_rules(decision, improvement)
    return replace(improvement, cells=improvement.cells.where(known, _at_cells(before, improvement)))


def _together(improvement: Improvement, before: Improvement, decision: DecisionFunction) -> Improvement:
    """Cells by two comparisons where rules decide: each gain weighs as it is sure; what is slower is so in the last."""
    cells = _filled(improvement, before, decision).cells
    tables = [improvement.cells, _at_cells(before, improvement).where(_by_rules(decision, improvement))]
    weights = [(1 / table["error"].clip(_SURE)).fillna(0.0) for table in tables]
    total = sum(weights)
    gain = sum(weight * table["gain"].fillna(0.0) for weight, table in zip(weights, tables, strict=True)) / total
    together = {"gain": gain, "error": 1 / total, "improvement": 100 * (1 - np.exp(-gain))}
    return replace(improvement, cells=cells.assign(together).where(total > 0, cells))


def _at_cells(before: Improvement, improvement: Improvement) -> xr.Dataset:
    """What a comparison measured, at the cells of another one."""
    nothing = {"outcome": OUTCOMES.index("not measured"), "same": False}
    return before.cells.reindex_like(improvement.cells, fill_value={**dict.fromkeys(before.cells, np.nan), **nothing})


def _by_rules(decision: DecisionFunction, improvement: Improvement) -> BoolArray:
    """Where rules decide and not the library: ``(comm_size, message_size)``."""
    rows, columns = (improvement.cells[name].values for name in (COMM_SIZE, MESSAGE_SIZE))
    rules = np.array([default_of([method]) is None for method in decision.methods])
    return np.asarray(rules[decision.predict(rows[:, None], columns[None, :])])


def _refuted(verdict: Verdict) -> bool:
    """Whether a rule that was faster before is not beyond noise any more, or slower somewhere."""
    return not verdict.default and (verdict.outcome != "faster" or verdict.slower > 0)


def _own(compared: Compared) -> list[Verdict]:
    """Verdicts on rules that do not leave the decision to the library."""
    return [verdict for each in compared.verdicts.values() for verdict in each if not verdict.default]


def _harmed(work: Work, compared: Compared) -> set[str]:
    """Collectives that are slower where they are left to HAN.

    Its own calls, inside of nodes and between them, follow the rules of tuned at their sizes.
    """
    if target_of(work) != ACROSS:
        return set()
    return {
        name
        for name, each in compared.verdicts.items()
        if any(verdict.default and (verdict.outcome == "slower" or verdict.slower) for verdict in each)
    }


def _kept(rules: Rules, compared: Compared, harmed: Collection[str], *, only_faster: bool) -> list[DecisionFunction]:
    """The decisions without what a later comparison refutes; `only_faster`, of the first: with what promises to be.

    Of a rule that does not as a whole the cells that are faster by themselves are kept then. Those of collectives that
    are `harmed` where they are left to the library are not kept.
    """
    kept = []
    for name, decision in rules.decisions.items():
        if name not in compared.improvements or name in harmed:
            continue
        comparison, verdicts = compared.measured(name), compared.alone(name, _PROMISING if only_faster else None)
        if only_faster:
            comparison, verdicts = _marked(comparison, verdicts, decision)
        else:
            # Of a rule that is faster, but slower somewhere, what is slower is cut.
            lost = [not verdict.default and verdict.outcome != "faster" for verdict in verdicts]
            verdicts = [
                replace(verdict, outcome="slower") if gone else verdict
                for verdict, gone in zip(verdicts, lost, strict=True)
            ]
        left = without_slower(decision, verdicts, comparison)[0]
        if not is_default(left):
            kept.append(left)
    return kept


def _marked(
    comparison: Improvement, verdicts: Sequence[Verdict], decision: DecisionFunction
) -> tuple[Improvement, list[Verdict]]:
    """The same, with all that is not faster called slower, so that it is left to the library."""
    faster, slower = OUTCOMES.index("faster"), OUTCOMES.index("slower")
    outcome, leaves, judged = comparison.cells["outcome"].values.copy(), leaves_of(comparison, decision), []
    for verdict in verdicts:
        part = leaves == verdict.node
        if verdict.outcome != "faster" and (outcome[part] == faster).any():
            outcome[part & (outcome != faster)] = slower
            judged.append(replace(verdict, outcome="no difference", slower=int((outcome[part] == slower).sum())))
        else:
            judged.append(verdict if verdict.outcome == "faster" else replace(verdict, outcome="slower"))
    cells = comparison.cells.assign(outcome=(comparison.cells["outcome"].dims, outcome))
    return replace(comparison, cells=cells), judged


def _left(
    work: Work, file: Path | None, proof: Mapping[str, Any], compared: tuple[Compared, Compared], outcome: str
) -> tuple[dict[str, Any], list[Path]]:
    """What stages after it and the bundle tell of the first comparison and of that of what is left."""
    first, last = compared
    if file is None or first is last:
        judged = _records(first, kept=file is not None)
    else:
        judged = [*_records(first, kept=False, later=last), *_records(last, kept=True)]
    facts: dict[str, Any] = {
        "rules": None if file is None else str(file.relative_to(work.folder.path)),
        "proof": dict(proof),
        "compared": judged,
        "gain": {} if file is None else {name: last.gain(name) for name in last.improvements},
        "outcome": outcome,
        "harmed": sorted(_harmed(work, first) | _harmed(work, last)),
        "not_compared": _not_compared(work, first),
    }
    files = [] if file is None else [path for path in (file, han_of(work, file)) if path]
    return {**facts, "said": _said(outcome, facts)}, files


def _not_compared(work: Work, compared: Compared) -> dict[str, int]:
    """By collective the rules that decide sizes of the grid, none of which was compared."""
    counts = {}
    for name, decision in compared.decisions.items():
        sizes = np.meshgrid(work.asked.rows, work.asked.columns, indexing="ij")
        deciding = set(leaves_at(decision, *sizes).ravel().tolist())
        judged = compared.verdicts.get(name, ())
        own = {verdict.node for verdict in judged if not verdict.default and not verdict.cells}
        counts[name] = len(own & deciding)
    return {name: count for name, count in counts.items() if count}


def _records(compared: Compared, *, kept: bool, later: Compared | None = None) -> list[dict[str, Any]]:
    """What JSON and bundle say of each rule; of one that was compared again what was not faster or is gone."""
    words = _WORDS if later is None else {**_WORDS, "faster": "once"}
    return [
        {
            "collective": name,
            "rule": region(verdict.bounds),
            "method": verdict.method,
            "cells": verdict.cells,
            "improvement": round(verdict.mean, 2),
            "p": float(f"{verdict.p:.3g}"),
            "verdict": words[verdict.outcome],
            "kept": kept,
        }
        for name in compared.verdicts
        for verdict, promise in zip(compared.alone(name), compared.alone(name, _PROMISING), strict=True)
        if verdict.cells and not verdict.default
        if later is None or promise.outcome != "faster" or not later.has(name, compared, verdict.node)
    ]


def _said(outcome: str, facts: Mapping[str, Any]) -> str:
    if outcome == "proven":
        gains = [
            f"{name} {format_percent(gain['mean'])} faster ({gain['low']:.1f} to {gain['high']:.1f}) in "
            f"{format_count(gain['cells'], 'cell')}"
            for name, gain in facts["gain"].items()
            if gain["mean"] is not None
        ]
        return "; ".join(gains)
    return {
        "nothing": "nothing is faster than the library's own decision",
        "noise": "times scatter too much to say what is faster",
        "unproven": "what is left of the rules is not proven",
    }[outcome]
