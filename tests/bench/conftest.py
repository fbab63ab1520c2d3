"""What the tests on a real MPI share."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.export.targets.mpich.base import embedded
from tests.bench.preloading import LACKING, Bench
from tests.conftest import need


@pytest.fixture(scope="session")
def installation(mpiexec: str) -> Installation:
    """Open MPI, which can be told the algorithms."""
    need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    mpi = library.find()
    need(isinstance(mpi.library, OpenMpi), f"{mpiexec} is not of Open MPI")
    return mpi


@pytest.fixture(scope="module")
def bench(mpiexec: str, gcc: str, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Builds programs with the compiler of Open MPI."""
    return Bench.of(Path(mpiexec), tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def program(bench: Bench) -> Path:
    """Calls all collectives, and knows nothing of colltune."""
    return bench.program("collectives")


@pytest.fixture(scope="session")
def mpirun_environment(installation: Installation) -> dict[str, str]:
    """Variables under which mpirun starts more ranks than there are cores, on this machine."""
    return {**os.environ, **installation.library.environment(here=True, graphs=False)}


@pytest.fixture(scope="session")
def counting(installation: Installation) -> None:
    """Skip where the library was built without counting messages, as wheels of 4.1 are."""
    need(getattr(installation.library, "monitors", False), LACKING)


@pytest.fixture(scope="session")
def sparbit(installation: Installation) -> None:
    """Skip where the library lacks the algorithm of 5.0 that is wrong in place."""
    if "sparbit" not in getattr(installation.library, "algorithms", {}).get("allgather", {}).values():
        pytest.skip(f"{installation.library.name} {installation.library.version} has no sparbit")


@pytest.fixture(scope="session")
def mpich(mpiexec: str) -> Path:
    """Start command of MPICH: ``$COLLTUNE_MPICH``, or that of this venv if it is MPICH's."""
    path = Path(os.environ.get("COLLTUNE_MPICH", mpiexec))
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if "HYDRA" not in version.stdout:
        pytest.skip(f"{path} is not MPICH's; COLLTUNE_MPICH=…/mpiexec names one with mpi4py beside it")
    return path


@pytest.fixture(scope="session")
def selection(mpich: Path) -> str:
    """What MPICH decides by, which its library holds."""
    return next(text for path in sorted((mpich.parent.parent / "lib").glob("libmpi.so*")) if (text := embedded(path)))
