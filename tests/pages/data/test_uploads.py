"""Files that are uploaded on the page *Data*."""

import asyncio
from collections.abc import Mapping

import pytest

from dashboard.pages.data.chooser import SAMPLE, UPLOAD
from dashboard.pages.data.page import DataPage
from dashboard.pages.frame.share import Share
from tests.conftest import FAST_ETHERNET
from tests.pages.data.loading import load
from tests.uploading import drop, send

# Bokeh 3.9 makes the sources of tables with a keyword that pandas 3.1 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")


def upload(page: DataPage, files: Mapping[str, bytes]) -> None:
    """Drop files on the page and load them, beside those that were dropped before."""
    page.chooser.kind = UPLOAD
    drop(page.chooser.dropper, files)
    load(page)


def times(first: float, second: float) -> bytes:
    """A table of two methods at a few sizes; ten times each, so that files that differ are far apart."""
    cells = [(p, m) for p in (2, 4) for m in (8, 64, 512)]
    rows = [
        f"bcast,{name},{p},{m},{t}" for name, t in (("a", first), ("b", second)) for p, m in cells for _ in range(10)
    ]
    return "\n".join(["collective,algorithm,comm_size,message_size,time", *rows, ""]).encode()


def test_files_in_which_nothing_is_usable_leave_what_was_loaded(page: DataPage) -> None:
    load(page)
    before = page.state.results_id
    upload(page, {"noise.bin": b"\x00\x01\x02"})
    assert page.state.results_id == before
    assert "noise" in page.state.error
    assert "uploaded" not in page.state.error + page.error.object
    for _ in range(2):
        assert page.headline.object.count("The page still shows what was loaded before: 59 methods") == 1
        load(page)
    page.chooser.kind = SAMPLE
    load(page)
    assert page.headline.object.startswith("59 methods")


def test_it_is_said_how_many_files_cannot_be_loaded_beside_the_one_that_is_named(page: DataPage) -> None:
    good = (FAST_ETHERNET / "bcast__linear__seg0.sko").read_bytes()
    upload(page, {"bcast__linear__seg0.sko": good, "a.bin": b"\x00", "b.bin": b"\x01", "c.bin": b"\x02"})
    assert page.state.error.startswith("a.bin: ")
    assert page.state.error.endswith("; likewise not usable: 2 other files")


def test_what_can_be_loaded_is_offered_where_some_cannot(page: DataPage) -> None:
    names = [f"bcast__{algorithm}__seg0.sko" for algorithm in ("chain", "linear")]
    good = {name: (FAST_ETHERNET / name).read_bytes() for name in names}
    upload(page, {**good, "noise.bin": b"\x00\x01\x02"})
    assert page.load_usable.visible
    assert "2 of 3" in page.load_usable.label
    # They may need more than was said so far: of the files that are chosen they are as few as before.
    page.show_failed([report for report in page.failed if not report.get("error")])
    assert "2 of 3" in page.load_usable.label
    asyncio.run(page.load_the_usable())
    assert not page.load_usable.visible
    assert page.state.error == ""
    assert list(page.state.loaded.values()) == ["uploaded (2 files)"]
    assert list(page.state.results.children) == ["bcast"]


def test_a_file_of_two_systems_is_not_to_be_removed(page: DataPage) -> None:
    rows = "bcast,a,2,8,1e-5,frodo\nbcast,a,2,8,2e-5,grig\n"
    upload(page, {"both.csv": f"collective,algorithm,comm_size,message_size,time,system\n{rows}".encode()})
    assert page.state.error.endswith("; choose one, or all of them together, in the menu System of page Data")
    assert [menu.label for menu in page.hints.facets.widgets.values()] == ["System"]


def test_files_that_differ_are_chosen_by_the_menu_and_not_offered_together(page: DataPage) -> None:
    upload(page, {"mine.csv": times(1e-5, 2e-5)})
    upload(page, {"mine (2).csv": times(9e-5, 2e-5), "empty.csv": b""})
    assert "2 of 3" in page.load_usable.label
    asyncio.run(page.load_the_usable())
    assert "'mine (2).csv' (1 file)" in page.state.error
    remedies = "; remove one of the two, choose one, or all of them together, in the menu Campaign of page Data, or"
    assert remedies in page.state.error
    assert page.state.error.endswith("load them apart.\nThe page still shows what was loaded before.")
    assert "--" not in page.state.error
    # They cannot be loaded as they are: nothing more comes of trying.
    assert not page.load_usable.visible
    assert "mine (2).csv" in page.hints.facets.widgets["campaign"].options


@pytest.mark.parametrize(("removed", "count", "methods"), [(False, "3 of 4", "ab"), (True, "2 of 3", "abc")])
def test_what_can_be_loaded_is_offered_again_once_something_has_changed(
    page: DataPage, removed: bool, count: str, methods: str
) -> None:
    third = times(1e-5, 2e-5).replace(b"bcast,a", b"bcast,c")
    two = {"mine.csv": times(1e-5, 2e-5), "mine (2).csv": times(9e-5, 2e-5)}
    upload(page, {**two, "third.csv": third, "empty.csv": b""})
    asyncio.run(page.load_the_usable())
    assert not page.load_usable.visible
    if removed:
        send(page.chooser.dropper, name="mine (2).csv", removed=True)
    else:
        page.hints.facets.widgets["campaign"].value = "mine.csv"
    assert page.load_usable.visible
    assert count in page.load_usable.label
    asyncio.run(page.load_the_usable())
    assert page.state.error == ""
    assert not page.load_usable.visible
    # To choose one of the two leaves the third file out, to remove one does not.
    assert sorted(page.state.results["bcast"]["method"].values) == list(methods)


def test_a_later_file_of_the_same_name_takes_the_place_of_the_one_loaded(page: DataPage) -> None:
    upload(page, {"mine.csv": times(1e-5, 2e-5)})
    assert page.chooser.dropper.loads == 1
    upload(page, {"mine.csv": times(9e-5, 2e-5)})
    assert page.load_button.label == "Load 1 file"
    assert page.state.results["bcast"]["time"].values[0].min() == pytest.approx(9e-5)


def test_of_commands_over_uploads_it_is_said_that_their_paths_are_those_of_copies(page: DataPage) -> None:
    share = Share(page.state, str, {})
    load(page)
    share._toggle()
    assert not share.of_uploads.visible
    upload(page, {"mine.csv": times(1e-5, 2e-5)})
    assert share.of_uploads.visible


def test_uploads_are_not_kept_in_memory_and_go_with_the_session(page: DataPage) -> None:
    page.chooser.kind = UPLOAD
    drop(page.chooser.dropper, {"../a.sko": b"1"})
    assert [path.name for path in page.chooser.paths] == ["a.sko"]
    assert page.chooser.dropper.kept == 1
    folder = page.chooser.uploads.folder
    assert folder is not None
    page.chooser.close()
    assert not folder.exists()


def test_too_much_to_upload_is_refused_in_words(page: DataPage) -> None:
    page.chooser.kind = UPLOAD
    page.chooser.uploads.most_bytes = 10
    drop(page.chooser.dropper, {"a.sko": b"x" * 11})
    assert page.error.visible
    assert "MB" in page.error.object
    assert page.chooser.paths == []


def test_nothing_chosen_is_said(page: DataPage) -> None:
    page.chooser.kind = UPLOAD
    assert page.load_button.label == "Load"
    assert page.load_button.disabled
    load(page)
    assert page.state.error == "No file is chosen."
    drop(page.chooser.dropper, {"mine.csv": times(1e-5, 2e-5)})
    assert page.load_button.label == "Load 1 file"
    assert not page.load_button.disabled


def test_files_that_come_while_others_are_loaded_can_be_loaded_afterwards(page: DataPage) -> None:
    page.chooser.kind = UPLOAD
    page.state.busy = "Loading …"
    drop(page.chooser.dropper, {"mine.csv": times(1e-5, 2e-5)})
    assert page.load_button.disabled
    page.state.busy = ""
    assert not page.load_button.disabled
