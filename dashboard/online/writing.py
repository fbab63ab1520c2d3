"""Traces written in Python, as the preloaded library writes them; the form is told in `loaders.online`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.online.table import AlgTable
from loaders import disk
from loaders.online import ALIGNED, RECORD, totals_of


def claim(folder: Path, run: str) -> str:
    """The first free name of a program that a run starts, which is taken by it; the run's where none can be written."""
    name, number = run, 1
    while True:
        try:
            (folder / f"{name}.0.trace").touch(exist_ok=False)
        except FileExistsError:
            number += 1
            name = f"{run}.{number}"
        except OSError:
            return name
        else:
            return name


def head(run: str, table: AlgTable, **facts: Any) -> bytes:
    """Header of a trace; `facts` has ``rank``, ``ranks``, ``mode`` and the like."""
    known = {"colltune_trace": 1, "run": run, **facts, "library": table.library, "library_version": table.version}
    text = json.dumps({**known, "table": table.digest, "methods": table.listed}).encode()
    return text + b" " * (-(len(text) + 1) % ALIGNED) + b"\n"


def write_trace(folder: Path, run: str, timings: pd.DataFrame, table: AlgTable, mode: str = "tuning") -> None:
    """Write what a run's calls took as the trace of one process, and that the run has ended.

    Parameters
    ----------
    timings
        ``collective, alg, message_size, nodes, ppn, time`` (seconds), one row a call; with ``comm_size`` where nodes
        are not full.
    mode
        As of `dashboard.online.runs.Run`.
    """
    records = np.zeros(len(timings), dtype=RECORD)
    records["end"] = np.cumsum(timings["time"].to_numpy())
    records["start"] = records["end"] - timings["time"].to_numpy()
    records["comm"], records["call"] = 1, np.arange(len(timings))
    full = timings["nodes"] * timings["ppn"]
    for name in ("message_size", "nodes", "ppn", "alg"):
        records[name] = timings[name].to_numpy()
    records["comm_size"] = timings.get("comm_size", full).to_numpy()
    places = {name: place for place, name in enumerate(table.collectives)}
    records["collective"] = timings["collective"].map(places).to_numpy()
    facts = {"rank": 0, "ranks": int(records["comm_size"].max()), "mode": mode, "simulated": True}
    disk.write_bytes(folder / f"{run}.0.trace", head(run, table, **facts) + records.tobytes())
    disk.write_text(totals_of(folder, run), json.dumps({"run": run, "simulated": True}) + "\n")
