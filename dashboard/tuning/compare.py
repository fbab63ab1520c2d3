"""Stage *compare*: rules against the library's own decision by fresh launches; only what is faster is kept.

What promises to be faster is cut out of the rules, written, linted, proven and compared again. All is left to the
library that does not promise it in each of two comparisons and is not faster by both together, or was not compared.
They are judged at a level of 1 % for each rule by itself, so that of a thousand rules that change nothing no more than
five are kept.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks import tune_check
from dashboard.benchmarks.errors import PlanError
from dashboard.decisions.function.cutting import without, without_slower
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.function.text import region
from dashboard.decisions.grown.default import is_default
from dashboard.decisions.judged.improvement import Verdict, improvement, judge
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.map import DIMS, select_ppn
from dashboard.domain.units import format_percent
from dashboard.tuning import decide
from dashboard.tuning.compared import PROMISING, Compared, cells_of, marked
from dashboard.tuning.folder import Result, digest
from dashboard.tuning.measure import finish
from dashboard.tuning.rules import (
    ACROSS,
    Rules,
    file_of,
    han_of,
    linted,
    name_of,
    obeyed,
    put,
    read,
    rewritten,
    target_of,
    text_of,
)
from dashboard.tuning.sizes import element_of, plan_of
from dashboard.tuning.stages import Work
from loaders import open_results

#: Times that rules are compared, at most.
_ROUNDS = 4
#: A comparison takes so many times as long as it was meant to at most, and so many seconds for its starts.
_LONGEST, _AROUND_S = 2.0, 300.0
_SAME = "{} is what the library does by itself"
_WORDS = {"no difference": "same", "not measured": "not measured", "faster": "faster", "slower": "slower"}


def compare(work: Work) -> Result:
    """Compare, cut, prove and compare again."""
    file = file_of(work, "prove") or file_of(work)
    if file is None:
        outcome = decide.without_rules(work)
        return Result({"rules": None, "compared": [], "gain": {}, "outcome": outcome, "said": "no rules to compare"})
    facts, files = settled(work, read(work, text_of(work, file)), work.facts("prove"))
    return Result(facts, files)


def settled(work: Work, rules: Rules, proof: dict[str, Any], mark: str = "") -> tuple[dict[str, Any], list[Path]]:
    """Compare rules twice, where they are proven, and cut them until nothing that is left is slower.

    Where the second comparison refutes some of them, the others were faster by both, and are only proven once more; all
    are compared once more where what was left to the library was slower beside them.

    Parameters
    ----------
    mark
        Tells comparisons of the same rules from each other, which are measured anew then.

    Returns
    -------
    facts
        ``rules`` (the file that is left, None where none is), ``proof`` of it, ``compared`` (every rule that was
        judged, with whether it is kept), ``gain`` by collective, and ``outcome``: ``proven``, ``nothing``, ``noise``,
        ``short``, ``unproven``.
    files
        The rules that are left.
    """
    why = "" if proof["holds"] else "not compared: the rules are not proven"
    try:
        first = None if why else against(work, rules, mark)
    except PlanError as error:
        first, why = None, str(error)
    if first is None:
        return {"rules": None, "proof": proof, "compared": [], "gain": {}, "outcome": "unproven", "said": why}, []
    own, last, harmed = _own(first), first, _harmed(work, first)
    kept = _kept(rules, first, harmed, only_faster=True)
    if own and all(verdict.outcome == "faster" for verdict in own) and _as_they_are(kept, first):
        file = _file(work, 0)
        put(file, rules.text)
        return _left(work, file, proof, (first, first), "proven")
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
        refuted = any(_refuted(verdict) for name in last.verdicts for verdict in last.alone(name))
        if not harmed and not refuted and last.decisions.keys() == last.improvements.keys():
            return _left(work, file, proof, (first, last), "proven")
        kept = _kept(left, last, harmed, only_faster=False)
    wide = first.improvements and (first.too_wide or last.too_wide)
    outcome = "noise" if kept or wide else decide.without_rules(work) if first.improvements else "short"
    return _left(work, None, proof, (first, last), outcome)


def _as_they_are(kept: Collection[DecisionFunction], compared: Compared) -> bool:
    """Whether all rules are kept that were compared, and at all sizes."""
    left = {decision.collective: decision.rules() for decision in kept}
    return left == {name: decision.rules() for name, decision in compared.decisions.items()}


def _file(work: Work, turn: int) -> Path:
    return work.room("compare") / f"{turn}-{name_of(target_of(work))}"


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
    given = tune_check.with_rules(work.installation, tune_check.rules_of(folder), named, han=across)
    decided = {name: named[name] for name in tune_check.measurable(named)}
    plan = plan_of(work, decided, given, everywhere=across or _felt(work))
    campaign = tune_check.prepare(folder, rules.text, plan)
    finish(work, "compare", campaign, given, _LONGEST * work.asked.comparing + _AROUND_S)
    improvements, untrusted, done = {}, {}, campaign.done()
    results = open_results(campaign.result_files()).children if done.measured else {}
    for name, child in results.items():
        measured = child.to_dataset()
        if measured.sizes["method"] == 1:
            continue
        cube = trust.without_doubtful(measured)
        improvements[name] = improvement(cube)
        known, left = (np.isfinite(select_ppn(each)[0]["time"].transpose(*DIMS).values) for each in (measured, cube))
        untrusted[name] = (known & ~left).any(axis=0)
    verdicts = {name: judge(comparison, rules.decisions[name]) for name, comparison in improvements.items()}
    refused = {(name, rows, columns): why for (name, _, rows, columns, *_), why in done.refused.items()}
    return Compared(named, improvements, verdicts, untrusted=untrusted, refused=refused)


def _refuted(verdict: Verdict) -> bool:
    """Whether a rule that was faster before is not beyond noise any more, or slower somewhere."""
    return not verdict.default and (verdict.outcome != "faster" or verdict.slower > 0)


def _own(compared: Compared) -> list[Verdict]:
    """Verdicts on rules that do not leave the decision to the library."""
    return [verdict for each in compared.verdicts.values() for verdict in each if not verdict.default]


def _harmed(work: Work, compared: Compared) -> set[str]:
    """Collectives that are slower where they are left to the library."""
    if not _felt(work):
        return set()
    return {
        name
        for name, each in compared.verdicts.items()
        if any(verdict.default and (verdict.outcome == "slower" or verdict.slower) for verdict in each)
    }


def _felt(work: Work) -> bool:
    """Whether rules are felt where they leave the decision to the library: on nodes with several processes each.

    HAN's own calls, inside of nodes and between them, follow the rules of tuned at their sizes. With one process on
    each node it makes none: what is left to it is left to tuned's own decision, with rules as without. MPICH's device,
    which knows the nodes, decides all of a collective or, beside rules, nothing.
    """
    return target_of(work) in (ACROSS, "mpich") and work.nodes > 1 and not work.asked.one_each(work.nodes)


def _kept(rules: Rules, compared: Compared, harmed: Collection[str], *, only_faster: bool) -> list[DecisionFunction]:
    """The decisions without what a later comparison refutes; `only_faster`, of the first: with what promises to be.

    Of a rule that does not as a whole the cells that are faster by themselves are kept then. What is kept decides
    between sizes that were compared. Those of collectives that are `harmed` where they are left to the library are not
    kept, and later nothing of a rule that is not faster by itself.
    """
    kept = []
    for name, decision in rules.decisions.items():
        if name not in compared.improvements or name in harmed:
            continue
        comparison, verdicts = compared.measured(name), compared.alone(name, PROMISING if only_faster else None)
        if only_faster:
            comparison, verdicts = marked(comparison, verdicts, decision)
        else:
            # Of a rule that is faster, but slower somewhere, what is slower is cut.
            lost = [not verdict.default and verdict.outcome != "faster" for verdict in verdicts]
            verdicts = [
                replace(verdict, outcome="slower") if gone else verdict
                for verdict, gone in zip(verdicts, lost, strict=True)
            ]
        left = without_slower(decision, verdicts, comparison, element_of(name))[0]
        if not only_faster and not is_default(left):
            # What is left of a rule is compared no more.
            again = compared.narrowed({name: left}).alone(name)
            left = without(left, [verdict.node for verdict in again if verdict.outcome != "faster"])
        if not is_default(left):
            kept.append(left)
    return kept


def _left(
    work: Work, file: Path | None, proof: Mapping[str, Any], compared: tuple[Compared, Compared], outcome: str
) -> tuple[dict[str, Any], list[Path]]:
    """What stages after it and the bundle tell of the first comparison and of that of what is left.

    Rules that ask for nothing else than the library does by itself have gained nothing, whatever was compared.
    """
    first, last = compared
    if same := file is not None and proof.get("outcome") == "no difference":
        file, outcome = None, "nothing"
    if file is None or first is last:
        judged = _records(first, kept=file is not None)
        judged = [{**each, "verdict": "own"} if same and each["verdict"] == "faster" else each for each in judged]
    else:
        judged = [*_records(first, kept=False, later=last), *_records(last, kept=True)]
    facts: dict[str, Any] = {
        "rules": None if file is None else str(file.relative_to(work.folder.path)),
        "proof": dict(proof),
        "compared": judged,
        "gain": {} if file is None else {name: last.gain(name) for name in last.improvements},
        "outcome": outcome,
        "harmed": sorted(_harmed(work, first) | _harmed(work, last)),
        **_not_compared(work, first),
    }
    files = [] if file is None else [path for path in (file, han_of(work, file)) if path]
    asked = "all that the rules ask for" if first is last else "all that is left of the rules after comparing"
    return {**facts, "said": _SAME.format(asked) if same else _said(outcome, facts)}, files


def _not_compared(work: Work, compared: Compared) -> dict[str, dict[str, Any]]:
    """By collective the rules that decide sizes of the grid, none of which was compared.

    ``untrusted`` are those whose times could not be trusted, ``refused`` how many ``rules`` could not be called, and
    ``why``; for ``not_compared`` the time did not suffice.
    """
    counts: dict[str, dict[str, Any]] = {"not_compared": {}, "untrusted": {}, "refused": {}}
    for name, decision in compared.decisions.items():
        sizes = np.meshgrid(work.asked.rows, work.asked.columns, indexing="ij")
        deciding = set(decision.leaf_places(*sizes).ravel().tolist())
        judged = {verdict.node for verdict in compared.verdicts.get(name, ()) if verdict.cells}
        for node, rule in decision.rules_by_place().items():
            if node not in deciding - judged or default_of([decision.methods[rule.method]]) is not None:
                continue
            if name in compared.verdicts and compared.lost(name, node):
                counts["untrusted"][name] = counts["untrusted"].get(name, 0) + 1
            elif why := compared.refusal(name, node):
                number = counts["refused"].get(name, {"rules": 0})["rules"]
                counts["refused"][name] = {"rules": number + 1, "why": why}
            else:
                counts["not_compared"][name] = counts["not_compared"].get(name, 0) + 1
    return counts


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
        for verdict, promise in zip(compared.alone(name), compared.alone(name, PROMISING), strict=True)
        if verdict.cells and not verdict.default
        if later is None or promise.outcome != "faster" or not later.has(name, compared, verdict.node)
    ]


def _said(outcome: str, facts: Mapping[str, Any]) -> str:
    if outcome == "proven":
        gains = [
            f"{name} {format_percent(gain['mean'])} less time ({gain['low']:.1f} to {gain['high']:.1f}) in "
            f"{cells_of(gain)}"
            for name, gain in facts["gain"].items()
            if gain["mean"] is not None
        ]
        return "; ".join(gains)
    return {
        "nothing": "nothing is faster than the library's own decision",
        "noise": "times scatter too much to say what is faster",
        "short": "too little was measured to say that nothing is faster",
        "unproven": "what is left of the rules is not proven",
    }[outcome]
