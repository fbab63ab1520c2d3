"""The three maps of a collective, with what the pointer says, for a file without a server behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import holoviews as hv
import xarray as xr

from dashboard.plots import decision_map as drawn
from dashboard.plots import hover, penalty, ties
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.leaves import leaf_segments
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import stacked
from dashboard.plots.raster import Raster
from dashboard.state import State

#: More regions than this would cover the colours with their outlines.
MOST_REGIONS = 5_000


@dataclass(frozen=True, eq=False)
class MapFigures:
    """What the maps of one collective share.

    Attributes
    ----------
    cube
        Measurements of one number of processes per node.
    dmap
        Exact decision map.
    axes, raster, key
        As the plots need them.
    """

    cube: xr.Dataset
    dmap: xr.Dataset
    axes: Axes
    raster: Raster
    key: MethodKey

    @classmethod
    def of(cls, state: State) -> MapFigures | None:
        """Take it from the view; None where nothing was measured."""
        problem, dmap = state.problem(), state.decision_map()
        if problem is None or dmap is None:
            return None
        axes = Axes.of(dmap)
        return cls(problem.slices[0].cube, dmap, axes, Raster.of(axes), MethodKey.of([dmap]))

    def draw(self, state: State, found: xr.Dataset) -> tuple[hv.Overlay, ...]:
        """Exact map, the tree's map and its penalty.

        Parameters
        ----------
        state
            The view.
        found
            Penalties of the tree, as `dashboard.decisions.penalty` gives them.
        """
        figures = hover.CellFigures(self.axes, self.key, str(state.collective), served=False)
        figures.offer(partial(hover.cell_columns, self.cube, self.dmap, found))
        decision, tied = state.decision(), state.tied()
        given = {"collective": state.collective, "ppn": self.dmap.attrs.get("ppn")}
        regions = None
        if decision is not None and decision.leaves <= MOST_REGIONS:
            regions = drawn.region_outline(leaf_segments(decision, self.axes, given))
        percent, live = found["penalty"].values, LiveSources()
        plots = []
        for name, title in _TITLES.items():
            layers = {f"{name} ground": drawn.unmeasured_ground(self.axes)}
            if name == "penalty":
                layers[name] = penalty.penalty_image(percent, self.raster)
                layers[f"{name} text"] = penalty.cell_figures(percent, self.axes)
            else:
                methods = (self.dmap["best"] if name == "exact" else found["chosen"]).values
                layers[name] = drawn.method_image(methods, self.raster, self.key)
                if name == "exact" and tied is not None:
                    layers["exact ties"] = ties.tie_hatch(tied[0], self.axes)
                layers[f"{name} text"] = drawn.cell_letters(methods, self.axes, self.key)
                if regions is not None:
                    layers[f"{name} regions"] = regions
            plots.append(stacked(title, self.axes, layers, live, figures.hook))
        return tuple(plots)


_TITLES = {"exact": "Exact decision map", "tree": "Decision of the tree", "penalty": "Penalty of the tree"}
