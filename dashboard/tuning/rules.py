"""Rules of the library that is there: written from decision functions, linted, proven, and read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.proof.prove import MOST_RANKS, Wish, prove
from dashboard.benchmarks.proof.report import lines_of
from dashboard.benchmarks.proof.verdict import Proof, Verdict
from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.cutting import CUT, DROPPED, without
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import LEFT_ALONE, Method, default_of
from dashboard.decisions.function.text import region
from dashboard.decisions.grown.default import is_default
from dashboard.domain.units import format_count
from dashboard.export import TARGETS, ExportError, bundle, form, usage, writing
from dashboard.export.components import HAN, named, variant_of
from dashboard.export.form import READ_BY, Form
from dashboard.export.provenance import today
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.openmpi.nodes import HAN_FILE, joined
from dashboard.tuning.decide import decisions_of, prepared_of
from dashboard.tuning.folder import Folder, Result
from dashboard.tuning.stages import Work
from loaders import disk
from loaders.openmpi import DEFAULT_VERSION

_REPORT = "proof.txt"
#: Across nodes fewer of them may all be on the first ones.
_PROVEN_ACROSS = 256
#: What a tree remembers of its measurements.
_DATA = ("digest", "cells", COMM_SIZE, MESSAGE_SIZE)
#: Target of the two files, tuned's and HAN's.
ACROSS = "openmpi-nodes"
_PROOF_S = 300.0
#: Proofs of rules and of what is left of them.
_PROOFS = 3


@dataclass(frozen=True)
class Rules:
    """A rules file: its text, and what it decides as it is read back, by collective."""

    text: str
    decisions: Mapping[str, DecisionFunction]


def target_of(work: Work) -> str:
    """Target that rules of the library are written as; empty where there is none."""
    return form_of(work).target if work.facts("look")["library"] in READ_BY else ""


def name_of(target: str) -> str:
    """Name of the rules' file, in the folders of stages and in the bundle."""
    return f"rules{TARGETS[target].extension}" if target else "rules"


def form_of(tuning: Work | Folder) -> Form:
    """The form of rules that the library reads; `ExportError` where there is none."""
    look = tuning.facts("look")
    return form.form_of(look["library"], look["library_version"], nodes=bool(look.get("across")))


def version_of(work: Work) -> str:
    """Series of Open MPI, as writers and readers of its rules know it."""
    return form_of(work).version if target_of(work) else DEFAULT_VERSION


def order_of(work: Work, decisions: Sequence[DecisionFunction], target: str) -> writing.Order:
    """What is to be written of decision functions, with the measurements they are judged by."""
    made = prepared_of(work)
    parts = [made[decision.collective].problem.slices[0] for decision in decisions]
    return writing.Order.of(target, decisions, parts, version=version_of(work))


def written(work: Work, decisions: Sequence[DecisionFunction], file: Path) -> tuple[Rules | None, dict[str, Any]]:
    """Write the rules of what is not left to the library, and say what that costs; no rules where all of it is."""
    kept = [decision for decision in decisions if not is_default(decision)]
    target = target_of(work)
    if not kept or not target:
        return None, {"losses": {}, "notes": [] if target else ["this library reads no rules"]}
    try:
        made = writing.write(order_of(work, kept, target))
    except ExportError as error:
        return None, {"losses": {}, "notes": [str(error)]}
    put(file, made.text)
    facts = {
        "losses": {part.source.collective: round(part.loss, 4) for part in made.parts if part.loss},
        # What the rules that are left in the end are right for, the bundle says.
        "notes": [f"{part.source.collective}: {n}" for part in made.parts for n in part.notes if n != part.limits]
        + [f"{name}: {why}" for name, why in made.left_out.items()],
    }
    return read(work, made.text), facts


def rewritten(work: Work, decisions: Sequence[DecisionFunction], file: Path, kept: str = "") -> Rules:
    """Write the rules of decision functions that were read back, as what is left of other rules; what was kept."""
    measured = {"library_version": work.facts("look")["library_version"]}
    kept = kept or f"What is faster than the library's own decision, compared on {today()}"
    note = f"{kept}; the rest is left to it."
    # The file of an MPICH has no head, and tells what is its own by the reader that made it.
    headed = decisions if target_of(work) == "mpich" else as_decided(work, decisions)
    text = form_of(work).write(headed, provenance=measured, note=note)
    put(file, text)
    return read(work, text)


def as_decided(work: Work, decisions: Sequence[DecisionFunction]) -> list[DecisionFunction]:
    """Decision functions read back from rules, whose heads say of which trees they are left, and how much is."""
    trees = {decision.collective: decision for decision in decisions_of(work)}
    rows, columns = np.meshgrid(work.asked.rows, work.asked.columns, indexing="ij")
    made = []
    for decision in decisions:
        left = np.array([_left(method) for method in decision.methods])[decision.predict(rows, columns)]
        words = f"{left.sum():,} of the {format_count(left.size, 'size')} asked for, by the tree or after the checks"
        facts = {name: value for name, value in decision.provenance.items() if name not in (DROPPED, CUT)}
        tree = trees.get(decision.collective, decision)
        facts["left_to_the_library"] = words
        # Whoever proves and compares the file takes as many processes as were measured.
        facts |= {name: tree.provenance[name] for name in _DATA if name in tree.provenance}
        made.append(decision.changed(kind=tree.kind, options=tree.options, provenance=facts))
    return made


def put(file: Path, text: str) -> list[Path]:
    """Write rules, which across nodes are two files; which they are."""
    files = [(Path(name), part) for name, part in bundle.files_of(str(file), text)]
    for path, part in files:
        disk.write_text(path, part)
    return [path for path, _ in files]


def han_of(work: Work, file: Path) -> Path | None:
    """HAN's rules that `put` wrote beside a file; None where there are none."""
    return Path(usage.han_name(str(file))) if target_of(work) == ACROSS else None


def text_of(work: Work, file: Path) -> str:
    """The text that `put` was given."""
    han, text = han_of(work, file), disk.read_text(file)
    return text if han is None else joined(text.replace(han.name, HAN_FILE), disk.read_text(han))


def read(work: Work, text: str) -> Rules:
    """Rules as the library reads them; what they leave to HAN, which decides by itself, is left to the library."""
    decisions = {}
    for name, each in form_of(work).read(text).decisions.items():
        methods = [LEFT_ALONE if _is_han_s(method) else method for method in each.methods]
        decisions[name] = each.changed(methods=methods)
    return Rules(text, decisions)


def linted(work: Work, text: str) -> dict[str, Any]:
    """What is wrong with the text of rules."""
    rules_file = read_text(text, version=version_of(work))
    return {"errors": rules_file.errors, "faults": [fault.to_dict() for fault in rules_file.faults]}


def proven(work: Work, file: Path, stage: str) -> Proof:
    """Run the library with the file, as far as processes and time go."""
    most = _PROVEN_ACROSS if work.across else MOST_RANKS
    ranks, han = max(2, min(work.asked.ranks, most)), han_of(work, file)
    wish = Wish(file, work.installation.mpiexec, launcher=work.launcher, ranks=ranks, seconds=_PROOF_S, han=han)
    return prove(wish, lambda share, words: work.at(stage, share, words))


def obeyed(work: Work, file: Path, stage: str, rest: Path) -> tuple[Path, dict[str, Any]]:
    """Prove rules; where the library does something else it decides itself, and what is left of them is proven again.

    Parameters
    ----------
    stage
        That is told how far it is; the report of the last proof is in its folder.
    rest
        Where to write what is left.

    Returns
    -------
    file
        The one that was proven last.
    facts
        `facts_of` its proof, and ``refuted``: in words what the library did not do.
    """
    refuted: list[str] = []
    for left in reversed(range(_PROOFS)):
        proof = proven(work, file, stage)
        disk.write_text(work.room(stage) / _REPORT, "\n".join(lines_of(proof)) + "\n")
        wrong = [verdict for verdict in proof.verdicts if verdict.state in ("other", "failed")]
        kept = _without(read(work, text_of(work, file)).decisions, wrong)
        if not left or not wrong or not kept:
            break
        refuted += [
            f"{verdict.region.collective}, {region(verdict.region.bounds)}: {verdict.region.method.label} is not what "
            f"runs: {' '.join(filter(None, (verdict.seen, verdict.why)))}"
            for verdict in wrong
        ]
        rewritten(work, kept, file := rest, "What the library does as it is told")
    facts = facts_of(proof)
    if refuted:
        facts["said"] += f"; {format_count(len(refuted), 'region')} left to the library, where it did something else"
    return file, {**facts, "refuted": refuted}


def _without(decisions: Mapping[str, DecisionFunction], wrong: Sequence[Verdict]) -> list[DecisionFunction]:
    """The decisions without regions that a proof refuted; those that decide nothing then are not there.

    Where rules that leave a region to the library made it do something else there, it decides all of the collective.
    """
    kept = []
    for name, decision in decisions.items():
        refuted = [verdict.region for verdict in wrong if verdict.region.collective == name]
        if any(_left(region.method) for region in refuted):
            continue
        cells = [region.cells[0] for region in refuted]
        leaves = {int(decision.leaf_places(cell.comm_size, cell.message_size)) for cell in cells}
        kept.append(without(decision, leaves))
    return [decision for decision in kept if not is_default(decision)]


def export(work: Work) -> Result:
    """Stage *export*."""
    file = work.room("export") / name_of(target_of(work))
    rules, facts = written(work, decisions_of(work), file)
    if rules is None:
        said = "; ".join(facts["notes"]) or "everything is left to the library's own decision"
        return Result({"rules": None, **facts, "said": said})
    decided = {name: decision.leaves for name, decision in rules.decisions.items() if not is_default(decision)}
    lost = "; ".join(f"{name} loses {points:.2f} points" for name, points in facts["losses"].items())
    said = f"{format_count(sum(decided.values()), 'rule')} for {', '.join(decided)}" + (f"; {lost}" if lost else "")
    files = [path for path in (file, han_of(work, file)) if path]
    return Result({"rules": str(file.relative_to(work.folder.path)), **facts, "said": said}, files)


def lint(work: Work) -> Result:
    """Stage *lint*."""
    if (file := file_of(work)) is None:
        return Result({"errors": 0, "faults": [], "said": "no rules"})
    facts = linted(work, text_of(work, file))
    others = len(facts["faults"]) - facts["errors"]
    return Result({**facts, "said": f"{format_count(facts['errors'], 'error')}, {format_count(others, 'remark')}"})


def prove_stage(work: Work) -> Result:
    """Stage *prove*."""
    if (file := file_of(work)) is None:
        return Result({"holds": None, "said": "no rules"})
    if work.facts("lint")["errors"]:
        return Result({"holds": False, "said": "not run: the rules have errors"})
    left, facts = obeyed(work, file, "prove", rest := work.room("prove") / file.name)
    files = [rest.with_name(_REPORT), *(path for path in (left, han_of(work, left)) if path and left == rest)]
    return Result({**facts, "rules": str(left.relative_to(work.folder.path))}, files)


def facts_of(proof: Proof) -> dict[str, Any]:
    """What of a proof later stages and the bundle tell."""
    record = proof.to_dict()
    kept = {name: record[name] for name in ("holds", "outcome", "taken", "counts", "ranks", "notes")}
    ran = proof.count("proven", "same graph")
    word = proof.outcome if proof.holds else "NOT PROVEN"
    left = sum(verdict.state == "not run" and _left(verdict.region.method) for verdict in proof.verdicts)
    said = f"{word}: {ran} of {len(proof.verdicts) - left} regions run as asked"
    said += f", {left} more left to the library" if left else ""
    kept["unsafe"] = list(map(str, proof.unsafe))
    return {**kept, "regions": len(proof.verdicts), "left": left, "ran": ran, "said": said}


def _left(method: Method) -> bool:
    return default_of([method]) is not None or _is_han_s(method)


def _is_han_s(method: Method) -> bool:
    """Whether HAN decides, by itself."""
    return named(method) == HAN and not variant_of(method)


def file_of(work: Work, stage: str = "export") -> Path | None:
    """The rules that *export* wrote, or that *prove* left of them; None where there are none."""
    named = work.facts(stage).get("rules")
    return work.folder.path / named if named else None
