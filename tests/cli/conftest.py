"""What the tests of the command share."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from loaders import save_results
from tests.cubes import synthetic_cube


@pytest.fixture(scope="session")
def bcast_files(fast_ethernet_files: list[Path]) -> list[Path]:
    return [file for file in fast_ethernet_files if file.name.startswith("bcast__")]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collectives in one netCDF file, with missing cells; quick to open."""
    gaps = synthetic_cube(6, 9, 5, seed=1, missing=0.6)
    gaps["time"][:, 2, 3] = np.nan
    cubes = {"bcast": gaps, "reduce": synthetic_cube(6, 9, 5, seed=2).assign_attrs(collective="reduce")}
    return save_results(
        xr.DataTree.from_dict({f"/{name}": cube for name, cube in cubes.items()}),
        tmp_path_factory.mktemp("results") / "two.nc",
    )
