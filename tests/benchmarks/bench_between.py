"""Sizes that were not measured: the recommendation against the best of the other trees, at no more than 15 leaves.

Every fifth line is left out in turn, along either axis, of the sample data and of results named on the command line,
each with the hints of its loader as ``PATH[,name=value…]``. Means are over the cells between sizes that were decided
on; beside them the share of left-out times that lie in the bands of 90 %, and the seconds that one tree took.
Then, in points with the standard error over the folds: how far the recommendation is above another tree of no more
leaves, and above itself with fewer leaves, where that is most of the spread over the folds; and its mean where only
every second line was decided on.
"""

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.folds import folds_of, with_cubes
from dashboard.decisions.judged.heldout import HeldOut, heldout, heldout_many
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces.along import Slicing
from dashboard.decisions.surfaces.family import FAMILY, recommended_many
from loaders import open_results
from tests.conftest import FAST_ETHERNET

LEAVES = (3, 8, 15)
OTHERS: dict[str, Callable[[int], dict[str, Any]]] = {
    "optimal": lambda leaves: {"leaves": leaves},
    "cart": lambda leaves: {"max_leaves": leaves},
    "cart, cost-sensitive": lambda leaves: {"max_leaves": leaves, "cost_sensitive": True},
}


def results(words: list[str]) -> Iterator[tuple[str, xr.Dataset]]:
    """Cubes of several sizes by name."""
    for word in words or [str(FAST_ETHERNET)]:
        path, *pairs = word.split(",")
        hints = dict(pair.split("=", 1) for pair in pairs)
        for name, node in open_results([path], **hints).children.items():
            cube = node.to_dataset()
            if min(cube.sizes[axis] for axis in SIZES) > 1:
                yield f"{' '.join([Path(path).stem, *hints.values()])} {name}", cube


def coverage(problem: Problem) -> float:
    """Share of the left-out times between known ones that lie in their bands."""
    inside = []
    for make in folds_of(problem, "lines", 5)[0]:
        fold = make()
        for learn, judge, within in zip(fold.learn.slices, fold.judge.slices, fold.inside(), strict=True):
            wanted = [np.asarray(judge.cube[name].values) for name in SIZES]
            predicted = Slicing(learn.cube).surfaces.at(*wanted)
            with np.errstate(invalid="ignore"):
                off = np.abs(np.log(judge.times()) - predicted.log_time)
            judged = np.isfinite(off) & within
            inside.append((off <= predicted.half_width)[judged])
    return float(np.concatenate(inside).mean())


def within(held: HeldOut) -> float:
    """Mean penalty in percent at sizes between those that were decided on."""
    return held.within.mean


def by_leaves(problem: Problem) -> dict[int, HeldOut]:
    """The recommendation of at most 1, 2, … leaves, held out."""
    settings = list(FAMILY.path(problem))

    def grow(part: Problem) -> dict[int, DecisionFunction]:
        leaves = [FAMILY.checked(each)["leaves"] for each in settings]
        return dict(zip(leaves, recommended_many(part, settings), strict=True))

    return heldout_many(problem, grow)


def beyond_error(pairs: Iterator[tuple[str, HeldOut, HeldOut]]) -> str:
    """Of pairs by name the one whose first is above the second by most of the spread over the folds, and by how much.

    As points with their standard error, and as a share of the standard deviation over the folds.
    """
    points = []
    for name, first, second in pairs:
        folds = np.array([a.figures.mean - b.figures.mean for a, b in zip(first.folds, second.folds, strict=True)])
        folds = folds[np.isfinite(folds)]
        points.append((float(folds.mean()), float(folds.std(ddof=1)), folds.size, name))
    mean, spread, count, name = max(points, key=lambda point: point[0] / max(point[1], 1e-9))
    return f"{mean:+.2f} ± {spread / np.sqrt(count):.2f} ({name}), {mean / max(spread, 1e-9):.2f} of the spread"


def every_second(problem: Problem) -> Problem:
    """The problem with every second line along either axis, and the last one of each."""
    cubes = [
        part.cube.isel({name: sorted({*range(0, size, 2), size - 1}) for name, size in _sizes(part.cube)})
        for part in problem.slices
    ]
    return with_cubes(problem, cubes)


def _sizes(cube: xr.Dataset) -> list[tuple[str, int]]:
    return [(name, cube.sizes[name]) for name in SIZES]


def main() -> None:
    """Print the table."""
    print(
        "| results | best of the others | | recommended | bands | s | above another at equal leaves | more leaves "
        "| every second line |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    ratios: dict[str, list[float]] = {title: [] for title in ("the best of the others, set by set", *OTHERS)}
    for name, cube in results(sys.argv[1:]):
        problem = Problem.of(cube)
        before = time.process_time()
        FAMILY.grow(problem)
        took = time.process_time() - before
        ours = by_leaves(problem)
        others = {
            (title, leaves): heldout(problem, partial(FAMILIES[title.partition(",")[0]].grow, **options(leaves)))
            for title, options in OTHERS.items()
            for leaves in LEAVES
            if leaves in ours
        }
        most = max(ours)
        best = min((title for title, leaves in others if leaves == most), key=lambda title: within(others[title, most]))
        half = heldout(problem, lambda part: FAMILY.grow(every_second(part)))
        for title, other in zip(ratios, (best, *OTHERS), strict=True):
            ratios[title].append(within(ours[most]) / within(others[other, most]))
        above = beyond_error((f"{title}, {n}", ours[n], other) for (title, n), other in others.items())
        more = beyond_error((f"{n} to {m}", ours[m], ours[n]) for n, m in itertools.combinations(sorted(ours), 2))
        print(
            f"| {name} | {within(others[best, most]):.2f} % | {best} | {within(ours[most]):.2f} % "
            f"| {100 * coverage(problem):.0f} % | {took:.1f} | {above} | {more} | {within(half):.2f} % |",
            flush=True,
        )
    print("\nrecommended, geometric mean over the results, by that of")
    for title, each in ratios.items():
        print(f"- {title}: {np.exp(np.mean(np.log(each))):.2f}")


if __name__ == "__main__":
    main()
