"""Page *Measure* with a real MPI: a small adaptive campaign is started, cancelled, resumed, and says what it chose."""

import importlib.util
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as TooLate
from playwright.sync_api import expect

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.launchers import processes
from loaders import open_results
from tests.browser.maps import wait_until_drawn
from tests.conftest import WatchedPage, need
from tests.serving import Served

pytestmark = pytest.mark.browser

TITLE, NAME = "Fastest method so far", "bcast-2-ranks"
_A_WHILE = 120_000


@pytest.mark.soak
def test_a_campaign_from_its_start_to_its_decisions(
    mpiexec: str,
    serve_dashboard: Callable[..., Served],
    watched_page: WatchedPage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need(mpiexec and importlib.util.find_spec("mpi4py"), "no mpi4py")
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(tmp_path))
    page = watched_page.page
    page.set_default_timeout(_A_WHILE)
    page.goto(serve_dashboard().url + "?page=Measure")
    page.get_by_text(re.compile("^No campaign yet")).wait_for(timeout=_A_WHILE)
    page.get_by_text(re.compile(r"^Open MPI \d|^MPICH \d")).first.wait_for(timeout=_A_WHILE)
    for label, value in (("Message sizes", "8,1KiB,64KiB"), ("Communicator sizes", "2"), ("Repetitions", "5-8")):
        page.get_by_label(re.compile(f"^{label}")).first.fill(value)
        page.keyboard.press("Enter")
    page.get_by_role("switch", name="Adaptive").or_(page.get_by_label("Adaptive", exact=True)).first.click()
    page.get_by_role("textbox", name=re.compile("^budget", re.IGNORECASE)).fill("60s")
    page.keyboard.press("Enter")
    estimate = page.get_by_role("table", name="Estimate")
    expect(estimate).to_contain_text(re.compile(r"Points\s*chosen from \d+ in 3 cells"), timeout=_A_WHILE)
    expect(estimate).to_contain_text("after 60 s of measuring")
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_enabled(timeout=_A_WHILE)
    start.click()
    heading = page.get_by_role("heading", name=re.compile(f"^{NAME}: "))
    expect(heading).to_have_text(f"{NAME}: running", timeout=_A_WHILE)
    wait_until_drawn(page, TITLE)
    page.get_by_role("region", name=re.compile("^[123] of 3 cells measured")).wait_for(timeout=_A_WHILE)

    # On a quick machine it may have ended by now; then there is nothing to cancel.
    campaign = Campaign(tmp_path / NAME)
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    if cancel.is_visible():
        mark = campaign.state()["handle"]["mark"]
        with suppress(TooLate):
            cancel.click(timeout=3_000)
        expect(heading).to_have_text(re.compile(f"{NAME}: (cancelled|finished)"), timeout=_A_WHILE)
        assert not processes.marked(mark)
    before = campaign.results.read_text(encoding="utf-8")
    resume = page.get_by_role("button", name="Resume", exact=True)
    if resume.is_visible():
        resume.click()
        expect(heading).to_have_text(f"{NAME}: finished", timeout=_A_WHILE)
    assert campaign.results.read_text(encoding="utf-8").startswith(before)
    page.get_by_role("region", name=re.compile("^[23] of 3 cells measured")).wait_for()
    wait_until_drawn(page, "Expected loss of the decision")
    page.get_by_text(re.compile("^Expected loss of the decision: bcast .* ended: ")).wait_for()

    page.get_by_role("button", name="Open in Decisions").click()
    wait_until_drawn(page, "Exact decision map", 90)
    # Chosen at the end of what was awaited.
    expect(page).to_have_title("Decisions · colltune")
    assert not page.get_by_text("The dashboard itself failed").count()
    cube = open_results([str(path) for path in campaign.result_files()])["bcast"].to_dataset()
    assert set(cube["message_size"].values.tolist()) <= {8, 1024, 65536}
    assert campaign.settled(Goal(60.0))
    assert cube["time"].notnull().sum() == len(campaign.done().measured)
    assert watched_page.errors == []
