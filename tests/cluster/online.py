"""Online tuning on an emulated cluster under a real Slurm, by hand, against every forced method.

``python -m tests.cluster.online FOLDER [NODES [MEGABITS]]`` submits one job: a loop tunes the skeleton of Laghos with
messages of 256 KiB, which then runs under each forced allreduce, by the library's default and by what was learnt.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from dashboard.benchmarks.libraries.library import find
from dashboard.export.library_names import choice_of
from dashboard.online.library import build
from dashboard.online.running import judged
from dashboard.online.settings import Learning
from dashboard.online.skeletons import skeleton
from dashboard.online.state import Folder
from dashboard.online.table import default_table
from loaders.openmpi import series
from tests.cluster import scheduler

ROOT = Path(__file__).resolve().parents[2]
STEPS, ITERATIONS, TURNS, SECONDS = 300, 3, 3, 270.0


def main(folder: Path, nodes: int = 8, megabits: float = 100.0) -> None:
    """Submit, wait, and print times by way."""
    installation = find()
    table = default_table(series(installation.library.version), ("allreduce", "bcast"))
    tuning = Folder(folder, table, (nodes, 1), Learning(min_samples=30))
    tuning.save()
    mpicc = installation.mpiexec.with_name("mpicc")
    build(table, mpicc, folder)
    source, program = folder / "skeleton.c", folder / "skeleton"
    source.write_text(skeleton("Laghos"), encoding="ascii")
    subprocess.run([mpicc, "-O2", "-o", program, source], check=True)
    command = [str(installation.mpiexec), "-n", str(nodes), str(program), str(STEPS), "0", "0", str(1 << 18)]
    plan = {"runs": [command, command], "evaluate": [command], "iterations": ITERATIONS, "every": ITERATIONS}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (folder / "job.sh").write_text(job(folder, command, table.methods["allreduce"], nodes), encoding="utf-8")
    with scheduler.emulated(folder, nodes, megabits, 40.0) as cluster:
        os.environ["PATH"] = f"{cluster.commands}:{os.environ['PATH']}"
        number = cluster.ask(
            "sbatch", "--parsable", "-N", str(nodes), "-o", str(folder / "job.log"), str(folder / "job.sh")
        )
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and not (folder / "ended").exists():
            time.sleep(1)
        print(f"job {number.strip()}: {'ended' if (folder / 'ended').exists() else 'not ended'}")
    show(folder)


def job(folder: Path, command: list[str], methods: Any, nodes: int) -> str:
    """The batch script: the loop, then all ways in turns."""
    library = folder / "libcolltune_online.so"
    lines = ["#!/bin/sh", f"cd {ROOT}", *(f"export {name}={value!r}" for name, value in scheduler.ENVIRONMENT.items())]
    lines += ["export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    lines += [f"{sys.executable} -m dashboard.cli online loop {folder} --plan {folder / 'plan.json'}"]
    (folder / "ways").mkdir(exist_ok=True)
    program = f"{command[0]} -n {nodes} -x LD_PRELOAD={library}${{LD_PRELOAD:+:$LD_PRELOAD}} {' '.join(command[3:])}"
    told = f"COLLTUNE_ONLINE_OUT={folder / 'ways'} COLLTUNE_ONLINE_CALLS=4294967295"
    for turn in range(TURNS):
        lines += [f"{told} COLLTUNE_ONLINE=trace COLLTUNE_ONLINE_RUN=default-{turn} {program}"]
        model = f"COLLTUNE_ONLINE_MODEL={folder / 'current.model'}"
        lines += [f"{told} COLLTUNE_ONLINE=tuned {model} COLLTUNE_ONLINE_RUN=tuned-{turn} {program}"]
    for number in sorted({method.algorithm for method in methods}):
        place = [method.algorithm for method in methods].index(number)
        forced = f"OMPI_MCA_coll_tuned_priority=100 OMPI_MCA_coll_tuned_use_dynamic_rules=1 {_forcing(methods[place])}"
        lines += [f"{told} {forced} COLLTUNE_ONLINE=trace COLLTUNE_ONLINE_RUN=forced_{number}-0 {program}"]
    return "\n".join([*lines, f"touch {folder / 'ended'}"]) + "\n"


def _forcing(method: Any) -> str:
    number = choice_of(method, "allreduce").algorithm
    size = method.segment_size
    return (
        f"OMPI_MCA_coll_tuned_allreduce_algorithm={number} OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize={size}"
    )


def show(folder: Path) -> None:
    """Times in collectives, and of the whole run, by way."""
    ways: dict[str, list[dict[str, float]]] = {}
    for file in sorted((folder / "ways").glob("*.0.trace")):
        run = file.name.removesuffix(".0.trace")
        try:
            ways.setdefault(run.rpartition("-")[0], []).append(judged(folder / "ways", run))
        except OSError:
            print(f"{run}: not finished")
    for way, found in sorted(ways.items(), key=lambda each: median(one["collectives"] for one in each[1])):
        collectives, whole = ([one[name] for one in found] for name in ("collectives", "run"))
        print(
            f"{way}: in collectives {median(collectives):.3f} s {[round(x, 3) for x in collectives]}, "
            f"run {median(whole):.3f} s {[round(x, 3) for x in whole]}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), *(int(each) for each in sys.argv[2:]))
