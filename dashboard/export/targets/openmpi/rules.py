"""Decision functions as Open MPI rules of version 1 and 2, the text that ``coll_tuned_dynamic_rules_filename`` names.

Version 1 is for Open MPI 4.x and 5.x; version 2, with the number of requests of alltoall's linear_sync, for 5.0.7 and
newer. Open MPI 6 reads both, but shifts communicator sizes by one set: write version 3 for it
(`dashboard.export.targets.openmpi.json_file`).
"""

from collections.abc import Sequence
from typing import Literal

from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.components import OF_SITES, TUNED_FIRST
from dashboard.export.library_names import Choice, algorithm_names
from dashboard.export.remarks import about, hashed
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target, Weights, series_of
from dashboard.export.targets.c.text import comment_text
from dashboard.export.targets.openmpi.plan import Plan, notes_of, plans
from loaders.openmpi import COLLECTIVE_IDS, DEFAULT_VERSION, algorithms

_COMPARED = {
    "message": "bytes of the message",
    "total": "bytes in total: block per process x processes",
    "nothing": "always 0: the library compares no message size here",
}


def to_openmpi(
    decisions: Decisions,
    *,
    provenance: Facts = None,
    cubes: Cubes = None,
    version: str = DEFAULT_VERSION,
    most_rules: int | None = None,
    weights: Weights = None,
    file_version: Literal[1, 2] = 1,
    han: str = "",
) -> str:
    """Write decision functions as rules of version 1 or 2.

    Sizes are converted to what the library compares: for allgather, alltoall, gather, scatter and
    reduce_scatter the total of all processes. Trees of the two sizes are said exactly where message sizes are
    compared; where totals are, exactly for every communicator size up to the largest measured. Methods become the
    library's numbers: that which was measured (``library_id``), else by name.

    Parameters are those of `dashboard.export.target.Target`; `version` is 4.1 or 5.0, and a `file_version` of 2 also
    says the number of requests. `han` names the file of HAN's rules that belongs to them.

    Raises
    ------
    ExportError
        When the library takes no rules for a collective or lacks a method, when rules cannot say what is
        decided and no measurements are given, or when this version reads the file otherwise.
    """
    wanted = _checked(version, file_version)
    collective_plans = plans(decisions, wanted, cubes, most_rules, weights)
    lines = ["rule-file-version-2"] if file_version == 2 else []
    lines += hashed(_head(collective_plans, wanted, file_version, han))
    for plan in collective_plans:
        lines += ["#", *hashed(about(plan.source, provenance, plan.notes, plan.cost))]
    lines += hashed([origin.generated(provenance)])
    lines.append(f"{len(collective_plans)} # collectives")
    for plan in collective_plans:
        lines += _collective(plan, wanted, file_version)
    return "\n".join(lines) + "\n"


def _checked(version: str, file_version: int) -> str:
    wanted = series_of(version)
    if wanted == "6.0":
        raise ExportError("Open MPI 6 shifts the communicator sizes of this format; write openmpi-json for it")
    if file_version == 2 and wanted == "4.1":
        raise ExportError("Open MPI 4.1 silently ignores rules of version 2; write version 1 for it")
    return wanted


def _head(collective_plans: Sequence[Plan], version: str, file_version: int, han: str) -> list[str]:
    names = ", ".join(plan.source.collective for plan in collective_plans)
    since = "5.0.7 and newer 5.x" if file_version == 2 else "4.x and 5.x"
    return [
        f"Rules for Open MPI {since} (algorithm numbers of {version}), version {file_version} of the format: {names}.",
        "Use: mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename THIS_FILE ...",
        *across(han),
        "An algorithm that is forced by a parameter beats them.",
        "Open MPI silently ignores a faulty file; 'colltune lint' finds the fault.",
    ]


def across(han: str) -> list[str]:
    """What holds where there are several nodes, for the head of rules; `han` names HAN's rules that belong to them."""
    sites = " and ".join(OF_SITES)
    if not han:
        return [f"Across nodes HAN is asked first, on some sites {sites}: switch them off (--mca coll {TUNED_FIRST})."]
    return [
        f"Across nodes HAN is asked first, by its rules in {han}, which belong to these:",
        f"  --mca coll_han_use_dynamic_file_rules 1 --mca coll_han_dynamic_rules_filename {han}",
        f"On some sites {sites} are asked before both: switch them off (--mca coll ^{','.join(OF_SITES)}).",
    ]


def _collective(plan: Plan, version: str, file_version: int) -> list[str]:
    name = plan.source.collective
    known = algorithms(name, version)
    lines = [
        f"{COLLECTIVE_IDS.index(name)} # {name}; sizes: {_COMPARED[plan.bands.compared]}",
        f"{len(plan.bands.bands)} # communicator sizes",
    ]
    for start, end, rules in plan.bands.ranges():
        lines += [f"{start} # processes, {'and more' if end is None else f'to {end}'}", f"{len(rules)} # rules"]
        for size, _, place in rules:
            choice = plan.choices[place]
            label = comment_text(plan.methods[place].label)
            algorithm = known.get(choice.algorithm, "default")
            meaning = label if label == algorithm else f"{algorithm}: {label}"
            lines.append(f"{_rule(size, choice, file_version)} # {meaning}")
    return lines


def _rule(size: int, choice: Choice, file_version: int) -> str:
    text = f"{size} {choice.algorithm} {choice.fan_out} {choice.segment_size}"
    return f"{text} {choice.requests}" if file_version == 2 and choice.requests is not None else text


TARGET = Target(
    "openmpi",
    "Open MPI rules (version 1, for 4.x and 5.x)",
    ".conf",
    to_openmpi,
    ("cubes", "version", "most_rules", "weights"),
    use=usage.OPEN_MPI,
    readable=True,
    names=algorithm_names,
    notes=notes_of,
)
