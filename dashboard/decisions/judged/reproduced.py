"""Whether rules gain in use what they gained when they were decided, cell by cell.

What a machine does to all calls of a job alike drops out where a gain is compared instead of a time: that of the method
decided over the library's own decision, in the campaign that was decided from, and that of the rules over it, measured
through the file. Their difference is tested against what repetitions and launches differ by, corrected by Holm's
procedure.
"""

import math
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.judged.improvement import ALIKE, DEFAULT, Improvement, Launches, improvement
from dashboard.decisions.measured.noise import holm, joint_freedom, two_sided_p
from dashboard.domain.errors import DecisionError

Outcome = Literal["as decided", "faster", "slower", "not measured"]
COLUMNS = ("comm_size", "message_size", "method", "decided", "measured", "p", "outcome")


def reproduced(improvement: Improvement, decision: DecisionFunction, cube: xr.Dataset) -> pd.DataFrame:
    """Compare the gain of rules with that of the methods that they were decided for.

    Parameters
    ----------
    improvement
        Rules against the library's own decision, measured through the file.
    decision
        What the rules decide, with methods as the cube names them.
    cube
        Results that were decided from, with the library's own decision; where they do not tell what launches differ
        by they count as one of those of `improvement`.

    Returns
    -------
    DataFrame
        One row for each cell of `improvement` with `COLUMNS`: percent, ``p`` corrected, ``outcome`` by the
        level of `improvement`; ``not measured`` where the results lack the method or the library's own decision.
    """
    known: dict[str, Improvement | None] = {}
    rows: list[dict[str, Any]] = []
    for cell in _cells(improvement.cells):
        label = decision.methods[int(decision.predict([cell["comm_size"]], [cell["message_size"]])[0])].label
        if label not in known:
            known[label] = _against_default(cube, label, improvement)
        gain, error, freedom = _gain(known[label], label, cell)
        apart = cell["gain"] - gain
        errors = np.array([cell["error"], error])
        p = float(two_sided_p(np.asarray(apart), errors.sum(), joint_freedom(errors, [cell["freedom"], freedom])))
        sizes = {name: int(cell[name]) for name in COLUMNS[:2]}
        percent = [100 * (1 - math.exp(-value)) for value in (gain, cell["gain"])]
        row = {**sizes, "method": label, "decided": percent[0], "measured": percent[1], "p": p, "apart": apart}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=[*COLUMNS[:-1], "apart"])
    frame["p"] = holm(frame["p"].to_numpy(dtype=np.float64))
    frame["outcome"] = [
        _outcome(p, apart, improvement.level) for p, apart in zip(frame["p"], frame["apart"], strict=True)
    ]
    return frame[[*COLUMNS]]


def _cells(cells: xr.Dataset) -> list[dict[str, float]]:
    """Cells that were measured, as rows."""
    frame = cells[["gain", "error", "freedom"]].to_dataframe().reset_index().dropna(subset=["gain"])
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _against_default(cube: xr.Dataset, label: str, used: Improvement) -> Improvement | None:
    launches = Launches.of(cube)
    try:
        return improvement(
            cube,
            DEFAULT,
            label,
            level=used.level,
            between_launches=used.launches.single if launches is ALIKE else launches,
        )
    except DecisionError:
        return None


def _gain(decided: Improvement | None, label: str, cell: dict[str, float]) -> tuple[float, float, float]:
    """Logarithm of the gain that was decided for at a cell, its variance and degrees of freedom; NaN without."""
    if label == DEFAULT:
        return 0.0, 0.0, math.inf
    sizes = {name: int(cell[name]) for name in COLUMNS[:2]}
    if decided is None or any(value not in decided.cells[name].values for name, value in sizes.items()):
        return math.nan, math.nan, math.nan
    there = decided.cells.sel(sizes)
    return float(there["gain"]), float(there["error"]), float(there["freedom"])


def _outcome(p: float, apart: float, level: float) -> Outcome:
    if math.isnan(p):
        return "not measured"
    if p > level:
        return "as decided"
    return "faster" if apart > 0 else "slower"
