"""Times that cannot be right: those of late starts, of launches that disagree, that fall with the size, that scatter.

A job on a machine that is busy with something else records times like any other: an allreduce of 8 B at 8 ms beside
one of 256 KiB at 48 µs, with a spread so small that a test is certain. `doubtful` finds such cells and says why; those
of colltune's campaigns decide nothing unless asked (`without_doubtful`), those of other benchmarks are only told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.measured.map import DIMS, check_cube, each_ppn, time_blocks
from dashboard.decisions.measured.outliers import COLUMNS, without_outliers
from dashboard.decisions.measured.samples import has_samples, sample_blocks
from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_count
from loaders.facet_names import DOUBTFUL, listed

LEFT_OUT = "doubtful_note"
"""Of a cube without them: what is gone, in words."""
FALLS = 5.0
"""A time is doubtful when it is more than so many times that of a larger message."""
SCATTERS = 4.0
"""So is one when fewer than half of its repetitions are within this factor of it."""
_OWN = "colltune bench"
_FEWEST = 5
_NAMED = 3


def doubtful(cube: xr.Dataset) -> pd.DataFrame:
    """Find the cells whose times cannot be trusted.

    Parameters
    ----------
    cube
        Results of one collective; with ``ppn`` each number of it by itself.

    Returns
    -------
    DataFrame
        One row for each, with the columns of `dashboard.decisions.measured.outliers.outliers` (``kind`` is ``cell``);
        ``expected`` and ``ratio`` are NaN where nothing else is known. ``attrs["note"]`` says what was looked for.
    """
    rows: list[dict[str, Any]] = []
    for flat, ppn in each_ppn(check_cube(cube)):
        rows += _as_told(flat, ppn)
        rows += _falling(flat, ppn)
        rows += _scattered(flat, ppn) if has_samples(flat) else []
    names = [*COLUMNS[:4], *(["ppn"] if "ppn" in cube.dims else []), *COLUMNS[4:]]
    places = [name for name in (*DIMS, "ppn") if name in names]
    table = pd.DataFrame(rows, columns=names).drop_duplicates(places, ignore_index=True)
    table.attrs["note"] = (
        f"late starts, launches that disagree, times above {FALLS:g} times those of larger messages, repetitions of "
        f"which fewer than half are within a factor {SCATTERS:g} of their median"
    )
    return table


def is_own(cube: xr.Dataset) -> bool:
    """Whether results are of a campaign of colltune, which can measure again what is doubtful."""
    return str(cube.attrs.get("benchmark", "")).startswith(_OWN)


def without_doubtful(cube: xr.Dataset) -> xr.Dataset:
    """Leave doubtful cells out of results of colltune's own campaigns.

    Returns
    -------
    xarray.Dataset
        The cube; where some are gone ``attrs["doubtful_note"]`` says which.
    """
    if not is_own(cube):
        return cube
    table = doubtful(cube)
    return without_outliers(cube, table).assign_attrs({LEFT_OUT: words(table)}) if len(table) else cube


def words(table: pd.DataFrame) -> str:
    """Say what is doubtful: how many cells, and the first of them."""
    shown = first_words(
        f"{row['method']}, {row[COMM_SIZE]} processes{_at(row)}, {row[MESSAGE_SIZE]} B: {row['reason']}"
        for row in table.head(_NAMED + 1).to_dict("records")
    )
    return f"{format_count(len(table), 'time')} that cannot be trusted ({shown})"


def _at(row: Mapping[Any, Any]) -> str:
    return f", {row['ppn']} per node" if "ppn" in row else ""


def at_ppn(table: pd.DataFrame, ppn: int | None) -> pd.DataFrame:
    """Those at some processes per node; all where they are not told, or none are asked for."""
    return table if ppn is None or "ppn" not in table else table[table["ppn"] == ppn]


def by_cell(table: pd.DataFrame, dmap: xr.Dataset) -> npt.NDArray[np.str_] | None:
    """What is doubtful in each cell ``(comm_size, message_size)`` of a decision map; None where nothing is."""
    table = at_ppn(table, dmap.attrs.get("ppn"))
    if table.empty:
        return None
    rows = table.assign(words=[f"{row['method']}: {row['reason']}" for row in table.to_dict("records")])
    reasons = rows.pivot_table("words", COMM_SIZE, MESSAGE_SIZE, aggfunc=first_words).fillna("")
    reasons = reasons.reindex(index=dmap[COMM_SIZE].values, columns=dmap[MESSAGE_SIZE].values, fill_value="")
    return reasons.to_numpy(dtype=np.str_)


def first_words(reasons: Iterable[str]) -> str:
    """The first of some reasons, in one line."""
    words = list(reasons)
    return "; ".join([*words[:_NAMED], *(["…"] if len(words) > _NAMED else [])])


def _row(
    cube: xr.Dataset, place: Sequence[int], ppn: int | None, time: float, expected: float, reason: str
) -> dict[str, Any]:
    """A row of a table, of the cell at a place along `DIMS`."""
    method, *sizes = (cube[name].values[at] for name, at in zip(DIMS, place, strict=True))
    row = {"kind": "cell", **dict(zip(DIMS, (str(method), *map(int, sizes)), strict=True))}
    row |= {"repetition": -1, "time": time, "expected": expected}
    return {**row, "ratio": time / expected, "reason": reason, **({} if ppn is None else {"ppn": ppn})}


def _as_told(cube: xr.Dataset, ppn: int | None) -> Iterator[dict[str, Any]]:
    """What the loader saw."""
    sizes = [{value: number for number, value in enumerate(cube[name].values.tolist())} for name in DIMS]
    for record in listed(cube.attrs, DOUBTFUL):
        there = [places.get(record[name], -1) for places, name in zip(sizes, DIMS, strict=True)]
        if record["collective"] != cube.attrs.get("collective") or -1 in there or record.get("ppn", ppn) != ppn:
            continue
        time = float(cube["time"].isel(dict(zip(DIMS, there, strict=True))))
        if np.isfinite(time):
            yield _row(cube, there, ppn, time, np.nan, str(record["reason"]))


def _falling(cube: xr.Dataset, ppn: int | None) -> Iterator[dict[str, Any]]:
    """Cells that must go so that no time is far above that of a larger message; of each line as few as can be."""
    order = np.argsort(cube[MESSAGE_SIZE].values)
    for rows, block in time_blocks(cube):
        time = block[..., order]
        later = np.fmin.accumulate(time[..., ::-1], axis=-1)[..., ::-1]
        with np.errstate(invalid="ignore"):
            lines = np.argwhere((time > FALLS * later).any(axis=-1))
        for method, comm in lines.tolist():
            line = time[method, comm]
            for place, expected in _fewest(line):
                longer = "longer" if line[place] > expected else "shorter"
                against = "larger" if longer == "longer" else "smaller"
                reason = f"{longer} than messages that are {against}: by far"
                at = method, rows.start + comm, order[place]
                yield _row(cube, at, ppn, float(line[place]), float(expected), reason)


def _fewest(line: FloatArray) -> list[tuple[int, float]]:
    """Places of a line to leave out, with a time of those that are left: always what contradicts most of the others."""
    left, gone = line.copy(), []
    while True:
        with np.errstate(invalid="ignore"):
            above = np.triu(left[:, None] > FALLS * left[None, :], 1)
        against = above.sum(axis=1) + above.sum(axis=0)
        if not against.any():
            break
        place = int(against.argmax())
        gone.append(place)
        left[place] = np.nan
    rest = [(place, np.flatnonzero(np.isfinite(left))) for place in gone]
    return [(place, float(left[known[np.abs(known - place).argmin()]])) for place, known in rest if known.size]


def _scattered(cube: xr.Dataset, ppn: int | None) -> Iterator[dict[str, Any]]:
    """Cells whose median few of the repetitions are close to, as of two machines in one."""
    for (rows, columns), samples in sample_blocks(cube):
        number = np.isfinite(samples).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            filled = np.where(number[..., None] > 0, samples, 1.0)
            median = np.where(number > 0, np.nanmedian(filled, axis=-1), np.nan)
            near = (np.abs(np.log(samples / median[..., None])) <= np.log(SCATTERS)).sum(axis=-1)
        for method, comm, size in np.argwhere((number >= _FEWEST) & (2 * near < number)).tolist():
            share = f"{near[method, comm, size]} of {number[method, comm, size]} repetitions"
            reason = f"only {share} are within a factor {SCATTERS:g} of their median"
            at = method, rows.start + comm, columns.start + size
            yield _row(cube, at, ppn, float(median[method, comm, size]), np.nan, reason)
