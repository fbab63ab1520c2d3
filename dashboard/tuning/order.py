"""The stages in their order, and what came of them all."""

from collections.abc import Mapping
from typing import Any

from dashboard.domain.units import format_duration
from dashboard.tuning import bundled, compare, decide, look, measure, rules
from dashboard.tuning.folder import Folder
from dashboard.tuning.stages import Stage, Work, run, said

_SIZES = ("collectives", "ranks", "comm_sizes", "message_sizes", "seconds", "workload_digest", "slurm", "launch")
STAGES = (
    Stage("look", look.look, asks=(*_SIZES, "checked"), always=True),
    Stage("measure", measure.measure, after=("look",), asks=(*_SIZES, "checked")),
    Stage("decide", decide.decide, after=("measure",), asks=("collectives", "workload_digest")),
    Stage("export", rules.export, after=("look", "decide")),
    Stage("lint", rules.lint, after=("export",)),
    Stage("prove", rules.prove_stage, after=("look", "export", "lint"), asks=("ranks",)),
    Stage("compare", compare.compare, after=("look", "measure", "prove", "export"), asks=(*_SIZES, "launches")),
    Stage("bundle", bundled.bundled, after=("look", "measure", "decide", "compare"), asks=("target",)),
)

#: Exit status by what came of it.
EXITS: Mapping[str, int] = {"proven": 0, "nothing": 3, "unproven": 4, "noise": 5, "short": 5}


def tune(work: Work, until: str = "") -> dict[str, bool]:
    """Do all that is missing or has changed.

    Returns
    -------
    dict
        For each stage whether it was done now.

    Raises
    ------
    PlanError
        The library cannot be tuned; no folder is made.
    """
    look.refuse_fixed(work.installation.library)
    with work.folder.held():
        work.folder.keep_asked(work.asked.to_json())
        return run(work, STAGES, until)


def answer(folder: Folder, done: Mapping[str, bool]) -> dict[str, Any]:
    """What ``colltune tune --json`` says."""
    state, compared, lost = folder.state(), folder.facts("compare"), folder.lost
    bundle = {} if lost else folder.facts("bundle")
    if lost:
        state["measure"] = {"state": "failed", "reason": "its results are gone; the same command measures anew"}
    proof = compared.get("proof") or folder.facts("prove")
    stages = {
        stage.name: {
            "state": state.get(stage.name, {}).get("state", "waiting"),
            "seconds": state.get(stage.name, {}).get("seconds"),
            "again": done.get(stage.name, False),
            "said": said(state.get(stage.name, {})) or state.get(stage.name, {}).get("reason", ""),
        }
        for stage in STAGES
    }
    named = state.get("bundle", {}).get("files", {})
    return {
        "folder": str(folder.path),
        "stages": stages,
        "files": [str(folder.path / file) for file in named],
        "outcome": bundle.get("outcome"),
        # Of what was proven last, whether any of it is kept or not; what is left to the library is not asked for.
        "proven": proof.get("ran", 0) if proof.get("holds") else 0,
        "regions": proof.get("regions", 0) - proof.get("left", 0),
        "compared": compared.get("compared", []),
        "gain": compared.get("gain", {}),
        bundled.LIMITS: bundle.get(bundled.LIMITS, bundled.UNTOLD if bundle.get(bundled.RULES_KEY) else ""),
        "excluded": measure.excluded(folder),
        "decided": decide.stated(folder),
        "expected_loss": folder.facts("measure").get("expected_loss", {}),
    }


def lines_of(summary: Mapping[str, Any]) -> list[str]:
    """What is said at the end, in about ten lines."""
    stages = summary["stages"]
    width = max(len(stage["state"]) for stage in stages.values())
    lines = [
        f"{name:8} {stage['state']:{width}} {_took(stage['seconds']):>7}  {stage['said']}".rstrip()
        for name, stage in stages.items()
    ]
    ends = bundled.verdict(str(summary["outcome"]), summary["decided"]), summary[bundled.LIMITS]
    return [*lines, *filter(None, ends)]


def _took(seconds: float | None) -> str:
    return "" if seconds is None else format_duration(seconds)
