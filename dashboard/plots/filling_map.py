"""A decision map that fills while a campaign runs: methods get their colours in the order in which they first win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dashboard.domain.units import format_count
from dashboard.plots.colors import OKABE_ITO, MethodKey, letter_codes
from dashboard.plots.legend import swatch, table


@dataclass(frozen=True)
class Order:
    """Methods in the order in which they were first seen to be the best of a cell.

    A method keeps its colour however many come after it, and the most distinct colours go to those that are seen.

    Attributes
    ----------
    methods
        Indices of methods that have won somewhere, the first first.
    """

    methods: tuple[int, ...] = ()

    def follow(self, best: NDArray[np.integer]) -> Order:
        """Add the methods that win now and have not before, those with more cells first.

        Parameters
        ----------
        best
            Method index of each cell, -1 for none.
        """
        wins = np.bincount(best[best >= 0].ravel())
        new = [int(at) for at in np.argsort(-wins, kind="stable") if wins[at] and at not in self.methods]
        return Order((*self.methods, *new)) if new else self

    def ranks(self, count: int) -> NDArray[np.intp]:
        """Rank of each of `count` methods; those that never won come last, in their own order."""
        rest = [at for at in range(count) if at not in self.methods]
        ranks = np.empty(count, dtype=np.intp)
        ranks[[*self.methods, *rest]] = np.arange(count)
        return ranks

    def codes(self, best: NDArray[np.integer], count: int) -> NDArray[np.integer]:
        """Rank of the method of each cell, -1 for none: what is painted with `palette`."""
        return np.where(best < 0, -1, self.ranks(count)[np.maximum(best, 0)])

    def key(self, labels: Sequence[str], scheme: str = OKABE_ITO) -> MethodKey:
        """Colours and letters, which stay with a method from when it first wins."""
        return MethodKey.by_rank(labels, self.ranks(len(labels)), scheme)


def palette(count: int, scheme: str = OKABE_ITO) -> MethodKey:
    """Key of ranks: what an image of `Order.codes` is painted with."""
    return MethodKey.by_rank(letter_codes(count), range(count), scheme)


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
