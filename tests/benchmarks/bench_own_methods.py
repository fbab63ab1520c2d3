"""Own methods against the library's same algorithms, in turns in one job, by either executor.

Aim: the native executor's median within 1.0 to 1.3 of the library's for trees, pipelines and rings from 8 B to 1 MiB.
The mpi4py executor's ratio stands beside it. Each time is that of the rank that spends most in a call after a barrier:
on the first rank alone, the root of a reduction that is put aside finds all there when it comes back, and the call took
nothing (8 ranks on 2 cores: 0.12 of the library's). Where ranks share cores a ratio is worth something, a time is not.

Freed memory stays with the ranks (`KEPT`). Open MPI's binomial reduce allocates two buffers of the message at each
call; above malloc's threshold they come from the system anew, page by page, and a reduce of 1 MiB takes three to five
times as long as the same messages without it (4 ranks: 0.18 to 0.33 of the library's with malloc as it is, 0.98 so).
That is a property of the library that users meet, which `--as-users` shows, and none of the schedule or the executor.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.libraries.mpicc import build, compiler
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.benchmarks.providers.executor import Executor
from dashboard.benchmarks.ranks.mpit import ToolInterface
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from dashboard.schedules import Call, program, resolve

RANKS = (4, 8)
SIZES = (8, 1024, 65536, 1 << 20)
ROUNDS = 40
#: Has glibc neither map large blocks apart nor give freed ones back.
KEPT: Mapping[str, str] = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
#: Collective, own algorithm, the library's number and name, and the segment size of both.
METHODS = (
    ("bcast", "binomial", 6, "binomial", 0),
    ("bcast", "pipeline", 3, "pipeline", 8192),
    ("bcast", "binary", 5, "binary_tree", 8192),
    ("reduce", "binomial", 5, "binomial", 0),
    ("reduce", "pipeline", 3, "pipeline", 8192),
    ("allgather", "ring", 4, "ring", 0),
    ("allreduce", "ring", 4, "ring", 0),
    ("allreduce", "recursive_doubling", 3, "recursive_doubling", 0),
)


def run_ranks(built: Path) -> None:
    """What each rank runs."""
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    mpi = library.find().library
    assert isinstance(mpi, OpenMpi)
    world, executors, tools = MPI.COMM_WORLD, [Executor(MPI, built), Executor(MPI, None)], ToolInterface()
    for collective, own, number, theirs, segment in METHODS:
        tools.write(mpi.settings(collective, Method(theirs, segment, (), number)))
        forced, plain = world.Dup(), world.Dup()
        for size in SIZES:
            if (collective, own) == ("allreduce", "ring") and size // 4 < world.size:
                continue
            calls = _calls(MPI, forced, plain, (collective, own, segment, size), executors)
            times = _in_turn(world, calls)
            if world.rank == 0:
                medians = {name: statistics.median(each) for name, each in times.items()}
                shares = "  ".join(f"{name} {medians[name] / medians['library']:5.2f}" for name in ("native", "mpi4py"))
                what = f"{world.size} ranks  {collective:9} {own:18} {size:8} B"
                print(f"{what}  {shares}  ({medians['library'] * 1e6:.0f} us)", flush=True)
    tools.close()


def _calls(
    mpi: Any, forced: Any, plain: Any, what: tuple[str, str, int, int], executors: list[Executor]
) -> dict[str, Any]:
    """The library's call and both of ours, on the same buffers."""
    collective, own, segment, size = what
    element, dtype = (mpi.FLOAT, np.float32) if "reduce" in collective else (mpi.BYTE, np.uint8)
    count = size // np.dtype(dtype).itemsize
    call = Call(collective, plain.size, count, element_size=np.dtype(dtype).itemsize)
    made = program(call, *resolve(call, own, {"segment_size": segment} if segment else {}), plain.rank)
    memory = (np.ones(call.input_length(plain.rank), dtype), np.ones(call.output_length(plain.rank), dtype))
    send, receive = ([each, each.size, element] for each in memory)
    theirs = {
        "bcast": lambda: forced.Bcast(receive),
        "reduce": lambda: forced.Reduce(send, receive, mpi.SUM),
        "allgather": lambda: forced.Allgather(send, [memory[1], count, element]),
        "allreduce": lambda: forced.Allreduce(send, receive, mpi.SUM),
    }
    ours = {each.name: each.bind(plain, made, memory, element, mpi.SUM) for each in executors}
    return {"library": theirs[collective], **ours}


def _in_turn(world: Any, calls: dict[str, Any]) -> dict[str, list[float]]:
    """Times of the calls, one after the other in each round: of the rank that spent most in it."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS + 3):
        # Who follows whom changes: what a call leaves in the caches and to the scheduler is nobody's alone.
        for name in [*calls, *calls][turn % len(calls) :][: len(calls)]:
            call = calls[name]
            world.Barrier()
            start = time.perf_counter()
            call()
            if turn >= 3:
                times[name].append(time.perf_counter() - start)
    return {name: np.max(world.allgather(each), axis=0).tolist() for name, each in times.items()}


def main() -> None:
    """Build the native executor and start the ranks."""
    installation = library.find()
    mpicc = compiler(installation.mpiexec)
    assert mpicc, "no mpicc"
    with tempfile.TemporaryDirectory() as folder:
        built = build(mpicc, SOURCE, Path(folder) / FILE)
        for count in RANKS:
            kept = {} if "--as-users" in sys.argv else KEPT
            environment = {**os.environ, **installation.library.environment(here=True, graphs=False), **kept}
            ranks = [sys.executable, "-m", "mpi4py", "-m", "tests.benchmarks.bench_own_methods", str(built)]
            subprocess.run([str(installation.mpiexec), "-n", str(count), *ranks], env=environment, check=True)


if __name__ == "__main__":
    run_ranks(Path(sys.argv[1])) if sys.argv[1:] and sys.argv[1] != "--as-users" else main()
