"""Tables of what files say."""

from html import escape
from typing import Any

import pandas as pd
import panel as pn
from pandas.api.types import is_numeric_dtype

#: Text on what is chosen is read in light and in dark.
_LOOK = """:host .tabulator { font-size: 13px; }
:host .tabulator .tabulator-row.tabulator-selected {
  background: color-mix(in srgb, var(--panel-primary-color, #0b6bcb) 22%, transparent) !important;
  color: inherit !important; }"""
#: Shows markup as what it stands for; as ours is escaped before, that is text again.
_TEXT = {"type": "html"}


def table(frame: pd.DataFrame, formatters: dict[str, Any] | None = None, **params: Any) -> pn.widgets.Tabulator:
    """Make a table that is only looked at, whatever its texts hold; a text that is cut is whole in a tooltip.

    Tabulator takes the texts of its tooltips and of its column titles for markup. Both therefore get them escaped.

    Parameters
    ----------
    frame
        Its columns of texts may come from files.
    formatters, **params
        As for `panel.widgets.Tabulator`.
    """
    texts = [name for name in frame.columns if not is_numeric_dtype(frame[name])]
    numbers = [name for name in frame.columns if name not in texts]
    params.setdefault("layout", "fit_columns")
    configuration = params.pop("configuration", {})
    return pn.widgets.Tabulator(
        frame.assign(**{name: ["" if each is None else escape(str(each)) for each in frame[name]] for name in texts}),
        show_index=False,
        disabled=True,
        sizing_mode="stretch_width",
        stylesheets=[_LOOK],
        titles={name: escape(str(name)) for name in frame.columns},
        formatters={**dict.fromkeys(texts, _TEXT), **(formatters or {})},
        header_align=dict.fromkeys(numbers, "right"),
        text_align=dict.fromkeys(numbers, "right"),
        configuration={"columnDefaults": {"tooltip": True}, **configuration},
        **params,
    )
