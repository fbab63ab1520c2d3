"""Decision functions as Open MPI rules of version 3, the JSON that Open MPI 6 reads.

Keys and names are those that the library's reader looks for; its published schema lacks some of them and spells others
in another way. Every set and every rule tells both its ends, so that nothing depends on their order.
"""

import json
from typing import Any

from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.library_names import Choice, algorithm_names
from dashboard.export.parts import per_collective
from dashboard.export.remarks import about, wrapped
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target, Weights
from dashboard.export.targets.openmpi.plan import Plan, notes_of, plans
from dashboard.export.targets.openmpi.rules import across

VERSION = "6.0"


def to_openmpi_json(
    decisions: Decisions,
    *,
    provenance: Facts = None,
    cubes: Cubes = None,
    most_rules: int | None = None,
    weights: Weights = None,
    han: str = "",
) -> str:
    """Write decision functions as rules of version 3.

    Parameters and errors are those of `dashboard.export.targets.openmpi.rules.to_openmpi`. What that writes as comments
    is here under the key ``comment``, which the library does not look at.
    """
    collective_plans = plans(decisions, VERSION, cubes, most_rules, weights)
    alone = _one_per_node(decisions)
    comment = [
        "Rules for Open MPI 6 and newer, version 3 of the format.",
        "Use: mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename THIS_FILE ...",
        *across(han),
        origin.generated(provenance),
    ]
    for plan in collective_plans:
        comment += about(plan.source, provenance, plan.notes, plan.cost)
        if plan.source.collective in alone:
            comment.append(f"{plan.source.collective}: where each process has a node of its own, as decided for these.")
    document = {
        "rule_file_version": 3,
        "module": "tuned",
        "comment": wrapped(comment),
        # The first set that fits acts.
        "collectives": {
            name: [*(_sets(alone[name], "one-per-node") if name in alone else ()), *_sets(plan)]
            for plan in collective_plans
            for name in (plan.source.collective,)
        },
    }
    return json.dumps(document, indent=1) + "\n"


def _one_per_node(decisions: Decisions) -> dict[str, Plan]:
    """Plans for communicators with one process on each node, of decisions that ask for it and were measured so."""
    lone_plans = {}
    for decision in per_collective(decisions):
        if "ppn" not in decision.needs or 1 not in (decision.provenance.get("ppns") or ()):
            continue
        try:
            (lone_plans[decision.collective],) = plans([decision.restricted(ppn=1)], VERSION)
        except ExportError:
            # What these rules cannot say exactly is left to those for any.
            continue
    return lone_plans


def _sets(plan: Plan, distribution: str = "any") -> list[dict[str, Any]]:
    return [
        {
            "comm_size_min": start if start > plan.bands.bands[0].start else 0,
            **({} if end is None else {"comm_size_max": end}),
            "comm_rank_distribution": distribution,
            "rules": [_rule(plan.choices[method], size, last) for size, last, method in rules],
        }
        for start, end, rules in plan.bands.ranges()
    ]


def _rule(choice: Choice, size: int, last: int | None) -> dict[str, Any]:
    rule: dict[str, Any] = {"msg_size_min": size, "msg_size_max": "inf" if last is None else last}
    # By number: names differ between versions of the library, and an unknown one disables its rule in silence.
    rule["alg"] = choice.algorithm
    rule.update({"faninout": choice.fan_out, "seg_size": choice.segment_size})
    if choice.requests is not None:
        rule["reqs"] = choice.requests
    return rule


TARGET = Target(
    "openmpi-json",
    "Open MPI rules (version 3, JSON, for 6.x)",
    ".json",
    to_openmpi_json,
    ("cubes", "most_rules", "weights"),
    use=usage.OPEN_MPI,
    readable=True,
    names=algorithm_names,
    notes=notes_of,
)
