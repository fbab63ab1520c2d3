"""Rules over measurements: which measured method each rule stands for, and what the rules cost."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import xarray as xr

from dashboard.decisions.function.attributes import MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method, default_of
from dashboard.decisions.judged.penalty import PenaltySummary, penalty, summarise
from dashboard.decisions.measured.map import methods_of
from dashboard.domain.algorithm_names import normal
from dashboard.domain.errors import DecisionError
from dashboard.export.components import HAN, SERVES, TUNED, module_settings, named
from dashboard.export.library_names import NOTHING, Choice, choice_of, is_of_library
from dashboard.export.rules.fault import Fault, RulesFile
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.mpich.base import known
from dashboard.export.targets.openmpi.nodes import word_of
from dashboard.export.targets.settings import intel_named, ucc_choice
from loaders import ucc

#: Collectives that were not measured are named up to so many.
_FEW = 3
_UNKNOWN = "what these rules cost cannot be told"


@dataclass(frozen=True)
class Cost:
    """What the rules of one collective cost over measurements."""

    #: The collective, as the rules file names it.
    name: str
    #: Penalties of what the library does, None where it drops the file, and of what was meant.
    acted: PenaltySummary | None
    meant: PenaltySummary
    #: Penalty if the sizes were compared with the block per process, where the library compares totals and the file
    #: does not say itself what its sizes are.
    as_blocks: PenaltySummary | None
    #: Methods of the rules that were not measured.
    lacking: tuple[str, ...]


def as_measured(rules: RulesFile, cube: xr.Dataset) -> RulesFile:
    """Rules as they act on the library that was measured.

    What an MPICH's own file says is its own decision, where that was measured and the file of its version is known.
    """
    measured = cube.attrs.get("library") == "MPICH" and default_of(methods_of(cube)) is not None
    if rules.format != "mpich" or not measured or (own := known(str(cube.attrs.get("library_version")))) is None:
        return rules
    return _beside(rules.text, own)


@lru_cache(maxsize=4)
def _beside(text: str, own: str) -> RulesFile:
    return read_text(text, own=own)


def fitted(
    decision: DecisionFunction, cube: xr.Dataset, version: str, prefer: Collection[str] = ()
) -> DecisionFunction:
    """Give the decision with the measured methods that its rules stand for; what was not measured stays.

    Methods of Open MPI's rules are the same where the library would be told the same, others where the names are. Of
    several that a library calls the same, those whose labels are in `prefer` come first.
    """
    measured = tuple(sorted(methods_of(cube), key=lambda method: method.label not in prefer))
    library = str(decision.provenance.get("library"))
    if library == "Intel MPI" and not str(cube.attrs.get("library") or library).startswith("Intel"):
        # The same number is another algorithm in each library.
        measured = tuple(replace(method, parameters={**method.parameters, "library_id": None}) for method in measured)
    methods = [_measured(method, measured, decision.collective, version, library) for method in decision.methods]
    return decision.changed(methods=methods)


def _measured(method: Method, measured: tuple[Method, ...], collective: str, version: str, library: str) -> Method:
    if library != "Open MPI":
        # Intel's files that were written here call their numbers as they were measured.
        called = [each for each in measured if library == "Intel MPI" and each.label == method.label]
        same = called or [candidate for candidate in measured if _same(method, candidate, collective, library)]
        return next(
            (candidate for candidate in same if candidate.segment_size == method.segment_size),
            same[0] if len(same) == 1 and not method.segment_size else method,
        )
    wanted_choice = _choice(method, collective, version)
    # What is left to tuned is its own decision, which across nodes is not the library's where HAN answers.
    component = TUNED if wanted_choice == NOTHING and collective in SERVES[HAN] else method.algorithm
    if component == HAN:
        wanted = _of_han(method, collective)
        return next((each for each in measured if _of_han(each, collective) == wanted), method)
    answers = [each for each in measured if named(each) == component]
    if wanted_choice is not None:
        answers += [each for each in measured if _choice(each, collective, version) == wanted_choice]
    return next(iter(answers), method)


def _of_han(method: Method, collective: str) -> tuple[str, int, dict[str, int]]:
    """What HAN does: by its rules, and what these cannot say."""
    return word_of(method, collective), method.segment_size, module_settings(collective, method.parameters)


def _same(method: Method, measured: Method, collective: str, library: str) -> bool:
    """Whether a method of rules is one that was measured, as this library calls it or as it numbers it."""
    if library == ucc.NAME and (choice := ucc_choice(collective, method)) is not None:
        return choice == ucc_choice(collective, measured)
    if library == "Intel MPI" and "library_id" in method.parameters:
        known = intel_named(collective, measured)
        number = measured.parameters.get("library_id") if known is None else known
        # 0 is a choice of its own, not the library's decision.
        return bool(number) and str(number) == str(method.parameters["library_id"])
    same = normal(method.algorithm, collective) == normal(measured.algorithm, collective)
    # MPICH's files call a radix k; a tree of another is another method.
    radices = {str(each) for each in (method.parameters.get("k"), measured.parameters.get("radix")) if each is not None}
    return same and len(radices) < 2 and is_of_library(measured)


def _choice(method: Method, collective: str, version: str) -> Choice | None:
    try:
        return choice_of(method, collective, version)
    except LookupError:
        return None


def costs(
    rules: RulesFile, cubes: dict[str, xr.Dataset], version: str, weights: Mapping[str, Any] | None = None
) -> tuple[list[Cost], list[Fault]]:
    """Give what the rules cost over measurements, and faults that only these show.

    Parameters
    ----------
    cubes
        Measurements by collective.
    version
        Of Open MPI.
    weights
        Workload by collective, ``(comm_size, message_size)``.
    """
    rule_costs: list[Cost] = []
    faults: list[Fault] = []
    lost: list[tuple[str, str]] = []
    for name, decision in rules.meant.items():
        cube = cubes.get(decision.collective)
        if cube is None:
            lost += [] if name in rules.unchanged else [(name, decision.collective)]
            continue
        fit = fitted(as_measured(rules, cube).meant[name], cube, version)
        labels = {method.label for method in methods_of(cube)}
        lacking = tuple(label for place in fit.used if (label := fit.methods[place].label) not in labels)
        try:
            calls = (weights or {}).get(decision.collective)
            meant = summarise(penalty(cube, fit, weights=calls))
            acted = meant if name in rules.decisions else None
            as_blocks = by_blocks(fit) if "total_size" in fit.attributes and not rules.generated else None
            blocks = None if as_blocks is None else summarise(penalty(cube, as_blocks, weights=calls))
        except DecisionError as error:
            faults.append(Fault(None, "warning", f"{name}: {error}", _UNKNOWN))
            continue
        rule_costs.append(Cost(name, acted, meant, blocks, lacking))
        if blocks is not None and blocks.cells == meant.cells and blocks.mean < 0.9 * meant.mean:
            faults.append(_scaled(name, blocks, meant))
    # A complete file, as MPICH wants it, has rules of dozens of collectives that nobody measured.
    faults += [_not_measured(*each, cubes) for each in lost[:_FEW]]
    if more := lost[_FEW:]:
        text = f"{len(more)} more collectives that the results do not hold, such as {more[0][0]}"
        faults.append(Fault(None, "warning", text, _UNKNOWN))
    return rule_costs, faults


def _not_measured(name: str, collective: str, cubes: Collection[str]) -> Fault:
    there = ", ".join(sorted(cubes)) or "nothing"
    text = f"{name}: the results hold {there}, but no {collective}; give results of {collective}"
    return Fault(None, "warning", text, _UNKNOWN)


def _scaled(name: str, blocks: PenaltySummary, meant: PenaltySummary) -> Fault:
    return Fault(
        None,
        "warning",
        f"{name}: read as blocks per process these sizes cost {blocks.mean:.3g} % over the measurements, as the "
        f"totals that they are compared with {meant.mean:.3g} %",
        "a rule meant for blocks of m bytes acts from m / processes on; multiply the sizes by the number of processes",
    )


def by_blocks(decision: DecisionFunction) -> DecisionFunction:
    """The same rules with their totals taken for message sizes: what their author meant who wrote blocks."""
    names = tuple(MESSAGE_SIZE if name == "total_size" else name for name in decision.tree.attributes)
    # Built anew, since message sizes may be tested already, as with HAN's rules beside tuned's.
    return decision.changed(root=replace(decision.tree, attributes=names).to_node())
