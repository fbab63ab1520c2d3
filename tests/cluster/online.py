"""Online tuning on emulated clusters under a real Slurm, by hand, against every forced method and on a second network.

``python -m tests.cluster.online FOLDER [--nodes 8] [--megabits 100] [--other 1000]`` submits one job, in which a loop
tunes allreduces of 256 KiB of two programs: the skeleton of Laghos, and least squares by gradient descent, whose answer
is checked. They then run under each forced allreduce, by the library's default and by what was learnt; and by the last
two once more on another network. What it prints stands in ``FOLDER/ways.json`` as well.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from dashboard.benchmarks.libraries.library import find
from dashboard.decisions import Method
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
ITERATIONS, TURNS, BYTES = 3, 5, 1 << 18
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def main() -> None:
    """Tune, run all ways on both networks, and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--megabits", type=float, default=100.0)
    parser.add_argument("--other", type=float, default=1000.0, help="Mbit/s of the second network")
    args = parser.parse_args()
    folder = args.folder.resolve()
    installation = find()
    table = default_table(series(installation.library.version), ("allreduce", "bcast"))
    tuning = Folder(folder, table, (args.nodes, 1), Learning(min_samples=30))
    tuning.save()
    mpicc = installation.mpiexec.with_name("mpicc")
    build(table, mpicc, folder)
    source, program = folder / "skeleton.c", folder / "skeleton"
    source.write_text(skeleton("Laghos"), encoding="ascii")
    subprocess.run([mpicc, "-O2", "-o", program, source], check=True)
    solver = [sys.executable, "-m", "mpi4py", str(ROOT / "tests" / "online" / "descent.py")]
    programs = {"skeleton": [str(program), "300", "0", "0", str(BYTES)], "descent": [*solver, str(BYTES // 8), "100"]}
    start = [str(installation.mpiexec), "-n", str(args.nodes)]
    runs = [[*start, *words] for words in programs.values()]
    plan = {"runs": runs, "iterations": ITERATIONS, "every": ITERATIONS}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    loop = f"{sys.executable} -m dashboard.cli online loop {folder} --plan {folder / 'plan.json'}"
    learnt = ("default", "tuned")
    forced = {str(method.algorithm): method for method in table.methods["allreduce"]}
    first = [loop, *ways(folder, start, programs, learnt, "first"), *by_force(folder, start, programs, forced)]
    submit(folder, args.nodes, args.megabits, first)
    submit(folder, args.nodes, args.other, ways(folder, start, programs, learnt, "other"))
    show(folder)


def ways(
    folder: Path, start: list[str], programs: Mapping[str, list[str]], names: Iterable[str], network: str
) -> list[str]:
    """Lines that run programs by the library's default and by what was learnt, in turns."""
    model = f"COLLTUNE_ONLINE_MODEL={folder / 'current.model'}"
    modes = {"default": "COLLTUNE_ONLINE=trace", "tuned": f"COLLTUNE_ONLINE=tuned {model}"}
    return [
        run(folder, start, words, modes[name], f"{network}-{program}-{name}-{turn}")
        for turn in range(TURNS)
        for program, words in programs.items()
        for name in names
    ]


def by_force(
    folder: Path, start: list[str], programs: Mapping[str, list[str]], methods: Mapping[str, Method]
) -> list[str]:
    """Lines that run programs under each algorithm, twice."""
    lines = []
    for turn in range(2):
        for program, words in programs.items():
            for name, method in methods.items():
                number, size = choice_of(method, "allreduce").algorithm, method.segment_size
                forced = "OMPI_MCA_coll_tuned_priority=100 OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
                forced += f"OMPI_MCA_coll_tuned_allreduce_algorithm={number} "
                forced += f"OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize={size} COLLTUNE_ONLINE=trace"
                lines.append(
                    run(folder, start, words, forced, f"first-{program}-forced {name}-{turn}".replace(" ", "."))
                )
    return lines


def run(folder: Path, start: list[str], words: list[str], said: str, name: str) -> str:
    """The line of one run."""
    out = f"COLLTUNE_ONLINE_OUT={folder / 'ways'} COLLTUNE_ONLINE_CALLS=4294967295 COLLTUNE_ONLINE_RUN={name}"
    library = f"LD_PRELOAD={folder / 'libcolltune_online.so'}${{LD_PRELOAD:+:$LD_PRELOAD}}"
    return f"{said} {out} {' '.join(start)} -x {library} {' '.join(words)}"


def submit(folder: Path, nodes: int, megabits: float, lines: Iterable[str]) -> None:
    """Run lines as one job over a network, and wait for its end."""
    (folder / "ways").mkdir(exist_ok=True)
    said = {**scheduler.ENVIRONMENT, **AS_ROOT}
    head = ["#!/bin/sh", f"cd {ROOT}", *(f"export {name}={value!r}" for name, value in said.items())]
    job, log = folder / f"job-{megabits:g}.sh", folder / f"job-{megabits:g}.log"
    job.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    place = folder / f"cluster-{megabits:g}"
    place.mkdir(exist_ok=True)
    with scheduler.emulated(place, nodes, megabits, 40.0) as cluster:
        path = f"{cluster.commands}{os.pathsep}{os.environ['PATH']}"
        words = ["sbatch", "--wait", "-N", str(nodes), "--ntasks-per-node", "1", "-o", str(log), str(job)]
        done = subprocess.run(words, env={**os.environ, "PATH": path}, check=False)
        print(f"{megabits:g} Mbit/s: the job ended with {done.returncode}; see {log}", flush=True)


def show(folder: Path) -> None:
    """Seconds in collectives and of the run, by network, program and way: least, median and most of the turns."""
    times: dict[str, list[dict[str, float]]] = {}
    for file in sorted((folder / "ways").glob("*.0.trace")):
        name = file.name.removesuffix(".0.trace")
        try:
            times.setdefault(name.rpartition("-")[0], []).append(judged(folder / "ways", name))
        except OSError:
            print(f"{name}: not finished")
    summary: dict[str, Any] = {}
    for way, turns in times.items():
        each = {name: sorted(turn[name] for turn in turns) for name in ("collectives", "run")}
        summary[way] = {name: [values[0], median(values), values[-1]] for name, values in each.items()}
    for way, figures in sorted(summary.items(), key=lambda item: (item[0].split("-")[:2], item[1]["run"][1])):
        texts = (f"{name} {' '.join(f'{value:.3f}' for value in three)} s" for name, three in figures.items())
        print(f"{way}: {', '.join(texts)}")
    (folder / "ways.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
