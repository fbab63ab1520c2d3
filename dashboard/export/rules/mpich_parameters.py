"""What MPICH's algorithms take beside their radix."""

from __future__ import annotations

from collections.abc import Mapping

#: By collective and algorithm: values of the variables that they are measured with
#: (``mpivars`` of 5.0.2). Where one is lacking MPICH takes what happens to be in memory.
_TOPOLOGY = ("topo_overhead=200", "topo_diff_groups=2800", "topo_diff_switches=1900", "topo_same_switches=1600")
PARAMETERS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("bcast", "tree"): ("tree_type=kary", "is_non_blocking=1", *_TOPOLOGY),
    ("allreduce", "tree"): ("tree_type=knomial_1", "chunk_size=0", "buffer_per_child=0", *_TOPOLOGY),
    ("allreduce", "recexch"): ("single_phase_recv=0",),
    ("allreduce", "recursive_multiplying"): (),
    ("allreduce", "k_reduce_scatter_allgather"): ("single_phase_recv=0",),
    ("allgather", "k_brucks"): (),
    ("allgather", "recexch_doubling"): ("single_phase_recv=0",),
    ("allgather", "recexch_halving"): ("single_phase_recv=0",),
    ("alltoall", "k_brucks"): (),
    ("barrier", "k_dissemination"): (),
    ("barrier", "recexch"): ("single_phase_recv=0",),
}
