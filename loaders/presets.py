"""Tables of other tools that are known by their headers.

========================  ==========================================================================
MPIBenchmarks.jl          ``size (bytes),iteratons,min_time (seconds),max_time (seconds),avg_time
                          (seconds)`` (the spelling is theirs; later without iterations)
its CSV of IMB            ``#bytes,#repetitions,t_min[usec],t_max[usec],t_avg[usec]``
NCCL tuner data           ``collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,
                          cost_metric,bandwidth_gbps,latency_us``
========================  ==========================================================================

The first two hold one collective each and name neither it nor the communicator size nor the algorithm: hints
do. Their time is the maximum over processes unless the hint ``statistic`` asks for ``mean`` or ``min``; rows
of size 0 send nothing and are skipped. IMB's size of reduce_scatter is the whole vector, NCCL's of
allgather and reduce_scatter the bytes of all ranks: they become the block per process.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from loaders import columns
from loaders.columns import Plan, plain
from loaders.hints import hinted
from loaders.names import counts_blocks
from loaders.source import Source
from loaders.text import size_column, wanted_statistic

_KINDS = {"max": "completion", "mean": "mean over processes", "min": "minimum over processes"}


@dataclasses.dataclass(frozen=True)
class Preset:
    """A table of another tool: its title, the columns that mark it, and how it is planned."""

    title: str
    marks: frozenset[str]
    make: Callable[[Source, Sequence[str], str], Plan | None]


def find(cells: Sequence[str]) -> Preset | None:
    """Return the preset whose marks all stand in the header, if any."""
    names = {plain(c) for c in cells}
    return next((p for p in PRESETS if p.marks <= names), None)


def plan(source: Source, cells: Sequence[str], separator: str | None, header: str) -> Plan | None:
    """Plan of the columns of a header that is a preset's, else `None`; says so in ``attrs["benchmark"]``."""
    preset = find(cells)
    if preset is None:
        return None
    columns_plan = preset.make(source, cells, preset.title)
    if columns_plan is None:
        return None
    source.attrs["benchmark"] = preset.title
    return dataclasses.replace(columns_plan, separator=separator, header=header)


def _minmaxavg(names: Mapping[str, str], unit: str) -> Callable[[Source, Sequence[str], str], Plan | None]:
    """Planner of a table with three columns of times, ``names`` = {statistic: column}."""

    def make(source: Source, cells: Sequence[str], title: str) -> Plan | None:
        """Plan one table; the statistic asked for chooses the column."""
        chosen = wanted_statistic(source, tuple(names)) or "max"
        size = size_column(hinted(source, "collective")) if title.startswith("IMB") else "message_size"
        mapping = {"size (bytes)": size, "#bytes": size, "iteratons": "repetitions", "iterations": "repetitions"}
        mapping |= {"#repetitions": "repetitions"} | dict.fromkeys(names.values(), "")
        mapping[names[chosen]] = f"time_{unit}"
        source.attrs["statistic"] = f"{plain(names[chosen]).split('_(')[0]}: {chosen} over processes"
        source.attrs["statistic_kind"] = _KINDS[chosen]
        present = {plain(c) for c in cells}
        layout = columns.plan(source, cells, {k: v for k, v in mapping.items() if plain(k) in present})
        return None if layout is None else dataclasses.replace(layout, empty_sends=False)

    return make


def _nccl(source: Source, cells: Sequence[str], title: str) -> Plan | None:
    mapping = {"size_bytes": "message_size", "ranks": "comm_size", "latency_us": "time_us", "nodes": "of_nodes"}
    mapping |= {"protocol": "protocol", "channels": "channels", "pipeOps": "pipe_ops", "regBuff": "reg_buff"}
    source.attrs["library"] = "NCCL"
    source.attrs["statistic"] = "latency given to NCCL's tuner"
    source.attrs["statistic_kind"] = "mean over processes"
    present = {plain(c) for c in cells}
    layout = columns.plan(source, cells, {k: v for k, v in mapping.items() if plain(k) in present})
    return None if layout is None else dataclasses.replace(layout, adjust=_nccl_rows)


def _nccl_rows(source: Source, table: pd.DataFrame) -> pd.DataFrame:
    """Blocks for totals, processes per node for nodes, nothing for parameters that are -1 (any)."""
    table = table.copy()
    comm_size = table["comm_size"].to_numpy()
    for name in ("pipe_ops", "reg_buff"):
        if name in table:
            table[name] = table[name].cat.remove_categories([c for c in table[name].cat.categories if c == -1])
    if any(map(counts_blocks, table["collective"].cat.categories)):
        source.note("sizes of allgather, reduce_scatter, … are the bytes of all ranks; divided by the ranks")
        table = table.rename(columns={"message_size": "vector_size"})
    if "of_nodes" in table:
        nodes = pd.to_numeric(table.pop("of_nodes").astype(object), errors="coerce").to_numpy(dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            ppn = comm_size / nodes
        if bool((np.isfinite(ppn) & (ppn >= 1) & (np.floor(ppn) == ppn)).all()):
            table["ppn"] = ppn.astype(np.int64)
    return table


_JULIA = {"max": "max_time (seconds)", "mean": "avg_time (seconds)", "min": "min_time (seconds)"}
_IMB = {"max": "t_max[usec]", "mean": "t_avg[usec]", "min": "t_min[usec]"}

PRESETS: tuple[Preset, ...] = (
    Preset("MPIBenchmarks.jl", frozenset(map(plain, ("size (bytes)", *_JULIA.values()))), _minmaxavg(_JULIA, "s")),
    Preset("IMB, as CSV", frozenset(map(plain, ("#bytes", *_IMB.values()))), _minmaxavg(_IMB, "us")),
    Preset("NCCL tuner data", frozenset(("collective", "size_bytes", "algorithm", "ranks", "latency_us")), _nccl),
)
