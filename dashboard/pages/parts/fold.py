"""What is shown only when it is asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import panel as pn
import param
from panel.viewable import Viewer

from dashboard.pages.parts.widgets import Button, Tabs
from dashboard.session.address import TABS
from dashboard.session.state import State

#: The word comes after 300 ms: most is there before.
_OUTLINE = """<style>@keyframes late { from { visibility: hidden; } }</style>
<div style="background: color-mix(in srgb, currentColor 8%, transparent); border-radius: 6px; height: 340px;
  display: grid; place-items: center"><span style="animation: late 300ms steps(1)">Computing …</span></div>"""


class Fold(Viewer):
    """What is shown when its title is pressed, and hidden when that is pressed again.

    Parameters
    ----------
    title
        On the button.
    *objects
        What is hidden at first.
    """

    def __init__(self, title: str, *objects: Any) -> None:
        super().__init__()
        self.button = Button(label=title, icon="expand_more", variant="text", size="small", on_click=self._turn)
        self.body = pn.Column(*objects, margin=0, visible=False)
        self.disclosure = pn.Column(self.button, self.body, margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.disclosure

    def _turn(self, _: Any) -> None:
        self.body.visible = not self.body.visible
        self.button.icon = "expand_less" if self.body.visible else "expand_more"


def outline() -> pn.pane.HTML:
    """What stands until what is being made does."""
    return pn.pane.HTML(_OUTLINE, margin=(16, 10), sizing_mode="stretch_width")


def tabs(state: State, page: str, contents: Sequence[Any]) -> Tabs:
    """Tabs of a page, see `open_tabs`, of which the address names the open one."""
    titles = TABS[page]
    made = open_tabs(dict(zip(titles, contents, strict=True)))

    def tell(*_: Any) -> None:
        if state.on_show(page):
            state.tab = titles[made.active] if made.active else ""

    def follow(*events: param.parameterized.Event) -> None:
        if not any(event.name == "tab" for event in events):
            # Only the page is another: its tab is the one that was left open.
            tell()
        elif state.on_show(page):
            made.active = titles.index(state.tab) if state.tab in titles else 0

    made.param.watch(tell, "active")
    state.param.watch(follow, ["page", "tab"])
    if state.on_show(page) and state.tab in titles:
        made.active = titles.index(state.tab)
    return made


def open_tabs(contents: Mapping[str, Any]) -> Tabs:
    """Tabs whose contents are made for the browser when they are first opened, and are kept from then on.

    Parameters
    ----------
    contents
        What each holds, by its title.
    """
    held = list(contents.values())
    wide: dict[str, Any] = {"sizing_mode": "stretch_width"}
    rooms = [pn.Column(outline(), margin=0, **wide) for _ in held]
    waiting = set(range(len(rooms)))
    made = Tabs(*zip(contents, rooms, strict=True), **wide)

    def fill(*_: Any) -> None:
        if made.active in waiting:
            waiting.remove(made.active)
            rooms[made.active].objects = [held[made.active]]

    made.param.watch(fill, "active")
    fill()
    return made
