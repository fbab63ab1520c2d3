"""The page *Measure* in a browser: what the scheduler knows is seen within two seconds, and the map fills."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.launchers.launch import Status
from dashboard.pages.measure import watching as module
from tests.browser.maps import point_at, wait_until_drawn
from tests.conftest import WatchedPage
from tests.measuring.played import HERE, Played, measured, play
from tests.measuring.served import check_in_time, seen_after, serve_measure

pytestmark = pytest.mark.browser

TITLE = "Fastest method so far"


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    monkeypatch.setattr(module, "look_around", lambda again=False: HERE)
    return play(monkeypatch, tmp_path)


@pytest.fixture
def url(launcher: Played) -> Iterator[str]:
    with serve_measure({"comm_sizes": "2", "message_sizes": "8,64,512"}) as served:
        yield served.url


@pytest.mark.soak
def test_what_the_scheduler_knows_is_on_the_page_within_two_seconds(
    url: str, launcher: Played, watched_page: WatchedPage, tmp_path: Path
) -> None:
    page = watched_page.page
    page.set_default_timeout(180_000)
    page.goto(url)
    page.get_by_text(re.compile("^No campaign yet")).wait_for()
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_enabled(timeout=180_000)
    start.click()
    heading = page.get_by_role("heading", name=re.compile("^bcast-2-ranks: "))
    entry = page.get_by_role("button", name=re.compile("^bcast-2-ranks "))
    seen_after(heading, "queued")
    page.get_by_text("waits for resources (Resources)", exact=True).wait_for()
    wait_until_drawn(page, TITLE)

    times: list[float] = []
    launcher.now = Status("running")
    times.append(seen_after(heading, "running"))
    campaign = Campaign(tmp_path / "bcast-2-ranks")
    legend = page.get_by_role("region", name=re.compile("cells measured"))
    for algorithm, size, text in (("default", 8, "1 of 3"), ("binomial", 64, "2 of 3"), ("binomial", 512, "3 of 3")):
        measured(campaign, algorithm, size)
        times.append(seen_after(legend, text))
    # Two of the three cells have the colour of the method that is fastest there now.
    colors = page.evaluate(
        """() => [...Bokeh.documents].flatMap(doc => [...doc._all_models.values()])
            .filter(model => model.type === 'ColumnDataSource' && model.data.image)
            .map(model => [...new Set(model.data.image[0])].length)"""
    )
    assert colors == [2]

    page.mouse.click(*point_at(page, TITLE, "64 B", "2"))
    page.get_by_role("region", name="Pinned: 2 processes, 64 B. 1 method measured").wait_for()

    launcher.now = Status("failed", "NODE_FAIL: a node did not answer", 1)
    times.append(seen_after(heading, "failed"))
    page.get_by_text("NODE_FAIL: a node did not answer; exit code 1", exact=True).wait_for()
    expect(entry).to_have_text(re.compile("failed"))

    page.get_by_role("button", name="Resume", exact=True).click()
    seen_after(heading, "queued")
    page.get_by_role("button", name="Cancel", exact=True).click()
    seen_after(heading, "cancelled")
    launcher.now = Status("timed out", "ended at its time limit of 60 s")
    times.append(seen_after(heading, "timed out"))
    check_in_time(times)

    # A browser that was closed finds it again; so does one that was never there.
    page.goto("about:blank")
    launcher.now = Status("running")
    page.goto(url)
    expect(heading).to_have_text("bcast-2-ranks: running", timeout=180_000)
    assert watched_page.foreign == []
    assert watched_page.errors == []
