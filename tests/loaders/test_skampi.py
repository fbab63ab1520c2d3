"""SKaMPI 5 and 6: rows, units, loops, and what is wrong with a file."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from loaders import LoadError, MissingHintError, open_results, scan
from loaders.skampi import block_name

HEADER = '# SKaMPI Version 5.0.4 rev. 355\n# begin result "MPI_Bcast-procs-length"\n'


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_manual_sample_row_becomes_seconds_and_standard_deviation(tmp_path: Path) -> None:
    """The row of the manual, section 7.1; its last two columns are the times of two processes."""
    file = write(tmp_path / "a.sko", HEADER + "nodes= 2 count= 1 4 67.3 1.4 9 11.3 67.3\n")
    cube = open_results(file, algorithm="binomial")["bcast"].to_dataset()
    cell = cube.sel({"method": "binomial"}).sel(comm_size=2, message_size=4)
    assert float(cell["time"]) == pytest.approx(67.3e-6)
    assert float(cell["time_std"]) == pytest.approx(1.4e-6 * 9**0.5)
    assert int(cell["repetitions"]) == 9


def test_real_excerpt_of_2010_with_scheduler_noise_before_the_header(tmp_path: Path) -> None:
    text = (
        "2 nodes selected using 16 cores\nReorder method 2\n# SKaMPI Version 5.0.4 rev. 355\n"
        "# Started at Thu May 20 15:03:54 2010\n#> set_min_repetitions(16)\n"
        '# begin result "MPI_Allreduce-procs"\nprocs= 2    35952      18.9       0.0       16      18.9      18.1\n'
    )
    file = write(tmp_path / "a.sko", text)
    (report,) = scan(file)
    assert (report["rows"], report["skipped"], report["collectives"]) == (1, 2, ["allreduce"])
    assert report["attrs"]["benchmark"] == "SKaMPI 5.0.4"


def test_a_line_in_quotes_before_the_header_hides_no_result(tmp_path: Path) -> None:
    text = '"mpirun" of Open MPI 4.1.4\n' + HEADER + "nodes= 2 count= 1 4 67.3 1.4 9 11.3 67.3\n"
    (report,) = scan(write(tmp_path / "a.sko", text))
    assert (report["rows"], report["skipped"]) == (1, 1)


def test_communicator_size_comes_from_process_times_only_below_sixteen(tmp_path: Path) -> None:
    start = '# SKaMPI Version 6.0.0\n# begin result "MPI_Bcast-length"\n'
    three = write(tmp_path / "three.sko", start + "count= 1 4 10.0 0.1 8 9.0 8.0 10.0\n")
    assert open_results(three, algorithm="linear")["bcast"]["comm_size"].values.tolist() == [3]
    sixteen = write(tmp_path / "sixteen.sko", start + "count= 1 4 10.0 0.1 8" + " 9.0" * 16 + "\n")
    with pytest.raises(MissingHintError, match="comm_size") as caught:
        open_results(sixteen, algorithm="linear")
    assert caught.value.hints == ("comm_size",)
    assert open_results(sixteen, algorithm="linear", comm_size=64)["bcast"]["comm_size"].values.tolist() == [64]


def test_process_times_of_a_row_that_was_cut_off_tell_no_communicator_size(tmp_path: Path) -> None:
    start = '# SKaMPI Version 6.0.0\n# begin result "MPI_Bcast-length"\n'
    whole = "count= 1 4 10.0 0.1 8 9.0 8.0 10.0\n"
    results = open_results(write(tmp_path / "a.sko", f"{start}{whole}count= 2 8 10.0 0.1 8 9.0 8."), algorithm="linear")
    assert results["bcast"]["comm_size"].values.tolist() == [3]
    assert json.loads(results.attrs["sources"])[0]["reasons"] == {"cut off": 1}


def test_a_pattern_that_tells_the_communicator_size_goes_before_the_process_times(tmp_path: Path) -> None:
    text = '# SKaMPI Version 6.0.0\n# begin result "MPI_Bcast-length"\ncount= 1 4 10.0 0.1 8 9.0 8.0\n'
    file = write(tmp_path / "np64.sko", text)
    cube = open_results(file, algorithm="linear", pattern="np{comm_size}.sko")["bcast"]
    assert cube["comm_size"].values.tolist() == [64]


def test_a_loop_variable_of_a_name_that_rows_have_is_a_parameter(tmp_path: Path) -> None:
    rows = "nodes= 2 time= 3 count= 1 4 67.3 1.4 9 11.3 67.3\nnodes= 2 time= 4 count= 1 4 70.0 1.4 9 11.3 67.3\n"
    cube = open_results(write(tmp_path / "a.sko", HEADER + rows), algorithm="x")["bcast"]
    assert cube["time"].values.ravel().tolist() == pytest.approx([67.3e-6, 70.0e-6])
    assert cube["method"].values.tolist() == ["x loop_time=3", "x loop_time=4"]


@pytest.mark.parametrize(
    "loops",
    [
        *("nodes count", "procs length", "np len", "nprocs size", "processes bytes", "P msgsize"),
        *("comm_size message_size", "ranks Count"),
    ],
)
def test_loops_over_processes_and_sizes_are_no_parameters(tmp_path: Path, loops: str) -> None:
    name, size = loops.split()
    file = write(tmp_path / "a.sko", f"{HEADER}{name}= 5 {size}= 3 12 67.3 1.4 9 11.3 67.3\n")
    cube = open_results(file, algorithm="x")["bcast"]
    assert (cube["comm_size"].item(), cube["message_size"].item(), cube["method"].item()) == (5, 12, "x")


@pytest.mark.parametrize("loops", ["nodes= 2 procs= {}", "procs= {} nodes= 2"])
def test_nodes_beside_processes_are_nodes(tmp_path: Path, loops: str) -> None:
    rows = "".join(f"{loops.format(procs)} count= 1 4 {procs}.0 1.4 9 11.3\n" for procs in (8, 16))
    cube = open_results(write(tmp_path / "a.sko", HEADER + rows), algorithm="x")["bcast"]
    cells = cube["time"].to_series().dropna()
    assert cells.index.droplevel("method").to_flat_index().tolist() == [(8, 4, 4), (16, 4, 8)]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("MPI_Bcast-procs-short", ("bcast", None)),
        ("Bcast_using_Send_Recv-length", ("bcast", "send_recv")),
        ("Allreduce_using_Reduce_Bcast-procs", ("allreduce", "reduce_bcast")),
        ("Pingpong_Send_Recv", ("pt2pt", "pingpong")),
        ("Pingpong_Ssend_Recv", ("pt2pt", "pingpong_ssend_recv")),
        ("MPI_Reduce_scatter-length", ("reduce_scatter", None)),
        ("MPI_Iallreduce-length", ("iallreduce", None)),
        ("my own block", (None, None)),
    ],
)
def test_block_names(name: str, meaning: tuple[str | None, str | None]) -> None:
    assert block_name(name) == meaning


@pytest.mark.parametrize(("pattern", "time"), [("Send_Recv", 5e-6), ("Ssend_Recv", 5e-6), ("Sendrecv", 10e-6)])
def test_round_trips_are_halved(tmp_path: Path, pattern: str, time: float) -> None:
    text = f'# SKaMPI Version 6.0.0\n# begin result "Pingpong_{pattern}"\ncount= 1 4 10.0 0.1 8 10.0 9.0\n'
    cube = open_results(write(tmp_path / "a.sko", text))["pt2pt"]
    assert cube["time"].item() == pytest.approx(time)
    assert cube["comm_size"].item() == 2


def test_reduce_scatter_total_vector_becomes_the_block_of_a_process(tmp_path: Path) -> None:
    text = (
        '# SKaMPI Version 6.0.0\n# begin result "MPI_Reduce_scatter-procs"\nprocs= 4 4096 10.0 0.1 8 1.0 2.0 3.0 10.0\n'
    )
    cube = open_results(write(tmp_path / "a.sko", text), algorithm="ring")["reduce_scatter"]
    assert cube["message_size"].values.tolist() == [1024]


def test_garbled_rows_are_skipped_with_their_lines(tmp_path: Path) -> None:
    rows = [
        "nodes= 2 count= 1 1 105.4 4.0 5 9.9 105.4",
        "nodes= 2 count= 8 8 abc 4.0 5 9.9 105.4",
        "UCX WARN something",
        "nodes= 2 count= 64 64 -3.0 4.0 5 9.9 105.4",
        "nodes= 2 count= 128 128 30.0 4.0 5 --- 105.4",
        "nodes= 2 count= 192 192 30.0 4.0 0 9.9 105.4",
        "nodes= 2 count= 256 256 40.0 4.",
    ]
    (report,) = scan(write(tmp_path / "a.sko", HEADER + "\n".join(rows)), algorithm="x")
    assert (report["rows"], report["skipped"]) == (2, 5)
    assert [(s["line"], s["reason"]) for s in report["skips"]] == [
        (4, "not a row of SKaMPI"),
        (5, "not a row of SKaMPI"),
        (6, "the time is not positive"),
        (8, "no repetitions"),
        (9, "cut off"),
    ]


def test_a_loop_variable_whose_name_only_ends_alike_is_another_one(tmp_path: Path) -> None:
    rows = "nodes= 2 count= 1 1 105.4 4.0 5 9.9 105.4\nsubnodes= 4 count= 1 1 105.4 4.0 5 9.9 105.4\n"
    cube = open_results(write(tmp_path / "a.sko", HEADER + rows), algorithm="x")["bcast"]
    # Of the other row its two process times say how many took part.
    assert cube["comm_size"].values.tolist() == [2]


def test_a_file_without_measurements_is_an_error_that_shows_a_row(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"a\.sko.*nodes= 2 count= 1"):
        open_results(write(tmp_path / "a.sko", HEADER), algorithm="x")


def test_every_row_of_the_samples_is_counted_once(samples: Path) -> None:
    row = re.compile(r"^ *(\w+= [\d.]+ )*\s*\d+\s+[\d.]+\s+[\d.]+\s+\d+(\s|$)")
    for file in sorted((samples / "skampi").glob("*.sko")):
        (report,) = scan(file)
        present = sum(bool(row.match(line)) for line in file.read_text().splitlines())
        assert report["rows"] + report["skipped"] == present, file.name
        assert report["rows"] > 0


def test_fast_and_careful_reading_agree_on_real_files(samples: Path, tmp_path: Path) -> None:
    """A remark inside the table sends the whole block the careful way; the numbers must not change."""
    source = samples / "skampi" / "bcast2d_np4_oversubscribed.sko"
    lines = source.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("nodes=")) + 1
    disturbed = write(tmp_path / "d.sko", "".join([*lines[:at], "# acc_sync_time = 1.0\n", *lines[at:]]))
    fast, careful = (open_results(f, algorithm="x")["bcast"].to_dataset() for f in (source, disturbed))
    for name in ("time", "time_std", "repetitions"):
        np.testing.assert_array_equal(fast[name], careful[name])


def test_ping_pong_is_half_the_round_trip_as_elsewhere(tmp_path: Path) -> None:
    text = '# SKaMPI Version 6.0.0\n# begin result "Pingpong_Send_Recv"\ncount= 1 1 241.7 4.9 4 240.9 241.7\n'
    cube = open_results(write(tmp_path / "a.sko", text))["pt2pt"]
    assert cube["time"].values.ravel().tolist() == pytest.approx([120.85e-6])
    assert cube["comm_size"].values.tolist() == [2]
