"""A launcher whose jobs are in the state that the test says, and a library that is not there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import follow
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import LAUNCHERS
from dashboard.benchmarks.launchers.launch import Job, Status
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.measuring.launching import Place, Surroundings
from loaders import RunWriter

LIBRARY = OpenMpi(
    "5.0.11",
    {"bcast": {1: "basic_linear", 6: "binomial"}, "reduce": {5: "binomial"}},
    {"coll_tuned_priority": 30, "coll_tuned_bcast_algorithm": 0, "coll_tuned_reduce_algorithm": 0},
)
HERE = Surroundings(Installation(Path("/nowhere/mpiexec"), LIBRARY), "", "no Slurm here: sbatch not on the PATH")


@dataclass
class Played:
    """Plays Slurm, or whatever runs jobs; what was launched is `launched` until the test says something else."""

    now: Status = field(default_factory=lambda: Status("running"))
    jobs: list[Job] = field(default_factory=list)
    refuses: str = ""
    launched: Status = field(default_factory=lambda: Status("queued", "waits for resources (Resources)"))
    name: str = "played"
    array: int = 0
    ppn: int | None = None
    here: bool = True

    def record(self) -> dict[str, Any]:
        return {"name": self.name}

    def limit(self, seconds: float) -> float:
        return seconds

    def nodes(self, ranks: int) -> int | None:
        return 1

    def prepare(self, jobs: Sequence[Job]) -> dict[str, Any]:
        self.jobs += jobs
        return {"number": len(self.jobs)}

    def preview(self, jobs: Sequence[Job]) -> str:
        return "\n".join(f"run {job.ranks} ranks in {job.folder} <b>" for job in jobs)

    def launch(self, handle: Mapping[str, Any]) -> None:
        if self.refuses:
            raise CampaignError(self.refuses)
        self.now = self.launched

    def status(self, handle: Mapping[str, Any]) -> Status:
        return self.now

    def cancel(self, handle: Mapping[str, Any]) -> Status:
        self.now = Status("cancelled", "cancelled")
        return self.now


def start_all_by(monkeypatch: pytest.MonkeyPatch, launcher: Played) -> None:
    """Have one launcher be the one that campaigns were started with, or would be."""
    monkeypatch.setattr(Played, "from_record", lambda record: launcher, raising=False)
    for name in (launcher.name, "local"):
        monkeypatch.setitem(LAUNCHERS, name, f"{__name__}:Played")


def play(monkeypatch: pytest.MonkeyPatch, root: Path) -> Played:
    """Have every campaign launched by one launcher, kept below `root`."""
    launcher = Played()
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(root))
    monkeypatch.setattr(Place, "launcher", lambda self, installation: launcher)
    start_all_by(monkeypatch, launcher)
    monkeypatch.setattr(follow, "_FRESH_S", 0.0)
    return launcher


def measured(campaign: Campaign, algorithm: str, *message_sizes: int, error: str = "", comm_size: int = 2) -> None:
    """Have points measured, the larger the slower, or refused."""
    with RunWriter(campaign.results, {}) as writer:
        for size in message_sizes:
            point = {"collective": "bcast", "algorithm": algorithm, "segment_size": 0, "comm_size": comm_size}
            point |= {"message_size": size, "library_id": {"default": 0, "basic_linear": 1}.get(algorithm, 6)}
            slower = {"default": 3e-6, "basic_linear": 2e-6}.get(algorithm, 1e-6)
            writer.append({**point, "error": error} if error else {**point, "samples": [size * slower] * 3})
