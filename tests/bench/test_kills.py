"""A campaign whose parts are killed at random moments: the ordinary dose of ``tests/benchmarks/soak_kills.py``."""

import importlib.util
import random
from pathlib import Path

import pytest

from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from tests.benchmarks.soak_kills import Soak, quick_campaign
from tests.conftest import need


@pytest.mark.soak
def test_killed_at_random_nothing_is_lost_and_nothing_measured_twice(mpiexec: str, tmp_path: Path) -> None:
    need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    installation = library.find()
    need(isinstance(installation.library, OpenMpi), f"{mpiexec} is not of Open MPI")
    campaign = quick_campaign(tmp_path, installation, 60)
    soak = Soak(campaign, LocalLauncher((str(installation.mpiexec),)), installation, random.Random(7))
    for victim in ("worker", "supervisor"):
        soak.kill(victim, late=True)
    soak.finish()
    assert sum(soak.counted.values()) >= 1
