"""What the tests on a real MPI share."""

from __future__ import annotations

import importlib.util

import pytest

from dashboard.benchmarks import library
from dashboard.benchmarks.library import Installation
from dashboard.benchmarks.openmpi import OpenMpi
from tests.conftest import need


@pytest.fixture(scope="session")
def installation(mpiexec: str) -> Installation:
    """Open MPI, which can be told the algorithms."""
    need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    found = library.find()
    need(isinstance(found.library, OpenMpi), f"{mpiexec} is not of Open MPI")
    return found
