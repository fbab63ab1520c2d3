"""The search as way of deciding: its options, its start and what it says of its result."""

from collections.abc import Iterator
from typing import Any

from dashboard.decisions.function.attributes import TESTED
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.cart import cart, default_attributes
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import APART, Problem
from dashboard.domain.options import Option

PATH = ((0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (3, 6), (3, 7), (3, 8), (4, 10), (4, 12), (4, 16))
"""Most levels and leaves of the trees that a frontier tries,"""

PATH_SECONDS = 4.0
"""each for so long."""


def search(problem: Problem, *, progress: Progress | None = None, **options: Any) -> DecisionFunction:
    """Search for the tree of least mean penalty.

    Parameters
    ----------
    progress
        Told how much of the time is used.
    **options
        See `FAMILY`: ``max_depth``, ``max_leaves``, ``attributes``, ``seconds``.

    Returns
    -------
    DecisionFunction
        ``provenance["search"]`` says whether it is ``proven`` that no tree within these limits has a lower mean
        penalty; it has the ``lower_bound`` of what such trees have (percent) and the ``gap`` (percent of its own mean
        penalty that it is above that). Methods are only taken where they were not measured if that cannot be helped.

    Raises
    ------
    OptionError
        When an option is outside its range.
    DecisionError
        When an attribute is not known of these results.

    Notes
    -----
    The search begins with the cost-sensitive CART tree (`dashboard.decisions.grown.cart`), or with the best
    trees of two levels put on top of each other if that is better, and betters it branch by branch. Then it
    goes through all trees (`dashboard.decisions.grown.search.branching`). Where there are many cuts, it first does so
    with some of them only; where there are more than there is room for, nothing is proven. What is
    proven is the same at each run; what is only the best so far depends on the machine's speed.
    """
    known = FAMILY.checked(options)
    from dashboard.decisions.grown.search.run import Run  # noqa: PLC0415 - the compiler takes a while to import

    names = known["attributes"] or default_attributes(problem)
    depth = known["max_depth"]
    leaves = min(known["max_leaves"] or 1 << depth, 1 << depth)
    start = cart(problem, attributes=names, cost_sensitive=True, max_depth=depth, max_leaves=leaves)
    root, facts = Run(problem.cases(names), start.root, depth, leaves, known["seconds"], progress).result()
    return problem.decided(root, "search", {**known, "attributes": list(names)}, search=facts)


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    for depth, leaves in PATH:
        yield {"max_depth": depth, "max_leaves": leaves, "seconds": PATH_SECONDS}


FAMILY = Family(
    name="search",
    title="Searched tree",
    source="E. Demirović et al.: MurTree, JMLR 23, 2022; J. van der Linden, M. de Weerdt, E. Demirović: STreeD, "
    "NeurIPS 2023; C. Brita, J. van der Linden, E. Demirović: ConTree, AAAI 2025",
    options=(
        Option("max_depth", "most levels", "Most levels below the root.", 3, "int", 0, 12),
        Option("max_leaves", "most leaves", "Leaves of the tree.", None, "int", 1, unlimited="as many as the levels"),
        TESTED,
        Option(
            "seconds",
            "time (s)",
            "The best tree by then is taken, and it is said how much better one could be.",
            30.0,
            "float",
            0,
            unlimited="until it is proven",
        ),
    ),
    grow=search,
    path=_path,
    tells=tuple(APART),
)
