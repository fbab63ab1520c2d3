"""A page of two columns: what is chosen, and what it gives."""

from collections.abc import Sequence
from typing import Any

import panel as pn

#: A column may be higher than the window: cut off at its height, another one below would stand over the rest of it.
_UNCUT = {"max-height": "none"}


def columns(choose: Sequence[Any], show: Sequence[Any], width: int) -> pn.FlexBox:
    """Two columns side by side, or one below the other where there is no room for both.

    Parameters
    ----------
    choose
        On the left, so wide.
    show
        On the right, in what is left of the width.
    width
        Of the left column, pixels.
    """
    left = pn.Column(*choose, width=width, margin=(0, 16, 0, 0), styles=_UNCUT)
    wide = _UNCUT | {"flex": "1 1 480px"}
    right = pn.Column(*show, sizing_mode="stretch_width", min_width=480, margin=0, styles=wide)
    return pn.FlexBox(left, right, sizing_mode="stretch_width", margin=0, align_items="start", styles=_UNCUT)
