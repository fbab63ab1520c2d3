"""The recommendation as a family: trees over predicted surfaces, their size judged by these and by left-out lines."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dashboard.decisions.function.attributes import SIZE_TITLES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Node, Split, Test
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import APART, Problem
from dashboard.decisions.measured.slice import Slice
from dashboard.decisions.surfaces.grid import comm_sizes_between
from dashboard.decisions.surfaces.grow import OF_SCATTER, SLACK, Growing, Table
from dashboard.decisions.surfaces.judged import FEWEST, Left, choose_predictor, judge_sizes, left_out
from dashboard.decisions.surfaces.lines import KINDS, POWER_OF_TWO, kind_of
from dashboard.decisions.surfaces.surface import PREDICTORS, Surfaces
from dashboard.domain.options import Option
from loaders.facet_names import ADAPTIVE, POINTS

MOST_LEAVES = 15
#: Shares of the work that are done when the predictor is chosen, trees are grown, and these are judged.
PREDICTED, GROWN, JUDGED = 0.55, 0.6, 0.97
PATH = (1, 2, 3, 4, 6, 8, 10, 12)

LEAVES = Option(
    "leaves",
    "most leaves",
    "Most leaves for each collective and number of processes per node; fewer are taken where they are as good at "
    "sizes left out.",
    default=MOST_LEAVES,
    kind="int",
    low=1,
    high=64,
    log=True,
)


def recommended(problem: Problem, *, leaves: int = MOST_LEAVES, progress: Progress | None = None) -> DecisionFunction:
    """Grow the tree that is expected to cost least at sizes that programs may call, measured or not.

    Parameters
    ----------
    problem
        What to decide on; several tables are told apart by their collective and processes per node.
    leaves
        Most leaves for each table.
    progress
        Told how far it is; may raise `Cancelled`.

    Returns
    -------
    DecisionFunction
        ``provenance["recommended"]`` has for each table what was chosen and why: ``predictor`` with those tried,
        ``kind``, ``leaves``, ``left_out`` (what such a tree costs at left-out lines: mean in percent, and with its
        error in words; None where none could be left out), and ``said``, all of it in words.
    """
    return recommended_many(problem, [{"leaves": leaves}], progress=progress)[0]


def recommended_many(
    problem: Problem, settings: Sequence[Mapping[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Grow a tree for each of several settings: surfaces, and trees without some sizes, only once."""
    problem = problem.measured
    mosts = [FAMILY.checked(options)["leaves"] for options in settings]
    tables = []
    for number, part in enumerate(problem.slices):
        tables.append(_Recommending(problem, part, max(mosts), _within(progress, number, len(problem.slices))))
    _within(progress, len(tables) - 1, len(tables))(JUDGED, "cuts where methods cross")
    decisions = []
    for most in mosts:
        each = [table.tree(most) for table in tables]
        root = _joined(problem, [(part, root) for part, (root, _) in zip(problem.slices, each, strict=True)])
        facts = [fact for _, fact in each]
        decisions.append(problem.decided(root, "recommended", {"leaves": most}, recommended=facts))
    return decisions


def _within(progress: Progress | None, number: int, count: int) -> Progress:
    def say(share: float, what: str) -> None:
        if progress is not None:
            progress((number + share) / count, what)

    return say


def _steps(progress: Progress, done: float, end: float, count: int, what: str) -> Callable[[], None]:
    """What is called before each of so many steps, which together take the work from one share of it to another."""
    numbers = itertools.count()

    def step() -> None:
        number = next(numbers)
        progress(done + (end - done) * number / count, f"{what}, {number + 1} of {count}")

    return step


class _Recommending:
    """The trees of one table over the problem's methods, and how they were chosen."""

    def __init__(self, problem: Problem, part: Slice, most: int, progress: Progress) -> None:
        methods = tuple(problem.methods[place] for place in part.methods)
        measured = Table.of(part.cube, part.times(), methods, part.weights)
        table = measured.common()
        self._brought = (measured.message_sizes.size, table.message_sizes.size)
        self._part, self._chosen_sizes = part, part.cube.attrs.get(POINTS) == ADAPTIVE
        # Sizes that were measured because the decision changes there say nothing, left out, of how many leaves serve.
        self._single = int(np.isfinite(table.times).any(axis=(1, 2)).sum()) == 1
        folds = [] if self._chosen_sizes or self._single else left_out(table)
        between = _steps(progress, 0.0, PREDICTED, len(folds) * len(PREDICTORS), "times at sizes left out")
        self._predictor, self._tried = choose_predictor(folds, between)
        progress(PREDICTED, "times between all sizes")
        surfaces = table.surfaces(self._predictor)
        growing = _steps(progress, PREDICTED, GROWN, len(KINDS), "trees of every size")
        self._not_judged = [] if self._single else [*_not_left_out(table, folds), *_off_kind(table, surfaces)]
        self._surfaces, self._trees = surfaces, Growing(table, surfaces).useful(most, growing)
        without = _steps(progress, GROWN, JUDGED, len(folds) * (1 + len(self._trees)), "trees without some sizes")
        expected = {kind: trees.means for kind, trees in self._trees.items()}
        self._sizes = judge_sizes(folds, self._predictor, methods, expected, most, without)

    def tree(self, most: int) -> tuple[Node, dict[str, Any]]:
        """The tree of at most so many leaves, and what was chosen."""
        size = self._sizes.best(most)
        if size.judged is None:
            size = replace(size, leaves=self._trees[size.kind].fewest(most, self._slack))
        judged = [each.words() for each in (*self._tried, size.judged) if each is not None]
        said = [*(judged or [self._unjudged()]), *self._not_judged]
        if self._brought[0] != self._brought[1]:
            own, shared = self._brought
            said.append(
                f"{own} message sizes that communicator sizes do not share were brought to {shared} common ones"
            )
        fact = {
            **self._part.given,
            "predictor": self._predictor.name,
            "tried": [{"name": each.name, "mean": each.mean, "error": each.error} for each in self._tried],
            "kind": size.kind,
            "leaves": size.leaves,
            "left_out": size.judged and {"mean": size.judged.mean, "figure": size.judged.figure},
            "said": "; ".join(said),
        }
        return _renamed(self._trees[size.kind].root(size.leaves), self._part), fact

    @property
    def _slack(self) -> float:
        """Points of expected penalty that further leaves must save where no left-out sizes can judge them."""
        return max(SLACK, 100.0 * OF_SCATTER * self._surfaces.scatter)

    def _unjudged(self) -> str:
        if self._single:
            return "a single method was measured, so there is nothing to choose"
        if self._chosen_sizes:
            why = "sizes that were chosen for what they tell are no judges of it"
        else:
            why = "too few sizes to leave any out"
        return f"{why}: the fewest leaves within {self._slack:.2g} points of the least expected penalty"


def _off_kind(table: Table, surfaces: Surfaces) -> list[str]:
    """That communicator sizes between the measured ones are of a kind that nothing was measured of, in words."""
    if not surfaces.is_off_kind(comm_sizes_between(table.comm_sizes)).any():
        return []
    alike = kind_of(table.comm_sizes, POWER_OF_TWO).all()
    measured = "no communicator size but powers of two" if alike else "no communicator size that is a power of two"
    return [f"{measured} was measured, so what it costs at others is not judged: measure one"]


def _not_left_out(table: Table, folds: Sequence[Left]) -> list[str]:
    """Axes of which left-out lines say nothing, in words; of none where nothing is left out at all."""
    words: list[str] = []
    titles = tuple(SIZE_TITLES.values())
    if not folds:
        return words
    for axis, sizes in enumerate((table.comm_sizes, table.message_sizes)):
        if not any(fold.axis == axis for fold in folds) and sizes[-1] - sizes[0] >= sizes.size:
            why = f"too few ({sizes.size})" if sizes.size < FEWEST else "no calls at those that can be"
            words.append(f"no {titles[axis]} was left out: {why}")
        elif sizes.size == 1 and sizes[0] > 0:
            words.append(f"of a single {titles[axis]} nothing is judged at others")
    return words


def _renamed(node: Node, part: Slice) -> Node:
    """The same tree over the problem's methods instead of the table's."""
    if isinstance(node, Leaf):
        return Leaf(int(part.methods[node.method]))
    return Split(node.tests, tuple(_renamed(child, part) for child in node.children))


def _joined(problem: Problem, roots: list[tuple[Slice, Node]]) -> Node:
    """One tree of those of several tables: tests of the collective, then of the processes per node."""
    if len(roots) == 1:
        return roots[0][1]

    def code(part: Slice, name: str) -> int:
        value = part.given.get(name, 0)
        return problem.categories[name].index(value) if name in problem.categories else int(value)

    for name in ("collective", "ppn"):
        codes = np.array([code(part, name) for part, _ in roots])
        values = np.unique(codes)
        if values.size > 1:
            cut = int(values[(values.size - 1) // 2])
            sides = [[roots[place] for place in np.flatnonzero(side)] for side in (codes <= cut, codes > cut)]
            return Split((Test(name, float(cut)),), tuple(_joined(problem, side) for side in sides))
    raise AssertionError("tables differ in their collective or processes per node")


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    most = max(int((part.labels >= 0).sum()) for part in problem.slices)
    yield from ({"leaves": leaves} for leaves in PATH if leaves <= most)
    yield {}


FAMILY = Family(
    name="recommended",
    title="Recommended",
    source="Least expected penalty over predicted times, measured sizes and those between; the fewest leaves within "
    "one standard error, over these and at left-out sizes (Breiman, Friedman, Olshen, Stone 1984, 3.4.3)",
    options=(LEAVES,),
    grow=recommended,
    path=_path,
    grow_many=recommended_many,
    predicts=True,
    tells=tuple(APART),
)
