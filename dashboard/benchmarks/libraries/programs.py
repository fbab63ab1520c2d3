"""Which code of Open MPI's ``coll/base`` may run when a method is forced; every rank imports it, so it is light."""

from collections.abc import Mapping

from dashboard.benchmarks.libraries.methods import DEFAULT, Method

#: Code that an algorithm shares with others, or falls back to where it cannot work, by the source of ``coll/base``:
#: fewer elements than processes, halves too small for a segment, numbers of processes it is not made for.
_PROGRAMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "bcast": {
        **dict.fromkeys(("chain", "pipeline", "binary_tree", "binomial", "knomial"), ("tree",)),
        "split_binary_tree": ("split_binary_tree", "tree"),
        "scatter_allgather": ("scatter_allgather", "basic_linear"),
        "scatter_allgather_ring": ("scatter_allgather_ring", "basic_linear"),
    },
    "reduce": {
        **dict.fromkeys(("chain", "pipeline", "binary", "binomial", "in-order_binary"), ("tree",)),
        "rabenseifner": ("rabenseifner", "linear"),
    },
    "allreduce": {
        "ring": ("ring", "recursive_doubling"),
        "segmented_ring": ("segmented_ring", "ring", "recursive_doubling"),
        "rabenseifner": ("rabenseifner", "basic_linear"),
    },
    "allgather": {"recursive_doubling": ("recursive_doubling", "bruck"), "neighbor": ("neighbor", "ring")},
    "allgatherv": {"neighbor": ("neighbor", "ring")},
}


def programs(collective: str, method: Method) -> tuple[str, ...]:
    """Code that may run when a method is forced, its own first; none for the library's own decision.

    Two methods whose messages are the same are one method under two names only where they can end in one program:
    linear, pairwise and linear_sync alltoall send the same messages in different orders. What cuts messages into
    segments is another program for each segment size, since the graph tells only bytes in all.
    """
    if method.algorithm == DEFAULT:
        return ()
    own = _PROGRAMS.get(collective, {}).get(method.algorithm, (method.algorithm,))
    cut = ("tree", method.algorithm)
    return tuple(f"{name} {method.segment_size}" if name in cut and method.segment_size else name for name in own)
