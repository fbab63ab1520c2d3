"""A newcomer's path: from the sample data to own files, a decision, a comparison, rules, and a view to pass on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dashboard.decisions import decision_map, quadtree
from loaders import open_results
from tests.browser.maps import wait_until_drawn
from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATTERN = "osu_{collective}__{algorithm}__np{comm_size}.txt"
EXACT, TREE = "Exact decision map", "Decision of the tree"
#: Runs of osu_allreduce by the processes that they are taken for here. On the CPU it was faster at all sizes.
JOBS = {2: "job02.sh.7194279", 4: "job04.sh.7194285", 8: "job08.sh.7194286", 16: "job16.sh.7194312"}
FASTER, SLOWER = "mpi-cpu", "mpi"


@pytest.fixture
def osu_files(samples: Path, tmp_path: Path) -> list[Path]:
    """Real output of osu_allreduce, named as somebody who measured algorithms one by one would name it."""
    files = []
    for comm_size, job in JOBS.items():
        best = "ring" if comm_size < 8 else "recursive_doubling"
        for algorithm in ("ring", "recursive_doubling"):
            kind = FASTER if algorithm == best else SLOWER
            files.append(tmp_path / f"osu_allreduce__{algorithm}__np{comm_size}.txt")
            text = (samples / "osu" / f"aistabci__allreduce__inter_anode__{job}.{kind}.txt").read_text()
            # Results of two devices are not put into one map: these stand for one.
            files[-1].write_text(text.replace("MPI-CUDA", "MPI"))
    return files


def go(page: Page, name: str) -> None:
    """Go to one of the dashboard's pages."""
    page.get_by_role("button", name=name, exact=True).click()


def load_own(page: Page, files: list[Path]) -> None:
    """Upload files, say with a pattern what their names tell, and load them."""
    go(page, "Data")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.locator("input[type=file]").set_input_files(files)
    pattern = page.get_by_label("Pattern of the file names")
    pattern.fill(PATTERN)
    page.get_by_text(f"{len(files)} of {len(files)} file names match").wait_for()
    pattern.blur()
    page.get_by_role("button", name=f"Load {len(files)} files").click()


def shown(page: Page) -> list[str]:
    """What the page says of the decision: the statistics, and how often each method is best and chosen."""
    tables = page.get_by_role("table", name=re.compile("^(Statistics|Methods:)"))
    return [table.inner_text() for table in tables.all()]


def test_from_the_first_minute_to_a_view_that_is_passed_on(
    server: Served, watched_page: WatchedPage, chromium: Browser, osu_files: list[Path], tmp_path: Path
) -> None:
    page = watched_page.page
    page.set_default_timeout(180_000)
    page.goto(server.url + "?tree=quadtree")
    wait_until_drawn(page, EXACT)

    load_own(page, osu_files)
    page.get_by_text("2 methods of 1 collective").wait_for()

    page.get_by_role("button", name="2 Decide with a tree").click()
    wait_until_drawn(page, TREE)
    cube = open_results(osu_files, pattern=PATTERN)["allreduce"].to_dataset()
    leaves = quadtree(decision_map(cube)).leaves
    page.get_by_role("button", name="Exact", exact=True).click()
    statistics = page.get_by_role("table", name="Statistics")
    statistics.get_by_role("row", name=re.compile(rf"(^|\s)leaves {leaves}$")).wait_for()

    go(page, "Compare")
    wait_until_drawn(page, "B against A")
    page.get_by_role("table", name="Settings that differ").wait_for()

    go(page, "Export")
    page.get_by_text("coll_tuned_dynamic_rules_filename").first.wait_for()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download the file").or_(page.get_by_text("Download the file")).first.click()
    rules = tmp_path / coming.value.suggested_filename
    coming.value.save_as(rules)
    lines = [line.split("#")[0].split() for line in rules.read_text().splitlines()]
    numbers = [int(number) for line in lines for number in line if number.isdigit()]
    # One collective, which is number 2, allreduce, to Open MPI; there 3 is recursive doubling and 4 the ring.
    assert numbers[:2] == [1, 2]
    assert {3, 4} <= set(numbers[2:])

    go(page, "Decisions")
    page.wait_for_url(lambda url: "limit=false" in url and "data=" in url and "page=" not in url)
    wait_until_drawn(page, TREE)
    here, address = shown(page), page.url
    other = chromium.new_context()
    try:
        theirs = other.new_page()
        theirs.set_default_timeout(180_000)
        theirs.goto(address)
        wait_until_drawn(theirs, TREE)
        theirs.get_by_role("table", name="Statistics").get_by_role(
            "row", name=re.compile(rf"(^|\s)leaves {leaves}$")
        ).wait_for()
        assert not theirs.get_by_role("switch", name="Limit depth").is_checked()
        assert shown(theirs) == here
        assert str(tmp_path) not in address
    finally:
        other.close()
    assert watched_page.foreign == []
    assert watched_page.errors == []
