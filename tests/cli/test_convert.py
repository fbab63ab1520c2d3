"""``colltune convert``: results saved, hints taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaders import open_results
from tests.cli.command import Run
from tests.conftest import ROOT


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".csv"])
def test_convert_keeps_the_map(colltune: Run, results: Path, tmp_path: Path, ending: str) -> None:
    made = tmp_path / f"again{ending}"
    answer = colltune("convert", results, "-o", made)
    assert (answer.status, answer.out) == (0, "")
    assert str(made) in answer.err
    before, after = (colltune("map", path, "-c", "reduce", "--json").json for path in (results, made))
    assert before == after


def test_convert_takes_hints(colltune: Run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("p,bytes,latency\n2,8,1.5e-6\n4,8,2.5e-6\n")
    columns = [f"--column={pair}" for pair in ("comm_size=p", "message_size=bytes", "time=latency")]
    hints = [
        *columns,
        "-c",
        "bcast",
        "--algorithm",
        "chain",
        "--segment-size",
        "8KiB",
        "--system",
        "here",
        "--ppn",
        "2",
    ]
    assert colltune("convert", table, "-o", tmp_path / "x.nc", "--format", "table", *hints).status == 0
    cube = open_results(tmp_path / "x.nc")["bcast"].to_dataset()
    assert cube["method"].values.tolist() == ["chain 8KiB"]
    assert cube["time"].values.tolist() == [[[1.5e-6], [2.5e-6]]]
    assert (cube.attrs["system"], cube.attrs["ppn"]) == ("here", 2)


def test_what_the_long_table_does_not_give_back_by_itself_is_said(colltune: Run, tmp_path: Path) -> None:
    results, table = ROOT / "sample_data" / "fast-ethernet-4x2-tuned" / "results.jsonl", tmp_path / "table.csv"
    said = colltune("convert", results, "-o", table).err
    named = "--column fan_out=fan_out --column radix=radix --column variant=variant"
    assert f"told apart again with {named}" in said
    assert "which times cannot be trusted, is not read of it again; .nc has all" in said
    again = colltune("convert", table, *named.split(), "-o", tmp_path / "again.nc")
    assert again.status == 0
    cells = [int(open_results(each)["allreduce"]["time"].notnull().sum()) for each in (results, tmp_path / "again.nc")]
    assert cells[0] == cells[1]
    assert "again with" not in colltune("convert", tmp_path / "again.nc", "-o", tmp_path / "again.zarr").err


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".csv"])
def test_convert_replaces_no_folder(colltune: Run, results: Path, tmp_path: Path, ending: str) -> None:
    kept = tmp_path / f"mine{ending}" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    answer = colltune("convert", results, "-o", kept.parent)
    assert (answer.status, kept.read_text()) == (2, "mine")
    assert len(answer.err.splitlines()) == 1
