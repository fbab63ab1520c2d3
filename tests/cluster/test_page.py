"""The page *Measure* over a real Slurm: its states are seen within two seconds of Slurm knowing them."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.launchers import processes
from dashboard.pages.measure.page import MeasurePage
from dashboard.pages.measure.where import ON_SLURM
from tests.cluster.scheduler import ENVIRONMENT, Slurm
from tests.conftest import WatchedPage, until
from tests.measuring.served import ServedPage, check_in_time, serve_measure

pytestmark = pytest.mark.browser

#: Of the page's own fields; a campaign that does not end by itself while a test looks at it.
LONG = {"collectives": ["bcast"], "comm_sizes": "2", "message_sizes": "8-8000:+8", "repetitions": "3-5"}
PATIENCE_MS = 180_000
LOOK = 100


@pytest.fixture
def served(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedPage]:
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(tmp_path))
    with serve_measure({**LONG, "algorithms": ["basic_linear", "binomial"]}) as served:
        yield served


def start(served: ServedPage, page: Page, name: str, limit: str = "", **request: Any) -> None:
    """Fill the fields of Slurm in, and press the button."""
    environment = " ".join(f"{key}={value}" for key, value in ENVIRONMENT.items())
    given = {"nodes": 2, "tasks_per_node": 1, "partition": "debug", "extra": "--exclusive", "environment": environment}

    def fill(measure: MeasurePage) -> None:
        measure.where.widgets["where"].value = ON_SLURM
        for key, value in {**given, **request}.items():
            measure.where.widgets[key].value = value
        measure.where.widgets["limit"].value = limit
        measure.cost.named.value = ""
        measure.cost.named.value = name

    # The form's; a campaign that was just made has one as well until its job is there.
    button = page.get_by_role("button", name="Start", exact=True).first
    served.change(fill)
    measure, _ = served.pages[-1]
    # What the browser shows may be of a moment ago: what is asked for now is worked out first.

    def asked() -> bool:
        if measure.cost.named.value != name:
            served.change(fill)
        return not measure.cost.start.disabled

    until(asked)
    button.click(timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name=re.compile(f"^{name}: "))).to_be_visible(timeout=PATIENCE_MS)


def word_of(slurm: Slurm, campaign: Campaign) -> str:
    """Slurm's own word for the state of a campaign's job."""
    (group,) = campaign.state()["handle"]["groups"]
    return slurm.ask("squeue", "--noheader", "--states=all", f"--name={group['name']}", "--format=%T").strip()


def seen_after(slurm: Slurm, page: Page, campaign: Campaign, word: str, state: str) -> float:
    """Seconds from Slurm's word to the state on the page."""
    heading = page.get_by_role("heading", name=re.compile(f"^{campaign.folder.name}: "))
    known, seen, end = 0.0, 0.0, time.monotonic() + PATIENCE_MS / 1000
    while not (known and seen):
        now = time.monotonic()
        assert now < end, (word_of(slurm, campaign), heading.text_content(), campaign.tail(10))
        if not known and word_of(slurm, campaign) == word:
            known = now
        if not seen and heading.text_content() == f"{campaign.folder.name}: {state}":
            seen = time.monotonic()
        # Each look at Slurm starts processes.
        page.wait_for_timeout(LOOK)
    return seen - known


@pytest.mark.soak
def test_states_of_slurm_are_seen_in_time_and_two_campaigns_run_at_once(
    slurm: Slurm, served: ServedPage, watched_page: WatchedPage, tmp_path: Path
) -> None:
    page = watched_page.page
    page.set_default_timeout(PATIENCE_MS)
    page.goto(served.url + "?tree=quadtree")
    page.get_by_text(re.compile("^No campaign yet")).wait_for(timeout=PATIENCE_MS)
    page.get_by_text(re.compile(r"^Open MPI \d")).first.wait_for(timeout=PATIENCE_MS)

    times: list[float] = []
    start(served, page, "waiting", partition="closed")
    waiting = Campaign(tmp_path / "waiting")
    times.append(seen_after(slurm, page, waiting, "PENDING", "queued"))
    page.get_by_text("the partition is down (PartitionDown)", exact=True).wait_for()
    page.get_by_role("button", name="Cancel", exact=True).click()
    times.append(seen_after(slurm, page, waiting, "CANCELLED", "cancelled"))

    start(served, page, "late", "12 s")
    # By itself it would ask for more than the hour that the partition allows, and never start.
    start(served, page, "broken", "30 min")
    broken, late = Campaign(tmp_path / "broken"), Campaign(tmp_path / "late")
    times.append(seen_after(slurm, page, broken, "RUNNING", "running"))
    for name in ("broken", "late"):
        page.get_by_role("button", name=re.compile(f"^{name} running")).wait_for()
    page.get_by_role("region", name=re.compile("cells measured")).wait_for(timeout=PATIENCE_MS)
    mark = broken.state()["handle"]["mark"]
    ranks = until(lambda: [pid for pid in processes.marked(mark) if b"ranks.worker" in words_of(pid)])
    os.kill(ranks[-1], signal.SIGKILL)
    times.append(seen_after(slurm, page, broken, "FAILED", "failed"))
    page.get_by_role("button", name="Resume", exact=True).click()
    times.append(seen_after(slurm, page, broken, "RUNNING", "running"))
    page.get_by_role("button", name="Cancel", exact=True).click()
    times.append(seen_after(slurm, page, broken, "CANCELLED", "cancelled"))
    page.get_by_role("button", name=re.compile("^late ")).click()
    check_in_time(times)
    page.get_by_role("heading", name="late: timed out").wait_for(timeout=PATIENCE_MS)
    assert late.done().measured
    assert watched_page.errors == []


def words_of(pid: int) -> bytes:
    """Command line of a process."""
    path = Path(f"/proc/{pid}/cmdline")
    return path.read_bytes() if path.exists() else b""
