"""Traces as programs leave them, written for tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.online.table import AlgTable
from dashboard.online.writing import head
from loaders.online import RECORD, totals_of


def records(calls: Sequence[dict[str, Any]]) -> bytes:
    """Records of calls; what is not said is usual."""
    made = np.zeros(len(calls), dtype=RECORD)
    for number, call in enumerate(calls):
        usual = {"start": 1.0, "end": 1.5, "message_size": 64, "comm": 7, "call": number, "alg": 1}
        for name, value in {**usual, "comm_size": 4, "nodes": 2, "ppn": 2, **call}.items():
            made[name][number] = value
    return made.tobytes()


def write_trace(
    folder: Path, run: str, rank: int, calls: Sequence[dict[str, Any]], table: AlgTable, **header: Any
) -> Path:
    """One process's file."""
    file = folder / f"{run}.{rank}.trace"
    file.write_bytes(head(run, table, rank=rank, ranks=2, mode="tuning", **header) + records(calls))
    return file


def write_run(folder: Path, run: str, calls: Sequence[dict[str, Any]], table: AlgTable, *, ended: bool = True) -> None:
    """A run of two processes that both tell the same."""
    for rank in range(2):
        write_trace(folder, run, rank, calls, table)
    if ended:
        totals_of(folder, run).write_text("{}", encoding="ascii")
