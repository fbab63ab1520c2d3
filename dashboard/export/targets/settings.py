"""Decision functions as settings of the environment: Intel's ``I_MPI_ADJUST_*`` and UCC's tune strings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dashboard.decisions import DecisionFunction, Method
from dashboard.decisions.function.cutting import is_within_measured
from dashboard.decisions.measured.map import methods_of
from dashboard.domain.algorithm_names import normal
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.band_search import best_bands
from dashboard.export.bands import Band, Bands, bands_of, merged
from dashboard.export.library_names import NAMED, NEAREST, Compared, is_of_library, is_own_decision, naming_remedy
from dashboard.export.parts import per_collective
from dashboard.export.remarks import about, hashed
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target, Weights, no_segments
from dashboard.export.targets.c.text import INT_MAX
from loaders import intelmpi, ucc
from loaders.collectives import COLLECTIVES

if TYPE_CHECKING:
    import xarray as xr

#: What Intel MPI compares sizes with (seen with 2021.9 and 2021.18.1): the message size, but for these.
INTEL_COMPARED: Mapping[str, Compared] = {"barrier": "nothing", "reduce_scatter": "total"}
#: Characters of a value: of longer ones 2021.1.1 to 2021.18.1 take no notice, or end the program where they have
#: parentheses (seen above 253 and 255).
INTEL_LONGEST = 250
#: UCC's names of the memory of devices, as results tell these.
MEMORY = ("cuda", "rocm")
#: What UCC compares sizes with (``ucc_coll_args_msgsize``; seen with 1.10.0): whole buffers for allgather and alltoall.
UCC_COMPARED: Mapping[str, Compared] = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"), "message"),
    **dict.fromkeys(("allgather", "allgatherv", "alltoall", "reduce_scatterv"), "total"),
    **dict.fromkeys(("alltoallv", "barrier"), "nothing"),
}
#: Algorithms of UCC's tl/ucp that are the same where others call theirs so; all of `loaders.ucc.ALGORITHMS` are where
#: UCC itself was measured, or the user says so.
_UCC_SAME: Mapping[str, tuple[str, ...]] = {
    "bcast": ("knomial", "sag_knomial"),
    "allreduce": ("knomial", "sra_knomial"),
    "allgather": ("knomial", "ring", "neighbor", "bruck", "sparbit"),
    "allgatherv": ("ring", "knomial"),
    "alltoall": ("pairwise", "bruck"),
    "alltoallv": ("pairwise",),
    "reduce": ("knomial", "srg"),
    "reduce_scatter": ("ring", "knomial"),
    "reduce_scatter_block": ("ring", "knomial"),
    "reduce_scatterv": ("ring",),
    # A single one, which UCC refuses to be told.
    "barrier": ("knomial",),
}
_OF_BLOCKS = (
    "UCC's reduce_scatter is what Open MPI calls for MPI_Reduce_scatter_block; for MPI_Reduce_scatter it calls "
    "reduce_scatterv, which has one algorithm."
)
#: Characters of what is said of one collective at most: four have rules for each number of processes.
_UCC_LONG = ucc.LONGEST // 4
_OWN_RADIX = "auto"
#: A radix, or radixes by message size as UCC takes them: ``0-8k:host:8,8k-inf:host:2``.
_RADIX = re.compile(r"[0-9A-Za-z:,-]+")


def to_intel(decisions: Decisions, *, provenance: Facts = None, cubes: Cubes = None, weights: Weights = None) -> str:
    """Write decision functions as a shell script that sets ``I_MPI_ADJUST_*`` for Intel MPI.

    Methods must have Intel's own number: measured with Intel MPI (``library_id``), or by the name that the user says
    they have there, since its names are no one else's. Of several ranges of processes each has its sizes in
    parentheses, which its reference does not tell of and without which it takes one method for all of them
    (see `dashboard.export.rules.intel`). What is left to the library as a whole has no line: 0 is another choice.
    Sizes are converted to what it compares: for reduce_scatter the total of all processes. Comments tell the numbers'
    methods, by which `dashboard.export.rules` knows them again.

    Raises
    ------
    ExportError
        When a method has no number, some sizes alone are left to the library, Intel has no setting for a collective,
        or a setting is too long and there are no measurements by which to shorten it.
    """
    lines = hashed(["Settings for Intel MPI: source this file before mpirun.", origin.generated(provenance)])
    for decision in per_collective(decisions):
        name = decision.collective
        bands, methods = _intel_bands(decision, (cubes or {}).get(name), (weights or {}).get(name))
        numbers = [intel_number(decision, method) for method in methods]
        lines += [
            "#",
            *hashed([*about(decision, provenance, bands.notes), *_intel_names(name, bands, methods, numbers)]),
        ]
        left = not any(numbers[method] for band in bands.bands for _, method in band.rules)
        setting = f'export I_MPI_ADJUST_{name.upper()}="{_intel_value(bands, numbers)}"'
        lines.append(f"# {name} is left to Intel MPI: nothing is set." if left else setting)
    return "\n".join(lines) + "\n"


def _intel_bands(
    decision: DecisionFunction, cube: xr.Dataset | None = None, weights: Any = None
) -> tuple[Bands, tuple[Method, ...]]:
    """What is said of a decision, shortened over its measurements where it would be too long, and by which methods."""
    name = decision.collective
    if name not in COLLECTIVES:
        raise ExportError(f"Intel MPI has no setting for {name}; it has for {', '.join(COLLECTIVES)}")
    numbers = [intel_number(decision, method) for method in decision.methods]
    bands = bands_of(decision, INTEL_COMPARED.get(name, "message"))
    said = dict.fromkeys(method for band in bands.bands for _, method in band.rules)
    if lacking := [decision.methods[method] for method in said if numbers[method] is None]:
        labels = ", ".join(repr(method.label) for method in lacking)
        raise ExportError(
            f"{name}: {labels}: no number of Intel MPI, since the same name need not be the same "
            f"algorithm; measure with Intel MPI, or {naming_remedy(lacking)}; it has "
            f"{', '.join(intelmpi.ALGORITHMS.get(name, ()))}"
        )
    if len({numbers[method] == 0 for method in said}) > 1:
        over = "export over measurements, which gives the best methods in their places (colltune export RESULTS --tree "
        over += "rules --file FILE)"
        remedy = NEAREST if is_within_measured(decision) else over
        raise ExportError(
            f"{name}: Intel MPI cannot leave some sizes to its own decision and be told of others: {remedy}, or leave "
            "the collective out"
        )
    length = len(_intel_value(bands, numbers))
    if length <= INTEL_LONGEST:
        return bands, tuple(decision.methods)
    why = f"its {bands.rules} rules take {length:,} characters, of which Intel MPI reads {INTEL_LONGEST}"
    if cube is None:
        raise ExportError(f"{name}: {why}; the best of them is found from the measurements only")
    methods = tuple(methods_of(cube))
    numbers = [intel_number(decision, method) for method in methods]
    allowed = [place for place, number in enumerate(numbers) if number]
    # No rule takes fewer than 4 characters.
    search = best_bands(cube, bands.compared, INTEL_LONGEST // 4, allowed=allowed, weights=weights)
    reductions = (search.bands(rules) for rules in range(search.costs.size, 0, -1))
    best = next(each for each in reductions if len(_intel_value(each, numbers)) <= INTEL_LONGEST)
    note = f"{why}; the best {best.rules} over the measured sizes are written"
    return replace(best, notes=(*bands.notes, note)), methods


def _intel_value(bands: Bands, numbers: Sequence[int | None]) -> str:
    groups = []
    for start, end, rules in bands.ranges():
        parts = [
            f"{numbers[method]}" if last is None or last >= INT_MAX else f"{numbers[method]}:{size}-{last}"
            for size, last, method in rules
            if size <= INT_MAX
        ]
        groups.append((";".join(parts), "" if end is None else f"@{start}-{end}"))
    return groups[0][0] if len(groups) == 1 else ";".join(f"({sizes}){processes}" for sizes, processes in groups)


def _intel_names(collective: str, bands: Bands, methods: Sequence[Method], numbers: Sequence[int | None]) -> list[str]:
    """What stands for each number that is said, as `dashboard.export.rules.intel` reads it again."""
    used = sorted({method for band in bands.bands for _, method in band.rules})
    said = [f"  {collective} {numbers[place]}: {methods[place].label}" for place in used if numbers[place]]
    return ["Algorithms:", *said] if said else []


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
    return 0 if is_own_decision(method) else None


def intel_left(collective: str, method: Method) -> tuple[str, str]:
    """Whether the variable of a collective is set, for `Target.once`: sizes are left to the library together only."""
    return f"I_MPI_ADJUST_{collective.upper()}", "" if intel_named(collective, method) == 0 else "set"


def to_ucc(decisions: Decisions, *, provenance: Facts = None, cubes: Cubes = None) -> str:
    """Write decision functions as a shell script that sets ``UCC_TL_UCP_TUNE``.

    Sizes are converted to what UCC compares: for allgather and alltoall the total of all processes. What others call
    binomial, recursive doubling or Rabenseifner's is UCC's k-nomial algorithm of radix 2, which is set beside.

    Raises
    ------
    ExportError
        When UCC lacks a method, its sizes are not known for a collective, methods need different radixes, or the
        string is too long for a variable.
    """
    lines, values, radixes = [], [], {}
    parts = per_collective(decisions)
    of_blocks = any(decision.collective == "reduce_scatter_block" for decision in parts)
    for decision in parts:
        bands = _ucc_bands(decision, (cubes or {}).get(decision.collective))
        value = _ucc_value(decision, bands)
        calls = [_OF_BLOCKS] if decision.collective == "reduce_scatter" else []
        # What is left to the library needs no word, and parts that overlap make it refuse the whole string.
        if value and not (calls and of_blocks):
            values.append(value)
            radixes.update(_ucc_radixes(decision))
        lines += ["#", *hashed([*about(decision, provenance, bands.notes), *calls])]
    if len("#".join(values)) > ucc.LONGEST:
        names = ", ".join(decision.collective for decision in parts)
        remedy = "decide by smaller trees, over the measurements, or for fewer collectives"
        raise ExportError(f"{names}: the string is longer than a variable, of {ucc.LONGEST:,} characters: {remedy}")
    settings = [f'export {name}="{radix}"' for name, radix in radixes.items()]
    settings += [f'export UCC_TL_UCP_TUNE="{"#".join(values)}"' if values else "# All is left to UCC: nothing is set."]
    use = "Settings for UCC: source this file before mpirun"
    if len(settings[-1]) <= ucc.LONGEST_LINE:
        use += ", or put its settings into ucc.conf, without 'export' and without quotes, which are part of them there"
    return "\n".join([*hashed([f"{use}.", origin.generated(provenance)]), *lines, *settings]) + "\n"


def _ucc_bands(decision: DecisionFunction, cube: xr.Dataset | None = None) -> Bands:
    """What is said of a decision; where that is long, communicator sizes between measured ones are as the next one."""
    name = decision.collective
    if name not in UCC_COMPARED:
        raise ExportError(f"UCC's sizes are not known for {name}; they are for {', '.join(UCC_COMPARED)}")
    bands = bands_of(decision, UCC_COMPARED[name])
    if cube is None or len(_ucc_value(decision, bands)) <= _UCC_LONG:
        return bands
    sizes = sorted(int(size) for size in cube["comm_size"].values)
    starts = [band.start for band in bands.bands]
    rules = [bands.bands[bisect_right(starts, size) - 1].rules for size in sizes]
    measured = [Band(before + 1, each) for before, each in zip([0, *sizes], rules, strict=False)]
    if is_within_measured(decision) and sizes[0] > 1:
        measured[:1] = [bands.bands[0], Band(sizes[0], rules[0])]
    measured += [band for band in bands.bands if band.start > sizes[-1]]
    note = f"{bands.rules:,} rules are too long for one variable; numbers of processes between those measured have "
    return merged(Bands(bands.compared, tuple(measured), (*bands.notes, f"{note}the rules of the next one")))


def _ucc_value(decision: DecisionFunction, bands: Bands) -> str:
    name = decision.collective
    device = str(decision.provenance.get("device", "")).lower()
    memory = f"{device}:" if device in MEMORY else ""
    tokens = []
    for start, end, rules in bands.ranges():
        most = "inf" if end is None else end
        for size, last, method in rules:
            if algorithm := _ucc_name(decision, decision.methods[method]):
                below = "inf" if last is None else last + 1
                tokens.append(f"{ucc.own_name(name)}:{size}-{below}:{memory}[{start}-{most}]:@{algorithm}")
    return "#".join(tokens)


def _ucc_name(decision: DecisionFunction, method: Method) -> str:
    """UCC's name of a method, empty where nothing is to be said."""
    if is_own_decision(method):
        return ""
    known: Sequence[str] = _UCC_SAME[decision.collective]
    if method.parameters.get(NAMED) or decision.provenance.get("library") == ucc.NAME:
        known = _ucc_algorithms(decision.collective)
    choice = ucc_choice(decision.collective, method)
    if choice is None or choice.algorithm not in known:
        has = ", ".join(known)
        raise ExportError(f"{decision.collective}: UCC has no {method.label!r}; its tl/ucp has {has}")
    return choice.algorithm if decision.collective in ucc.ALGORITHMS else ""


def _ucc_radixes(decision: DecisionFunction) -> dict[str, str]:
    """Radixes that are not UCC's own, by their variables."""
    radixes: dict[str, str] = {}
    for place in decision.used:
        name, radix = ucc_radix(decision.collective, decision.methods[place])
        if name and radixes.setdefault(name, radix) != radix:
            raise ExportError(f"{decision.collective}: UCC has one {name} for all, not {radixes[name]} and {radix}")
    return {name: radix for name, radix in radixes.items() if radix != _OWN_RADIX}


def _ucc_algorithms(collective: str) -> tuple[str, ...]:
    return ucc.ALGORITHMS.get(collective) or _UCC_SAME.get(collective, ())


class UccChoice(NamedTuple):
    """An algorithm of UCC's tl/ucp, and its radix where it has one."""

    algorithm: str
    radix: str = ""


def ucc_choice(collective: str, method: Method) -> UccChoice | None:
    """What UCC has to be told for a method; None where it has none, or the method runs over the library."""
    name = normal(method.algorithm, collective)
    if not is_of_library(method):
        return None
    for algorithm, other in ucc.OF_RADIX_2.get(collective, {}).items():
        if name == other:
            return UccChoice(algorithm, "2")
    if name not in _ucc_algorithms(collective):
        return None
    radix = str(method.parameters.get("radix", _OWN_RADIX)) if ucc.radix_variable(collective, name) else ""
    return UccChoice(name, radix) if not radix or _RADIX.fullmatch(radix) else None


def ucc_radix(collective: str, method: Method) -> tuple[str, str]:
    """Variable of the radix that a method needs, and its value, for `Target.once`; empty where it needs none."""
    choice = ucc_choice(collective, method)
    return ("", "") if choice is None else (ucc.radix_variable(collective, choice.algorithm), choice.radix)


INTEL = Target(
    "intel",
    "Intel MPI settings (I_MPI_ADJUST)",
    ".sh",
    to_intel,
    options=("cubes", "weights"),
    use=usage.INTEL,
    readable=True,
    own_methods=True,
    segments=no_segments,
    names=lambda collective, _: intelmpi.ALGORITHMS.get(collective, ()),
    once=intel_left,
    notes=lambda decision, asked: (
        _intel_bands(decision, *(asked[name].get(decision.collective) for name in ("cubes", "weights")))[0].notes
    ),
)
UCC = Target(
    "ucc",
    "UCC tune string",
    ".sh",
    to_ucc,
    options=("cubes",),
    use=usage.UCC,
    readable=True,
    own_methods=True,
    segments=no_segments,
    says=("device",),
    names=lambda collective, _: (*_ucc_algorithms(collective), *ucc.OF_RADIX_2.get(collective, {}).values()),
    once=ucc_radix,
    notes=lambda decision, asked: _ucc_bands(decision, asked["cubes"].get(decision.collective)).notes,
)
