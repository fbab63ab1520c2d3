"""What UCC calls the algorithms of its tl/ucp, by number, and what they are with a radix of 2.

Source: openucx/ucc 1.10, ``src/components/tl/ucp``. Older versions have fewer, and dbt and sliding_window changed
places.
"""

from collections.abc import Mapping

NAME = "UCC"
#: Algorithms by their numbers, from 0. For all other collectives it takes none, even where there is a single one.
ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allgather": ("knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"),
    "allgatherv": ("ring", "knomial"),
    "allreduce": ("knomial", "sra_knomial", "sliding_window", "dbt", "ring"),
    "alltoall": ("pairwise", "bruck", "onesided"),
    "alltoallv": ("pairwise", "hybrid", "onesided"),
    "bcast": ("knomial", "sag_knomial", "dbt"),
    "reduce": ("knomial", "dbt", "srg"),
    "reduce_scatter": ("ring", "knomial"),
    "reduce_scatterv": ("ring",),
}
#: What others call its k-nomial algorithms of radix 2. By themselves they have one of 4, or one that suits the team.
OF_RADIX_2: Mapping[str, Mapping[str, str]] = {
    "allgather": {"knomial": "recursive_doubling"},
    "allreduce": {"knomial": "recursive_doubling", "sra_knomial": "rabenseifner"},
    "bcast": {"knomial": "binomial", "sag_knomial": "scatter_allgather"},
    "reduce_scatter": {"knomial": "recursive_halving"},
}


def radix_variable(collective: str, algorithm: str) -> str:
    """Variable with the radix of an algorithm, such as ``UCC_TL_UCP_BCAST_SAG_KN_RADIX``; empty: it has none."""
    if algorithm not in OF_RADIX_2.get(collective, {}):
        return ""
    return f"UCC_TL_UCP_{collective}_{algorithm}_RADIX".upper().replace("KNOMIAL", "KN")
