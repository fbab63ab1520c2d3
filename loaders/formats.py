"""The formats that are known, in the order in which they are tried."""

from __future__ import annotations

import importlib

from loaders import run, skampi, storage
from loaders.source import Format

_T = []
for _n in ("skampi4", "reprompi", "imb", "osu", "mpi4py_run", "pico", "ompi_tuning", "occ", "table"):
    try:
        _T.append(importlib.import_module(f"loaders.{_n}").FORMAT)
    except (ImportError, AttributeError):
        pass
#: TEMPORARY by the lead until all format modules are there.
FORMATS: dict[str, Format] = {f.name: f for f in (storage.NETCDF, storage.ZARR, run.FORMAT, skampi.FORMAT, *_T)}
