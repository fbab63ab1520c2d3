"""Open MPI's components that answer collective calls: what each serves, and what a file of HAN's rules calls it.

By the sources of 4.1 and 5.0 (``ompi/mca/coll/*/coll_*_module.c``, ``coll_han_dynamic.h``). For each communicator the
library asks all that can serve it; the one that is asked last for a collective answers it. HAN, of the highest
priority, serves communicators of several nodes only, ``sm`` those of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.decisions.function.nodes import Method

HAN, TUNED = "han", "tuned"
#: Parameter of HAN's methods: which of its own algorithms it takes.
VARIANT = "variant"
#: HAN's algorithms by number (5.0, ``ompi_info --param coll han --level 9``); 0 leaves it to HAN, which takes the first
#: of them. Its rules name them behind a component's name and an ``@``, its control variables act on the call.
HAN_VARIANTS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("bcast", "allgather", "gather", "scatter"), ("intra", "simple")),
    **dict.fromkeys(("reduce", "allreduce"), ("intra", "simple", "reproducible")),
    "barrier": ("simple",),
}
#: Those of them that HAN does not take by itself for some collective.
OWN_VARIANTS = ("simple", "reproducible")
#: Components that HAN takes within nodes (low) and between them (up) for its own algorithm, by the numbers of
#: ``coll_han_<collective>_low_module`` and ``_up_module``, the first by itself. It reads them at its start, and 5.0.11
#: crashes where they are given by name.
HAN_MODULES: Mapping[str, Sequence[str]] = {"low": (TUNED, "sm"), "up": ("libnbc", "adapt")}
#: Components that a series of Open MPI has no more, by its source; what HAN calls so within nodes is another one there.
GONE: Mapping[str, Sequence[str]] = {"6.0": ("sm",)}
#: Collectives of which HAN cuts messages into segments, all of a job by the same size.
HAN_SEGMENTED = ("bcast", "reduce", "allreduce")
_TREES = frozenset({"bcast", "reduce"})
_FIXED = frozenset({"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"})
_FIXED |= {"reduce", "reduce_scatter", "reduce_scatter_block", "scatter"}
_ALL = _FIXED | {"alltoallw", "exscan", "gatherv", "scan", "scatterv"}
#: Components that a site may have switched on, as NVIDIA's HPC-X has, and what they may answer, before HAN where their
#: priority is higher, as hcoll's is (``coll_hcoll_module.c``, ``coll_ucc.h``).
OF_SITES: Mapping[str, frozenset[str]] = {
    "hcoll": _FIXED - {"gather", "scatter"} | {"gatherv", "scatterv"},
    "ucc": _FIXED | {"gatherv", "scatterv"},
}
#: Value of the parameter ``coll`` with which tuned is asked first. Of the highest priority it would be, too, but then
#: also be handed buffers of GPUs, in which it cannot reduce: ``cuda`` (4.1, 5.0) and ``accelerator`` (6.0) copy them.
TUNED_FIRST = f"^{HAN},{','.join(OF_SITES)}"
#: The highest priority below that of these two.
BELOW_COPIES = 77
#: Collectives of which a component answers blocking calls; libnbc has none.
SERVES: Mapping[str, frozenset[str]] = {
    "basic": _ALL,
    TUNED: _FIXED,
    "sm": _TREES | {"allreduce", "barrier"},
    "adapt": _TREES,
    HAN: _TREES | {"allgather", "allreduce", "barrier", "gather", "scatter"},
}
#: What answers between two groups, by the components that answer within each of them; ``basic`` does the rest.
_BETWEEN = {"inter": _TREES | {"allgather", "allgatherv", "allreduce", "gather", "gatherv", "scatter", "scatterv"}}
#: Components by the number that HAN's rules give them; 5.x takes names, too.
NUMBERS: Mapping[str, int] = {"self": 0, "basic": 1, "libnbc": 2, TUNED: 3, "sm": 4, "adapt": 5, HAN: 6}


#: Open MPI's hint for a communicator: components in the order in which they are selected last, thus answer first; after
#: ``^`` those that are not selected at all.
HINT = "ompi_comm_coll_preference"


#: With this adapt is selected for every communicator, so that HAN's rules can name it: by itself it comes first, finds
#: nobody below that reduces, and drops out. Above libnbc it answers MPI_Ibcast and MPI_Ireduce, too.
_SELECTED = {"coll_adapt_priority": "11"}


def asks_han(methods: Sequence[Method]) -> bool:
    """Whether HAN was asked first where these were measured: components are methods on several nodes."""
    return any(method.algorithm == HAN for method in methods)


def parameters(tuned: str, han: str, *, adapt: bool = True) -> dict[str, str]:
    """Parameters with which rules of tuned and HAN's act together, by the names of their files.

    Parameters
    ----------
    adapt
        Whether HAN's rules may name adapt, which then answers ``MPI_Ibcast`` and ``MPI_Ireduce``, too.
    """
    return {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": tuned,
        "coll_han_use_dynamic_file_rules": "1",
        "coll_han_dynamic_rules_filename": han,
        **(_SELECTED if adapt else {}),
    }


def preference(name: str) -> str:
    """Value of `HINT` with which a component answers, if it can.

    ``basic`` in the place of HAN makes 5.0.11 crash when the communicator is freed and messages are counted: the others
    are left out instead.
    """
    return "^" + ",".join(other for other in SERVES if other != name) if name == "basic" else name


def named(method: Method) -> str:
    """Component that a method is, as a library's part that answers calls by itself; empty: it is none."""
    number = method.parameters.get("library_id")
    known = number is not None and int(number) >= 0
    return "" if known or method.algorithm not in SERVES or "provider" in method.parameters else method.algorithm


def han_settings(collective: str, variant: str, segment_size: int) -> dict[str, int]:
    """Control variables with which HAN's calls take one of its algorithms and a segment size; empty, 0: its own.

    Raises
    ------
    LookupError
        HAN has no such algorithm of the collective, or does not cut its messages.
    """
    variants = HAN_VARIANTS.get(collective, ())
    if (variant and variant not in variants) or (segment_size and collective not in HAN_SEGMENTED):
        raise LookupError(f"{collective}: HAN has no {variant or 'segments'}; it has {', '.join(variants)}")
    said = {f"coll_han_use_{collective}_algorithm": 1 + variants.index(variant)} if variant else {}
    return said | ({f"coll_han_{collective}_segsize": segment_size} if segment_size else {})


def module_settings(collective: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Parameters with which HAN takes, from its start on, the components that a method names for its two levels."""
    return {
        f"coll_han_{collective}_{level}_module": names.index(parameters[level])
        for level, names in HAN_MODULES.items()
        if parameters.get(level) in names
    }


def split_word(word: str) -> tuple[str, str]:
    """Component and algorithm of its own, empty where it chooses, of a word of HAN's rules such as ``han @simple``."""
    component, _, variant = word.partition(" @")
    return component, variant


def variant_of(method: Method) -> str:
    """Which of HAN's own algorithms a method takes; empty: HAN's choice, or another's method."""
    return str(method.parameters.get(VARIANT, "")) if named(method) == HAN else ""


def answers(selected: Sequence[str], collective: str) -> str:
    """Component that answers a collective; empty: none that is known.

    Parameters
    ----------
    selected
        Components of a communicator, in the order in which the library selected them: the last one comes first.
    """
    serves = {**SERVES, **_BETWEEN, **OF_SITES}
    return next((name for name in reversed(selected) if collective in serves.get(name, ())), "")
