"""Parameters from point-to-point measurements: a ping-pong, or a LogP-style table of gaps and overheads.

A ping-pong shows how long a message takes, no more: Hockney's two parameters follow from it, and of LogGP's the sum
L + 2 o and G. What divides that sum must be assumed, and is said in the provenance. All in seconds and bytes.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.domain.arrays import FloatArray
from dashboard.domain.models import ModelName
from dashboard.domain.units import format_bytes, format_names
from dashboard.models import logp_mpi
from dashboard.models.errors import ModelError, ParameterError
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel
from dashboard.models.parameter_set import ParameterSet, text_of

#: Share of the time of an empty message that is overhead (of one side) and gap: medians of Table 4.13's five systems.
OVERHEAD_SHARE = 0.17
GAP_SHARE = 0.31
PINGPONG = "pingpong"
#: How files of the MPI LogP benchmark begin.
LOGP_MPI = logp_mpi.MARK
FURTHER_COLUMNS = ("halfrtt_min_us", "reduce_local_us", "copy_local_us")
TABLE_COLUMNS = ("bytes", "halfrtt_median_us", "gap_us", "os_us", "or_us")


@dataclass(frozen=True, eq=False)
class PingPong:
    """Times of messages from one process to another."""

    #: Bytes, ascending.
    size: FloatArray
    #: One way, s: half a round trip.
    time: FloatArray
    #: Where they come from, for provenance.
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.size.shape != self.time.shape or self.size.ndim != 1:
            raise ModelError(f"a ping-pong has {self.size.size} sizes and {self.time.size} times; expected as many")
        wrong = ~(np.isfinite(self.time) & (self.time > 0))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise ModelError(
                f"the time at {format_bytes(self.size[place])} is {self.time[place]:g} s; expected more than 0 s"
            )
        wrong = np.diff(self.size) <= 0
        if wrong.any():
            before, size = map(format_bytes, self.size[np.argmax(wrong) :][:2])
            raise ModelError(f"{size} stands behind {before}; the sizes of a ping-pong must ascend, each once")
        if self.size.size < 2:
            sizes = f"{format_bytes(self.size[0])} only" if self.size.size else "none"
            raise ModelError(f"a ping-pong of two or more message sizes is needed; found {sizes}")


def pingpong_of(cube: xr.Dataset) -> PingPong:
    """Ping-pong of a cube that `open_results` gives as ``pt2pt``: two processes, the method ``pingpong``.

    Raises
    ------
    ModelError
        When it holds no ping-pong, or too little of one.
    """
    algorithms = [str(name) for name in np.atleast_1d(cube["algorithm"].values)] if "algorithm" in cube else []
    if PINGPONG not in algorithms:
        raise ModelError(f"these results hold no ping-pong, but {', '.join(algorithms) or 'nothing'}")
    line = cube["time"].isel(method=algorithms.index(PINGPONG))
    for name in [str(dim) for dim in line.dims if dim != "message_size"]:
        counts = line.notnull().sum([dim for dim in line.dims if dim != name])
        line = line.isel({name: int(np.asarray(counts.values).argmax())})
    there = np.asarray(line.notnull().values)
    names = [str(value) for key in ("system", "network", "benchmark") if (value := cube.attrs.get(key))]
    sources = tuple(names) + ((f"digest {cube.attrs['digest']}",) if "digest" in cube.attrs else ())
    return PingPong(
        np.asarray(cube["message_size"].values, dtype=float)[there],
        np.asarray(line.values, dtype=float)[there],
        sources,
    )


def hockney_of(measured: PingPong, *, gamma: float = 0.0, delta: float = 0.0) -> tuple[Hockney, FloatArray]:
    """Hockney's parameters of a ping-pong: least latency and highest bandwidth, as section 4.4.1 takes them of NetPIPE.

    Parameters
    ----------
    gamma, delta
        Time to compute and to copy a byte, s/B; a ping-pong does not show them.

    Returns
    -------
    tuple of Hockney and ndarray
        And the relative residuals (model / measured - 1) at each size.
    """
    fitted = Hockney(float(measured.time.min()), 1 / float((measured.size / measured.time).max()), gamma, delta)
    return fitted, np.asarray(fitted.message_time(measured.size) / measured.time - 1)


def parameters_of_pingpong(measured: PingPong, *, gamma: float = 0.0, name: str = "ping-pong") -> ParameterSet:
    """All three models from a ping-pong; what it cannot show is assumed, and said.

    Of the time of the shortest message o takes `OVERHEAD_SHARE` and g `GAP_SHARE`; the rest is the latency.

    Parameters
    ----------
    measured, gamma
        As for `hockney_of`.
    """
    hockney, residuals = hockney_of(measured, gamma=gamma)
    startup, byte = hockney.alpha, hockney.beta
    overhead, gap = OVERHEAD_SHARE * startup, GAP_SHARE * startup
    loggp = LogGP(startup - 2 * overhead, overhead, gap, byte, gamma)
    # g(m) = T(m) - L, as equation 4.4 has it; the shortest message gives L.
    latency = startup - gap
    gaps = np.maximum.accumulate(np.maximum(measured.time - latency, gap))
    overheads = tuple(np.minimum(overhead, gaps).tolist())
    plogp = PLogP(latency, tuple(measured.size.tolist()), tuple(gaps.tolist()), overheads, overheads, gamma=gamma)
    assumed = [
        (
            f"o is {100 * OVERHEAD_SHARE:.0f} % and g {100 * GAP_SHARE:.0f} % of the time of the shortest message "
            "(medians of Table 4.13): a ping-pong shows L + 2 o only"
        ),
        "PLogP: o_s = o_r = o at all sizes; g(m) is what is left of the ping-pong's time without L",
    ]
    provenance = {
        "how": "ping-pong, extremes",
        "sources": list(measured.sources),
        "assumed": [*assumed, *([] if gamma else [NO_GAMMA]), NO_DELTA],
        "sizes": measured.size.tolist(),
        "hockney_residuals": residuals.tolist(),
    }
    return ParameterSet(name, {"hockney": hockney, "loggp": loggp, "plogp": plogp}, provenance)


NO_GAMMA = "γ = 0: computing a byte costs nothing, as long as no timed reduction says otherwise"
NO_DELTA = "δ = 0: copying a byte costs nothing, as long as no timed copy says otherwise"


def read_logp_table(path: str | Path) -> dict[str, FloatArray]:
    """Read a LogP-style table, or a file of the MPI LogP benchmark (`dashboard.models.logp_mpi`).

    The table is CSV with ``#`` comments, sizes in bytes and times in microseconds.

    Columns: ``bytes, halfrtt_median_us, gap_us, os_us, or_us`` and optionally ``halfrtt_min_us``, ``reduce_local_us``
    (a timed reduction of so many bytes) and ``copy_local_us`` (a timed copy); others are ignored.

    Returns
    -------
    dict
        By column; times in seconds, names without ``_us``.

    Raises
    ------
    ModelError
        When a column or a number is missing, with the file and the line.
    """
    return logp_table_of(text_of(path), str(path))


def logp_table_of(text: str, path: str) -> dict[str, FloatArray]:
    """Read the text of a LogP-style table, or what ``logp_test`` saved; as `read_logp_table`."""
    if text.startswith(logp_mpi.MARK):
        return logp_mpi.table_of(text, path)
    lines = text.splitlines()
    rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    reader = csv.DictReader(line for _, line in rows)
    columns = list(reader.fieldnames or ())
    missing = [name for name in TABLE_COLUMNS if name not in columns]
    if missing:
        raise ModelError(f"{path}: no column {', '.join(missing)}; it has {format_names(columns) or 'none'}")
    wanted = [*TABLE_COLUMNS, *(each for each in FURTHER_COLUMNS if each in columns)]
    values_of: dict[str, list[float]] = {name: [] for name in wanted}
    for (number, _), row in zip(rows[1:], reader, strict=False):
        for name in wanted:
            values_of[name].append(logp_mpi.number_of(row[name], f"{path}:{number}: {name} is"))
    order = np.argsort(values_of["bytes"], kind="stable")
    return {
        name.removesuffix("_us"): np.asarray(values)[order] / (1e6 if name.endswith("_us") else 1.0)
        for name, values in values_of.items()
    }


def parameters_of_table(
    table: Mapping[str, FloatArray], *, sources: Sequence[str] = (), name: str = ""
) -> ParameterSet:
    """All three models from a table of `read_logp_table`; without LogGP, which is noted, where Table 4.1 gives none.

    PLogP: L = T(0) - g(0) (equation 4.4 at the shortest message), g, o_s and o_r as measured. LogGP by Table 4.1.
    Hockney from the half round trips as `hockney_of`. gamma and delta are the slopes of the timed
    reduction and copy over the larger half of sizes, where the call itself no longer counts.

    Raises
    ------
    ModelError
        When there are fewer than two sizes, times are not above 0, or the shortest message takes less than its gap.
    """
    trip = PingPong(table["bytes"], table["halfrtt_median"], tuple(sources))
    notes: list[str] = []
    gamma, delta = _slope(table, "reduce_local", NO_GAMMA, notes), _slope(table, "copy_local", NO_DELTA, notes)
    gap = PingPong(table["bytes"], table["gap"]).time
    latency = float(trip.time[0] - gap[0])
    if latency <= 0:
        raise ModelError(
            f"the message of {format_bytes(trip.size[0])} takes {trip.time[0]:g} s, no more than its gap of "
            f"{gap[0]:g} s: no latency is left"
        )
    overheads = []
    for side, column in (("o_s", "os"), ("o_r", "or")):
        given = PingPong(table["bytes"], table[column]).time
        above = given > gap
        if above.any():
            notes.append(
                f"{side} cut down to the gap at {int(above.sum())} of {gap.size} sizes: PLogP's gap covers the "
                "overheads (4.2.1), and these were measured on processes woken from idling"
            )
        overheads.append(tuple(np.minimum(given, gap).tolist()))
    sizes, gaps = tuple(trip.size.tolist()), tuple(gap.tolist())
    plogp = PLogP(latency, sizes, gaps, overheads[0], overheads[1], gamma=gamma, delta=delta)
    least = PingPong(trip.size, table.get("halfrtt_min", trip.time))
    hockney, residuals = hockney_of(least, gamma=gamma, delta=delta)
    parameters: dict[ModelName, PointToPointModel] = {"hockney": hockney, "plogp": plogp}
    try:
        parameters["loggp"] = plogp.to_loggp()
    except ParameterError as error:
        # Between processes that share their cores the overheads hold what the others did meanwhile.
        notes.append(f"LogP / LogGP left out: {error}")
    provenance: dict[str, Any] = {
        "how": "LogP-style measurement: half round trips, gaps of trains, overheads; LogGP by Table 4.1",
        "sources": list(sources),
        "assumed": notes,
        "sizes": trip.size.tolist(),
        "hockney_residuals": residuals.tolist(),
        **({"reduced": table["reduce_local"].tolist()} if "reduce_local" in table else {}),
    }
    return ParameterSet(name or "LogP-style measurement", parameters, provenance)


def _slope(table: Mapping[str, FloatArray], column: str, none: str, notes: list[str]) -> float:
    """Time per byte of a timed operation through its larger sizes; without it 0, which is noted."""
    if column not in table:
        notes.append(none)
        return 0.0
    size, time = table["bytes"], table[column]
    large = size >= max(float(np.median(size)), 1.0)
    slope = float(np.polyfit(size[large], time[large], 1)[0]) if large.sum() > 1 else 0.0
    if slope <= 0:
        notes.append(f"{none} (what was timed does not grow)")
    return max(slope, 0.0)
