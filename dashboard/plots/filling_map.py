"""Beside a decision map that fills while a campaign runs: its legend, and the expected loss on its way."""

from collections.abc import Sequence
from html import escape

import holoviews as hv
import numpy as np
import xarray as xr

from dashboard.domain.units import format_count, format_percent
from dashboard.plots.colors import MethodKey
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import swatch, table

LOSS_HEIGHT = 190
_LINE = "#2f8fd8"


def winners_legend(key: MethodKey, dmap: xr.Dataset, planned: int, distrusted: int = 0) -> str:
    """Write which methods are best so far, and in how many cells.

    Parameters
    ----------
    dmap
        Decision map of what is measured so far.
    planned
        Cells that are to be measured.
    distrusted
        Cells that were measured, but of whose times none can be trusted: no method is best in them.
    """
    best = dmap["best"].values
    wins = np.bincount(best[best >= 0].ravel(), minlength=len(key.labels))
    order = [at for at in np.argsort(-wins, kind="stable") if wins[at]]
    rows = [[f"{swatch(key.colors[at], key.letters[at])} {escape(key.labels[at])}", f"{wins[at]:,}"] for at in order]
    seen = int(wins.sum())
    if not seen:
        return f"<p>None of {format_count(planned, 'cell')} has a time that counts.</p>"
    caption = f"{seen + distrusted:,} of {planned:,} cells measured; "
    if distrusted:
        caption += f"{format_count(distrusted, 'cell')} without a time that can be trusted; "
    caption += f"{len(order)} of {len(key.labels)} methods are best somewhere"
    return table(caption, [("method", False), ("cells", True)], rows)


def loss_chart(way: Sequence[tuple[float, float]], seconds: float, ranks: int) -> hv.Overlay:
    """Draw how the expected loss of the decision has fallen while methods were measured.

    Parameters
    ----------
    way
        Seconds of measuring, and expected loss in percent after them.
    seconds
        Of measuring in all, at most; 0: no limit.
    ranks
        Processes that were held for it: so many core-seconds is a second.
    """
    x, y = (np.array([point[at] for point in way], dtype=float) for at in (0, 1))
    dims = hv.Dimension("spent", label="core-seconds of measuring"), hv.Dimension("loss", label="expected loss [%]")
    labels = np.array([format_percent(each) for each in y], dtype=object)
    points = hv.Scatter((x * ranks, y, labels, x), dims[0], [dims[1], "told", "seconds"])
    tips = [("after", "@spent{0} core-seconds"), ("that is", "@seconds{0} s"), ("expected loss", "@told")]
    layers = [
        hv.Curve((x * ranks, y), *dims).opts(color=_LINE, line_width=2, interpolation="steps-post", backend="bokeh"),
        points.opts(color=_LINE, size=4, **tooltips(tips)),
    ]
    high = float(y.max()) if y.size else 1.0
    ends = max(seconds, float(x.max()) if x.size else 1.0) * ranks, 1.08 * max(high, 0.1)
    frame = framed("Expected loss of the decision", LOSS_HEIGHT, tools=["save"], grows=False)
    return hv.Overlay(layers).opts(
        **frame, xlim=(0.0, ends[0]), ylim=(0.0, ends[1]), xlabel=dims[0].label, ylabel=dims[1].label
    )
