"""A program with a known mix of calls, as it is and with what ``colltune tune`` made for that mix, in turn.

    python -m tests.benchmarks.bench_program FOLDER [--ranks 4] [--budget 60s] [--runs 15]

The Python that runs it names the library: the mpiexec beside it. FOLDER holds the tuning and goes on where it was.
Printed are the program's own time from its first call to its last, and that of the start command as a whole.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
from pathlib import Path

from dashboard.benchmarks.libraries.library import find
from tests.benchmarks.measure import Timing

#: Bytes of the vector and calls, of each collective.
MIX = {
    "bcast": {1024: 1000, 65536: 200, 1048576: 40},
    "allreduce": {8: 2000, 4096: 500, 262144: 60},
    "reduce": {65536: 200, 1048576: 40},
}
#: Tenths of the mix: a shorter program would tell the scheduler's whims.
ROUNDS = 100
_SWITCHED = '. "$1"; shift; exec "$@"'


def program() -> None:
    """Call the mix in short rounds, what a rank of mpiexec does; rank 0 prints the seconds of the slowest rank."""
    import numpy as np  # noqa: PLC0415 - as small as a rank can be
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    comm = MPI.COMM_WORLD
    given, taken = np.ones(1 << 20, np.uint8), np.zeros(1 << 20, np.uint8)
    calls = {"bcast": lambda size: comm.Bcast(given[:size])}
    calls["allreduce"] = lambda size: comm.Allreduce(given[:size].view("f8"), taken[:size].view("f8"))
    calls["reduce"] = lambda size: comm.Reduce(given[:size].view("f8"), taken[:size].view("f8"))
    given[:] = 0
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(ROUNDS):
        for name, sizes in MIX.items():
            for size, count in sizes.items():
                for _ in range(count // 10):
                    calls[name](size)
    slowest = comm.allreduce(MPI.Wtime() - begin, MPI.MAX)
    if comm.Get_rank() == 0:
        print(slowest)


def main() -> None:
    """Tune for the mix, then run the program in turn with and without the bundle."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    given = find()
    args.folder.mkdir(parents=True, exist_ok=True)
    with (args.folder / "calls.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["collective", "comm_size", "message_size", "calls"])
        rows.writerows([name, args.ranks, size, count] for name, of in MIX.items() for size, count in of.items())
    tuned = args.folder / "tuned"
    words = ["-c", ",".join(MIX), "--ranks", str(args.ranks), "--comm-sizes", str(args.ranks)]
    words += ["--budget", args.budget, "--workload", str(args.folder / "calls.csv")]
    tune = [sys.executable, "-m", "dashboard.cli", "tune", str(tuned), *words]
    subprocess.run(tune, check=False)
    environment = given.library.environment(one_node=True, graphs=False)
    native = [str(given.mpiexec), "-n", str(args.ranks), sys.executable, "-m", "mpi4py", "-m", __spec__.name, "-"]
    switched = ["bash", "-c", _SWITCHED, "bash", str(tuned / "bundle" / "colltune.sh"), *native]
    seconds: dict[str, list[tuple[float, float]]] = {"native": [], "tuned": []}
    for _ in range(args.runs):
        for name, command in (("native", native), ("tuned", switched)):
            seconds[name].append(_once(command, environment))
    for place, what in enumerate(("its calls", "from start to end")):
        own, its = (Timing(tuple(each[place] for each in seconds[name])) for name in seconds)
        print(f"{given.library.name} {given.library.version}, {args.ranks} ranks, {what}:")
        print(f"  as it is {own}\n  tuned    {its}\n  saved    {100 * (1 - its.median / own.median):.1f} %")


def _once(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    begin = time.perf_counter()
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[-1]), time.perf_counter() - begin


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        program()
    else:
        main()
