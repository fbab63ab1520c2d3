"""Decision functions as settings of the environment: Intel's ``I_MPI_ADJUST_*`` and UCC's tune strings."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.decisions import DecisionFunction, Method
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.bands import Bands, bands_of
from dashboard.export.library_names import NAMED, Compared, is_of_library, normal
from dashboard.export.parts import per_collective
from dashboard.export.remarks import about, hashed
from dashboard.export.target import Decisions, ExportError, Facts, Target
from loaders import intelmpi

_INT_MAX = 2**31 - 1
_INTEL = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan"),
    *("gather", "gatherv", "reduce", "reduce_scatter", "scan", "scatter", "scatterv"),
)
#: UCC's names of the memory of devices, as results tell these.
MEMORY = ("cuda", "rocm")
#: What UCC compares sizes with (``ucc_coll_args_msgsize``): whole buffers for allgather and alltoall.
_UCC_COMPARED: Mapping[str, Compared] = {
    "bcast": "message",
    "allreduce": "message",
    "reduce_scatter": "message",
    "allgather": "total",
    "alltoall": "total",
    "barrier": "nothing",
}
#: Algorithms of UCC's tl/ucp, by the normalised names of other sources.
UCC_NAMES: Mapping[str, Mapping[str, str]] = {
    "bcast": {
        "binomial": "knomial",
        "knomial": "knomial",
        "scatter_allgather": "sag_knomial",
        "sag_knomial": "sag_knomial",
    },
    "allreduce": {
        "recursive_doubling": "knomial",
        "knomial": "knomial",
        "rabenseifner": "sra_knomial",
        "sra_knomial": "sra_knomial",
    },
    "allgather": {
        "recursive_doubling": "knomial",
        "knomial": "knomial",
        "ring": "ring",
        "neighbor": "neighbor",
        "bruck": "bruck",
        "sparbit": "sparbit",
    },
    "alltoall": {"pairwise": "pairwise", "bruck": "bruck"},
    "reduce_scatter": {"ring": "ring", "recursive_halving": "knomial", "knomial": "knomial"},
    # A single one, which UCC refuses to be told.
    "barrier": {"knomial": ""},
}


def to_intel(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as a shell script that sets ``I_MPI_ADJUST_*`` for Intel MPI.

    Methods must have Intel's own number: measured with Intel MPI (``library_id``), or by the name that the user says
    they have there, since its names are no one else's. What is left to the library is 0.
    Message sizes are written as measured, for they are what the Intel benchmarks print.

    Raises
    ------
    ExportError
        When a method has no number, or Intel has no setting for a collective.
    """
    lines = hashed(["Settings for Intel MPI: source this file before mpirun.", origin.generated(provenance)])
    for decision in per_collective(decisions):
        line, bands = _intel_line(decision)
        lines += ["#", *hashed(about(decision, provenance, bands.notes)), line]
    return "\n".join(lines) + "\n"


def _intel_line(decision: DecisionFunction) -> tuple[str, Bands]:
    if decision.collective not in _INTEL:
        raise ExportError(f"Intel MPI has no setting for {decision.collective}; it has for {', '.join(_INTEL)}")
    numbers = [intel_number(decision, method) for method in decision.methods]
    bands = bands_of(decision, "nothing" if decision.collective == "barrier" else "message")
    # What most rules say needs no condition.
    used = [numbers[method] for band in bands.bands for _, method in band.rules]
    missing = next((method for b in bands.bands for _, method in b.rules if numbers[method] is None), None)
    if missing is not None:
        label = decision.methods[missing].label
        raise ExportError(
            f"{decision.collective}: {label!r} has no number of Intel MPI; measure with Intel MPI, or say what "
            "it is called there (--name)"
        )
    rest = max(set(used), key=used.count)
    conditions = []
    for start, end, rules in bands.ranges():
        most = _INT_MAX if end is None else end
        for size, last, method in rules:
            if numbers[method] != rest and size <= _INT_MAX:
                largest = _INT_MAX if last is None else min(last, _INT_MAX)
                conditions.append(f"{numbers[method]}:{size}-{largest}@{start}-{most}")
    value = ";".join([str(rest), *conditions])
    return f'export I_MPI_ADJUST_{decision.collective.upper()}="{value}"', bands


def intel_number(decision: DecisionFunction, method: Method) -> int | None:
    """Intel's number of a method, where it was measured with Intel MPI or named by the user; 0 = its own decision."""
    if not is_of_library(method):
        return None
    known = intel_named(decision.collective, method)
    if known is not None or method.parameters.get(NAMED):
        return known
    library = str(decision.provenance.get("library") or "").lower()
    number = method.parameters.get("library_id")
    return int(number) if number is not None and "intel" in library else None


def intel_named(collective: str, method: Method) -> int | None:
    """Intel's number of a method whose name says it: its own decision, and what the user has named."""
    names = intelmpi.ALGORITHMS.get(collective, ())
    if method.parameters.get(NAMED):
        return names.index(method.algorithm) + 1 if method.algorithm in names else None
    return 0 if normal(method.algorithm) in ("default", "tuned") else None


def to_ucc(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as a shell script that sets ``UCC_TL_UCP_TUNE``.

    Sizes are converted to what UCC compares: for allgather and alltoall the total of all processes.

    Raises
    ------
    ExportError
        When UCC lacks a method, or its sizes are not known for a collective.
    """
    lines, values = [], []
    for decision in per_collective(decisions):
        value, bands = _ucc_value(decision)
        # What is left to the library needs no word, and an empty part makes UCC refuse the whole string.
        values += [value] if value else []
        lines += ["#", *hashed(about(decision, provenance, bands.notes))]
    use = "Settings for UCC: source this file before mpirun, or put the last line without 'export' into ucc.conf."
    setting = f'export UCC_TL_UCP_TUNE="{"#".join(values)}"' if values else "# All is left to UCC: nothing is set."
    return "\n".join([*hashed([use, origin.generated(provenance)]), *lines, setting]) + "\n"


def _ucc_value(decision: DecisionFunction) -> tuple[str, Bands]:
    name = decision.collective
    if name not in _UCC_COMPARED:
        raise ExportError(f"UCC's sizes are not known for {name}; they are for {', '.join(_UCC_COMPARED)}")
    bands = bands_of(decision, _UCC_COMPARED[name])
    device = str(decision.provenance.get("device", "")).lower()
    memory = f"{device}:" if device in MEMORY else ""
    tokens = []
    for start, end, rules in bands.ranges():
        most = "inf" if end is None else end
        for size, last, method in rules:
            if algorithm := _ucc_name(decision, decision.methods[method]):
                below = "inf" if last is None else last + 1
                tokens.append(f"{name}:{size}-{below}:{memory}[{start}-{most}]:@{algorithm}")
    return "#".join(tokens), bands


def _ucc_name(decision: DecisionFunction, method: Method) -> str:
    if normal(method.algorithm) in ("default", "tuned"):
        return ""
    known = UCC_NAMES[decision.collective]
    if normal(method.algorithm, decision.collective) not in known or not is_of_library(method):
        has = ", ".join(dict.fromkeys(name or alias for alias, name in known.items()))
        raise ExportError(f"{decision.collective}: UCC has no {method.label!r}; its tl/ucp has {has}")
    return known[normal(method.algorithm, decision.collective)]


INTEL = Target(
    "intel",
    "Intel MPI settings (I_MPI_ADJUST)",
    ".sh",
    to_intel,
    use=usage.intel,
    readable=True,
    own_methods=True,
    segments=False,
    names=lambda collective, _: intelmpi.ALGORITHMS.get(collective, ()),
)
UCC = Target(
    "ucc",
    "UCC tune string",
    ".sh",
    to_ucc,
    use=usage.ucc,
    readable=True,
    own_methods=True,
    segments=False,
    says=("device",),
    names=lambda collective, _: tuple(UCC_NAMES.get(collective, ())),
)
