"""Files to choose from stay within the folders given; uploads are bounded, renamed and removed."""

import gc
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.pages.data.files import Uploads, list_files, safe_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    (root / "deeper").mkdir(parents=True)
    for name in ("b.sko", "a.sko", ".hidden", "deeper/c.sko"):
        (root / name).write_text(name)
    return root


def test_files_are_listed_by_their_names_relative_to_their_folder(folder: Path) -> None:
    listed, count = list_files([folder])
    assert [each.name for each in listed] == ["a.sko", "b.sko", "deeper/c.sko"]
    assert count == 3
    assert listed[0].size == 5


def test_links_out_of_the_folder_are_not_followed(folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("secret")
    (folder / "link.sko").symlink_to(secret)
    (folder / "parent").symlink_to(folder.parent)
    assert "link.sko" not in [each.name for each in list_files([folder])[0]]
    assert not any("secret" in each.name for each in list_files([folder])[0])


def test_more_files_than_can_be_listed_are_counted(folder: Path) -> None:
    listed, count = list_files([folder], most=2)
    assert (len(listed), count) == (2, 3)


def test_a_zarr_store_is_one_file(folder: Path) -> None:
    (folder / "run.zarr" / "bcast").mkdir(parents=True)
    (folder / "run.zarr" / ".zgroup").write_text("{}")
    (folder / "run.zarr" / "bcast" / "0.0").write_text("x")
    assert [each.name for each in list_files([folder])[0]] == ["a.sko", "b.sko", "run.zarr", "deeper/c.sko"]


@given(st.text(max_size=300))
def test_a_safe_name_is_one_visible_part_of_a_path(name: str) -> None:
    safe = safe_name(name)
    assert PurePath(safe).name == safe
    assert not safe.startswith(".")
    assert 0 < len(safe) <= 150
    assert "\\" not in safe


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("bcast__chain__seg8192.sko", "bcast__chain__seg8192.sko"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\run.csv", "run.csv"),
        ("<img src=x>.sko", "_img src=x_.sko"),
        ("mine (2).csv", "mine (2).csv"),
        ("...", "file"),
    ],
)
def test_a_safe_name_keeps_what_a_pattern_may_look_for(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_uploads_keep_their_content_and_their_names() -> None:
    uploads = Uploads()
    assert uploads.put("a.sko", b"\x00\r\nbytes") is None
    assert uploads.put("b.csv", "text ±\r\n") is None
    assert [path.name for path in uploads.paths] == ["a.sko", "b.csv"]
    assert uploads.paths[0].read_bytes() == b"\x00\r\nbytes"
    assert uploads.paths[1].read_bytes() == "text ±\r\n".encode()
    uploads.close()


def test_two_uploads_whose_safe_names_are_the_same_stay_two() -> None:
    uploads = Uploads()
    uploads.put("x/a.sko", "1")
    uploads.put("y/a.sko", "2")
    assert {path.name: path.read_text() for path in uploads.paths} == {"a.sko": "1", "a (2).sko": "2"}
    uploads.close()


def test_uploads_are_bounded_in_number_and_size() -> None:
    uploads = Uploads(most_files=2, most_bytes=10)
    assert uploads.put("a", b"12345") is None
    assert "MB" in str(uploads.put("b", b"123456"))
    assert uploads.put("b", b"12345") is None
    assert "2 files" in str(uploads.put("c", b""))
    assert uploads.put("a", b"54321") is None
    assert len(uploads.paths) == 2
    uploads.close()


def test_removed_uploads_are_gone() -> None:
    uploads = Uploads()
    uploads.put("a", b"1")
    uploads.put("b", b"2")
    uploads.remove("a")
    assert [path.name for path in uploads.paths] == ["b"]
    folder = uploads.folder
    assert folder is not None
    assert folder.stat().st_mode & 0o077 == 0
    uploads.close()
    assert not folder.parent.exists()


def test_forgotten_uploads_are_removed_too() -> None:
    uploads = Uploads()
    uploads.put("a", b"1")
    folder = uploads.folder
    assert folder is not None
    del uploads
    gc.collect()
    assert not folder.parent.exists()
