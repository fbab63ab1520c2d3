"""Intel MPI Benchmarks: sections, process counts, groups, non-blocking, and what is left out."""

import re
from pathlib import Path

import pytest

from loaders import imb
from tests.loaders.printed import present, read, read_text, samples_of

FORM = imb.FORMAT
TITLE = "#    Intel(R) MPI Benchmarks 2019 Update 6, MPI-1 part\n"
HEADER = "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
GROUP = b"Group "
#: Benchmarks of messages between pairs: size 0 is the latency there, and no operation at all in a collective.
PAIRS = ("PingPong", "PingPing", "Sendrecv", "Exchange")
#: A row of a table without groups: [size] repetitions, then times and rates of two decimals.
ROW = re.compile(r"^\s+(?:(\d+)\s+)?\d+((?:\s+\d+\.\d\d){2,6})\s*$", re.MULTILINE)


def section(name: str, processes: int | str, *rows: str) -> str:
    lines = f"#{'-' * 64}\n# Benchmarking {name} \n# #processes = {processes} \n#{'-' * 64}\n"
    return lines + HEADER + "".join(f"{row}\n" for row in rows)


def test_every_sample_loads_its_rows_or_says_why_not(samples: Path) -> None:
    files = samples_of(samples / "imb")
    assert len(files) == 21
    refused = {}
    for file in files:
        reading = read(FORM, file)
        assert reading.source.rows + reading.source.skipped == present(file, GROUP), file.name
        refused |= {file.name: reading.error} if reading.error else {}
        if b"-multi 1" not in file.read_bytes():
            sections = re.split(r"^# Benchmarking ", file.read_text(), flags=re.MULTILINE)
            sizes = [
                (match[1], section.split()[0] in PAIRS) for section in sections[1:] for match in ROW.finditer(section)
            ]
            sent = [size for size, pairs in sizes if pairs or size != "0"]
            assert reading.source.rows == len(reading.rows) == len(sent), file.name
    alltoallv, placement = sorted(refused)
    assert "Alltoallv: 1 × size 0" in refused[alltoallv]
    assert "16384 × not a row" in refused[placement]
    assert {f.name for f in files if not FORM.recognises(f.read_bytes()[: 1 << 16], f)} == {placement}


@pytest.mark.parametrize(
    ("name", "collective", "comm_size", "size", "time"),
    [
        ("local__2021_np4_npmin2_multi_sections.txt", "bcast", 2, 1, 13.92),
        ("local__2021_np4_npmin2_multi_sections.txt", "bcast", 4, 1024, 306.93),
        ("local__2021_np4_npmin2_multi_sections.txt", "barrier", 2, 0, 20.33),
        ("local__2021_np4_npmin2_multi_sections.txt", "barrier", 4, 0, 5.08),
        ("local__2021_np4_npmin2_multi_sections.txt", "alltoall", 4, 4, 194.34),
        ("local__2021_np2_double.txt", "allreduce", 2, 8, 1.42),
        ("*_Allreduce_16nodes_*", "allreduce", 2048, 4194304, 20578.81),
        ("*_PingPong_128nodes_*", "pt2pt", 2, 4194304, 153.59),
        ("*_Sendrecv_128nodes_*", "pt2pt", 16384, 1, None),
        ("*IMB-MPI1_internode.txt", "allgatherv", 2, 1, None),
    ],
)
def test_times_read_by_eye(
    samples: Path, name: str, collective: str, comm_size: int, size: int, time: float | None
) -> None:
    """The time is t_max; where None is given, only the cell must be there."""
    (file,) = (samples / "imb").glob(name)
    value = read(FORM, file).time(collective=collective, comm_size=comm_size, message_size=size)
    assert time is None or value == time


def test_one_file_of_4_1_holds_collectives_and_patterns(samples: Path) -> None:
    (file,) = (samples / "imb").glob("*IMB-MPI1_internode.txt")
    reading = read(FORM, file)
    rows = reading.rows
    assert reading.source.attrs["benchmark"] == "Intel MPI Benchmarks 4.1 MPI-1"
    assert reading.source.attrs["date"] == "Thu Jul 14 12:36:02 2016"
    assert set(rows.loc[rows["collective"] == "pt2pt", "algorithm"]) == {"pingpong", "pingping", "sendrecv", "exchange"}
    assert reading.time(algorithm="pingping", message_size=4194304) == 51657.70
    assert rows["repetitions"].loc[(rows["algorithm"] == "pingpong") & (rows["message_size"] == 65536)].tolist() == [
        640
    ]
    assert len(set(rows["collective"])) == 14


def test_groups_at_the_same_time_give_the_slowest_and_the_size_of_a_group(samples: Path) -> None:
    multi1 = read(FORM, samples / "imb" / "local__2021_np4_multi1.txt")
    assert (multi1.source.rows, len(multi1.rows)) == (9, 6)
    times = {(2, 4): 9.92, (2, 8): 8.95, (2, 16): 10.63, (4, 4): 13.67, (4, 8): 13.41, (4, 16): 15.10}
    assert {key: multi1.time(comm_size=key[0], message_size=key[1]) for key in times} == times
    multi0 = read(FORM, samples / "imb" / "local__2021_np4_multi0.txt")
    assert multi0.time(collective="bcast", comm_size=2, message_size=32) == 5.62
    assert multi0.time(collective="bcast", comm_size=4, message_size=32) == 0.44


def test_nonblocking_takes_the_pure_time_and_keeps_the_pure_benchmark_apart(samples: Path) -> None:
    reading = read(FORM, samples / "imb" / "local__2021_NBC_np2.txt")
    assert set(reading.rows["collective"]) == {"ibcast"}
    assert reading.time(message_size=16, measurement=None) == 39.46
    assert reading.time(message_size=16, measurement="pure") == 0.82


def test_of_both_benchmarks_of_a_nonblocking_collective_the_first_is_the_plain_method(tmp_path: Path) -> None:
    table = "# #processes = 2\n" + HEADER + "  8 1000 1.00 2.00 1.50\n"
    for names, measurement in ((("Ibcast_pure", "Ibcast"), "overlapped"), (("Ibcast", "Ibcast_pure"), "pure")):
        text = "".join(f"#---------------\n# Benchmarking {name}\n{table}" for name in names)
        assert read_text(FORM, tmp_path, text).rows["measurement"].fillna("").tolist() == ["", measurement]


def test_the_elements_of_reductions_are_a_facet(tmp_path: Path) -> None:
    head = "# Intel(R) MPI Benchmarks 2021.6, MPI-1 part\n# MPI_Datatype : MPI_BYTE\n"
    head += "# MPI_Datatype for reductions    :   MPI_DOUBLE \n"
    for name in ("Allreduce", "Bcast"):
        head += f"#---------------\n# Benchmarking {name}\n# #processes = 2\n{HEADER}  8 1000 1.00 2.00 1.50\n"
    rows = read_text(FORM, tmp_path, head).rows
    assert rows["element_type"].fillna("").tolist() == ["MPI_DOUBLE", ""]


def test_reduce_scatter_is_a_total_vector(samples: Path) -> None:
    rows = read(FORM, samples / "imb" / "local__2021_np2.txt").rows
    part = rows[rows["collective"] == "reduce_scatter"]
    assert part["message_size"].isna().all()
    assert part["total_size"].tolist() == [4 << k for k in range(11)]


def test_the_statistic_can_be_chosen(samples: Path) -> None:
    file = samples / "imb" / "local__2021_np2_double.txt"
    times = {s: read(FORM, file, statistic=s).time(message_size=8) for s in ("max", "min", "mean", "avg")}
    assert times == {"max": 1.42, "min": 0.75, "mean": 1.08, "avg": 1.08}
    assert "possible are max, mean, min" in read(FORM, file, statistic="median").error
    assert read(FORM, file, statistic="avg").source.attrs["statistic_kind"] == "mean over processes"
    overlapped = samples / "imb" / "local__2021_NBC_np2.txt"
    assert read(FORM, overlapped, statistic="max").time(message_size=16, measurement=None) == 39.46
    (pairs,) = (samples / "imb").glob("*_PingPong_128nodes_*")
    assert {read(FORM, pairs, statistic=s).time(message_size=4194304) for s in ("max", "min", "mean")} == {153.59}


def test_sizes_that_could_not_be_measured_are_skipped_with_the_reason(samples: Path) -> None:
    (file,) = (samples / "imb").glob("*_Allgather_128nodes_*")
    source = read(FORM, file).source
    assert source.reasons == {"size 0: no data": 1, "not measured: out-of-mem": 7}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Bcast", ("bcast", None, False)),
        ("Multi-Allreduce", ("allreduce", None, False)),
        ("Reduce_scatter_block", ("reduce_scatter_block", None, False)),
        ("Ialltoallv_pure", ("ialltoallv", None, True)),
        ("Allgather_persist_pure", ("allgather_persistent", None, True)),
        ("PingPongAnySource", ("pt2pt", "pingpong_anysource", False)),
        ("Multi-Exchange", ("pt2pt", "exchange", False)),
        ("Unidir_Put", (None, None, False)),
        ("Reduce_local", (None, None, False)),
    ],
)
def test_names_of_benchmarks(name: str, expected: tuple[str | None, str | None, bool]) -> None:
    assert imb.benchmark_name(name) == expected


def test_the_parenthesised_process_count_of_very_old_versions(tmp_path: Path) -> None:
    text = f"# Benchmarking Bcast\n# ( #processes = 8 ) \n{HEADER}  4 1000 1.00 2.00 1.50\n"
    assert read_text(FORM, tmp_path, text).time(comm_size=8, message_size=4) == 2.0


def test_bandwidths_and_other_benchmarks_are_refused(tmp_path: Path) -> None:
    uniband = section("Uniband", 2).replace(HEADER, " #bytes #repetitions Mbytes/sec Msg/sec\n 8 1000 1.27 2000\n")
    assert "a bandwidth, not a time" in read_text(FORM, tmp_path, TITLE + uniband).error
    put = section("Unidir_put", 2, " 8 1000 1.00 2.00 1.50")
    assert "Unidir_put is no collective" in read_text(FORM, tmp_path, TITLE + put).error


def test_a_section_below_a_garbled_title_is_not_given_to_the_one_before(tmp_path: Path) -> None:
    bcast, reduce = (section(name, 4, "  8 1000 1.00 2.00 1.50") for name in ("Bcast", "Reduce"))
    for garbled in (
        reduce.replace("# Benchmarking", "? Benchmarking"),
        reduce.replace("# #processes", "# #prozesses"),
        HEADER + "  8 1000 1.00 2.00 1.50\n",
    ):
        reading = read_text(FORM, tmp_path, TITLE + bcast + garbled)
        assert set(reading.rows["collective"]) == {"bcast"}
        assert len(reading.rows) == 1
        assert present(tmp_path / "results.txt") == reading.source.rows + reading.source.skipped


def test_chatter_and_a_cut_off_end_are_skipped(tmp_path: Path) -> None:
    text = TITLE + section("Bcast", 4, "  4 1000 1.00 2.00 1.50", "srun: warning", "  8 1000 1.00 nan 1.50")
    text += "  0.5 1000 1.00 2.00 1.50\n  8 1000.5 1.00 2.00 1.50\n"
    source = read_text(FORM, tmp_path, text + "  16 1000 1.00 2.00 1.5").source
    assert [(s.line, s.reason) for s in source.skips] == [
        (8, "not a row of the table"),
        (9, "not a row of the table"),
        (10, "not a row of the table"),
        (11, "not a row of the table"),
        (12, "cut off"),
    ]
    untitled = read_text(FORM, tmp_path, text.removeprefix(TITLE)).source
    assert (untitled.rows, untitled.attrs["benchmark"]) == (1, "Intel MPI Benchmarks")


def test_times_of_wrong_results_are_none(tmp_path: Path) -> None:
    rows = section("Allreduce", 4, "  4 1000 1.00 2.00 1.50 0.00", "  8 1000 1.00 5.00 1.50 1.00")
    source = read_text(FORM, tmp_path, TITLE + rows.replace("t_avg[usec]", "t_avg[usec] defects")).source
    assert (source.rows, dict(source.reasons)) == (1, {"the results were wrong (defects)": 1})


def test_the_title_is_found_behind_a_long_preamble(tmp_path: Path) -> None:
    """A placement program's line for each of 16384 processes comes first."""
    file = tmp_path / "job.out"
    file.write_text(
        "Hello from rank 4597, thread 0, on nid001052.\n" * 16384 + TITLE + section("Bcast", 4, " 4 9 1.00 2.00 1.50")
    )
    assert FORM.recognises(file.read_bytes()[: 1 << 16], file)
    reading = read(FORM, file)
    assert (reading.source.rows, reading.source.skipped) == (1, 16384)
    other = tmp_path / "other.sko"
    other.write_text("# SKaMPI Version 5.0.4\n" + "1 2 3\n" * 20_000 + TITLE)
    assert not FORM.recognises(other.read_bytes()[: 1 << 16], other)
