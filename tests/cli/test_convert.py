"""``colltune convert``: results saved, hints taken."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.session.reading import BY_NAME
from loaders import open_results
from loaders.hints import ATTRIBUTES, FIELDS
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


def test_every_hint_that_loaders_know_can_be_given(colltune: Run, tmp_path: Path) -> None:
    assert {*FIELDS, *ATTRIBUTES} <= BY_NAME.keys()
    table = tmp_path / "mine.csv"
    table.write_text("comm_size,message_size,time\n2,8,1.5e-6\n4,8,2.5e-6\n")
    told = {"device": "host", "placement": "cyclic", "campaign": "second"}
    hints = ["-c", "bcast", "--algorithm", "chain", "--library-id", 2, "--nodes", 2]
    hints += [word for name, value in told.items() for word in (f"--{name}", value)]
    assert colltune("convert", table, "-o", tmp_path / "x.nc", *hints).status == 0
    cube = open_results(tmp_path / "x.nc")["bcast"].to_dataset()
    assert {name: cube.attrs[name] for name in told} == told
    assert (cube["library_id"].values.tolist(), cube["ppn"].values.tolist()) == ([2], [1, 2])


def test_the_long_table_gives_back_methods_and_doubles_and_says_what_it_has_no_room_for(
    colltune: Run, tmp_path: Path
) -> None:
    results, table = ROOT / "sample_data" / "fast-ethernet-own" / "results.jsonl", tmp_path / "table.csv"
    said = colltune("convert", results, "-o", table).err
    assert (
        "note: single repetitions, what the files say of the machine, and whether times are means or maxima: not in"
        in said
    )
    before, after = open_results(results), open_results(table)
    assert list(before.children) == list(after.children) == ["bcast"]
    ours, theirs = (tree["bcast"].to_dataset() for tree in (before, after))
    ran_as = [np.array([*cube["double_of"].attrs["methods"], ""])[cube["double_of"].values] for cube in (ours, theirs)]
    np.testing.assert_array_equal(*ran_as)
    assert (ran_as[0] != "").any()
    assert "radix" in ours
    times = [cube.drop_vars(["sample", "double_of"], errors="ignore").drop_attrs() for cube in (ours, theirs)]
    xr.testing.assert_identical(*times)


def test_what_the_form_of_occ_has_no_room_for_is_said(colltune: Run, results: Path, tmp_path: Path) -> None:
    said = colltune("convert", results, "-o", tmp_path / "made.occ").err
    assert "standard deviations, the statistic (it is read as OCC's own): not in OCC's form; .nc has all" in said


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".csv"])
def test_convert_replaces_no_folder(colltune: Run, results: Path, tmp_path: Path, ending: str) -> None:
    kept = tmp_path / f"mine{ending}" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    answer = colltune("convert", results, "-o", kept.parent)
    assert (answer.status, kept.read_text()) == (2, "mine")
    assert len(answer.err.splitlines()) == 1
