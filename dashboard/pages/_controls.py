"""Choices of the page *Decisions*: collective, processes per node, depth and threshold of the tree."""

from __future__ import annotations

import math
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.pages.widgets import Button, Select, Switch, float_slider, int_slider
from dashboard.state import State


class Controls(Viewer):
    """Widgets for what the state holds; both follow each other.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.collective = Select(label="Collective", options=[], min_width=150, width=170)
        self.ppn = Select(label="Processes per node", options=[], width=170)
        self.depth = int_slider(label="Maximum depth", start=0, end=6, value=state.max_depth, width=220)
        self.limit = Switch(label="Limit depth", value=state.limit_depth)
        self.threshold = float_slider(
            label="Accuracy threshold", start=0, end=1, step=0.01, format="0%", value=state.threshold, width=220
        )
        self.exact = Button(label="Exact", variant="outlined", on_click=self._make_exact, description="No limit at all")
        self.regions = Switch(label="Regions of the tree", value=True)
        self.limit.link(state, value="limit_depth", bidirectional=True)
        self.threshold.link(state, value="threshold", bidirectional=True)
        self.depth.param.watch(self._set_depth, "value")
        self.collective.param.watch(self._set_collective, "value")
        self.ppn.param.watch(self._set_ppn, "value")
        state.param.watch(self.refresh, ["results_id", "collective", "ppn", "max_depth", "limit_depth"])
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        switches = {"align": "end", "margin": (10, 10, 14, 10)}
        self.limit.param.update(**switches)
        self.regions.param.update(**switches)
        self.exact.align = "end"
        return pn.FlexBox(
            self.collective,
            self.ppn,
            self.depth,
            self.limit,
            self.threshold,
            self.exact,
            self.regions,
            align_items="center",
            sizing_mode="stretch_width",
        )

    def refresh(self, *_: Any) -> None:
        """Follow the state."""
        state, cube = self._state, self._state.cube()
        collectives = [name for name in state.param.collective.objects if name is not None]
        self.collective.param.update(options=collectives, value=state.collective, disabled=not collectives)
        ppns = {"most measured" if ppn is None else str(ppn): ppn for ppn in state.param.ppn.objects}
        self.ppn.param.update(options=ppns, value=state.ppn, visible=len(ppns) > 1)
        deepest = 6 if cube is None else levels(cube.sizes["comm_size"], cube.sizes["message_size"])
        end = min(max(deepest, 1), state.param.max_depth.bounds[1])
        self.depth.param.update(end=end, value=min(state.max_depth, end), disabled=not state.limit_depth)

    def _set_depth(self, event: Any) -> None:
        # The slider ends at the depth of the exact tree; a deeper choice made elsewhere is the same tree.
        if event.new != min(self._state.max_depth, self.depth.end):
            self._state.max_depth = event.new

    def _set_collective(self, event: Any) -> None:
        if event.new in self._state.param.collective.objects:
            self._state.collective = event.new

    def _set_ppn(self, event: Any) -> None:
        if event.new in self._state.param.ppn.objects:
            self._state.ppn = event.new

    def _make_exact(self, *_: Any) -> None:
        self._state.param.update(limit_depth=False, threshold=1.0)


def levels(rows: int, columns: int) -> int:
    """Depth that no quadtree over a map of this many rows and columns exceeds."""
    return math.ceil(math.log2(max(rows, columns, 1)))
