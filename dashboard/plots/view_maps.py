"""The three maps of a collective as a view has them, on a page and in a file without a server behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import holoviews as hv
import xarray as xr

from dashboard.decisions import select_ppn
from dashboard.domain.arrays import FloatArray
from dashboard.plots import hover, ties
from dashboard.plots.colors import MethodKey
from dashboard.plots.live import Layer, LiveSources
from dashboard.plots.maps import stacked
from dashboard.plots.scene import TITLES, MapScene
from dashboard.session.view import View

#: More regions than this would cover the colours with their outlines.
MOST_REGIONS = 5_000


@dataclass(frozen=True, eq=False)
class Scene(MapScene):
    """What the maps of one collective share, of a view."""

    #: What tells these data from others, such as the view's `drawn_key`.
    data: tuple[Any, ...]

    @classmethod
    def of(cls, view: View) -> Scene | None:
        """Take it from the view; None while there is nothing to show."""
        measured, cube, dmap = view.measured(), view.cube(), view.decision_map()
        if measured is None or cube is None or dmap is None:
            return None
        # Methods have the colours and letters that they have beside those left out.
        key = MethodKey.of(measured["method"].values, view.scheme).only(map(str, cube["method"].values))
        flat = select_ppn(cube, dmap.attrs.get("ppn"))[0]
        return cls(flat, dmap, key, str(view.collective), view.drawn_key)

    def layers(self, name: str, view: View, penalties: xr.Dataset, segments: FloatArray) -> dict[str, Layer]:
        """Layers of one of the maps of `TITLES`, as `MapScene.method_layers`.

        Parameters
        ----------
        penalties
            Penalties of the tree, as `dashboard.decisions.judged.penalty` gives them.
        segments
            Lines between its regions, as `MapScene.segments` gives them.
        """
        if name == "penalty":
            return self.penalty_layers(penalties)
        if name == "tree":
            return self.method_layers(name, penalties["chosen"].values, segments)
        prepared = view.needed()
        hatched = {
            "tied": prepared.tied[0],
            "estimated": prepared.estimated,
            "untrusted": None if prepared.untrusted is None else prepared.untrusted != "",
            "sureness": view.sureness(),
        }
        return self.method_layers(name, self.dmap["best"].values, segments, **hatched)

    def textures(self, view: View) -> str:
        """Say what hatches, dots and fading of the exact map mean, as HTML."""
        prepared, treatment = view.needed(), view.treatment
        (tied, meaning), text = prepared.tied, ""
        if tied.any() or treatment.statistical is not None or treatment.tolerance:
            text += ties.tie_legend(tied, int((self.dmap["best"].values >= 0).sum()), meaning)
        if prepared.estimated is not None:
            text += ties.estimate_legend(prepared.estimated)
        if prepared.untrusted is not None:
            text += ties.untrusted_legend(prepared.untrusted != "")
        if (sureness := view.sureness()) is not None:
            text += ties.sureness_legend(sureness, prepared.slicing.predictor.name)
        return text

    def draw(self, view: View, penalties: xr.Dataset) -> tuple[hv.Overlay, ...]:
        """Exact map, the tree's map and its penalty, for good; `penalties` as for `layers`."""
        figures, live = hover.CellFigures(self.axes, self.key, self.collective, served=False), LiveSources()
        figures.offer(partial(hover.cell_columns, self.cube, self.dmap, penalties, view.needed().untrusted))
        lines = self.segments(view.decision(), MOST_REGIONS)
        layers = {name: self.layers(name, view, penalties, lines) for name in TITLES}
        return tuple(stacked(TITLES[name], self.axes, layers[name], live, figures.hook) for name in TITLES)
