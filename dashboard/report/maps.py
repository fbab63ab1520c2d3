"""The three maps of a collective, with what the pointer says, for a file without a server behind it."""

from __future__ import annotations

from functools import partial

import holoviews as hv
import xarray as xr

from dashboard.plots import hover
from dashboard.plots.colors import MethodKey
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import stacked
from dashboard.plots.scene import TITLES, MapScene
from dashboard.session.view import View

#: More regions than this would cover the colours with their outlines.
MOST_REGIONS = 5_000


class MapFigures(MapScene):
    """What the maps of one collective share, of a view, and how they are drawn for good."""

    @classmethod
    def of(cls, view: View) -> MapFigures | None:
        """Take it from the view; None where nothing was measured."""
        problem, dmap = view.problem(), view.decision_map()
        if problem is None or dmap is None:
            return None
        key = MethodKey.of(dmap["method"].values, view.scheme)
        return cls(problem.slices[0].cube, dmap, key, str(view.collective))

    def draw(self, view: View, penalties: xr.Dataset) -> tuple[hv.Overlay, ...]:
        """Exact map, the tree's map and its penalty.

        Parameters
        ----------
        penalties
            Penalties of the tree, as `dashboard.decisions.judged.penalty` gives them.
        """
        figures = hover.CellFigures(self.axes, self.key, self.collective, served=False)
        lines, prepared = self.segments(view.decision(), MOST_REGIONS), view.needed()
        figures.offer(partial(hover.cell_columns, self.cube, self.dmap, penalties, prepared.untrusted))
        hatched = {
            "tied": prepared.tied[0],
            "untrusted": None if prepared.untrusted is None else prepared.untrusted != "",
            "sureness": view.sureness(),
        }
        layers = {
            "exact": self.method_layers("exact", self.dmap["best"].values, lines, **hatched),
            "tree": self.method_layers("tree", penalties["chosen"].values, lines),
            "penalty": self.penalty_layers(penalties),
        }
        live = LiveSources()
        return tuple(stacked(TITLES[name], self.axes, layers[name], live, figures.hook) for name in TITLES)
