"""What is read off the pages: on a tablet held upright, in a narrow notebook cell, and in figures that are saved."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.browser.maps import wait_until_drawn
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"
#: How much further than the window the page goes to the right, and what of the header and the tables lies there.
_BEYOND = """() => {
    const deep = (root) =>
        [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])])
    const seen = deep(document).filter((e) => e.checkVisibility({checkVisibilityCSS: true}))
    const main = seen.find((e) => e.matches('.main-content'))
    const out = seen.filter((e) => e.matches('header button, td') && e.getBoundingClientRect().right > innerWidth)
    return [main.scrollWidth - main.clientWidth, ...out.map((e) => e.outerHTML.slice(0, 120))]
}"""


def beyond(page: Page) -> list[int | str]:
    """What `_BEYOND` tells once the page has followed its window; what it still tells after some seconds."""
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function(f"() => String(({_BEYOND})()) === '0'", polling=250, timeout=8_000)
    outside: list[int | str] = page.evaluate(_BEYOND)
    return outside


def save(page: Page, tool: Locator, folder: Path) -> tuple[str, ET.Element]:
    """Press a figure's tool, and read what is saved: the file's name and its root."""
    tool.scroll_into_view_if_needed()
    with page.expect_download() as coming:
        tool.click()
    name = coming.value.suggested_filename
    coming.value.save_as(folder / name)
    return name, ET.parse(folder / name).getroot()  # noqa: S314 - our own page wrote it


def texts(figure: ET.Element) -> set[str]:
    return {each.text or "" for each in figure.iter(f"{SVG}text")}


def strokes(figure: ET.Element) -> set[str]:
    return {each.get("stroke", "").replace(" ", "") for each in figure.iter(f"{SVG}path")}


@pytest.mark.soak
def test_a_saved_figure_holds_axes_and_curves(
    serve_dashboard: Callable[..., Served], page: Page, tmp_path: Path
) -> None:
    page.goto(serve_dashboard().url + "?tree=quadtree")
    wait_until_drawn(page, "Penalty of the tree")
    tools = page.get_by_title("Save as SVG")
    # Beside the three maps: the four sweeps.
    expect(tools).to_have_count(7, timeout=60_000)
    name, sweep = save(page, tools.nth(3), tmp_path)
    assert name == "mean_penalty_over_maximum_depth_levels.svg"
    assert sweep.tag == f"{SVG}svg"
    assert {"maximum depth [levels]", "mean penalty [%]", "0", "3"} <= texts(sweep)
    # The curve, and the ring around what is chosen.
    assert {"#e06c1a", "rgb(230,0,126)"} <= strokes(sweep)
    page.get_by_role("button", name="Models", exact=True).click()
    wait_until_drawn(page, "Model and measurement")
    name, chart = save(page, tools.locator("visible=true").first, tmp_path)
    assert name == "model_and_measurement.svg"
    assert {"message size", "time", "Model and measurement", "16 KiB", "1 ms"} <= texts(chart)
    assert len({each for each in strokes(chart) if re.match(r"rgb|#", each)} - {"rgb(0,0,0)"}) >= 4


@pytest.mark.soak
def test_nothing_is_cut_in_a_narrow_window(serve_dashboard: Callable[..., Served], page: Page) -> None:
    page.goto(serve_dashboard().url + "?tree=quadtree")
    wait_until_drawn(page, "Penalty of the tree")
    page.get_by_role("table", name="Statistics").get_by_text("tests on the way").wait_for()
    # A notebook's cell, and a tablet held either way.
    for width in (1160, 1024, 820):
        page.set_viewport_size({"width": width, "height": 1180})
        assert beyond(page) == [0]
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_role("heading", name="Campaigns").wait_for()
    assert beyond(page) == [0]
    # 1,280 pixels at twice their size.
    page.set_viewport_size({"width": 640, "height": 1180})
    page.get_by_role("button", name="Models", exact=True).click()
    wait_until_drawn(page, "Model and measurement")
    assert beyond(page) == [0]
    box = page.get_by_role("button", name="Toggle theme").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 640
    page.set_viewport_size({"width": 820, "height": 1180})
    page.get_by_role("button", name="Data", exact=True).click()
    page.get_by_role("button", name="Skipped rows").wait_for()
    assert beyond(page) == [0]
