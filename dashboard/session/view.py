"""What follows from the choices of a session: immutable, and each thing in it computed once, when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dashboard import decisions
from dashboard.decisions.function.attributes import ATTRIBUTES, SIZES
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.grown.families import FAMILIES, GIVEN
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.judged.compare import compare
from dashboard.decisions.judged.frontier import Frontier, frontiers
from dashboard.decisions.judged.heldout import HeldOut
from dashboard.decisions.judged.penalty import PenaltySummary
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import DecisionError, OptionError
from dashboard.session.choice import QUADTREE, RULES, Choice
from dashboard.session.prepared import MODEL, Decided, Prepared
from dashboard.session.registry import COMPUTED
from dashboard.session.sweep import sweep
from dashboard.session.treatment import Treatment
from loaders.collectives import POINT_TO_POINT

Grown = decisions.DecisionFunction
Job = Callable[[Progress | None], Any]
DEFAULT = "default"
#: Trees with their figures that a session holds, whatever the store of all sessions forgets.
_HELD = 8


@dataclass(eq=False)
class View:
    """What follows from choices.

    It never changes, and what it gives is shared with other sessions: do not change it. Its methods give None while
    there is nothing to decide on, and may be called from any thread.

    Attributes
    ----------
    results, results_id
        What is loaded (`loaders.open_results`), and its digest; None: nothing.
    collective
        The one on show.
    together
        Further ones that the same tree is to decide.
    treatment
        What is made of the measurements.
    choice, shown
        Tree that is asked for, and the one on show; None: none yet.
    scheme
        Colours of the methods.
    uncertainty
        Whether maps show how sure they are.
    options
        Options that the session chose for each family.
    rules
        Rules files that the session knows: names by their keys.
    deferred
        Whether trees that take longer are grown by somebody else.
    earlier
        The view before: what depends on nothing that has changed since is taken from it.
    """

    results: xr.DataTree | None
    results_id: str
    collective: str | None
    together: tuple[str, ...] = ()
    treatment: Treatment = field(default_factory=Treatment)
    choice: Choice = field(default_factory=lambda: Choice.of(QUADTREE))
    shown: Choice | None = None
    scheme: str = ""
    uncertainty: bool = False
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    deferred: bool = False
    earlier: InitVar[View | None] = None

    def __post_init__(self, earlier: View | None) -> None:
        self.treatment = self._fitting(self.treatment)
        #: What tells the measurements decided on, and their treatment, from others.
        self.data_key = (self.results_id, self.collective, self.together, self.treatment)
        #: What tells a drawing of the measurements from others: they, their treatment and how they are drawn.
        self.drawn_key = (*self.data_key, self.scheme, self.uncertainty)
        same = earlier if earlier is not None and earlier.data_key == self.data_key else None
        self._held: dict[Choice, Decided] = {} if same is None else same._held  # noqa: SLF001 - of the same class
        self.prepared = self._prepared() if same is None else same.prepared

    def _fitting(self, treatment: Treatment) -> Treatment:
        """Processes per node that the collective has not stand for those measured most."""
        node = None if self.results is None else self.results.children.get(self.collective or "")
        if node is None or "ppn" not in node.dims or treatment.ppn in (None, *node["ppn"].values):
            return treatment
        return replace(treatment, ppn=None)

    def _prepared(self) -> Prepared | None:
        names = [name for name in (self.collective, *self.together) if name is not None]
        if self.results is None or not names or names[0] not in self.results.children:
            return None
        tree = self.results

        def make() -> Prepared:
            return Prepared({n: tree[n].to_dataset() for n in names}, self.treatment, joint=len(names) > 1)

        return COMPUTED.once(("prepared", self.data_key), make) if self.results_id else make()

    def changed(self, **changes: Any) -> View:
        """The view of the same choices but for these."""
        return replace(self, **changes, earlier=self)

    def beside(self, collective: str) -> View:
        """The same choices for another collective, decided by itself."""
        return self.changed(collective=collective, together=())

    def choosing(self, choice: Choice) -> View:
        """The same measurements with this tree on show."""
        return self.changed(choice=choice, shown=choice)

    @property
    def collectives(self) -> list[str]:
        """What can be decided on: a ping-pong only where nothing else is measured."""
        names = [] if self.results is None else list(map(str, self.results.children))
        return [name for name in names if name != POINT_TO_POINT] or names

    @property
    def called(self) -> list[str]:
        """Those of `collectives` that the workload calls; all without one, or where it calls none of them."""
        workload = self.treatment.workload
        calls = self.collectives if workload is None else workload.calls["collective"].unique()
        return [name for name in self.collectives if name in calls] or self.collectives

    def measured(self, name: str | None = None) -> xr.Dataset | None:
        """Measurements of a collective (default: the one on show) as they were loaded."""
        prepared = self._prepared_of(name)
        return None if prepared is None else next(iter(prepared.measured.values()))

    def cube(self, name: str | None = None) -> xr.Dataset | None:
        """Measurements of a collective (default: the one on show) as maps show them."""
        return None if (prepared := self._prepared_of(name)) is None else prepared.shown

    def judged(self, name: str | None = None) -> xr.Dataset | None:
        """`Prepared.judged` of a collective (default: the one on show)."""
        return None if (prepared := self._prepared_of(name)) is None else prepared.judged

    def _prepared_of(self, name: str | None) -> Prepared | None:
        return self.prepared if name in (None, self.collective) else self.beside(str(name)).prepared

    def remarks(self) -> list[str]:
        """What was done to the measurements before deciding, in words."""
        return [] if self.prepared is None else self.prepared.remarks

    def outliers(self) -> pd.DataFrame | None:
        """Doubtful times, then outliers of the collective (`decisions.measured.outliers.outliers`), left out or not."""
        if self.prepared is None:
            return None
        doubtful, others = (next(iter(table.values())) for table in (self.prepared.doubtful, self.prepared.outliers))
        if not len(doubtful):
            return others
        every = pd.concat([doubtful, others], ignore_index=True) if len(others) else doubtful
        every = every.drop_duplicates([name for name in every if name not in {"expected", "ratio", "reason", "time"}])
        every.attrs["note"] = f"{doubtful.attrs['note']}; {others.attrs['note']}"
        return every.reset_index(drop=True)

    def decision_map(self) -> xr.Dataset | None:
        """Exact decision map (`decisions.decision_map`)."""
        return None if self.prepared is None else self.prepared.decision_map

    def sureness(self) -> NDArray[Any] | None:
        """Probability that each cell's method is the fastest (`decisions.surfaces.sureness`); None: not to be shown."""
        return self.prepared.sureness if self.uncertainty and self.prepared is not None else None

    def problem(self) -> Problem | None:
        """The measurements as trees are judged by them."""
        return None if self.prepared is None else self.prepared.problem

    def attributes(self) -> tuple[str, ...]:
        """Attributes that trees of these measurements can test."""
        problem = self.problem()
        if problem is None:
            return SIZES
        given = set.intersection(*(set(part.given) for part in problem.slices))
        return tuple(name for name, known in ATTRIBUTES.items() if set(known.base or (name,)) <= {*SIZES, *given})

    def given(self) -> dict[str, str]:
        """Families that are there without being grown, by title: the library's default where measured, rules files."""
        cube = self.cube()
        there = {DEFAULT: cube is not None and default_of(decisions.methods_of(cube)) is not None, RULES: self.rules}
        return {FAMILIES[name].title: name for name, given in there.items() if given}

    def decided(self, choice: Choice | None = None) -> Decided | None:
        """The tree on show, or of a choice, with its figures; None also while it is still to be grown."""
        choice = choice or self.shown
        if choice is None or self.prepared is None:
            return None
        if choice in self._held:
            return self._held[choice]
        if choice.quick:
            return self.prepared.decided(choice)
        return self.hold(choice, self.job(choice)(None)) if self.ready(choice) else None

    def hold(self, choice: Choice, decision: Grown) -> Decided:
        """Keep a tree that was grown of these measurements."""
        decided = self.needed().decided(choice, decision)
        for old in list(self._held)[: max(len(self._held) + 1 - _HELD, 0)]:
            self._held.pop(old, None)
        self._held[choice] = decided
        return decided

    def ready(self, choice: Choice) -> bool:
        """Whether nobody need be waited for to have this tree."""
        known = not self.deferred or choice.quick or self.prepared is None or choice in self._held
        return known or COMPUTED.get(("decision", self.data_key, choice)) is not None

    def refused(self, choice: Choice) -> str:
        """Why there is no tree of a family that is given, such as a default that was not measured; else empty."""
        try:
            if choice.family in GIVEN:
                self.decision(choice)
        except DecisionError as error:
            return str(error)
        return ""

    def decision(self, choice: Choice | None = None) -> Grown | None:
        """The tree on show, or of a choice; None as for `decided`."""
        return None if (decided := self.decided(choice)) is None else decided.decision

    def penalty(self, choice: Choice | None = None) -> xr.Dataset | None:
        """Penalty of the tree in each cell of the map (`decisions.judged.penalty`, percent); None as for `decided`."""
        return None if (decided := self.decided(choice)) is None else decided.penalty

    def chosen(self) -> NDArray[Any] | None:
        """Method of each cell of the map by the tree on show, known before `penalty` is; None as for that."""
        decided = self.decided()
        at = None if decided is None else decided.prepared.slice_of_map
        return None if decided is None or at is None else decided.chosen[at]

    def statistics(self, choice: Choice | None = None) -> dict[str, Any] | None:
        """Depth, leaves, nodes and penalty of the tree, as the commands print them; None as for `decided`."""
        return None if (decided := self.decided(choice)) is None else decided.statistics

    def map_summary(self) -> PenaltySummary | None:
        """Penalties on the map on show alone; None where the tree decides nothing else."""
        decided = self.decided()
        if decided is None or decided.penalty is None or len(decided.penalties) < 2:
            return None
        return decisions.summarise(decided.penalty)

    def sweeps(self) -> tuple[pd.DataFrame, pd.DataFrame] | None:
        """Statistics of quadtrees over depth and over threshold (`session.sweep.sweep`)."""
        if self.prepared is None:
            return None
        chosen = self.shown if self.shown is not None and self.shown.family == QUADTREE else Choice.of(QUADTREE)
        # The value along which it goes makes no difference.
        kept = {"depth": chosen.options["threshold"], "threshold": chosen.options["max_depth"]}
        keys = {along: ("sweep", along, self.data_key, value) for along, value in kept.items()}
        depths, thresholds = (
            COMPUTED.once(keys[along], partial(sweep, self.prepared, along, chosen)) for along in kept
        )
        return depths, thresholds

    def path_job(self, family: str) -> Callable[[Progress | None], pd.DataFrame]:
        """What tries one family over the settings of its own path, judged by what it learnt: `Frontier.table`."""
        prepared, key = self.needed(), ("path", self.data_key, family)

        def make(progress: Progress | None) -> pd.DataFrame:
            *_, tried = frontiers(prepared.problem, families=[family], prepare=prepared.learn, progress=progress)
            return tried.table

        return lambda progress: COMPUTED.once(key, lambda: make(progress))

    def known_path(self, family: str) -> pd.DataFrame | None:
        """What `path_job` gave for a family, if it was done."""
        return COMPUTED.get(("path", self.data_key, family))

    def needed(self) -> Prepared:
        """What trees are grown from.

        Raises
        ------
        OptionError
            There are no results to decide on.
        """
        if self.prepared is None:
            raise OptionError("there are no results to decide on")
        return self.prepared

    def job(self, choice: Choice) -> Job:
        """What grows a tree, or takes one that is there already.

        Raises
        ------
        OptionError
            Where there is nothing to grow it from. The function raises `DecisionError` where the options
            do not fit, and lets `Cancelled` through.
        """
        prepared, key = self.needed(), ("decision", self.data_key, choice)
        if choice.quick:
            return lambda _: prepared.decided(choice).decision
        return lambda progress: COMPUTED.once(key, lambda: prepared.grow(choice, progress))

    def heldout_job(
        self, choice: Choice, scheme: str = "lines", folds: int = 5
    ) -> Callable[[Progress | None], HeldOut]:
        """What judges a choice by what it was not grown from (`session.prepared.Prepared.held_out`)."""
        prepared, key = self.needed(), ("held out", self.data_key, choice, scheme, folds)
        # Without the decision that is there it would be grown once more.
        return lambda progress: COMPUTED.once(
            key, lambda: prepared.held_out(choice, scheme, folds, decision=self.job(choice)(None), progress=progress)
        )

    def known_heldout(self, choice: Choice) -> HeldOut | None:
        """What `heldout_job` gave for a choice by both sizes, if it was done."""
        return COMPUTED.get(("held out", self.data_key, choice, "lines", 5))

    def frontier_job(
        self, held_out: str | None, criterion: str, partial: Callable[[Frontier], None] | None = None, *, folds: int = 5
    ) -> Callable[[Progress | None], Frontier]:
        """What computes a frontier (`decisions.judged.frontier.frontier`) of these measurements."""
        prepared, key = self.needed(), self._frontier_key(held_out, criterion, folds)
        jobs = [(name, self.job(Choice.of(RULES, {"file": name}))) for name in self.rules]

        def make(progress: Progress | None) -> Frontier:
            """Grow and judge all of them."""
            for so_far in frontiers(
                prepared.problem,
                held_out=held_out,
                folds=folds,
                criterion=criterion,
                prepare=prepared.learn,
                further={**_rules_tried(jobs), **self.models_tried()},
                progress=progress,
            ):
                if so_far.missing and partial is not None:
                    partial(so_far)
            return so_far

        return lambda progress: COMPUTED.once(key, lambda: make(progress))

    def has_frontier(self, held_out: str | None, criterion: str) -> bool:
        """Whether a frontier is there already."""
        return COMPUTED.get(self._frontier_key(held_out, criterion)) is not None

    def _frontier_key(self, held_out: str | None, criterion: str, folds: int = 5) -> tuple[Any, ...]:
        return "frontier", self.data_key, held_out, folds, criterion, tuple(self.rules), str(self.models_tried())

    def models_tried(self) -> dict[str, list[Mapping[str, Any]]]:
        """The models as they were chosen, such as with parameters of the page Models: beside those of the path."""
        chosen = self.options.get(MODEL, {})
        return {MODEL: [chosen]} if chosen else {}

    def approaches_job(self, choices: Sequence[Choice]) -> Callable[[Progress | None], pd.DataFrame]:
        """What compares several ways of deciding (`decisions.judged.compare.compare`), with ``held_out`` means beside.

        Those that do not suit the measurements have a row without figures; ``told`` says why.
        """
        problem, key = self.needed().problem, ("approaches", self.data_key, tuple(choices))
        jobs = [(choice, self.job(choice), self.heldout_job(choice)) for choice in choices]

        def make(progress: Progress | None) -> pd.DataFrame:
            """Grow and judge all of them."""
            grown: dict[str, Grown] = {}
            outside: dict[str, float] = {}
            refused: dict[str, str] = {}
            for number, (choice, grow, judge) in enumerate(jobs):
                if progress is not None:
                    progress(number / len(jobs), choice.title)
                ask = None if progress is None else partial(still, progress, number / len(jobs), choice.title)
                try:
                    grown[choice.described()] = grow(ask)
                    outside[choice.described()] = judge(ask).mean
                except decisions.DecisionError as error:
                    refused[choice.described()] = str(error)
            table = compare(problem, grown).assign(held_out=pd.Series(outside), told="")
            return pd.concat([table, pd.DataFrame({"told": refused})]) if refused else table

        return lambda progress: COMPUTED.once(key, lambda: make(progress))


def still(progress: Progress, share: float, title: str, _share: float, _text: str) -> None:
    """Ask `progress` whether to go on, from inside a part of the work: how far that is says nothing of it all."""
    progress(share, title)


def _rules_tried(jobs: Sequence[tuple[str, Job]]) -> dict[str, list[dict[str, Any]]]:
    """Each rules file as it is and with the best method in each region, if it says anything of the collective."""
    settings: list[dict[str, Any]] = []
    for file, decide in jobs:
        try:
            decide(None)
        except decisions.DecisionError:
            continue
        settings += [{"file": file}, {"file": file, "improve": True}]
    return {RULES: settings} if settings else {}
