"""A program with a known mix of calls, as it is and with what ``colltune tune`` made, in turn.

    python -m tests.benchmarks.bench_program FOLDER [--ranks 4] [--budget 60s] [--runs 15]

The Python that runs it names the library: the mpiexec beside it. FOLDER holds the tuning and goes on where it was.
Printed are the program's own time from its first call to its last, and that of the start command as a whole.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from dashboard.benchmarks.libraries.library import find
from tests.benchmarks.measure import Timing

#: Bytes and calls of each collective in a round; bytes of each process's block for allgather and alltoall.
Mix = Mapping[str, Mapping[int, int]]
#: On the cores of one machine.
MIX: Mix = {
    "bcast": {1024: 100, 65536: 20, 1048576: 4},
    "allreduce": {8: 200, 4096: 50, 262144: 6},
    "reduce": {65536: 20, 1048576: 4},
}
#: A shorter program would tell the scheduler's whims.
ROUNDS = 100
#: Sources what is first, then becomes the rest.
_SWITCHED = '. "$1"; shift; exec "$@"'


def program(mix: Mix, rounds: int) -> None:
    """Call the mix round after round, what a rank of mpiexec does; rank 0 prints the seconds of the slowest rank."""
    import numpy as np  # noqa: PLC0415 - as small as a rank can be
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    comm = MPI.COMM_WORLD
    longest = max(size for sizes in mix.values() for size in sizes)
    given, taken = (np.zeros(longest * count, np.uint8) for count in (comm.Get_size(), comm.Get_size()))
    calls = {
        "bcast": lambda size: comm.Bcast(given[:size]),
        "allreduce": lambda size: comm.Allreduce(given[:size].view("f8"), taken[:size].view("f8")),
        "reduce": lambda size: comm.Reduce(given[:size].view("f8"), taken[:size].view("f8")),
        "allgather": lambda size: comm.Allgather(given[:size], taken[: size * comm.Get_size()]),
        "alltoall": lambda size: comm.Alltoall(given[: size * comm.Get_size()], taken[: size * comm.Get_size()]),
    }
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(rounds):
        for name, sizes in mix.items():
            for size, count in sizes.items():
                for _ in range(count):
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
    tuned = args.folder / "tuned"
    words = ["-c", ",".join(MIX), "--ranks", str(args.ranks), "--comm-sizes", str(args.ranks)]
    words += ["--budget", args.budget, "--workload", str(calls(args.folder / "calls.csv", MIX, args.ranks))]
    tune = [sys.executable, "-m", "dashboard.cli", "tune", str(tuned), *words]
    subprocess.run(tune, check=False)
    environment = given.library.environment(here=True, graphs=False)
    print(f"{given.library.name} {given.library.version}, {args.ranks} ranks")
    start = [str(given.mpiexec), "-n", str(args.ranks)]
    print("\n".join(alternate(start, MIX, tuned / "bundle", environment, rounds=ROUNDS, runs=args.runs)))


def calls(path: Path, mix: Mix, ranks: int) -> Path:
    """Write the calls of a round as ``--workload`` reads them."""
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["collective", "comm_size", "message_size", "calls"])
        rows.writerows([name, ranks, size, count] for name, of in mix.items() for size, count in of.items())
    return path


def alternate(
    start: Sequence[str], mix: Mix, bundle: Path, environment: Mapping[str, str], *, rounds: int, runs: int
) -> list[str]:
    """Run the program by a start command in turn as it is and with the bundle; lines that tell what it took."""
    native = [*start, sys.executable, "-m", "mpi4py", "-m", "tests.benchmarks.bench_program"]
    native += ["-", json.dumps(mix), str(rounds)]
    switched = ["bash", "-c", _SWITCHED, "bash", str(bundle / "colltune.sh"), *native]
    pairs = [[_once(command, environment) for command in (native, switched)] for _ in range(runs)]
    lines = []
    for place, what in enumerate(("its calls", "from start to end")):
        own, tuned = (Timing(tuple(pair[side][place] for pair in pairs)) for side in range(2))
        lines += [f"{what}:", f"  as it is {own}", f"  tuned    {tuned}"]
        saved = sorted(100 * (1 - after / before) for before, after in zip(own.seconds, tuned.seconds, strict=True))
        lines.append(f"  saved    {statistics.median(saved):.1f} % ({saved[0]:.1f} to {saved[-1]:.1f} % in the pairs)")
    return lines


def _once(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    begin = time.perf_counter()
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[-1]), time.perf_counter() - begin


if __name__ == "__main__":
    if sys.argv[1:2] == ["-"]:
        asked = json.loads(sys.argv[2])
        mix = {name: {int(size): count for size, count in sizes.items()} for name, sizes in asked.items()}
        program(mix, int(sys.argv[3]))
    else:
        main()
