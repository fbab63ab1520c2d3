"""What follows from the choices of a state: maps, trees and their figures, each computed once for all sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dashboard import decisions
from dashboard.decisions.attributes import ATTRIBUTES, SIZES
from dashboard.decisions.compare import compare
from dashboard.decisions.default import default_of
from dashboard.decisions.errors import OptionError
from dashboard.decisions.families import FAMILIES
from dashboard.decisions.family import Progress
from dashboard.decisions.frontier import Frontier, frontier
from dashboard.decisions.heldout import HeldOut, heldout
from dashboard.decisions.noise import indistinguishable
from dashboard.decisions.penalty import PenaltySummary
from dashboard.decisions.problem import Problem
from dashboard.decisions.workload import weighed
from dashboard.session import treatment
from dashboard.session.choice import QUADTREE, RULES, Choice, titles
from dashboard.session.registry import COMPUTED

if TYPE_CHECKING:
    from dashboard.session.state import State

#: Models know of decisions, not the other way: here both are known.
MODEL = "model"
FAMILIES.register(MODEL, "dashboard.models.family:FAMILY")

Grown = decisions.DecisionFunction
DEFAULT = "default"
#: Of the methods that tie, trees learn the fastest, or those that make the map simplest.
TIES = ("fastest", "simplest")
#: Ties that the map shows: within the tolerance, or not told apart by a statistical test.
TIE_TESTS = ("tolerance", "test")


def _still(progress: Progress, share: float, title: str, _share: float, _text: str) -> None:
    progress(share, title)


def _rules_tried(jobs: Sequence[tuple[str, Callable[[Progress | None], Grown]]]) -> dict[str, list[dict[str, Any]]]:
    """Each rules file as it is and with the best method in each region, if it says anything of the collective."""
    found: list[dict[str, Any]] = []
    for file, decide in jobs:
        try:
            decide(None)
        except decisions.DecisionError:
            continue
        found += [{"file": file}, {"file": file, "improve": True}]
    return {RULES: found} if found else {}


class Computed:
    """Methods of a state that compute.

    They are pure: they depend on the choices alone, give None while there is nothing to decide on, and may be
    called from any thread. What they give is shared with other sessions; do not change it.
    """

    # Trees that were grown for this session; a registry that is full may have forgotten them.
    _grown: dict[Any, Grown]
    _workloads: dict[str, pd.DataFrame]

    def measured(self: State, name: str | None = None) -> xr.Dataset | None:
        """Measurements of a collective (default: the one on show) as they were loaded; None without any."""
        name = name or self.collective
        node = None if self.results is None else self.results.children.get(name)
        return None if node is None else self._once("cube", node.to_dataset, name)

    def cube(self: State, name: str | None = None, *, filled: bool = True) -> xr.Dataset | None:
        """Measurements of a collective, without methods and outliers and (`filled`) interpolated, where chosen."""
        name = name or self.collective
        whole, chosen = self.measured(name), {"without": self.without, "outliers": self.outliers}
        chosen["interpolate"] = self.interpolate and filled
        if whole is None or not any(chosen.values()):
            return whole
        return self._once("treated", partial(treatment.treated, whole, **chosen), name, *chosen.values())

    def remarks(self: State) -> list[str]:
        """What was done to the measurements before deciding, in words."""
        cube, problem = self.cube(), self.problem()
        if cube is None or problem is None:
            return []
        # In a session what trees learn is worked out with the first of them.
        learnt = COMPUTED.get(self._key("learnt", *self.data_key())) if self.deferred else self.learnt(problem)
        return treatment.remarks(cube, learnt or problem)

    def found_outliers(self: State) -> pd.DataFrame | None:
        """Outliers of the collective (`decisions.outliers.outliers`), left out or not; None without results."""
        whole = self.measured()
        return None if whole is None else self._once("outliers", lambda: treatment.outliers_of(whole))

    def decision_map(self: State) -> xr.Dataset | None:
        """Exact decision map (`decisions.decision_map`); None without results."""
        cube, ppn, tolerance = self.cube(), self._ppn(), float(self.tolerance)
        if cube is None:
            return None
        make = partial(decisions.decision_map, cube, ppn=ppn, tolerance=tolerance)
        return self._once("map", make, ppn, tolerance, self.without, self.outliers, self.interpolate)

    def tied(self: State) -> tuple[NDArray[np.bool_], str] | None:
        """Cells ``(comm_size, message_size)`` whose best method ties with others, and what that means in words."""
        cube, dmap, ppn = self.cube(filled=False), self.decision_map(), self._ppn()
        if cube is None or dmap is None:
            return None
        if self.tie_test == TIE_TESTS[0]:
            words = f"methods within {self.tolerance:g} % of the best" if self.tolerance else "equally fast methods"
            return dmap["ties"].values > 1, words
        make = partial(indistinguishable, cube, ppn=ppn)
        found = self._once("tests", make, ppn, self.without, self.outliers)
        return found["tied"].sum("method").values > 1, str(found.attrs["note"])

    def estimated(self: State) -> NDArray[np.bool_] | None:
        """Cells whose best time is interpolated; None where nothing is."""
        cube, dmap = self.cube(), self.decision_map()
        if cube is None or dmap is None or "interpolated" not in cube:
            return None
        flat = decisions.select_ppn(cube, dmap.attrs.get("ppn"))[0]["interpolated"]
        flags = flat.transpose("method", "comm_size", "message_size").values
        best = dmap["best"].values
        return np.take_along_axis(flags, np.maximum(best, 0)[None], axis=0)[0] & (best >= 0)

    def problem(self: State) -> Problem | None:
        """The measurements as trees are judged by them; None without results."""
        # What is interpolated may be learnt, but nothing is judged by it.
        cube, ppn = self.cube(filled=False), self._ppn()
        if cube is None:
            return None
        dmap = None if self.interpolate else self.decision_map()
        workload = self.calls()

        def make() -> Problem:
            if not self.together and not self.across:
                found = Problem.of(cube, ppn=ppn, dmap=dmap)
            else:
                cubes = {name: self.cube(name, filled=False) for name in (self.collective, *self.together)}
                found = Problem.of(cubes if self.together else cube, ppn="all" if self.across else ppn)
            return found if workload is None else weighed(found, workload)

        return self._once("problem", make, *self.data_key())

    def learnt(self: State, problem: Problem) -> Problem:
        """The measurements with the labels that trees learn."""
        tolerance = None if self.ties == TIES[0] else float(self.tolerance)
        if tolerance is None and not self.interpolate:
            return problem
        make = partial(treatment.learnt, problem, interpolate=self.interpolate, tolerance=tolerance)
        # A part of the measurements, such as a fold, has no key to be found again by.
        return self._once("learnt", make, *self.data_key()) if problem is self.problem() else make()

    def attributes(self: State) -> tuple[str, ...]:
        """Attributes that trees of these measurements can test."""
        problem = self.problem()
        if problem is None:
            return SIZES
        given = set.intersection(*(set(part.given) for part in problem.slices))
        return tuple(name for name, known in ATTRIBUTES.items() if set(known.base or (name,)) <= {*SIZES, *given})

    def given(self: State) -> dict[str, str]:
        """Families that are there without being grown, by title: the library's default where measured, rules files."""
        cube = self.cube()
        names = [DEFAULT] if cube is not None and default_of(decisions.methods_of(cube)) is not None else []
        return {FAMILIES[name].title: name for name in (*names, *([RULES] if self.rules else []))}

    def job(self: State, choice: Choice) -> Callable[[Progress | None], Grown]:
        """What grows a tree of the measurements as they are chosen now, or takes one that is there already.

        Raises
        ------
        OptionError
            Where there is nothing to grow it from. The function raises `DecisionError` where the options
            do not fit, and lets `Cancelled` through.
        """
        self._need_results()
        # Labelling anew may take as long as growing: both are done by who calls this, for the choices as they are now.
        return self.as_chosen()._grow(choice)  # noqa: SLF001 - a state like this one

    def _grow(self: State, choice: Choice) -> Callable[[Progress | None], Grown]:
        key = self.data_key()

        def make(progress: Progress | None) -> Grown:
            problem = self.learnt(self._needed())
            if choice.family != QUADTREE:
                return FAMILIES[choice.family].grow(problem, progress=progress, **choice.options)
            table = problem.single("a quadtree")
            builder = COMPUTED.once(("builder", key), lambda: decisions.QuadtreeBuilder(table.dmap))
            return builder.build(**choice.options)

        return lambda progress: COMPUTED.once(("decision", key, choice), lambda: make(progress))

    def frontier_job(self: State, held_out: str | None, criterion: str) -> Callable[[Progress | None], Frontier]:
        """What computes a frontier (`decisions.frontier.frontier`) of the measurements as they are chosen now."""
        problem, key = self._needed(), self._frontier_key(held_out, criterion)
        learnt = self.as_chosen().learnt
        # Without several tables an octree is the quadtree once more.
        names = [name for name in titles().values() if name != "octree" or len(problem.slices) > 1]
        names += [name for name in self.given().values() if name == DEFAULT]
        options: dict[str, Any] = {"families": names, "held_out": held_out, "criterion": criterion, "prepare": learnt}
        models, files = (
            self._models_tried(),
            [(name, self.job(Choice.of(RULES, {"file": name}))) for name in self.rules],
        )

        def make(progress: Progress | None) -> Frontier:
            return frontier(problem, progress=progress, further={**_rules_tried(files), **models}, **options)

        return lambda progress: COMPUTED.once(key, lambda: make(progress))

    def has_frontier(self: State, held_out: str | None, criterion: str) -> bool:
        """Whether a frontier is there already."""
        return COMPUTED.get(self._frontier_key(held_out, criterion)) is not None

    def _frontier_key(self: State, held_out: str | None, criterion: str) -> tuple[Any, ...]:
        return "frontier", self.data_key(), held_out, criterion, tuple(self.rules), str(self._models_tried())

    def _models_tried(self: State) -> dict[str, list[dict[str, Any]]]:
        """The models as they were chosen, such as with parameters of the page Models: beside those of the path."""
        chosen = self.options.get(MODEL, {})
        return {MODEL: [chosen]} if chosen else {}

    def heldout_job(self: State, choice: Choice) -> Callable[[Progress | None], HeldOut]:
        """What judges a choice by communicator and message sizes that it was not grown from."""
        self._need_results()
        asked, key, family = self.as_chosen(), self.data_key(), FAMILIES[choice.family]

        def make(progress: Progress | None) -> HeldOut:
            grow = lambda part: family.grow(asked.learnt(part), **choice.options)  # noqa: E731
            return heldout(asked._needed(), grow, progress=progress)  # noqa: SLF001 - a state like this one

        return lambda progress: COMPUTED.once(("held out", key, choice), lambda: make(progress))

    def known_heldout(self: State, choice: Choice) -> HeldOut | None:
        """What `heldout_job` gave for a choice, if it was done."""
        return COMPUTED.get(("held out", self.data_key(), choice))

    def approaches_job(self: State, choices: Sequence[Choice]) -> Callable[[Progress | None], pd.DataFrame]:
        """What compares several ways of deciding (`decisions.compare.compare`), with ``held_out`` means beside.

        Those that do not suit the measurements have a row without figures; ``told`` says why.
        """
        problem, key = self._needed(), ("approaches", self.data_key(), tuple(choices))
        jobs = [(choice, self.job(choice), self.heldout_job(choice)) for choice in choices]

        def make(progress: Progress | None) -> pd.DataFrame:
            """Grow and judge all of them."""
            grown: dict[str, Grown] = {}
            outside: dict[str, float] = {}
            refused: dict[str, str] = {}
            for number, (choice, grow, judge) in enumerate(jobs):
                if progress is not None:
                    progress(number / len(jobs), choice.title)
                # Only whether to go on is asked from inside: how far one family is says nothing of them all.
                ask = None if progress is None else partial(_still, progress, number / len(jobs), choice.title)
                try:
                    grown[choice.described()] = grow(ask)
                    outside[choice.described()] = judge(ask).mean
                except decisions.DecisionError as error:
                    refused[choice.described()] = str(error)
            table = compare(problem, grown).assign(held_out=pd.Series(outside), told="")
            return pd.concat([table, pd.DataFrame({"told": refused})]) if refused else table

        return lambda progress: COMPUTED.once(key, lambda: make(progress))

    def decision(self: State, choice: Choice | None = None) -> Grown | None:
        """The tree on show, or of a choice; None without results, and while it is still to be grown."""
        choice = choice or self.shown
        if choice is None or self.cube() is None:
            return None
        known = self._known(choice)
        return self._grow(choice)(None) if known is None and self.ready(choice) else known

    def ready(self: State, choice: Choice) -> bool:
        """Whether nobody need be waited for to have this tree."""
        return not self.deferred or choice.quick or self.results is None or self._known(choice) is not None

    def penalty(self: State, choice: Choice | None = None) -> xr.Dataset | None:
        """Penalty of `decision` in each cell of the map (`decisions.penalty`, percent); None as there."""
        problem, decision, dmap = self.problem(), self.decision(choice), self.decision_map()
        if problem is None or decision is None or dmap is None:
            return None
        wanted = {"ppn": dmap.attrs.get("ppn"), "collective": self.collective}
        parts = [part for part in problem.slices if all(part.given[name] == wanted[name] for name in part.given)]

        def make() -> xr.Dataset:
            return Problem(problem.collective, problem.methods, tuple(parts[:1])).penalties(decision)[0]

        return self._once("penalty", make, *self._tree_key(choice)) if parts else None

    def statistics(self: State, choice: Choice | None = None) -> dict[str, Any] | None:
        """Depth, leaves, nodes and penalty of `decision`, as the command prints them; None as there."""
        cube, decision, ppn, penalties = self.cube(), self.decision(choice), self._ppn(), self.penalty(choice)
        if cube is None or decision is None or penalties is None:
            return None
        make = partial(decisions.statistics, cube, decision, ppn=ppn, penalties=penalties)
        return self._once("statistics", make, *self._tree_key(choice))

    def summary(self: State) -> PenaltySummary | None:
        """Penalties of `decision` over all that it decides together; None where that is the map on show."""
        problem, decision = self.problem(), self.decision()
        if problem is None or decision is None or len(problem.slices) < 2:
            return None
        return self._once("summary", lambda: problem.summary(decision), *self._tree_key(None))

    def sweep_depth(self: State) -> Any:
        """Statistics over the depths at the chosen threshold (`decisions.sweep_depth`); None without results."""
        cube, ppn, threshold = self.cube(), self._ppn(), float(self.threshold)
        if cube is None:
            return None
        make = partial(decisions.sweep_depth, cube, ppn=ppn, threshold=threshold)
        return self._once("depths", make, *self.data_key(), threshold)

    def sweep_threshold(self: State) -> Any:
        """Statistics over the thresholds at the chosen depth (`decisions.sweep_threshold`); None without results."""
        cube, ppn, depth = self.cube(), self._ppn(), self.depth
        if cube is None:
            return None
        make = partial(decisions.sweep_threshold, cube, ppn=ppn, max_depth=depth)
        return self._once("thresholds", make, *self.data_key(), depth)

    def sweeps(self: State) -> tuple[Any, Any] | None:
        """Both sweeps, over depth and over threshold; None without results."""
        return None if self.cube() is None else (self.sweep_depth(), self.sweep_threshold())

    def slow(self: State) -> bool:
        """Whether these choices treat the measurements in a way that can take longer than a slider may wait."""
        treated = self.outliers or self.interpolate or self.ties != TIES[0] or self.tie_test != TIE_TESTS[0]
        return (
            self.results is not None and treated and COMPUTED.get(self._key("worked out", *self._treatment())) is None
        )

    def _treatment(self: State) -> tuple[Any, ...]:
        return *self.data_key(), self.tie_test

    def work_out(self: State, progress: Progress) -> None:
        """Compute, for all sessions, what every view of these choices needs before any tree: on another thread."""
        steps: list[tuple[str, Callable[[], Any]]] = [
            ("the measurements", self.cube),
            ("the exact map", self.decision_map),
            ("ties", self.tied),
            ("missing cells", self.estimated),
            ("what trees learn", lambda: self.learnt(self._needed())),
        ]
        for number, (what, step) in enumerate(steps):
            progress(number / len(steps), what)
            step()
        COMPUTED.put(self._key("worked out", *self._treatment()), "done")

    def _need_results(self: State) -> None:
        if self.cube() is None:
            raise OptionError("there are no results to decide on")

    def _needed(self: State) -> Problem:
        problem = self.problem()
        if problem is None:
            raise OptionError("there are no results to decide on")
        return problem

    def _known(self: State, choice: Choice) -> Grown | None:
        key = self.data_key()
        kept = self._grown.get((key, choice))
        return COMPUTED.get(("decision", key, choice)) if kept is None else kept

    def calls(self: State) -> pd.DataFrame | None:
        """Workload that weighs the sizes; None where all count the same."""
        kept = self._workloads.get(self.workload)
        return COMPUTED.get(("workload", self.workload)) if kept is None else kept

    def _ppn(self: State) -> int | None:
        whole = self.measured()
        return self.ppn if whole is not None and "ppn" in whole.dims and self.ppn in whole["ppn"].values else None

    def _tree_key(self: State, choice: Choice | None) -> tuple[Any, ...]:
        return *self.data_key(), choice or self.shown

    def _once(self: State, what: str, make: Callable[[], Any], *choices: Any) -> Any:
        return COMPUTED.once(self._key(what, *choices), make)

    def _key(self: State, what: str, *choices: Any) -> tuple[Any, ...]:
        return self.results_id, self.collective, what, *choices
