"""10⁸ raw samples in one netCDF file reduced to a decision map (aim: under 4 GB); more in a Zarr store, out of core.

``python -m tests.benchmarks.bench_memory --zarr 1 3 10`` takes that many times 10⁸ samples from a Zarr store: under
8 GB, and the time for each 10⁸ stays as it is.
"""

import argparse
import tempfile
from pathlib import Path

import dask.array
import numpy as np
import xarray as xr

from tests.benchmarks.measure import peak_memory

_WORK = """
def setup():
    import dask.array, h5netcdf, zarr
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


def samples(times: int) -> xr.DataTree:
    """So many times 10⁸ repetitions of the same 10⁶ cells, made as they are written."""
    shape = (20, 50, 1000, 100 * times)
    drawn = dask.array.random.default_rng(0).random(shape, chunks=(2, 50, max(1, 1000 // times), 100 * times))
    cube = xr.Dataset(
        {"sample": (("method", "comm_size", "message_size", "repetition"), drawn * 1e-3 + 1e-6, {"units": "s"})},
        {"method": [f"m{i}" for i in range(20)], "comm_size": np.arange(2, 52), "message_size": np.arange(1, 1001)},
    )
    return xr.DataTree.from_dict({"/bcast": cube})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--zarr", type=int, nargs="+", metavar="TIMES")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for times in asked.zarr or (1,):
            path, limit = Path(folder) / f"{times}.{'zarr' if asked.zarr else 'nc'}", 8 if asked.zarr else 4
            tree = samples(times)
            if asked.zarr:
                tree.to_zarr(path, zarr_format=2)
            else:
                tree.to_netcdf(path, engine="h5netcdf")
            figures = peak_memory(_WORK, str(path))
            peak = figures["peak"] / 1e9
            print(f"{times * 1e8:.0e} samples in {path.name}: {figures['cells']} cells decided")
            print(
                f"  {figures['seconds'] / times:.1f} s for each 10⁸, "
                f"peak {peak:.2f} GB = {peak / limit:.2f} of {limit} GB"
            )


if __name__ == "__main__":
    main()
