"""The first minute: the way from files to a library's rules, with the next step as a button."""

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.pages.parts.loading import load_sample
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.widgets import Button
from dashboard.session.state import State

#: The way through the pages: what is done, and where.
STEPS = {
    "Data": "Load files",
    "Decisions": "Decide with a tree",
    "Compare": "Compare trees or campaigns",
    "Export": "Export rules, source or a report",
}
_NOTHING = (
    "**Nothing is loaded yet.** Begin with the sample data, five collectives on 2 to 16 nodes of an emulated Fast "
    "Ethernet cluster; or with files of your own: OSU, IMB, SKaMPI, ReproMPI, PICO and others, netCDF or tables."
)
#: Pages that have something to show before anything is loaded.
_OWN = ("Home", "Tune", "Data", "Measure", "Online")


class First(Viewer):
    """The guided path: on every page while nothing is loaded, and on the page *Data* always.

    Parameters
    ----------
    state
        Decides which step is next; steps change its page.
    upload
        Opens the place where files can be dropped.
    """

    def __init__(self, state: State, upload: Callable[[], None]) -> None:
        super().__init__()
        self._state = state
        look = {"color": "primary", "variant": "contained"}
        self.sample = Button(label="Load the sample data and decide", on_click=partial(load_sample, state), **look)
        self.upload = Button(label="Drop your own files", variant="outlined", on_click=lambda _: upload())
        self.text = pn.pane.Markdown("", margin=(4, 10))
        self.steps = {page: Button(label="", size="small", margin=(2, 4)) for page in STEPS}
        for page, button in self.steps.items():
            button.on_click(lambda _, page=page: setattr(self._state, "page", page))
        self.path = pn.FlexBox(
            *self.steps.values(), align_items="center", sizing_mode="stretch_width", margin=(0, 0, 4, 6)
        )
        self.begin = pn.FlexBox(self.sample, self.upload, align_items="center", margin=0)
        self.body = pn.Column(self.path, self.text, self.begin, sizing_mode="stretch_width", margin=(0, 0, 8, 0))
        state.param.watch(self._follow, ["page", "results_id", "busy"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.body

    def _follow(self, *_: Any) -> None:
        state = self._state
        there = state.results is not None
        self.body.visible = state.page == "Data" or (not there and state.page not in _OWN)
        self.begin.visible = not there and not state.busy
        self.text.object = plain(state.busy) if state.busy and state.page not in _OWN else "" if there else _NOTHING
        self.text.visible = bool(self.text.object)
        following = "Decisions" if there else "Data"
        for number, (page, what) in enumerate(STEPS.items(), 1):
            done = there and page == "Data"
            self.steps[page].param.update(
                label=f"{number} {what}{' ✓' if done else ''}",
                variant="contained" if page == following else "outlined",
                disabled=not there and page != "Data",
            )
