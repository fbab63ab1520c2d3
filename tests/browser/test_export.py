"""The page *Export* as someone uses it: a file is written, downloaded, and read by another reader; one is checked."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.problem import Problem
from dashboard.export.library_names import choice_of
from tests.browser.maps import choose, wait_until_drawn
from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    import xarray as xr
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def saved(page: Page, button: str, folder: Path) -> Path:
    """Press a download button, and give the file."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).or_(page.get_by_text(button)).first.click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def numbers_of(document: dict[str, object], comm_size: int, message_size: int) -> int:
    """The algorithm that Open MPI 6 takes of version 3 rules: first set, in it first rule whose range holds."""
    for band in document["collectives"]["bcast"]:  # type: ignore[index]
        if band["comm_size_min"] <= comm_size <= band.get("comm_size_max", 2**31):
            for rule in band["rules"]:
                last = rule["msg_size_max"]
                if rule["msg_size_min"] <= message_size <= (2**62 if last == "inf" else last):
                    return int(rule["alg"])
    message = f"no rule for {comm_size} processes and {message_size} bytes"
    raise AssertionError(message)


@pytest.mark.slow
def test_a_downloaded_file_says_what_was_decided(
    server: Served, watched_page: WatchedPage, fast_ethernet_bcast: xr.Dataset, tmp_path: Path
) -> None:
    page = watched_page.page
    page.goto(f"{server.url}?page=Export&tree=quadtree")
    page.get_by_text("coll_tuned_dynamic_rules_filename").first.wait_for(timeout=180_000)
    choose(page, "Target", "Open MPI rules (version 3, JSON, for 6.x)")
    page.wait_for_url("**/*target=openmpi-json*")
    page.get_by_text("rule_file_version").first.wait_for()
    wait_until_drawn(page, "B: the file, read back")
    path = saved(page, "Download the file", tmp_path)
    assert path.name == "colltune_bcast.json"
    document = json.loads(path.read_text())
    # Neither the project's readers nor its writers have a hand in this.
    decision = FAMILIES["quadtree"].grow(Problem.of(fast_ethernet_bcast), max_depth=3)
    known = [choice_of(method, "bcast", "6.0").algorithm for method in decision.methods]
    random = np.random.default_rng(1)
    comm, message = random.integers(2, 64, 500), (2 ** random.uniform(0, 21, 500)).astype(np.int64)
    said = [numbers_of(document, *pair) for pair in zip(comm.tolist(), message.tolist(), strict=True)]
    assert said == [known[place] for place in decision.predict(comm, message)]
    archive = zipfile.ZipFile(saved(page, "Download the bundle", tmp_path))
    assert archive.read("colltune_bcast.json") == path.read_bytes()
    assert watched_page.foreign == []
    assert watched_page.errors == []


@pytest.mark.soak
def test_a_rules_file_is_checked_and_becomes_tree_b(server: Served, watched_page: WatchedPage, tmp_path: Path) -> None:
    rules = tmp_path / "mine.conf"
    rules.write_text("1\n7\n1\n0\n3\n0 6 0 0\n4096 3 0 8192\n65536 99 0 0\n")
    page = watched_page.page
    page.goto(f"{server.url}?page=Export&tree=quadtree")
    page.get_by_role("tab", name="Check a rules file").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Upload a rules file").last.click()
    chooser.value.set_files(rules)
    page.get_by_role("row", name="8 ✖ error 65536 99 0 0").wait_for(timeout=180_000)
    wait_until_drawn(page, "B: the rules file")
    page.get_by_role("button", name="Compare with the tree").click()
    page.get_by_role("table", name="Settings that differ").get_by_text("Rules file").wait_for()
    assert watched_page.foreign == []
    assert watched_page.errors == []
