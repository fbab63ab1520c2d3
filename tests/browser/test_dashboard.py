"""The dashboard as someone uses it: files in, sliders moved, a cell pinned, the source taken away and compiled."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dashboard.decisions import decision_map, quadtree
from loaders import open_results
from tests.browser.maps import point_at, wait_for_statistic, wait_until_drawn
from tests.conftest import FAST_ETHERNET, FAST_ETHERNET_PATTERN, WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

STRICT_C = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
METHODS = ("linear__seg0", "binomial__seg0", "binary_tree__seg1024", "pipeline__seg1024", "split_binary_tree__seg1024")
EXACT, TREE, PENALTY = "Exact decision map", "Decision of the tree", "Penalty of the tree"


@pytest.fixture
def page(server: Served, watched_page: WatchedPage) -> Page:
    """Dashboard on the sample data, its maps drawn."""
    watched_page.page.goto(server.url + "?tree=quadtree")
    for title in (EXACT, TREE, PENALTY):
        wait_until_drawn(watched_page.page, title)
    return watched_page.page


def open_page(page: Page, name: str) -> None:
    """Go to one of the dashboard's pages."""
    page.get_by_role("button", name=name, exact=True).click()


def download(page: Page, button: str, to: Path) -> Path:
    """Press a download button and save what comes."""
    with page.expect_download() as coming:
        page.get_by_role("button", name=button, exact=True).click()
    coming.value.save_as(to)
    return to


def compile_and_ask(gcc: str, source: Path, sizes: list[tuple[int, int]]) -> list[str]:
    """Compile a downloaded source with a caller of it and give the names of the methods it decides on."""
    caller = source.with_name("caller.c")
    calls = "\n".join(f"    puts(colltune_bcast_methods[colltune_bcast({p}, {m}LL)]);" for p, m in sizes)
    caller.write_text(
        "#include <stdio.h>\n"
        "int colltune_bcast(int comm_size, long long message_size);\n"
        "extern const char *const colltune_bcast_methods[];\n"
        f"int main(void)\n{{\n{calls}\n    return 0;\n}}\n"
    )
    program = source.with_name("caller")
    subprocess.run([gcc, *STRICT_C, "-o", str(program), str(source), str(caller)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_sample_data_stand_with_the_figures_of_their_publication(page: Page, watched_page: WatchedPage) -> None:
    for row in ("leaves 46", "nodes 61", "mean 2.87", "mean 10.76 %", "max 176.8 %", "median 0 %"):
        wait_for_statistic(page, row)
    assert watched_page.foreign == []
    assert watched_page.errors == []


@pytest.mark.soak
def test_from_uploaded_files_to_a_compiled_decision(
    page: Page, watched_page: WatchedPage, gcc: str, tmp_path: Path
) -> None:
    files = [FAST_ETHERNET / f"bcast__{method}.sko" for method in METHODS]
    cube = open_results(files, pattern=FAST_ETHERNET_PATTERN)["bcast"].to_dataset()
    dmap = decision_map(cube)

    open_page(page, "Data")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.locator("input[type=file]").set_input_files(files)
    page.get_by_label("Pattern of the file names").fill(FAST_ETHERNET_PATTERN)
    page.get_by_text("5 of 5 file names match").wait_for()
    page.get_by_role("button", name="Load 5 files").click()
    page.get_by_text("5 methods of 1 collective").wait_for()

    open_page(page, "Decisions")
    wait_until_drawn(page, TREE)
    wait_for_statistic(page, f"leaves {quadtree(dmap, max_depth=3).leaves}")
    page.get_by_role("slider", name="Maximum depth").press("ArrowRight")
    wait_for_statistic(page, f"leaves {quadtree(dmap, max_depth=4).leaves}")
    threshold = page.get_by_role("slider", name="Accuracy threshold")
    for _ in range(25):
        threshold.press("ArrowLeft")
    decision = quadtree(dmap, max_depth=4, threshold=0.75)
    wait_for_statistic(page, f"leaves {decision.leaves}")

    page.mouse.click(*point_at(page, EXACT, "4 KiB", "10"))
    pinned = page.get_by_role("table", name=re.compile(r"^Pinned: 10 processes, 4 KiB\. 5 methods measured"))
    pinned.wait_for()
    chosen_there = pinned.get_by_role("row").filter(has_text="chosen")

    page.get_by_role("tab", name="Generated source").click()
    source = download(page, "Download", tmp_path / "bcast.c")
    page.get_by_role("tab", name="Table").click()
    table = download(page, "Download CSV", tmp_path / "cells.csv")
    with table.open(encoding="utf-8", newline="") as text:
        cells = {(int(row["processes"]), int(row["message size [B]"])): row["chosen"] for row in csv.DictReader(text)}
    assert len(cells) == 11 * 19
    answers = dict(zip(cells, compile_and_ask(gcc, source, list(cells)), strict=True))
    assert answers == cells
    assert answers[10, 4096] in chosen_there.inner_text()
    assert answers == {(p, m): str(cube["method"].values[decision.predict_one(p, m)]) for p, m in cells}
    assert watched_page.foreign == []
    assert watched_page.errors == []


@pytest.mark.slow
def test_the_way_back_leads_to_the_view_before(page: Page) -> None:
    """The address tells the view; going back in the browser shows what the address then says."""
    slider = page.get_by_role("slider", name="Accuracy threshold")
    wait_for_statistic(page, "leaves 46")
    assert page.title() == "Decisions · colltune"
    slider.press("ArrowLeft")
    page.wait_for_url(re.compile(r"threshold=0\.99"))
    page.go_back()
    wait_until_drawn(page, EXACT)
    wait_for_statistic(page, "leaves 46")
    assert slider.input_value() == "1"
