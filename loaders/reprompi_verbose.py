"""ReproMPI's verbose rows, one for each process: joined to one sample for each repetition."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from loaders.source import Source

_KEY = ["test", "message_size", "nrep"]


class Verbose:
    """Joins the rows of the processes of one table.

    On global clocks the time of a repetition is the last end less the first start; where there are only
    local clocks (0.x without window synchronisation), the longest time of a process. Every row of a process
    counts as loaded. A repetition in which a process is missing or has an error code is skipped whole.

    Parameters
    ----------
    source
        Where rows are counted.
    comm_size
        Number of processes; `None` = not told, then the processes of a repetition are those that are there.
    named
        Makes the columns of `COLUMNS` of samples.
    """

    def __init__(self, source: Source, comm_size: int | None, named: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        self._source = source
        self._comm_size = comm_size
        self._named = named
        self._waiting: pd.DataFrame | None = None

    def add(self, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """Take checked rows; yield the samples that are complete with them."""
        begin, end = (
            ("gl_tstart_sec", "gl_tend_sec")
            if {"gl_tstart_sec", "gl_tend_sec"} <= set(rows)
            else ("loc_tstart_sec", "loc_tend_sec")
        )
        kept = rows[[*_KEY, "process"]].assign(
            test=rows["test"].astype("str"),
            start=rows[begin],
            end=rows[end],
            error=rows["errorcode"] != 0 if "errorcode" in rows else False,
        )
        kept.attrs = {}
        if self._waiting is not None:
            kept = pd.concat([self._waiting, kept], ignore_index=True)
        self._waiting = None
        run = kept.groupby([*_KEY, "process"], sort=False).cumcount()
        groups = kept.assign(run=run).groupby([*_KEY, "run"], sort=False)
        if self._comm_size is None:
            last = kept[_KEY].eq(kept[_KEY].iloc[-1]).all(axis=1)
            complete = ~last
        else:
            complete = groups["process"].transform("size") == self._comm_size
        self._waiting = kept[~complete] if not complete.all() else None
        yield from self._samples(kept.assign(run=run)[complete], global_clock=begin.startswith("gl"))
        self._global = begin.startswith("gl")

    def finish(self) -> Iterator[pd.DataFrame]:
        """Yield or skip what is left at the end of the table."""
        left, self._waiting = self._waiting, None
        if left is None or left.empty:
            return
        if self._comm_size is None:
            yield from self._samples(left.assign(run=0), global_clock=self._global)
        else:
            self._source.skip_many(len(left), "rows of other processes of this repetition are missing")

    def _samples(self, rows: pd.DataFrame, *, global_clock: bool) -> Iterator[pd.DataFrame]:
        if rows.empty:
            return
        rows = rows.assign(own=rows["end"] - rows["start"])
        groups = rows.groupby([*_KEY, "run"], sort=False, as_index=False)
        samples = groups.agg(
            start=("start", "min"), end=("end", "max"), own=("own", "max"), error=("error", "any"), rows=("own", "size")
        )
        samples["time"] = samples["end"] - samples["start"] if global_clock else samples["own"]
        wrong = samples["error"].to_numpy(dtype=np.bool_)
        time = samples["time"].to_numpy()
        unusable = ~wrong & ~(np.isfinite(time) & (time > 0))
        self._source.skip_many(int(samples.loc[wrong, "rows"].sum()), "errorcode: outside the window")
        self._source.skip_many(int(samples.loc[unusable, "rows"].sum()), "the time is not positive")
        good = samples[~wrong & ~unusable]
        if good.empty:
            return
        self._source.loaded(int(good["rows"].sum()))
        good = good.rename(columns={"nrep": "repetition"})
        yield self._named(good.assign(test=pd.Categorical(good["test"])))
