"""Back again after an upgrade, a new network or a month: which rules still hold, and what is measured anew."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import CampaignError
from dashboard.decisions.grown.default import is_default
from dashboard.domain.units import format_percent
from dashboard.export.provenance import today
from dashboard.tuning.compare import against, settled
from dashboard.tuning.compared import Compared
from dashboard.tuning.folder import Folder, Result
from dashboard.tuning.measure import excluded
from dashboard.tuning.order import STAGES, tune
from dashboard.tuning.rules import facts_of, name_of, obeyed, proven, read, rewritten, target_of, text_of
from dashboard.tuning.stages import Work, run
from loaders import disk

#: Campaigns of the first plan and of later ones.
_MEASURED = re.compile(r"measure(-\d+)?")
_HISTORY, _ROOM, _BEFORE = "history.json", "again", "before"


def again(work: Work) -> dict[str, Any]:
    """Check the rules of the last time, and tune anew what does not hold.

    The rules are proven on the library that is there now and compared with its own decision by fresh launches. Of
    collectives that are no longer proven, slower somewhere, or no faster any more, everything is measured anew, in a
    folder within this one; the others keep their rules. Where the last time left no rules, or its times are gone, all
    is measured anew here, and what was measured then is put into a folder within this one.

    Returns
    -------
    dict
        ``checked``: for each collective its gain ``before`` and ``now`` in percent, and whether it ``holds``;
        ``anew``: the collectives that were measured anew.

    Raises
    ------
    CampaignError
        Nothing was tuned here before.
    """
    if not work.facts("compare"):
        raise CampaignError(f"{work.folder.path}: nothing was tuned here before; leave out --again")
    with work.folder.held():
        named, number = work.facts("compare").get("rules"), len(history(work.folder)) + 1
        if not named or work.folder.lost:
            _without_rules(work, number)
            return _kept(work, {}, work.asked.collectives)
        before = work.facts("compare").get("gain", {})
        run(work, STAGES, until="look")
        file = work.folder.path / named
        rules = read(work, text_of(work, file))
        # An MPICH's file has all collectives, also those that nobody asked for.
        ruled = {name: decision for name, decision in rules.decisions.items() if not is_default(decision)}
        proof = proven(work, file, "prove")
        work.tell("prove", None, facts_of(proof)["said"])
        bad = {verdict.region.collective for verdict in proof.verdicts if verdict.state in ("other", "failed")}
        bad |= {finding.collective for finding in proof.unsafe}
        if proof.taken == "no" or proof.errors:
            bad = {*ruled}
        # What is not proven may end the programs that compare it.
        good = {name: decision for name, decision in ruled.items() if name not in bad}
        compared = against(work, replace(rules, decisions=good), f"again {number}") if good else Compared({}, {}, {})
        checked = {name: _checked(compared, name, before, proven_still=name in good) for name in ruled}
        anew = [name for name, check in checked.items() if not check["holds"]]
        work.tell("compare", None, "; ".join(_words(name, check) for name, check in checked.items()))
        if anew:
            _anew(work, ruled, anew, number)
        return _kept(work, checked, anew)


def _kept(work: Work, checked: Mapping[str, Any], anew: Sequence[str]) -> dict[str, Any]:
    """What came of a check, written down beside earlier ones."""
    version = work.facts("look")["library_version"]
    entry = {"date": today(), "library_version": version, "checked": dict(checked), "anew": list(anew)}
    disk.write_text(work.folder.path / _HISTORY, json.dumps([*history(work.folder), entry], indent=1) + "\n")
    return entry


def _without_rules(work: Work, number: int) -> None:
    """Measure all anew; there is nothing to check."""
    room = work.room(_BEFORE)
    while (before := room / str(number)).exists():
        number += 1
    before.mkdir()
    measured = (path for path in work.folder.path.iterdir() if _MEASURED.fullmatch(path.name))
    for path in (*measured, *work.folder.path.glob("compare"), work.folder.state_file):
        path.rename(before / path.name)
    run(work, STAGES)


def history(folder: Folder) -> list[dict[str, Any]]:
    """What came of earlier checks, in their order."""
    file = folder.path / _HISTORY
    return list(disk.read_json(file)) if file.exists() else []


def _checked(compared: Compared, name: str, before: Mapping[str, Any], *, proven_still: bool) -> dict[str, Any]:
    """How the rules of a collective stand now, beside the last time."""
    own = [verdict for verdict in compared.verdicts.get(name, ()) if not verdict.default and verdict.cells]
    slower = sum(verdict.outcome == "slower" or verdict.slower > 0 for verdict in own)
    faster = any(verdict.outcome == "faster" for verdict in own)
    return {
        "before": before.get(name, {}).get("mean"),
        "now": compared.gain(name)["mean"] if name in compared.improvements else None,
        "proven": proven_still,
        "slower": slower,
        "holds": proven_still and faster and not slower,
    }


def _words(name: str, check: Mapping[str, Any]) -> str:
    then, now = (format_percent(check[key]) if check[key] is not None else "unknown" for key in ("before", "now"))
    why = "" if check["proven"] else ", no longer proven"
    return f"{name} {'holds' if check['holds'] else 'does not hold'}{why} (gain {then} then, {now} now)"


def _anew(work: Work, kept: Mapping[str, Any], names: list[str], number: int) -> None:
    """Tune these collectives within the folder, join their rules to those that hold, and bundle anew."""
    inner = Folder(work.room(_ROOM) / str(number))
    part = replace(work, folder=inner, asked=replace(work.asked, collectives=tuple(names)), report=None)
    tune(part, until="compare")
    decisions = [decision for name, decision in kept.items() if name not in names]
    if named := part.facts("compare").get("rules"):
        decisions += read(part, text_of(part, inner.path / named)).decisions.values()
    facts: dict[str, Any] = {**part.facts("compare"), "rules": None}
    files: list[Path] = []
    if decisions:
        file = work.room("compare") / f"again-{number}-{name_of(target_of(work))}"
        rewritten(work, decisions, file)
        _, proof = obeyed(work, file, "compare", file)
        facts, files = settled(work, read(work, text_of(work, file)), proof, f"again {number} joined")
        # What is left to the library of those tuned anew is not among the rules that are joined.
        gone = part.facts("compare")
        facts["compared"] = [*(each for each in gone["compared"] if not each["kept"]), *facts["compared"]]
        facts |= {each: gone.get(each, {}) | facts.get(each, {}) for each in ("not_compared", "untrusted", "refused")}
    facts["unsafe"] = [*(each for each in excluded(work.folder) if each["collective"] not in names), *excluded(inner)]
    facts["decided"] = work.facts("compare").get("decided", {}) | part.facts("decide")["collectives"]
    compare = next(stage for stage in STAGES if stage.name == "compare")
    work.folder.finish("compare", compare.inputs(work), Result(facts, files), 0.0)
    work.tell("compare", None, facts["said"])
    bundle = STAGES[-1]
    run(work, [bundle])
