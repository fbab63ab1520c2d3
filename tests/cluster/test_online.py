"""Online tuning under a real Slurm: a loop in one job, over nodes that the traces tell apart, and batches as arrays."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.libraries.library import Installation
from dashboard.online.errors import OnlineError
from dashboard.online.library import build
from dashboard.online.running import evaluations, loop, read_plan
from dashboard.online.settings import Learning
from dashboard.online.skeletons import skeleton
from dashboard.online.state import Folder
from dashboard.online.table import default_table
from loaders.openmpi import series
from tests.cluster.conftest import NODES
from tests.cluster.scheduler import ENVIRONMENT, Slurm
from tests.conftest import ROOT, until

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs take over the environment of who submits them."""
    for name, value in AS_ROOT.items():
        monkeypatch.setenv(name, value)


class Tuning:
    """A folder of allreduces, with the program SWFFT to tune."""

    def __init__(self, place: Path, installation: Installation, nodes: int) -> None:
        mpicc = installation.mpiexec.with_name("mpicc")
        self.table = default_table(series(installation.library.version), ("allreduce",))
        self.folder = Folder(place / "tuning", self.table, (nodes, 2), Learning(min_samples=10, rounds=20))
        self.folder.save()
        build(self.table, mpicc, self.folder.path)
        source, self.program = place / "skeleton.c", place / "skeleton"
        source.write_text(skeleton("SWFFT"), encoding="ascii")
        subprocess.run([mpicc, "-O2", "-o", self.program, source], check=True)
        self.mpiexec, self.file = installation.mpiexec, place / "plan.json"

    def command(self, ranks: int, steps: int = 300) -> list[str]:
        return [str(self.mpiexec), "-n", str(ranks), str(self.program), str(steps)]

    def plan(self, runs: Sequence[Sequence[str]], **further: Any) -> Path:
        plan = {"runs": runs, "evaluate": runs[:1], "iterations": 1, **further}
        self.file.write_text(json.dumps(plan), encoding="utf-8")
        return self.file


@pytest.mark.slow
def test_a_loop_in_one_job_learns_over_nodes(slurm: Slurm, installation: Installation, tmp_path: Path) -> None:
    tuning = Tuning(tmp_path, installation, NODES)
    folder, plan = tuning.folder, tuning.plan([tuning.command(2 * NODES)])
    command = f"{sys.executable} -m dashboard.cli online loop {folder.path} --plan {plan}"
    script, log, ended = tmp_path / "job.sh", tmp_path / "job.log", tmp_path / "ended"
    lines = [
        "#!/bin/sh",
        f"cd {ROOT}",
        *(f"export {name}='{value}'" for name, value in {**ENVIRONMENT, **AS_ROOT}.items()),
    ]
    script.write_text("\n".join([*lines, command, f"echo $? > {ended}"]) + "\n", encoding="ascii")
    words = ["-N", str(NODES), "--ntasks-per-node", "2", "-o", str(log), str(script)]
    assert slurm.ask("sbatch", "--parsable", *words).strip().isdecimal()
    until(ended.exists, lambda: log.read_text(encoding="utf-8") if log.exists() else "not begun")
    assert ended.read_text(encoding="ascii").strip() == "0", log.read_text(encoding="utf-8")
    calls = folder.calls()
    assert set(calls["nodes"]) == {NODES}
    assert set(calls["ppn"]) == {2}
    assert folder.progress[0]["learnt"]["allreduce"] == len(tuning.table.methods["allreduce"])
    (judged,) = evaluations(folder)
    assert judged["default"]["calls"] == judged["tuned"]["calls"] == 300


@pytest.mark.soak
def test_batches_are_arrays_that_outlive_who_watches(slurm: Slurm, installation: Installation, tmp_path: Path) -> None:
    tuning = Tuning(tmp_path, installation, NODES)
    asked = {"nodes": 2, "tasks_per_node": 1, "array": 2, "environment": ENVIRONMENT}
    plan = read_plan(tuning.plan([tuning.command(2), tuning.command(2, 301)], seconds=60, slurm=asked))
    lines: list[str] = []

    def interrupted(line: str) -> None:
        lines.append(line)
        if "handed to Slurm;" in line and len(lines) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop(tuning.folder, plan, 1, interrupted)
    loop(tuning.folder, plan, 1, interrupted)
    assert lines[1] == "batch i1: was handed to Slurm before"
    calls = tuning.folder.calls()
    assert calls.groupby("run").size().to_dict() == {"i1-r0": 300, "i1-r1": 301}
    assert set(calls["nodes"]) == {2}
    (judged,) = evaluations(tuning.folder)
    assert judged["default"]["calls"] == judged["tuned"]["calls"] == 300


@pytest.mark.soak
def test_a_batch_whose_node_dies_goes_on_where_it_was(
    own_cluster: Slurm, installation: Installation, tmp_path: Path
) -> None:
    tuning = Tuning(tmp_path, installation, 2)
    asked = {"nodes": 1, "tasks_per_node": 2, "array": 1, "environment": ENVIRONMENT}
    runs = [tuning.command(2), tuning.command(2, 10_000_000)]
    plan = read_plan(tuning.plan(runs, seconds=120, slurm=asked))
    long = tuning.folder.traces / "i1-r1.0.trace"
    dying = own_cluster.network.nodes

    def killed(line: str) -> None:
        """Once the long run is under way, its node is no more."""
        until(long.exists, lambda: line)
        (node,) = own_cluster.ask("squeue", "-h", "-t", "R", "-o", "%N").split()
        next(each for each in dying if each.name == node).power_off()

    with pytest.raises(OnlineError, match="node"):
        loop(tuning.folder, plan, 1, killed)
    shorter = read_plan(tuning.plan([tuning.command(2), tuning.command(2, 301)], seconds=120, slurm=asked))
    loop(tuning.folder, shorter, 1, str)
    assert tuning.folder.calls().groupby("run").size().to_dict() == {"i1-r0": 300, "i1-r1": 301}
