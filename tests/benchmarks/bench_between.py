"""Sizes that were not measured: the recommendation against the best of the other trees, at no more than 15 leaves.

Every fifth line is left out in turn, along either axis, of the sample data and of results named on the command line,
each with the hints of its loader as ``PATH[,name=value…]``. Means are over the cells between sizes that were decided
on; beside them the share of left-out times that lie in the bands of 90 %, and the seconds that one tree took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.folds import folds_of
from dashboard.decisions.judged.heldout import heldout
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces import Surfaces
from loaders import open_results

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "fast-ethernet-16"
LEAVES = 15
OTHERS = {
    "optimal": {"leaves": LEAVES},
    "cart": {"max_leaves": LEAVES},
    "cart, cost-sensitive": {"max_leaves": LEAVES, "cost_sensitive": True},
}


def results(words: list[str]) -> Iterator[tuple[str, xr.Dataset]]:
    """Cubes of several sizes by name."""
    for word in words or [str(SAMPLE)]:
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
            known, wanted = ([np.asarray(part.cube[name].values) for name in SIZES] for part in (learn, judge))
            found = Surfaces(learn.times(), *known).at(*wanted)
            with np.errstate(invalid="ignore"):
                off = np.abs(np.log(judge.times()) - found.log_time)
            there = np.isfinite(off) & within
            inside.append((off <= found.half_width)[there])
    return float(np.concatenate(inside).mean())


def main() -> None:
    """Print the table."""
    print("| results | best of the others | | recommended | bands | s |\n| --- | --- | --- | --- | --- | --- |")
    ratios = []
    for name, cube in results(sys.argv[1:]):
        problem = Problem.of(cube)
        before = time.process_time()
        whole = FAMILIES["recommended"].grow(problem)
        took = time.process_time() - before
        ours = heldout(problem, FAMILIES["recommended"].grow, grown=whole).within.mean
        others = {
            title: heldout(problem, partial(FAMILIES[title.partition(",")[0]].grow, **options)).within.mean
            for title, options in OTHERS.items()
        }
        best = min(others, key=lambda title: others[title])
        ratios.append(ours / others[best])
        held = 100 * coverage(problem)
        print(f"| {name} | {others[best]:.2f} % | {best} | {ours:.2f} % | {held:.0f} % | {took:.1f} |", flush=True)
    print(f"\nrecommended by best of the others, geometric mean: {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
