"""What programs call: calls, time and sizes by collective, from their traces; and what their methods lose on it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.benchmarks.libraries.methods import Method
from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.measured.map import select_ppn
from dashboard.decisions.measured.workload import weights_for
from dashboard.domain.errors import DecisionError
from dashboard.online.errors import OnlineError
from dashboard.online.noted import counted, not_noted, why_none
from loaders import LoadError
from loaders.online import run_of, siblings
from loaders.source import Source

DEFAULT = "default"
SIZES = ["collective", "comm_size", "message_size", "ppn"]


class Traced(NamedTuple):
    """What traces tell."""

    #: All of them, as `loaders.online.run_of` gives them, with ``run`` and ``method``.
    calls: pd.DataFrame
    #: Of each run its ``ranks``, and how many of their traces are ``missing``, ``damaged`` and ``empty``.
    ranks: list[dict[str, Any]]
    #: Collectives whose calls are traced, and in how many of the runs; others and nonblocking calls are not.
    watched: Counter[str]
    #: What cannot be used and why, by file.
    notes: dict[str, str]


def calls_of(folders: Sequence[Path]) -> Traced:
    """All calls in folders of traces, or of online tunings.

    Raises
    ------
    OnlineError
        None can be used.
    """
    parts, ranks, watched, notes = [], [], Counter[str](), {}
    for first in _firsts(folders):
        source = Source(first)
        try:
            header, calls = run_of(source)
            run = str(header["run"])
            reasons = [not_noted(source, run), *counted(source)] if len(calls) else [why_none(source, header)]
            watched.update(header["methods"].keys())
            parts.append(calls.assign(run=run, method=_labels(calls, header["methods"])))
            ranks.append({"run": run, "ranks": header["ranks"], **header["unusable"]})
        except LoadError as error:
            reasons = [str(error), *counted(source)]
        if said := "; ".join([*source.warnings, *filter(None, reasons)]):
            notes[str(first)] = said
    if not parts:
        reason = "; ".join(notes.values()) or f"there are none in {', '.join(map(str, folders))}"
        raise OnlineError(f"no trace can be used: {reason}")
    return Traced(pd.concat(parts, ignore_index=True), ranks, watched, notes)


def _firsts(folders: Iterable[Path]) -> Iterator[Path]:
    """The first file of each run."""
    for folder in folders:
        place = folder / "traces" if (folder / "loop.json").exists() else folder
        yield from sorted({siblings(file)[0] for file in (place.glob("*.trace") if place.is_dir() else [place])})


def _labels(calls: pd.DataFrame, methods: Mapping[str, Any]) -> list[str]:
    """The method of each call; `DEFAULT` is the library's own decision."""
    labels = {name: [DEFAULT, *(Method.from_json(each).label for each in listed)] for name, listed in methods.items()}
    return [labels[name][alg] for name, alg in zip(calls["collective"], calls["alg"], strict=True)]


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


class Loss(NamedTuple):
    """What calls take by the methods that the programs took, and by the best method at their sizes, as measured."""

    #: Of the calls: those whose method was measured at their sizes, or at the nearest ones.
    judged: float
    #: Seconds of these calls together.
    present: float
    best: float

    @property
    def percent(self) -> float:
        """What the present decision costs above the best; NaN where no call is judged."""
        return 100 * (self.present / self.best - 1) if self.best else np.nan


def losses(calls: pd.DataFrame, cubes: Mapping[str, xr.Dataset], ppn: int | None = None) -> dict[str, Loss]:
    """What programs lose by the methods that they took.

    Parameters
    ----------
    calls
        As `calls_of` gives them.
    cubes
        Results by collective; sizes that were not measured count at the nearest.
    ppn
        As for `dashboard.decisions.measured.map.select_ppn`; calls of another number are not judged.

    Returns
    -------
    dict
        By collective, of those that were called and measured.
    """
    counted = calls.groupby([*SIZES, "method"]).size().rename("calls").reset_index()
    lost = {}
    for name, cube in cubes.items():
        time = select_ppn(cube, ppn)[0]["time"].transpose("method", COMM_SIZE, MESSAGE_SIZE)
        sums = np.zeros(3)
        for method, workload in counted[counted["collective"] == name].groupby("method"):
            if str(method) in time["method"].values.astype(str):
                present, best = time.sel({"method": str(method)}).values, np.fmin.reduce(time.values)
                weight = np.where(np.isfinite(present), _cells(workload, cube, name, ppn), 0.0)
                sums += [np.nansum(weight * each) for each in (np.ones_like(best), present, best)]
        if sums.any():
            lost[name] = Loss(*map(float, sums))
    return lost


def _cells(workload: pd.DataFrame, cube: xr.Dataset, name: str, ppn: int | None) -> Any:
    """Calls of each cell; none where all are of other processes per node."""
    try:
        return weights_for(workload, cube, name, ppn=ppn).values
    except DecisionError:
        return 0.0
