"""One small tuning on the real library, killed on its way: what is unsafe is excluded, and what is said is there."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dashboard import cli
from dashboard.benchmarks.campaigns.campaign import Campaign
from tests.conftest import ROOT, need

pytestmark = pytest.mark.slow

#: Collective of few methods, of which one gives wrong results in place (Open MPI from 5.0 on).
ASKED = ("-c", "allgather", "--ranks", "2", "--sizes", "64,4KiB,64KiB", "--budget", "5s", "--launches", "2", "--json")
PATIENCE_S = 90.0


def measured(folder: Path) -> int:
    return len(Campaign(folder / "measure").done().measured) if (folder / "measure" / "plan.json").exists() else 0


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, mpiexec: str) -> tuple[Path, int, int]:
    """A folder whose first ``colltune tune`` was killed while it measured: points until then, status of the second."""
    folder = tmp_path_factory.mktemp("tune") / "allgather"
    first = subprocess.Popen(
        [sys.executable, "-m", "dashboard.cli", "tune", str(folder), *ASKED],
        cwd=ROOT,
        env={**os.environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + PATIENCE_S
    while not measured(folder) and first.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    points = measured(folder)
    need(points, f"{mpiexec}: nothing was measured within {PATIENCE_S:g} s")
    return folder, points, cli.main(["tune", str(folder), "--json"])


def test_a_killed_tuning_goes_on_with_the_ranks_that_still_run(
    tuned: tuple[Path, int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, points, status = tuned
    state: dict[str, Any] = json.loads((folder / "state.json").read_text())["stages"]
    assert {stage["state"] for stage in state.values()} == {"done"}
    assert status in (0, 3, 5)
    assert state["measure"]["facts"]["measured"] >= points
    chosen = json.loads((folder / "measure" / "chosen.json").read_text())
    # How the expected loss has fallen is kept for who watches.
    spent = [after for after, _ in chosen["way"]]
    assert spent
    assert spent == sorted(spent)
    assert spent[-1] == pytest.approx(chosen["spent"], abs=0.01)
    # The ranks outlived the command that started them, so they were started once.
    assert Campaign(folder / "measure").state()["attempt"] == 1
    lines = [json.loads(line) for line in (folder / "measure" / "results.jsonl").read_text().splitlines()]
    # Readers of the file know that its sizes were chosen.
    assert lines[0]["attrs"]["points"] == "adaptive"
    first = [point for point in lines if "algorithm" in point and "again" not in point]
    keys = [(point["algorithm"], point["comm_size"], point["message_size"]) for point in first]
    assert len(set(keys)) == len(keys)


def test_what_is_unsafe_is_excluded_with_the_case(tuned: tuple[Path, int, int]) -> None:
    folder, *_ = tuned
    unsafe = json.loads((folder / "bundle" / "summary.json").read_text())["excluded"]
    methods = Campaign(folder / "measure").plan().methods["allgather"]
    if "sparbit" in {method.algorithm for method in methods}:
        assert any("sparbit" in case["method"] and "in place" in case["why"] for case in unsafe)
        assert "sparbit" in (folder / "bundle" / "README.md").read_text()


def test_again_nothing_is_measured(tuned: tuple[Path, int, int], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _, status = tuned
    results = folder / "measure" / "results.jsonl"
    before = results.stat().st_mtime_ns
    assert cli.main(["tune", str(folder), "--json"]) == status
    answer = json.loads(capsys.readouterr().out)
    assert [name for name, stage in answer["stages"].items() if stage["again"]] == ["look"]
    assert results.stat().st_mtime_ns == before
    # Where the machine is too busy for any decision there is nothing to report on.
    report = json.loads((folder / "bundle" / "summary.json").read_text())["report"]
    assert report == "report.html" or status == 5
    files = {"README.md", "summary.json", "bundle.zip", *filter(None, [report])}
    assert {Path(file).name for file in answer["files"]} >= files
