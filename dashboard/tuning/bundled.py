"""Stage *bundle*: what an administrator installs and a user switches on."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.default import is_default
from dashboard.domain.tuning import COMPARED, RULES
from dashboard.domain.units import format_bytes, format_count, format_percent, format_range
from dashboard.export import TARGETS as WRITERS
from dashboard.export import ExportError
from dashboard.export.provenance import generator
from dashboard.export.target import Target
from dashboard.export.unsafe import limits, only_commutative
from dashboard.tuning import switches
from dashboard.tuning.compared import cells_of
from dashboard.tuning.decide import names_decided, stated, unmeasured
from dashboard.tuning.folder import Result
from dashboard.tuning.measure import excluded
from dashboard.tuning.rules import ACROSS, as_decided, name_of, put, read, target_of, text_of, version_of
from dashboard.tuning.stages import Work
from loaders import disk, open_results

_SCRIPT, _LMOD, _TCL, _MCA = "colltune.sh", "colltune.lua", "colltune", "mca-params.conf"
_PRELOAD, _REPORT, _SUMMARY, _README = "preload.c", "report.html", "summary.json", "README.md"
#: Libraries to preload by the target of the rules.
_PRELOADED = {"openmpi": "preload", "openmpi-json": "preload", ACROSS: "preload", "mpich": "preload-mpich"}
#: Why rules are felt where they leave the decision to a library.
_FELT = {
    "Open MPI": "HAN decides, whose own calls follow the rules, too",
    "MPICH": "no rule decides, since its device, which knows the nodes, decides all of a collective or nothing",
}
#: Files that later users of the bundle go by.
RULES_KEY, HAN_KEY = "rules", "rules_of_han"
#: Of the bundle: what programs must heed whose operations do not commute, in words.
LIMITS = "limits"
#: Said in their place of a bundle of an older version, which does not hold them.
UNTOLD = (
    "An older version of colltune made the bundle, which does not tell whether its rules are right for operations that "
    f"do not commute: remove bundle/{_SUMMARY}, and the same command makes it anew."
)


def bundled(work: Work) -> Result:
    """Make the bundle anew; empty of rules where none is better."""
    folder, fresh = work.room("bundle"), work.folder.path / ".bundle"
    with disk.aside(fresh) as partial:
        partial.mkdir()
        summary = _fill(work, partial)
        disk.write_text(partial / _SUMMARY, json.dumps(summary, indent=1) + "\n")
        disk.write_text(partial / _README, readme(summary))
    # What is built in the bundle, such as a library that running jobs have preloaded, stays.
    files = [folder / file.name for file in sorted(fresh.iterdir())]
    for file in files:
        (fresh / file.name).replace(file)
    fresh.rmdir()
    for former in work.folder.written("bundle"):
        if former.parent == folder and former not in files:
            disk.remove(former)
    packed = work.folder.path / "bundle.zip"
    with disk.aside(packed) as partial, ZipFile(partial, "w", ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(work.folder.path))
    facts = {name: summary[name] for name in ("outcome", RULES_KEY, LIMITS)}
    facts["said"] = f"{len(files)} files in {folder}"
    return Result(facts, [*files, packed])


def _fill(work: Work, folder: Path) -> dict[str, Any]:
    """Write the files of the bundle, and give its summary."""
    compared, look, target = work.facts("compare"), work.facts("look"), target_of(work)
    summary = _summary(work, compared, look)
    if named := compared.get("rules"):
        text, name = text_of(work, work.folder.path / named), name_of(target)
        summary[RULES_KEY], *beside = (path.name for path in put(folder / name, text))
        summary[HAN_KEY] = beside[0] if beside else None
        decisions = read(work, text).decisions
        used = {method.algorithm for each in decisions.values() for method in each.methods}
        ruled = [collective for collective, made in decisions.items() if not is_default(made)]
        said = switches.variables(target, name, ruled, nodes=look["nodes"] or 2, adapt="adapt" in used)
        words = f"MPI collectives tuned for {look['library']} {look['library_version']} on {summary['system']}"
        here = str((work.folder.path / "bundle").resolve())
        disk.write_text(folder / _SCRIPT, switches.environment_script(said, summary[RULES_KEY], here))
        disk.write_text(folder / _LMOD, switches.lmod(said, words))
        disk.write_text(folder / _TCL, switches.tcl(said, words))
        if parameters := switches.mca_parameters(said, here):
            disk.write_text(folder / _MCA, parameters)
        summary["preload"] = _preload(work, text, folder / _PRELOAD)
        options = {"version": version_of(work)}
        summary["only_commutative"] = {
            each: labels for each, made in decisions.items() if (labels := only_commutative(made, target, options))
        }
        summary[LIMITS] = _limits(summary)
        summary["further"] = _further(work, text, folder)
        summary["variables"] = {name: value.replace(switches.HERE, here) for name, value in said.items()}
    if work.report is not None and (names := names_decided(work)):
        work.at("bundle", 0.5, "the report")
        work.report(work.folder.results, names, folder / _REPORT)
        summary["report"] = _REPORT
    return summary


def _limits(summary: Mapping[str, Any]) -> str:
    """What programs must heed whose operations do not commute; empty where all may be switched on."""
    said = limits(summary["only_commutative"])
    passed = " It may preload the bundle's library instead, which leaves such calls to the library's own decision."
    return said + passed if said and summary["preload"] else said


def _preload(work: Work, text: str, file: Path) -> dict[str, Any] | None:
    """Write the same decisions as a library to preload; None where that cannot be."""
    if (name := _PRELOADED.get(target_of(work))) is None:
        return None
    # MPICH's file is a complete one, with collectives that nobody decided.
    asked = read(work, text).decisions.items()
    decisions = [decision for collective, decision in asked if collective in work.asked.collectives]
    try:
        target = _written_as(work, name, decisions, file)
    except ExportError:
        return None
    steps = target.steps(file.name, [decision.collective for decision in decisions])
    return {"file": file.name, "target": target.name, "steps": [step._asdict() for step in steps]}


def _further(work: Work, text: str, folder: Path) -> str | None:
    """Write the same decisions as the target that was asked for; the name of the file."""
    name = work.asked.target
    if name in (RULES, "preload", target_of(work)):
        return None
    file = folder / f"decisions-{name}{WRITERS[name].extension}"
    _written_as(work, name, [*read(work, text).decisions.values()], file)
    return file.name


def _written_as(work: Work, name: str, decisions: Sequence[DecisionFunction], file: Path) -> Target:
    """Write decisions of rules as a target, which is returned; `ExportError` where that cannot be."""
    target = WRITERS[name]
    options = {"version": version_of(work)} if "version" in target.options else {}
    disk.write_text(file, target.write(as_decided(work, decisions), None, **options))
    return target


def _summary(work: Work, compared: Mapping[str, Any], look: Mapping[str, Any]) -> dict[str, Any]:
    """All that is known, as programs read it."""
    asked, measured = work.asked, work.facts("measure")
    cubes = {name: child.to_dataset() for name, child in open_results(work.folder.results).children.items()}
    seen = next(iter(cubes.values())).attrs
    spans = {name: _ends(cube[MESSAGE_SIZE].values.tolist()) for name, cube in cubes.items()}
    # Jobs of an array run on no more nodes than they need.
    nodes = max(map(int, re.findall(r"\d+", str(seen.get("nodes", "")))), default=look["nodes"])
    return {
        "format": "colltune tune",
        "generator": generator(),
        "outcome": compared["outcome"],
        "library": look["library"],
        "library_version": look["library_version"],
        "system": seen.get("system") or look["system"],
        "nodes": nodes,
        "ranks": asked.ranks,
        "collectives": list(asked.collectives),
        "comm_sizes": _ends(size for cube in cubes.values() for size in cube[COMM_SIZE].values.tolist()),
        "message_sizes": _ends(size for ends in spans.values() for size in ends),
        "spans": spans,
        "workload": asked.workload,
        RULES_KEY: None,
        HAN_KEY: None,
        "only_commutative": {},
        LIMITS: "",
        "gain": compared["gain"],
        "compared": compared["compared"],
        "proof": compared.get("proof") or work.facts("prove"),
        "harmed": compared.get("harmed", []),
        "not_compared": compared.get("not_compared", {}),
        "untrusted": compared.get("untrusted", {}),
        "refused": compared.get("refused", {}),
        "not_as_decided": work.facts("export").get("notes", []),
        "excluded": excluded(work.folder),
        "decided": stated(work.folder),
        "measured": {name: measured[name] for name in ("measured", "refused", "spent", "expected_loss")},
        "launches": asked.launches,
        "preload": None,
        "further": None,
        "report": None,
        "variables": {},
        "load": os.getloadavg()[0],
    }


#: What came of it, in words.
OUTCOMES = {
    "proven": "The rules are proven, and nothing of them is slower than the library's own decision where compared.",
    "nothing": "Nothing is faster than the library's own decision beyond noise: there is nothing to switch on.",
    "noise": "Times scattered too much to say what is faster: measure again on a quiet machine (--again).",
    "short": "Whether anything is faster than the library's own decision is not known.",
    "unproven": "The rules are not proven, so that none are given.",
}


def verdict(outcome: str, decided: Mapping[str, Mapping[str, Any]]) -> str:
    """What came of it in words, and which collectives it says nothing of; empty where nothing came yet."""
    if outcome not in OUTCOMES:
        return ""
    lacking = unmeasured(decided, outcome)
    return OUTCOMES[outcome] + (
        f" The time was too short to measure {', '.join(lacking)} (--budget)." if lacking else ""
    )


def readme(summary: Mapping[str, Any]) -> str:
    """Write what the bundle is, for administrators and users."""
    lines = [
        f"# MPI collectives tuned for {summary['library']} {summary['library_version']} on {summary['system']}",
        "",
        f"Made by {summary['generator']}. {verdict(summary['outcome'], summary['decided'])}",
        f"Measured with {summary['ranks']} processes: {_measured(summary)}.",
        "What lies beyond is left to the library.",
        "",
        *([f"**{limited}**", ""] if (limited := summary.get(LIMITS)) else []),
    ]
    if summary[RULES_KEY]:
        lines += _switching(summary)
    lines += ["## What is gained", "", *_gains(summary), "", "## What is not", "", *_not(summary), ""]
    return "\n".join(lines)


def _measured(summary: Mapping[str, Any]) -> str:
    """Which collectives were measured at which sizes."""
    named = {
        name: any(ends) and format_range(ends[0], ends[1], format_bytes) for name, ends in summary["spans"].items()
    }
    communicators = f"communicators of {format_range(*summary['comm_sizes'])}"
    if len(same := {*filter(None, named.values())}) == 1:
        return f"{', '.join(named)}, {communicators}, messages of {same.pop()}"
    return f"{', '.join(f'{name} ({sizes})' if sizes else name for name, sizes in named.items())}, {communicators}"


def _ends(sizes: Iterable[int]) -> list[int]:
    """The smallest and the largest."""
    every = list(sizes)
    return [min(every), max(every)]


def _switching(summary: Mapping[str, Any]) -> list[str]:
    lines = [
        "## Switch it on, and off",
        "",
        "In this folder, for all programs that are started then, by bash, zsh or ksh:",
        "",
        f"    . ./{_SCRIPT}            # on",
        f"    . ./{_SCRIPT} off        # off",
        "",
        "As a module: `module use` this folder, or a copy of it as a whole, then `module load colltune` switches on,",
        f"`module unload colltune` off. `{_LMOD}` is for Lmod, `{_TCL}` for Tcl modules; the rules must lie beside it.",
    ]
    if any(name.startswith("OMPI_MCA_") for name in summary["variables"]):
        lines.append(f"For everybody: append `{_MCA}` to the library's `etc/openmpi-mca-params.conf`.")
    if own := summary["preload"]:
        lines += [
            "Or as a library to preload, which decides by the same rules (not proven by itself), but for reductions by",
            "operations that do not commute: these it leaves to the library, which without the rules decides itself.",
            "",
            *(line for step in own["steps"] for line in (step["words"], f"    {step['command']}")),
        ]
    if summary["further"]:
        lines.append(f"`{summary['further']}` has the same decisions; it is not proven.")
    return [*lines, ""]


def _gains(summary: Mapping[str, Any]) -> list[str]:
    lines = [
        f"- {name}: {format_percent(gain['mean'])} less time than the library's own decision (95 %: {gain['low']} to "
        f"{gain['high']} %), in {cells_of(gain)}, {summary['launches']} fresh launches of each comparison"
        for name, gain in summary["gain"].items()
        if gain["mean"] is not None
    ]
    lines += [
        f"- {record['collective']}, {record['rule']}: {record['method']}, "
        f"{format_percent(record['improvement'])} less in {format_count(record['cells'], 'size')} compared"
        for record in summary["compared"]
        if record["kept"]
    ]
    return lines or ["- nothing"]


def _not(summary: Mapping[str, Any]) -> list[str]:
    proof = summary["proof"]
    lines = [f"- proof: {proof['said']}", *(f"- proof: {note}" for note in proof.get("notes", ()))]
    lines += [f"- proof: the rules ask for what is unsafe: {finding}" for finding in proof.get("unsafe", ())]
    counts = proof.get("counts", {})
    if counts.get("same graph"):
        lines.append(f"- {format_count(counts['same graph'], 'region')} with messages that other methods send, too")
    if unknown := counts.get("not run", 0) - proof.get("left", 0):
        lines.append(f"- {format_count(unknown, 'region')} not proven: not run here")
    lines += [f"- left to the library: {words}" for words in proof.get("refuted", ())]
    lines += [
        f"- left to the library: {record['collective']}, {record['rule']}: {record['method']} is "
        f"{COMPARED.get(record['verdict'], record['verdict'])} "
        f"({format_percent(abs(record['improvement']))} {'less' if record['improvement'] > 0 else 'more'} time in "
        f"{format_count(record['cells'], 'size')})"
        for record in summary["compared"]
        if not record["kept"]
    ]
    lines += [
        f"- left to the library: {name}: {format_count(count, 'rule')}, not compared: the time was up (--budget)"
        for name, count in summary["not_compared"].items()
    ]
    lines += [
        f"- left to the library: {name}: {format_count(count, 'rule')}, compared by times that cannot be trusted"
        for name, count in summary.get("untrusted", {}).items()
    ]
    lines += [
        f"- left to the library: {name}: {format_count(refused['rules'], 'rule')}, not compared: {refused['why']}"
        for name, refused in summary.get("refused", {}).items()
    ]
    lines += [f"- left to the library: {name}: slower where {_FELT[summary['library']]}" for name in summary["harmed"]]
    lines += [f"- excluded as unsafe: {method['why']}" for method in summary["excluded"]]
    lines += [
        f"- not decided: {name}: {facts['why_not']}" for name, facts in summary["decided"].items() if "why_not" in facts
    ]
    lines += [f"- not as decided: {note}" for note in summary["not_as_decided"]]
    return lines
