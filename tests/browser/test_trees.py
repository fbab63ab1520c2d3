"""Trees as someone chooses them: another family, a point of the frontier, two side by side, in dark as well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.maps import LOOK, choose, point_at, wait_for_statistic, wait_until_drawn
from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

EXACT, TREE, PENALTY = "Exact decision map", "Decision of the tree", "Penalty of the tree"
_GROUNDS = """
() => {
    const grounds = {}
    for (const doc of Bokeh.documents)
        for (const model of doc._all_models.values())
            if (model.type === 'Figure' && model.title && model.title.text && Bokeh.index.find_one(model))
                grounds[model.title.text] = [model.border_fill_color, model.title.text_color]
    return grounds
}
"""


def open_at(watched: WatchedPage, server: Served, query: str, *titles: str) -> Page:
    """Open an address and wait until these plots are painted."""
    # Without a tree an address asks for the recommended one, which takes a while to grow.
    quick = "" if "tree=" in query else ("&" if "?" in query else "?") + "tree=quadtree"
    watched.page.goto(server.url + query + quick)
    for title in titles:
        wait_until_drawn(watched.page, title)
    return watched.page


@pytest.mark.soak
def test_maps_of_another_collective_keep_the_dark_theme_and_the_figures_under_the_pointer(
    server: Served, watched_page: WatchedPage
) -> None:
    page = open_at(watched_page, server, "", EXACT, TREE, PENALTY)
    page.get_by_role("button", name="Toggle theme").click()
    dark = f"() => Object.values(({_GROUNDS})()).every(([ground]) => ground === '#121212')"
    page.wait_for_function(dark, polling=LOOK)
    before = page.evaluate(_GROUNDS)
    choose(page, "Collective", "reduce")
    page.wait_for_url(re.compile("collective=reduce"))
    for title in (EXACT, TREE, PENALTY):
        wait_until_drawn(page, title)
    assert page.evaluate(_GROUNDS) == before
    page.mouse.move(*point_at(page, TREE, "4 KiB", "10"))
    page.get_by_text(re.compile("reduce · 10 processes · 4 KiB")).first.wait_for()
    assert watched_page.errors == []


@pytest.mark.soak
def test_another_family_is_grown_and_drawn(server: Served, watched_page: WatchedPage) -> None:
    page = open_at(watched_page, server, "?options=max_leaves:8&tree=cart", EXACT, TREE)
    wait_for_statistic(page, "leaves 8")
    page.get_by_role("slider", name="Most leaves").press("ArrowRight")
    wait_for_statistic(page, "leaves 9")
    page.wait_for_url(re.compile(r"options=max_leaves(%3A|:)9"))
    page.get_by_text("9 leaves,").wait_for()
    assert page.get_by_role("img", name=re.compile("Decision tree, 9 leaves")).is_visible()
    assert watched_page.errors == []


@pytest.mark.soak
def test_a_point_of_the_frontier_is_adopted(small_dashboard: Served, watched_page: WatchedPage) -> None:
    page = open_at(watched_page, small_dashboard, "?page=Frontier&collective=alltoall")
    wait_until_drawn(page, "Mean penalty in sample", 120)
    page.get_by_text(re.compile("^Take ")).wait_for()
    page.get_by_role("button", name="Adopt it").click()
    page.get_by_text(re.compile("^Adopted: ")).wait_for()
    page.wait_for_url(re.compile("tree=(?!quadtree)"))
    assert watched_page.errors == []


@pytest.mark.soak
def test_two_trees_stand_side_by_side(server: Served, watched_page: WatchedPage) -> None:
    page = open_at(watched_page, server, "?page=Compare&other=cart%3Fmax_leaves:6", "A", "B", "B against A")
    page.get_by_role("table", name="Settings that differ").get_by_role("row", name="family Quadtree CART").wait_for()
    page.get_by_role("table", name="Figures").get_by_role("row", name=re.compile(r"leaves 46 6 −40")).wait_for()
    assert watched_page.foreign == []
    assert watched_page.errors == []
