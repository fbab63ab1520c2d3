"""The quadtree and the exact map as families, as commands, pages and frontiers know ways of deciding."""

from collections.abc import Iterator, Sequence
from typing import Any

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.options import Option

MAX_DEPTH = Option(
    name="max_depth",
    title="maximum depth (levels)",
    help="Levels below the root at most; a block at this depth takes its prevalent method.",
    default=None,
    kind="int",
    low=0,
    unlimited="no limit",
)
THRESHOLD = Option(
    name="threshold",
    title="accuracy threshold (share)",
    help="A block of which at least this share of cells has one method becomes a leaf; 1 = exact.",
    default=1.0,
    kind="float",
    low=0,
    high=1,
)
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""What frontiers try where the depth is not limited."""


def depths_and_thresholds(levels: int) -> Iterator[dict[str, Any]]:
    """Give the settings that a frontier tries: every depth up to `levels`, then thresholds without a limit."""
    for depth in range(levels):
        yield {"max_depth": depth}
    for threshold in THRESHOLDS:
        yield {"threshold": threshold}
    yield {}


def grow(
    problem: Problem, *, progress: Progress | None = None, max_depth: int | None = None, threshold: float = 1.0
) -> DecisionFunction:
    """Build a quadtree over the only slice of a problem; options and errors as for `quadtree`."""
    return quadtrees(problem, [{"max_depth": max_depth, "threshold": threshold}], progress=progress)[0]


def quadtrees(
    problem: Problem, settings: Sequence[dict[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Build one quadtree for each of several settings, preparing the map once."""
    builder = problem.single("quadtree").builder
    trees = []
    for number, options in enumerate(settings):
        if progress is not None:
            progress(number / len(settings), f"quadtree {number + 1} of {len(settings)}")
        built = builder.build(**options)
        trees.append(as_family(built, "quadtree", problem))
    return trees


def grow_exact(problem: Problem, *, progress: Progress | None = None) -> DecisionFunction:
    """Encode the only slice of a problem without loss."""
    if progress is not None:
        progress(0.0, "exact map")
    built = problem.single("exact").builder.build()
    return as_family(built, "exact", problem, options={})


def as_family(
    decision: DecisionFunction, kind: str, problem: Problem | None = None, *, options: dict[str, Any] | None = None
) -> DecisionFunction:
    """The same tree under the name of a family, with what the problem remembers of its measurements."""
    return decision.changed(
        kind=kind,
        options=decision.options if options is None else options,
        provenance=decision.provenance if problem is None else problem.provenance,
    )


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    sizes = problem.single("quadtree").cube.sizes
    return depths_and_thresholds((max(sizes[name] for name in SIZES) - 1).bit_length())


QUADTREE = FAMILY = Family(
    name="quadtree",
    title="Quadtree",
    source="Quadtree report, 2006; dissertation, 5.3",
    options=(MAX_DEPTH, THRESHOLD),
    grow=grow,
    path=_path,
    grow_many=quadtrees,
    labels=True,
)
EXACT = Family(
    name="exact",
    title="Exact map",
    source="Quadtree report, 2006; dissertation, 5.3.2",
    options=(),
    grow=grow_exact,
    path=lambda _problem: [{}],
    labels=True,
)
