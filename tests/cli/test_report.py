"""``colltune report``."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.cli.command import Run, assert_one_clear_line


@pytest.mark.slow
def test_it_writes_one_file(colltune: Run, results: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    answer = colltune(
        "report", results, "-c", "bcast", "--tree", "cart", "--max-leaves", "4", "--no-frontier", "-o", path,
        "--title", "A & B", "--models",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert "opens in any browser" in answer.err
    html = path.read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in html
    assert "CART, most leaves 4" in html
    assert "Communication models" in html
    assert [path.name] == [each.name for each in tmp_path.iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "report.pdf"], ["report.pdf", ".html"]),
        (["-o", "r.html", "-c", "scan"], ["scan", "bcast, reduce"]),
        (["-o", "r.html", "--to", "lua"], ["lua", "openmpi"]),
        (["-o", "no/such/folder/r.html", "--no-frontier"], ["cannot be written"]),
        ([], ["-o"]),
    ],
)
def test_bad_usage_is_one_clear_line(colltune: Run, results: Path, arguments: list[str], words: list[str]) -> None:
    assert_one_clear_line(colltune("report", results, *arguments), *words)


@pytest.mark.slow
def test_pictures_come_as_an_archive(colltune: Run, results: Path, tmp_path: Path) -> None:
    path = tmp_path / "pictures.zip"
    answer = colltune("report", results, "-c", "bcast", "--tree", "cart", "--max-leaves", "4", "-o", path)
    assert answer.status == 0, answer.err
    with zipfile.ZipFile(path) as archive:
        assert "bcast-4-times.pdf" in archive.namelist()
        assert "CART, most leaves 4" in archive.read("captions.md").decode()
