"""Octrees: quadtrees with the processes per node as third axis (dissertation, 5.3.2 and 5.3.5).

The maps, one for each number of processes per node, are laid on a 2^k × 2^k × 2^k cube, k the smallest
that holds all three axes; missing rows, columns and layers repeat the last measured communicator size,
message size and number of processes per node. Blocks are halved by number of rows, columns and layers.
All conventions of `dashboard.decisions.grown.quadtree` hold with cubes for squares: the "upper-right" cell of a
block is the one with the most processes, the largest message and the most processes per node.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, PPN
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.blocks import MAX_DEPTH, THRESHOLD, Halving
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.grown.quadtree_family import built, depths_and_thresholds, quadtrees
from dashboard.decisions.measured.fill import fill_missing
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import IntArray
from dashboard.domain.errors import OptionError

AXES = (COMM_SIZE, MESSAGE_SIZE, PPN)
MOST_LEVELS = 8
"""A cube of more levels would take more memory than most machines have."""


class OctreeBuilder(Halving):
    """Builds any number of octrees from maps at several numbers of processes per node, preparing them once.

    Parameters
    ----------
    problem
        One collective, with a slice for each number of processes per node. Sizes that only some
        slices have are filled in the others, as cells that were not measured are (`fill_missing`).

    Raises
    ------
    OptionError
        When the slices differ in other things than ``ppn``, or are too large.
    """

    def __init__(self, problem: Problem) -> None:
        if any(set(part.given) != {PPN} for part in problem.slices):
            raise OptionError(
                "octree decides one collective over communicator size, message size and ppn, but there are tables of "
                f"{problem.tables}"
            )
        axes, grid = _layers(problem)
        levels = (max(grid.shape) - 1).bit_length()
        if levels > MOST_LEVELS:
            raise OptionError(
                f"octree over {' × '.join(map(str, grid.shape))} sizes would need a cube of {2**levels}³ cells, "
                f"at most {2**MOST_LEVELS}³ are possible: leave out sizes"
            )
        super().__init__(grid, axes, AXES, lambda tree, options: problem.decided(tree, "octree", options))


def _layers(problem: Problem) -> tuple[list[IntArray], IntArray]:
    """The three axes, and the methods over them with every cell filled within its layer."""
    slices = sorted(problem.slices, key=lambda part: int(part.given[PPN]))
    ppn = np.array([int(part.given[PPN]) for part in slices])
    axes = [np.unique(np.concatenate([part.cube[name].values for part in slices])) for name in AXES[:2]]
    grid = np.full((axes[0].size, axes[1].size, ppn.size), -1, dtype=np.int64)
    for layer, part in enumerate(slices):
        rows, columns = (
            np.searchsorted(axis, part.cube[name].values) for axis, name in zip(axes, AXES[:2], strict=True)
        )
        grid[rows[:, None], columns, layer] = part.labels
        grid[:, :, layer] = fill_missing(grid[:, :, layer])
    return [*axes, ppn], grid


def octree(
    problem: Problem, *, progress: Progress | None = None, max_depth: int | None = None, threshold: float = 1.0
) -> DecisionFunction:
    """Encode the decision maps of several numbers of processes per node as one octree.

    Parameters
    ----------
    problem
        One collective, with a slice for each number of processes per node.
    progress
        Called at each level.
    max_depth
        Most levels below the root; None = no limit. A block at this depth takes its prevalent method.
    threshold
        Accuracy threshold, 0 to 1: a block of which at least this share of cells (of the padded cube)
        has one method becomes a leaf of it.

    Returns
    -------
    DecisionFunction
        Splits have three tests and eight children, ``nodes == (8 * leaves - 1) / 7``; predictions need
        ``ppn``. With a single slice there is no third axis, and it is the quadtree.

    Raises
    ------
    OptionError
        When an option is outside its range, or the slices differ in other things than ``ppn``.
    """
    options = {"max_depth": max_depth, "threshold": threshold}
    return octrees(problem, [options], progress=progress)[0]


def octrees(
    problem: Problem, settings: Sequence[dict[str, Any]], *, progress: Progress | None = None
) -> list[DecisionFunction]:
    """Build one octree for each of several settings."""
    if len(problem.slices) == 1:
        return [tree.changed(kind="octree") for tree in quadtrees(problem, settings, progress=progress)]
    return built(OctreeBuilder(problem), settings, progress)


def _path(problem: Problem) -> Iterator[dict[str, Any]]:
    extents = [max(part.cube.sizes[COMM_SIZE] for part in problem.slices)]
    extents += [max(part.cube.sizes[MESSAGE_SIZE] for part in problem.slices), len(problem.slices)]
    return depths_and_thresholds((max(extents) - 1).bit_length())


FAMILY = Family(
    name="octree",
    title="Octree",
    source="Dissertation, 5.3.2 and 5.3.5",
    options=(MAX_DEPTH, THRESHOLD),
    grow=octree,
    path=_path,
    grow_many=octrees,
    labels=True,
    tells=(PPN,),
)
