"""How the measurements are treated before deciding: ties, outliers, missing cells, workload."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.widgets import Button, FileInput, FloatSlider, Select, Switch
from dashboard.plots import legend
from dashboard.plots.outliers import outlier_table
from dashboard.session.state import DATA, State
from dashboard.session.view import TIE_TESTS, TIES
from loaders import LoadError
from loaders.workload import read_workload

_SHOWN = {"within the tolerance": TIE_TESTS[0], "not told apart by a test (5 %)": TIE_TESTS[1]}
#: Widgets and the params that they choose.
_CHOICES = {"shown": "tie_test", "learnt": "ties", "outliers": "outliers", "interpolate": "interpolate"}
_LEARNT = {"the fastest": TIES[0], "what gives fewer rules": TIES[1]}


class Noise(Viewer):
    """Choices that take the noise seriously, and the outliers that were found.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self.tolerance = FloatSlider(
            label="Tie tolerance [%]",
            start=0,
            end=20,
            step=0.5,
            value=state.tolerance,
            width=220,
            description="Methods within so much of the fastest count as tied with it. Another than the fastest may "
            "give a simpler and more stable decision (dissertation, 5.1).",
        )
        self.shown = Select(
            label="Ties hatched on the map",
            options=_SHOWN,
            value=state.tie_test,
            width=270,
            description="By the tolerance, or by Yuen's test on the repetitions (Biometrika 61, 1974), Welch's where "
            "there is a summary only. Many methods are allowed for (S. Holm, Scand. J. Stat. 6, 1979).",
        )
        self.learnt = Select(
            label="Of tied methods trees learn",
            options=_LEARNT,
            value=state.ties,
            width=230,
            description="The fastest method of each cell, or among those tied with it what neighbouring sizes take as "
            "well, which gives fewer rules. That needs a tolerance above 0 (dissertation, 5.1).",
        )
        self.outliers = Switch(
            label="Leave outliers out",
            value=state.outliers,
            margin=(10, 10, 14, 10),
            description="Leave out repetitions far from their cell by Tukey's fences (Exploratory Data Analysis, "
            "1977), and cells far from their neighbours. One bad message size made every penalty above 40 % of the "
            "dissertation's broadcast (6.2.2).",
        )
        self.interpolate = Switch(
            label="Interpolate missing times",
            value=state.interpolate,
            margin=(10, 10, 14, 10),
            description="Fill a missing time from the same method's two next message sizes, on a straight line between "
            "their logarithms. Nothing is filled in beyond what was measured.",
        )
        self.workload = FileInput(
            label="Workload",
            accept=".csv,.tsv,.txt",
            margin=(10, 10),
            description="A table of calls: collective, comm_size, message_size, calls. It weighs every mean by how "
            "often an application makes each call.",
        )
        self.unweigh = Button(label="No workload", variant="text", on_click=lambda _: state.weigh(None), visible=False)
        style = [legend.STYLE]
        self.table = pn.pane.HTML("", stylesheets=style, sizing_mode="stretch_width")
        self._made = Rested(self._show, 0.0, self._make)
        for name, parameter in _CHOICES.items():
            getattr(self, name).param.watch(partial(self._ask, parameter), "value")
        self.tolerance.param.watch(self._set_tolerance, "value_throttled")
        self.workload.param.watch(self._weigh, "value")
        state.param.watch(self._follow, [*DATA, "tie_test"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(
            self.tolerance,
            self.shown,
            self.learnt,
            self.outliers,
            self.interpolate,
            self.workload,
            self.unweigh,
            align_items="center",
            sizing_mode="stretch_width",
            margin=(14, 0, 0, 0),
        )
        return pn.Column(bar, self.table, sizing_mode="stretch_width")

    def update(self) -> None:
        """Follow the state."""
        self._made.ask()

    def _follow(self, *_: Any) -> None:
        value = self._state.tolerance
        self.tolerance.param.update(end=max(20.0, value), value=value)
        for name, parameter in _CHOICES.items():
            getattr(self, name).value = getattr(self._state, parameter)
        self.unweigh.visible = bool(self._state.workload)
        self.learnt.disabled = value == 0 and self._state.ties == TIES[0]

    def _ask(self, parameter: str, event: Any) -> None:
        self._state.ask(**{parameter: event.new})

    def _set_tolerance(self, event: Any) -> None:
        self._state.ask(tolerance=float(event.new))

    def _weigh(self, event: Any) -> None:
        if not event.new:
            return
        with TemporaryDirectory() as folder:
            path = Path(folder) / Path(self.workload.filename or "workload.csv").name
            path.write_bytes(event.new)
            try:
                self._state.weigh(read_workload(path))
            except LoadError as error:
                self._state.notice = str(error).replace(f"{folder}/", "")

    def _make(self) -> str:
        found = self._state.found_outliers()
        return "" if found is None else outlier_table(found, left_out=self._state.outliers)

    def _show(self, told: str) -> None:
        self.table.object = told
