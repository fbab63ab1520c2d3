"""Widgets of the pages: the one place where their library is named.

Importing panel-material-ui changes, in the whole process, which widgets Panel builds from params;
pages therefore take their widgets from here, and so does the app.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import panel_material_ui as pmui

#: Without the room of a title and of paragraphs, so that a sentence stands beside the sign.
Alert = partial(pmui.Alert, sx={"& .MuiAlertTitle-root": {"display": "none"}, "& p": {"margin": 0}})
Button = pmui.Button
Card = pmui.Card
DiscreteSlider = pmui.DiscreteSlider
FileDownload = pmui.FileDownload
FileInput = pmui.FileInput
#: In the dark theme too its signs for more and less are seen.
_SEEN = {"& .MuiInputAdornment-root .MuiIconButton-root:not(.Mui-disabled)": {"color": "text.secondary"}}
FloatInput = partial(pmui.FloatInput, sx=_SEEN)
IntInput = partial(pmui.IntInput, sx=_SEEN)
LinearProgress = pmui.LinearProgress
MenuList = pmui.MenuList
MultiChoice = pmui.MultiChoice
Page = pmui.Page
Pagination = pmui.Pagination
RadioButtonGroup = pmui.RadioButtonGroup
Select = pmui.Select
Switch = pmui.Switch
Tabs = pmui.Tabs
TextAreaInput = pmui.TextAreaInput
TextInput = pmui.TextInput


def live_slider(kind: type[pmui.IntSlider | pmui.FloatSlider], **params: Any) -> Any:
    """Make a slider whose every position reaches the server at once.

    Panel holds each event back for 50 ms. What follows these sliders drops stale positions itself
    (`dashboard.pages._later`), so the wait would only be seen as lag.
    """
    slider = kind(**params)
    # Panel has no public settings for these. Telling the template that the page is busy and no longer so
    # walks over every model of the page, twice: 90 ms, longer than the maps take to follow.
    slider._debounce = 0  # noqa: SLF001
    slider._busy__ignore = ["data.value", "data.value_throttled", "value", "value_throttled"]  # noqa: SLF001
    return slider


def int_slider(**params: Any) -> pmui.IntSlider:
    """Make an integer slider without Panel's wait."""
    return live_slider(pmui.IntSlider, **params)


def float_slider(**params: Any) -> pmui.FloatSlider:
    """Make a slider without Panel's wait."""
    return live_slider(pmui.FloatSlider, **params)
