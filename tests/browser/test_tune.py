"""The pages *Tune* and *Online* in a browser: the bundle in two clicks, a tuning found again, a loop that goes on."""

import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from dashboard.measuring import tunings
from dashboard.online.state import Folder
from tests.browser.maps import wait_until_drawn
from tests.conftest import WatchedPage
from tests.online.folders import another, make
from tests.serving import Served
from tests.tuning.conftest import finished

__all__ = ["finished"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASKED = "collectives:allgather;budget:8s;message_sizes:64,4KiB;launches:2"
NAME = "tune-allgather-2-ranks"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> Path:
    """Folder with a finished tuning and a loop of online tuning."""
    folder = tmp_path_factory.mktemp("kept")
    shutil.copytree(finished, folder / "tuned")
    make(folder / "loop")
    return folder


@pytest.fixture(scope="module")
def server(root: Path, serve_dashboard: Callable[..., Served]) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLTUNE_CAMPAIGNS", str(root))
        yield serve_dashboard()


def at(server: Served, **query: str) -> str:
    return f"{server.url}?{urlencode({'tree': 'exact', **query})}"


def test_from_tune_to_the_bundle_in_two_clicks(server: Served, watched_page: WatchedPage, tmp_path: Path) -> None:
    page = watched_page.page
    page.goto(at(server))
    page.get_by_role("button", name="Tune", exact=True).click()
    with page.expect_download() as coming:
        page.get_by_text("Download the bundle").first.click()
    assert coming.value.suggested_filename == "tuned.zip"
    coming.value.save_as(tmp_path / "tuned.zip")
    with zipfile.ZipFile(tmp_path / "tuned.zip") as packed:
        assert {"bundle/rules.conf", "bundle/colltune.sh", "bundle/README.md"} <= set(packed.namelist())
    expect(page.get_by_role("heading", name="tuned: proven, nothing slower")).to_be_visible()
    wait_until_drawn(page, "What is gained")
    wait_until_drawn(page, "Fastest method so far")
    assert watched_page.foreign == []
    assert watched_page.errors == []


@pytest.mark.soak
def test_a_tuning_that_is_started_is_found_again_by_another_browser_and_ended(
    server: Served, watched_page: WatchedPage, root: Path, mpiexec: str
) -> None:
    page = watched_page.page
    page.goto(at(server, page="Tune", tune=ASKED))
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_enabled(timeout=180_000)
    start.click()
    heading = page.get_by_role("heading", name=re.compile(f"^{NAME}: "))
    expect(heading).to_have_text(f"{NAME}: running", timeout=180_000)
    page.goto("about:blank")
    # It is the newest, so that nothing needs to be chosen.
    page.goto(at(server, page="Tune"))
    expect(heading).to_have_text(f"{NAME}: running", timeout=180_000)
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(heading).to_have_text(f"{NAME}: cancelled", timeout=180_000)
    expect(page.get_by_role("button", name="Go on", exact=True)).to_be_enabled()
    assert tunings.look(root / NAME).state == "cancelled"
    assert watched_page.errors == []


@pytest.mark.soak
def test_a_loop_that_goes_on_is_followed(server: Served, watched_page: WatchedPage, root: Path) -> None:
    page = watched_page.page
    page.goto(at(server, page="Online", online="folder:loop"))
    for title in ("Iterations", "Tried at 4 KiB on 4 nodes × 2", "Timings by bin"):
        wait_until_drawn(page, title)
    table = page.get_by_role("region", name="Iterations")
    expect(table.get_by_role("row")).to_have_count(3)
    another(Folder.open(root / "loop"))
    expect(table.get_by_role("row")).to_have_count(4, timeout=180_000)
    # A slider is moved by its keys; what is learnt then stands in the address.
    page.get_by_role("slider", name=re.compile("^Largest probability")).press("ArrowLeft")
    page.wait_for_url(re.compile("online=folder%3Aloop%3Bcap%3A0.4"))
    assert watched_page.foreign == []
    assert watched_page.errors == []
