"""The recommendation as a family: trees over predicted surfaces, their size judged by left-out lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dashboard.decisions.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.family import Family, Progress
from dashboard.decisions.function import DecisionFunction
from dashboard.decisions.nodes import Leaf, Node, Split, Test
from dashboard.decisions.problem import Problem, Slice
from dashboard.decisions.surfaces.grow import Growing, Table
from dashboard.decisions.surfaces.judged import choose_predictor, choose_size, left_out
from dashboard.decisions.surfaces.lines import ALIKE
from dashboard.decisions.surfaces.surface import Surfaces
from dashboard.domain.options import Option

MOST_LEAVES = 15
PATH = (1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 25)

LEAVES = Option(
    "leaves",
    "most leaves",
    "Most leaves for each collective and number of processes per node; fewer are taken where left-out sizes say that "
    "they are as good.",
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
        ``kind``, ``leaves``, and ``said``, all of it in words.
    """
    most = FAMILY.checked({"leaves": leaves})["leaves"]
    roots, facts = [], []
    for number, part in enumerate(problem.slices):
        share = _within(progress, number, len(problem.slices))
        root, fact = _table(problem, part, most, share)
        roots.append((part, root))
        facts.append({**part.given, **fact})
    return DecisionFunction(
        problem.collective,
        problem.methods,
        _joined(problem, roots),
        kind="recommended",
        options={"leaves": most},
        provenance={**problem.provenance, "recommended": facts},
        categories=problem.categories,
    )


def _within(progress: Progress | None, number: int, count: int) -> Progress:
    def say(share: float, what: str) -> None:
        if progress is not None:
            progress((number + share) / count, what)

    return say


def _table(problem: Problem, part: Slice, most: int, progress: Progress) -> tuple[Node, dict[str, Any]]:
    """The tree of one table over the problem's methods, and how it was chosen."""
    table = Table(
        part.times(), np.asarray(part.cube[COMM_SIZE].values), np.asarray(part.cube[MESSAGE_SIZE].values), part.weights
    ).measured()
    folds = left_out(table)
    progress(0.0, "predictors")
    predictor, tried = choose_predictor(folds)
    done = iter(range(len(folds)))
    methods = tuple(problem.methods[place] for place in part.methods)
    size = choose_size(
        folds, predictor, methods, most, lambda: progress(0.2 + 0.6 * next(done) / len(folds), "trees without some sizes")
    )
    progress(0.8, "the tree")
    growing = Growing(table, Surfaces(table.times, table.comm_sizes, table.message_sizes, predictor))
    kind, count = (ALIKE, most) if size is None else (size.kind, size.leaves)
    trees = growing.trees(kind, count) or growing.trees(ALIKE, count)
    assert trees is not None  # rows in their own order always are
    said = [each.words() for each in tried]
    if size is not None and size.judged is not None:
        said.append(f"tree of {size.judged.words()}")
    fact = {
        "predictor": predictor.name,
        "tried": [{"name": each.name, "mean": each.mean, "error": each.error} for each in tried],
        "kind": kind,
        "leaves": count,
        "said": "; ".join(said) or "too few sizes to leave any out",
    }
    return _renamed(trees.root(count), part), fact


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
    for leaves in PATH:
        if leaves <= max(most, 1):
            yield {"leaves": leaves}


FAMILY = Family(
    name="recommended",
    title="Recommended",
    source="Least expected penalty over predicted times, measured sizes and those between; the fewest leaves within "
    "one standard error at left-out sizes (Breiman, Friedman, Olshen, Stone 1984, 3.4.3)",
    options=(LEAVES,),
    grow=recommended,
    path=_path,
)
