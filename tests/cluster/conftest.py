"""An emulated cluster with a real Slurm for the tests that need one, and campaigns on it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import ENDED, Campaign
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.launchers import slurm as launcher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.measuring import launching
from tests.bench import conftest as bench
from tests.cluster import machines, scheduler
from tests.conftest import need, until

NODES = 4
PATIENCE_S = 60.0
#: The same Open MPI as without a cluster.
installation = bench.installation
mpirun_environment = bench.mpirun_environment


@pytest.fixture(scope="session")
def can_emulate(installation: Installation) -> None:
    """Skip, or fail in CI, where no cluster can be emulated."""
    why = machines.missing() or scheduler.missing()
    need(not why, why)


@pytest.fixture(scope="session")
def cluster(can_emulate: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[scheduler.Slurm]:
    """Slurm on four nodes, for tests that leave it as it was."""
    with scheduler.emulated(tmp_path_factory.mktemp("cluster"), NODES) as slurm:
        yield slurm


@pytest.fixture
def own_cluster(
    can_emulate: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[scheduler.Slurm]:
    """Slurm on two nodes that this test may break."""
    # Slurm's sockets lie in it, whose names have room for some 100 signs: not in the folder named after the test.
    with scheduler.emulated(tmp_path_factory.mktemp("own"), 2) as slurm:
        monkeypatch.setenv("PATH", str(slurm.commands), prepend=os.pathsep)
        yield slurm


@pytest.fixture
def slurm(cluster: scheduler.Slurm, monkeypatch: pytest.MonkeyPatch) -> scheduler.Slurm:
    """The cluster of all tests, with its commands first on the PATH, and nothing known of what was there before."""
    monkeypatch.setenv("PATH", str(cluster.commands), prepend=os.pathsep)
    monkeypatch.setattr(launching, "_FOUND", type(launching._FOUND)(1, 1 << 20))
    return cluster


def asked(nodes: int, **request: Any) -> launcher.Request:
    """Request one rank on each of some nodes."""
    return launcher.Request(nodes=nodes, tasks_per_node=1, environment=scheduler.ENVIRONMENT, **request)


class Running:
    """A campaign that was submitted."""

    def __init__(self, folder: Path, installation: Installation, wish: dict[str, Any], **request: Any) -> None:
        quick = Protocol(min_repetitions=3, max_repetitions=5, warm_up=1, seconds=1.0)
        ranks = request.pop("ranks", 2)
        given = {"ranks": ranks, "protocol": quick, "comm_sizes": (ranks,), "message_sizes": (1024,)}
        given |= {"collectives": ("bcast",), "algorithms": ("basic_linear", "binomial"), "checked": False}
        self.installation = installation
        self.seconds = request.pop("seconds", PATIENCE_S)
        self.launcher = launcher.SlurmLauncher(asked(ranks, **request), str(installation.mpiexec))
        self.campaign = Campaign.create(folder, make_plan(Wish(**{**given, **wish}), installation))

    def submit(self) -> dict[str, Any]:
        return control.start(self.campaign, self.launcher, self.installation, self.seconds)

    def status(self) -> dict[str, Any]:
        return control.status(self.campaign)

    def job(self) -> str:
        return str(self.status()["jobs"][0]["id"])

    def measures(self) -> None:
        """Wait until it has measured something."""
        until(lambda: self.campaign.done().measured or self.status()["state"] in ENDED, self.status)
        assert self.campaign.done().measured, (self.status(), self.campaign.tail())

    def end(self) -> dict[str, Any]:
        """Wait until it has ended."""
        return until(lambda: (now := self.status())["state"] in ENDED and now, self.status)


@pytest.fixture
def submitted(installation: Installation, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Give ``submitted(name, wish, ranks=…, seconds=…, **request)``: a campaign that was handed to Slurm."""
    made: list[Running] = []

    def submit(name: str = "campaign", wish: dict[str, Any] | None = None, **request: Any) -> Running:
        made.append(Running(tmp_path / name, installation, wish or {}, **request))
        made[-1].submit()
        return made[-1]

    yield submit
    for running in made:
        if running.status()["state"] in ("queued", "running"):
            control.cancel(running.campaign)
