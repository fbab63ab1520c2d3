"""Names of the collectives, and what their message size means."""

from __future__ import annotations

#: Message size = bytes of the vector.
VECTOR = ("bcast", "reduce", "allreduce", "scan", "exscan")
#: Message size = bytes of the block per process.
BLOCK = (
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce_scatter",
    "reduce_scatter_block",
)
COLLECTIVES = (*VECTOR, *BLOCK, "barrier")


def size_meaning(collective: str) -> str:
    """Say in words what the message size of a collective is."""
    base = collective.removesuffix("_persistent")
    if base not in COLLECTIVES and base.removeprefix("i") in COLLECTIVES:
        base = base.removeprefix("i")
    if base in BLOCK:
        return "bytes of the block per process"
    return "bytes of the vector" if base in VECTOR else "bytes"
