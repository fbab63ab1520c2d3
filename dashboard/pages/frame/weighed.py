"""That a workload weighs the figures, on each page whose figures it weighs, and the way back."""

from typing import Any

import panel as pn

from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.views import Section
from dashboard.pages.parts.widgets import Button
from dashboard.session.state import State

#: Pages whose figures a workload weighs.
_PAGES = ("Decisions", "Compare", "Frontier", "Export")


class Weighed(Section):
    """Names the workload that weighs the figures on show, and takes it away."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.text = pn.pane.Markdown("", margin=(0, 10), styles={"font-size": "14px"})
        self.unweigh = Button(label="No workload", variant="outlined", size="small", margin=(6, 4))
        self.unweigh.on_click(lambda _: state.weigh(None))
        self.body = pn.FlexBox(self.text, self.unweigh, align_items="center", sizing_mode="stretch_width", margin=0)
        state.param.watch(self._follow, ["page", "workload"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.body

    def _follow(self, *_: Any) -> None:
        workload = self._state.view.treatment.workload
        self.body.visible = workload is not None and self._state.page in _PAGES
        if workload is not None:
            self.text.object = plain(
                f"Mean, worst and held-out figures are weighted by the workload {workload.name}. Maps and their "
                "legends show every measured cell, called or not."
            )
