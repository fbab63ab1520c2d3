"""Processors and memory are those that control groups leave, of either version, by the files of Linux 6."""

import os
from pathlib import Path

import pytest

from dashboard.benchmarks import allowed
from dashboard.benchmarks.libraries.own_settings import default_ranks

#: Of a systemd service, and of a Slurm job on a system of version 1.
ONE_TREE = "0::/system.slice/job.service\n"
TREES = "9:name=systemd:/job\n4:memory:/slurm/job_7/step_0\n2:cpu,cpuacct:/slurm/job_7\n0::/\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 8 processors and 16 GiB, and where its control groups' files are."""
    monkeypatch.setattr(allowed, "_OWN", tmp_path / "cgroup")
    monkeypatch.setattr(allowed, "_ALL", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(8)))
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 22}.__getitem__)
    return tmp_path


@pytest.mark.parametrize(
    ("own", "limits", "processors", "gib"),
    [
        ("", {}, 8, 16),
        (ONE_TREE, {"system.slice/job.service/memory.max": "max", "memory.max": "max"}, 8, 16),
        (ONE_TREE, {"system.slice/job.service/memory.max": str(4 << 30)}, 8, 4),
        (ONE_TREE, {"system.slice/job.service/memory.max": "max", "system.slice/memory.max": str(2 << 30)}, 8, 2),
        (ONE_TREE, {"system.slice/cpu.max": "150000 100000", "cpu.max": "max 100000"}, 2, 16),
        (ONE_TREE, {"system.slice/job.service/cpu.max": "6400000 100000"}, 8, 16),
        # A container sees its own groups as the root.
        (TREES, {"memory/memory.limit_in_bytes": str(1 << 30)}, 8, 1),
        (TREES, {"memory/slurm/job_7/memory.limit_in_bytes": str(3 << 30)}, 8, 3),
        (TREES, {"memory/slurm/memory.limit_in_bytes": "9223372036854771712"}, 8, 16),
        (TREES, {"cpu/slurm/job_7/cpu.cfs_quota_us": "300000", "cpu/slurm/job_7/cpu.cfs_period_us": "100000"}, 3, 16),
        (TREES, {"cpu/slurm/cpu.cfs_quota_us": "-1", "cpu/slurm/cpu.cfs_period_us": "100000"}, 8, 16),
    ],
)
def test_the_least_of_the_groups_around_a_process_holds(
    files: Path, own: str, limits: dict[str, str], processors: int, gib: int
) -> None:
    (files / "cgroup").write_text(own)
    for name, text in limits.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text + "\n")
    assert (allowed.processors(), allowed.memory()) == (processors, gib << 30)
    assert default_ranks() <= max(2, processors)


@pytest.mark.usefixtures("files")
def test_where_there_is_no_affinity_the_machine_s_processors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert allowed.processors() == default_ranks() == 6
