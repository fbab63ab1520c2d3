"""The page *Models* as someone opens it: drawn, moved by a slider, formulas set, nothing asked of anybody else."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.maps import wait_until_drawn
from tests.conftest import WatchedPage
from tests.serving import Served

pytestmark = pytest.mark.browser


@pytest.mark.soak
def test_models_are_drawn_and_follow_their_parameters(
    serve_dashboard: Callable[..., Served], watched_page: WatchedPage
) -> None:
    page = watched_page.page
    page.goto(serve_dashboard().url + "?page=Models&tree=quadtree")
    wait_until_drawn(page, "Model and measurement")
    page.locator("canvas").locator("visible=true").first.wait_for()
    row = page.get_by_role("table", name="Lines, and how far the models are off").get_by_role("row").nth(1)
    before = row.text_content() or ""
    page.get_by_role("slider", name=re.compile("^α, latency")).press("ArrowRight")
    expect(row).not_to_have_text(before)
    page.get_by_role("tab", name="Segment size").click()
    wait_until_drawn(page, "Duration over segment size")
    page.get_by_role("tab", name="Optimal", exact=True).click()
    wait_until_drawn(page, "Optimal segment sizes: bcast, Hockney")
    page.get_by_role("tab", name="Formulas").click()
    page.get_by_role("heading", name=re.compile("Split-binary")).wait_for()
    assert page.locator("math").count() >= 15
    assert watched_page.foreign == []
    assert watched_page.errors == []


@pytest.mark.soak
def test_a_decision_of_models_is_taken_and_found_again_by_its_address(
    serve_dashboard: Callable[..., Served], watched_page: WatchedPage
) -> None:
    page = watched_page.page
    page.goto(serve_dashboard().url + "?page=Models&models=tab:2;by:loggp;parameters:boba")
    wait_until_drawn(page, "By the models")
    table = page.get_by_role("table", name=re.compile("^Penalty: against the best"))
    # The decision on show, three models, their vote and their weight.
    expect(table.get_by_role("row")).to_have_count(1 + 6)
    page.get_by_role("button", name="Take as the decision").click()
    page.get_by_role("alert").filter(has_text="The models decide now").wait_for()
    page.wait_for_url(re.compile("tree=model"))
    page.get_by_role("button", name="Decisions", exact=True).click()
    page.get_by_text("Communication models: dissertation, 5.2").locator("visible=true").first.wait_for()
    page.wait_for_url(lambda url: "page=Models" not in url)
    page.goto(page.url + "&page=Models")
    wait_until_drawn(page, "By the models")
    page.get_by_role("tab", name="Decision", exact=True, selected=True).wait_for()
    assert watched_page.foreign == []
    assert watched_page.errors == []


@pytest.mark.slow
def test_in_a_narrow_window_the_curves_stand_below_the_parameters(
    serve_dashboard: Callable[..., Served], watched_page: WatchedPage
) -> None:
    page = watched_page.page
    page.set_viewport_size({"width": 780, "height": 700})
    page.goto(serve_dashboard().url + "?page=Models&tree=quadtree")
    wait_until_drawn(page, "Model and measurement")
    last = page.get_by_role("slider", name=re.compile("^G, gap per byte")).bounding_box()
    tab = page.get_by_role("tab", name="Curves").bounding_box()
    assert last is not None
    assert tab is not None
    assert last["y"] + last["height"] < tab["y"]
