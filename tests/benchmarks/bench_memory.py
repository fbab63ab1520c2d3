"""10⁸ raw samples in one netCDF file reduced to a decision map; aim: under 4 GB."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dask.array
import numpy as np
import xarray as xr

from tests.benchmarks.measure import peak_memory

_WORK = """
def setup():
    import dask.array, h5netcdf
    from loaders import open_results
    from dashboard.decisions import decision_map
def work(path):
    import time
    from loaders import open_results
    from dashboard.decisions import decision_map
    start = time.perf_counter()
    results = open_results(path)
    best = decision_map(results["bcast"].to_dataset())["best"].values
    return {"seconds": time.perf_counter() - start, "cells": best.size, "methods": len(set(best.ravel().tolist()))}
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.nc"
        samples = dask.array.random.default_rng(0).random((20, 50, 1000, 100), chunks=(2, 50, 1000, 100)) * 1e-3 + 1e-6
        cube = xr.Dataset(
            {"sample": (("method", "comm_size", "message_size", "repetition"), samples, {"units": "s"})},
            {
                "method": [f"m{i}" for i in range(20)],
                "comm_size": np.arange(2, 52),
                "message_size": np.arange(1, 1001),
            },
        )
        xr.DataTree.from_dict({"/bcast": cube}).to_netcdf(path, engine="h5netcdf")
        got = peak_memory(_WORK, str(path))
        size, peak = path.stat().st_size / 1e9, got["peak"] / 1e9
        print(f"{samples.size:.0e} samples, {size:.2f} GB on disk: {got['cells']} cells decided")
        print(f"  {got['seconds']:.1f} s, peak {peak:.2f} GB = {peak / 4:.2f} of the limit (4 GB)")


if __name__ == "__main__":
    main()
