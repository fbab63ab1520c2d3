"""ReproMPI: real files of both versions and every table; expected values read from the files by eye."""

import re
from pathlib import Path

import pandas as pd
import pytest

from loaders import MissingHintError, open_results
from loaders.reprompi import FORMAT, _test_name
from tests.loaders.printed import damaged_readings, read, read_text, samples_of

HEADER = re.compile(r"\s*(process\s+)?test\s.*_sec\s*")
RAW = "                test       nrep        count    runtime_sec \n"
SETTINGS = "#Command-Line Arguments: bench --calls-list=MPI_Bcast\n#@datatype_extent_bytes=4\n#@nprocs=8\n"


def row_lines(data: bytes) -> int:
    lines = data.decode("utf-8", "replace").split("\n")
    return sum(bool(s) and not s.startswith("#") and not HEADER.fullmatch(s) for s in map(str.strip, lines))


@pytest.fixture(scope="module")
def folder(samples: Path) -> Path:
    return samples / "reprompi"


def test_every_real_file_loads_whole_and_is_recognised(folder: Path) -> None:
    files = samples_of(folder)
    assert len(files) == 10
    for file in files:
        reading = read(FORMAT, file)
        assert FORMAT.recognises(file.read_bytes()[:65536], file)
        assert (reading.source.rows, reading.source.skipped) == (row_lines(file.read_bytes()), 0), file.name


def test_raw_rows_are_samples_numbered_as_in_the_file(folder: Path) -> None:
    reading = read(FORMAT, folder / "local__new_raw_np2.txt")
    assert list(reading.rows["repetition"][:11]) == [*range(10), 0]
    assert reading.time(message_size=8, repetition=4) == 27.411
    assert reading.time(message_size=65536, repetition=0) == 95.993
    assert set(reading.rows["collective"]) == {"bcast"}
    assert set(reading.rows["comm_size"]) == {2}


def test_real_cluster_run_of_version_0(folder: Path) -> None:
    reading = read(FORMAT, folder / "rohlem_benmet__raw_allreduce.txt")
    assert reading.time(message_size=1, repetition=0) == 10.9819
    assert set(reading.rows["comm_size"]) == {4}
    assert reading.source.attrs["benchmark"] == "ReproMPI 0.x 00325471f9a3"
    assert reading.source.attrs["date"] == "Mon Oct 12 22:14:38 2020"
    cube = open_results(folder / "rohlem_benmet__summary_allreduce.txt", algorithm="default")["allreduce"].to_dataset()
    assert cube["time"].sel(comm_size=4, message_size=10000).item() == pytest.approx(30.3395e-6, abs=1e-15)


def test_summary_takes_the_median_or_what_is_asked_for(folder: Path) -> None:
    file = folder / "local__new_summary_np2.txt"
    where = {"collective": "alltoall", "message_size": 262144}
    assert read(FORMAT, file).time(**where) == 26.755
    assert read(FORMAT, file, statistic="max").time(**where) == 346.847
    assert read(FORMAT, file, statistic="mean").time(**where) == 48.3738
    assert read(FORMAT, file, statistic="min").time(**where) == 21.913
    rows = read(FORMAT, file).rows
    assert list(rows["collective"][:3]) == ["bcast", "allreduce", "alltoall"]
    assert rows["time_std"].iloc[-1] == pytest.approx(48.9236e-6)
    assert set(rows["repetitions"]) == {50}


def test_a_statistic_that_a_summary_has_not_is_named(tmp_path: Path) -> None:
    text = SETTINGS + "test count total_nrep valid_nrep mean_sec\nMPI_Bcast 1 5 5 0.0000010000\n"
    assert read_text(FORMAT, tmp_path, text).time() == 1.0
    assert "no max_sec" in read_text(FORMAT, tmp_path, text, statistic="max").error


def test_verbose_time_is_last_end_less_first_start_on_global_clocks(folder: Path) -> None:
    reading = read(FORMAT, folder / "local__new_verbose_np2.txt")
    # Process 0: 112.2080 … 113.1690 µs, process 1: 112.0115 … 113.4735 µs, on the global clock.
    assert reading.time(message_size=8, repetition=0) == 1.462
    assert reading.time(message_size=8, repetition=3) == pytest.approx(115.8475 - 115.5130)
    assert len(reading.rows) == 10
    assert reading.source.rows == 20


def test_verbose_of_version_0_has_local_clocks_only(folder: Path) -> None:
    reading = read(FORMAT, folder / "local__v0_verbose_np2.txt")
    # Process 0 takes 0.782 µs, process 1 3.115 µs.
    assert reading.time(message_size=8, repetition=0) == 3.115
    assert reading.source.rows == 48
    assert len(reading.rows) == 24


def test_verbose_repetition_without_all_processes_or_with_an_error_is_skipped(tmp_path: Path) -> None:
    table = "process test nrep count errorcode loc_tstart_sec loc_tend_sec gl_tstart_sec gl_tend_sec\n"
    rows = "".join(
        f"{process} MPI_Bcast {nrep} 2 {int(nrep == 1 and process == 1)} 0.1 0.2 0.1 0.{2 + process}000000000\n"
        for process in (0, 1)
        for nrep in (0, 1, 2)
        if (process, nrep) != (1, 2)
    )
    reading = read_text(FORMAT, tmp_path, SETTINGS.replace("nprocs=8", "nprocs=2") + table + rows)
    assert reading.time() == 200000.0
    assert set(reading.rows["message_size"]) == {8}
    assert reading.source.rows == 2
    assert sorted(reading.source.reasons.values()) == [1, 2]


def test_rows_outside_the_window_are_skipped(folder: Path, tmp_path: Path) -> None:
    text = (folder / "local__new_window_np2.txt").read_text()
    assert read_text(FORMAT, tmp_path, text).source.rows == 20
    bad = text.replace("          3            8          0 ", "          3            8          1 ")
    reading = read_text(FORMAT, tmp_path, bad)
    assert (reading.source.rows, reading.source.skipped) == (19, 1)
    assert reading.source.skips[0].reason == "errorcode: outside the window"
    assert "          3            8          1 " in reading.source.skips[0].text
    assert bad.split("\n")[reading.source.skips[0].line - 1].strip() == reading.source.skips[0].text.strip()


def test_counts_are_elements_and_msize_bytes_are_bytes(tmp_path: Path) -> None:
    assert read_text(FORMAT, tmp_path, f"{SETTINGS}{RAW}MPI_Bcast 0 16 0.0000010000\n").rows["message_size"][0] == 64
    in_bytes = RAW.replace("count", "msize_bytes")
    assert (
        read_text(FORMAT, tmp_path, f"{SETTINGS}{in_bytes}MPI_Bcast 0 16 0.0000010000\n").rows["message_size"][0] == 16
    )
    lost = SETTINGS.replace("#@datatype_extent_bytes=4\n", "")
    assert "datatype_extent_bytes" in read_text(FORMAT, tmp_path, f"{lost}{RAW}MPI_Bcast 0 16 0.0000010000\n").error


def test_parameters_stand_in_the_command_line_or_in_settings(folder: Path, tmp_path: Path) -> None:
    rows = read(FORMAT, folder / "local__new_params_summary_np2.txt").rows
    assert (rows["algorithm"][0], rows["library_id"][0], rows["segment_size"][0]) == ("3", 3, 8192)
    names = [("alg", "seg"), ("algo", "segsize"), ("algorithm", "segment"), ("alg", "segment_size")]
    for algorithm, segment in names:
        settings = f"#@{algorithm}=5\n#@{segment}=1024\n#@datatype_extent_bytes=1\n#@nprocs=2\n"
        old = f"#Command-line arguments:  bench\n{settings}{RAW}"
        rows = read_text(FORMAT, tmp_path, f"{old}MPI_Reduce 0 16 0.0000010000\n").rows
        assert (rows["algorithm"][0], rows["library_id"][0], rows["segment_size"][0]) == ("5", 5, 1024)


@pytest.mark.parametrize(
    ("datatype", "size"), [("MPI_BYTE", 1), ("MPI_CHAR", 1), ("MPI_INT", 4), ("MPI_FLOAT", 4), ("MPI_DOUBLE", 8)]
)
def test_elements_of_usual_types_need_no_extent(tmp_path: Path, datatype: str, size: int) -> None:
    settings = SETTINGS.replace("datatype_extent_bytes=4", f"datatype={datatype}")
    rows = read_text(FORMAT, tmp_path, f"{settings}{RAW}MPI_Bcast 0 16 0.0000010000\n").rows
    assert rows["message_size"].tolist() == [16 * size]


def test_a_hint_names_the_algorithm_that_the_file_numbers(folder: Path) -> None:
    file = folder / "local__new_params_summary_np2.txt"
    for hints in ({"algorithm": "new"}, {"pattern": "local__{algorithm}_params_summary_np2.txt"}):
        cube = open_results(file, **hints)["allgather"].to_dataset()
        assert list(cube["method"].values) == ["new 8KiB"]
        assert list(cube["library_id"].values) == [3]


def test_lines_at_fault_are_skipped_with_their_numbers(tmp_path: Path) -> None:
    good = "MPI_Bcast 0 1 0.0000010000\n"
    bad = "[node3] UCX warning\nMPI_Unknown 0 1 0.0000010000\nMPI_Bcast 0 1 0.0000000000\nMPI_Bcast x 1 0.0000010000\n"
    reading = read_text(FORMAT, tmp_path, f"{SETTINGS}{RAW}{good}{bad}# a remark\n{good}MPI_Bcast 1 1 0.00000")
    assert (reading.source.rows, reading.source.skipped) == (2, 5)
    assert {s.line: s.reason for s in reading.source.skips} == {
        6: "not a row of ReproMPI",
        7: "no collective that is known",
        8: "the time is not positive",
        9: "nrep is not a number",
        12: "cut off",
    }


@pytest.mark.parametrize("processes", ["", "nprocs=0", "nprocs=many"])
def test_processes_that_are_not_told_are_asked_for(tmp_path: Path, processes: str) -> None:
    path = tmp_path / "raw.txt"
    path.write_text(SETTINGS.replace("nprocs=8", processes) + f"{RAW}MPI_Bcast 0 1 0.0000010000\n")
    with pytest.raises(MissingHintError, match="comm_size"):
        open_results(path, algorithm="ring")
    assert open_results(path, algorithm="ring", comm_size=8)["bcast"]["comm_size"].values.tolist() == [8]


def test_several_runs_in_one_file_keep_their_own_settings(tmp_path: Path) -> None:
    row = "MPI_Bcast 0 1 0.0000010000\n"
    reading = read_text(
        FORMAT, tmp_path, f"{SETTINGS}{RAW}{row}{SETTINGS.replace('nprocs=8', 'nprocs=16')}{RAW}{row}{row}"
    )
    assert list(reading.rows["comm_size"]) == [8, 16, 16]


def test_nothing_usable_is_an_error(tmp_path: Path) -> None:
    assert "no measurement found" in read_text(FORMAT, tmp_path, SETTINGS).error
    assert "no measurement found" in read_text(FORMAT, tmp_path, f"{SETTINGS}{RAW}").error


@pytest.mark.slow
def test_damaged_files_end_in_rows_or_a_load_error(folder: Path, tmp_path: Path) -> None:
    contents = [f.read_bytes() for f in samples_of(folder)]
    for data, reading in damaged_readings(FORMAT, contents, tmp_path, 6):
        if reading.error:
            continue
        assert reading.source.rows + reading.source.skipped == row_lines(data), data
        assert isinstance(reading.rows, pd.DataFrame)
        assert (reading.rows["time"] > 0).all()


@pytest.mark.parametrize(
    ("test", "meaning"),
    [
        ("MPI_Allreduce", "allreduce"),
        ("GL_Allgather_as_Alltoall", "allgather as_alltoall"),
        ("PG_Scatter_as_Bcast", "scatter as_bcast"),
        ("GL_Nothing_as_Bcast", None),
        ("Send_Recv", "pt2pt send_recv"),
    ],
)
def test_mock_ups_of_guidelines_are_algorithms_of_what_they_stand_for(test: str, meaning: str | None) -> None:
    assert _test_name(test) == meaning


def test_a_byte_order_mark_hides_no_setting(tmp_path: Path) -> None:
    text = f"\ufeff#@nprocs=2\n#@datatype_extent_bytes=1\n{RAW}MPI_Bcast 0 1 0.0000010000\n"
    (tmp_path / "a.txt").write_text(text)
    assert open_results(tmp_path / "a.txt", algorithm="linear")["bcast"]["comm_size"].item() == 2


def test_operation_and_elements_of_reductions_are_facets(tmp_path: Path) -> None:
    settings = SETTINGS + "#@operation=MPI_BOR\n#@datatype=MPI_BYTE\n"
    text = f"{settings}{RAW}MPI_Bcast 0 1 0.0000010000\nMPI_Allreduce 0 1 0.0000020000\n"
    rows = read_text(FORMAT, tmp_path, text).rows
    assert rows[["operation", "element_type"]].to_numpy().tolist() == [["", ""], ["bor", "MPI_BYTE"]]
    (tmp_path / "run.txt").write_text(text)
    cubes = open_results(tmp_path / "run.txt", algorithm="default")
    assert (cubes["allreduce"].attrs["operation"], "operation" in cubes["bcast"].attrs) == ("bor", False)
