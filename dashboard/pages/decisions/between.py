"""Times between the measured sizes: a slice through the surfaces that the recommendation decides on."""

from html import escape
from typing import Any

import numpy as np
import panel as pn
from panel.io import hold

from dashboard.decisions.judged.penalty import given_of
from dashboard.decisions.surfaces.along import Along, Slicing
from dashboard.domain.held_out import BETWEEN
from dashboard.domain.units import format_percent
from dashboard.pages.parts.later import Newest
from dashboard.pages.parts.views import Made
from dashboard.pages.parts.widgets import DiscreteSlider, Figure, RadioButtonGroup
from dashboard.plots import legend
from dashboard.plots.axes import OTHER
from dashboard.plots.between import HEIGHT, slice_chart, slice_table, slice_title, slice_words
from dashboard.plots.models.chart import write_size
from dashboard.plots.models.curves import AXES
from dashboard.plots.view_maps import Scene
from dashboard.session.state import State


class Between(Made):
    """Expected times with bands along one of the sizes, and who is chosen and fastest between the measured ones."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._slicing: Slicing | None = None
        self._of: Any = None
        titles = {AXES[axis].capitalize(): axis for axis in OTHER}
        self.axis = RadioButtonGroup(label="", options=titles, value="message_size", size="small", width=260)
        self.held = DiscreteSlider(
            label="At",
            options=[0],
            value=0,
            width=220,
            description="The other size of the slice; that of the pinned cell, where one is.",
        )
        self.pane = Figure(None, sizing_mode="stretch_width", height=HEIGHT)
        self.note, self.figures = (
            pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width") for _ in range(2)
        )
        self.redraw = Newest(self._draw)
        self.axis.param.watch(self._offer, "value")
        self.held.param.watch(self.redraw.ask, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(self.axis, self.held, align_items="center", sizing_mode="stretch_width")
        return pn.Column(bar, self.pane, self.note, self.figures, sizing_mode="stretch_width")

    def _make(self) -> tuple[Any, Slicing | None]:
        view = self._state.view
        return view.data_key, None if view.prepared is None else view.prepared.slicing

    def _show(self, prepared: tuple[Any, Slicing | None]) -> None:
        self._of, self._slicing = prepared
        self._offer()

    def _offer(self, *_: Any) -> None:
        """Offer the measured values of the size that is held."""
        if self._slicing is None:
            self.pane.object = None
            return
        other = OTHER[self.axis.value]
        sizes = self._slicing.sizes(other).tolist()
        pinned = self._pinned(other)
        value = pinned if pinned in sizes else self.held.value if self.held.value in sizes else sizes[-1]
        self.held.param.update(options={write_size(other, size): size for size in sizes}, value=value)
        self.redraw.ask()

    def _pinned(self, other: str) -> int | None:
        cell = self._state.pinned
        return None if cell is None else cell[0 if other == "comm_size" else 1]

    def _draw(self) -> None:
        scene, slicing = Scene.of(self._state.view), self._slicing
        if scene is None or slicing is None or self._of != self._state.view.data_key:
            return
        along, key = slicing.along(self.axis.value, self.held.value), scene.key
        chosen = self._chosen(scene, along)
        words = slice_words(along, chosen, slicing.predictor.name)
        with hold(pn.state.curdoc):
            title = slice_title(str(self._state.collective), along)
            self.pane.object = slice_chart(along, chosen, key, title)
            self.note.object = self._said(words, slicing)
            self.figures.object = slice_table(along, chosen, key)

    def _chosen(self, scene: Scene, along: Along) -> Any:
        """The method of the cube that the tree on show takes at each size; -1 without a tree."""
        decision = self._state.view.decision()
        if decision is None:
            return np.full(along.sizes.size, -1)
        sizes = {along.axis: along.sizes, OTHER[along.axis]: np.full(along.sizes.size, along.held)}
        given = given_of(scene.cube, decision, scene.dmap.attrs.get("ppn"))
        codes = decision.predict(sizes["comm_size"], sizes["message_size"], **given)
        places = {label: place for place, label in enumerate(scene.key.labels)}
        return np.array([places.get(decision.methods[code].label, -1) for code in codes])

    @staticmethod
    def _said(words: dict[str, Any], slicing: Slicing) -> str:
        tried = "; ".join(f"{escape(each.name)} {format_percent(each.mean)}" for each in slicing.judged)
        text = f"Times between measured sizes: {escape(words['predictor'])}"
        text += f" (fastest methods {BETWEEN}: {tried}). " if tried else ". "
        text += "Bands hold 90 % of such times; right of the dotted line nothing was measured. "
        text += "The upper ribbon shows the tree's choice, the lower one the method that is expected to be fastest. "
        text += f"The fastest method is certain at {words['sure']} of the sizes. "
        if words["penalty"]:
            text += f"<strong>The tree on show is expected to cost {words['penalty']} on this slice.</strong>"
        return f"<p>{text}</p>"
