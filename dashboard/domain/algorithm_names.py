"""Names of algorithms in one form, whoever spells them."""

import re
from collections.abc import Mapping

#: Names of the models and of other sources for what the library has under another name.
_SAME: Mapping[str, Mapping[str, str]] = {
    "*": {
        "flat_tree": "linear",
        "basic_linear": "linear",
        "split_binary": "split_binary_tree",
        "binary": "binary_tree",
        "neighbor_exchange": "neighbor",
        "ring_segmented": "segmented_ring",
        "non_overlapping": "nonoverlapping",
        "dissemination": "bruck",
        "modified_bruck": "bruck",
        "bruck_k_fanout": "bruck",
        "brucks": "bruck",
        "k_dissemination": "bruck",
        "scattered": "linear",
        "reduce_scatter_allgather": "rabenseifner",
        "reduce_scatter_gather": "rabenseifner",
        "scatter_ring_allgather": "scatter_allgather_ring",
        "scatter_recursive_doubling_allgather": "scatter_allgather",
        "direct": "direct_messaging",
    },
    "allgatherv": {"default": "linear"},
}
#: What benchmarks call it when the library is left to decide: `ignore` is Open MPI's, `auto` MPICH's.
_DEFAULTS = ("default", "native", "ignore", "auto")


def means_default(name: str) -> bool:
    """Whether a benchmark means by a name that the library is left to decide."""
    return normal(name) in _DEFAULTS


def normal(name: str, collective: str = "*") -> str:
    """Bring an algorithm's name into one form, so that the names of all sources can be compared."""
    plain = re.sub(r"(?<=[a-z]{2})(?=[A-Z])|[-\s]+", "_", name.strip()).lower()
    # As PICO tells algorithms of the library from those of its own, which end in _over.
    plain = plain.removesuffix("_ompi").removesuffix("_mpich")
    plain = _SAME.get(collective, {}).get(plain, plain)
    plain = _SAME["*"].get(plain, plain)
    # The tree of a barrier is one of its own, that of a broadcast only a longer name.
    return plain if plain == "tree" else plain.removesuffix("_tree")
