"""What a preloaded library adds to a broadcast on two processes; aim: under 20 ns a call.

The MPI library's own broadcast is replaced by one that does nothing, in the same program and run: what is left is the
look-up of the communicator, the decision, and the counting. With Open MPI the decision is one leaf, and an exact tree
of a noisy 27 × 48 map; with MPICH it has three leaves.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from dashboard.benchmarks.libraries.library import find
from dashboard.decisions import DecisionFunction, Leaf, Method, decision_map, exact
from dashboard.export.targets.preload.library import to_preload
from tests.bench import test_preload_mpich as preload_mpich
from tests.bench.preloading import HERE, LIBRARY, Bench
from tests.cubes import synthetic_cube

_NAMES = ("basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial")


def main() -> None:
    installation = find()
    with tempfile.TemporaryDirectory() as folder:
        if installation.library.name == "MPICH":
            _mpich(installation.mpiexec, Path(folder))
        elif installation.library.name == "Open MPI":
            _openmpi(Bench.of(installation.mpiexec, Path(folder)))
        else:
            sys.exit(f"{installation.mpiexec} is neither Open MPI's nor MPICH's")


def _openmpi(bench: Bench) -> None:
    drawn = exact(decision_map(synthetic_cube(27, 48, 20, seed=20, noise=0.5)))
    methods = [Method(f"{_NAMES[n % 7]} {n}", _NAMES[n % 7], 1024 * (n // 7)) for n in range(len(drawn.methods))]
    noisy = DecisionFunction("bcast", methods, drawn.tree)
    leaf = DecisionFunction("bcast", methods[:1], Leaf(0))
    program = bench.program("preload_cost")
    for name, decision in (("one leaf", leaf), (f"{noisy.simplified().leaves} leaves", noisy)):
        built = bench.build("libcolltune.so", to_preload(decision, version=bench.version), *LIBRARY)
        _say(name, bench.run(2, program, preload=built).stdout)


def _mpich(mpiexec: Path, folder: Path) -> None:
    """Its variables are written four times for each collective."""
    preload_mpich.compile_(mpiexec, folder, HERE / "preload_cost.c", "cost")
    source = preload_mpich.written(folder / "preload.c", *preload_mpich.DECISIONS)
    preload_mpich.compile_(mpiexec, folder, source, "libcolltune.so", *LIBRARY)
    words = ["-genv", "LD_PRELOAD", "./libcolltune.so", "-genv", "COLLTUNE_ONE_THREAD", "1"]
    done = subprocess.run(
        [mpiexec, "-n", "2", *words, "./cost"], cwd=folder, capture_output=True, text=True, check=True
    )
    _say("3 leaves", done.stdout)


def _say(name: str, printed: str) -> None:
    added, through, direct = printed.split()
    print(f"{name}: {added} ns added a call ({through} through the library, {direct} direct)")


if __name__ == "__main__":
    main()
