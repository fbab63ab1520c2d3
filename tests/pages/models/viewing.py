"""The page *Models* as a browser would have it, and what is drawn on it."""

from __future__ import annotations

from typing import Any

from bokeh.document import Document

from dashboard.pages.models.page import TABS, ModelsPage
from dashboard.session.state import State


def shown(state: State) -> ModelsPage:
    """The page, with what it draws rendered: its tabs. That the widgets beside them are is a browser's test."""
    page = ModelsPage(state)
    page.tabs.get_root(Document())
    return page


def source(live: Any, name: str) -> dict[str, Any]:
    """Columns of what is drawn under a name."""
    (plot,) = live._plots[name]
    return plot.handles["source"].data


def open_tab(page: ModelsPage, title: str) -> Any:
    """The part of the page behind a tab, once it is on show."""
    page.tabs.active = TABS.index(title)
    return page.parts[page.tabs.active]
