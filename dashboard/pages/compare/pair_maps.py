"""Maps of two decisions side by side, and of what one costs more than the other."""

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import panel as pn
import xarray as xr
from panel.io import hold
from panel.viewable import Viewer

from dashboard.decisions import DecisionFunction
from dashboard.pages.parts.widgets import Figure
from dashboard.plots import difference, hover, legend
from dashboard.plots.live import LiveSources, SharedRanges
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.view_maps import MOST_REGIONS, Scene

SIDES = ("a", "b")
Tables = tuple[xr.Dataset, xr.Dataset]


class PairMaps(Viewer):
    """Map of A, map of B, and B against A; legends are panes of their own.

    Parameters
    ----------
    titles
        Of the three: ``a``, ``b`` and ``gap``.
    shares
        Heads of the shares in the legend of methods.
    """

    def __init__(self, titles: Mapping[str, str], shares: tuple[str, str] = ("in A", "in B")) -> None:
        super().__init__()
        self._titles, self._shares = titles, shares
        self.live = LiveSources()
        self.scene: Scene | None = None
        self._hovers: dict[str, hover.CellFigures] = {}
        self.panes = {name: Figure(None, sizing_mode="stretch_width", height=HEIGHT) for name in titles}
        line = {"white-space": "nowrap", "overflow": "hidden", "text-overflow": "ellipsis"}
        # Above the frame of the map, whose own title, which cannot be cut short, is for its file and screen readers.
        look: dict[str, Any] = {"margin": (4, 12, 0, 58), "styles": line, "sizing_mode": "stretch_width"}
        self.heads = {name: pn.pane.HTML(_head(title), **look) for name, title in titles.items()}
        html = {"stylesheets": [legend.STYLE], "margin": (4, 8), "styles": {"flex": "1 1 440px"}, "min_width": 440}
        self.legend, self.methods = (pn.pane.HTML("", **html) for _ in range(2))

    def __panel__(self) -> pn.viewable.Viewable:
        flex = {"flex": "1 1 340px"}
        maps = [
            pn.Column(self.heads[name], pane, sizing_mode="stretch_width", min_width=330, margin=4, styles=flex)
            for name, pane in self.panes.items()
        ]
        return pn.FlexBox(*maps, sizing_mode="stretch_width", margin=0)

    def show(
        self, scene: Scene, tables: Tables, trees: Sequence[DecisionFunction | None], names: Sequence[str] = ()
    ) -> None:
        """Draw two decisions.

        Parameters
        ----------
        tables
            What they cost, as `dashboard.decisions.judged.penalty` gives it.
        trees
            They, for the outlines of their regions; None without.
        names
            What each map shows, to stand above it beside its title.
        """
        gap, layers = _gaps(tables), {}
        for name, table, tree in zip(SIDES, tables, trees, strict=True):
            lines = scene.segments(tree, MOST_REGIONS)
            layers[name] = scene.method_layers(name, table["chosen"].values, lines)
        layers["gap"] = difference.gap_layers(*gap, scene.raster)
        with hold(pn.state.curdoc):
            anew = self.scene is None or self.scene.data != scene.data
            if anew:
                self._hovers = {name: hover.CellFigures(scene.axes, scene.key, scene.collective) for name in SIDES}
            for name, table in zip(SIDES, tables, strict=True):
                self._hovers[name].offer(partial(hover.cell_columns, scene.cube, scene.dmap, table))
            if anew:
                self.scene, ranges = scene, SharedRanges()
                for name, title in self._titles.items():
                    hook = self._hovers[name].hook if name in SIDES else None
                    drawing = layers[name], self.live, hook, ranges, _hide_title
                    self.panes[name].object = stacked(title, scene.axes, *drawing)
            else:
                for drawn in layers.values():
                    self.live.refresh(drawn)
            for (key, title), name in zip(self._titles.items(), names, strict=False):
                self.heads[key].object = _head(f"{title}: {name}")
            self.legend.object = difference.difference_legend(gap[0], tables[0]["best"].values >= 0)
            shares = legend.method_shares(scene.key, tables[0]["chosen"].values, tables[1]["chosen"].values)
            self.methods.object = legend.method_legend(shares, len(scene.key.labels), self._shares)


def _head(text: str) -> str:
    return f'<strong title="{escape(text)}">{escape(text)}</strong>'


def _hide_title(plot: Any, _: Any) -> None:
    plot.state.title.visible = False


def _gaps(tables: Tables) -> tuple[Any, Any]:
    first, second = (table["penalty"].values for table in tables)
    same = tables[0]["chosen"].values == tables[1]["chosen"].values
    same &= tables[0]["best"].values >= 0
    return difference.difference_classes(first, second, same), second - first
