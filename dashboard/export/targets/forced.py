"""One method for each collective, forced on the command line of mpirun: no rules file, no sizes.

A decision function of several methods becomes the best single one that the library has, over the measurements; what
that costs is told. Source of the options: ``ompi_info --param coll tuned --level 9``, MPICH's ``mpivars``, the Intel
MPI developer reference. Forcing one method is how section 6.7 of the dissertation runs applications.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from dashboard.decisions.function.cutting import is_within_measured
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import OWN_DECISION, Leaf, Method
from dashboard.decisions.judged.penalty import PenaltySummary, penalty, summarise
from dashboard.decisions.measured.map import methods_of, select_ppn
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.components import TUNED_FIRST
from dashboard.export.known_faults import KnownFault, known_fault
from dashboard.export.library_names import COMPARED, NEAREST, algorithm_names, measured_with, radix_of
from dashboard.export.parts import known_ppn, per_collective
from dashboard.export.remarks import about, hashed
from dashboard.export.rules.mpich_parameters import INTRA, RADIX, SEGMENT, is_forced
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target, Weights, series_of
from dashboard.export.targets.c.text import comment_text
from dashboard.export.targets.mpich.selection import algorithm_name
from dashboard.export.targets.openmpi.plan import choice_in, figures
from dashboard.export.targets.settings import intel_number
from loaders.openmpi import DEFAULT_VERSION, fan_out_variable

#: What is said to a library for one method of a collective; nothing for its own decision, None where it lacks it.
Options = dict[str, str] | None


@dataclass(frozen=True)
class _Library:
    """How a library is told."""

    #: For people.
    title: str
    #: How one setting is written, from name and value.
    option: Callable[[str, str], str]
    #: Settings that are needed whatever is forced.
    always: Mapping[str, str]
    #: Settings of a method; the last argument is the version of Open MPI.
    options: Callable[[DecisionFunction, Method, str], Options]
    #: Name of the setting that says the algorithm, from a collective's.
    algorithm: Callable[[str], str]

    def fault(self, decision: DecisionFunction, said: Mapping[str, str], version: str) -> KnownFault | None:
        """What is known of the algorithm that settings say, in the version that is written for or was measured."""
        facts, algorithm = decision.provenance, said.get(self.algorithm(decision.collective), "")
        if self is not OPEN_MPI:
            version = str(facts.get("library_version", "")) if facts.get("library") == self.title else ""
        number = int(algorithm) if algorithm.isdecimal() else None
        return known_fault(self.title, version, decision.collective, number=number, name=algorithm)

    def safe_options(self, decision: DecisionFunction, method: Method, version: str) -> Options:
        """Settings of a method that gives right results, if only for operations that commute; None for others."""
        said = self.options(decision, method, version)
        fault = self.fault(decision, said or {}, version)
        return None if fault is not None and not fault.only_commutative else said


@dataclass(frozen=True, eq=False)
class _Single:
    """The single method of a collective for one library, and what it costs; None where it was not measured."""

    method: Method
    options: dict[str, str]
    cost: PenaltySummary | None


def to_mpirun(
    decisions: Decisions,
    *,
    provenance: Facts = None,
    cubes: Cubes = None,
    weights: Weights = None,
    version: str = DEFAULT_VERSION,
) -> str:
    """Write command lines of mpirun that force one method for each collective.

    Parameters are those of `dashboard.export.target.Target`; `cubes` are needed where a decision function has several
    methods.

    Raises
    ------
    ExportError
        When a decision function has several methods and there are no measurements, or no library has any; or when
        it leaves what lies beyond the measured sizes to the library.
    """
    wanted = series_of(version)
    parts = per_collective(decisions)
    if any(map(is_within_measured, parts)):
        raise ExportError(f"a method that is forced is taken at all sizes: {NEAREST}, or write a rules file")
    lines = ["One method for each collective, forced for all sizes on the command line."]
    lines += ["P stands for the number of processes, PROGRAM for the program with its arguments."]
    text = hashed(lines)
    for decision in parts:
        text += ["#", *hashed([*about(decision, provenance, ()), *_several(decision)])]
    text += hashed([f"Generated by {origin.generator(provenance)}."])
    sections = [_section(library, parts, cubes, weights, wanted) for library in _LIBRARIES]
    if not any(forces for _, forces in sections):
        used = {(each.collective, each.methods[place].label) for each in parts for place in each.simplified().used}
        labels = sorted(f"{collective} by {label!r}" for collective, label in used)
        raise ExportError(f"no library can be forced to: {', '.join(labels)}")
    return "\n".join([*text, *(line for section, _ in sections for line in ("", *section))]) + "\n"


def as_forced(
    decision: DecisionFunction, cube: xr.Dataset, weights: Any = None, version: str = DEFAULT_VERSION
) -> DecisionFunction:
    """What the command lines do with one collective.

    Of several libraries it is that of the one that was measured or, where none of them was, of that which it costs
    least in. Parameters are those of `to_mpirun`, for this collective.
    """
    singles = [_single(each, decision, cube, weights, version)[0] for each in _measured(decision)]
    costs = {each.method: each.cost.order for each in singles if each is not None and each.cost is not None}
    return _always(decision, min(costs, key=costs.__getitem__, default=OWN_DECISION))


def _measured(decision: DecisionFunction) -> Sequence[_Library]:
    """The library that was measured; all where none of them was."""
    return [
        each for each in _LIBRARIES if measured_with(decision.provenance, each.title.split()[0].lower())
    ] or _LIBRARIES


def _notes(decision: DecisionFunction, asked: Mapping[str, Any]) -> list[str]:
    """Which method is forced for one collective, and what it costs."""
    cube, weights = ((asked[name] or {}).get(decision.collective) for name in ("cubes", "weights"))
    said = {each.title: _forced(each, decision, cube, weights, asked["version"])[0] for each in _measured(decision)}
    return [f"{title}: {text}" for title, text in said.items()]


def _section(
    library: _Library, parts: Sequence[DecisionFunction], cubes: Cubes, weights: Weights, version: str
) -> tuple[list[str], bool]:
    """Comments and command line for one library, and whether it forces anything."""
    notes: list[str] = []
    settings: dict[str, str] = {}
    for decision in parts:
        cube, weighed = ((known or {}).get(decision.collective) for known in (cubes, weights))
        note, options = _forced(library, decision, cube, weighed, version)
        notes.append(f"{decision.collective}: {note}")
        settings |= options
    title = f"{library.title} {version}" if library is OPEN_MPI else library.title
    head = hashed([f"{title}:", *(f"  {note}" for note in notes)])
    if not settings:
        return head, False
    forced = [library.option(key, value) for key, value in {**library.always, **settings}.items()]
    return [*head, " \\\n    ".join(["mpirun -n P", *forced, "PROGRAM"])], True


def _forced(
    library: _Library, decision: DecisionFunction, cube: xr.Dataset | None, weights: Any, version: str
) -> tuple[str, dict[str, str]]:
    """What is said of the method of one collective, and the settings that force it."""
    single, why = _single(library, decision, cube, weights, version)
    if single is None:
        return f"left to the library: {why}.", {}
    said = f"{comment_text(single.method.label)}" + ("" if single.options else ", its own decision")
    why += ", right only for operations that commute" if library.fault(decision, single.options, version) else ""
    return f"{said}{why}{'' if single.cost is None else f'; penalty {figures(single.cost)}'}.", single.options


def _single(
    library: _Library, decision: DecisionFunction, cube: xr.Dataset | None, weights: Any, version: str
) -> tuple[_Single | None, str]:
    """The method to force, and what is to be said of it; the reason where there is none."""
    used = decision.simplified().used
    if len(used) == 1:
        method = decision.methods[used[0]]
        options = library.safe_options(decision, method, version)
        cost = None if cube is None else _cost(decision, method, cube, weights)
        if options is not None:
            return _Single(method, options, cost), ", as decided"
    if cube is None:
        if len(used) == 1:
            fault = library.fault(decision, library.options(decision, method, version) or {}, version)
            return None, f"it has no {method.label!r}" if fault is None else f"{method.label!r} is unsafe, {fault}"
        raise ExportError(
            f"{decision.collective}: {len(used)} methods are decided, one can be forced; the best single one is found "
            "from the measurements only"
        )
    offered = {method: library.safe_options(decision, method, version) for method in methods_of(cube)}
    costs = {method: _cost(decision, method, cube, weights) for method, said in offered.items() if said is not None}
    if not costs:
        return None, "it has none of the measured methods"
    best = min(costs, key=lambda method: costs[method].order)
    which = f"best single one of the {len(costs)} measured" if len(costs) > 1 else "only measured one"
    return _Single(best, offered[best] or {}, costs[best]), f", the {which} that it has"


def _several(decision: DecisionFunction) -> list[str]:
    methods = len(decision.simplified().used)
    return [f"Its {methods} methods cannot be forced at once."] if methods > 1 else []


def _cost(decision: DecisionFunction, method: Method, cube: xr.Dataset, weights: Any) -> PenaltySummary:
    return summarise(penalty(select_ppn(cube, known_ppn(decision))[0], _always(decision, method), weights=weights))


def _always(decision: DecisionFunction, method: Method) -> DecisionFunction:
    return DecisionFunction(decision.collective, [method], Leaf(0))


def _open_mpi(decision: DecisionFunction, method: Method, version: str) -> Options:
    choice = choice_in(decision, method, version) if decision.collective in COMPARED else None
    if choice is None or not (choice.algorithm or measured_with(decision.provenance, "openmpi")):
        return None
    base = f"coll_tuned_{decision.collective}_algorithm"
    said = {
        base: choice.algorithm,
        f"{base}_segmentsize": choice.segment_size,
        fan_out_variable(decision.collective): choice.fan_out,
        f"{base}_knomial_radix": radix_of(method) or 0,
        f"{base}_max_requests": choice.requests or 0,
    }
    return {name: str(value) for name, value in said.items() if value}


def _mpich(decision: DecisionFunction, method: Method, version: str) -> Options:
    del version
    name = algorithm_name(decision, method)
    key = (decision.collective, name or "")
    # Most of its algorithms do not cut messages as asked: a segmented method is another one.
    if name is None or (method.segment_size and key not in SEGMENT):
        return None
    if not name:
        return {} if measured_with(decision.provenance, "mpich") else None
    if not is_forced(*key, method.parameters):
        return None
    base, radix = f"MPIR_CVAR_{decision.collective.upper()}", method.parameters.get("k", radix_of(method))
    said = {f"{base}_DEVICE_COLLECTIVE": "0", f"{base}{INTRA}": name}
    values = {RADIX.get(key): radix, SEGMENT.get(key): method.segment_size}
    return said | {f"MPIR_CVAR_{variable}": str(value) for variable, value in values.items() if variable and value}


def _intel(decision: DecisionFunction, method: Method, version: str) -> Options:
    del version
    number = intel_number(decision, method)
    if number is None or not (number or measured_with(decision.provenance, "intel")):
        return None
    # 0 is another choice than its own decision.
    return {f"I_MPI_ADJUST_{decision.collective.upper()}": str(number)} if number else {}


OPEN_MPI = _Library(
    "Open MPI",
    "--mca {} {}".format,
    # Its dynamic rules must be on for anything to be forced.
    {"coll": TUNED_FIRST, "coll_tuned_use_dynamic_rules": "1"},
    _open_mpi,
    "coll_tuned_{}_algorithm".format,
)
MPICH = _Library(
    "MPICH",
    "-genv {} {}".format,
    {"MPIR_CVAR_DEVICE_COLLECTIVES": "percoll"},
    _mpich,
    lambda collective: f"MPIR_CVAR_{collective.upper()}{INTRA}",
)
INTEL = _Library("Intel MPI", "-genv {} {}".format, {}, _intel, lambda collective: f"I_MPI_ADJUST_{collective.upper()}")
_LIBRARIES = (OPEN_MPI, MPICH, INTEL)


TARGET = Target(
    "mpirun",
    "mpirun command lines of a single method",
    ".txt",
    to_mpirun,
    ("cubes", "version", "weights"),
    use=usage.MPIRUN,
    names=algorithm_names,
    comes_to=as_forced,
    notes=_notes,
)
