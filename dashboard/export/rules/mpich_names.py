"""Names of MPICH's algorithms, compositions and parameters, as its selection files spell them: versions 4.0 to 5.0.

Source: pmodels/mpich, src/mpi/coll/src/csel_container.c, src/mpid/ch4/src and src/mpid/ch4/shm/posix of the tags
v4.0.3, v4.1.3, v4.2.3, v4.3.2 and v5.0.1; each version has most of them.
"""

import re
from collections.abc import Mapping

from dashboard.domain.algorithm_names import normal

#: Versions that have them.
VERSIONS = "4.0 to 5.0"
_TABLE = """
allgather: allcomm_nb composition_alpha composition_beta inter_local_gather_remote_bcast intra_brucks intra_k_brucks
    intra_recexch_doubling intra_recexch_halving intra_recursive_doubling intra_ring
allgatherv: allcomm_nb composition_alpha inter_remote_gather_local_bcast intra_brucks intra_recursive_doubling
    intra_ring
allreduce: allcomm_nb composition_alpha composition_beta composition_gamma inter_reduce_exchange_bcast intra_ccl
    intra_k_reduce_scatter_allgather intra_recexch intra_recursive_doubling intra_recursive_multiplying
    intra_reduce_scatter_allgather intra_ring intra_smp intra_tree release_gather
alltoall: allcomm_nb composition_alpha composition_beta inter_pairwise_exchange intra_brucks intra_k_brucks
    intra_pairwise intra_pairwise_sendrecv_replace intra_scattered
alltoallv: allcomm_nb composition_alpha inter_pairwise_exchange intra_pairwise_sendrecv_replace intra_scattered
alltoallw: allcomm_nb composition_alpha inter_pairwise_exchange intra_pairwise_sendrecv_replace intra_scattered
barrier: allcomm_nb composition_alpha composition_beta inter_bcast intra_dissemination intra_k_dissemination
    intra_recexch intra_smp release_gather
bcast: allcomm_nb composition_alpha composition_beta composition_delta composition_gamma
    inter_remote_send_local_bcast intra_binomial intra_pipelined_tree intra_scatter_recursive_doubling_allgather
    intra_scatter_ring_allgather intra_smp intra_tree ipc_read release_gather
exscan: allcomm_nb composition_alpha intra_recursive_doubling
gather: allcomm_nb composition_alpha inter_linear inter_local_gather_remote_send intra_binomial
gatherv: allcomm_linear allcomm_nb composition_alpha
iallgather: inter_sched_local_gather_remote_bcast intra_sched_brucks intra_sched_recursive_doubling intra_sched_ring
    intra_tsp_brucks intra_tsp_recexch_doubling intra_tsp_recexch_halving intra_tsp_ring
iallgatherv: inter_sched_remote_gather_local_bcast intra_sched_brucks intra_sched_recursive_doubling
    intra_sched_ring intra_tsp_brucks intra_tsp_recexch_doubling intra_tsp_recexch_halving intra_tsp_ring
iallreduce: inter_sched_remote_reduce_local_bcast intra_sched_naive intra_sched_recursive_doubling
    intra_sched_reduce_scatter_allgather intra_sched_smp intra_tsp_recexch_multiple_buffer
    intra_tsp_recexch_reduce_scatter_recexch_allgatherv intra_tsp_recexch_single_buffer intra_tsp_ring
    intra_tsp_tree
ialltoall: inter_sched_pairwise_exchange intra_sched_brucks intra_sched_inplace intra_sched_pairwise
    intra_sched_permuted_sendrecv intra_tsp_brucks intra_tsp_ring intra_tsp_scattered
ialltoallv: inter_sched_pairwise_exchange intra_sched_blocked intra_sched_inplace intra_tsp_blocked
    intra_tsp_inplace intra_tsp_scattered
ialltoallw: inter_sched_pairwise_exchange intra_sched_blocked intra_sched_inplace intra_tsp_blocked
    intra_tsp_inplace
ibarrier: inter_sched_bcast intra_sched_recursive_doubling intra_tsp_k_dissem intra_tsp_recexch
ibcast: inter_sched_flat intra_sched_binomial intra_sched_scatter_recursive_doubling_allgather
    intra_sched_scatter_ring_allgather intra_sched_smp intra_tsp_ring intra_tsp_scatterv_recexch_allgatherv
    intra_tsp_tree
iexscan: intra_sched_recursive_doubling
igather: inter_sched_long inter_sched_short intra_sched_binomial intra_tsp_tree
igatherv: allcomm_sched_linear allcomm_tsp_linear
ineighbor_allgather: allcomm_sched_linear allcomm_tsp_linear
ineighbor_allgatherv: allcomm_sched_linear allcomm_tsp_linear
ineighbor_alltoall: allcomm_sched_linear allcomm_tsp_linear
ineighbor_alltoallv: allcomm_sched_linear allcomm_tsp_linear
ineighbor_alltoallw: allcomm_sched_linear allcomm_tsp_linear
ireduce: inter_sched_local_reduce_remote_send intra_sched_binomial intra_sched_reduce_scatter_gather intra_sched_smp
    intra_tsp_ring intra_tsp_tree
ireduce_scatter: inter_sched_remote_reduce_local_scatterv intra_sched_noncommutative intra_sched_pairwise
    intra_sched_recursive_doubling intra_sched_recursive_halving intra_tsp_recexch
ireduce_scatter_block: inter_sched_remote_reduce_local_scatterv intra_sched_noncommutative intra_sched_pairwise
    intra_sched_recursive_doubling intra_sched_recursive_halving intra_tsp_recexch
iscan: intra_sched_recursive_doubling intra_sched_smp intra_tsp_recursive_doubling
iscatter: inter_sched_linear inter_sched_remote_send_local_scatter intra_sched_binomial intra_tsp_tree
iscatterv: allcomm_sched_linear allcomm_tsp_linear
neighbor_allgather: allcomm_nb
neighbor_allgatherv: allcomm_nb
neighbor_alltoall: allcomm_nb
neighbor_alltoallv: allcomm_nb
neighbor_alltoallw: allcomm_nb
reduce: allcomm_nb composition_alpha composition_beta composition_gamma inter_local_reduce_remote_send
    intra_binomial intra_reduce_scatter_gather intra_smp release_gather
reduce_scatter: allcomm_nb composition_alpha inter_remote_reduce_local_scatter intra_noncommutative intra_pairwise
    intra_recursive_doubling intra_recursive_halving
reduce_scatter_block: allcomm_nb composition_alpha inter_remote_reduce_local_scatter intra_noncommutative
    intra_pairwise intra_recursive_doubling intra_recursive_halving
scan: allcomm_nb composition_alpha composition_beta intra_recursive_doubling intra_smp
scatter: allcomm_nb composition_alpha inter_linear inter_remote_send_local_scatter intra_binomial
scatterv: allcomm_linear allcomm_nb composition_alpha
"""


def _full(collective: str, ending: str) -> str:
    if ending in ("release_gather", "ipc_read"):
        return f"MPIDI_POSIX_mpi_{collective}_{ending}"
    layer = "MPIDI_{}_intra_{}" if ending.startswith("composition_") else "MPIR_{}_{}"
    return layer.format(collective.capitalize(), ending)


#: All of them.
NAMES = frozenset(
    _full(row.partition(":")[0], ending)
    for row in re.sub(r"\n +", " ", _TABLE).split("\n")
    for ending in row.partition(":")[2].split()
)

_K, _RECEXCH, _TREE = ("k",), ("k", "single_phase_recv"), ("tree_type", "k", "chunk_size")
#: What only trees that follow the network take.
TOPOLOGY = ("topo_overhead", "topo_diff_groups", "topo_diff_switches", "topo_same_switches")
#: Parameters that an algorithm reads; all others read none.
TAKES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            *("MPIR_Allgather_intra_k_brucks", "MPIR_Alltoall_intra_k_brucks", "MPIR_Barrier_intra_k_dissemination"),
            *("MPIR_Barrier_intra_recexch", "MPIR_Allreduce_intra_recursive_multiplying"),
            *(f"MPIR_Iallreduce_intra_tsp_recexch_{kind}_buffer" for kind in ("single", "multiple")),
            "MPIR_Iallreduce_intra_tsp_recexch_reduce_scatter_recexch_allgatherv",
        ),
        _K,
    ),
    **dict.fromkeys(
        (
            *("MPIR_Allgather_intra_recexch_doubling", "MPIR_Allgather_intra_recexch_halving"),
            *("MPIR_Allreduce_intra_recexch", "MPIR_Allreduce_intra_k_reduce_scatter_allgather"),
        ),
        _RECEXCH,
    ),
    "MPIR_Allreduce_intra_ccl": ("ccl",),
    "MPIR_Allreduce_intra_tree": (*_TREE, "buffer_per_child", *TOPOLOGY),
    "MPIR_Bcast_intra_tree": ("tree_type", "k", "is_non_blocking", *TOPOLOGY),
    "MPIR_Bcast_intra_pipelined_tree": (*_TREE, "is_non_blocking", "recv_pre_posted"),
    "MPIR_Iallreduce_intra_tsp_tree": (*_TREE, "buffer_per_child"),
    "MPIR_Ibcast_intra_tsp_ring": ("chunk_size",),
    "MPIR_Ibcast_intra_tsp_scatterv_recexch_allgatherv": ("scatterv_k", "allgatherv_k"),
    "MPIR_Ibcast_intra_tsp_tree": _TREE,
    "MPIR_Ireduce_intra_tsp_ring": ("buffer_per_child", "chunk_size"),
    "MPIR_Ireduce_intra_tsp_tree": (*_TREE, "buffer_per_child", *TOPOLOGY),
}
#: Shapes of trees; any other word is the first of them.
TREES = ("kary", "knomial_1", "knomial_2", "topology_aware", "topology_aware_k", "topology_wave")

_SCATTERED = {
    "recursive_doubling": "recursive_doubling",
    "recursive_halving": "recursive_halving",
    "pairwise": "pairwise",
    "ring": "pairwise",
}
_ALGORITHMS: Mapping[str, Mapping[str, str]] = {
    "bcast": {
        "binomial": "binomial",
        "scatter_allgather": "scatter_recursive_doubling_allgather",
        "scatter_allgather_ring": "scatter_ring_allgather",
        "smp": "smp",
        "tree": "tree",
        "pipelined": "pipelined_tree",
    },
    "allreduce": {
        "recursive_doubling": "recursive_doubling",
        "rabenseifner": "reduce_scatter_allgather",
        "ring": "ring",
        "smp": "smp",
        "tree": "tree",
        "recexch": "recexch",
        "recursive_multiplying": "recursive_multiplying",
        "k_reduce_scatter_allgather": "k_reduce_scatter_allgather",
    },
    "reduce": {"binomial": "binomial", "rabenseifner": "reduce_scatter_gather", "smp": "smp"},
    "allgather": {
        "bruck": "brucks",
        "recursive_doubling": "recursive_doubling",
        "ring": "ring",
        "k_brucks": "k_brucks",
        "recexch_doubling": "recexch_doubling",
        "recexch_halving": "recexch_halving",
    },
    "alltoall": {"bruck": "brucks", "pairwise": "pairwise", "linear": "scattered", "k_brucks": "k_brucks"},
    "gather": {"binomial": "binomial"},
    "scatter": {"binomial": "binomial"},
    "reduce_scatter": _SCATTERED,
    "reduce_scatter_block": _SCATTERED,
    "barrier": {"bruck": "k_dissemination", "smp": "smp", "recexch": "recexch"},
}
#: Its nonblocking algorithm, waited for.
NONBLOCKING = "nb"
#: Names of the models (normalised) by what MPICH calls the same algorithm.
ALGORITHMS = {collective: {**names, NONBLOCKING: NONBLOCKING} for collective, names in _ALGORITHMS.items()}


def called(collective: str, algorithm: str) -> str | None:
    """What MPICH calls an algorithm that another library or a model may have named; None where it has none like it."""
    return ALGORITHMS.get(collective, {}).get(normal(algorithm, collective))
