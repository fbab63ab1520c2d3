"""Measurements as a treatment has them: what trees learn, what they are judged by, and what maps show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dashboard import decisions
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.judged.folds import with_cubes
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.measured.interpolate import interpolated
from dashboard.decisions.measured.noise import indistinguishable
from dashboard.decisions.measured.outliers import outliers, without_outliers
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.simplest import simplest
from dashboard.decisions.measured.workload import weighed
from dashboard.decisions.surfaces import along, dense, sureness
from dashboard.domain.errors import DecisionError
from dashboard.export.unsafe import without_unsafe
from dashboard.models import ModelError
from dashboard.models.completing import completed
from dashboard.models.fit import fit
from dashboard.models.observations import observe
from dashboard.models.parameter_text import typed_parameters
from dashboard.session.remarks import remarks_on
from dashboard.session.treatment import LEVEL, Treatment


@dataclass(frozen=True, eq=False)
class Treated:
    """What one way of deciding starts from."""

    #: The cubes as they were loaded, by collective.
    measured: Mapping[str, xr.Dataset]
    #: What is made of them.
    treatment: Treatment
    #: Whether one tree decides all of them together.
    joint: bool = False

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
        problem = self.filled if problem is self.problem else self._fill(problem)
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

    @cached_property
    def filled(self) -> Problem:
        """The problem with what was not measured filled in, as far as the treatment asks for it."""
        return self._fill(self.problem)

    def _fill(self, problem: Problem) -> Problem:
        if self.treatment.interpolate:
            problem = with_cubes(problem, [interpolated(part.cube) for part in problem.slices])
        if self.treatment.complete:
            problem = with_cubes(problem, [self._completed(part.cube) for part in problem.slices])
        if self.treatment.surfaces:
            cubes, weights = zip(*map(dense.with_sizes_between, problem.slices), strict=True)
            between = with_cubes(problem, cubes, weights)
            pairs = zip(between.slices, problem.slices, strict=True)
            problem = replace(between, slices=tuple(replace(part, measured=old) for part, old in pairs))
        return problem

    def _completed(self, cube: xr.Dataset) -> xr.Dataset:
        model, network = str(self.treatment.complete), self.treatment.parameters
        try:
            if network is None:
                return completed(cube, fit(observe(cube), model).parameters)
            return completed(cube, typed_parameters(network, model).of(model))
        except ModelError as error:
            raise DecisionError(str(error)) from error

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
