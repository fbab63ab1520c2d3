"""``colltune tune`` under Slurm, in which something dies at every stage that runs ranks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign, key_of
from dashboard.tuning import Folder
from tests.cluster.scheduler import ENVIRONMENT, Slurm, emulated
from tests.conftest import ROOT, until

GRID = ["-c", "bcast", "--ranks", "4", "--comm-sizes", "4", "--sizes", "64-64KiB:x4"]
GRID += ["--budget", "60s", "--launches", "2", "--unchecked"]


@pytest.mark.soak
def test_killed_in_each_stage_it_goes_on_and_measures_nothing_twice(
    can_emulate: None, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    folder = tmp_path / "tuned"
    with emulated(tmp_path_factory.mktemp("dying"), 3, 100.0, 40.0) as slurm:
        process = begun(slurm, folder)
        measured = Campaign(folder / "measure")
        until(lambda: measured.plan_file.exists() and len(measured.done().measured) > 5, lambda: said(folder))
        before = len(measured.done().measured)
        (name, *_) = slurm.ask("squeue", "-h", "-t", "R", "-o", "%B").split()
        next(node for node in slurm.network.nodes if node.name == name).power_off()
        # Of three nodes two are left, which go on by themselves.
        until(lambda: stage(folder) == "prove", lambda: said(folder))
        assert process.poll() is None
        process.kill()
        process.wait()
        process = begun(slurm, folder)
        until(lambda: process.poll() is not None or compared(folder), lambda: said(folder))
        assert process.poll() is None, said(folder)
        slurm.ask("scancel", "--user=root")
        assert process.wait(60) not in (0, 3, 5)
        earlier = compared(folder)
        assert begun(slurm, folder).wait(300) in (0, 3, 5)
    assert len(measured.done().measured) > before
    assert compared(folder) > earlier
    for results in (measured.results, *(folder / "compare").glob("*/results.jsonl")):
        records = [json.loads(line) for line in results.read_text().splitlines()]
        keys = [key_of(record) for record in records if "algorithm" in record and "again" not in record]
        assert len(set(keys)) == len(keys) > 0
    assert (folder / "bundle" / "README.md").exists()


def begun(slurm: Slurm, folder: Path) -> subprocess.Popen[bytes]:
    """Start the command, with the cluster's own before others on the PATH."""
    site = [word for name, value in ENVIRONMENT.items() for word in ("--env", f"{name}={value}")]
    words = ["tune", str(folder), "--slurm", "--nodes", "2", "--tasks-per-node", "2", *site, *GRID]
    path = f"{slurm.commands}{os.pathsep}{os.environ['PATH']}"
    with (folder.parent / "log.txt").open("ab") as log:
        command = [sys.executable, "-m", "dashboard.cli", *words]
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PATH": path}, stdout=log, stderr=log)


def stage(folder: Path) -> str:
    """The stage that is at work."""
    return str(json.loads((folder / "now.json").read_text())["stage"])


def compared(folder: Path) -> int:
    """Points that comparisons have measured."""
    return sum(len(Campaign(file.parent).done().measured) for file in (folder / "compare").glob("*/plan.json"))


def said(folder: Path) -> str:
    """What the command printed, and its stages."""
    return f"{(folder.parent / 'log.txt').read_text()}\n{Folder(folder).state()}"
