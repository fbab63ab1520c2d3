"""What Open MPI calls its collectives and algorithms, by number and version.

Numbers and names are those that ``ompi_info --param coll tuned --level 9 --parsable`` of 4.1.4, 5.0.11 and 6.0.0a1
(branch v6.0.x, open-mpi/ompi bb1c85d) prints.
"""

import re
from collections.abc import Mapping

#: Collectives by the number that rules files of version 1 and 2 give them.
COLLECTIVE_IDS: tuple[str, ...] = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
)
#: Series of versions whose numbers are known.
VERSIONS = ("4.1", "5.0", "6.0")
DEFAULT_VERSION = "5.0"
#: The algorithm of several collectives that refuses communicators of more than two processes.
TWO_PROCESSES = "two_proc"

_BASIC: Mapping[str, tuple[str, ...]] = {
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", TWO_PROCESSES),
    "allgatherv": ("default", "bruck", "ring", "neighbor", TWO_PROCESSES),
    "allreduce": ("basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", TWO_PROCESSES),
    "alltoallv": ("basic_linear", "pairwise"),
    "barrier": ("linear", "double_ring", "recursive_doubling", "bruck", TWO_PROCESSES, "tree"),
    "bcast": (
        "basic_linear",
        "chain",
        "pipeline",
        "split_binary_tree",
        "binary_tree",
        "binomial",
        "knomial",
        "scatter_allgather",
        "scatter_allgather_ring",
    ),
    "exscan": ("linear", "recursive_doubling"),
    "gather": ("basic_linear", "binomial", "linear_sync"),
    "reduce": ("linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"),
    "reduce_scatter": ("non-overlapping", "recursive_halving", "ring", "butterfly"),
    "reduce_scatter_block": ("basic_linear", "recursive_doubling", "recursive_halving", "butterfly"),
    "scan": ("linear", "recursive_doubling"),
    "scatter": ("basic_linear", "binomial", "linear_nb"),
}
_LATER: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "5.0": {"allgather": ("sparbit",), "allgatherv": ("sparbit",)},
    "6.0": {"allgather": ("direct-messaging",), "allreduce": ("allgather_reduce",), "reduce": ("knomial",)},
}
_RENAMED = {("6.0", "allgather", 2): "bruck-k-fanout"}


def series(version: str) -> str:
    """Give the series of versions that a version such as ``5.0.11`` belongs to.

    Raises
    ------
    ValueError
        When it is none of `VERSIONS`; the message lists them.
    """
    match = re.match(r"(\d+)(?:\.(\d+))?(?:\.|$|[a-z])", version)
    major = int(match[1]) if match else 0
    known = {4: "4.1", 5: "5.0", 6: "6.0"}.get(major)
    if known is None:
        raise ValueError(f"Open MPI {version!r}: known are the versions {', '.join(VERSIONS)}")
    return known


def algorithms(collective: str, version: str = DEFAULT_VERSION) -> dict[int, str]:
    """Give the library's algorithms of a collective by number, without 0; empty where it has no choice."""
    wanted = series(version)
    names = list(_BASIC.get(collective, ()))
    for since in VERSIONS[1 : VERSIONS.index(wanted) + 1]:
        names += _LATER[since].get(collective, ())
    numbered = dict(enumerate(names, start=1))
    return {number: _RENAMED.get((wanted, collective, number), name) for number, name in numbered.items()}


def named(collective: str, number: int, version: str) -> str | None:
    """Name of the algorithm of a number, ``default`` for 0; None where the library has no such."""
    name = algorithms(collective, version).get(number)
    return "default" if number == 0 else name and distinct(name)


def fan_out_variable(collective: str) -> str:
    """Control variable of the fan-out that a forced algorithm takes: in 6.0 Bruck's allgather has that of trees."""
    return f"coll_tuned_{collective}_algorithm_{'tree' if collective == 'allgather' else 'chain'}_fanout"


def distinct(name: str) -> str:
    """An algorithm's name; what Open MPI calls the ``default`` allgatherv is gather and broadcast, not its decision."""
    return "linear" if name == "default" else name
