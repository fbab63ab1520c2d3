"""Undo, redo and saved views, as someone uses them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.maps import wait_until_drawn
from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TREE = "Decision of the tree"


@pytest.fixture
def page(server: Served, watched_page: WatchedPage) -> Page:
    watched_page.page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(watched_page.page, TREE)
    return watched_page.page


def depth(page: Page, value: int) -> None:
    """Wait until the slider stands there, and the address tells it: then the view has rested."""
    page.wait_for_function(
        "([element, value]) => element.value === value",
        arg=[page.get_by_role("slider", name="Maximum depth").element_handle(), str(value)],
    )
    page.wait_for_url(re.compile(rf"depth={value}\b") if value != 3 else re.compile(r"^((?!depth=).)*$"))


def deeper(page: Page, value: int) -> None:
    """Move the slider one step, and wait for the address to tell it."""
    page.get_by_role("slider", name="Maximum depth").press("ArrowRight")
    page.wait_for_url(re.compile(rf"depth={value}\b"))


@pytest.mark.soak
def test_undo_and_redo_by_button_and_by_key(page: Page, watched_page: WatchedPage) -> None:
    deeper(page, 4)
    deeper(page, 5)
    page.get_by_role("button", name="Undo (Ctrl+Z)").click()
    depth(page, 4)
    page.keyboard.press("Control+z")
    depth(page, 3)
    page.keyboard.press("Control+y")
    depth(page, 4)
    page.get_by_role("button", name="Redo (Ctrl+Y)").click()
    depth(page, 5)
    assert watched_page.errors == []


@pytest.mark.soak
def test_an_undo_at_once_takes_back_what_was_done_last(page: Page, watched_page: WatchedPage) -> None:
    deeper(page, 4)
    page.get_by_role("slider", name="Maximum depth").press("ArrowRight")
    # Before the address tells of it.
    page.keyboard.press("Control+z")
    depth(page, 4)
    page.keyboard.press("Control+z")
    depth(page, 3)
    assert watched_page.errors == []


@pytest.mark.soak
def test_a_saved_view_is_there_after_the_page_was_closed(page: Page, server: Served, watched_page: WatchedPage) -> None:
    deeper(page, 4)
    page.get_by_role("button", name="Saved views").click()
    name = page.get_by_label("Name of this view")
    name.fill("deeper <b>tree</b>")
    name.blur()
    # Charts have buttons of this name in their toolbars, too.
    page.locator("button").get_by_text("Save", exact=True).click()
    page.get_by_text("Saved.").wait_for()
    page.wait_for_function("(localStorage.getItem('colltune views') || '').includes('deeper')")

    # Another tab keeps one of its own meanwhile, which neither loses nor is lost.
    page.evaluate(
        """() => {
            const kept = {...JSON.parse(localStorage.getItem('colltune views')), other: {depth: '2'}}
            localStorage.setItem('colltune views', JSON.stringify(kept))
        }"""
    )
    name.fill("third")
    name.blur()
    page.locator("button").get_by_text("Save", exact=True).click()
    page.wait_for_function("Object.keys(JSON.parse(localStorage.getItem('colltune views'))).length === 3")

    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, TREE)
    depth(page, 3)
    page.get_by_role("button", name="Saved views").click()
    page.get_by_label("Saved views, in this browser").click()
    page.get_by_role("option", name="deeper <b>tree</b>").click()
    page.get_by_role("button", name="Open", exact=True).click()
    depth(page, 4)
    assert watched_page.errors == []
