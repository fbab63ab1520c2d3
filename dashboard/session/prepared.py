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
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dashboard import decisions
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.function.statistics import statistics_of
from dashboard.decisions.grown import default
from dashboard.decisions.grown.c45 import report
from dashboard.decisions.grown.families import FAMILIES, GIVEN, check_tables
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.judged.folds import with_cubes
from dashboard.decisions.judged.gain import Gain, gain_over, measured_times
from dashboard.decisions.judged.heldout import HeldOut, heldout
from dashboard.decisions.judged.penalty import untied
from dashboard.decisions.judged.portability import Portability, portability
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.measured.interpolate import interpolated
from dashboard.decisions.measured.noise import indistinguishable
from dashboard.decisions.measured.outliers import outliers, without_outliers
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.simplest import simplest
from dashboard.decisions.measured.workload import weighed
from dashboard.decisions.surfaces import along, dense, sureness
from dashboard.domain.errors import OptionError
from dashboard.export.unsafe import without_unsafe
from dashboard.models.completing import completed
from dashboard.models.fit import fit
from dashboard.models.observations import observe
from dashboard.models.parameter_set import find_parameters
from dashboard.session.choice import Choice
from dashboard.session.remarks import remarks_on
from dashboard.session.treatment import LEVEL, Treatment

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
class Prepared:
    """What one way of deciding starts from.

    Attributes
    ----------
    measured
        The cubes as they were loaded, by collective.
    treatment
        What is made of them.
    joint
        Whether one tree decides all of them together.
    """

    measured: Mapping[str, xr.Dataset]
    treatment: Treatment
    joint: bool = False
    _decided: OrderedDict[Choice, Decided] = field(default_factory=OrderedDict, init=False, repr=False)

    @cached_property
    def outliers(self) -> dict[str, pd.DataFrame]:
        """Repetitions and cells that do not belong, by collective, left out or not."""
        return {name: outliers(cube) for name, cube in self.selected.items()}

    @cached_property
    def doubtful(self) -> dict[str, pd.DataFrame]:
        """Times that cannot be right, by collective (`decisions.measured.trust.doubtful`), left out or not."""
        return {name: trust.doubtful(cube) for name, cube in self._safe.items()}

    @cached_property
    def _safe(self) -> dict[str, xr.Dataset]:
        return {name: without_unsafe(cube, self.treatment.without) for name, cube in self.measured.items()}

    @cached_property
    def selected(self) -> dict[str, xr.Dataset]:
        """The cubes without the methods left out, those that are unsafe, and times that cannot be right."""
        if self.treatment.keep_doubtful:
            return self._safe
        return {name: trust.without_doubtful(cube) for name, cube in self._safe.items()}

    @cached_property
    def cubes(self) -> dict[str, xr.Dataset]:
        """The cubes that decisions are judged by: without methods and outliers, nothing filled in."""
        if not self.treatment.outliers:
            return self.selected
        return {name: without_outliers(cube, self.outliers[name]) for name, cube in self.selected.items()}

    @property
    def _first(self) -> xr.Dataset:
        return next(iter(self.cubes.values()))

    @cached_property
    def judged(self) -> xr.Dataset:
        """The first of these cubes at one number of processes per node: the one asked for, else that with most."""
        cube, ppn = self._first, self.treatment.ppn
        known = "ppn" in cube.dims and ppn in cube["ppn"].values
        return decisions.select_ppn(cube, ppn if known else None)[0]

    @cached_property
    def problem(self) -> Problem:
        """What decisions are judged by.

        Raises
        ------
        DecisionError
            The measurements are none to decide on, as `Problem.of` says.
        """
        if self.joint or self.treatment.across:
            ppn = "all" if self.treatment.across else self.treatment.ppn
            problem = Problem.of(self.cubes if self.joint else self._first, ppn=ppn)
        else:
            # Nothing is judged by what is filled in.
            dmap = None if self.treatment.interpolate else self.decision_map
            problem = Problem.of(self._first, ppn=self.treatment.ppn, dmap=dmap)
        return problem if self.treatment.workload is None else weighed(problem, self.treatment.workload.calls)

    @cached_property
    def learnt(self) -> Problem:
        """What trees are grown from."""
        return self.learn(self.problem)

    def learn(self, problem: Problem) -> Problem:
        """Fill in what is missing and settle ties, of these measurements or of a part of them such as a fold."""
        problem = self.filled(problem)
        if not self.treatment.resolves_ties:
            return problem
        if self.treatment.statistical is None:
            return simplest(problem, self.treatment.tolerance)
        tests = self.tests if problem is self.problem else self.tests_of(problem)
        return simplest(problem, self.treatment.tolerance, ties=[test["tied"] for test in tests])

    @cached_property
    def tests(self) -> list[xr.Dataset]:
        """As `tested`, of each table that is decided on; none where no test is asked for."""
        return self.tests_of(self.problem)

    def tests_of(self, problem: Problem) -> list[xr.Dataset]:
        """As `tests`, of these measurements or of a part of them."""
        level = self.treatment.statistical
        return [] if level is None else [indistinguishable(part.cube, level) for part in problem.slices]

    def filled(self, problem: Problem) -> Problem:
        """Fill in what was not measured, as far as the treatment asks for it."""
        if self.treatment.interpolate:
            problem = with_cubes(problem, [interpolated(part.cube) for part in problem.slices])
        if self.treatment.complete:
            problem = with_cubes(problem, [self._completed(part.cube) for part in problem.slices])
        if self.treatment.surfaces:
            parts = [dense.with_sizes_between(part.cube, part.weights) for part in problem.slices]
            problem = with_cubes(problem, [cube for cube, _ in parts], [weights for _, weights in parts])
        return problem

    def _completed(self, cube: xr.Dataset) -> xr.Dataset:
        model, network = str(self.treatment.complete), self.treatment.parameters
        if network is None:
            return completed(cube, fit(observe(cube), model).parameters)
        return completed(cube, find_parameters(network, model).of(model))

    @cached_property
    def default(self) -> Decided | None:
        """What the library decides by itself, also where that is left out here; None where it was not measured."""
        every = self
        if self.treatment.without:
            every = Prepared(self.measured, replace(self.treatment, without=()), self.joint)
        return every.decide(default.FAMILY.name) if default_of(every.problem.methods) is not None else None

    @cached_property
    def shown(self) -> xr.Dataset:
        """The first cube as maps show it: with what is filled in, over all processes per node."""
        return interpolated(self._first) if self.treatment.interpolate else self._first

    @cached_property
    def most_measured(self) -> int | None:
        """Processes per node that are meant where none are chosen; None where the cube does not say them."""
        return decisions.select_ppn(self._first)[1]

    @property
    def _ppn(self) -> int | None:
        # What is filled in does not choose it, nor what a comparison leaves out: the problem is of what is measured.
        return self.treatment.ppn or self.most_measured

    @cached_property
    def decision_map(self) -> xr.Dataset:
        """The fastest method of each cell of the first cube (`decisions.decision_map`)."""
        return decisions.decision_map(self.shown, ppn=self._ppn, tolerance=self.treatment.tolerance)

    @cached_property
    def tested(self) -> xr.Dataset:
        """Methods that the repetitions cannot tell from the best (`decisions.measured.noise.indistinguishable`)."""
        return indistinguishable(self._first, self.treatment.statistical or LEVEL, ppn=self._ppn)

    @cached_property
    def tied(self) -> tuple[NDArray[np.bool_], str]:
        """Cells ``(comm_size, message_size)`` of the map whose best method ties with others, and what that means."""
        near = f"methods within {self.treatment.tolerance:g} % of the best" if self.treatment.tolerance else ""
        test = "" if self.treatment.statistical is None else str(self.tested.attrs["note"])
        return self.ties.values > 1, "; ".join(filter(None, (near, test))) or "equally fast methods"

    @cached_property
    def ties(self) -> xr.DataArray:
        """How many methods of each cell of the map tie: within the tolerance, or by the test where one is asked for."""
        ties, tolerance = self.decision_map["ties"], self.treatment.tolerance
        if self.treatment.statistical is None:
            return ties
        tied = self.tested["tied"]
        if tolerance:
            flat, _ = decisions.select_ppn(competing(self.shown), self.decision_map.attrs.get("ppn"))
            tied = tied | (flat["time"] <= self.decision_map["best_time"] * (1 + tolerance / 100))
        return tied.sum("method").transpose(*ties.dims)

    @cached_property
    def estimated(self) -> NDArray[np.bool_] | None:
        """Cells of the map whose best time is interpolated; None where nothing is."""
        if "interpolated" not in self.shown:
            return None
        flat = decisions.select_ppn(self.shown, self.decision_map.attrs.get("ppn"))[0]["interpolated"]
        flags = flat.transpose("method", "comm_size", "message_size").values
        best = self.decision_map["best"].values
        return np.take_along_axis(flags, np.maximum(best, 0)[None], axis=0)[0] & (best >= 0)

    @cached_property
    def untrusted(self) -> NDArray[np.str_] | None:
        """Times of each cell ``(comm_size, message_size)`` of the map that cannot be right, in words; empty: none.

        None where there are none at all, or nobody could measure them again: results of other benchmarks.
        """
        name = next(iter(self.cubes))
        if not trust.is_own(self.measured[name]):
            return None
        return trust.by_cell(self.doubtful[name], self.decision_map)

    @cached_property
    def sureness(self) -> NDArray[np.float64]:
        """Probability that the method of each cell ``(comm_size, message_size)`` of the map is the fastest there."""
        best = self.decision_map["best"].transpose("comm_size", "message_size").values
        return sureness.sureness(self.slicing.cube, best, self.slicing)

    @cached_property
    def slicing(self) -> along.Slicing:
        """Surfaces of the measurements on the map, by the predictor that left-out sizes speak for."""
        return along.Slicing(decisions.select_ppn(self.shown, self.decision_map.attrs.get("ppn"))[0])

    @cached_property
    def slice_of_map(self) -> int | None:
        """Which slice of the problem the map shows; None where the workload or the measurements leave that out."""
        wanted = {"ppn": self.decision_map.attrs.get("ppn"), "collective": next(iter(self.measured))}
        given = [part.given for part in self.problem.slices]
        return next((at for at, each in enumerate(given) if all(each[name] == wanted[name] for name in each)), None)

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
        learner = self.learner(choice)
        learnt = learner.learnt if part is None else learner.learn(part)
        check_tables(FAMILIES[choice.family], learnt)
        decision = FAMILIES[choice.family].grow(learnt, progress=progress, **choice.options)
        words = learner.treatment.words_of_trees(by_labels=choice.by_labels)
        if not words or choice.family in GIVEN:
            return decision
        return decision.changed(provenance={**decision.provenance, "treatment": " ".join(words)})

    def learner(self, choice: Choice) -> Prepared:
        """Those measurements that a choice learns: families that predict times by themselves are given none."""
        predicts = self.treatment.surfaces and FAMILIES[choice.family].predicts
        return self._without_surfaces if predicts else self

    @cached_property
    def _without_surfaces(self) -> Prepared:
        return Prepared(self.measured, replace(self.treatment, surfaces=False), self.joint)

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

    @property
    def remarks(self) -> list[str]:
        """What was done to the measurements and labels, in words, as far as it is worked out."""
        outliers = next(iter(self.outliers.values())) if self.treatment.outliers else None
        return remarks_on(self.shown, vars(self).get("learnt", self.problem), outliers, [] if self.slow else self.tests)

    @property
    def slow(self) -> bool:
        """Whether preparing may take longer than a slider may wait, and is not done yet."""
        treatment = self.treatment
        treated = treatment.outliers or treatment.fills or treatment.resolves_ties or treatment.statistical is not None
        return treated and "learnt" not in vars(self)

    def work_out(self, progress: Progress) -> None:
        """Compute what every view needs before any tree; on any thread."""
        steps = {
            "the measurements": "shown",
            "the exact map": "decision_map",
            "ties": "tied",
            "missing cells": "estimated",
            "what cannot be trusted": "untrusted",
            "the tests of ties": "tests",
            "what trees learn": "learnt",
        }
        for number, (what, name) in enumerate(steps.items()):
            progress(number / len(steps), what)
            getattr(self, name)

    @property
    def nbytes(self) -> int:
        """Bytes that this will hold beside the measurements once all is worked out, near enough to bound a store."""
        cells = sum(cube["time"].size // max(cube.sizes["method"], 1) for cube in self.measured.values())
        times = sum(cube["time"].nbytes for cube in self.measured.values())
        between = sum(map(dense.nbytes, self.measured.values())) if self.treatment.surfaces else 0
        copies = 1 + bool(self.treatment.outliers) + 2 * self.treatment.fills
        return copies * times + 200 * cells + between + (64 << 10)


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
        return self.prepared.problem.penalties(self.decision, self.chosen)

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
        learnt = self.prepared.learner(self.choice).learnt
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
