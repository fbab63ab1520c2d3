"""What Open MPI calls its collectives and algorithms, by number and version, and what it compares sizes with.

Numbers and names are those that ``ompi_info --param coll tuned --level 9 --parsable`` of 4.1.4 and 5.0.11 prints,
6.0 from the source of its main branch (open-mpi/ompi 8efebee).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dashboard.export.c_text import INT_MAX

if TYPE_CHECKING:
    from dashboard.decisions import Method

Compared = Literal["message", "total", "nothing"]

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
#: What a rule's size is compared with, for the collectives that ask the rules at all.
COMPARED: Mapping[str, Compared] = {
    **dict.fromkeys(("bcast", "reduce", "allreduce"), "message"),
    **dict.fromkeys(
        ("allgather", "allgatherv", "alltoall", "gather", "scatter", "reduce_scatter", "reduce_scatter_block"), "total"
    ),
    **dict.fromkeys(("barrier", "alltoallv", "scan", "exscan"), "nothing"),
}
#: Series of versions whose numbers are known.
VERSIONS = ("4.1", "5.0", "6.0")
DEFAULT_VERSION = "5.0"

_BASIC: Mapping[str, tuple[str, ...]] = {
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"),
    "allgatherv": ("default", "bruck", "ring", "neighbor", "two_proc"),
    "allreduce": (
        "basic_linear",
        "nonoverlapping",
        "recursive_doubling",
        "ring",
        "segmented_ring",
        "rabenseifner",
    ),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "alltoallv": ("basic_linear", "pairwise"),
    "barrier": ("linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"),
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
_SEGMENTED: Mapping[str, tuple[int, ...]] = {
    "bcast": (2, 3, 4, 5, 6, 7),
    "reduce": (2, 3, 4, 5, 6),
    "allreduce": (5,),
    "gather": (3,),
}
_FANNED: Mapping[str, tuple[int, ...]] = {"bcast": (2,), "reduce": (2,)}
#: What a chain that is forced without a fan-out takes (``coll_tuned_<collective>_algorithm_chain_fanout``). A rule that
#: says 0 means one: the pipeline.
FORCED_FAN_OUT = 4
_FAN_OUTS = ("fan_out", "fanout", "faninout", "chain_fanout", "tree_fanout")
_REQUESTS = ("max_requests", "requests", "reqs")


@dataclass(frozen=True)
class Choice:
    """What one rule tells the library to do.

    Attributes
    ----------
    algorithm
        The library's number; 0 = its own fixed decision.
    fan_out, segment_size, requests
        As in a rule; 0 = as the library likes. None requests are not written.
    """

    algorithm: int
    fan_out: int = 0
    segment_size: int = 0
    requests: int | None = None


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


def normal(name: str, collective: str = "*") -> str:
    """Bring an algorithm's name into one form, so that the names of all sources can be compared."""
    plain = re.sub(r"[-\s]+", "_", name.strip().lower())
    # As PICO tells algorithms of the library from those of its own, which end in _over.
    plain = plain.removesuffix("_ompi").removesuffix("_mpich")
    plain = _SAME.get(collective, {}).get(plain, plain)
    plain = _SAME["*"].get(plain, plain)
    # The tree of a barrier is one of its own, that of a broadcast only a longer name.
    return plain if plain == "tree" else plain.removesuffix("_tree")


def is_of_library(method: Method) -> bool:
    """Whether a library has a method, and not what runs over it: an own ``binomial`` is not the library's."""
    return bool(method.parameters.get("provider", "library") == "library")


def choice_of(method: Method, collective: str, version: str = DEFAULT_VERSION, *, trust_number: bool = True) -> Choice:
    """Find what a rule must say so that the library takes a method.

    Parameters
    ----------
    method
        Its ``library_id`` is the library's number, where `trust_number` says that it is this library's.
    collective, version
        Of the library.

    Raises
    ------
    LookupError
        When this version has no such algorithm; the message says what it has.
    """
    known = algorithms(collective, version)
    if not is_of_library(method):
        raise LookupError(f"{method.label!r} is not a method of Open MPI: it runs over the library")
    number = method.parameters.get("library_id") if trust_number else None
    if number is not None and int(number) < 0:
        # In a cube where others have numbers.
        number = None
    if number is None and normal(method.algorithm) in ("default", "tuned", "ignore", "native"):
        number = 0
    if number is None:
        wanted = normal(method.algorithm, collective)
        number = next((one for one, name in known.items() if normal(name, collective) == wanted), None)
    if number is None or int(number) not in (0, *known):
        called = f"{method.label!r}" + ("" if number is None else f" (number {number})")
        has = ", ".join(f"{one} {name}" for one, name in known.items()) or "nothing to choose from"
        raise LookupError(f"Open MPI {series(version)} has no {called} for {collective}; it has {has}")
    number = int(number)
    if method.segment_size > INT_MAX:
        raise LookupError(f"Open MPI has no segments of {method.segment_size:,} bytes; {INT_MAX:,} are the most")
    requests = _first(method.parameters, _REQUESTS)
    fan_out = _first(method.parameters, _FAN_OUTS)
    return Choice(
        number,
        (FORCED_FAN_OUT if fan_out is None else fan_out) if number in _FANNED.get(collective, ()) else 0,
        method.segment_size if number in _SEGMENTED.get(collective, ()) else 0,
        requests if (collective, number) == ("alltoall", 4) else None,
    )


def unsaid(method: Method, choice: Choice, collective: str) -> list[str]:
    """What a rule leaves unsaid of a method, in words."""
    lost = []
    if method.segment_size and not choice.segment_size:
        lost.append(f"segment size {method.segment_size} (the algorithm has none)")
    if (radix := method.parameters.get("radix")) is not None and normal(method.algorithm) == "knomial":
        lost.append(f"radix {radix} (set coll_tuned_{collective}_algorithm_knomial_radix)")
    if (fan := _first(method.parameters, _FAN_OUTS)) and fan != choice.fan_out:
        lost.append(f"fan-out {fan}")
    return lost


def radix_of(method: Method) -> int | None:
    """Radix of a method's tree, where it has one."""
    return _first(method.parameters, ("radix",))


def way_of(collective: str, number: int) -> int:
    """Give what algorithms have in common whose processes understand each other when they do not choose the same.

    Only in scatter processes can choose differently: rules compare what each tells as send count and type, and MPI
    lets all but the root tell nothing (``ompi_coll_tuned_scatter_intra_dec_dynamic``). In linear and linear_nb the root
    sends to each process.
    """
    return 1 if (collective, number) == ("scatter", 3) else number


def takes_segments(collective: str, number: int) -> bool:
    """Whether the library cuts messages into segments in this algorithm."""
    return number in _SEGMENTED.get(collective, ())


def takes_fan_out(collective: str, number: int) -> bool:
    """Whether the fan-out of a rule means anything to this algorithm."""
    return number in _FANNED.get(collective, ())


def _first(parameters: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in parameters and str(parameters[name]).isdecimal():
            return int(parameters[name])
    return None
