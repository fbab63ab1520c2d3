"""The pictures of the page *Online*: of one course, at one collective and place."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
from panel.io import hold

from dashboard.domain.units import format_bytes, format_count
from dashboard.online import course as courses
from dashboard.online.course import Course
from dashboard.pages.online.view import Pictured
from dashboard.pages.parts.fold import outline
from dashboard.pages.parts.views import Filling
from dashboard.pages.parts.widgets import Figure, MultiChoice, Select
from dashboard.plots import legend, online, online_grids
from dashboard.plots.colors import MethodKey
from dashboard.session.state import State

_CHARTS = ("boxes", "bands", "fits", "coverage", "gain", "workload")
_MOST_METHODS, _FIRST_METHODS = 7, 4
_BEST = {"scenario": "its best method's", "folder": "the best known mean"}


class Charts(Filling):
    """Draws a course.

    Parameters
    ----------
    changed
        Called when something else is to be drawn: with `pictured`.
    """

    def __init__(self, state: State, changed: Callable[[Pictured], None]) -> None:
        super().__init__()
        self._state = state
        self._changed = changed
        self.pictured = Pictured()
        self.course: Course | None = None
        self._kind = ""
        half = {"size": "small", "width": 190}
        self.collective = Select(label="Collective", options=[], **half)
        self.place = Select(
            label="Nodes × processes",
            options=[],
            description="Where the regressions and the probabilities are looked at: nodes, and processes on each.",
            **half,
        )
        self.size = Select(
            label="Message size",
            options=[],
            description="Of the call whose probabilities are drawn over the iterations.",
            **half,
        )
        self.methods = MultiChoice(
            label="Methods of the regressions",
            options=[],
            width=400,
            max_items=_MOST_METHODS,
            description="Those that are drawn against their measurements; at first those that are tried most.",
        )
        chart: dict[str, Any] = {"sizing_mode": "stretch_width", "height": online.HEIGHT, "margin": 0}
        self.panes = {name: Figure(None, **chart) for name in _CHARTS}
        html: dict[str, Any] = {"stylesheets": [legend.STYLE], "sizing_mode": "stretch_width", "margin": (2, 8)}
        self.texts = {name: pn.pane.HTML("", **html) for name in (*_CHARTS, "table")}
        self.bar = pn.FlexBox(
            self.collective, self.place, self.size, self.methods, sizing_mode="stretch_width", align_items="start"
        )
        self.body = pn.Column(self.bar, self._boxes(), self.texts["table"], margin=0, visible=False)
        self.body.sizing_mode = "stretch_width"
        self.coming = outline()
        for field in (self.collective, self.place, self.size, self.methods):
            field.param.watch(self._chosen, "value")
        state.param.watch(self._draw, "scheme")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.coming, self.body, margin=0, sizing_mode="stretch_width")

    def _boxes(self) -> pn.FlexBox:
        flex = {"sizing_mode": "stretch_width", "min_width": 350, "margin": 4, "styles": {"flex": "1 1 420px"}}
        parts = [pn.Column(self.panes[name], self.texts[name], **flex) for name in _CHARTS]
        return pn.FlexBox(*parts, sizing_mode="stretch_width", margin=0, align_items="start")

    def show(self, course: Course, kind: str, pictured: Pictured) -> None:
        """Show a course of a ``scenario`` or a ``folder``, and what of it."""
        self.course, self._kind, self.pictured = course, kind, pictured
        with hold(pn.state.curdoc):
            self.coming.visible, self.body.visible = False, bool(course.models)
            if course.models:
                self._offer()
                self._draw()

    def expect(self, *, coming: bool) -> None:
        """Show an outline while a course is being made and none is there to look at."""
        self.coming.visible = coming and not self.body.visible

    def hide(self) -> None:
        """Show nothing."""
        self.course, self.coming.visible, self.body.visible = None, False, False

    def _offer(self) -> None:
        """Follow what was measured: collectives, places and sizes to look at."""
        course, wanted = self.course, self.pictured
        if course is None:
            return
        with self.filling():
            names = course.collectives
            name = wanted.collective if wanted.collective in names else names[0]
            self.collective.param.update(options=names, value=name)
            places = {online_grids.place_words(*each): each for each in course.places(name)}
            last = list(places.values())[-1]
            self.place.param.update(options=places, value=wanted.place if wanted.place in places.values() else last)
            sizes = {format_bytes(each): each for each in course.sizes(name)}
            middle = list(sizes.values())[len(sizes) // 2]
            size = wanted.message_size
            self.size.param.update(options=sizes, value=size if size in sizes.values() else middle)
            labels = course.labels(name)
            chosen = None if wanted.methods is None else [each for each in wanted.methods if each in labels]
            self.methods.param.update(options=labels, value=self._likeliest(labels) if chosen is None else chosen)

    def _likeliest(self, labels: list[str]) -> list[str]:
        share = self._share()
        order = np.argsort(-share[-1], kind="stable") if share.size else range(len(labels))
        return [labels[place] for place in list(order)[:_FIRST_METHODS]]

    def _share(self) -> Any:
        if self.course is None or self.place.value is None:
            return np.empty((0, 0))
        return courses.bands(self.course, self.collective.value, (self.size.value, *self.place.value))

    def _chosen(self, event: Any) -> None:
        if self._filling or self.course is None:
            return
        with hold(pn.state.curdoc):
            if event.obj is self.collective:
                self.pictured = replace(self.pictured, collective=event.new, methods=None)
                self._offer()
                self._draw()
            elif event.obj is self.methods:
                self.pictured = replace(self.pictured, methods=tuple(event.new))
                self._draw_fits()
            else:
                chosen = "place" if event.obj is self.place else "message_size"
                self.pictured = replace(self.pictured, **{chosen: event.new})
                self._draw_place()
        self._changed(self.pictured)

    def _draw(self, *_: Any) -> None:
        course, name = self.course, self.collective.value
        if course is None or not course.models or name is None:
            return
        self._put("boxes", online.boxes_chart(course.iterations, _BEST[self._kind]), online.kinds_legend())
        seen = courses.coverage(course, name)
        bins = course.models[-1].choices[name].bins.count
        self._put("coverage", online_grids.coverage_map(seen), f"<small>{len(seen):,} of {bins:,} bins</small>")
        beside = courses.beside_default(course, name)
        unknown = int(beside["ratio"].isna().sum())
        aside = f"; not known at {unknown:,}" if unknown else ""
        words = f"<small>{format_count(len(beside), 'size')} called{aside}. Below 1 takes less time.</small>"
        self._put("gain", online_grids.gain_map(beside), words)
        calls = courses.called(course)
        left = len(calls) - online.MOST_CALLS
        words = f"<small>{calls['calls'].sum():,} calls" + (
            f"; not drawn: {format_count(left, 'size')}</small>" if left > 0 else "</small>"
        )
        self._put("workload", online.workload_chart(calls), words)
        self.texts["table"].object = online.iterations_table(course.iterations)
        self._draw_place()

    def _draw_place(self) -> None:
        course = self.course
        if course is None:
            return
        share = self._share()
        key = self._key(course)
        where = f"{format_bytes(self.size.value)} on {online_grids.place_words(*self.place.value)}"
        numbers = [int(iteration["iteration"]) for iteration in course.iterations]
        drawn = online.bands_chart(share, numbers, key, f"Tried at {where}")
        self._put("bands", drawn, online.bands_legend(key, share))
        self._draw_fits()

    def _key(self, course: Course) -> MethodKey:
        return MethodKey.of(course.labels(self.collective.value), self._state.scheme)

    def _draw_fits(self) -> None:
        course, name = self.course, self.collective.value
        if course is None:
            return
        labels = dict(enumerate(course.labels(name), 1))
        points, lines = courses.fits(course, name, *self.place.value)
        points, lines = (frame.assign(method=frame["alg"].map(labels)) for frame in (points, lines))
        where = online_grids.place_words(*self.place.value)
        chosen = list(self.methods.value)
        key = self._key(course)
        drawn = online.fits_chart(points, lines, chosen, key, f"Regressions and means, {where}")
        self._put("fits", drawn, online.fits_legend(chosen, key))

    def _put(self, name: str, drawn: hv.Overlay, text: str) -> None:
        self.panes[name].object = drawn
        self.texts[name].object = text
