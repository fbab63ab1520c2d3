"""Campaigns against a small loop of its own: one job against one launch for each method, and the times themselves.

``python -m tests.benchmarks.bench_measuring [ranks]``. Two times agree when they differ by no more than the spread of
either (from the 10 % to the 90 % quantile of its repetitions, over all launches).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Method, Variants
from dashboard.benchmarks.ranks.surroundings import settings
from loaders.methods import MethodKey, format_segment, method_label

LOOP = Path(__file__).with_name("osu_loop.py")
METHODS, REPETITIONS, SIZE = 30, 20, 1 << 16
SIZES = (8, 256, 4096, 65536, 1 << 20)
ROUNDS = 3
Samples = dict[str, list[float]]


def launched(installation: Installation, ranks: int, program: Sequence[str], forced: Mapping[str, str]) -> str:
    """Run a program on all ranks, and give what it printed."""
    environment = {**os.environ, **installation.library.environment(here=True, graphs=False), **forced}
    command = [str(installation.mpiexec), "-n", str(ranks), sys.executable, "-m", "mpi4py", *program]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def campaign(
    installation: Installation, folder: Path, name: Literal["skampi", "occ"] = "skampi", **wish: Any
) -> tuple[float, list[dict[str, Any]]]:
    """Run a campaign in one job; seconds from start to end, and its points."""
    wish["protocol"] = Protocol(name, min_repetitions=REPETITIONS, max_repetitions=REPETITIONS, rounds=2, warm_up=5)
    made = Campaign.create(folder, make_plan(Wish(graphs=False, **wish), installation))
    start = time.perf_counter()
    launched(installation, wish["ranks"], ["-m", "dashboard.benchmarks.ranks.worker", str(folder)], {})
    took = time.perf_counter() - start
    return took, [json.loads(line) for line in made.results.read_text(encoding="utf-8").splitlines()[1:]]


def loop(installation: Installation, ranks: int, collective: str, sizes: Sequence[int], **forced: str) -> Samples:
    """Run the loop; repetitions by message size."""
    program = [str(LOOP), collective, str(REPETITIONS), *map(str, sizes)]
    samples: Samples = json.loads(launched(installation, ranks, program, forced))
    return samples


def agree(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether the medians differ by no more than the spread of either."""
    spreads = [float(np.quantile(times, 0.9) - np.quantile(times, 0.1)) for times in (first, second)]
    return bool(abs(np.median(first) - np.median(second)) <= max(spreads))


def forcing(installation: Installation, method: Method) -> dict[str, str]:
    """Environment that makes Open MPI take a method from its start on."""
    variables = installation.library.settings("bcast", method)
    return {f"OMPI_MCA_{name}": str(value) for name, value in variables.items()}


def one_job_against_launches(installation: Installation, ranks: int) -> None:
    """Wall time of all methods in one job, and of one launch for each; their medians."""
    variants = Variants((0, 1024, 2048, 4096, 8192, 16384), (2, 4), (2, 4))
    methods = installation.library.methods("bcast", variants)
    offered = [method for method in methods if method.algorithm != DEFAULT][:METHODS]
    with tempfile.TemporaryDirectory() as folder:
        wish = {"ranks": ranks, "collectives": ("bcast",), "comm_sizes": (ranks,), "message_sizes": (SIZE,)}
        wish |= {"variants": variants, "algorithms": tuple(dict.fromkeys(method.algorithm for method in offered))}
        seconds, points = campaign(installation, Path(folder), **wish)
    measured = {Method.from_json(point): point["samples"] for point in points if "samples" in point}
    start = time.perf_counter()
    single = {m: loop(installation, ranks, "bcast", [SIZE], **forcing(installation, m))[str(SIZE)] for m in offered}
    apart = time.perf_counter() - start
    share = seconds * len(offered) / len(measured)
    within = sum(agree(measured[method], single[method]) for method in offered)
    print(f"bcast of {format_segment(SIZE)} on {ranks} ranks, {REPETITIONS} repetitions each:")
    print(f"  one job        {seconds:7.2f} s for {len(measured)} methods, {share:.2f} s for {len(offered)} of them")
    print(f"  one launch each {apart:6.2f} s for {len(offered)} methods: {apart / share:.1f} times as long")
    print(f"  medians agree within the spread for {within} of {len(offered)} methods")
    for method in offered:
        label = method_label(MethodKey(method.algorithm, method.segment_size, method.parameters))
        medians = [1e6 * float(np.median(times)) for times in (measured[method], single[method])]
        print(f"    {label:32} {medians[0]:10.1f} µs {medians[1]:10.1f} µs  {medians[0] / medians[1]:6.2f}")


def against_the_loop(installation: Installation, ranks: int, name: Literal["skampi", "occ"]) -> None:
    """Medians of the library's own decision by campaigns and by the loop, in the same minutes."""
    ours: dict[tuple[str, int], list[float]] = {}
    theirs: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for collective in ("bcast", "allreduce"):
            with tempfile.TemporaryDirectory() as folder:
                wish = {"ranks": ranks, "collectives": (collective,), "comm_sizes": (ranks,), "message_sizes": SIZES}
                _, points = campaign(installation, Path(folder), name, algorithms=(DEFAULT,), **wish)
            for point in (point for point in points if "samples" in point):
                ours.setdefault((collective, point["message_size"]), []).extend(point["samples"])
            for size, times in loop(installation, ranks, collective, SIZES).items():
                theirs.setdefault((collective, int(size)), []).extend(times)
    within = [agree(ours[cell], theirs[cell]) for cell in ours]
    print(f"own decision on {ranks} ranks, {name}: {sum(within)} of {len(within)} medians agree within the spread")
    for (collective, size), times in sorted(ours.items()):
        medians = [1e6 * float(np.median(each)) for each in (times, theirs[collective, size])]
        shown = f"{medians[0]:10.1f} µs {medians[1]:10.1f} µs  {medians[0] / medians[1]:6.2f}"
        print(f"    {collective:10} {format_segment(size):>8} {shown}")


def main() -> None:
    """Print all figures."""
    installation = library.find()
    print(f"{installation.library.name} {installation.library.version}, {os.cpu_count()} cores {settings()}")
    one_job_against_launches(installation, int(sys.argv[1]) if len(sys.argv) > 1 else 8)
    for ranks in (2, 4, 8):
        against_the_loop(installation, ranks, "skampi")
        against_the_loop(installation, ranks, "occ")


if __name__ == "__main__":
    main()
