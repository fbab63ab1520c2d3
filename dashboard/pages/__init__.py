"""One thin viewer per page over the state; a page's layout is plain, so it also stands in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from panel.viewable import Viewer

__all__ = ["data", "decisions", "frame", "page_class", "parts"]


def page_class(name: str) -> type[Viewer]:
    """Viewer of a page by its name in the navigation, `measure` or `measure.page` here; imported when it is asked for.

    Raises
    ------
    ModuleNotFoundError, AttributeError
        There is no such module, or no class ``<Name>Page`` in it.
    """
    module = import_module(f"{__name__}.{name.lower()}")
    if hasattr(module, "__path__"):
        module = import_module(f"{module.__name__}.page")
    page: type[Viewer] = getattr(module, f"{name}Page")
    return page
