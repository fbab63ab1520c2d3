"""The view on show as a link, as a command and as Python: each gives the figures that the page shows."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
from panel.links import Callback
from panel.viewable import Viewer

from dashboard.pages.parts.clipboard import COPY
from dashboard.pages.parts.widgets import Button
from dashboard.session.address import PARAMETERS
from dashboard.session.recipes import as_command, as_python
from dashboard.session.registry import origin_of
from dashboard.session.state import State

_BOX = (
    "margin: 2px 0; padding: 6px 10px; max-height: 132px; overflow: auto; white-space: pre-wrap; "
    "overflow-wrap: anywhere; user-select: all; font: 12px/1.5 ui-monospace, monospace; border-radius: 6px; "
    "background: color-mix(in srgb, currentColor 6%, transparent)"
)
_LINE = {
    "border": "1px solid color-mix(in srgb, currentColor 18%, transparent)",
    "border-radius": "6px",
    "max-width": "980px",
}
_OF_UPLOADS = (
    "<p>What is loaded was uploaded: the paths are those of copies on the machine that runs this dashboard, which are "
    "removed soon after this page is closed. Put the paths of your own files there.</p>"
)
#: What can be copied, by title.
_TITLES = ("Link", "As command", "As Python")


class Share(Viewer):
    """A button for the header, and a panel that it opens.

    Parameters
    ----------
    link
        Gives the address of the view.
    style
        Of the button.
    """

    def __init__(self, state: State, link: Callable[[], str], style: dict[str, Any]) -> None:
        super().__init__()
        self._state, self._link = state, link
        self.button = Button(icon="share", description="Link, command, Python", on_click=self._toggle, **style)
        self.boxes = {title: pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 8)) for title in _TITLES}
        # They hold the texts for the clipboard of the browser; nobody sees them.
        self.holders = {title: pn.widgets.TextAreaInput(visible=False, max_length=1 << 20) for title in _TITLES}
        self._copies: list[Button] = []
        rows = [self._row(title, box) for title, box in self.boxes.items()]
        self.of_uploads = pn.pane.HTML(_OF_UPLOADS, visible=False, sizing_mode="stretch_width", margin=(0, 16))
        parts = *rows, self.of_uploads, *self.holders.values()
        self.line = pn.Column(*parts, visible=False, sizing_mode="stretch_width", margin=(6, 8), styles=_LINE)
        state.param.watch(self._follow, [*PARAMETERS.values(), "results_id", "recipes"])
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(self._forget)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.button

    def _row(self, title: str, box: pn.pane.HTML) -> pn.Row:
        copy = Button(
            label="Copy", variant="text", size="small", width=80, align="center", description=f"Copy: {title}"
        )
        self._copies.append(copy)
        copy.js_on_click(args={"holder": self.holders[title]}, code=COPY)
        name = pn.pane.HTML(f"<strong>{escape(title)}</strong>", width=112, align="center", margin=(0, 8))
        return pn.Row(name, box, copy, sizing_mode="stretch_width", margin=0)

    def _forget(self, *_: Any) -> None:
        # Panel keeps scripts by their button, and this one leads back to it through the holder's models.
        for copy in self._copies:
            Callback.registry.pop(copy, None)

    def _toggle(self, *_: Any) -> None:
        self.line.visible = not self.line.visible
        self._follow()

    def _follow(self, *_: Any) -> None:
        # Nobody reads what is not open.
        if not self.line.visible:
            return
        self.of_uploads.visible = origin_of(self._state.results_id).uploaded
        texts = (self._link(), as_command(self._state), as_python(self._state))
        for title, text in zip(_TITLES, texts, strict=True):
            self.holders[title].value = text
            self.boxes[title].object = f'<pre style="{_BOX}">{escape(text)}</pre>'
