"""Numbers that no size and no time can be: skipped with a reason, or an error in one line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from loaders import LoadError, MissingHintError, open_results, scan
from loaders.hints import FileHints, Hints
from loaders.sizes import parse_size
from loaders.source import Source
from tests.files import run_file

BLOCK = '# SKaMPI Version 5.0\n# begin result "MPI_Bcast-procs"\n{}\n# end result "MPI_Bcast-procs"\n'
ROW = "nodes= 4 count= 1 {size}  {time}  4.0  {count}"
HINTS = {"algorithm": "x"}


def skampi(folder: Path, *rows: str) -> Path:
    path = folder / "results.sko"
    path.write_text(BLOCK.format("\n".join(rows)), encoding="utf-8")
    return path


def good(**changed: str) -> str:
    return ROW.format(**{"size": "1", "time": "105.4", "count": "5", **changed})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (good(count="9" * 5_000), "a number is out of range"),
        (good(size="9" * 5_000), "a number is out of range"),
        (good(time="9" * 5_000), "the time is not positive"),
        (good().replace("nodes= 4", "nodes= 1e19"), "comm_size is not a whole number below 2^62"),
        (good().replace("nodes= 4", "nodes= 2.5"), "comm_size is not a whole number below 2^62"),
        (good().replace("nodes= 4", "nodes= -1"), "comm_size is below 1"),
        (good().replace("nodes= 4", "nodes= 4 segment_size= 1e300"), "segment_size is not a whole number below 2^62"),
    ],
)
def test_a_row_of_skampi_with_such_a_number_is_left_out_and_counted(tmp_path: Path, row: str, reason: str) -> None:
    path = skampi(tmp_path, good(), row, good(size="2"))
    results = open_results(path, **HINTS)
    (source,) = json.loads(results.attrs["sources"])
    assert (source["rows"], source["skipped"], source["reasons"]) == (2, 1, {reason: 1})
    assert results["bcast"]["comm_size"].values.tolist() == [4]
    assert results["bcast"]["message_size"].values.tolist() == [1, 2]


def test_a_segment_size_that_is_no_whole_number_costs_no_other_row(tmp_path: Path) -> None:
    rows = [good().replace("nodes= 4", f"nodes= 4 segment_size= {size}") for size in ("8", "2.5")]
    assert open_results(skampi(tmp_path, *rows), **HINTS)["bcast"]["segment_size"].values.tolist() == [8]


@pytest.mark.parametrize("value", ["1e300", "-1e300", "1e18", "9" * 18])
def test_a_huge_parameter_tells_methods_apart(tmp_path: Path, value: str) -> None:
    row = good().replace("nodes= 4", f"nodes= 4 fanout= {value}")
    results = open_results(skampi(tmp_path, good(), row), **HINTS)
    assert len(results["bcast"]["method"]) == 2


def with_odd(folder: Path, **changed: object) -> Path:
    point = {"collective": "bcast", "algorithm": "x", "comm_size": 4, "message_size": 8, "samples": [1e-6, 2e-6]}
    path = run_file(folder / "results.jsonl", point)
    with path.open("a") as stream:
        stream.write(json.dumps({**point, "message_size": 16, **changed}) + "\n")
    return path


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"samples": [1e-6, 10**400]}, "a time is not a positive number"),
        ({"samples": None, "time": 10**400}, "no times"),
        ({"time_std": 10**400}, "'time_std' is not a number"),
        ({"time_std": "wide"}, "'time_std' is not a number"),
        ({"comm_size": 0}, "'comm_size' is not a size"),
        ({"comm_size": 2**63}, "'comm_size' is not a size"),
    ],
)
def test_a_point_of_a_run_with_such_a_number_is_left_out_and_counted(
    tmp_path: Path, changed: dict[str, object], reason: str
) -> None:
    (report,) = scan(with_odd(tmp_path, **changed))
    assert (report["rows"], report["skipped"], report["error"]) == (1, 1, None)
    assert report["reasons"] == {reason: 1}


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400])
def test_a_parameter_without_room_in_64_bits_is_a_text(tmp_path: Path, value: int) -> None:
    results = open_results(with_odd(tmp_path, parameters={"fanout": value}))
    assert results["bcast"]["fanout"].values.tolist() == ["", str(value)]


def test_rows_may_leave_out_their_system(tmp_path: Path) -> None:
    table = pd.DataFrame({"collective": "bcast", "algorithm": "x", "comm_size": 4, "message_size": [1, 2], "time": 1.0})
    table.assign(system=[np.nan, "one"]).to_csv(tmp_path / "told.csv")
    with pytest.raises(MissingHintError, match=r"system of bcast is 'not told' .* and 'one' "):
        open_results(tmp_path / "told.csv")
    chosen = FileHints(Hints({"system": "one"}), Source(tmp_path / "table.csv"))
    assert chosen.apply(table.assign(system=[np.nan, "one"]))["message_size"].tolist() == [2]


def test_a_path_longer_than_any_is_an_error_in_one_line() -> None:
    with pytest.raises(LoadError, match="cannot be opened: File name too long") as caught:
        open_results("a" * 5_000)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5_000, "4611686018427387904", "9999999999GiB"])
def test_a_size_has_room_in_64_bits(text: str) -> None:
    with pytest.raises(ValueError, match="is no size of a message"):
        parse_size(text)
    assert parse_size("4611686018427387903") == 2**62 - 1
