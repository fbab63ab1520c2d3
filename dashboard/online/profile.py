"""What programs call: calls, time and sizes by collective, from their traces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from dashboard.online.errors import OnlineError
from loaders import LoadError
from loaders.online import run_of, siblings
from loaders.source import Source

SIZES = ["collective", "comm_size", "message_size", "ppn"]


def calls_of(folders: Iterable[Path]) -> tuple[pd.DataFrame, dict[str, str]]:
    """All calls in folders of traces, with ``run``, and the files that cannot be used with the reason.

    Raises
    ------
    OnlineError
        None can be used.
    """
    parts, skipped = [], {}
    for folder in folders:
        firsts = {siblings(file)[0] for file in (folder.glob("*.trace") if folder.is_dir() else [folder])}
        for first in sorted(firsts):
            source = Source(first)
            try:
                header, calls = run_of(source)
                parts.append(calls.assign(run=str(header["run"])))
            except LoadError as error:
                skipped[str(first)] = str(error)
            if source.skipped:
                skipped[str(first)] = "; ".join(f"{count} {reason}" for reason, count in source.reasons.items())
    if not parts:
        reasons = "; ".join(skipped.values()) or "there are none"
        raise OnlineError(f"no trace can be used: {reasons}")
    return pd.concat(parts, ignore_index=True), skipped


def by_collective(calls: pd.DataFrame) -> pd.DataFrame:
    """``collective, calls, time`` (seconds, summed), both in percent of all, and ``sizes``, how many there are."""
    grouped = calls.groupby("collective", sort=True)
    made = grouped.agg(calls=("time", "size"), time=("time", "sum"), sizes=("message_size", "nunique")).reset_index()
    made["calls_percent"] = 100 * made["calls"] / made["calls"].sum()
    made["time_percent"] = 100 * made["time"] / made["time"].sum()
    return made.sort_values("time", ascending=False, ignore_index=True)


def by_size(calls: pd.DataFrame) -> pd.DataFrame:
    """A workload as ``--weights`` takes it, `SIZES` and ``calls``, with ``time`` (seconds, summed)."""
    return calls.groupby(SIZES, sort=True).agg(calls=("time", "size"), time=("time", "sum")).reset_index()


def workload_text(calls: pd.DataFrame) -> str:
    """The workload as a table of text, which `loaders.workload` reads."""
    return str(by_size(calls)[[*SIZES, "calls"]].to_csv(index=False))
