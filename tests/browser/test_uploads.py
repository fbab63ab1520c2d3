"""What the drop area makes of files of one name, and whether it is seen that they cannot be loaded together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import until
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_corrected_file_replaces_the_one_loaded_and_two_dropped_before_loading_stay_two(
    server: Served, page: Page, tmp_path: Path
) -> None:
    first, corrected = tmp_path / "v1" / "mine.csv", tmp_path / "v2" / "mine.csv"
    for file, time in ((first, "1e-5"), (corrected, "9e-5")):
        file.parent.mkdir()
        rows = [f"bcast,linear,{p},{m},{time}" for p in (2, 4) for m in (8, 64, 512) for _ in range(10)]
        file.write_text("\n".join(["collective,algorithm,comm_size,message_size,time", *rows, ""]))
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto(server.url)
    page.get_by_role("button", name="Data", exact=True).click()
    page.get_by_role("button", name="Upload", exact=True).click()
    chooser = page.locator("input[type=file]")
    chooser.set_input_files(first)
    page.get_by_role("button", name="Load 1 file").click()
    page.get_by_text("1 method of 1 collective").wait_for()
    chooser.set_input_files(corrected)
    page.get_by_text("1 of 1 file here").filter(has_text="; mine.csv replaced").wait_for()
    chooser.set_input_files(first)
    page.get_by_text("2 of 2 files here").wait_for()
    page.get_by_role("button", name="Load 2 files").click()
    alert = page.get_by_role("alert").filter(has_text="'mine (2).csv' (1 file)")
    alert.wait_for()
    # Again: a menu has come above, which moves the button down.
    page.get_by_role("combobox", name="Campaign").wait_for()
    load = page.get_by_role("button", name="Load 2 files")
    load.click()
    alert.wait_for()
    page.get_by_role("button", name="Upload", exact=True).scroll_into_view_if_needed()

    def in_sight_below_its_button() -> bool:
        # What the first click had said goes, and comes again.
        box, above = alert.bounding_box(), load.bounding_box()
        ends = [y for rect in (above, box) if rect for y in (rect["y"], rect["y"] + rect["height"])]
        return len(ends) == 4 and ends == sorted(ends) and ends[0] > 50 and ends[-1] <= 600

    # On a busy machine the second time alone may take as long as a look.
    until(in_sight_below_its_button, lambda: str((alert.bounding_box(), load.bounding_box())))


def test_in_a_narrow_window_results_stand_below_the_fields_and_cover_no_button(
    server: Served, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("collective,algorithm,comm_size,message_size,time\nbcast,linear,2,8,1e-5\n")
    page.set_viewport_size({"width": 900, "height": 700})
    page.goto(f"{server.url}?page=Data")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Load 1 file").click(timeout=30_000)
    page.get_by_text("1 method of 1 collective").wait_for()
