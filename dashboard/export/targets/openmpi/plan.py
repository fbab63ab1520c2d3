"""What is to be written for Open MPI: bands, the library's numbers, and what was lost on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.cutting import is_within_measured
from dashboard.decisions.function.improve import without
from dashboard.decisions.function.nodes import LEFT_ALONE, OWN_DECISION, Method, default_of
from dashboard.decisions.judged.penalty import penalty, summarise
from dashboard.decisions.measured.map import methods_of, select_ppn
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.units import format_count
from dashboard.export.band_search import best_bands
from dashboard.export.bands import Band, Bands, bands_of
from dashboard.export.components import HAN, SERVES, TUNED, named
from dashboard.export.known_faults import known_fault
from dashboard.export.library_names import (
    COMPARED,
    NEAREST,
    NOTHING,
    Choice,
    choice_of,
    measured_with,
    naming_remedy,
    unsaid,
    way_of,
)
from dashboard.export.parts import known_ppn, per_collective
from dashboard.export.substitute import instead
from dashboard.export.target import Cubes, Decisions, ExportError, Weights, series_of
from dashboard.export.unsafe import not_written
from loaders.openmpi import TWO_PROCESSES, algorithms

_TWO_ONLY = "The algorithm for two processes is written for two only; beyond, the library decides by itself."
MOST_RULES = 64
"""So many rules are searched where a decision cannot be said as it is and no number is asked for."""


@dataclass(frozen=True, eq=False)
class Plan:
    """One collective as it will be written."""

    #: The decision function that it is written for.
    source: DecisionFunction
    #: Their methods are positions in `choices`.
    bands: Bands
    #: What each rule tells the library, and what that is called.
    choices: tuple[Choice, ...]
    methods: tuple[Method, ...]
    #: What the rules do not say as the decision function does.
    notes: tuple[str, ...]
    #: The penalty before and after, where that is so and measurements are known.
    cost: str = ""

    @property
    def decision(self) -> DecisionFunction:
        """What the rules decide."""
        return self.bands.decision(self.source.collective, self.methods, provenance=self.source.provenance)


def plans(
    decisions: Decisions, version: str, cubes: Cubes = None, most_rules: int | None = None, weights: Weights = None
) -> list[Plan]:
    """Plan rules for decision functions; parameters are those of `dashboard.export.target.Target`.

    Raises
    ------
    ExportError
        When the library knows no choice for a collective, or when measurements would be needed.
    """
    wanted = series_of(version)
    collective_plans: list[Plan] = []
    for decision in per_collective(decisions):
        if decision.collective not in COMPARED:
            raise ExportError(
                f"Open MPI takes no rules for {decision.collective}; it does for {', '.join(sorted(COMPARED))}"
            )
        name = decision.collective
        cube = (cubes or {}).get(name)
        flat = None if cube is None else select_ppn(cube, known_ppn(decision))[0]
        measured = None if flat is None else _Measured(name, flat, (weights or {}).get(name))
        collective_plans.append(_plan(decision, wanted, measured, most_rules))
    return collective_plans


def notes_of(decision: DecisionFunction, asked: Mapping[str, Any]) -> Sequence[str]:
    """What rules do not say of a decision; as `dashboard.export.target.Target.notes`."""
    return plans([decision], *(asked[name] for name in ("version", "cubes", "most_rules", "weights")))[0].notes


@dataclass(frozen=True, eq=False)
class _Measured:
    """What rules are judged by: a cube without ``ppn``, and how often its cells are called, if that is known."""

    collective: str
    cube: xr.Dataset
    weights: Any = None

    def penalty(self, decision: DecisionFunction) -> xr.Dataset:
        return penalty(self.cube, decision, weights=self.weights)

    @cached_property
    def hidden(self) -> tuple[Method, ...]:
        """The library's own decision where tuned's rules do not reach it: HAN answers, and tuned's own was measured."""
        methods = methods_of(self.cube)
        apart = self.collective in SERVES[HAN] and any(named(method) == TUNED for method in methods)
        return tuple(method for method in methods if default_of([method]) is not None) if apart else ()


def _plan(decision: DecisionFunction, version: str, measured: _Measured | None, most_rules: int | None) -> Plan:
    compared = COMPARED[decision.collective]
    why = ""
    reduced, notes = _substituted(decision, version, measured)
    try:
        bands = bands_of(reduced, compared)
        if most_rules is not None and bands.rules > most_rules:
            why = f"{bands.rules} rules would say all of it, at most {most_rules} may be written"
    except ExportError as error:
        if measured is None:
            raise
        why = str(error).removeprefix(f"{decision.collective}: ")
    if why and measured is None:
        raise ExportError(f"{decision.collective}: {why}; the best of them is found from the measurements only")
    if why and measured is not None:
        plan = _searched(decision, version, measured, most_rules or MOST_RULES, why)
    else:
        said = [*notes, *(f"{note[0].upper()}{note[1:]}." for note in bands.notes)]
        plan = _translated(decision, reduced.methods, version, measured, bands, said)
    return _of_one_way(plan, version, measured, most_rules or MOST_RULES)


def _of_one_way(plan: Plan, version: str, measured: _Measured | None, most_rules: int) -> Plan:
    """Rules whose processes understand each other even when they do not choose the same (`way_of`)."""
    name = plan.source.collective
    # All processes of a communicator look at the rules of its size; two understand each other anyway.
    ways = [
        {way_of(name, plan.choices[place].algorithm) for _, _, place in rules}
        for _, end, rules in plan.bands.ranges()
        if end is None or end > 2
    ]
    if name != "scatter" or all(len(each) == 1 for each in ways):
        return plan
    what = "in scatter a process that is not the root may tell no send count and then takes the rule for size 0"
    if measured is None:
        return replace(plan, notes=(*plan.notes, f"Not safe: {what}, whose algorithm another one does not understand."))
    why = f"{what}, so that all rules must be of algorithms that understand each other"
    if is_within_measured(plan.source):
        raise ExportError(f"{name}: {why}, and no sizes can be left to the library alone; {NEAREST}")
    plans = [_searched(plan.source, version, measured, most_rules, why, way) for way in sorted(set().union(*ways))]
    return min(plans, key=lambda candidate: summarise(measured.penalty(candidate.decision)).order)


def _searched(
    decision: DecisionFunction, version: str, measured: _Measured, most_rules: int, why: str, way: int | None = None
) -> Plan:
    """The best bands of so many rules, from the measurements; of algorithms of one way only where that is given."""
    methods = methods_of(measured.cube)
    offered = {place: _offered(decision, method, version, measured) for place, method in enumerate(methods)}
    choices = {
        place: choice
        for place, choice in offered.items()
        if choice is not None and (way is None or way_of(decision.collective, choice.algorithm) == way)
    }
    if not choices:
        raise ExportError(f"{decision.collective}: Open MPI {version} has none of the measured methods")
    compared = COMPARED[decision.collective]
    beyond, lines = None, []
    if is_within_measured(decision):
        if compared == "nothing" and decision.collective != "barrier":
            raise ExportError(f"{decision.collective}: {why}; nor can they leave what lies beyond to it: {NEAREST}")
        beyond = next((place for place, choice in choices.items() if choice == NOTHING), len(methods))
        methods = methods if beyond in choices else (*methods, LEFT_ALONE)
        choices[beyond] = NOTHING
        left = "leave what lies beyond to the library, and measured sizes beside it where they must"
        lines = [f"Among them are those that {left}."]
        if compared == "total":
            lines.append("For numbers of processes between those measured that is told by the totals of the next one.")
    search = best_bands(
        measured.cube, compared, most_rules, allowed=list(choices), weights=measured.weights, beyond=beyond
    )
    bands = search.bands()
    if beyond not in offered and {method for band in bands.bands for _, method in band.rules} == {beyond}:
        few = f"too few to leave what lies beyond the measured sizes to the library: allow more, or {NEAREST}"
        raise ExportError(f"{decision.collective}: {why}, {few}")
    places = {place: number for number, place in enumerate(choices)}
    bands = bands.with_methods([places.get(place, 0) for place in range(len(methods))])
    kept = tuple(methods[place] for place in choices)
    by = " by the workload's calls" if measured.weights is not None else ""
    are = "is" if bands.rules == 1 else "are"
    written = f"The best {format_count(bands.rules, 'rule')} over the measured sizes{by} {are} written."
    notes = [f"Approximated: {why}.", written, *lines]
    return _finished(Plan(decision, bands, tuple(choices.values()), kept, tuple(notes)), measured)


def _substituted(
    decision: DecisionFunction, version: str, measured: _Measured | None
) -> tuple[DecisionFunction, list[str]]:
    """The decision with what costs least in each leaf whose method the library lacks, and notes of it."""
    offer = partial(_offered, decision, version=version, measured=measured)
    lacking = [place for place in decision.used if offer(decision.methods[place]) is None]
    if not lacking:
        return decision, []
    if measured is None:
        raise refused(decision, version, lacking)
    problem = Problem.of(measured.cube, weights=measured.weights)
    known = {*decision.methods, *problem.methods}
    allowed = {method.label for method in known if offer(method) is not None}
    reduced, replaced = without(problem, decision, allowed, OWN_DECISION)
    hidden = {method.label for method in measured.hidden}
    alike: dict[tuple[bool, str], list[str]] = {}
    for label, others in replaced.items():
        alike.setdefault((label in hidden, instead(others)), []).append(repr(label))
    lacks = {True: "Rules of tuned do not reach", False: f"Open MPI {version} has no"}
    return reduced, [
        f"{lacks[is_hidden]} {', '.join(labels)}; written instead, {words}."
        for (is_hidden, words), labels in alike.items()
    ]


def _translated(
    decision: DecisionFunction,
    methods: Sequence[Method],
    version: str,
    measured: _Measured | None,
    bands: Bands,
    notes: Sequence[str],
) -> Plan:
    """Bands of methods that the library has, or of its own decision."""
    used = sorted({method for band in bands.bands for _, method in band.rules})
    offered = {place: _offered(decision, methods[place], version, measured) or NOTHING for place in used}
    named_choices = _one_default(offered, methods, measured)
    kept = list(dict.fromkeys(named_choices.values()))
    order = {place: kept.index(each) for place, each in named_choices.items()}
    bands = bands.with_methods([order.get(place, 0) for place in range(len(methods))])
    choices, said = zip(*kept, strict=True)
    return _finished(Plan(decision, bands, choices, said, tuple(notes)), measured if notes else None)


def _one_default(
    choices: Mapping[int, Choice], methods: Sequence[Method], measured: _Measured | None
) -> dict[int, tuple[Choice, Method]]:
    """Choices with their methods; of several that leave the decision to the library, all are the one measured first."""
    order = methods_of(measured.cube) if measured is not None else ()
    own = [methods[place] for place, choice in choices.items() if choice == NOTHING]
    first = next((method for method in order if method in own), own[0] if own else None)
    return {
        place: (choice, first if first is not None and choice == NOTHING else methods[place])
        for place, choice in choices.items()
    }


def _offered(decision: DecisionFunction, method: Method, version: str, measured: _Measured | None) -> Choice | None:
    """What rules of tuned say of a method; None where they cannot, or where a search must not choose it."""
    choice = None if measured is not None and method in measured.hidden else choice_in(decision, method, version)
    if choice is None or measured is None:
        return choice
    fault = known_fault("Open MPI", version, decision.collective, number=choice.algorithm)
    return None if fault is not None and not fault.only_commutative else choice


def choice_in(decision: DecisionFunction, method: Method, version: str) -> Choice | None:
    """What the library must be told for a method of a decision function; None where it lacks it."""
    try:
        return choice_of(method, decision.collective, version, trust_number=_is_open_mpi(decision))
    except LookupError:
        return None


def _is_open_mpi(decision: DecisionFunction) -> bool:
    """Whether the measured library's numbers may be Open MPI's: it is, or nobody says what it is."""
    return measured_with(decision.provenance, "openmpi", "none", "unknown")


def refused(decision: DecisionFunction, version: str, lacking: Sequence[int]) -> ExportError:
    """Why methods cannot be written, with what there is instead."""
    methods = [decision.methods[place] for place in lacking]
    names = ", ".join(repr(method.label) for method in methods)
    has = ", ".join(algorithms(decision.collective, version).values())
    if any(map(named, methods)):
        has += "; rules of tuned name no component that answers by itself: openmpi-nodes and preload do, from 5.0 on"
    return ExportError(
        f"{decision.collective}: Open MPI {version} has no {names}; it has {has}. Either "
        f"{naming_remedy(methods)}, or export over measurements, which gives the best substitutes (colltune export "
        "RESULTS --tree rules --file FILE)"
    )


def _finished(plan: Plan, measured: _Measured | None) -> Plan:
    """Make the plan safe for the library, and say what is lost and what it costs."""
    plan = _only_two(plan)
    used = sorted({method for band in plan.bands.bands for _, method in band.rules})
    ruled = ((plan.methods[place], plan.choices[place]) for place in used)
    lost = [(method, unsaid(method, choice, plan.source.collective)) for method, choice in ruled]
    said = [f"Rules cannot say of {method.label!r}: {', '.join(words)}." for method, words in lost if words]
    done = replace(plan, notes=(*plan.notes, *said))
    if measured is None:
        return done
    before, after = (summarise(measured.penalty(decision)) for decision in (plan.source, done.decision))
    weighted = ", weighted by the workload," if measured.weights is not None else ""
    what = "of the decision function" if not not_written(plan.source) else "without what is unsafe"
    return replace(done, cost=f"Penalty{weighted} {what}: {figures(before)}; of these rules: {figures(after)}.")


def figures(summary: Any) -> str:
    """A penalty in words."""
    rest = f", {format_count(summary.unmeasured, 'cell')} not measured" if summary.unmeasured else ""
    if np.isnan(summary.mean):
        return f"not known{rest}"
    return f"mean {summary.mean:.4g} %, max {summary.max:.4g} %{rest}"


def _only_two(plan: Plan) -> Plan:
    """Keep the algorithm for two processes from larger communicators, where its call would fail."""
    known = algorithms(plan.source.collective, "6.0")
    twos = {place for place, choice in enumerate(plan.choices) if known.get(choice.algorithm) == TWO_PROCESSES}
    choices, methods, notes = plan.choices, plan.methods, plan.notes
    safe_bands: list[Band] = []
    for band, (_, end, _) in zip(plan.bands.bands, plan.bands.ranges(), strict=True):
        wide = end is None or end > 2
        if not (wide and any(method in twos for _, method in band.rules)):
            safe_bands.append(band)
            continue
        if NOTHING not in choices:
            choices, methods = (*choices, NOTHING), (*methods, OWN_DECISION)
        safe = tuple((size, choices.index(NOTHING) if method in twos else method) for size, method in band.rules)
        safe_bands += [band] if band.start < 3 else []
        safe_bands.append(Band(max(band.start, 3), safe))
        notes = (*notes, _TWO_ONLY)
    bands = replace(plan.bands, bands=tuple(safe_bands))
    return replace(plan, bands=bands, choices=choices, methods=methods, notes=notes)
