"""detail.out of ompi-collectives-tuning: the published example; expected values read from it by eye."""

from pathlib import Path

import pytest

from loaders import MissingHintError, open_results
from loaders.ompi_tuning import FORMAT
from tests.loaders.printed import damaged_readings, read, read_text

# As the current scripts write it: algorithms by number, the reference repeated in a column without a name.
NUMBERED = (
    "#Nnodes    Message_size 0                    1                    2                    \n"
    "2          4            10.00(0.50)          12.00(0.10)          11.00                10.00(0.50)\n"
    "4          4            20.00(0.50)          22.00(0.10)          No data              20.00(0.50)\n"
)


@pytest.fixture(scope="module")
def detail(shared: Path) -> Path:
    return shared / "data" / "ompi-collectives-tuning" / "detail.out"


def test_every_row_of_the_published_example_loads(detail: Path) -> None:
    reading = read(FORMAT, detail, collective="gather")
    lines = [line for line in detail.read_text().split("\n") if line and not line.startswith("#")]
    assert (reading.source.rows, reading.source.skipped) == (len(lines), 0) == (42, 0)
    assert len(reading.rows) == 4 * 42
    assert FORMAT.recognises(detail.read_bytes(), detail)


def test_times_are_microseconds_with_their_deviation(detail: Path) -> None:
    reading = read(FORMAT, detail, collective="gather")
    assert reading.time(algorithm="linear_sync", comm_size=2, message_size=1) == 2393.96
    assert reading.time(algorithm="default", comm_size=4, message_size=1048576) == 38819.23
    row = reading.rows.query("algorithm == 'basic_linear' and comm_size == 4 and message_size == 16384").iloc[0]
    assert (row["time"], row["time_std"]) == pytest.approx((7968.81e-6, 3057.89e-6))


def test_units_and_winners_agree_with_best_out(detail: Path) -> None:
    rows = read(FORMAT, detail, collective="gather").rows
    winners = rows.loc[rows.groupby(["comm_size", "message_size"])["time"].idxmin()]
    best = [line.split() for line in detail.with_name("best.out").read_text().split("\n") if line[:1].isdigit()]
    assert [(str(w.comm_size), str(w.message_size), w.algorithm) for w in winners.itertuples()] == [
        (b[0], b[1], b[2]) for b in best
    ]
    reference = rows[rows["algorithm"] == "default"].sort_values(["comm_size", "message_size"])["time"]
    assert [f"{time * 1e6:.2f}" for time in reference] == [line[5].split("(")[0] for line in best]
    for winner, line in zip(winners["time"], best, strict=True):
        assert f"{winner * 1e6:.2f}" == line[3].split("(")[0]


def test_best_out_is_refused_and_points_to_detail_out(detail: Path) -> None:
    reading = read(FORMAT, detail.with_name("best.out"))
    assert "only the winners" in reading.error
    assert "detail.out" in reading.error


def test_the_collective_is_a_hint_or_the_name_of_the_folder(detail: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingHintError, match="collective"):
        open_results(detail)
    (tmp_path / "gather").mkdir()
    (tmp_path / "gather" / "detail.out").write_bytes(detail.read_bytes())
    assert list(open_results(tmp_path / "gather" / "detail.out").children) == ["gather"]


def test_nodes_become_processes_with_the_hint_ppn(detail: Path) -> None:
    rows = read(FORMAT, detail, collective="gather", ppn=36).rows
    assert sorted(set(rows["comm_size"])) == [72, 144]
    assert "one process per node" in read(FORMAT, detail, collective="gather").source.notes[0]
    (note,) = read(FORMAT, detail, collective="gather", ppn=2).source.notes
    assert "× 2 processes per node" in note


def test_current_scripts_number_algorithms_and_count_processes(tmp_path: Path) -> None:
    reading = read_text(FORMAT, tmp_path, NUMBERED, collective="bcast", ppn=2)
    assert list(reading.rows["algorithm"]) == ["default", "1", "2", "default", "1"]
    assert list(reading.rows["library_id"]) == [0, 1, 2, 0, 1]
    assert list(reading.rows["comm_size"]) == [2, 2, 2, 4, 4]
    assert reading.source.rows == 2
    assert any("No data" in note for note in reading.source.notes)


def test_a_long_file_loads_whole(tmp_path: Path) -> None:
    rows = "".join(f"{p} {m} 10.0 12.0 11.0 9.0\n" for p in range(1, 101) for m in range(50))
    reading = read_text(FORMAT, tmp_path, f"#Nnodes Message_size ring chain linear tuned\n{rows}2 50 1.0 1.0 1.0 1.0\n")
    assert reading.source.rows == 5001
    assert (
        reading.rows.value_counts(["comm_size", "algorithm"]).sort_index().loc[[1, 2]].tolist() == [50] * 4 + [51] * 4
    )


def test_sizes_of_reduce_scatter_are_whole_vectors(tmp_path: Path) -> None:
    assert "total_size" in read_text(FORMAT, tmp_path, NUMBERED, collective="reduce_scatter").rows
    path = tmp_path / "detail.out"
    path.write_text(NUMBERED)
    cube = open_results(path, collective="reduce_scatter")["reduce_scatter"]
    assert list(cube["message_size"].values) == [1, 2]


def test_lines_at_fault_are_skipped_with_their_numbers(tmp_path: Path) -> None:
    text = f"Loading module\n# of May\n{NUMBERED}x 4 1 2 3\n8 4 10.0\n8 4 nan nan nan\n8 y 1 2 3\n"
    reading = read_text(FORMAT, tmp_path, text)
    assert (reading.source.rows, reading.source.skipped) == (2, 5)
    assert [s.line for s in reading.source.skips] == [1, 6, 7, 8, 9]


def test_a_first_row_on_the_line_of_the_header_is_skipped(tmp_path: Path) -> None:
    """As Python 2 writes it, where the header is printed without an end of line."""
    text = "#Nnodes Message_size linear chain 2 4 10.00(0.50) 12.00\n2 8 11.00 13.00\n"
    reading = read_text(FORMAT, tmp_path, text)
    assert [(s.line, s.text) for s in reading.source.skips] == [(1, "2 4 10.00(0.50) 12.00")]
    assert (reading.time(algorithm="linear"), reading.time(algorithm="chain")) == (11.0, 13.0)


def test_damaged_files_end_in_rows_or_a_load_error(detail: Path, tmp_path: Path) -> None:
    contents = [detail.read_bytes(), NUMBERED.encode()]
    for data, reading in damaged_readings(FORMAT, contents, tmp_path, 9):
        lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
        if not reading.error:
            present = sum(bool(s) and not s.startswith("#") for s in lines)
            late = sum("stands on the line of the header" in s.reason for s in reading.source.skips)
            assert reading.source.rows + reading.source.skipped == present + late
            assert (reading.rows["time"] > 0).all()
