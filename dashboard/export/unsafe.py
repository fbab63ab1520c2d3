"""Methods that must not be chosen: by what a campaign found, and by what is known of the library they belong to."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.improve import without
from dashboard.decisions.function.nodes import OWN_DECISION, Leaf, Method
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.selection import without_methods
from dashboard.export.known_faults import FAULTS, KnownFault, known_fault
from dashboard.export.library_names import is_own_decision, measured_with, plain_library
from dashboard.export.rules.mpich_names import called
from dashboard.export.target import Target
from loaders.openmpi import DEFAULT_VERSION

#: Of cubes: what `dashboard.benchmarks.safety` found in the campaign, as JSON.
CHECKED = "unsafe_methods"
#: Of a decision's provenance: what was left out or is limited, in words.
LEFT_OUT, LIMITED = "unsafe", "only_for_operations_that_commute"
_NOT_WRITTEN = "not written: "
_KEPT = "kept, since these results name no library (hint library)"
#: Library that a target writes for, where it is one.
_LIBRARIES = {
    "openmpi": "Open MPI",
    "openmpi-nodes": "Open MPI",
    "openmpi-json": "Open MPI",
    "preload": "Open MPI",
    "preload-mpich": "MPICH",
    "mpich": "MPICH",
}
#: Preloaded libraries pass operations that do not commute on, whatever is decided.
_GUARD_THEMSELVES = ("preload", "preload-mpich")
_WRONG = "wrong for operations of a program's own that do not commute"


def unsafe_methods(cube: xr.Dataset) -> dict[str, str]:
    """Labels of a cube's methods that must not be chosen, with the reason.

    Parameters
    ----------
    cube
        Results of one collective; its attributes tell the library and its version.
    """
    checked = _campaign_faults(cube)
    reasons: dict[str, str] = {}
    for place, label in enumerate(map(str, cube["method"].values)):
        if reason := checked.get(label):
            reasons[label] = reason
        elif (fault := _of_cube(cube, place)) is not None and not fault.only_commutative:
            reasons[label] = f"{fault.case}: {fault.effect} ({fault.library} {fault.versions})"
    return reasons


def without_unsafe(cube: xr.Dataset, names: Collection[str] = ()) -> xr.Dataset:
    """Leave out the methods that must not be chosen, and those of these names.

    Parameters
    ----------
    names
        As for `dashboard.decisions.measured.selection.without_methods`.

    Returns
    -------
    xarray.Dataset
        The cube without them. ``attrs["unsafe"]`` says why, also of what the campaign did not even time; of results
        that name no library which are kept though a library has unsafe ones of their names.
    """
    known = unsafe_methods(cube)
    reasons = known | {label: why for label, why in _campaign_faults(cube).items() if label not in known}
    cube = without_methods(cube, (*names, *known))
    said = "left out"
    if not reasons and not cube.attrs.get("library"):
        reasons, said = _namesakes(cube), _KEPT
    remark = "; ".join(f"{label}, {why}" for label, why in reasons.items())
    return cube.assign_attrs({LEFT_OUT: f"{said}: {remark}"}) if reasons else cube


def _namesakes(cube: xr.Dataset) -> dict[str, str]:
    """Labels that are those of an unsafe method of some library, with the reason."""
    reasons: dict[str, str] = {}
    for library in dict.fromkeys(fault.library for fault in FAULTS):
        reasons |= unsafe_methods(cube.assign_attrs(library=library, library_version=""))
    return reasons


def _campaign_faults(cube: xr.Dataset) -> dict[str, str]:
    """What the campaign found of this collective's methods, also of those that it therefore did not time."""
    collective = str(cube.attrs.get("collective", ""))
    return {
        str(record["label"]): f"{record['case']}: {record['effect']}"
        for record in _checked(str(cube.attrs.get(CHECKED, "")))
        if record.get("excluded") and record.get("collective") == collective
    }


def _checked(text: str) -> Iterator[Mapping[str, Any]]:
    """Findings of one or several campaigns; those of several stand one after the other, parted by a semicolon."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        try:
            records, place = decoder.raw_decode(text, place)
        except ValueError:
            return
        yield from records
        place += len("; ")


def _of_cube(cube: xr.Dataset, place: int) -> KnownFault | None:
    library, version = (str(cube.attrs.get(name, "")) for name in ("library", "library_version"))
    if not library:
        return None
    name = str(cube["algorithm" if "algorithm" in cube.coords else "method"].values[place])
    number = int(name) if name.isdecimal() else None
    return known_fault(library, version or library, str(cube.attrs.get("collective", "")), number=number, name=name)


def guarded(target: Target) -> Target:
    """The target with a writer that leaves methods out which are known to be unsafe, and says so in the head."""

    def write(
        decisions: Sequence[DecisionFunction], provenance: Mapping[str, Any] | None = None, **options: Any
    ) -> str:
        """Write the decisions without what is unsafe."""
        written = [safe(decision, target.name, options) for decision in decisions]
        return target.write(written, provenance=provenance, **options)

    return replace(target, write=write)


def safe(decision: DecisionFunction, target: str, options: Mapping[str, Any]) -> DecisionFunction:
    """The decision without methods that are known to be unsafe in what a target writes for; its provenance tells them.

    Parameters
    ----------
    decision
        Of one collective or several.
    options
        Of the target; ``cubes`` say what costs least in their places, by ``weights`` where there are any.
    """
    faults = _faults(decision, target, options)
    unsafe = {label: fault for label, fault in faults.items() if not fault.only_commutative}
    safe_decision = decision if not unsafe else _without(decision, unsafe, options)
    facts = dict(safe_decision.provenance)
    if unsafe:
        # What is written for a library no longer keeps them.
        written = [text] if (text := str(facts.get(LEFT_OUT, ""))) and not text.startswith(_KEPT) else []
        reasons = "; ".join(f"{label!r}, {why}" for label, why in unsafe.items())
        facts[LEFT_OUT] = "; ".join([*written, f"{_NOT_WRITTEN}{reasons}"])
    if limited := only_commutative(decision, target, options):
        facts[LIMITED] = f"{', '.join(limited)}: {_WRONG}"
    return safe_decision if facts == safe_decision.provenance else safe_decision.changed(provenance=facts)


def of_other_library(decision: DecisionFunction, target: str) -> str:
    """What is said of a decision among methods of another library than a target writes for; empty where it is none."""
    library, facts = _LIBRARIES.get(target, ""), decision.provenance
    if not library or measured_with(facts, plain_library(library)):
        return ""
    those = f"those of the same names in {library} may take other times"
    return f"It was decided among methods of {facts['library']}: {those}."


def only_commutative(
    decision: DecisionFunction, target: str = "", options: Mapping[str, Any] | None = None
) -> list[str]:
    """Labels of what a decision chooses that is right only for operations that commute, as all of MPI's own do.

    Parameters
    ----------
    decision
        Of one collective or several.
    target, options
        What it is written for, as for `safe`; without a target the library that it was measured with.

    Returns
    -------
    list of str
        Empty for targets that pass operations that do not commute on by themselves.
    """
    if target in _GUARD_THEMSELVES:
        return []
    return [label for label, fault in _faults(decision, target, options or {}).items() if fault.only_commutative]


def limits(limited: Mapping[str, Sequence[str]]) -> str:
    """What programs must heed of `only_commutative` methods, by collective; empty where there are none.

    This is what bundle, command, page and report say of them.
    """
    named = ", ".join(f"{name} ({', '.join(labels)})" for name, labels in limited.items() if labels)
    return named and (
        f"Right only for operations that commute, as all of MPI's own do: {named}. They are {_WRONG} (MPI_Op_create "
        "with commute = 0): a program that calls these collectives with such an operation must run without these rules."
    )


def not_written(decision: DecisionFunction) -> str:
    """Methods that `safe` took from a decision, with the reasons; empty where it took none."""
    return str(decision.provenance.get(LEFT_OUT, "")).partition(_NOT_WRITTEN)[2]


def _faults(decision: DecisionFunction, target: str, options: Mapping[str, Any]) -> dict[str, KnownFault]:
    """What is known of each method that a decision uses, by label."""
    chosen = (decision.methods[place] for place in decision.used)
    return {method.label: fault for method in chosen if (fault := _fault(decision, method, target, options))}


def _fault(decision: DecisionFunction, method: Method, target: str, options: Mapping[str, Any]) -> KnownFault | None:
    """What is known of a method in the library that it is written for, or was measured with."""
    measured = str(decision.provenance.get("library", ""))
    library = _LIBRARIES.get(target) or measured
    if not library or is_own_decision(method):
        return None
    version = str(options.get("version") or "")
    if not version:
        version = "6.0" if target == "openmpi-json" else DEFAULT_VERSION if target in _LIBRARIES else ""
    if library == "MPICH" or target not in _LIBRARIES:
        version = str(decision.provenance.get("library_version", "")) if measured == library else ""
    number = method.parameters.get("library_id") if measured == library else None
    names = decision.categories.get("collective", (decision.collective,))
    faults = (
        known_fault(library, version, name, number=number, name=_written_name(library, name, method.algorithm))
        for name in names
    )
    return next(filter(None, faults), None)


def _written_name(library: str, collective: str, algorithm: str) -> str:
    """What a file for a library calls an algorithm of another one."""
    return (called(collective, algorithm) if library == "MPICH" else None) or algorithm


def is_unsafe(target: str, collective: str, algorithm: str, options: Mapping[str, Any] | None = None) -> bool:
    """Whether a target's library has an algorithm that no file may name, as far as it is known."""
    method = Method(algorithm, algorithm)
    fault = _fault(DecisionFunction(collective, [method], Leaf(0)), method, target, options or {})
    return fault is not None and not fault.only_commutative


def _without(
    decision: DecisionFunction, unsafe: Mapping[str, KnownFault], options: Mapping[str, Any]
) -> DecisionFunction:
    """The decision with other methods in their places: what costs least there, or the library's own decision."""
    cube = (options.get("cubes") or {}).get(decision.collective)
    if cube is not None:
        problem = Problem.of(cube, weights=(options.get("weights") or {}).get(decision.collective))
        labels = {method.label for method in (*problem.methods, *decision.methods)} - set(unsafe)
        return without(problem, decision, labels - set(unsafe_methods(cube)), OWN_DECISION)[0]
    methods = [OWN_DECISION if method.label in unsafe else method for method in decision.methods]
    return decision.changed(methods=methods)
