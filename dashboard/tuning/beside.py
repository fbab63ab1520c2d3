"""Two tunings beside each other: what one site's rules cost on the other's measurements."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import CampaignError
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import DecisionError
from dashboard.export.rules import RulesFile
from dashboard.export.rules.given import read_beside
from dashboard.export.rules.lint import read_rules
from dashboard.export.rules.over import costs
from dashboard.export.usage import han_name
from dashboard.session.prepared import prepare
from dashboard.tuning.decide import default_penalty
from dashboard.tuning.folder import Folder
from dashboard.tuning.rules import form_of
from loaders import open_results


def beside(folder: Folder, other: Folder) -> list[dict[str, Any]]:
    """Judge the rules of both tunings by the measurements of the first.

    Returns
    -------
    list of dict
        For each collective that either was asked for: ``collective``, mean penalties over the measured cells in percent
        of the library's own decision (``default``), of its own rules (``own``) and of the other's (``other``), None
        where there are none, and in words ``why`` not.

    Raises
    ------
    CampaignError
        One of them holds no measurements, or nothing of the other's rules can be judged by those of the first.
    """
    asked = [_collectives(tuning) for tuning in (folder, other)]
    problems, lacking = _measured(folder, asked[0])
    cubes = {name: problem.slices[0].cube for name, problem in problems.items()}
    means = [_means(tuning, cubes) for tuning in (folder, other)]
    rows = []
    for name in dict.fromkeys([*asked[0], *asked[1]]):
        row: dict[str, Any] = {"collective": name, **dict.fromkeys(("default", "own", "other"))}
        if name not in problems:
            rows.append({**row, "why": lacking.get(name, f"not measured in {folder.path}")})
            continue
        row["default"] = default_penalty(problems[name])
        why = [] if row["default"] is not None else ["the library's own decision was not measured"]
        for key, tuning, means_of, names in zip(("own", "other"), (folder, other), means, asked, strict=True):
            mean = means_of.get(name)
            row[key] = None if mean is None or math.isnan(mean) else mean
            why += [_why(tuning, mean, tuned=name in names)] if row[key] is None else []
        rows.append({**row, "why": "; ".join(dict.fromkeys(why))})
    if all(row["other"] is None for row in rows):
        reasons = "; ".join(f"{row['collective']}: {row['why']}" for row in rows)
        raise CampaignError(f"no rules of {other.path} can be judged by what was measured in {folder.path}: {reasons}")
    return rows


def _measured(folder: Folder, names: Sequence[str]) -> tuple[dict[str, Problem], dict[str, str]]:
    """What a tuning measured of collectives, as it is decided by; and why nothing of others can be."""
    results, problems, lacking = open_results(folder.results), {}, {}
    for name in names:
        if name in results.children:
            try:
                problems[name] = prepare(results[name].to_dataset()).problem
            except DecisionError as error:
                lacking[name] = f"{error}, in {folder.path}"
    return problems, lacking


def _why(tuning: Folder, mean: float | None, *, tuned: bool) -> str:
    """Why there is no penalty of a tuning's rules for a collective that was measured."""
    if mean is not None:
        return f"nothing that the rules of {tuning.path} choose was measured"
    return f"no rules in {tuning.path}, {'all is left to the library' if tuned else 'which did not tune it'}"


def _collectives(folder: Folder) -> list[str]:
    if not folder.facts("measure") or folder.lost:
        raise CampaignError(f"{folder.path} holds no measurements of colltune tune")
    return list(folder.facts("look")["methods"])


def _means(folder: Folder, cubes: dict[str, Any]) -> dict[str, float]:
    """Mean penalty of a tuning's rules over measurements, NaN where nothing that they choose was measured."""
    if (rules := rules_of(folder)) is None:
        return {}
    judged = costs(rules, cubes, form_of(folder).version, {})[0]
    return {cost.name: cost.acted.mean for cost in judged if cost.acted is not None}


def rules_of(folder: Folder) -> RulesFile | None:
    """The rules that a tuning ended with, as its library reads them; None where there are none."""
    if not (named := folder.facts("compare").get("rules")):
        return None
    form, file = form_of(folder), folder.path / named
    if folder.facts("look").get("across"):
        return read_beside(file, Path(han_name(str(file))), form.version)[1]
    return read_rules(file, version=form.version, own=form.base)
