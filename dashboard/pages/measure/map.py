"""The decision map of a campaign, filling as its points arrive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import holoviews as hv
import numpy as np
import numpy.typing as npt
import pandas as pd
import panel as pn
import xarray as xr
from panel.io import hold
from panel.viewable import Viewer

from dashboard import decisions
from dashboard.benchmarks.campaigns.campaign import ENDED
from dashboard.benchmarks.campaigns.follow import Following, Sight
from dashboard.decisions.measured.outliers import without_outliers
from dashboard.decisions.measured.trust import by_cell
from dashboard.decisions.surfaces import PREDICTORS
from dashboard.decisions.surfaces.sureness import expected
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.pages.decisions.maps import nothing_chosen
from dashboard.pages.parts.widgets import Figure, Select
from dashboard.plots import cell as cells
from dashboard.plots import decision_map as drawn
from dashboard.plots import hover, legend, ties
from dashboard.plots.colors import MethodKey
from dashboard.plots.filling_map import winners_legend
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.scene import MapScene
from dashboard.session.state import State

_NOT_YET = "<p>Times that cannot be trusted are known only at the end, and left out then.</p>"


@dataclass(frozen=True, eq=False)
class Measured:
    """What is measured of one collective at one moment."""

    #: Campaign, collective and processes per node: another needs another plot.
    shown: tuple[str, str, int | None]
    #: Version of the campaign's points that this was made of.
    points: int
    #: Of one number of processes per node.
    cube: xr.Dataset
    dmap: xr.Dataset
    #: Cells that are to be measured.
    planned: int
    #: When points were last chosen, of an adaptive campaign.
    chosen_at: float = 0.0
    #: Of an adaptive campaign, by then: the fastest method so far of each cell, or the one that is expected to be, and
    #: the probability that it is; None of others.
    expected: tuple[IntArray, FloatArray] | None = None
    #: Whether nothing more comes; only then is it known which times cannot be trusted, and these are left out.
    over: bool = False
    #: Why times of a cell ``(comm_size, message_size)`` cannot be trusted; None where all can.
    untrusted: npt.NDArray[np.str_] | None = None

    @classmethod
    def of(
        cls, following: Following, shown: tuple[str, str, int | None], sight: Sight, known: Measured | None
    ) -> Measured:
        """Take it from a campaign that is watched; needs no session.

        Parameters
        ----------
        shown
            As of the class, of a collective and a number of processes per node that the plan has.
        known
            What was taken before: what has not changed since is not worked out again.
        """
        _, collective, ppn = shown
        over = sight.status["state"] in ENDED
        known = None if known is None or (known.shown, known.over) != (shown, over) else known
        chosen_at = sight.chosen.get("written", 0.0)
        if known is not None and (known.points, known.chosen_at) == (sight.points, chosen_at):
            return known
        cube = following.cube(collective)
        flat = cube if "ppn" not in cube.dims else decisions.select_ppn(cube, ppn)[0]
        doubtful = following.doubtful(collective) if over else pd.DataFrame()
        if len(doubtful) and "ppn" in cube.dims:
            doubtful = doubtful[doubtful["ppn"] == ppn]
        flat = without_outliers(flat, doubtful)
        guess = None if known is None or known.chosen_at != chosen_at else known.expected
        if guess is None and sight.chosen:
            guess = expected(flat)
        dmap, planned = decisions.decision_map(flat), following.cells(collective, ppn if "ppn" in cube.dims else None)
        untrusted = by_cell(doubtful, dmap)
        return cls(shown, sight.points, flat, dmap, planned, chosen_at, guess, over, untrusted)

    @property
    def best(self) -> IntArray:
        """Method of each cell ``(comm_size, message_size)``: the fastest measured, else the expected one; -1: none."""
        best: IntArray = self.dmap["best"].values
        return best if self.expected is None else np.where(best >= 0, best, self.expected[0])

    @property
    def crossed(self) -> BoolArray:
        """Cells with times that cannot be trusted."""
        return np.zeros(self.best.shape, dtype=np.bool_) if self.untrusted is None else self.untrusted != ""

    @property
    def distrusted(self) -> int:
        """Number of measured cells without any time that can be trusted."""
        return int((self.crossed & (self.dmap["best"].values < 0)).sum())

    @property
    def guessed(self) -> BoolArray:
        """Cells of `best` that were not measured."""
        return np.asarray((self.best >= 0) & (self.dmap["best"].values < 0))

    @property
    def beyond(self) -> BoolArray:
        """Cells of `guessed` whose communicator or message size lies beyond those measured."""
        there = self.dmap["best"].values >= 0
        rows, columns = (
            np.logical_or.accumulate(line) & np.logical_or.accumulate(line[::-1])[::-1]
            for line in (there.any(axis=1), there.any(axis=0))
        )
        return np.asarray(self.guessed & ~np.logical_and.outer(rows, columns))


class FillingMap(Viewer):
    """Decision map of what is measured so far; points that come change its image alone.

    Parameters
    ----------
    asked
        Called when another collective or number of processes per node is chosen.
    """

    def __init__(self, asked: Any, state: State) -> None:
        super().__init__()
        self._state = state
        self.live = LiveSources()
        self.measured: Measured | None = None
        self.figures: hover.CellFigures | None = None
        self._scene: MapScene | None = None
        self._pinned: tuple[int, int] | None = None
        self._tap: hv.streams.Tap | None = None
        self.collective = Select(
            label="Collective",
            options=[],
            width=170,
            size="small",
            description="Which of the campaign's collectives the map is of. The map fills while points are measured.",
        )
        self.ppn = Select(
            label="Processes per node",
            options=[],
            width=190,
            size="small",
            visible=False,
            description="Which of the placements the map is of. Each has a map of its own.",
        )
        self.pane = Figure(None, sizing_mode="stretch_width", height=HEIGHT, margin=0)
        html = {
            "sizing_mode": "stretch_width",
            "margin": (4, 8),
            "stylesheets": [legend.STYLE + cells.STYLE + ties.STYLE],
        }
        self.legend, self.pinned = pn.pane.HTML("", **html), pn.pane.HTML("", **html)
        for field in (self.collective, self.ppn):
            field.param.watch(asked, "value")
        state.param.watch(self._recolor, "scheme")

    def __panel__(self) -> pn.viewable.Viewable:
        plot = pn.Column(self.pane, sizing_mode="stretch_width", min_width=420, margin=4, styles={"flex": "2 1 460px"})
        beside = pn.Column(self.legend, min_width=280, margin=4, styles={"flex": "1 1 280px"})
        return pn.Column(
            pn.Row(self.collective, self.ppn, margin=0),
            pn.FlexBox(plot, beside, sizing_mode="stretch_width", margin=0, align_items="start"),
            self.pinned,
            sizing_mode="stretch_width",
            margin=0,
        )

    def offer(self, following: Following | None) -> None:
        """Offer the collectives of a campaign; None: there is none."""
        plan = None if following is None else following.plan
        collectives = [] if plan is None else list(plan.methods)
        ppns = [] if plan is None or len(plan.ppns) < 2 else list(plan.ppns)
        value = self.collective.value if self.collective.value in collectives else next(iter(collectives), None)
        ppn = self.ppn.value if self.ppn.value in ppns else next(iter(ppns), None)
        self.collective.param.update(options=collectives, value=value, visible=len(collectives) > 1)
        self.ppn.param.update(options=ppns, value=ppn, visible=bool(ppns))
        if plan is None:
            self.measured = None
            self.pane.object, self.legend.object, self.pinned.object = None, "", ""

    def _recolor(self, *_: Any) -> None:
        measured, self.measured = self.measured, None
        if measured is not None:
            self.show(measured)

    def show(self, measured: Measured) -> None:
        """Show what is measured; does nothing when that is on show already."""
        known = self.measured
        if known is measured:
            return
        anew = known is None or known.shown != measured.shown
        self.measured = measured
        if anew:
            self._pinned = None
        key = MethodKey.of(measured.cube["method"].values, self._state.scheme)
        self._scene = scene = MapScene(measured.cube, measured.dmap, key, measured.shown[1])
        layers = scene.method_layers(
            "map",
            measured.best,
            estimated=None if measured.expected is None else measured.guessed,
            untrusted=measured.crossed,
            sureness=None if measured.expected is None else measured.expected[1],
        )
        with hold(pn.state.curdoc):
            if anew or self.figures is None:
                self.figures = hover.CellFigures(scene.axes, scene.key, scene.collective, compares=False)
            nothing = nothing_chosen(measured.dmap)
            self.figures.offer(partial(hover.cell_columns, scene.cube, scene.dmap, nothing, measured.untrusted))
            if anew:
                layers["map pin"] = drawn.pin_marker(self._pinned, scene.axes)
                plot = stacked("Fastest method so far", scene.axes, layers, self.live, self.figures.hook)
                self._tap = hv.streams.Tap(source=plot)
                self._tap.add_subscriber(self._pin)
                self.pane.object = plot
            else:
                self.live.refresh(layers)
            self._tell(measured, scene)

    def _tell(self, measured: Measured, scene: MapScene) -> None:
        text = winners_legend(scene.key, measured.dmap, measured.planned, measured.distrusted)
        if measured.expected is not None:
            text += ties.estimate_legend(measured.guessed & ~measured.beyond)
            text += ties.estimate_legend(measured.beyond, "the best time is extrapolated, beyond what was measured")
            text += ties.sureness_legend(measured.expected[1], PREDICTORS[0].name)
        if measured.untrusted is not None:
            text += ties.untrusted_legend(measured.crossed)
        elif not measured.over:
            text += _NOT_YET
        self.legend.object = text
        self.live.refresh({"map pin": drawn.pin_marker(self._pinned, scene.axes)})
        if self._pinned is None:
            self.pinned.object = "<p>Tap a cell of the map to list every method measured there.</p>"
            return
        self.pinned.object = cells.cell_table(
            cells.measured_at(measured.cube, self._pinned), scene.key, self._pinned, -1
        )

    def _pin(self, x: float | None, y: float | None) -> None:
        if self.measured is None or self._scene is None or x is None or y is None:
            return
        cell = self._scene.axes.cell(x, y)
        if cell is not None:
            self._pinned = None if cell == self._pinned else cell
            with hold(pn.state.curdoc):
                self._tell(self.measured, self._scene)
