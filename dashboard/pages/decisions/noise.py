"""How the measurements are treated before deciding: ties, outliers, missing cells, workload."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import panel as pn

from dashboard.domain.options import Option
from dashboard.pages.parts.options import UNLIMITED, common, widget_of
from dashboard.pages.parts.views import Made
from dashboard.pages.parts.widgets import FileInput, FloatSlider, Select
from dashboard.plots import legend
from dashboard.plots.outliers import outlier_table
from dashboard.session.state import DATA, State
from dashboard.session.treatment import LEVEL, OPTIONS
from loaders import LoadError, disk
from loaders.workload import read_workload

#: Levels of the test that are offered.
_LEVELS = {"no test": UNLIMITED, "ties by a test at 5 %": LEVEL, "at 1 %": 0.01}
#: Options that have widgets of their own kind, or none.
_APART = ("tolerance", "parameters")


def _widget(option: Option, value: Any) -> Any:
    """A switch or a menu for an option of the treatment."""
    if option.kind != "float":
        return widget_of(option, value, 230)
    return Select(options=_LEVELS, value=UNLIMITED if value is None else value, width=230, **common(option))


class Noise(Made):
    """Choices that take the noise seriously, and the outliers that were found."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        options = {option.name: option for option in OPTIONS}
        self.tolerance = FloatSlider(
            label="Tie tolerance [%]",
            start=0,
            end=20,
            step=0.5,
            value=state.tolerance,
            width=220,
            description=options["tolerance"].help,
        )
        #: Switches and selects by the params that they choose.
        self.choices = {n: _widget(option, getattr(state, n)) for n, option in options.items() if n not in _APART}
        self.workload = FileInput(
            label="Workload",
            accept=".csv,.tsv,.txt",
            margin=(10, 10),
            description="A table of calls: collective, comm_size, message_size, calls. It weighs every mean by how "
            "often an application makes each call.",
        )
        style = [legend.STYLE]
        self.table = pn.pane.HTML("", stylesheets=style, sizing_mode="stretch_width")
        #: Why the workload chosen last was refused.
        self._refused = ""
        for name, widget in self.choices.items():
            widget.param.watch(partial(self._ask, name), "value")
        self.tolerance.param.watch(lambda event: state.ask(tolerance=float(event.new)), "value_throttled")
        self.workload.param.watch(self._weigh, "value")
        state.param.watch(self._follow, [*DATA])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        parts = self.tolerance, *self.choices.values(), self.workload
        bar = pn.FlexBox(*parts, align_items="center", sizing_mode="stretch_width", margin=(14, 0, 0, 0))
        return pn.Column(bar, self.table, sizing_mode="stretch_width")

    def _follow(self, *_: Any) -> None:
        value = self._state.tolerance
        self.tolerance.param.update(end=max(20.0, value), value=value)
        for name, widget in self.choices.items():
            chosen = getattr(self._state, name)
            wanted = UNLIMITED if chosen is None else chosen
            if isinstance(widget, Select) and wanted not in widget.options.values():
                widget.options = {**widget.options, f"{wanted:g}": wanted}
            widget.value = wanted
        workload = self._state.view.treatment.workload
        # The widget itself would name what was chosen last, also where that was refused.
        label = "Workload" if workload is None else f"Workload: {Path(workload.name).name}"
        self.workload.param.update(label=label, uploaded_label=label)
        self.choices["ties"].disabled = value == 0 and self._state.statistical is None

    def _ask(self, parameter: str, event: Any) -> None:
        self._state.ask(**{parameter: None if event.new == UNLIMITED else event.new})

    def _weigh(self, event: Any) -> None:
        if event.new is None:
            return
        name = Path(self.workload.filename or "workload.csv").name
        # The same file may be chosen again, after it was taken away or put right.
        self.workload.clear()
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            disk.write_bytes(path, event.new)
            try:
                calls = read_workload(path)
            except LoadError as error:
                self._refused = str(error).replace(f"{folder}/", "")
                self._state.notice = self._refused
                self._follow()
                return
        if self._state.notice == self._refused:
            self._state.notice = ""
        calls.attrs["path"] = name
        self._state.weigh(calls)

    def _make(self) -> str:
        table = self._state.view.outliers()
        return "" if table is None else outlier_table(table, left_out=self._state.outliers)

    def _show(self, html: str) -> None:
        self.table.object = html
