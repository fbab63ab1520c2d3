"""Stage *decide*: the recommended tree of each collective, the library's own decision as the one to be beaten."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.cutting import within_measured
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.grown.default import FAMILY as DEFAULT
from dashboard.decisions.grown.default import is_default
from dashboard.decisions.judged.folds import with_cubes
from dashboard.decisions.judged.penalty import summarise
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.map import methods_of
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces.family import recommended
from dashboard.domain.errors import DecisionError, OptionError
from dashboard.domain.units import format_count, format_percent
from dashboard.session.prepared import Prepared, prepare
from dashboard.session.treatment import Treatment, Workload
from dashboard.tuning.folder import Folder, Result
from dashboard.tuning.stages import Work
from loaders import disk, open_results
from loaders.workload import read_workload

#: Percent of less time that another method must take than the library's own decision to be taken instead.
MARGIN = 3.0
_FILE = "decisions.json"
_TOO_SHORT = "in this time; ask for more (--budget)"
UNMEASURED = f"nothing was measured {_TOO_SHORT}"
#: Of what the stage says of a collective: that less than half of its sizes were measured, in words.
_FEW = "few"


def unmeasured(decided: Mapping[str, Mapping[str, Any]], outcome: str) -> list[str]:
    """The collectives for which the time was too short, by what the stage says of each and what came of all."""
    return [
        name
        for name, facts in decided.items()
        if facts.get("why_not") == UNMEASURED or (_FEW in facts and (facts["default"] or outcome != "proven"))
    ]


def stated(folder: Folder) -> dict[str, Any]:
    """What the stage says of each collective, by the tuning of each that was made last."""
    return {**folder.facts("decide").get("collectives", {}), **folder.facts("compare").get("decided", {})}


def without_rules(work: Work) -> str:
    """What came of it where no rules are faster: that nothing is, is known by enough sizes only."""
    decided = work.facts("decide")["collectives"]
    if any("why_not" not in facts and _FEW not in facts for facts in decided.values()):
        return "nothing"
    return "short" if unmeasured(decided, "short") else "noise"


def decide(work: Work) -> Result:
    """Decide each collective by what was measured."""
    decisions, facts = [], {}
    for name, prepared in prepared_of(work).items():
        try:
            decisions.append(decided(prepared))
        except DecisionError as error:
            doubtful = prepared.doubtful.get(name)
            why = "" if doubtful is None or not len(doubtful) else f"; {trust.words(doubtful)}"
            facts[name] = {"why_not": f"{error}{why}"}
        else:
            facts[name] = _facts(prepared, decisions[-1])
            facts[name] |= _few(work, prepared.measured[name], name)
    called = {name for name, *_ in work.asked.calls()} or work.asked.collectives
    for name in work.asked.collectives:
        facts.setdefault(name, {"why_not": UNMEASURED if name in called else "the workload never calls it"})
    file = work.room("decide") / _FILE
    save(file, decisions)
    return Result({"collectives": facts, "said": _said(facts)}, [file])


def prepared_of(work: Work) -> dict[str, Prepared]:
    """The measurements of each collective, as pages and commands prepare them."""
    workload = Workload.of(read_workload(work.asked.workload)) if work.asked.workload else None
    children = open_results(work.folder.results).children
    names = [name for name in work.asked.collectives if name in children]
    return {name: prepare(children[name].to_dataset(), Treatment(workload=workload)) for name in names}


def decided(prepared: Prepared) -> DecisionFunction:
    """Grow the recommended tree; what lies beyond the measured sizes is left to the library.

    Raises
    ------
    DecisionError
        There is nothing to decide by.
    """
    return within_measured(recommended(favoured(prepared.learnt)))


def _few(work: Work, cube: xr.Dataset, name: str) -> dict[str, str]:
    """Say that less than half of the message sizes were measured, where that is so."""
    calls = {size for called, _, size in work.asked.calls() if called == name}
    asked = {cell.message_size for cell in work.folder.campaign.plan().cells() if cell.collective == name}
    asked = asked & calls or asked
    known = asked.intersection(cube["message_size"].values.tolist())
    if 2 * len(known) >= len(asked):
        return {}
    return {_FEW: f"{len(known)} of {format_count(len(asked), 'message size')} were measured {_TOO_SHORT}"}


def favoured(problem: Problem) -> Problem:
    """The same problem, in which the library's own decision takes `MARGIN` percent less than was measured."""
    return with_cubes(problem, [_favoured(part.cube) for part in problem.slices])


def _favoured(cube: xr.Dataset) -> xr.Dataset:
    place = default_of(methods_of(cube))
    if place is None:
        return cube
    factor = np.where(np.arange(cube.sizes["method"]) == place, 1 - MARGIN / 100, 1.0)
    return cube.assign(time=cube["time"] * xr.DataArray(factor, dims="method"))


def save(file: Path, decisions: Sequence[DecisionFunction]) -> None:
    """Write decision functions."""
    disk.write_text(file, json.dumps([decision.to_dict() for decision in decisions], indent=1, allow_nan=False) + "\n")


def names_decided(work: Work) -> list[str]:
    """The collectives that could be decided."""
    return [name for name, row in work.facts("decide")["collectives"].items() if "why_not" not in row]


def decisions_of(work: Work) -> list[DecisionFunction]:
    """What the stage decided."""
    return DecisionFunction.load_all(work.folder.path / "decide" / _FILE)


def mean_penalty(problem: Problem, decision: DecisionFunction) -> float | None:
    """Mean penalty over the measured cells, percent, by the workload if there is one; None where there are none."""
    mean = summarise(problem.penalties(decision)[0]).mean
    return round(mean, 4) if np.isfinite(mean) else None


def default_penalty(problem: Problem) -> float | None:
    """Mean penalty of the library's own decision; None where nobody measured that."""
    try:
        return mean_penalty(problem, DEFAULT.grow(problem))
    except OptionError:
        return None


def _facts(prepared: Prepared, decision: DecisionFunction) -> dict[str, Any]:
    used = {decision.methods[place].label for place in decision.used}
    name = next(iter(prepared.measured))
    return {
        "leaves": decision.leaves,
        "methods": sorted(used),
        "default": is_default(decision),
        "penalty": mean_penalty(prepared.problem, decision),
        "penalty_of_default": default_penalty(prepared.problem),
        "doubtful": len(prepared.doubtful[name]),
    }


def _said(facts: dict[str, dict[str, Any]]) -> str:
    parts = []
    for name, row in facts.items():
        if "why_not" in row:
            parts.append(f"{name}: {row['why_not']}")
            continue
        own = "the library's own" if row["penalty_of_default"] is None else format_percent(row["penalty_of_default"])
        leaves = "all left to the library" if row["default"] else format_count(row["leaves"], "leaf", "leaves")
        mean = format_percent(float("nan") if row["penalty"] is None else row["penalty"])
        few = f"; {row[_FEW]}" if _FEW in row else ""
        parts.append(f"{name} {leaves}, {mean} from the best (the library by itself {own}){few}")
    return "; ".join(parts)
