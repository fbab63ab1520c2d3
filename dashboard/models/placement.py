"""Ranks on nodes: as they would be placed or were recorded, and which pairs of a grid's groups share a node."""

from collections.abc import Sequence
from typing import Literal

from dashboard.schedules.layout import Grid

Placement = Literal["block", "cyclic"]


def nodes_of(processes: int, ppn: int, placement: Placement = "block") -> list[int]:
    """Node of each rank: `ppn` consecutive ones on each, or one after the other in turn (K's Xeon cluster)."""
    count = -(-processes // ppn)
    return [rank // ppn if placement == "block" else rank % count for rank in range(processes)]


def nodes_recorded(text: str, processes: int, ppn: int | None = None) -> list[int] | None:
    """Node of each rank of a communicator, from the record of a campaign's ranks; None where it says nothing of them.

    Parameters
    ----------
    text
        Such as ``node1 0-1 3, node2 2``: the attribute ``rank_nodes`` of results.
    processes
        Of the communicator: the first ranks, or the first `ppn` of each node.
    """
    by_node: list[list[int]] = []
    for part in text.split(", "):
        runs = [run.split("-") for run in part.split(" ")[1:]]
        by_node.append([rank for run in runs for rank in range(int(run[0]), int(run[-1]) + 1)])
    if ppn is not None:
        by_node = [ranks[:ppn] for ranks in by_node if len(ranks) >= ppn][: processes // ppn]
    nodes = [node for _, node in sorted((rank, node) for node, ranks in enumerate(by_node) for rank in ranks)]
    return nodes[:processes] if len(nodes) >= processes else None


def shares(grid: Grid, nodes: Sequence[int]) -> list[float]:
    """For each phase the share of the pairs within its groups that are on one node."""
    made = []
    for phase in range(len(grid.factors)):
        groups = {grid.group(rank, phase) for rank in range(grid.processes)}
        pairs = [(a, b) for group in groups for a in group for b in group if a < b]
        made.append(sum(nodes[a] == nodes[b] for a, b in pairs) / len(pairs))
    return made


def follows(grid: Grid, nodes: Sequence[int]) -> bool:
    """Whether a grid follows the machine: each of its phases stays within nodes, or goes between them only."""
    made = shares(grid, nodes)
    return set(made) == {0.0, 1.0}
