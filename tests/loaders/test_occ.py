"""The tabular form of OCC's results."""

import json
from pathlib import Path

import pytest
import xarray as xr

from loaders import LoadError, open_results, save_results, source
from loaders.occ import FORMAT
from loaders.table import FORMAT as TABLE
from tests.loaders.printed import damaged_readings, read_text

HEADER = "collective algorithm topology segment_size communicator_size message_size time repetitions"
ROWS = (
    "bcast generalized binomial 8192 16 65536 1.234e-3 20\n"
    "bcast generalized pipeline 1024 16 65536 0.00215 20\n"
    "MPI_Reduce generalized - 0 8 4 5e-06 50\n"
)


def test_blanks_separate_columns_named_as_the_author_names_them(tmp_path: Path) -> None:
    reading = read_text(FORMAT, tmp_path, f"{HEADER}\n{ROWS}")
    assert FORMAT.recognises(f"{HEADER}\n{ROWS}".encode(), tmp_path / "results.txt")
    assert (reading.source.rows, reading.source.skipped) == (3, 0)
    assert reading.time(collective="bcast", topology="pipeline", segment_size=1024) == 2150.0
    assert reading.time(collective="reduce", topology=None, comm_size=8, message_size=4) == 5.0
    assert list(reading.rows["repetitions"]) == [20, 20, 50]


def test_topology_is_a_parameter_of_the_method(tmp_path: Path) -> None:
    path = tmp_path / "occ.txt"
    path.write_text(f"{HEADER}\n{ROWS}")
    cubes = open_results(path)
    assert list(cubes["bcast"]["method"].values) == [
        "generalized 8KiB topology=binomial",
        "generalized 1KiB topology=pipeline",
    ]
    assert list(cubes["reduce"]["method"].values) == ["generalized"]
    assert cubes["bcast"].attrs["statistic_kind"] == "completion"


@pytest.mark.parametrize(
    ("header", "scale"),
    [
        (
            "# Collective  Algorithm  Topology  Segment size  Communicator size  Message size  Time [us]  Repetitions",
            1e-6,
        ),
        ("collective,algorithm,topology,segment size,communicator size,message size,time (ms),repetitions", 1e-3),
        ("collective\talgorithm\ttopology\tsegsize\tcommsize\tmsg_size\ttime_ns\treps", 1e-9),
        ("collective,algorithm,topology,segment_size,comm_size,message_size,time_s,repetitions", 1.0),
    ],
)
def test_spellings_separators_and_units(header: str, scale: float, tmp_path: Path) -> None:
    separator = next((s for s in (",", "\t") if s in header), " ")
    line = "bcast linear chain 0 4 16 12.5 7".replace(" ", separator)
    reading = read_text(FORMAT, tmp_path, f"{header}\n{line}\n")
    assert FORMAT.recognises(header.encode(), tmp_path / "x")
    (row,) = reading.rows.itertuples()
    assert row.time == pytest.approx(12.5 * scale)
    assert (row.comm_size, row.message_size, row.topology, row.repetitions) == (4, 16, "chain", 7)


def test_other_names_and_orders_are_mapped(tmp_path: Path) -> None:
    text = "T ranks bytes coll topo seg method\n3.5 8 1024 bcast tree 64 split\n"
    columns = {"T": "time_us", "bytes": "message_size", "topo": "topology", "method": "algorithm"}
    reading = read_text(FORMAT, tmp_path, text, columns=columns)
    (row,) = reading.rows.itertuples()
    assert (row.comm_size, row.message_size, row.segment_size) == (8, 1024, 64)
    assert (row.topology, row.algorithm) == ("tree", "split")
    assert row.time == pytest.approx(3.5e-6)


def test_lines_at_fault_are_skipped_with_their_numbers(tmp_path: Path) -> None:
    bad = "bcast linear chain 0 4 16 1.0\nbcast linear chain 0 4 16 -1 3\nnoise\nbcast linear chain 0.5 4 16 1 3\n"
    reading = read_text(FORMAT, tmp_path, f"a job's remark\n{HEADER}\n{ROWS}\n{bad}{ROWS}{HEADER}\n# end\n")
    assert (reading.source.rows, reading.source.skipped) == (6, 5)
    assert sorted(s.line for s in reading.source.skips) == [1, 7, 8, 9, 10]


def test_a_second_header_begins_another_table(tmp_path: Path) -> None:
    other = HEADER.replace("time", "time_us")
    reading = read_text(FORMAT, tmp_path, f"{HEADER}\n{ROWS}{other}\nbcast linear chain 0 4 16 12.5 7\n")
    assert (reading.source.rows, reading.source.skipped) == (4, 0)
    assert reading.time(topology="chain") == 12.5


def test_a_file_of_many_pieces_loads_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK_BYTES", 300)
    reading = read_text(FORMAT, tmp_path, f"{HEADER}\n{ROWS * 9}")
    assert (reading.source.rows, reading.source.skipped) == (27, 0)


def test_nothing_usable_is_an_error_that_says_what_would_be_right(tmp_path: Path) -> None:
    assert "communicator_size, message_size, time" in read_text(FORMAT, tmp_path, "1 2 3\n").error
    assert "no row" in read_text(FORMAT, tmp_path, f"{HEADER}\n").error


@pytest.mark.parametrize("other", [b"algorithm", b"topology"])
def test_a_long_table_without_topology_or_algorithm_is_not_occ(tmp_path: Path, other: bytes) -> None:
    long = b"collective,%b,segment_size,comm_size,message_size,time\nbcast,linear,0,4,16,1e-5\n" % other
    assert not FORMAT.recognises(long, tmp_path / "x.csv")
    assert TABLE.recognises(long, tmp_path / "x.csv")


@pytest.mark.slow
def test_damaged_files_end_in_rows_or_a_load_error(tmp_path: Path) -> None:
    contents = [f"{HEADER}\n{ROWS * 20}".encode(), f"{HEADER}\n{ROWS * 20}".replace(" ", ",").encode()]
    for _, reading in damaged_readings(FORMAT, contents, tmp_path, 3):
        if not reading.error:
            assert (reading.rows["time"] > 0).all()
            assert len(reading.rows) == reading.source.rows


def test_results_are_written_in_this_form_and_come_back(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "collective,algorithm,segment_size,fan_out,comm_size,message_size,time,repetitions,double_of\n"
        "bcast,chain,1024,4,8,65536,0.00125,20,\n"
        "bcast,linear,0,,8,65536,0.0025,18,\n"
    )
    results = open_results(table, columns={"fan_out": "fan_out"})
    written = save_results(results, tmp_path / "r.occ")
    assert written.read_text().splitlines() == [
        "collective,algorithm,topology,fan_out,segment_size,communicator_size,message_size,time,repetitions",
        "bcast,chain,-,4,1024,8,65536,0.00125,20",
        "bcast,linear,-,,0,8,65536,0.0025,18",
    ]
    back = open_results(written)
    assert [source["format"] for source in json.loads(back.attrs["sources"])] == ["occ"]
    xr.testing.assert_allclose(back["bcast"].to_dataset()["time"], results["bcast"].to_dataset()["time"])
    assert back["bcast"]["method"].values.tolist() == results["bcast"]["method"].values.tolist()


def test_what_the_form_cannot_tell_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("collective,algorithm,depth,comm_size,message_size,time\nbcast,chain,4,8,65536,0.00125\n")
    with pytest.raises(LoadError, match=r"r\.occ: cannot be written: OCC's form has no column 'depth'"):
        save_results(open_results(table, columns={"depth": "depth"}), tmp_path / "r.occ")
