"""Pages and their parts: views of the choices of a session."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.pages.parts.later import Rested
from dashboard.plots.backend import use_bokeh
from dashboard.session.state import ResultsOrState, State


class Filling(Viewer):
    """A view whose widgets are followed only where it does not set them itself."""

    _filling = False

    @contextmanager
    def filling(self) -> Iterator[None]:
        """While not somebody but the page itself sets them."""
        before, self._filling = self._filling, True
        try:
            yield
        finally:
            self._filling = before

    def choosing(self, widget: Any, put: Callable[[Any], object], name: str = "value") -> None:
        """Call with what is chosen in a widget, unless it is the view itself that sets it."""
        widget.param.watch(lambda event: None if self._filling else put(event.new), name)


class Section(Viewer):
    """A part of a page."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state


class Made(Section):
    """A part that `_make` makes beside the session, touching nothing that is on the page, and `_show` then shows."""

    def __init__(self, state: State, rest: float = 0.0) -> None:
        super().__init__(state)
        self._made = Rested(self._show, rest, self._make)

    def update(self) -> None:
        """Follow the state."""
        self._made.ask()


class Page(Filling):
    """A page.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__()
        use_bokeh()
        self.state = State.of(shown)


def once_loaded(work: Callable[[], None]) -> None:
    """Do what changes a page: at once, or once the browser has built it, which may lose what comes meanwhile."""
    if pn.state.curdoc is None or pn.state.loaded:
        work()
    else:
        pn.state.onload(work)
