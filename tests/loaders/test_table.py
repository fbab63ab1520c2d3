"""Tables: the long table, column mapping, Parquet, and the tables of other tools."""

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from loaders import open_results, save_results
from loaders.errors import LoadError
from loaders.source import KEPT_SKIPS
from loaders.table import FORMAT
from tests.cubes import synthetic_cube
from tests.loaders.printed import damaged_readings, read, read_text

LONG = "collective,algorithm,segment_size,comm_size,message_size,time\n"
ROWS = "bcast,pipeline,8192,16,65536,1.25e-3\nbcast,binomial,0,16,65536,0.002\nMPI_Allgather,ring,,8,64,3e-05\n"
# From JuliaParallel/MPIBenchmarks.jl, examples/ucl-kathleen.
JULIA = (
    "size (bytes),iteratons,min_time (seconds),max_time (seconds),avg_time (seconds)\n"
    "0,262144,2.804335963446647e-7,3.63122126145754e-7,3.354758670563266e-7\n"
    "4,262144,1.1980279850831721e-5,1.199193957290845e-5,1.199015194591387e-5\n"
    "65536,4096,0.00020328594837337732,0.00020332122221589088,0.0002033064083661884\n"
)
JULIA_IMB = (
    "#bytes,#repetitions,t_min[usec],t_max[usec],t_avg[usec]\n"
    "0,1000,0.04,0.28,0.10\n4,1000,0.60,8.30,1.34\n65536,640,21.74,131.72,68.40\n"
)


def test_the_long_table_needs_no_hints(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(LONG + ROWS)
    assert FORMAT.recognises((LONG + ROWS).encode(), tmp_path / "any.name")
    cubes = open_results(path)
    assert list(cubes["bcast"]["method"].values) == ["pipeline 8KiB", "binomial"]
    assert cubes["bcast"]["time"].sel({"method": "pipeline 8KiB"}).item() == 1.25e-3
    assert cubes["allgather"]["message_size"].item() == 64


def test_what_must_be_whole_is_skipped_if_it_is_not_and_what_may_be_blank_is_not_skipped(tmp_path: Path) -> None:
    head = "collective,algorithm,comm_size,message_size,time,time_std,repetitions\n"
    sizes = ("4,8,1e-5,,", "4,12.5,1e-5,1e-6,5", ",16,1e-5,1e-6,5", "4,32,1e-5,1e-6,5")
    rows = "".join(f"bcast,ring,{row}\n" for row in sizes)
    reading = read_text(FORMAT, tmp_path, head + rows)
    assert [int(size) for size in reading.rows["message_size"]] == [8, 32]
    assert np.isnan(reading.rows["time_std"].iloc[0])
    assert sorted(skip.line for skip in reading.source.skips) == [3, 4]


def test_sizes_may_have_a_unit(tmp_path: Path) -> None:
    rows = "bcast,pipeline,8KiB,16,64KiB,1e-3\nbcast,ring,0,16,1K,2e-3\nbcast,ring,0,16,512,1e-3\nbcast,ring,0,16,x,1\n"
    reading = read_text(FORMAT, tmp_path, LONG + rows)
    assert sorted(reading.rows["message_size"].tolist()) == [512, 1024, 65536]
    assert sorted(reading.rows["segment_size"].tolist()) == [0, 0, 8192]
    assert [skip.reason for skip in reading.source.skips] == ["message_size is not a number"]
    assert "sizes with a unit, such as 8KiB, are read by powers of 1024" in reading.source.notes


def test_numbers_with_a_comma_are_skipped_with_the_remedy(tmp_path: Path) -> None:
    rows = "bcast,ring,0,16,8,1.5\nbcast,ring,0,16,16,1,5\nbcast,ring,0,16,1,024,2.5\nbcast,ring,0,16,32,1,,5\n"
    text = (LONG + rows).replace(",", ";")
    for said, meant in (("1;5\n", "1,5\n"), ("1;024", "1,024"), ("1;;5", "1,,5")):
        text = text.replace(said, meant)
    reading = read_text(FORMAT, tmp_path, text)
    remedy = "is a number with a comma: write 1.5 for 1,5 and 1024 for 1,024"
    assert [(skip.line, skip.reason) for skip in reading.source.skips] == [
        (3, f"time {remedy}"),
        (4, f"message_size {remedy}"),
        (5, "time is not a number"),
    ]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_comma_tab_and_semicolon_separate(separator: str, tmp_path: Path) -> None:
    reading = read_text(FORMAT, tmp_path, (LONG + ROWS).replace(",", separator).replace("\n", "\r\n"))
    assert list(reading.rows["time"]) == [1.25e-3, 0.002, 3e-05]
    assert reading.source.rows == 3


def test_a_byte_order_mark_and_quotes_are_understood(tmp_path: Path) -> None:
    text = "\ufeff" + LONG + '"bcast","ring, twice",0,16,8,"1e-5"\nbcast,plain,0,16,8,2e-5\n'
    reading = read_text(FORMAT, tmp_path, text)
    assert dict(zip(reading.rows["algorithm"], reading.rows["time"], strict=True)) == {
        "ring, twice": 1e-5,
        "plain": 2e-5,
    }


def test_mapping_faults_are_named(tmp_path: Path) -> None:
    assert "no column 'nosuch'" in read_text(FORMAT, tmp_path, LONG + ROWS, columns={"nosuch": "ppn"}).error
    doubled = {"comm_size": "message_size", "segment_size": "message_size"}
    assert "all mean message_size" in read_text(FORMAT, tmp_path, LONG + ROWS, columns=doubled).error
    assert "must map" in read_text(FORMAT, tmp_path, LONG + ROWS, columns=["time"]).error
    assert "'a', 'b'" in read_text(FORMAT, tmp_path, "a,b\n1,2\n").error


def test_a_column_repetition_makes_raw_samples(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv"
    rows = "".join(f"bcast,linear,4,8,{r},{t}e-6\n" for r, t in enumerate((5, 1, 3)))
    path.write_text("collective,algorithm,comm_size,message_size,repetition,time\n" + rows)
    cube = open_results(path)["bcast"]
    assert cube["time"].item() == pytest.approx(3e-6)
    assert list(cube["sample"].values.ravel()) == pytest.approx([5e-6, 1e-6, 3e-6])


def test_of_rows_that_measured_the_same_medians_are_taken_where_asked(tmp_path: Path) -> None:
    head, cell = "collective,algorithm,comm_size,message_size,time", "bcast,linear,2,8"
    (tmp_path / "a.csv").write_text("\n".join([head, *(f"{cell},{time}" for time in (4e-1, 2e-4, 1e-4))]))
    tree = open_results(tmp_path / "a.csv")
    assert tree["bcast"]["time"].item() == pytest.approx(0.4003 / 3)
    assert "--statistic median" in tree.attrs["notes"]
    tree = open_results(tmp_path / "a.csv", statistic="median")
    assert (tree["bcast"]["time"].item(), tree["bcast"].attrs["statistic"]) == (2e-4, "median over repetitions")
    assert "not heeded" not in tree.attrs["notes"]
    # Of results that are means already there is no median.
    (tmp_path / "b.csv").write_text(f"{head},repetitions\n{cell},1e-4,5\n{cell},3e-4,5\n")
    tree = open_results(tmp_path / "b.csv", statistic="median")
    assert tree["bcast"]["time"].item() == pytest.approx(2e-4)
    assert "not heeded" in tree.attrs["notes"]


def test_total_sizes_become_blocks(tmp_path: Path) -> None:
    path = tmp_path / "total.csv"
    path.write_text("collective,algorithm,comm_size,total_size,time\nalltoall,linear,16,4096,1e-3\n")
    assert open_results(path)["alltoall"]["message_size"].item() == 256


def test_totals_that_would_share_a_block_are_not_averaged(tmp_path: Path) -> None:
    rows = [("a", 16, 1), ("a", 32, 1), ("a", 64, 10), ("a", 128, 12), ("b", 48, 8), ("b", 150, 11)]
    text = "".join(f"reduce_scatter,{name},64,{total},{time}e-6\n" for name, total, time in rows)
    (tmp_path / "total.csv").write_text(f"collective,algorithm,comm_size,total_size,time\n{text}")
    results = open_results(tmp_path / "total.csv")
    times = results["reduce_scatter"]["time"].squeeze("comm_size") * 1e6
    # Of a block of 1 byte it is the total of 64; 48 is taken where there is none, 150 for 2 bytes.
    assert times.values.tolist() == pytest.approx(np.array([[10.0, 12.0], [8.0, 11.0]]))
    assert "reduce_scatter: 2 rows are left out" in results.attrs["notes"]
    assert results["reduce_scatter"].attrs["rounded"].startswith("2 totals not divisible")


def test_another_header_below_begins_another_table(tmp_path: Path) -> None:
    other = "collective,algorithm,message_size,comm_size,time_us\n"
    text = LONG + ROWS + LONG + other + "bcast,linear,8,16,20\nbcast,linear,fast\n" + LONG + "bcast,ring,0,4,8,1e-5\n"
    reading = read_text(FORMAT, tmp_path, text)
    rows = reading.rows.set_index("algorithm")
    assert rows["time"].to_dict() == {
        "pipeline": 1.25e-3,
        "binomial": 0.002,
        "ring": 1e-5,
        "linear": pytest.approx(2e-5),
    }
    assert rows.loc["linear", ["comm_size", "message_size"]].tolist() == [16, 8]
    assert [(skip.line, skip.reason) for skip in reading.source.skips] == [(8, "not a row of the table")]


def test_the_row_at_a_cut_is_no_row_of_a_compressed_table(tmp_path: Path) -> None:
    rows = "".join(f"bcast,linear,0,4,{size},{size}.123e-6\n" for size in range(1, 2000))
    data = gzip.compress((LONG + rows).encode())
    (tmp_path / "cut.csv.gz").write_bytes(data[: len(data) // 2])
    source = read(FORMAT, tmp_path / "cut.csv.gz").source
    assert source.reasons["cut off"] == 1
    # Nobody can tell of a plain one, so that it is said.
    plain = read_text(FORMAT, tmp_path, (LONG + ROWS).rstrip()).source
    assert (plain.rows, "no line end" in plain.notes[0]) == (3, True)


def test_what_the_columns_do_not_say_comes_from_hints(tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    path.write_text("message_size,time_us\n8,10\n16,12\n")
    cube = open_results(path, collective="bcast", algorithm="linear", comm_size=4)["bcast"]
    assert list(cube["time"].values.ravel()) == pytest.approx([10e-6, 12e-6])


def test_lines_at_fault_are_skipped_with_their_numbers(tmp_path: Path) -> None:
    bad = [
        "bcast,linear,0,4,8",
        "bcast,linear,0,4,8,1e-5,7",
        "bcast,linear,0,4,8,fast",
        "bcast,linear,0,4,8,-1",
        "bcast,linear,0,4,8,nan",
        "bcast,linear,0,0,8,1e-5",
        "bcast,linear,0,4,8.5,1e-5",
        "dance,linear,0,4,8,1e-5",
        "bcast,,0,4,8,1e-5",
    ]
    text = LONG + ROWS + "\n".join(bad) + "\n\n# remark\n" + LONG + ROWS.rstrip("\n")
    reading = read_text(FORMAT, tmp_path, text)
    assert (reading.source.rows, reading.source.skipped) == (6, len(bad))
    assert {s.line: s.text for s in reading.source.skips} == dict(enumerate(bad, start=5))
    assert list(reading.rows["collective"]) == ["bcast", "bcast", "allgather"] * 2


@pytest.mark.parametrize(("word", "asked"), [("bcas", " ('bcas': did you mean bcast?)"), ("dance", "")])
def test_of_a_collective_that_is_not_known_the_near_name_is_said(tmp_path: Path, word: str, asked: str) -> None:
    reading = read_text(FORMAT, tmp_path, f"{LONG}{ROWS}{word},linear,0,4,8,1e-5\n")
    assert reading.source.reasons == {f"no collective that is known{asked}": 1}


def test_one_bad_line_in_many_costs_only_itself(tmp_path: Path) -> None:
    lines = [f"bcast,linear,0,{p},{m},{p * m}e-9" for p in range(2, 202) for m in range(1, 201)]
    for place in (0, 777, 39_999):
        lines[place] = "mpirun: noise, with, commas"
    reading = read_text(FORMAT, tmp_path, LONG + "\n".join(lines) + "\n")
    assert (reading.source.rows, reading.source.skipped) == (39_997, 3)
    assert [s.line for s in reading.source.skips] == [2, 779, 40_001]
    expected = reading.rows["comm_size"] * reading.rows["message_size"] * 1e-9
    assert np.allclose(reading.rows["time"], expected, rtol=1e-12)
    assert reading.rows["comm_size"].is_monotonic_increasing


def test_each_of_many_rows_at_fault_is_counted_with_its_reason(tmp_path: Path) -> None:
    rows = "bcast,linear,0,4,8,0\n" * (KEPT_SKIPS + 500)
    source = read_text(FORMAT, tmp_path, LONG + ROWS + rows).source
    assert (source.reasons, len(source.skips)) == ({"the time is not a positive number": 1500}, KEPT_SKIPS)


def test_parquet_holds_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LONG + ROWS)
    frame = pd.read_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    path = tmp_path / "a.parquet"
    assert FORMAT.recognises(path.read_bytes()[:65536], tmp_path / "no suffix")
    text, stored = read(FORMAT, tmp_path / "a.csv"), read(FORMAT, path)
    for name in text.rows.columns:
        assert list(text.rows[name]) == list(stored.rows[name]), name
    assert open_results(path)["bcast"].equals(open_results(tmp_path / "a.csv")["bcast"])


def test_parquet_skips_rows_by_number_and_maps_columns(tmp_path: Path) -> None:
    data = {
        "op": ["bcast", "bcast", None],
        "p": [4, 8, 8],
        "m": [8.0, np.nan, 8.0],
        "t": [1.0, 2.0, 3.0],
        "x": ["u"] * 3,
    }
    pd.DataFrame(data).to_parquet(tmp_path / "a.parquet")
    columns = {"op": "collective", "p": "comm_size", "m": "message_size", "t": "time_ms", "x": "topology"}
    reading = read(FORMAT, tmp_path / "a.parquet", columns=columns)
    assert (reading.source.rows, reading.source.skipped) == (1, 2)
    assert sorted(s.line for s in reading.source.skips) == [2, 3]
    assert reading.rows["topology"][0] == "u"
    assert reading.rows["time"][0] == 1e-3


def test_cubes_saved_as_a_table_open_again(tmp_path: Path) -> None:
    cube = synthetic_cube(4, 5, 3, seed=5, missing=0.2)
    name = str(cube.attrs["collective"])
    save_results(xr.DataTree.from_dict({name: cube}), tmp_path / "a.csv")
    again = open_results(tmp_path / "a.csv")[name]
    assert np.array_equal(
        np.sort(again["time"].values, axis=None), np.sort(cube["time"].values, axis=None), equal_nan=True
    )


def test_the_csv_of_mpibenchmarks_jl(tmp_path: Path) -> None:
    reading = read_text(FORMAT, tmp_path, JULIA, collective="allreduce")
    assert reading.time(message_size=65536) == pytest.approx(203.321222)
    assert read_text(FORMAT, tmp_path, JULIA, statistic="mean").time(message_size=65536) == pytest.approx(203.306408)
    assert (reading.source.rows, reading.source.skipped) == (2, 1)
    assert reading.source.skips[0].reason == "size 0: nothing is sent"
    assert reading.source.attrs["statistic_kind"] == "completion"
    assert reading.source.attrs["benchmark"] == "MPIBenchmarks.jl"
    assert reading.source.attrs["statistic"] == "max_time: max over processes"
    assert list(reading.rows["repetitions"]) == [262144, 4096]


def test_the_csv_of_imb_by_mpibenchmarks_jl(tmp_path: Path) -> None:
    reading = read_text(FORMAT, tmp_path, JULIA_IMB)
    assert reading.time(message_size=65536) == 131.72
    assert (reading.source.rows, reading.source.skipped) == (2, 1)
    assert "total_size" in read_text(FORMAT, tmp_path, JULIA_IMB, collective="reduce_scatter").rows


def test_nccl_tuner_data_load_whole(samples: Path) -> None:
    path = samples / "nccl_tuner" / "sample_performance_data.csv"
    assert open_results([path])["allreduce"].attrs["library"] == "NCCL"
    with path.open() as stream:
        lines = list(csv.DictReader(stream))
    reading = read(FORMAT, path)
    assert (reading.source.rows, reading.source.skipped) == (len(lines), 0) == (23, 0)
    where = {"collective": "allreduce", "algorithm": "nvls", "comm_size": 16, "message_size": 1048576}
    assert reading.time(**where) == 42.3
    assert set(reading.rows["ppn"]) == {8}
    cube = open_results(path)["bcast"]
    assert cube["protocol"].sel({"method": "ring channels=8 protocol=ll128"}).item() == "ll128"


def test_nccl_counts_the_bytes_of_all_ranks_for_blocks(samples: Path, tmp_path: Path) -> None:
    text = (samples / "nccl_tuner" / "sample_performance_data.csv").read_text()
    rows = read_text(FORMAT, tmp_path, text.replace("allreduce,", "allgather,")).rows
    assert sorted(set(rows.query("comm_size == 16")["message_size"])) == [64, 2048, 65536]
    both = read_text(FORMAT, tmp_path, text + "allgather,1048576,ring,simple,8,2,16,1,1,0,0,50\n")
    assert both.time(collective="allgather", algorithm="ring", message_size=65536) == 50
    assert both.time(collective="allreduce", algorithm="nvls", comm_size=16, message_size=1048576) == 42.3
    # A parameter of -1 is any, and no part of the method; those of others stay.
    assert both.rows["pipe_ops"].dropna().tolist() == [1]
    (tmp_path / "both.csv").write_text(text + "allgather,1048576,ring,simple,8,2,16,1,1,0,0,50\n")
    cubes = open_results([tmp_path / "both.csv"])
    assert not any("rounded" in cubes[name].attrs for name in ("allreduce", "allgather"))


def test_a_mapping_goes_before_what_a_known_header_means(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(JULIA)
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    columns = {"size (bytes)": "message_size", "min_time (seconds)": "time_s"}
    for name in ("a.csv", "a.parquet"):
        reading = read(FORMAT, tmp_path / name, columns=columns, collective="allreduce")
        assert reading.time(message_size=65536) == pytest.approx(203.285948)


def test_a_compressed_table_is_known_by_its_name_where_its_columns_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a;b;c;d;e\nBCAST;ring;64;1024;17.5\n"))
    columns = {"a": "collective", "b": "algorithm", "c": "comm_size", "d": "message_size", "e": "time_us"}
    assert open_results(path, columns=columns)["bcast"]["time"].item() == pytest.approx(17.5e-6)


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("message_size,binomial,linear\n8,12.4,10.2\n1024,18.1,25.5\n", {"collective": "bcast", "comm_size": "4"}),
        ("collective;ranks;size;binomial;linear\nbcast;4;8;12.4;10.2\nbcast;4;1024;18.1;25.5\n", {}),
        ("size,4,8\n8,12.4,10.2\n1024,18.1,25.5\n", {"collective": "bcast", "algorithm": "linear"}),
    ],
)
def test_how_a_wide_table_is_made_a_long_table_is_said_and_works(
    text: str, hints: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text(text)
    with pytest.raises(LoadError, match="no column of times") as refused:
        open_results("wide.csv", **hints)
    line = str(refused.value).rpartition("microseconds): ")[2]
    subprocess.run([sys.executable, "-W", "ignore", "-c", f"import pandas; {line}"], check=True)
    times = open_results("long.csv", **hints)["bcast"]["time"]
    assert sorted(times.values.ravel()) == pytest.approx([10.2e-6, 12.4e-6, 18.1e-6, 25.5e-6])


def test_a_table_without_sizes_is_taken_for_no_wide_table(tmp_path: Path) -> None:
    assert "melt" not in read_text(FORMAT, tmp_path, "when,what\n1,2\n").error


def test_what_cannot_be_read_is_a_load_error(tmp_path: Path) -> None:
    assert "no usable row (0 skipped: no row at all)" in read_text(FORMAT, tmp_path, LONG).error
    dance = read_text(FORMAT, tmp_path, LONG + "dance,linear,0,4,8,1e-5\n").error
    assert "1 × no collective" in dance
    assert "the first in line 2: 'dance,linear,0,4,8,1e-5'" in dance
    assert "Parquet" in read_text(FORMAT, tmp_path, b"PAR1 and nothing more").error
    with pytest.raises(LoadError):
        open_results(tmp_path / "results.txt", format="table")


@pytest.mark.slow
def test_damaged_tables_end_in_rows_or_a_load_error(tmp_path: Path) -> None:
    contents = [(LONG + ROWS * 20).encode(), (LONG + ROWS * 20).replace(",", "\t").encode(), JULIA.encode()]
    for data, reading in damaged_readings(FORMAT, contents, tmp_path, 2):
        if not reading.error:
            assert (reading.rows["time"] > 0).all()
            assert len(reading.rows) == reading.source.rows
            heads = {content.decode().split("\n")[0].strip() for content in contents}
            lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
            present = sum(bool(s) and not s.startswith("#") and s not in heads for s in lines)
            # Where two files are cut together, each may begin with a damaged header.
            assert abs(reading.source.rows + reading.source.skipped - present) <= 2


def test_damaged_parquet_ends_in_rows_or_a_load_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LONG + ROWS * 20)
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    for _, reading in damaged_readings(FORMAT, [content], tmp_path, 4):
        assert reading.error or (reading.rows["time"] > 0).all()
