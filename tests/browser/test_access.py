"""The pages for those who use a keyboard, a screen reader, or who cannot bear motion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dashboard.session.state import BEGIN, PAGES
from tests.benchmarks.bench_tour import COUNT, MOST_ELEMENTS, MOST_STYLES
from tests.browser.maps import settled_pixels, wait_until_drawn
from tests.browser.tour import CONTROLS, THERE, grave, seen, settled
from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
EXACT, TREE = "Exact decision map", "Decision of the tree"


@pytest.mark.soak
def test_all_pages_bear_axe_leave_the_document_small_and_come_back_as_they_were(
    server: Served, page: Page, watched_page: WatchedPage
) -> None:
    page.goto(server.url + "?tree=quadtree&online=iterations:1")
    wait_until_drawn(page, EXACT)
    slider, violations = page.get_by_role("slider", name="Accuracy threshold"), {}
    before = slider.bounding_box()
    settled_pixels(page, EXACT)
    for name in [*(name for name in PAGES if name != BEGIN), BEGIN]:
        page.get_by_role("button", name=name, exact=True).click()
        seen(page, THERE[name]).wait_for()
        # It goes on computing for as long as it is on show.
        if name != "Frontier":
            settled(page)
        violations[name] = grave(page)
        counts = page.evaluate(COUNT)
        assert counts["elements"] <= MOST_ELEMENTS, name
        assert counts["styles"] <= MOST_STYLES, name
    assert violations == {name: [] for name in PAGES}
    assert page.locator(".bk-CanvasPanel.bk-above > div:empty:not([class])").count() == 0
    # Drawn again; the outlines of regions may have come since the first look, so pixels are not compared.
    settled_pixels(page, EXACT)
    # What other pages began is still computed: the guide of the page Data goes when the server has come to it.
    for _ in range(100):
        if slider.bounding_box() == before:
            break
        page.wait_for_timeout(100)
    assert slider.bounding_box() == before
    assert watched_page.errors == []


@pytest.mark.soak
def test_tab_reaches_every_control_of_the_decisions_and_arrows_every_cell(small_dashboard: Served, page: Page) -> None:
    page.goto(small_dashboard.url + "?tree=quadtree&collective=bcast")
    wait_until_drawn(page, TREE)
    settled(page)
    every = page.evaluate(f"() => {{ {CONTROLS} return controls().map(name) }}")
    assert len(every) > 12
    reached = set()
    for _ in range(3 * len(every)):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(f"() => {{ {CONTROLS} return controls().indexOf(focused()) }}"))
        if len(reached - {-1}) == len(every):
            break
    assert [name for at, name in enumerate(every) if at not in reached] == []
    # Of the tools of a chart, chosen ones too, one is a stop.
    tools = f"""() => {{ {CONTROLS}
        const bars = Map.groupBy(deep(document).filter((e) => e.matches('.bk-OnOffButton')), (e) => e.getRootNode())
        return [...bars.values()].map((tools) => tools.filter((e) => e.tabIndex === 0).length) }}"""
    stops = page.evaluate(tools)
    assert len(stops) > 1
    assert set(stops) == {1}
    chart = page.locator(".bk-events").first
    chart.focus()
    # From the middle of 6 communicator sizes and 7 message sizes, and on beyond the last one.
    for key in ("ArrowUp", "ArrowUp", *["ArrowRight"] * 9, "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile(r"pinned=12(%2C|,)65536"))
    page.get_by_role("table", name=re.compile("^Pinned: 12 processes, 64 KiB")).wait_for()
    page.keyboard.press("Escape")
    assert not chart.evaluate("(each) => each.matches(':focus')")


@pytest.mark.soak
def test_keys_open_choose_and_move(server: Served, page: Page) -> None:
    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, TREE)
    page.get_by_role("combobox", name="Collective").focus()
    page.keyboard.press("Enter")
    page.get_by_role("option", name="allgather", selected=False).wait_for()
    page.get_by_role("option", name="bcast", selected=True).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*collective=allreduce*")
    page.get_by_role("button", name="Decisions", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*page=Compare*")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Sweeps").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Generated source", selected=True).wait_for()


@pytest.mark.soak
def test_nothing_glides_where_motion_is_not_wanted(server: Served, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, TREE)
    longest = page.evaluate(
        f"""() => {{
            {CONTROLS}
            const seconds = (e) => [getComputedStyle(e).transitionDuration, getComputedStyle(e).animationDuration]
            return Math.max(...deep(document).flatMap(seconds).flatMap((t) => t.split(',')).map(parseFloat))
        }}"""
    )
    assert longest <= 0.001
