"""mpi4py's own benchmarks: demo/osu_*.py and mpi4py.bench."""

import re
from pathlib import Path

import pytest

from loaders import mpi4py_run
from tests.loaders.printed import present, read, read_text, samples_of

FORM = mpi4py_run.FORMAT
DEMO = "# MPI Broadcast Latency Test\n# Size [B]        Latency [us]\n"
ROW = re.compile(r"^ *(\d+) +\d+\.\d\d(?: \|.*)?$", re.MULTILINE)


def test_every_sample_loads_its_rows_or_says_why_not(samples: Path) -> None:
    files = samples_of(samples / "mpi4py")
    assert len(files) == 11
    for file in files:
        reading = read(FORM, file)
        assert FORM.recognises(file.read_bytes(), file), file.name
        assert reading.source.rows + reading.source.skipped == present(file), file.name
        sizes = [match[1] for match in ROW.finditer(file.read_text())]
        assert len(sizes) == present(file), file.name
        timed = ("barrier", "latency", "multi_lat", "pingpong")
        empty = 0 if any(word in file.name for word in timed) else sizes.count("0")
        assert reading.source.rows == (0 if "_bw_" in file.name else len(sizes) - empty), file.name


@pytest.mark.parametrize(
    ("name", "collective", "size", "time"),
    [
        ("local__osu_bcast_np2.txt", "bcast", 1048576, 200.36),
        ("local__osu_allgather_np2.txt", "allgather", 4096, 25.49),
        ("local__osu_alltoall_np2.txt", "alltoall", 16384, 19.03),
        ("local__osu_alltoallv_np2.txt", "alltoallv", 8192, 19.91),
        ("local__osu_gather_np2.txt", "gather", 1, 1.71),
        ("local__osu_scatter_np2.txt", "scatter", 2, 0.91),
        ("local__osu_barrier_np2.txt", "barrier", 0, 2.83),
        ("local__osu_latency_np2.txt", "pt2pt", 4194304, 947.78),
        ("local__osu_multi_lat_np4.txt", "pt2pt", 1, 3.67),
        ("local__bench_pingpong_np2.txt", "pt2pt", 1, 0.942093),
    ],
)
def test_times_read_by_eye(samples: Path, name: str, collective: str, size: int, time: float) -> None:
    assert read(FORM, samples / "mpi4py" / name).time(collective=collective, message_size=size) == time


def test_bandwidths_headed_latency_are_refused_by_their_title(samples: Path) -> None:
    reading = read(FORM, samples / "mpi4py" / "local__osu_bw_np2.txt")
    assert "holds bandwidths ('MPI Bandwidth Test'), not times" in reading.error
    assert (reading.source.rows, reading.source.skipped) == (0, 23)


def test_pingpong_gives_mean_deviation_and_samples_in_seconds(samples: Path) -> None:
    reading = read(FORM, samples / "mpi4py" / "local__bench_pingpong_np2.txt")
    assert reading.source.attrs["statistic_kind"] == "mean over processes"
    rows = reading.rows
    first, last = rows.iloc[0], rows.iloc[-1]
    assert (first["time"], first["time_std"], first["repetitions"]) == (9.4209285e-07, 2.3504e-06, 10000)
    assert (last["message_size"], last["time"], last["repetitions"]) == (1 << 30, 1.3427438e-01, 10)
    assert set(rows["comm_size"]) == {2}


def test_pingpong_without_header_or_without_statistics(samples: Path, tmp_path: Path) -> None:
    text = (samples / "mpi4py" / "local__bench_pingpong_np2.txt").read_text()
    rows = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    assert FORM.recognises(rows.encode(), tmp_path)
    assert read_text(FORM, tmp_path, rows).source.rows == 31
    bare = "# MPI PingPong Test\n# Size [B]  Bandwidth [MB/s]\n         1              1.06\n"
    assert "holds bandwidths" in read_text(FORM, tmp_path, bare).error


def test_ringtest_tells_everything(tmp_path: Path) -> None:
    text = "time for 100 loops = 0.00123 seconds (8 processes, 1024 bytes)\n"
    assert FORM.recognises(text.encode(), tmp_path)
    reading = read_text(FORM, tmp_path, text + text.replace("100 loops", "0 loops"))
    assert reading.source.reasons == {"no repetitions": 1}
    (row,) = reading.rows.to_dict("records")
    assert row["time"] == pytest.approx(1.23e-5)
    del row["time"], row["segment_size"]
    assert row == {"collective": "pt2pt", "algorithm": "ring", "comm_size": 8, "message_size": 1024, "repetitions": 100}


def test_several_programs_in_one_file(tmp_path: Path) -> None:
    text = DEMO + "   0  0.41\n   1  0.64\n" + DEMO.replace("Broadcast", "Allreduce") + "   4  2.50\n"
    reading = read_text(FORM, tmp_path, text + DEMO.replace("Broadcast Latency", "Bandwidth") + "   4  9.50\n")
    assert reading.time(collective="bcast", message_size=1) == 0.64
    assert reading.time(collective="allreduce", message_size=4) == 2.5
    assert reading.source.reasons == {"size 0: no data": 1, "a bandwidth, not a time": 1}


def test_chatter_zero_times_and_a_cut_off_end_are_skipped(tmp_path: Path) -> None:
    source = read_text(FORM, tmp_path, DEMO + "   1  0.64\nsrun: warning\n   2  0.00\n   4  12.7").source
    assert [(s.line, s.reason) for s in source.skips] == [
        (4, "not a row of the table"),
        (5, "the time is not positive"),
        (6, "cut off"),
    ]


def test_a_table_below_a_garbled_title_is_not_given_to_the_collective_before(tmp_path: Path) -> None:
    second = DEMO.replace("# MPI Broadcast Latency Test", "# MPI Reduce Latency ???") + "   1  9.00\n"
    source = read_text(FORM, tmp_path, DEMO + "   1  0.64\n" + second).source
    assert (source.rows, source.reasons["below no title"]) == (1, 1)


def test_only_the_mean_is_there(samples: Path) -> None:
    file = samples / "mpi4py" / "local__osu_bcast_np2.txt"
    assert "possible are mean" in read(FORM, file, statistic="max").error
    assert read(FORM, file, statistic="mean").source.rows == 21
