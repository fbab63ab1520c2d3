"""Optimal trees: 27×48 and 64×64 proven, larger ones with their gaps; aims: 1 s and 5 s for all up to 32 leaves, 2 %.

Beside each figure is what it is a multiple of in the same run: the exact quadtree of the same map, and, on a small
grid, the same dynamic programming written out plainly (no bounds, no arrays).
"""

import json
from functools import partial

import numpy as np
import xarray as xr

from dashboard.decisions import exact
from dashboard.decisions.grown.optimal import optimal, optimal_depth, optimal_frontier, optimal_price
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces import Surfaces
from loaders import open_results
from tests.benchmarks.measure import in_turn, peak_memory, timed_once
from tests.conftest import FAST_ETHERNET
from tests.cubes import cube_of, synthetic_cube

LEAVES = 32
MEMORY = """
def setup():
    global large, optimal
    from tests.benchmarks import bench_optimal
    from dashboard.decisions.grown.optimal import optimal
    large = bench_optimal.all_different

def work(side):
    from dashboard.decisions.measured.problem import Problem
    decision = optimal(Problem.of(large(int(side))), leaves=16)
    return {"leaves": decision.leaves, **decision.provenance["optimal"]}
"""


def all_different(side: int, methods: int = 20) -> xr.Dataset:
    """Give times without any order: the hardest to bound."""
    time = 1 + np.random.default_rng(side).random((methods, side, side))
    return cube_of(time, np.arange(2, side + 2), np.arange(1, side + 1))


def plain(costs: np.ndarray, most: int) -> float:
    """Least cost of at most `most` leaves by dynamic programming over all rectangles, cuts and numbers of leaves."""
    rows, columns = costs.shape[1:]
    best: dict[tuple[int, int, int, int], list[float]] = {}
    for height in range(1, rows + 1):
        for width in range(1, columns + 1):
            for top in range(rows - height + 1):
                for left in range(columns - width + 1):
                    block = costs[:, top : top + height, left : left + width]
                    least = [float(block.sum(axis=(1, 2)).min())] * most
                    pairs = [((top, left, at, width), (top + at, left, height - at, width)) for at in range(1, height)]
                    pairs += [((top, left, height, at), (top, left + at, height, width - at)) for at in range(1, width)]
                    for low, high in pairs:
                        first, second = best[low], best[high]
                        for leaves in range(2, most + 1):
                            for count in range(1, leaves):
                                cost = first[count - 1] + second[leaves - count - 1]
                                least[leaves - 1] = min(least[leaves - 1], cost)
                    best[top, left, height, width] = least
    return best[0, 0, rows, columns][most - 1]


def against_plain() -> None:
    """Compare with the plain way where that ends in time."""
    cube = synthetic_cube(12, 14, 6, 1, noise=0.5)
    time = cube["time"].values
    costs = 100 * (time - time.min(axis=0)) / time.min(axis=0)
    problem = Problem.of(cube)
    ours, theirs = in_turn(lambda: optimal_frontier(problem, 16), lambda: plain(costs, 16), runs=1)
    same = abs(optimal_frontier(problem, 16).total[-1] - plain(costs, 16)) < 1e-6
    print(f"  12×14  all up to 16 leaves  {ours}  plain DP takes {theirs.median / ours.median:6.1f} × (same: {same})")


def proven(rows: int, columns: int, methods: int, runs: int) -> None:
    """Time all ways of limiting a tree on one grid."""
    for noise in (0.1, 0.5):
        problem = Problem.of(synthetic_cube(rows, columns, methods, 1, noise=noise))
        limit = min(timed_once(partial(exact, problem.slices[0].dmap)) for _ in range(3))
        ways = {
            f"all up to {LEAVES} leaves": partial(optimal_frontier, problem, LEAVES),
            "depth 4": partial(optimal_depth, problem, 4),
            "price 0.1": partial(optimal_price, problem, 0.1),
        }
        for name, way in ways.items():
            seconds = min(timed_once(way) for _ in range(runs))
            times = seconds / limit
            print(
                f"{rows:3d}×{columns:<3d} noise {noise}  {name:20} {seconds:7.2f} s  {times:8.0f} × the exact quadtree"
            )
        frontier = optimal_frontier(problem, LEAVES)
        print(f"{rows:3d}×{columns:<3d} noise {noise}  proven: {int(frontier.proven.sum())} of {LEAVES}")


def between(side: int, noise: float) -> xr.Dataset:
    """Give the measured broadcasts at `side` × `side` sizes by their surfaces, with lognormal noise."""
    measured = open_results([FAST_ETHERNET])["bcast"].to_dataset()
    known = measured["comm_size"].values, measured["message_size"].values
    sizes = np.unique(np.geomspace(1, known[1][-1], side).round().astype(int))
    surfaces = Surfaces(Problem.of(measured).slices[0].times(), *known)
    logs = surfaces.at(np.linspace(known[0][0], known[0][-1], side), sizes).log_time
    logs += noise * np.random.default_rng(side).normal(size=logs.shape)
    return cube_of(np.exp(logs), np.arange(2, side + 2), sizes)


def large(side: int) -> None:
    """Print time and gap of trees of 16 leaves, and memory."""
    cubes = {
        "all different": all_different(side),
        "synthetic, noise 0.1": synthetic_cube(side, side, 25, 1, noise=0.1),
        "synthetic, noise 0.5": synthetic_cube(side, side, 25, 1, noise=0.5),
        "surfaces": between(side, 0.0),
        "surfaces, noise 0.1": between(side, 0.1),
    }
    for name, cube in cubes.items():
        decisions = []
        seconds = timed_once(lambda cube=cube, kept=decisions: kept.append(optimal(Problem.of(cube), leaves=16)))
        gap = decisions[0].provenance["optimal"]["gap"]
        print(f"{side}×{side} {name:22} 16 leaves {seconds:6.1f} s  gap {gap:.1f} %", flush=True)


def memory(side: int) -> None:
    """Print what the hardest grid needs."""
    print("    " + json.dumps(peak_memory(MEMORY, str(side))))


def main() -> None:
    against_plain()
    proven(27, 48, 12, runs=3)
    proven(64, 64, 25, runs=1)
    for side in (64, 128, 200):
        large(side)
    memory(200)


if __name__ == "__main__":
    main()
