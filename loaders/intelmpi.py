"""What Intel MPI calls its algorithms, by number.

Numbers and names are those of the developer reference, 2019 to 2021.15 ("I_MPI_ADJUST Family Environment Variables");
from 2021.13 on it calls them presets, of which there may be more. The lists of gather, scan and scatter, and reduce's
numbers above 6, could not be looked up again: compare them with ``impi_info`` before use.
"""

from collections.abc import Mapping

NAME = "Intel MPI"
#: Algorithms of each collective by their numbers, from 1.
ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allgather": ("recursive_doubling", "bruck", "ring", "topology_aware_gatherv_bcast", "knomial"),
    "allgatherv": ("recursive_doubling", "bruck", "ring", "topology_aware_gatherv_bcast"),
    "allreduce": (
        "recursive_doubling",
        "rabenseifner",
        "reduce_bcast",
        "topology_aware_reduce_bcast",
        "binomial_gather_scatter",
        "topology_aware_binomial_gather_scatter",
        "shumilin_ring",
        "ring",
        "knomial",
        "shm_flat",
        "shm_knomial",
        "shm_knary",
    ),
    "alltoall": ("bruck", "isend_irecv_waitall", "pairwise", "plum"),
    "alltoallv": ("isend_irecv_waitall", "plum"),
    "alltoallw": ("isend_irecv_waitall",),
    "barrier": (
        "dissemination",
        "recursive_doubling",
        "topology_aware_dissemination",
        "topology_aware_recursive_doubling",
        "binomial_gather_scatter",
        "topology_aware_binomial_gather_scatter",
        "shm_flat",
        "shm_knomial",
        "shm_knary",
    ),
    "bcast": (
        "binomial",
        "recursive_doubling",
        "ring",
        "topology_aware_binomial",
        "topology_aware_recursive_doubling",
        "topology_aware_ring",
        "shumilin",
        "knomial",
        "shm_flat",
        "shm_knomial",
        "shm_knary",
        "numa_shm_sse42",
        "numa_shm_avx2",
        "numa_shm_avx512",
    ),
    "exscan": ("partial_results_gathering", "topology_aware_partial_results_gathering"),
    "gather": ("binomial", "topology_aware_binomial", "shumilin", "binomial_segmented"),
    "gatherv": ("linear", "topology_aware_linear", "knomial"),
    "reduce": (
        "shumilin",
        "binomial",
        "topology_aware_shumilin",
        "topology_aware_binomial",
        "rabenseifner",
        "topology_aware_rabenseifner",
        "knomial",
        "shm_flat",
        "shm_knomial",
        "shm_knary",
        "shm_binomial",
    ),
    "reduce_scatter": (
        "recursive_halving",
        "pairwise",
        "recursive_doubling",
        "reduce_scatterv",
        "topology_aware_reduce_scatterv",
    ),
    "scan": ("partial_results_gathering", "topology_aware_partial_results_gathering"),
    "scatter": ("binomial", "topology_aware_binomial", "shumilin"),
    "scatterv": ("linear", "topology_aware_linear"),
}
