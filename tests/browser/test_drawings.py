"""How often the maps of a page that is opened are drawn until they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.maps import wait_until_drawn
from tests.browser.tour import seen, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import WatchedPage
    from tests.serving import Served

pytestmark = pytest.mark.browser

#: Counts what is drawn of each figure by its title, also where another figure takes its place.
_COUNT = """
window.drawn = {}
let bokeh
Object.defineProperty(window, 'Bokeh', {get: () => bokeh, set: (value) => {
    bokeh = value
    const {PlotView} = bokeh.require('models/plots/plot_canvas'), {_paint_primary} = PlotView.prototype
    PlotView.prototype._paint_primary = function (...layers) {
        const title = this.model.title?.text
        window.drawn[title] = (window.drawn[title] ?? 0) + 1
        _paint_primary.apply(this, layers)
    }
}})
"""


@pytest.mark.soak
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_map_is_drawn_once_and_once_more_when_its_tree_has_come(
    serve_dashboard: Callable[..., Served], watched_page: WatchedPage, scheme: str
) -> None:
    page = watched_page.page
    page.emulate_media(color_scheme=scheme)
    page.add_init_script(_COUNT)
    # Of so many leaves no other test has it grown.
    leaves = 11 if scheme == "light" else 12
    page.goto(f"{serve_dashboard().url}?page=Decisions&tree=recommended&options=leaves:{leaves}")
    wait_until_drawn(page, "Penalty of the tree")
    # What comes last.
    seen(page, "what a smaller tree costs").wait_for()
    settled(page)
    drawn = page.evaluate("window.drawn")
    for title in ("Exact decision map", "Decision of the tree", "Penalty of the tree"):
        assert 1 <= drawn[title] <= 2, (title, drawn)
