"""The pages for those who use a keyboard, a screen reader, or who cannot bear motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from dashboard.session.state import PAGES
from tests.browser.maps import wait_until_drawn
from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
TREE = "Decision of the tree"
GRAVE = {"serious", "critical"}
#: What can be operated on the page, shadow roots and all; of a group with one stop for Tab, what that stop is.
_CONTROLS = """
const CONTROL = 'a[href], button, input, select, textarea, [role=combobox], [role=slider], [role=switch], [role=tab]'
const deep = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])])
const name = (e) => e.getAttribute('aria-label') || (e.labels && [...e.labels].map((l) => l.textContent).join(' ')) ||
    e.textContent.trim() || e.getAttribute('title') || e.outerHTML.slice(0, 120)
const seen = (e) => e.checkVisibility({checkVisibilityCSS: true}) && e.getBoundingClientRect().width > 0
const reachable = (e) => !e.disabled && e.getAttribute('aria-disabled') !== 'true' &&
    !e.getAttribute('aria-hidden') && !(e.hasAttribute('aria-pressed') && e.tabIndex < 0) &&
    !(e.getAttribute('role') === 'tab' && e.getAttribute('aria-selected') !== 'true')
const controls = () => deep(document).filter((e) => e.matches(CONTROL) && seen(e) && reachable(e))
const focused = () => {
    let e = document.activeElement
    while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement
    return e
}
"""


@pytest.fixture(scope="module")
def server(serve_dashboard: Callable[..., Served]) -> Served:
    return serve_dashboard()


@pytest.fixture
def page(watched_page: WatchedPage) -> Page:
    watched_page.page.set_default_timeout(180_000)
    return watched_page.page


def settled(page: Page) -> None:
    """Wait until nothing is under way: no bar is seen, and all that is to be drawn is."""
    page.wait_for_function(
        f"""() => {{
            {_CONTROLS}
            const busy = (e) => e.matches('[role=progressbar]:not([aria-valuenow="100"])')
            const bars = deep(document).filter((e) => busy(e) && seen(e))
            const there = window.Bokeh && Bokeh.documents.length > 0
            return there && bars.length === 0 && Bokeh.documents.every((d) => d.is_idle)
        }}""",
        # Not in each frame: to look through all of the page takes longer than one.
        polling=250,
    )


def grave(page: Page) -> list[str]:
    """Violations that axe-core calls serious or critical, each with what it was found on."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}" for each in found if each["impact"] in GRAVE for node in each["nodes"]
    ]


def test_axe_finds_nothing_grave_on_any_page(server: Served, page: Page) -> None:
    found = {}
    for name in PAGES:
        page.goto(f"{server.url}?page={name}&tree=quadtree")
        page.get_by_role("button", name=name, exact=True).wait_for()
        settled(page)
        found[name] = grave(page)
    assert found == {name: [] for name in PAGES}


def test_tab_reaches_every_control_of_the_decisions(server: Served, page: Page) -> None:
    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, TREE)
    settled(page)
    every = page.evaluate(f"() => {{ {_CONTROLS} return controls().map(name) }}")
    assert len(every) > 12
    reached = set()
    for _ in range(3 * len(every)):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(f"() => {{ {_CONTROLS} return controls().indexOf(focused()) }}"))
        if len(reached - {-1}) == len(every):
            break
    assert [name for at, name in enumerate(every) if at not in reached] == []


def test_keys_open_choose_and_move(server: Served, page: Page) -> None:
    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, TREE)
    page.get_by_role("combobox", name="Collective").focus()
    page.keyboard.press("Enter")
    page.locator(".MuiMenu-paper").get_by_text("allgather", exact=True).wait_for()
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


def test_nothing_glides_where_motion_is_not_wanted(server: Served, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, TREE)
    longest = page.evaluate(
        f"""() => {{
            {_CONTROLS}
            const seconds = (e) => [getComputedStyle(e).transitionDuration, getComputedStyle(e).animationDuration]
            return Math.max(...deep(document).flatMap(seconds).flatMap((t) => t.split(',')).map(parseFloat))
        }}"""
    )
    assert longest <= 0.001
