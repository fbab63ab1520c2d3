"""C4.5's growing and pruning against scikit-learn's growing alone, on decision maps of 1.3k, 13k and 131k cells.

Aim: no slower than the peer up to 13k cells, within 5 times beyond. Compiling is not counted: it happens once on a
machine, and its time is printed first (in a fresh process without what is kept on disk), with that of a start after it.
"""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from dashboard.decisions.grown.c45.choose import Options
from dashboard.decisions.grown.c45.grow import grow
from dashboard.decisions.grown.c45.prune import prune
from dashboard.decisions.grown.c45.table import Nodes, TrainingTable
from tests.benchmarks.measure import in_turn, timed

NOISE = 0.06
OPTIONS = Options(min_cases=2, gain_ratio=True, group_values=False)
START = """
import time
from tests.cubes import synthetic_cube
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.grown.c45 import c45
problem = Problem.of(synthetic_cube(27, 48, 11, 1))
start = time.perf_counter()
c45(problem)
print(f"{time.perf_counter() - start:.2f} s")
"""


def noisy_cells(rows: int, columns: int, methods: int) -> tuple[np.ndarray, np.ndarray]:
    """Give sizes ``(cell, 2)`` and best methods of Hockney-like times, a share of the cells at random."""
    rng = np.random.default_rng(rows)
    comm, message = np.meshgrid(np.arange(2, rows + 2), np.unique(np.geomspace(1, 2**24, columns).astype(np.int64)))
    latency, per_byte = rng.uniform(1, 8, methods), rng.uniform(1, 8, methods)
    growth = rng.uniform(0.1, 1.0, methods)
    times = latency[:, None] * comm.ravel() ** growth[:, None] + per_byte[:, None] / latency[:, None] * (
        message.ravel() ** rng.uniform(0.3, 0.8, methods)[:, None]
    )
    best = times.argmin(axis=0)
    at_random = rng.random(best.size) < NOISE
    best[at_random] = rng.integers(0, methods, at_random.sum())
    return np.stack([comm.ravel(), message.ravel()], axis=1), best


def table_of(sizes: np.ndarray, best: np.ndarray, methods: int) -> TrainingTable:
    """Lay int64 sizes out as continuous attributes."""
    values = sizes.T.astype(np.float32)
    return TrainingTable.of(values, np.zeros(len(values), dtype=np.int32), best.astype(np.int32), methods)


def tree_of(sizes: np.ndarray, best: np.ndarray, methods: int) -> tuple[Nodes, Nodes]:
    """Grow and prune."""
    table = table_of(sizes, best, methods)
    before = grow(table, OPTIONS)
    return before, prune(table, before, 25.0)


def report(rows: int, columns: int, methods: int) -> None:
    """Print the figures of one map, with the two sizes and with a composite attribute beside them."""
    plain, best = noisy_cells(rows, columns, methods)
    for sizes in (plain, np.column_stack([plain, plain.prod(axis=1)])):
        peer = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
        own, other = in_turn(partial(tree_of, sizes, best, methods), partial(peer.fit, sizes, best), runs=7)
        before, after = tree_of(sizes, best, methods)
        growing = timed(partial(grow, table_of(sizes, best, methods), OPTIONS))
        print(
            f"{best.size:7d} cells, {methods} methods, {sizes.shape[1]} attributes: "
            f"{min(own.seconds) / min(other.seconds):5.2f} × the peer"
        )
        print(f"    C4.5   {own}  (growing {growing.median:.3f} s)  {before.leaves} leaves, pruned {after.leaves}")
        print(f"    peer   {other}  {peer.get_n_leaves()} leaves")


def large() -> None:
    """Print how long a million cells take."""
    sizes, best = noisy_cells(1000, 1060, 25)
    start = time.perf_counter()
    before, after = tree_of(sizes, best, 25)
    print(f"{best.size:7d} cells: {time.perf_counter() - start:.1f} s  {before.leaves} leaves, pruned {after.leaves}")


def starts() -> None:
    """Print how long the first tree takes in a fresh process, with and without compiling."""
    with tempfile.TemporaryDirectory() as folder:
        for what in ("compiling", "compiled before"):
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            done = subprocess.run(
                [sys.executable, "-c", START], env=environment, check=True, capture_output=True, text=True
            )
            print(f"first tree of a process, {what}: {done.stdout.strip()}")


def main() -> None:
    starts()
    for rows, columns, methods in ((27, 48, 11), (81, 160, 25), (256, 512, 25)):
        report(rows, columns, methods)
    large()


if __name__ == "__main__":
    main()
