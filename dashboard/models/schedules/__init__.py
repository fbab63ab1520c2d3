"""What each process does in each algorithm, for the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dashboard.models.errors import NotApplicableError
from dashboard.models.registry import model_of
from dashboard.models.schedules import rooted, symmetric, trees
from dashboard.models.simulator import Programs

Maker = Callable[[int, float, float], Programs]

#: By collective and algorithm: programs for a number of processes, a message size and a segment size (0 = none).
SCHEDULES: Mapping[str, Mapping[str, Maker]] = {
    "barrier": {
        "flat_tree": lambda p, m, s: symmetric.flat_tree_barrier(p),
        "double_ring": lambda p, m, s: symmetric.double_ring_barrier(p),
        "recursive_doubling": lambda p, m, s: symmetric.doubling(p, 0, compute=False),
        "bruck": lambda p, m, s: symmetric.dissemination(p),
    },
    "bcast": {
        "linear": lambda p, m, s: rooted.tree_bcast(trees.flat(p), m, s),
        "pipeline": lambda p, m, s: rooted.tree_bcast(trees.chain(p), m, s),
        "binomial": lambda p, m, s: rooted.tree_bcast(trees.binomial(p), m, s),
        "binary": lambda p, m, s: rooted.tree_bcast(trees.binary(p), m, s),
        "split_binary": rooted.split_binary,
    },
    "scatter": {
        "linear": lambda p, m, s: rooted.linear_scatter(p, m),
        "binomial": lambda p, m, s: rooted.binomial_scatter(p, m),
    },
    "gather": {
        "linear": lambda p, m, s: rooted.linear_gather(p, m),
        "linear_sync": rooted.linear_sync_gather,
        "binomial": lambda p, m, s: rooted.binomial_gather(p, m),
    },
    "allgather": {
        "bruck": lambda p, m, s: symmetric.bruck_allgather(p, m),
        "recursive_doubling": lambda p, m, s: symmetric.doubling_allgather(p, m),
        "ring": lambda p, m, s: symmetric.ring_allgather(p, m),
        "neighbor_exchange": lambda p, m, s: symmetric.neighbor_exchange(p, m),
    },
    "alltoall": {
        "linear": lambda p, m, s: symmetric.linear_alltoall(p, m),
        "pairwise": lambda p, m, s: symmetric.pairwise_alltoall(p, m),
        "bruck": lambda p, m, s: symmetric.bruck_alltoall(p, m),
    },
    "reduce": {
        "flat_tree": lambda p, m, s: rooted.tree_reduce(trees.flat(p), m, s),
        "pipeline": lambda p, m, s: rooted.tree_reduce(trees.chain(p), m, s),
        "binomial": rooted.binomial_reduce,
        "binary": lambda p, m, s: rooted.tree_reduce(trees.binary(p), m, s),
        "rabenseifner": lambda p, m, s: rooted.rabenseifner_reduce(p, m),
    },
    "reduce_scatter": {
        "recursive_halving": lambda p, m, s: symmetric.halving_reduce_scatter(p, m),
        "ring": lambda p, m, s: symmetric.ring_reduce_scatter(p, m),
    },
    "allreduce": {
        "recursive_doubling": lambda p, m, s: symmetric.doubling(p, m, compute=True),
        "ring": lambda p, m, s: symmetric.ring_allreduce(p, m),
        "ring_segmented": symmetric.ring_allreduce,
        "rabenseifner": lambda p, m, s: symmetric.rabenseifner_allreduce(p, m),
    },
    "scan": {
        "linear": lambda p, m, s: symmetric.linear_scan(p, m),
        "linear_segmented": symmetric.linear_scan,
        "binomial": lambda p, m, s: symmetric.binomial_scan(p, m),
    },
}


def schedule(
    collective: str, algorithm: str, processes: int, message_size: float = 0, segment_size: float = 0
) -> Programs:
    """Programs of all processes.

    Raises
    ------
    ModelError
        When the algorithm is unknown.
    NotApplicableError
        When it does not work on that number of processes.
    """
    model = model_of(collective, algorithm)
    if processes < 1 or not model.applies(processes).all():
        raise NotApplicableError(f"{collective} {algorithm} works on {model.validity} of processes; found {processes}")
    if processes == 1:
        return [[]]
    return SCHEDULES[collective][algorithm](processes, message_size, segment_size)
