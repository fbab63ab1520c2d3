"""The page *Models*, and what is drawn on it."""

from typing import Any

from bokeh.document import Document

from dashboard.pages.models.page import TABS, ModelsPage


def drawn(part: Any) -> Any:
    """A part of the page, rendered as for a browser."""
    part.__panel__().get_root(Document())
    return part


def source(part: Any, name: str) -> dict[str, Any]:
    """Columns of what a part draws under a name; it is rendered where it is not yet."""
    if not part.live._plots[name]:
        drawn(part)
    (plot,) = part.live._plots[name]
    return plot.handles["source"].data


def open_tab(page: ModelsPage, title: str) -> Any:
    """The part of the page behind a tab, once it is on show."""
    page.tabs.active = TABS.index(title)
    return page.parts[page.tabs.active]
