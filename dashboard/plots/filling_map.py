"""Legend of a decision map that fills while a campaign runs."""

from __future__ import annotations

from html import escape

import numpy as np
import xarray as xr

from dashboard.domain.units import format_count
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import swatch, table


def winners_legend(key: MethodKey, dmap: xr.Dataset, planned: int) -> str:
    """Write which methods are best so far, and in how many cells.

    Parameters
    ----------
    key
        Colours and letters.
    dmap
        Decision map of what is measured so far.
    planned
        Cells that are to be measured.
    """
    best = dmap["best"].values
    wins = np.bincount(best[best >= 0].ravel(), minlength=len(key.labels))
    order = [at for at in np.argsort(-wins, kind="stable") if wins[at]]
    rows = [[f"{swatch(key.colors[at], key.letters[at])} {escape(key.labels[at])}", f"{wins[at]:,}"] for at in order]
    seen = int(wins.sum())
    if not seen:
        return f"<p>None of {format_count(planned, 'cell')} is measured yet.</p>"
    caption = f"{seen:,} of {planned:,} cells measured; {len(order)} of {len(key.labels)} methods are best somewhere"
    return table(caption, [("method", False), ("cells", True)], rows)
