"""Maps as a table: what they show, for those who read rather than look."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr


def decision_table(dmap: xr.Dataset, penalties: xr.Dataset) -> pd.DataFrame:
    """Write every cell of the maps as a row.

    Parameters
    ----------
    dmap
        As `dashboard.decisions.decision_map` gives it.
    penalties
        As `dashboard.decisions.penalty` gives it.

    Returns
    -------
    DataFrame
        ``processes``, ``message size [B]``, ``best``, ``best time [µs]``, ``chosen``, ``chosen time [µs]``,
        ``penalty [%]``, ``methods measured``; empty text or NaN where there is nothing.
    """
    labels = np.array([*map(str, dmap["method"].values), ""], dtype=object)
    comm, message = dmap["comm_size"].values, dmap["message_size"].values
    return pd.DataFrame(
        {
            "processes": np.repeat(comm, message.size),
            "message size [B]": np.tile(message, comm.size),
            "best": labels[dmap["best"].values.ravel()],
            "best time [µs]": dmap["best_time"].values.ravel() * 1e6,
            "chosen": labels[penalties["chosen"].values.ravel()],
            "chosen time [µs]": penalties["chosen_time"].values.ravel() * 1e6,
            "penalty [%]": penalties["penalty"].values.ravel(),
            "methods measured": dmap["measured"].values.ravel(),
        }
    )
