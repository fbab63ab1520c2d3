"""What a run file says of all of its points: where and how they were measured."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.libraries.own_settings import ADDED
from dashboard.benchmarks.ranks import surroundings
from loaders.facet_names import ADAPTIVE, ANEW, POINTS

_STATISTICS = {
    "skampi": "latest end over processes after a common start; where they share cores (starts: barrier), or none could "
    "start in time, the longest time of a process after a barrier",
    "occ": "maximum over processes of a barrier-separated loop, per repetition, less the barrier's time",
}


def attrs_of(plan: Plan, nodes: Sequence[str], forced: Mapping[str, str] | None) -> dict[str, Any]:
    """What holds for the whole run, as `loaders.RunWriter` takes it.

    Parameters
    ----------
    nodes
        Name of each rank's node.
    forced
        Variables that forced the one method of this launch; None: methods are switched.
    """
    count = len(set(nodes))
    return {
        "system": surroundings.system(),
        "network": surroundings.network(count),
        "benchmark": f"colltune bench, {plan.protocol.name}",
        "statistic": _STATISTICS[plan.protocol.name],
        "statistic_kind": "completion",
        "datatype": plan.datatype,
        "operation": plan.operation,
        "ranks": len(nodes),
        "nodes": count,
        "rank_nodes": surroundings.rank_nodes(nodes),
        "cores_per_node": os.cpu_count() or 0,
        "seed": plan.seed,
        "date": surroundings.now(),
        "protocol": " ".join(f"{name}={value}" for name, value in asdict(plan.protocol).items()),
        "environment": surroundings.settings(forced or ()),
        "added_settings": os.environ.get(ADDED, ""),
        "launch_per_method": int(forced is not None),
        **({} if plan.goal is None else {POINTS: ADAPTIVE}),
        **({POINTS: ANEW} if plan.anew else {}),
    }
