"""CART (Breiman, Friedman, Olshen, Stone 1984), as scikit-learn grows it, on decisions.

What scikit-learn is given are ranks among the distinct values of each attribute, not the values: its 32-bit numbers
cannot tell large sizes apart, and impurities only depend on the order. A cut between two ranks becomes the largest
measured value up to the middle between them, so that like in the other trees a cut is always a measured value.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.attributes import SIZES, TESTED
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.binary import BinaryTree, Pruning
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.losses import counted, losses
from dashboard.decisions.measured.problem import APART, Problem
from dashboard.domain.arrays import FloatArray
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option

SCALES = (1.0, 3.0, 10.0)
"""Penalties in percent at which a method's share of a case has fallen to 1/e, each tried in turn."""

MANY_CASES = 50_000
"""Beyond so many cases only the middle one of `SCALES` is tried."""

PATH_LEAVES = 1024
"""The path of the family goes up to so many leaves,"""

PATH_STEPS = 24
"""in so many steps."""


def cart(problem: Problem, *, progress: Progress | None = None, **options: Any) -> DecisionFunction:
    """Grow a classification tree.

    Parameters
    ----------
    problem
        What to decide on. Cells where nothing was measured, or that a workload never calls, are no cases.
    **options
        See `FAMILY`: ``max_depth``, ``max_leaves``, ``min_cases``, ``pruning``, ``attributes``,
        ``criterion``, ``cost_sensitive``.

    Returns
    -------
    DecisionFunction

    Raises
    ------
    OptionError
        When an option is outside its range.
    DecisionError
        When an attribute is not known of these results.

    Notes
    -----
    Plain, this is scikit-learn's ``DecisionTreeClassifier`` on the best method of each cell, which
    takes a cell where second best is 1 % slower for as wrong as one where it takes ten times as long.

    Cost-sensitive, each case belongs to every method measured there, in shares of ``exp(-penalty / scale)`` (the data
    space expansion of Abe, Zadrozny, Langford: *An iterative method for multi-class cost-sensitive learning*, KDD 2004,
    with shares that do not let the largest penalties rule). A ``DecisionTreeRegressor`` on the shares splits as a
    classifier would on cases repeated for each method: its squared errors are the Gini index of the shares. The leaves
    take the method of the least penalty summed over their cases (see `losses` for those not measured everywhere), the
    tree is grown to its end and pruned by these penalties, and of the trees for several scales and for the plain
    classes the one of least penalty is taken.

    On the 23 tables of the sample data, of the data sets of the C4.5 reference and of PICO's results on Fugaku and
    MareNostrum, each with 2 and with 5 attributes, at depth 2 to 5 and at 8 to 32 leaves, the mean penalty was 0.52
    times that of the plain trees within the same limits (geometric mean, 0.1 % added to each), and higher only where
    the plain ones took methods that were not measured. With leaves labelled and trees pruned by penalties in any case,
    it was 0.74 times that of trees grown for the plain classes; weighing cases by the penalty of the second best method
    gave 1.07, by the root of the mean penalty 1.14, and a regressor on the penalties themselves 3.1.
    """
    return cart_many(problem, [options], progress=progress)[0]


def cart_many(
    problem: Problem, settings: Sequence[Mapping[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Grow a tree for each of several settings; cost-sensitive trees that differ in pruning only, once.

    Parameters and errors as for `cart`.
    """
    checked = [_checked(options) for options in settings]
    learners: dict[tuple[Any, ...], _Learner] = {}
    decisions = []
    for number, options in enumerate(checked):
        if progress is not None:
            progress(number / len(checked), f"CART, tree {number + 1} of {len(checked)}")
        names = options["attributes"] or default_attributes(problem)
        learner = learners.get(names) or learners.setdefault(names, _Learner(problem.cases(names)))
        tree = learner.cost_sensitive(options) if options["cost_sensitive"] else learner.plain(options)
        decisions.append(problem.decided(tree.flat(names), "cart", {**options, "attributes": list(names)}))
    if progress is not None:
        progress(1.0, "CART")
    return decisions


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    known = FAMILY.checked(options)
    if known["cost_sensitive"] and known["criterion"] != "gini":
        raise OptionError(f"criterion is {known['criterion']!r}, expected gini: cost-sensitive trees have no other")
    return known


class _Learner:
    """Grows trees on the cases of one choice of attributes."""

    def __init__(self, cases: Cases) -> None:
        self._kept = counted(cases)
        self._best = cases.best[self._kept]
        self._weights = cases.weights[self._kept]
        # Scikit-learn takes weights that are small in themselves for none.
        self._relative = self._weights / self._weights.max()
        self._cases = cases
        ranked = [np.unique(column, return_inverse=True) for column in cases.values[self._kept].T]
        self._distinct = [values for values, _ in ranked]
        self._ranks = np.stack([ranks for _, ranks in ranked], axis=1).astype(np.float32)
        self._grown: dict[tuple[Any, ...], list[Pruning]] = {}

    def plain(self, options: Mapping[str, Any]) -> BinaryTree:
        """What scikit-learn makes of the best methods."""
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - takes a second to import

        most = self._within_cases(options["max_leaves"])
        if options["max_depth"] == 0 or most == 1:
            totals = np.bincount(self._best, weights=self._weights)
            return _single_leaf(int(totals.argmax()))
        model = DecisionTreeClassifier(
            criterion=options["criterion"],
            max_depth=self._within_cases(options["max_depth"]),
            max_leaf_nodes=most,
            min_samples_leaf=self._within_cases(options["min_cases"]),
            ccp_alpha=options["pruning"],
            random_state=0,
        ).fit(self._ranks, self._best, sample_weight=self._relative)
        return self._converted(model.tree_, model.classes_[model.tree_.value[:, 0, :].argmax(axis=1)])

    def cost_sensitive(self, options: Mapping[str, Any]) -> BinaryTree:
        """The tree of least penalty among those grown for several scales."""
        worth = options["pruning"] * float(self._weights.sum())
        trees = self.prunings(options["max_depth"], options["min_cases"])
        pruned = [pruning.best(worth, options["max_leaves"]) for pruning in trees]
        return min(pruned, key=lambda candidate: (candidate[0], candidate[1].leaves))[1]

    def prunings(self, depth: int | None, min_cases: int) -> list[Pruning]:
        """Labelled trees of this depth, one for each scale, to be pruned."""
        key = depth, min_cases
        if key not in self._grown:
            table, _ = losses(self._cases)
            ways = (*SCALES, None) if len(self._best) <= MANY_CASES else (SCALES[1],)
            self._grown[key] = [self._labelled(way, depth, min_cases, table[self._kept]) for way in ways]
        return self._grown[key]

    def _labelled(self, scale: float | None, depth: int | None, min_cases: int, table: FloatArray) -> Pruning:
        if depth == 0:
            totals = table.sum(axis=0)
            return Pruning(_single_leaf(int(totals.argmin())), totals.min(keepdims=True))
        model = self._model(scale, depth, min_cases)
        tree = self._converted(model.tree_, np.zeros(model.tree_.node_count, dtype=np.int64))
        totals = tree.sums(model.apply(self._ranks), table)
        labelled = BinaryTree(tree.yes, tree.no, tree.tested, tree.cuts, totals.argmin(axis=1))
        return Pruning(labelled, totals.min(axis=1))

    def _model(self, scale: float | None, depth: int | None, min_cases: int) -> Any:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: PLC0415 - as above

        limits = {
            "max_depth": self._within_cases(depth),
            "min_samples_leaf": self._within_cases(min_cases),
            "random_state": 0,
        }
        if scale is None:
            return DecisionTreeClassifier(**limits).fit(self._ranks, self._best, sample_weight=self._relative)
        shares = np.nan_to_num(np.exp(-self._cases.costs()[self._kept] / scale), nan=0.0)
        shares /= shares.sum(axis=1, keepdims=True)
        return DecisionTreeRegressor(**limits).fit(self._ranks, shares, sample_weight=self._relative)

    def _within_cases(self, limit: Any) -> Any:
        """A limit that means the same and that scikit-learn has room for."""
        return None if limit is None else min(limit, len(self._best))

    def _converted(self, grown: Any, methods: npt.NDArray[Any]) -> BinaryTree:
        """Turn scikit-learn's tree over ranks into one over values."""
        yes = grown.children_left.astype(np.int64)
        inner = yes >= 0
        tested = np.where(inner, grown.feature, 0).astype(np.int64)
        below = np.where(inner, np.floor(grown.threshold), 0).astype(np.int64)
        cuts = np.zeros(yes.size, dtype=np.int64)
        for position, distinct in enumerate(self._distinct):
            own = inner & (tested == position)
            cuts[own] = distinct[below[own]]
        return BinaryTree(yes, grown.children_right.astype(np.int64), tested, cuts, methods.astype(np.int64))


def _single_leaf(method: int) -> BinaryTree:
    none = np.full(1, -1, dtype=np.int64)
    zero = np.zeros(1, dtype=np.int64)
    return BinaryTree(none, none, zero, zero, np.array([method], dtype=np.int64))


def default_attributes(problem: Problem) -> tuple[str, ...]:
    """The two sizes, and what tells the tables of a problem apart."""
    return (*SIZES, *(name for name in problem.differing if all(name in part.given for part in problem.slices)))


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    """Numbers of leaves up to those of the largest tree: every small one, then in even ratios."""
    learner = _Learner(problem.cases(default_attributes(problem)))
    most = min(PATH_LEAVES, max(pruning.best(0.0, None)[1].leaves for pruning in learner.prunings(None, 1)))
    sizes = np.unique(np.rint(np.geomspace(1, most, PATH_STEPS)).astype(int))
    for leaves in sorted({*sizes.tolist(), *range(1, min(most, PATH_STEPS // 2) + 1)}):
        yield {"cost_sensitive": True, "max_leaves": leaves}


FAMILY = Family(
    name="cart",
    title="CART",
    source="L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone: Classification and Regression Trees, 1984",
    options=(
        Option("max_depth", "most levels", "Most levels below the root.", None, "int", 0, unlimited="no limit"),
        Option("max_leaves", "most leaves", "Leaves of the tree.", None, "int", 1, unlimited="no limit"),
        Option("min_cases", "fewest cases", "Fewest cells that a leaf may hold.", 1, "int", 1, flag="-m"),
        Option(
            "pruning",
            "pruning strength",
            "What a further leaf must gain: Gini index (or entropy) of all cells; "
            "in cost-sensitive trees mean penalty in percent.",
            0.0,
            "float",
            0,
            log=True,
        ),
        TESTED,
        Option(
            "criterion",
            "impurity",
            "Impurity that splits reduce; cost-sensitive trees know the Gini index only.",
            "gini",
            "choice",
            choices=("gini", "entropy"),
        ),
        Option(
            "cost_sensitive",
            "cost-sensitive",
            "Go by the penalty of a wrong decision rather than by the number of wrong decisions.",
            default=False,
            kind="flag",
        ),
    ),
    grow=cart,
    path=_path,
    grow_many=cart_many,
    labels=True,
    tells=tuple(APART),
)
