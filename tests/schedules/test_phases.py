"""What ranks call in the phases of a grid, with groups that are played in one process: every layout and every root."""

from typing import Any

import numpy as np
import pytest

from dashboard.schedules.layout import Grid, Step, layouts
from dashboard.schedules.phases import steps

PROCESSES = (4, 6, 8, 12, 16)


def play(collective: str, grid: Grid, buffers: list[tuple[Any, Any]], lengths: list[int], root: int) -> None:
    """Run the steps of all ranks, phase by phase, each group as MPI has it."""
    todo = [steps(collective, grid, rank, *buffers[rank], lengths, root) for rank in range(grid.processes)]
    rising = collective.startswith(("bcast", "scatter"))
    for phase in sorted(range(len(grid.factors)), reverse=not rising):
        for first in range(grid.processes):
            group = grid.group(first, phase)
            if group[0] != first:
                continue
            calls = [[step for step in todo[rank] if step.phase == phase] for rank in group]
            assert len({len(each) for each in calls}) == 1, "some of a group call, others do not"
            if calls[0]:
                call([each[0] for each in calls])


def call(members: list[Step[Any]]) -> None:
    """One collective call of a group."""
    root, kind = members[members[0].root], members[0].collective.removesuffix("v")
    assert len({(each.collective, each.counts, each.root, each.in_place) for each in members}) == 1
    cuts = np.cumsum(root.counts)[:-1] if root.counts else []
    own = [each.received for each in members]
    if members[0].in_place and kind == "allgather":
        sent = [np.split(each.received, cuts)[place] for place, each in enumerate(members)]
    else:
        sent = [each.received if each.in_place else each.sent for each in members]
    if kind == "bcast":
        for each in members:
            each.received[:] = root.sent
    elif kind == "scatter":
        for each, part in zip(members, np.split(root.sent, cuts), strict=True):
            each.received[:] = part
    elif kind in ("reduce", "allreduce"):
        total = np.sum(sent, axis=0)
        for each in [root] if kind == "reduce" else members:
            each.received[:] = total
    else:
        together = np.concatenate(sent)
        for each in [root.received] if kind == "gather" else own:
            each[:] = together


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("collective", ["bcast", "scatterv", "gatherv", "reduce", "allreduce", "allgatherv"])
def test_every_layout_and_root_gives_what_the_collective_promises(collective: str, *, uneven: bool) -> None:
    rooted = not collective.startswith("all")
    for processes in PROCESSES:
        # Blocks that differ, also by having nothing.
        lengths = [rank * 3 % 4 if uneven else 2 for rank in range(processes)]
        ends = np.cumsum([0, *lengths])
        blocks = np.arange(ends[-1])
        part = [slice(ends[rank], ends[rank + 1]) for rank in range(processes)]
        for grid in layouts(processes):
            for root in range(processes) if rooted else [0]:
                vector = [np.arange(5) + 10**6 * (rank + 1) for rank in range(processes)]
                received: list[Any] = [np.full(5, -1) for _ in range(processes)]
                if collective == "bcast":
                    buffers: list[Any] = [(each, each) for each in vector]
                    expected = [vector[root].copy()] * processes
                    received = vector
                elif collective == "scatterv":
                    received = [np.full(length, -1) for length in lengths]
                    buffers = [(blocks if rank == root else None, received[rank]) for rank in range(processes)]
                    expected = [blocks[each] for each in part]
                elif collective in ("gatherv", "allgatherv"):
                    holds = [rank == root or not rooted for rank in range(processes)]
                    received = [np.full(ends[-1], -1) if each else None for each in holds]
                    buffers = list(zip([blocks[each] for each in part], received, strict=True))
                    expected = [blocks if each else None for each in holds]
                else:
                    buffers = list(zip(vector, received, strict=True))
                    total = np.sum(vector, axis=0)
                    expected = [total if rank == root or not rooted else None for rank in range(processes)]
                play(collective, grid, buffers, lengths, root)
                for mine, right in zip(received, expected, strict=True):
                    assert right is None or np.array_equal(mine, right), (collective, str(grid), root)
