"""Widgets of the pages: the one place where their library is named.

Importing panel-material-ui changes, in the whole process, which widgets Panel builds from params;
pages therefore take their widgets from here, and so does the app.
"""

import asyncio
import io
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import panel as pn
import panel_material_ui as pmui
import param

from dashboard.pages.parts.reports import plain

#: Without the room of a title and of paragraphs, so that a sentence stands beside the sign.
_CLOSE: dict[str, Any] = {
    "margin": (4, 10),
    "sx": {"& .MuiAlertTitle-root": {"display": "none"}, "& p": {"margin": 0}},
}
Alert = partial(pmui.Alert, **_CLOSE)
Button = pmui.Button
#: In the dark theme too its signs for more and less are seen.
_SEEN = {"& .MuiInputAdornment-root .MuiIconButton-root:not(.Mui-disabled)": {"color": "text.secondary"}}
FloatSlider = pmui.FloatSlider
FloatInput = partial(pmui.FloatInput, sx=_SEEN)
IntInput = partial(pmui.IntInput, sx=_SEEN)
LinearProgress = pmui.LinearProgress
MenuList = pmui.MenuList
#: As high as the other fields while its choices stand in one line.
MultiChoice = partial(pmui.MultiChoice, sx={"& .MuiSelect-select": {"py": "12px", "minHeight": "56px !important"}})
Pagination = pmui.Pagination
RadioButtonGroup = pmui.RadioButtonGroup
#: One of a few in a line, each in one line of its own.
_IN_LINE = {"& .MuiToggleButton-root": {"whiteSpace": "nowrap", "px": 2}}
Toggle = partial(pmui.RadioButtonGroup, label="", size="small", sx=_IN_LINE)
Switch = pmui.Switch
Tabs = pmui.Tabs
TextAreaInput = pmui.TextAreaInput
TextInput = pmui.TextInput


def clamped(field: Any) -> int:
    """The number in a field within its limits, which may be typed over; the field goes back to them, and says so."""
    low, high = field.start, field.end
    typed = int(field.value if field.value is not None else low)
    number = max(typed, low) if high is None else min(max(typed, low), high)
    # Who follows the value comes here once more, and finds nothing to say.
    field.value = number
    field.helper_text = "" if typed == number else f"at {'most' if typed > number else 'least'} {number:,}"
    return number


class Message(pmui.Alert):
    """What a page has to say, hidden while there is nothing; `text` is that, as it was given.

    Parameters
    ----------
    width
        Pixels; None: as wide as the page.
    **look
        Options of Panel.
    """

    def __init__(self, width: int | None = None, **look: Any) -> None:
        room = {"sizing_mode": "stretch_width"} if width is None else {"width": width}
        super().__init__(object="", severity="info", visible=False, **_CLOSE | room | look)
        self.text = ""

    def say(self, text: str, severity: str = "info", *, linked: bool = False) -> None:
        """Show a text as it is, since files may decide what stands in it; `linked`: it is Markdown of our own."""
        self.text = text
        self.param.update(object=text if linked else plain(text), severity=severity, visible=bool(text))


class Figure(pn.pane.HoloViews):
    """A figure, whose axes are its own.

    Panel links all axes of one name, on all pages, and widens each to what any of them shows or has shown.
    """

    linked_axes = param.Boolean(default=False)
    #: What is to be shown is shown in Panel's own.
    priority: ClassVar[float | None] = 0.0


class _Kept:
    """Mixin for widgets that stay at their value when they are offered others, or the same by other labels.

    The browser knows the value by its place or its label alone, and is told it only when the value changes.
    """

    def _process_param_change(self, msg: dict[str, Any]) -> dict[str, Any]:
        if "options" in msg and self.value in self.values:
            msg = {**msg, "value": self.value}
        changed: dict[str, Any] = super()._process_param_change(msg)
        return changed


class DiscreteSlider(_Kept, pmui.DiscreteSlider):
    """A slider that keeps its place."""


class Select(_Kept, pmui.Select):
    """A menu that, closed, reads as what is chosen is called now."""


class FileInput(pmui.FileInput):
    """A file input whose `value` tells of every upload: of an empty file too, and of the same content again.

    The browser sends an empty file in no piece at all, so that not even its name comes.
    """

    def _update_file(self, filename: Any, mime_type: Any, value: Any) -> None:
        content = value or b""
        again = content == self.value
        super()._update_file(filename or "upload", mime_type or "", content)
        if again:
            self.param.trigger("value")


class FileDownload(pmui.FileDownload):
    """A button for a file that `make` gives when it is pressed, as text or bytes; on another thread if it is `slow`."""

    def __init__(
        self, make: Callable[[], str | bytes], *, variant: str = "contained", slow: bool = False, **params: Any
    ) -> None:
        def made() -> io.BytesIO:
            content = make()
            return io.BytesIO(content.encode() if isinstance(content, str) else content)

        async def beside() -> io.BytesIO:
            return await asyncio.to_thread(made)

        super().__init__(callback=beside if slow else made, **params)
        # Told with the others, Panel takes it for its older name and warns.
        self.variant = variant


class Page(pmui.Page):
    """The template; its plots let go of a session that has ended.

    Bokeh has emptied all models by then, and Panel, which asks those of these widgets for their children, finds none to
    clean up. HoloViews keeps what listens to taps for the whole process: through it every session would be held.
    """

    def _cleanup(self, root: Any = None) -> None:
        for pane in self.select(pn.pane.HoloViews):
            pane._cleanup(root)  # noqa: SLF001 - Panel's own way through a page
        super()._cleanup(root)


_AT_ONCE = {"& .MuiSlider-thumb, & .MuiSlider-track": {"transition": "none"}}


class _Live:
    """Mixin for sliders whose every position reaches the server at once.

    Panel holds each event back for 50 ms. What follows these sliders drops stale positions itself
    (`dashboard.pages.parts.later`), so the wait would only be seen as lag. Nor does the thumb glide to where it is put:
    for 150 ms the browser would draw the page anew, frame by frame, in which the maps are to be drawn.
    """

    # Panel has no public settings for these. Telling the template that the page is busy and no longer so
    # walks over every model of the page, twice: 90 ms, longer than the maps take to follow.
    _busy__ignore: ClassVar[list[str]] = ["data.value", "data.value_throttled", "value", "value_throttled"]

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"sx": _AT_ONCE, **params})
        self._debounce = 0

    @property
    def _linked_properties(self) -> tuple[str, ...]:
        # Where a slider comes to rest it has been before: nothing follows the second event, which would be
        # handled before the maps that follow the first one are sent.
        linked: tuple[str, ...] = super()._linked_properties
        return tuple(name for name in linked if name != "value_throttled")


class LiveIntSlider(_Live, pmui.IntSlider):
    """An integer slider without Panel's wait."""


class LiveFloatSlider(_Live, pmui.FloatSlider):
    """A slider without Panel's wait."""


class LiveDiscreteSlider(_Live, DiscreteSlider):
    """A slider over some values without Panel's wait."""
