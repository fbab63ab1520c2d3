"""Decisions in compiled C: tables against nested ifs on an exact noisy 27 × 48 map; aim: at most a fifth of the time.

The two are compiled by themselves, so that each is called as a library is, and timed in turn in one run
over the same log-uniform sizes in random order. The limit beside them is a function that returns at once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from dashboard.decisions import DecisionFunction, Leaf, decision_map, exact
from dashboard.export import TARGETS
from tests.cubes import synthetic_cube

_DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int ifs(int, long long);
int table(int, long long);
int nothing(int, long long);
#define SIZES 1048576
static int p[SIZES];
static long long m[SIZES];
static double timed(int (*decide)(int, long long), long *sum) {
    clock_t start = clock();
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < SIZES; i++) *sum += decide(p[i], m[i]);
    return (double)(clock() - start) / CLOCKS_PER_SEC / 2 / SIZES * 1e9;
}
int main(void) {
    double best[3] = {1e9, 1e9, 1e9};
    long sums[3];
    for (int i = 0; i < SIZES; i++) if (scanf("%d %lld", &p[i], &m[i]) != 2) return 1;
    for (int round = 0; round < 9; round++) {
        int (*functions[3])(int, long long) = {ifs, table, nothing};
        for (int f = 0; f < 3; f++) {
            sums[f] = 0;
            double ns = timed(functions[f], &sums[f]);
            if (ns < best[f]) best[f] = ns;
        }
    }
    if (sums[0] != sums[1]) return 2;
    printf("%f %f %f\\n", best[0], best[1], best[2]);
    return 0;
}
"""


def measure(decision: DecisionFunction, largest: tuple[int, int]) -> tuple[float, float, float]:
    """Nanoseconds a decision by nested ifs, by tables, and of a call that decides nothing."""
    random = np.random.default_rng(1)
    sizes = [np.exp(random.uniform(0, np.log(1.5 * size), 1 << 20)).astype(np.int64) for size in largest]
    with tempfile.TemporaryDirectory() as folder:
        empty = DecisionFunction(decision.collective, decision.methods, Leaf(0))
        files = []
        for name, target, decided in (("ifs", "c", decision), ("table", "c-table", decision), ("nothing", "c", empty)):
            renamed = f"-Dcolltune_bcast={name}", f"-Dcolltune_bcast_methods={name}_methods"
            files.append(_compiled(Path(folder), name, TARGETS[target].write([decided], None), *renamed))
        driver = _compiled(Path(folder), "driver", _DRIVER)
        program = Path(folder) / "bench"
        subprocess.run([_compiler(), "-o", program, driver, *files], check=True)
        pairs = "".join(f"{p} {m}\n" for p, m in zip(*(column.tolist() for column in sizes), strict=True))
        done = subprocess.run([program], input=pairs, capture_output=True, text=True, check=True)
    ifs, table, nothing = map(float, done.stdout.split())
    return ifs, table, nothing


def _compiler() -> str:
    return shutil.which("gcc") or sys.exit("no gcc on the PATH")


def _compiled(folder: Path, name: str, text: str, *options: str) -> Path:
    file = folder / f"{name}.c"
    file.write_text(text, encoding="ascii")
    made = file.with_suffix(".o")
    subprocess.run([_compiler(), "-std=c99", "-O2", *options, "-c", "-o", made, file], check=True)
    return made


def main() -> None:
    cube = synthetic_cube(27, 48, 20, seed=20, noise=0.5)
    decision = exact(decision_map(cube))
    ifs, table, nothing = measure(decision, (28, 2**24))
    print(f"exact noisy 27 × 48 map, {decision.simplified().leaves} leaves after merging")
    print(f"nested ifs {ifs:6.2f} ns, tables {table:6.2f} ns, empty call {nothing:6.2f} ns a decision")
    print(f"tables take {table / ifs:.3f} of the time of nested ifs")


if __name__ == "__main__":
    main()
