"""The quadtree and the exact map as families, as commands, pages and frontiers know ways of deciding."""

from collections.abc import Iterator, Sequence
from typing import Any

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.blocks import MAX_DEPTH, THRESHOLD, Halving
from dashboard.decisions.grown.family import Family, Progress, part_of
from dashboard.decisions.measured.problem import Problem

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""What frontiers try where the depth is not limited."""


def depths_and_thresholds(levels: int) -> Iterator[dict[str, Any]]:
    """Give the settings that a frontier tries: every depth up to `levels`, then thresholds without a limit."""
    for depth in range(levels):
        yield {"max_depth": depth}
    for threshold in THRESHOLDS:
        yield {"threshold": threshold}
    yield {}


def grow(problem: Problem, *, progress: Progress | None = None, **options: Any) -> DecisionFunction:
    """Build a quadtree over the only slice of a problem; options and errors as for `quadtree`."""
    return quadtrees(problem, [options], progress=progress)[0]


def quadtrees(
    problem: Problem, settings: Sequence[dict[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Build one quadtree for each of several settings, preparing the map once."""
    trees = built(problem.single("quadtree").builder, settings, progress)
    return [tree.changed(provenance=problem.provenance) for tree in trees]


def built(builder: Halving, settings: Sequence[dict[str, Any]], progress: Progress | None) -> list[DecisionFunction]:
    """Build one tree for each of several settings."""
    return [
        builder.build(**options, progress=part_of(progress, number, len(settings)))
        for number, options in enumerate(settings)
    ]


def grow_exact(problem: Problem, *, progress: Progress | None = None) -> DecisionFunction:
    """Encode the only slice of a problem without loss."""
    tree = problem.single("exact").builder.build(progress=progress)
    return tree.changed(kind="exact", options={}, provenance=problem.provenance)


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
