"""A file for a target: what it does not say, what that costs, whether it reads back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method, default_of
from dashboard.decisions.grown.default import is_default
from dashboard.decisions.judged.penalty import PenaltySummary, penalty, summarise
from dashboard.decisions.measured.slice import Slice
from dashboard.domain.errors import DecisionError
from dashboard.domain.units import format_count, format_names, format_percent
from dashboard.export import TARGETS
from dashboard.export.components import TUNED_FIRST, asks_han
from dashboard.export.holds import unsaid
from dashboard.export.library_names import measured_series, naming_remedy
from dashboard.export.naming import lacking
from dashboard.export.parts import per_collective
from dashboard.export.rules import Fault, RulesFile
from dashboard.export.rules.given import of_collective
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.over import fitted
from dashboard.export.substitute import with_substitutes
from dashboard.export.target import ExportError, LeftAloneError, Target
from dashboard.export.targets.mpich.base import standing
from dashboard.export.unsafe import limits, not_written, of_other_library, only_commutative, safe
from loaders.openmpi import DEFAULT_VERSION

_HAN_FIRST = (
    "Across nodes HAN answers before these rules, which act where it is switched off (--mca coll "
    f"{TUNED_FIRST}); rules of both are written for openmpi-nodes."
)
_NOTHING = "nothing of what was decided can be said here, the library would decide itself"
#: Points of a mean penalty that are rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Order:
    """What is to be written."""

    target: str
    #: One decision function for each collective, or one for several.
    decisions: tuple[DecisionFunction, ...]
    #: Measurements by collective, without ``ppn``: what everything is judged by.
    cubes: Mapping[str, xr.Dataset]
    #: Workload by collective, ``(comm_size, message_size)``.
    weights: Mapping[str, Any] = field(default_factory=dict)
    #: As for `dashboard.export.provenance.describe`: ``statistics`` and ``sources`` by collective.
    provenance: Mapping[str, Any] = field(default_factory=dict)
    #: As the target takes them, where it does.
    version: str = DEFAULT_VERSION
    most_rules: int | None = None
    base: str | None = None

    @classmethod
    def of(cls, target: str, decisions: Iterable[DecisionFunction], parts: Iterable[Slice], **given: Any) -> Order:
        """What is to be written of decisions, judged by the tables of measurements that they were made of.

        Of a collective at several numbers of processes per node the table is that of the most, which is what a file
        that knows none of them says. Without a ``version`` it is written for the one measured, else
        `DEFAULT_VERSION`; the ``sources`` are those that the tables name.
        """
        parts = list(parts)
        given["version"] = given.get("version") or measured_series(part.cube.attrs for part in parts) or DEFAULT_VERSION
        tables = sorted(parts, key=lambda part: part.given.get("ppn") or 0)
        named = {str(part.cube.attrs.get("collective")): part for part in tables}
        cubes = {name: part.cube for name, part in named.items()}
        weights = {name: part.weights for name, part in named.items() if part.weights is not None}
        sources = {name: cube.attrs.get("sources") for name, cube in cubes.items()}
        given["provenance"] = {"sources": sources, **given.get("provenance", {})}
        return cls(target, tuple(decisions), cubes, weights, **given)

    @property
    def reader_version(self) -> str:
        """Version of the library that reads what is written."""
        return "6.0" if self.target == "openmpi-json" else self.version


@dataclass(frozen=True, eq=False)
class Part:
    """One collective of a written file."""

    #: What was decided.
    source: DecisionFunction
    #: What the file says, as an independent reader reads it, with the measured methods it stands for; None where there
    #: is no reader.
    read: DecisionFunction | None
    #: What the file does not say as it was decided, in words.
    notes: tuple[str, ...]
    #: Penalties of both over the measurements, weighted where there is a workload; None without measurements. What no
    #: reader reads is judged as it was handed to its writer, with substitutes for what that lacks.
    before: PenaltySummary | None = None
    after: PenaltySummary | None = None
    #: Measured cells that the file decides otherwise, of how many.
    otherwise: int = 0
    cells: int = 0
    #: Penalties cell by cell, as decided and as read back; empty where one of them is not known.
    tables: tuple[xr.Dataset, ...] = ()
    #: Of the notes, what programs must heed whose operations do not commute; empty where there is nothing.
    limits: str = ""
    #: Whether something stands for methods that the target has not.
    replaced: bool = False

    @property
    def loss(self) -> float:
        """By how many points the file's mean penalty is above that of the decision; 0 where one of them is not known.

        Infinite where none of what the file says was measured.
        """
        if self.before is None or self.after is None or math.isnan(self.before.mean):
            return 0.0
        if math.isnan(self.after.mean):
            return math.inf
        loss = self.after.mean - self.before.mean
        return loss if loss > _ROUNDING else 0.0

    @property
    def costs(self) -> str:
        """Both mean penalties, in words."""
        if self.before is None or self.after is None:
            return ""
        unmeasured = self.after.unmeasured if self.after.unmeasured != self.before.unmeasured else 0
        rest = f", {format_count(unmeasured, 'cell')} not measured as the file says" if unmeasured else ""
        after = "not known" if math.isnan(self.after.mean) else format_percent(self.after.mean)
        return f"mean penalty as decided {format_percent(self.before.mean)}, as the file says it {after}{rest}"

    @property
    def differs(self) -> bool:
        """Whether the file costs more than the decision, or cells are not measured as it says them."""
        if self.before is None or self.after is None:
            return False
        return self.loss > 0 or self.after.unmeasured > self.before.unmeasured

    @property
    def leaves_alone(self) -> bool:
        """Whether the file leaves all of it to the library, though something was decided."""
        return self.read is not None and is_default(self.read) and not is_default(self.source)


@dataclass(frozen=True, eq=False)
class Written:
    """A written file with what is known of it."""

    #: What was asked for.
    order: Order
    #: The file.
    text: str
    name: str
    #: Its collectives.
    parts: tuple[Part, ...]
    #: What the linter finds in it.
    faults: tuple[Fault, ...]
    #: For collectives that the target cannot say, why.
    left_out: Mapping[str, str]

    @property
    def nbytes(self) -> int:
        """Bytes that it holds in memory."""
        return len(self.text) + sum(table.nbytes for part in self.parts for table in part.tables)

    @property
    def collectives(self) -> list[str]:
        """Names of what is in the file."""
        return [part.source.collective for part in self.parts]

    @property
    def ruled(self) -> list[str]:
        """Names of what is not left to the library altogether."""
        return [part.source.collective for part in self.parts if part.read is None or not is_default(part.read)]


def write(order: Order) -> Written:
    """Write decision functions for a target, read them back and judge what came out.

    Raises
    ------
    ExportError
        When the target can say none of them; the message says why.
    """
    target = TARGETS[order.target]
    options = {name: value for name in target.options if (value := getattr(order, name)) is not None}
    kept, substitutes, left_out = _sayable(order, options)
    if not kept:
        raise ExportError("\n".join(dict.fromkeys(left_out.values())) or "there is no decision function to export")
    if target.readable and all(is_default(decision) for decision in kept):
        if notes := " ".join(note for each in substitutes.values() for note in each):
            raise ExportError(f"{_NOTHING}: {notes}")
        raise LeftAloneError("everything is left to the library's own decision: no file is needed")
    source = {decision.collective: decision for decision in per_collective(order.decisions)}
    open_ends = {name: text for name, decision in source.items() if (text := unsaid(decision, target))}
    # What needs no substitutes is written as it was decided, also where one tree decides several collectives.
    changed = substitutes or left_out or any(map(not_written, kept))
    decisions = kept if changed else list(order.decisions)

    def written(provenance: Mapping[str, Any]) -> tuple[str, RulesFile | None, tuple[Part, ...]]:
        """The file, as it is read back, and its parts."""
        text = target.write(decisions, dict(provenance), **options)
        rules = read_text(text, version=order.reader_version) if TARGETS[order.target].readable else None
        # What an MPICH's own file says is its own decision where that was decided, and the algorithms of it elsewhere.
        own = read_text(text, own=order.base or standing(kept) or "") if order.target == "mpich" else rules
        parts = []
        for each in kept:
            alone = default_of([each.methods[place] for place in each.used]) is not None
            notes = substitutes.get(each.collective, ())
            parts.append(_part(order, source[each.collective], each, notes, own if alone else rules, text))
        return text, rules, tuple(parts)

    facts = {**order.provenance, "unsaid": open_ends}
    text, rules, parts = written(facts)
    if target.readable and all(part.read is not None and is_default(part.read) for part in parts):
        notes = " ".join(note for part in parts for note in (*part.notes, part.costs))
        raise ExportError(f"{_NOTHING}: {_lacking(target, source.values(), options) or notes}")
    if losing := {part.source.collective: part.costs for part in parts if part.differs}:
        # Its head says what the file costs; that is known only when it was written.
        text, rules, parts = written({**facts, "as_written": losing})
    name = "_".join(["colltune", *(part.source.collective for part in parts)]) + target.extension
    if len(parts) > _NAMED:
        name = f"colltune_{len(parts)}_collectives{target.extension}"
    reasons = {name: why.removeprefix(f"{name}: ") for name, why in left_out.items()}
    return Written(order, text, name, parts, () if rules is None else rules.faults, reasons)


_NAMED, _LISTED = 3, 4


def _lacking(target: Target, decisions: Iterable[DecisionFunction], options: Mapping[str, Any]) -> str:
    """What a target lacks of all that was decided, and what helps; empty where it lacks nothing."""
    without: list[Method] = []
    # Over measurements it takes what it lacks, and puts something else in its place.
    named = {name: value for name, value in options.items() if name in ("version", "base")}
    for decision in decisions:
        methods = [decision.methods[each] for each in decision.used]
        without += lacking(target, decision.collective, methods, decision.provenance, named)
    if not without:
        return ""
    names = format_names([method.label for method in without], _LISTED)
    remedy = "decide without these (--only target; Methods left out on the page Decisions), or"
    return f"{target.name} has no {names}; {remedy} {naming_remedy(without[:_LISTED])}"


def _sayable(
    order: Order, options: Mapping[str, Any]
) -> tuple[list[DecisionFunction], dict[str, list[str]], dict[str, str]]:
    """What the target can say of the decision functions, with which substitutes; and of which it can say nothing."""
    target = TARGETS[order.target]
    kept: list[DecisionFunction] = []
    substitutes: dict[str, list[str]] = {}
    left_out: dict[str, str] = {}
    for decision in per_collective(order.decisions):
        name, said = decision.collective, decision
        cube = order.cubes.get(name)
        try:
            if cube is not None and target.own_methods:
                said, substitutes[name] = with_substitutes(target, decision, cube, order.weights.get(name), options)
            said = safe(said, order.target, {**options, "cubes": order.cubes, "weights": order.weights})
            # What is left alone needs no file by itself, and stands beside the others as that.
            with suppress(LeftAloneError):
                target.write([said], dict(order.provenance), **options)
        except ExportError as error:
            left_out[name] = str(error)
        else:
            kept.append(said)
    return kept, substitutes, left_out


def _part(
    order: Order,
    decision: DecisionFunction,
    said: DecisionFunction,
    substitutes: Sequence[str],
    rules: RulesFile | None,
    text: str,
) -> Part:
    cube, weights = order.cubes.get(decision.collective), order.weights.get(decision.collective)
    used = {said.methods[place].label for place in said.used}
    read = _read_back(order, decision.collective, rules, text, used)
    unsaid_there = unsaid(decision, TARGETS[order.target])
    unsafe = [f"Not written, since it is unsafe: {reasons}."] if (reasons := not_written(said)) else []
    other = [note] if (note := of_other_library(said, order.target)) else []
    holds = [f"{unsaid_there[0].upper()}{unsaid_there[1:]}."] if unsaid_there else []
    limited = only_commutative(said, order.target, {"version": order.reader_version})
    heed = limits({said.collective: limited})
    han = [_HAN_FIRST] if order.target in ("openmpi", "openmpi-json") and asks_han(decision.methods) else []
    notes = (*other, *unsafe, *substitutes, *_notes(order, said), *han, *holds, *filter(None, [heed]))
    part = Part(decision, read, notes, limits=heed, replaced=bool(substitutes))
    if cube is None:
        return part
    before = penalty(cube, decision, weights=weights)
    target = TARGETS[order.target]
    as_written = said if target.own_methods and not target.readable else read
    if target.comes_to is not None:
        as_written = target.comes_to(decision, cube, weights, order.version)
    if as_written is None:
        return replace(part, read=None, before=summarise(before))
    after = penalty(cube, as_written, weights=weights)
    measured = before["best"].values >= 0
    apart = (before["chosen"].values != after["chosen"].values) & measured
    return replace(
        part,
        before=summarise(before),
        after=summarise(after),
        otherwise=int(np.count_nonzero(apart)),
        cells=int(np.count_nonzero(measured)),
        tables=(before, after),
    )


def _read_back(
    order: Order, collective: str, rules: RulesFile | None, text: str, used: set[str]
) -> DecisionFunction | None:
    if order.target == "json":
        saved = per_collective(DecisionFunction.all_of_json(text))
        return next((each for each in saved if each.collective == collective), None)
    if rules is None:
        return None
    try:
        decision = of_collective(rules, collective)
    except DecisionError:
        return None
    cube = order.cubes.get(collective)
    return decision if cube is None else fitted(decision, cube, order.reader_version, used)


def _notes(order: Order, decision: DecisionFunction) -> Iterator[str]:
    """What the target's own writer could not say, in sentences."""
    names = ("cubes", "most_rules", "weights", "base")
    asked = {"version": order.reader_version, **{name: getattr(order, name) for name in names}}
    if (notes := TARGETS[order.target].notes) is not None:
        yield from dict.fromkeys(f"{note[0].upper()}{note[1:].rstrip('.')}." for note in notes(decision, asked))
