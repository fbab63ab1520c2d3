"""``colltune report``."""

import os
import shutil
import zipfile
from pathlib import Path

import pytest
import xarray as xr

from loaders import save_results
from tests.cli.command import Run, assert_one_clear_line
from tests.cubes import opposed_cubes, synthetic_cube


@pytest.mark.slow
def test_it_writes_one_file(colltune: Run, results: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    # A name in another encoding than UTF-8.
    named = shutil.copy(results, tmp_path / os.fsdecode(b"m\xfcller.nc"))
    answer = colltune(
        "report", named, "-c", "bcast", "--tree", "cart", "--max-leaves", "4", "--no-frontier", "-o", path,
        "--title", "A & B", "--models",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert "opens in any browser" in answer.err
    html = path.read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in html
    assert "CART, most leaves 4" in html
    assert "Communication models" in html
    assert {path, named} == {*tmp_path.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "decided_for"), [([], "1 (of 1, 2)"), (["2"], "2 (of 1, 2)"), (["all"], "1, 2")])
def test_it_is_for_the_processes_per_node_that_are_asked_for(
    colltune: Run, tmp_path: Path, asked: list[str], decided_for: str
) -> None:
    results, path = tmp_path / "results.nc", tmp_path / "report.html"
    save_results(xr.DataTree.from_dict(opposed_cubes()), results)
    words = ["--tree", "cart", "--no-frontier", "--to", "json", "-o", path]
    answer = colltune("report", results, *words, *(["--ppn", *asked] if asked else []))
    assert answer.status == 0, answer.err
    assert answer.err.count("--ppn chooses") == (not asked)
    summary = path.read_text(encoding="utf-8").partition("<h2>bcast")[0]
    assert "processes per node</th>" in summary
    assert summary.count(f">{decided_for}</td>") == 2


def test_processes_per_node_that_were_not_measured_are_one_clear_line(colltune: Run, tmp_path: Path) -> None:
    results = save_results(xr.DataTree.from_dict(opposed_cubes()), tmp_path / "results.nc")
    answer = colltune("report", results, "--ppn", "3", "-o", tmp_path / "report.html")
    assert_one_clear_line(answer, "ppn is 3", "1, 2 processes per node")


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


def test_what_a_report_cannot_hold_is_refused(colltune: Run, results: Path, tmp_path: Path) -> None:
    asked = ["-c", "bcast", "--held-out", "lines", "--models", "--title", "A", "--to", "c", "-o", tmp_path / "r.zip"]
    assert_one_clear_line(colltune("report", results, *asked), "--held-out, --models, --title, --to", ".html")
    cubes = {name: synthetic_cube(2, 3, 2, 0).assign_attrs(collective=name) for name in ("bcast", "pt2pt")}
    ping_pong = save_results(xr.DataTree.from_dict(cubes), tmp_path / "pt2pt.nc")
    answer = colltune("report", ping_pong, "-c", "pt2pt", "-o", tmp_path / "r.html")
    assert_one_clear_line(answer, "-c pt2pt", "can be decided on")
    assert not list(tmp_path.glob("r.*"))


@pytest.mark.slow
def test_pictures_come_as_an_archive(colltune: Run, results: Path, tmp_path: Path) -> None:
    path = tmp_path / "pictures.zip"
    answer = colltune("report", results, "-c", "bcast", "--tree", "cart", "--max-leaves", "4", "-o", path)
    assert answer.status == 0, answer.err
    with zipfile.ZipFile(path) as archive:
        assert "bcast-4-times.pdf" in archive.namelist()
        assert "CART, most leaves 4" in archive.read("captions.md").decode()
