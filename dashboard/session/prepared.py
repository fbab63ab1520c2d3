"""Measurements prepared as a treatment says, and the trees grown of them: each computed once, when it is asked for.

Page, command, report, notebook and Python all decide on what `prepare` gives, and so give the same figures.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.function.statistics import statistics_of
from dashboard.decisions.grown import default
from dashboard.decisions.grown.c45 import report
from dashboard.decisions.grown.families import FAMILIES, GIVEN, check_tables
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.judged.gain import Gain, gain_over, measured_times
from dashboard.decisions.judged.heldout import HeldOut, heldout
from dashboard.decisions.judged.penalty import untied
from dashboard.decisions.judged.portability import Portability, portability
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError
from dashboard.session.choice import Choice
from dashboard.session.treated import Treated
from dashboard.session.treatment import Treatment

MODEL = "model"
#: Models know of decisions, not the other way: here both are known.
FAMILIES.register(MODEL, "dashboard.models.family:FAMILY")

#: Trees that are there in milliseconds, kept of one preparation.
_KEPT = 16


def prepare(
    cubes: xr.Dataset | Mapping[str, xr.Dataset], treatment: Treatment | None = None, **chosen: Any
) -> Prepared:
    """Prepare measurements for deciding.

    Parameters
    ----------
    cubes
        Results of one collective, as `loaders.open_results` gives them; or of several by name, for one tree that
        decides them all.
    treatment
        What is made of them; default: what `chosen` says.
    chosen
        Choices of `Treatment` by name, such as ``tolerance=5``.

    Raises
    ------
    OptionError
        A choice is not allowed. What does not fit the measurements is raised where it is first needed.

    Examples
    --------
    >>> prepared = prepare(results["bcast"].to_dataset(), tolerance=5)  # doctest: +SKIP
    >>> prepared.decide("quadtree", max_depth=3).statistics["leaves"]  # doctest: +SKIP
    """
    if treatment is not None and chosen:
        raise OptionError(f"a treatment and {', '.join(chosen)} are given, expected one of both")
    joint = not isinstance(cubes, xr.Dataset)
    named = (
        dict(cubes) if isinstance(cubes, Mapping) and joint else {str(cubes.attrs.get("collective", "unknown")): cubes}
    )
    return Prepared(named, treatment or Treatment.of(chosen), joint)


@dataclass(frozen=True, eq=False)
class Prepared(Treated):
    """Treated measurements, and the trees grown of them."""

    _decided: OrderedDict[Choice, Decided] = field(default_factory=OrderedDict, init=False, repr=False)

    @cached_property
    def default(self) -> Decided | None:
        """What the library decides by itself, also where that is left out here; None where it was not measured."""
        every = self
        if self.treatment.without:
            # Without what is left out others may be the processes per node that were measured most.
            every = Prepared(self.measured, replace(self.treatment, without=(), across=True), self.joint)
        return every.decide(default.FAMILY.name) if default_of(every.problem.methods) is not None else None

    def decided(self, choice: Choice, decision: DecisionFunction | None = None) -> Decided:
        """The tree of a choice with its figures; grown when it is asked for, or taken as given."""
        known = self._decided.get(choice)
        if known is None or (decision is not None and known.given is not decision):
            known = Decided(self, choice, decision)
            if choice.quick:
                self._decided[choice] = known
                while len(self._decided) > _KEPT:
                    self._decided.popitem(last=False)
        return known

    def decide(self, tree: str, **options: Any) -> Decided:
        """Grow a tree, named and with options as on the command line.

        Raises
        ------
        OptionError
            There is no such tree or option, or not with this value.
        """
        return self.decided(Choice.of(tree, options))

    def grow(self, choice: Choice, progress: Progress | None = None, part: Problem | None = None) -> DecisionFunction:
        """Grow the tree of a choice; from all of these measurements, or as they treat it from a part or others."""
        if part is None and progress is not None and "learnt" not in vars(self):
            progress(0.0, "the measurements as trees learn them")
        learnt = self.learnt if part is None else self.learn(part)
        check_tables(FAMILIES[choice.family], learnt)
        decision = FAMILIES[choice.family].grow(learnt, progress=progress, **choice.options)
        predicts = FAMILIES[choice.family].predicts
        words = self.treatment.words_of_trees(by_labels=choice.by_labels, predicts=predicts)
        if not words or choice.family in GIVEN:
            return decision
        return decision.changed(provenance={**decision.provenance, "treatment": " ".join(words)})

    def held_out(
        self,
        choice: Choice,
        scheme: str = "lines",
        folds: int = 5,
        *,
        decision: DecisionFunction | None = None,
        progress: Progress | None = None,
    ) -> HeldOut:
        """Judge a choice by what it was not grown from (`decisions.judged.heldout.heldout`)."""
        again = partial(self.grow, choice, None)
        return heldout(self.problem, again, scheme, folds, grown=decision, progress=progress)

    def against(
        self, other: Prepared, choice: Choice, *, common: bool = True, progress: Progress | None = None
    ) -> Portability:
        """Judge a choice, made of these and of another campaign's measurements, by both.

        Parameters
        ----------
        common
            As for `dashboard.decisions.judged.portability.portability`.
        """
        return portability(self.problem, other.problem, partial(self.grow, choice, progress), common=common)


@dataclass(frozen=True, eq=False)
class Decided:
    """A tree, and what it costs.

    Attributes
    ----------
    prepared
        What it is grown and judged by.
    choice
        How it is grown.
    given
        The tree, if it was grown before; None: it is grown when it is asked for.
    """

    prepared: Prepared
    choice: Choice
    given: DecisionFunction | None = None

    @cached_property
    def decision(self) -> DecisionFunction:
        """The decision function.

        Raises
        ------
        DecisionError
            The options do not fit the measurements.
        """
        return self.prepared.grow(self.choice) if self.given is None else self.given

    @cached_property
    def chosen(self) -> list[NDArray[np.int64]]:
        """Method of each cell for each slice of the problem, known before what it costs is."""
        return self.prepared.problem.chosen(self.decision)

    @cached_property
    def penalties(self) -> list[xr.Dataset]:
        """Penalty of the tree in each cell (percent): one table for each slice of the problem."""
        return self.prepared.problem.costs(self.chosen)

    @property
    def penalty(self) -> xr.Dataset | None:
        """Of `penalties` the one of the map; None where the workload or the measurements leave that out."""
        at = self.prepared.slice_of_map
        return None if at is None else self.penalties[at]

    @cached_property
    def statistics(self) -> dict[str, Any]:
        """Depth, leaves, nodes and penalty over all that the tree decides, as the commands print them."""
        return statistics_of(self.decision, self.penalties)

    @cached_property
    def gain(self) -> Gain | None:
        """Against the library's own decision, over all that the tree decides; None where that was not measured."""
        own = self.prepared.default
        if own is None:
            return None
        slices = zip(own.prepared.problem.slices, own.penalties, strict=True)
        times = {str(part.given): measured_times(table) for part, table in slices}
        return gain_over([times[str(part.given)] for part in self.prepared.problem.slices], self.penalties)

    def counts(self, merged: DecisionFunction) -> dict[int, tuple[int, int]]:
        """Cases of each leaf of the decision with equal branches merged, and how many are wrong (`Problem.counts`).

        Wrong are other labels than those learnt; where times are weighed, methods that do not tie with the best.
        """
        learnt = self.prepared.learnt
        if FAMILIES[self.choice.family].predicts:
            learnt = learnt.measured
        if self.choice.by_labels:
            return learnt.counts(merged)
        tests = self.prepared.tests_of(learnt)
        wrong = untied(learnt.penalties(merged), self.prepared.treatment.tolerance, tests)
        return learnt.counts(merged, wrong)

    def answer(self) -> dict[str, Any]:
        """What ``colltune decide --json`` says of it."""
        decision = self.decision
        return {
            "collective": decision.collective,
            "tree": self.choice.family,
            "options": decision.options,
            **self.statistics,
            "against_default": None if self.gain is None else self.gain.to_dict(),
            "methods": [method.label for method in decision.methods],
            **report.in_percent(decision),
            "decision": decision.to_dict(),
        }
