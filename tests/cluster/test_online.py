"""Online tuning under a real Slurm: a loop in one job, over nodes that the traces tell apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dashboard.benchmarks.libraries.library import Installation
from dashboard.online.library import build
from dashboard.online.running import evaluations
from dashboard.online.settings import Learning
from dashboard.online.skeletons import skeleton
from dashboard.online.state import Folder
from dashboard.online.table import default_table
from loaders.openmpi import series
from tests.cluster.conftest import NODES, until
from tests.cluster.scheduler import ENVIRONMENT, Slurm

ROOT = Path(__file__).resolve().parents[2]


def test_a_loop_in_one_job_learns_over_nodes(slurm: Slurm, installation: Installation, tmp_path: Path) -> None:
    mpicc = installation.mpiexec.with_name("mpicc")
    table = default_table(series(installation.library.version), ("allreduce",))
    folder = Folder(tmp_path / "tuning", table, (NODES, 2), Learning(min_samples=10, rounds=20))
    folder.save()
    build(table, mpicc, folder.path)
    source, program = tmp_path / "skeleton.c", tmp_path / "skeleton"
    source.write_text(skeleton("SWFFT"), encoding="ascii")
    subprocess.run([mpicc, "-O2", "-o", program, source], check=True)
    command = [str(installation.mpiexec), "-n", str(2 * NODES), str(program), "300"]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"runs": [command], "evaluate": [command], "iterations": 1}), encoding="utf-8")
    loop = f"{sys.executable} -m dashboard.cli online loop {folder.path} --plan {plan}"
    said = {**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    script, log, ended = tmp_path / "job.sh", tmp_path / "job.log", tmp_path / "ended"
    lines = ["#!/bin/sh", f"cd {ROOT}", *(f"export {name}='{value}'" for name, value in said.items())]
    script.write_text("\n".join([*lines, loop, f"echo $? > {ended}"]) + "\n", encoding="ascii")
    words = ["-N", str(NODES), "--ntasks-per-node", "2", "-o", str(log), str(script)]
    assert slurm.ask("sbatch", "--parsable", *words).strip().isdecimal()
    until(ended.exists, lambda: log.read_text(encoding="utf-8") if log.exists() else "not begun")
    assert ended.read_text(encoding="ascii").strip() == "0", log.read_text(encoding="utf-8")
    calls = folder.calls()
    assert set(calls["nodes"]) == {NODES}
    assert set(calls["ppn"]) == {2}
    assert folder.progress[0]["learnt"]["allreduce"] == len(table.methods["allreduce"])
    (judged,) = evaluations(folder)
    assert judged["default"]["calls"] == judged["tuned"]["calls"] == 300
