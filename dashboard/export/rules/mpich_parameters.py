"""What MPICH's algorithms take: control variables that force them, and parameters beside their radix and segments."""

from collections.abc import Mapping
from typing import Any

#: By collective and algorithm: values of the variables that they are measured with
#: (``mpivars`` of 5.0.2). Where one is lacking MPICH takes what happens to be in memory.
_TOPOLOGY = ("topo_overhead=200", "topo_diff_groups=2800", "topo_diff_switches=1900", "topo_same_switches=1600")
PARAMETERS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("bcast", "tree"): ("tree_type=kary", "is_non_blocking=1", *_TOPOLOGY),
    ("bcast", "pipelined_tree"): ("tree_type=kary", "is_non_blocking=1", "recv_pre_posted=0"),
    ("allreduce", "tree"): ("tree_type=knomial_1", "buffer_per_child=0", *_TOPOLOGY),
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

#: Ending of the variable that forces an algorithm within a group. All stand behind ``MPIR_CVAR_``.
INTRA = "_INTRA_ALGORITHM"
#: Devices override the algorithms of the portable layer unless they are switched off.
DEVICE = "DEVICE_COLLECTIVES"
#: Variables of the number of children or of the radix, and of the segment size, by collective and algorithm.
RADIX = {
    ("barrier", "k_dissemination"): "BARRIER_DISSEM_KVAL",
    ("barrier", "recexch"): "BARRIER_RECEXCH_KVAL",
    ("bcast", "tree"): "BCAST_TREE_KVAL",
    ("bcast", "pipelined_tree"): "BCAST_TREE_KVAL",
    ("allreduce", "tree"): "ALLREDUCE_TREE_KVAL",
    ("allreduce", "recexch"): "ALLREDUCE_RECEXCH_KVAL",
    ("allreduce", "recursive_multiplying"): "ALLREDUCE_RECURSIVE_MULTIPLYING_KVAL",
    ("allgather", "k_brucks"): "ALLGATHER_BRUCKS_KVAL",
    ("allgather", "recexch_doubling"): "ALLGATHER_RECEXCH_KVAL",
    ("allgather", "recexch_halving"): "ALLGATHER_RECEXCH_KVAL",
    ("alltoall", "k_brucks"): "ALLTOALL_BRUCKS_KVAL",
}
SEGMENT = {
    ("bcast", "pipelined_tree"): "BCAST_TREE_PIPELINE_CHUNK_SIZE",
    ("allreduce", "tree"): "ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE",
}
#: A file's parameter for the segment size; that for the radix is k.
CHUNK = "chunk_size"
#: Parameter of a method that was read from such a file: its whole name, beside those that stand there.
READ = "library_name"
#: Algorithms that are nothing without segments.
PIPELINED = frozenset({("bcast", "pipelined_tree")})


#: What ends or hangs the whole job instead of being refused (5.0.2): smp calls itself where all processes are on one
#: node, noncommutative stops where their number is no power of two (and is for operations that do not commute).
_DEADLY = frozenset({("allreduce", "smp"), ("reduce_scatter", "noncommutative")})


def is_forced(collective: str, algorithm: str, parameters: Mapping[str, Any]) -> bool:
    """Whether an algorithm can be forced and is then that of a file, if it was read from one: all else as `PARAMETERS`.

    Compositions of the device, whose names begin with its own, are no values of these variables.
    """
    usual = PARAMETERS.get((collective, algorithm), ())
    said = {key: str(value) for key, value in parameters.items() if READ in parameters and key != READ}
    can_be = algorithm.islower() and (collective, algorithm) not in _DEADLY
    return can_be and all(
        value.isdecimal() if key in ("k", CHUNK) else f"{key}={value}" in usual for key, value in said.items()
    )
