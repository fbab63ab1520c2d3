"""OSU Micro-Benchmarks: titles, columns, units, several datatypes, noise, and what is refused."""

import re
from pathlib import Path

import pandas as pd
import pytest

from loaders import imb, open_results, osu, text
from loaders.errors import LoadError, MissingHintError
from loaders.source import Format
from tests.loaders.printed import present, read, read_text, samples_of

FORM = osu.FORMAT
HEADER = "# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
FULL = "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
ROW = re.compile(rb"^(?:\d+ +|  +)\d+\.\d\d(?: .*)?$", re.MULTILINE)


def test_every_sample_loads_each_of_its_rows(samples: Path) -> None:
    files = samples_of(samples / "osu")
    assert len(files) == 33
    for file in files:
        reading = read(FORM, file)
        assert FORM.recognises(file.read_bytes(), file), file.name
        valid = [row for row in ROW.findall(file.read_bytes()) if b"Fail" not in row]
        assert reading.source.rows == len(reading.rows) == len(valid), file.name
        assert reading.source.rows + reading.source.skipped == present(file), file.name


@pytest.mark.parametrize(
    ("name", "collective", "size", "time"),
    [
        ("local__v7.4_bcast_plain_np2.txt", "bcast", 4096, 70.19),
        ("local__v7.4_allreduce_full_np2.txt", "allreduce", 64, 5.65),
        ("local__v7.4_allgather_full_tail_np2.txt", "allgather", 1048576, 1127.18),
        ("local__v7.4_alltoall_multitype_np2.txt", "alltoall", 2, 1.61),
        ("local__v7.4_gather_ddt_np2.txt", "gather", 1024, 4.18),
        ("local__v7.4_iallreduce_full_np2.txt", "iallreduce", 512, 48.10),
        ("local__v7.4_ibcast_np2.txt", "ibcast", 4096, 31.64),
        ("local__v7.4_ibarrier_full_np2.txt", "ibarrier", 0, 0.94),
        ("local__v7.4_barrier_full_np2.txt", "barrier", 0, 2.30),
        ("local__v7.4_barrier_np2.txt", "barrier", 0, 0.57),
        ("local__v7.4_reduce_full_tail_validate_np2.txt", "reduce", 8, 3.01),
        ("eth-cscs__AMD_OpenMPI__128__pilatus_openmpi_128_1.txt", "allreduce", 67108864, 1254001.57),
        ("eth-cscs__AMD_OpenMPI__128__pilatus_openmpi_persistent_128_1.txt", "allreduce_persistent", 8, 29.24),
        ("aistabci__allreduce__inter_anode__job02.sh.7194279.mpi.txt", "allreduce", 4, 35.07),
    ],
)
def test_times_read_by_eye(samples: Path, name: str, collective: str, size: int, time: float) -> None:
    """Max Latency where it is printed, else Avg Latency; Pure Comm. of non-blocking operations."""
    assert read(FORM, samples / "osu" / name).time(collective=collective, message_size=size) == time


def test_iterations_are_the_repetitions(samples: Path) -> None:
    rows = read(FORM, samples / "osu" / "local__v7.4_allreduce_full_np2.txt").rows.set_index("message_size")
    assert rows["repetitions"].loc[[8192, 16384]].tolist() == [1000, 100]


def test_a_row_whose_validation_failed_is_skipped_with_its_line(samples: Path) -> None:
    source = read(FORM, samples / "osu" / "local__v7.4_reduce_full_tail_validate_np2.txt").source
    assert (source.skips[0].line, source.skips[0].reason) == (13, "validation failed")
    assert source.reasons["not a row of the table"] == 11


def test_the_statistic_is_told_and_can_be_chosen(samples: Path, tmp_path: Path) -> None:
    file = samples / "osu" / "local__v7.4_allgather_full_tail_np2.txt"
    attrs = read(FORM, file).source.attrs
    assert (attrs["statistic_kind"], attrs["statistic"][:15]) == ("completion", "OSU Max Latency")
    assert attrs["benchmark"].startswith("OSU Micro-Benchmarks ")
    times = {s: read(FORM, file, statistic=s).time(message_size=256) for s in ("max", "mean", "avg", "min", "median")}
    assert times == {"max": 1.91, "mean": 1.36, "avg": 1.36, "min": 0.81, "median": 0.52}
    file = samples / "osu" / "local__v7.4_iallreduce_full_np2.txt"
    times = {s: read(FORM, file, statistic=s).time(message_size=4) for s in ("max", "mean", "min")}
    assert times == {"max": 3.47, "mean": 2.43, "min": 1.38}
    pair = "# OSU MPI Latency Test v5.6\n# Size          Latency (us)\n8   0.75\n"
    assert read_text(FORM, tmp_path, pair, statistic="mean").time() == 0.75
    plain = samples / "osu" / "local__v7.4_bcast_plain_np2.txt"
    assert read(FORM, plain).source.attrs["statistic_kind"] == "mean over processes"
    assert "no column for the statistic 'max'" in read(FORM, plain, statistic="max").error
    assert "possible are max, mean, median, min" in read(FORM, plain, statistic="mode").error


def test_tables_with_and_without_f_of_one_collective_give_one_statistic(tmp_path: Path) -> None:
    title, plain = "# OSU MPI Bcast Latency Test v5.6\n".replace("Bcast", "Broadcast"), HEADER.split("\n")[2] + "\n"
    full = title + FULL + "1 1.50 1.00 2.00 1000\n"
    short = title + plain + "2 3.00\n"
    first_short = read_text(FORM, tmp_path, short + full)
    assert first_short.rows["time"].tolist() == pytest.approx([3.0e-6, 1.5e-6])
    first_full = read_text(FORM, tmp_path, full + short)
    assert (first_full.source.rows, first_full.source.skipped) == (1, 1)


def test_datatypes_are_a_facet_of_the_rows(tmp_path: Path) -> None:
    table = "# Datatype: MPI_{}.\n# Size       Avg Latency(us)\n4   {}\n8   {}\n"
    text = "\n# OSU MPI Allreduce Latency Test v7.4\n" + table.format("CHAR", 1.5, 1.75)
    text += table.format("INT", 2.5, 2.75) + "\n# OSU MPI Reduce Latency Test v7.4\n" + table.format("INT", 3.5, 3.75)
    reading = read_text(FORM, tmp_path, text)
    assert reading.time(collective="allreduce", message_size=4, element_type="MPI_CHAR") == 1.5
    assert reading.time(collective="allreduce", message_size=4, element_type="MPI_INT") == 2.5
    (tmp_path / "both.txt").write_text(text)
    hints = {"algorithm": "default", "comm_size": 2}
    with pytest.raises(MissingHintError, match=r"datatype of allreduce is 'MPI_CHAR' .* and 'MPI_INT'"):
        open_results(tmp_path / "both.txt", **hints)
    chosen = open_results(tmp_path / "both.txt", select="datatype=MPI_INT", **hints)
    assert chosen["allreduce"]["time"].values.ravel() == pytest.approx([2.5e-6, 2.75e-6])
    assert chosen["reduce"].attrs["element_type"] == "MPI_INT"


def test_a_collective_of_size_0_moves_no_data(tmp_path: Path) -> None:
    source = read_text(FORM, tmp_path, HEADER + "0 0.50\n1 6.57\n").source
    assert (source.rows, source.reasons) == (1, {"size 0: no data": 1})


def test_reduce_scatter_is_a_total_vector(tmp_path: Path) -> None:
    for name in ("Reduce_scatter", "Reduce_scatter_block", "Non-blocking Reduce_scatter"):
        reading = read_text(FORM, tmp_path, HEADER.replace("Broadcast", name) + "64 2.00\n")
        assert reading.rows["total_size"].tolist() == [64]
        assert "message_size" not in reading.rows


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("# OSU MPI Broadcast Latency Test v7.4", ("bcast", None, None)),
        ("# OSU MPI-CUDA Allreduce Latency Test v5.7", ("allreduce", None, None)),
        ("# OSU MPI All-to-All Personalized Exchange Latency Test v5.6.3", ("alltoall", None, None)),
        (
            "# OSU MPI All-to-Allv Personalized Exchange Persistent Latency Test v7.4",
            ("alltoallv_persistent", None, None),
        ),
        ("# OSU MPI Non-Blocking Broadcast Latency Test v7.4", ("ibcast", None, None)),
        ("# OSU MPI-ROCM Non-blocking All-to-All Latency Test v7.1", ("ialltoall", None, None)),
        ("# OSU MPI Neighborhood Allgather Latency Test v7.4", ("neighbor_allgather", None, None)),
        ("# OSU MPI Latency Test v7.4", ("pt2pt", "pingpong", 2)),
        ("# OSU MPI Latency Persistent Test v7.4", ("pt2pt", "pingpong_persistent", 2)),
        ("# OSU MPI Multi Latency Test v7.4", ("pt2pt", "multi_pingpong", None)),
        ("# OSU MPI Multi-threaded Latency Test v7.4", ("pt2pt", "pingpong_multithreaded", 2)),
        ("# OSU MPI Multi-process Latency Test v7.4", ("pt2pt", "pingpong_multiprocess", 2)),
    ],
)
def test_titles_of_the_source(title: str, expected: tuple[str, str | None, int | None]) -> None:
    parsed = osu.parse_title(title)
    assert (parsed.collective, parsed.algorithm, parsed.comm_size, parsed.refused) == (*expected, "")


@pytest.mark.parametrize(
    ("title", "header", "row", "reason"),
    [
        ("MPI Bandwidth Test v7.4", "Size      Bandwidth (MB/s)", "1  1.81", "a bandwidth, not a time"),
        (
            "MPI Multiple Bandwidth / Message Rate Test v7.4",
            "Size       MB/s    Messages/s",
            "1 2.0 3.0",
            "a bandwidth",
        ),
        (
            "MPI Broadcast Latency Test v7.4",
            "Size       Avg Latency(ms)",
            "1  1.81",
            "avg latency(ms): times",
        ),
        ("MPI Broadcast Latency Test v7.4", "Size          Latency (s)", "1  1.81", "latency (s): times"),
        ("MPI_Put Latency Test v7.4", "Size          Latency (us)", "1  1.81", "a one-sided operation"),
        ("MPI Telepathy Latency Test v9.9", "Size          Latency (us)", "1  1.81", "known collective"),
    ],
)
def test_what_is_no_time_of_a_collective_is_refused(
    tmp_path: Path, title: str, header: str, row: str, reason: str
) -> None:
    text = f"# OSU {title}\n# {header}\n{row}\n"
    reading = read_text(FORM, tmp_path, text)
    assert FORM.recognises(text.encode(), tmp_path)
    assert reason in reading.error
    assert (reading.source.rows, reading.source.skipped) == (0, 1)


@pytest.mark.parametrize(
    ("form", "name"), [(FORM, "osu/local__v7.4_bcast_plain_np2.txt"), (imb.FORMAT, "imb/local__2021_np2_double.txt")]
)
def test_tables_longer_than_are_held_load_whole(
    samples: Path, monkeypatch: pytest.MonkeyPatch, form: Format, name: str
) -> None:
    rows = read(form, samples / name).rows
    monkeypatch.setattr(text, "ROWS_HELD", 3)
    pd.testing.assert_frame_equal(read(form, samples / name).rows, rows)


def test_sizes_and_repetitions_of_rows_are_whole_numbers(tmp_path: Path) -> None:
    text = HEADER.replace("v7.4", "v5.6") + "1 6.57\n0.5 7.25\n" + FULL + "4 1.0 0.5 1.5 100.0\n"
    source = read_text(FORM, tmp_path, text).source
    assert (source.rows, dict(source.reasons)) == (1, {"not a row of the table": 2})


def test_a_number_with_a_comma_is_told_with_its_remedy(tmp_path: Path) -> None:
    source = read_text(FORM, tmp_path, HEADER + "1 6,57\n1,024 12.73\n2048 1,056.31\n4,5 a\n4096 7.25\n").source
    assert source.rows == 1
    why = "a number with a comma: write 1.5 for 1,5 and 1024 for 1,024"
    assert dict(source.reasons) == {why: 3, "not a row of the table": 1}


@pytest.mark.parametrize(
    ("before", "known"), [("job starts\nstep 1\nwaiting\n", True), ("host,port\nn,1\n", False), ('{"n": 1}\n', False)]
)
def test_a_title_behind_64_kib_is_seen_but_not_in_another_format(tmp_path: Path, before: str, *, known: bool) -> None:
    path = tmp_path / "job.out"
    path.write_text(before + before.splitlines(keepends=True)[-1] * 20_000 + HEADER + "1 6.57\n")
    assert FORM.recognises(path.read_bytes()[: 1 << 16], path) == known


def test_chatter_inside_the_table_and_a_last_number_that_is_cut_are_skipped(tmp_path: Path) -> None:
    """UCX and scheduler lines among the rows; the run was killed while it printed 20.02."""
    text = (
        HEADER
        + "1 6.57\n[node1:123] UCX  WARN  transport\nCUDA_VISIBLE_DEVICES=0\nI am 4 of 64\n2 0.00\n2 12.73\n4 20.0"
    )
    source = read_text(FORM, tmp_path, text).source
    assert [(s.line, s.reason) for s in source.skips] == [
        (5, "not a row of the table"),
        (6, "not a row of the table"),
        (7, "not a row of the table"),
        (8, "the time is not positive"),
        (10, "cut off"),
    ]
    assert source.rows == 2
    assert read_text(FORM, tmp_path, text + "2").source.rows == 3


def test_a_header_in_which_tabs_stand_among_blanks(tmp_path: Path) -> None:
    text = "# OSU MPI Broadcast Latency Test v7.4\n# Size\t   Avg Latency(us)\n8\t   9.50\n"
    assert read_text(FORM, tmp_path, text).time(message_size=8) == 9.5


def test_a_table_below_a_garbled_title_is_not_given_to_the_collective_before(tmp_path: Path) -> None:
    second = HEADER.replace("# OSU MPI Broadcast", "# OXU MPI Reduce") + "1 9.00\n"
    source = read_text(FORM, tmp_path, HEADER + "1 6.57\n" + second).source
    assert (source.rows, source.reasons["below no title"]) == (1, 1)


@pytest.mark.parametrize(
    "header", ["# Size       Avg Latency(us)  Avg Latency(us)", "# Size       ?vg Latency(us)\t\t?"]
)
def test_a_garbled_header_gives_no_rows(tmp_path: Path, header: str) -> None:
    text = HEADER + "1 6.57\n# Datatype: MPI_INT.\n" + header + "\n1 9.00 9.00\n"
    source = read_text(FORM, tmp_path, text).source
    assert (source.rows, source.skipped) == (1, 1)


def test_the_header_is_found_behind_a_long_preamble(tmp_path: Path) -> None:
    file = tmp_path / "job.out"
    file.write_text("Hello from rank 3 of 512 on nid001052\n" * 4000 + HEADER + "1 6.57\n")
    assert FORM.recognises(file.read_bytes()[: 1 << 16], file)
    reading = read(FORM, file)
    assert (reading.source.rows, reading.source.skipped) == (1, 4000)


def test_tables_of_other_memory_or_of_another_library_in_one_log_are_never_put_together(tmp_path: Path) -> None:
    """A job that ran host buffers, device buffers, and the vendor's library one after the other."""
    table = "# OSU {} Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n4   {}\n8   {}\n"
    log = tmp_path / "job.out"
    log.write_text(
        table.format("MPI-ROCM", 20.0, 21.0) + table.format("MPI", 2.0, 2.5) + table.format("RCCL-ROCM", 70.0, 71.0)
    )
    hints = {"algorithm": "default", "comm_size": 8}
    with pytest.raises(MissingHintError, match=r"library of allreduce is 'not told' .* and 'RCCL'"):
        open_results(log, **hints)
    with pytest.raises(MissingHintError, match=r"device of allreduce is 'ROCM' .* and 'host'"):
        open_results(log, library="Open MPI", **hints)
    host = open_results(log, library="Open MPI", select="device=host", **hints)["allreduce"]
    assert host["time"].values.ravel() == pytest.approx([2.0e-6, 2.5e-6])
    assert (host.attrs["library"], host.attrs["device"]) == ("Open MPI", "host")
    for meant in ({"library": "RCCL"}, {"select": "library=RCCL"}):
        vendors = open_results(log, **meant, **hints)["allreduce"]
        assert vendors["time"].values.ravel() == pytest.approx([70.0e-6, 71.0e-6])
    # With and without -f, rows come in tables of their own: which are of the library that is named is not sure.
    log.write_text(
        table.format("RCCL-ROCM", 70.0, 71.0)
        + "# OSU MPI Allreduce Latency Test v7.5\n"
        + FULL.replace("Min Latency(us)   Max Latency(us)  ", "")
        + "4 1.0 10\n"
    )
    with pytest.raises(LoadError, match="others do not tell theirs: select library=RCCL"):
        open_results(log, library="RCCL", **hints)


def test_the_datatype_may_stand_below_the_header(tmp_path: Path) -> None:
    """As osu_latency of 7.3 prints it, here twice in one log; a datatype alone is no header."""
    table = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n# Datatype: MPI_CHAR.\n1   {}\n2   {}\n"
    log = "cores 0 and 1\n" + table.format(1.01, 1.02) + "cores 0 and 2\n" + table.format(1.51, 1.52)
    reading = read_text(FORM, tmp_path, log)
    assert (reading.rows["time"] * 1e6).tolist() == pytest.approx([1.01, 1.02, 1.51, 1.52])
    assert set(reading.rows["element_type"]) == {"MPI_CHAR"}
    headless = table.format(1.01, 1.02) + "# Datatype: MPI_INT.\n1   9.01\n"
    assert read_text(FORM, tmp_path, headless).rows["time"].max() < 2e-6
