"""Two tunings beside each other: what one site's rules cost on the other's measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import CampaignError
from dashboard.export.rules import RulesFile
from dashboard.export.rules.given import read_beside
from dashboard.export.rules.lint import read_rules
from dashboard.export.rules.over import costs
from dashboard.export.usage import han_name
from dashboard.session.prepared import prepare
from dashboard.tuning.decide import default_penalty
from dashboard.tuning.folder import Folder
from loaders import open_results
from loaders.openmpi import DEFAULT_VERSION, VERSIONS, series


def beside(folder: Folder, other: Folder) -> list[dict[str, Any]]:
    """Judge the rules of both tunings by the measurements of the first.

    Returns
    -------
    list of dict
        For each collective that both have: ``collective``, and mean penalties over the measured cells in percent of
        the library's own decision (``default``), of its own rules (``own``) and of the other's (``other``); None where
        there are none, since all of it is left to the library.

    Raises
    ------
    CampaignError
        One of them holds no measurements.
    """
    names = [_collectives(tuning) for tuning in (folder, other)]
    results = open_results(folder.results)
    shared = [name for name in names[0] if name in names[1] and name in results.children]
    prepared = {name: prepare(results[name].to_dataset()) for name in shared}
    cubes = {name: preparation.problem.slices[0].cube for name, preparation in prepared.items()}
    means = [_means(tuning, cubes) for tuning in (folder, other)]
    return [
        {
            "collective": name,
            "default": default_penalty(preparation.problem),
            **dict(zip(("own", "other"), (each.get(name) for each in means), strict=True)),
        }
        for name, preparation in prepared.items()
    ]


def _collectives(folder: Folder) -> list[str]:
    if not folder.facts("measure") or folder.lost:
        raise CampaignError(f"{folder.path} holds no measurements of colltune tune")
    return list(folder.facts("look")["methods"])


def _means(folder: Folder, cubes: dict[str, Any]) -> dict[str, float]:
    """Mean penalty of a tuning's rules over measurements."""
    if (kept := rules_of(folder)) is None:
        return {}
    rules, version = kept
    return {cost.name: cost.acted.mean for cost in costs(rules, cubes, version, {})[0] if cost.acted is not None}


def rules_of(folder: Folder) -> tuple[RulesFile, str] | None:
    """The rules that a tuning ended with, and the version that they were read for; None where there are none."""
    named = folder.facts("compare").get("rules")
    if not named:
        return None
    try:
        version = series(folder.facts("look")["library_version"])
    except ValueError:
        version = DEFAULT_VERSION
    version = version if version in VERSIONS else DEFAULT_VERSION
    file = Path(folder.path / named)
    if folder.facts("look").get("across"):
        return read_beside(file, Path(han_name(str(file))), version)[1], version
    return read_rules(file, version=version), version
