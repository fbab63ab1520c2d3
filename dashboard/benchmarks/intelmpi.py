"""Which methods Intel MPI has by its documentation, and how it is told to take one.

It cannot be switched while it runs: ``I_MPI_ADJUST_<COLLECTIVE>=NUMBER`` is read when the ranks start, so each method
is measured in a launch of its own. Numbers and names are those of the developer reference, 2019 to 2021.15
("I_MPI_ADJUST Family Environment Variables"); from 2021.13 on it calls them presets, of which there may be more.

Nothing of this was run with Intel MPI, which is not at hand: only what is asked for and set is tested, against the
documentation and a recorded ``mpiexec --version``. Every result is verified, but there are no message graphs: a number
that the library passes over in silence would show as the times of its own decision. The lists of gather, scan and
scatter, and reduce's numbers above 6, could not be looked up again: compare them with ``impi_info`` before use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.benchmarks.methods import DEFAULT, Method, Variants

NAME = "Intel MPI"
_VERSION = re.compile(r"Intel\(R\) MPI Library.*?\bVersion (\d[\w.]*)")

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


@dataclass(frozen=True)
class IntelMpi:
    """Intel MPI of some version, such as ``2021.11``; `why` is a remark on how it is measured."""

    version: str
    why: str = f"methods of {NAME} cannot be switched while it runs: each is measured in a launch of its own"
    name: str = NAME
    graph_counters: tuple[str, ...] = ()
    apart: bool = True

    @property
    def strict(self) -> dict[str, int]:
        """Nothing can be set while it runs."""
        return {}

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """All methods of a collective, the library's own decision first; none takes the variants' parameters."""
        named = enumerate(ALGORITHMS.get(collective, ()), start=1)
        return [Method(DEFAULT, library_id=0), *(Method(name, library_id=number) for number, name in named)]

    def forcing(self, collective: str, method: Method) -> dict[str, str]:
        """The variable that makes it take the method; none for its own decision."""
        return {} if method.algorithm == DEFAULT else {f"I_MPI_ADJUST_{collective.upper()}": str(method.library_id)}

    def settings(self, collective: str, method: Method) -> dict[str, int]:
        """Nothing can be set while it runs."""
        return {}

    def component(self, collective: str, method: Method) -> str:
        """None: it has no parts that answer calls by themselves."""
        return ""

    def environment(self, *, one_node: bool, graphs: bool) -> dict[str, str]:
        """Nothing needs to be said."""
        return {}


def parse(told: str) -> IntelMpi | None:
    """Read what ``mpiexec --version`` printed; None when that is not Intel's."""
    found = _VERSION.search(told)
    return IntelMpi(found[1]) if found else None
