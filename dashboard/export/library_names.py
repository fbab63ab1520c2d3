"""What rules of Open MPI say for a method, what other sources call its algorithms, and what it compares sizes with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dashboard.domain.algorithm_names import means_default, normal
from dashboard.export.targets.c.text import INT_MAX
from loaders.openmpi import DEFAULT_VERSION, algorithms, series

if TYPE_CHECKING:
    from dashboard.decisions import Method

Compared = Literal["message", "total", "nothing"]

#: What a rule's size is compared with, for the collectives that ask the rules at all; of allgatherv the mean block.
COMPARED: Mapping[str, Compared] = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "allgatherv"), "message"),
    **dict.fromkeys(("allgather", "alltoall", "gather", "scatter", "reduce_scatter", "reduce_scatter_block"), "total"),
    **dict.fromkeys(("barrier", "alltoallv", "scan", "exscan"), "nothing"),
}
_SEGMENTED: Mapping[str, tuple[int, ...]] = {
    "bcast": (2, 3, 4, 5, 6, 7),
    "reduce": (2, 3, 4, 5, 6),
    "allreduce": (5,),
    "gather": (3,),
}
#: The least fan-out of algorithms, by the library's names for them. With less those of 6.0 never come to an end.
_FANNED: Mapping[str, Mapping[str, int]] = {
    "bcast": {"chain": 1},
    "reduce": {"chain": 1, "knomial": 2},
    "allgather": {"bruck-k-fanout": 2},
}
#: What an algorithm that is forced without a fan-out takes (`loaders.openmpi.fan_out_variable`). A rule that says 0
#: means one of a chain: the pipeline.
FORCED_FAN_OUT = 4
#: What Bruck's allgather has everywhere else, and had in Open MPI before 6.0.
_BRUCK_FAN_OUT = 2
_FAN_OUTS = ("fan_out", "fanout", "faninout", "chain_fanout", "tree_fanout")
_REQUESTS = ("max_requests", "requests", "reqs")


#: Parameter of a method: 1 where the user has said what the library calls its algorithm.
NAMED = "named"
#: What helps where a target cannot leave what lies beyond the measured sizes to the library.
NEAREST = "decide beyond the measured sizes as at the nearest one (--beyond nearest)"


@dataclass(frozen=True)
class Choice:
    """What one rule tells the library to do."""

    #: The library's number; 0 = its own fixed decision.
    algorithm: int
    #: As in a rule; 0 = as the library likes. None requests are not written.
    fan_out: int = 0
    segment_size: int = 0
    requests: int | None = None
    #: Part of the library that is to answer instead, which no rule can say; empty: tuned, by the algorithm.
    component: str = ""


#: The library's own decision.
NOTHING = Choice(0)

_RULES_OF: Mapping[str, str] = {"MPICH": "mpich", "Intel MPI": "intel", "NCCL": "nccl", "UCC": "ucc"}


def algorithm_names(collective: str, version: str | None = None) -> tuple[str, ...]:
    """Open MPI's names of a collective's algorithms; empty where it has no choice."""
    return tuple(algorithms(collective, version or DEFAULT_VERSION).values())


def plain_library(name: str) -> str:
    """A library's name in small letters, without blanks and hyphens; results say OMPI for Open MPI, too."""
    return re.sub(r"[\s-]+", "", re.sub(r"\bompi", "openmpi", name.lower()))


def measured_with(facts: Mapping[str, Any], *names: str) -> bool:
    """Whether measurements can be of the library with one of these names, in plain letters: nobody says otherwise."""
    library = plain_library(str(facts.get("library") or ""))
    return not library or any(name in library for name in names)


def measured_series(measured: Iterable[Mapping[str, Any]]) -> str:
    """Series of Open MPI that all measurements were made with, where its numbers are known; else empty.

    Parameters
    ----------
    measured
        Attributes of each cube.
    """
    versions = {str(facts.get("library_version", "")) if _is_open_mpi(facts) else "" for facts in measured}
    try:
        known = {series(version) for version in versions}
    except ValueError:
        return ""
    return known.pop() if len(known) == 1 else ""


def rules_target(facts: Mapping[str, Any]) -> str:
    """Target of the rules of the library that was measured; where that has none, or nobody names one, Open MPI's."""
    if measured_series([facts]) == "6.0":
        return "openmpi-json"
    return _RULES_OF.get(str(facts.get("library", "")), "openmpi")


def _is_open_mpi(facts: Mapping[str, Any]) -> bool:
    return bool(facts.get("library")) and measured_with(facts, "openmpi")


def is_of_library(method: Method) -> bool:
    """Whether a library has a method, and not what runs over it: an own ``binomial`` is not the library's."""
    return bool(method.parameters.get("provider", "library") == "library")


def is_own_decision(method: Method) -> bool:
    """Whether a library is left to decide, whatever a benchmark calls it: ``tuned`` is what does so in Open MPI."""
    named = means_default(method.algorithm) or normal(method.algorithm) == "tuned"
    return named and is_of_library(method) and int(method.parameters.get("library_id") or 0) <= 0


def naming_remedy(methods: Sequence[Method]) -> str:
    """What helps where a target has no name for methods: options for people to fill in; parameters stay."""
    algorithms = dict.fromkeys(method.algorithm for method in methods if is_of_library(method))
    options = " ".join(f"--name {shlex.quote(f'{algorithm}=NAME')}" for algorithm in algorithms)
    said = [f"say what it calls them ({options})"] if options else []
    own = [] if all(map(is_of_library, methods)) else ["export what runs over the library to preload, which calls it"]
    return ", and ".join(said + own)


def unwritten(facts: Mapping[str, Any], methods: str) -> str:
    """What is said of methods that MPICH was measured to have, and its files are not written with; else empty."""
    measured = bool(facts.get("library")) and measured_with(facts, "mpich")
    return f"files for MPICH are written without {methods}, which --to preload-mpich forces" if measured else ""


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
    number = method.parameters.get("library_id") if trust_number and not method.parameters.get(NAMED) else None
    if number is not None and int(number) < 0:
        # In a cube where others have numbers.
        number = None
    if number is None and is_own_decision(method):
        number = 0
    if number is None:
        wanted = normal(method.algorithm, collective)
        number = next((library_id for library_id, name in known.items() if normal(name, collective) == wanted), None)
    if number is None or int(number) not in (0, *known):
        called = f"{method.label!r}" + ("" if number is None else f" (number {number})")
        has = ", ".join(f"{library_id} {name}" for library_id, name in known.items()) or "nothing to choose from"
        raise LookupError(f"Open MPI {series(version)} has no {called} for {collective}; it has {has}")
    number = int(number)
    if method.segment_size > INT_MAX:
        raise LookupError(f"Open MPI has no segments of {method.segment_size:,} bytes; {INT_MAX:,} are the most")
    fan_out, requests = (_first(method.parameters, names) for names in ((*_FAN_OUTS, "radix"), _REQUESTS))
    name = known.get(number, "")
    if fan_out is None:
        other = normal(method.algorithm, collective) == "bruck" and method.algorithm.replace("_", "-") != name
        fan_out = _BRUCK_FAN_OUT if other else FORCED_FAN_OUT
    if fan_out < (least := least_fan_out(collective, name)) > 1:
        raise LookupError(f"{name} of Open MPI {series(version)} needs a fan-out of {least} or more, not {fan_out}")
    return plain(Choice(number, fan_out, method.segment_size, requests), collective, name)


def plain(choice: Choice, collective: str, name: str) -> Choice:
    """The choice without what the algorithm, of which `name` is the library's, takes no notice of."""
    return Choice(
        choice.algorithm,
        choice.fan_out if least_fan_out(collective, name) else 0,
        choice.segment_size if takes_segments(collective, choice.algorithm) else 0,
        choice.requests if (collective, choice.algorithm) == ("alltoall", 4) else None,
    )


def unsaid(method: Method, choice: Choice, collective: str) -> list[str]:
    """What a rule leaves unsaid of a method, in words."""
    lost = []
    if method.segment_size and not choice.segment_size:
        lost.append(f"segment size {method.segment_size} (the algorithm has none)")
    if (radix := radix_of(method)) not in (None, choice.fan_out) and normal(method.algorithm) == "knomial":
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


def least_fan_out(collective: str, name: str) -> int:
    """The least fan-out that a rule can tell an algorithm, by the library's name for it; 0: it takes none."""
    return _FANNED.get(collective, {}).get(name, 0)


def _first(parameters: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in parameters and str(parameters[name]).isdecimal():
            return int(parameters[name])
    return None
