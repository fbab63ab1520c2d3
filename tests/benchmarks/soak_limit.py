"""Slurm's own time limit, for a job whose supervisor does not hold its own: takes up to two minutes.

Run from the checkout as root, with an Open MPI in the environment: ``python -m tests.benchmarks.soak_limit``
"""

import os
import random
import signal
import tempfile
import time
from pathlib import Path

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import ENDED
from dashboard.benchmarks.launchers import processes
from dashboard.benchmarks.launchers.slurm import SlurmLauncher
from dashboard.benchmarks.libraries import library
from tests.benchmarks.soak_kills import Soak, quick_campaign
from tests.cluster.conftest import asked
from tests.cluster.scheduler import emulated

_LIMIT_S = 55.0
_PATIENCE_S = 150.0


def main() -> None:
    """Stop the supervisor, and wait until Slurm ends the job."""
    installation = library.find()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cluster").mkdir()
        with emulated(folder / "cluster", 2) as cluster:
            os.environ["PATH"] = f"{cluster.commands}{os.pathsep}{os.environ['PATH']}"
            launcher = SlurmLauncher(asked(2), str(installation.mpiexec))
            campaign = quick_campaign(folder / "campaign", installation, 20_000)
            soak = Soak(campaign, launcher, installation, random.Random(1), cluster)
            control.start(campaign, launcher, installation, _LIMIT_S)
            while not campaign.done().measured:
                time.sleep(0.1)
            processes.send(soak.pids("supervisor"), signal.SIGSTOP)
            job, begin = control.status(campaign)["jobs"][0]["id"], time.monotonic()
            while (now := control.status(campaign))["state"] not in ENDED:
                assert time.monotonic() - begin < _PATIENCE_S, now
                time.sleep(0.2)
            print(cluster.ask("scontrol", "-o", "show", "job", job))
    assert now["state"] == "timed out", now
    assert now["reason"].startswith("ended by Slurm at its time limit"), now
    print(f"{now['reason']}: seen after {time.monotonic() - begin:.0f} s; {now['measured']} points are there")


if __name__ == "__main__":
    main()
