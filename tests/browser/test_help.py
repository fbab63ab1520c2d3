"""Help beside the controls, for those who use a keyboard or a screen reader."""

import pytest
from playwright.sync_api import expect

from tests.conftest import WatchedPage
from tests.serving import Served

pytestmark = pytest.mark.browser
#: Signs of help and their texts that nothing was made of for screen readers, shadow roots and all.
_UNNAMED = """() => {
    const deep = (root) =>
        [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])])
    return deep(document).filter((e) => e.matches('span[aria-label]:not([role])')).map((e) => e.outerHTML)
}"""


@pytest.mark.soak
def test_help_opens_by_keyboard_also_in_a_tab_that_is_shown_later(
    small_dashboard: Served, watched_page: WatchedPage
) -> None:
    page = watched_page.page
    page.set_default_timeout(180_000)
    # Opened at once with this page: its tabs are there before their controls can be given names.
    page.goto(f"{small_dashboard.url}?page=Models&tree=quadtree")
    page.get_by_role("tab", name="Decision", exact=True).click()
    # A button with help is named by what stands on it.
    expect(page.get_by_role("button", name="Load", exact=True)).to_be_visible()
    field = page.get_by_role("combobox", name="Written as")
    field.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    shown = page.get_by_role("tooltip", name="The tree that the models' choices are written as")
    expect(shown).to_be_visible()
    tip, box = shown.locator("div").first.bounding_box(), field.bounding_box()
    assert tip is not None
    assert box is not None
    assert tip["y"] + tip["height"] <= box["y"] + 1, "the help covers its field"
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    assert page.evaluate(_UNNAMED) == []
