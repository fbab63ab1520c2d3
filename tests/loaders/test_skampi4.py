"""SKaMPI 4: what a block's name tells, and what only hints can."""

import re
from pathlib import Path

import pytest

from loaders import MissingHintError, open_results, skampi4
from tests.loaders.printed import present, read, read_text, samples_of

FORM = skampi4.FORMAT
ROW = re.compile(rb"^ +\d+( +\d+\.\d +\d+\.\d +\d+)\1", re.MULTILINE)


def test_every_sample_loads_each_of_its_rows(samples: Path) -> None:
    files = samples_of(samples / "skampi4")
    assert [len(ROW.findall(file.read_bytes())) for file in files] == [14, 14, 14, 5]
    for file in files:
        reading = read(FORM, file)
        assert FORM.recognises(file.read_bytes(), file), file.name
        assert reading.source.rows == len(reading.rows) == len(ROW.findall(file.read_bytes())) == present(file)
        assert reading.source.skipped == 0


def test_blocks_over_processes_read_by_eye(samples: Path) -> None:
    reading = read(FORM, samples / "skampi4" / "ompi-users-2006__alltoall_openmpi_crossover8.txt")
    assert set(reading.rows["collective"]) == {"alltoall"}
    assert "message_size" not in reading.rows
    assert reading.source.notes == []
    assert reading.time(comm_size=8, block=None) == 147.5
    assert reading.time(comm_size=8, block="syncol_MPI_Alltoall-nodes-long-SM") == 252436.7
    row = reading.rows[reading.rows["block"].notna()].set_index("comm_size").loc[6]
    assert (row["time_std"], row["repetitions"]) == (pytest.approx(44383.9e-6), 6)


def test_point_to_point_is_over_bytes(samples: Path) -> None:
    reading = read(FORM, samples / "skampi4" / "ompi-users-2006__p2p_default.txt")
    assert reading.rows["message_size"].tolist() == [0, 16, 32, 64, 80]
    assert set(reading.rows["algorithm"]) == {"pingpong_send_iprobe_recv"}
    assert set(reading.rows["comm_size"]) == {2}
    assert reading.time(message_size=32) == 398.9


def test_the_size_that_is_not_printed_comes_from_a_hint(samples: Path) -> None:
    file = samples / "skampi4" / "ompi-users-2006__alltoall_openmpi_crossover8.txt"
    with pytest.raises(MissingHintError) as caught:
        open_results(file, algorithm="linear")
    assert caught.value.hints == ("message_size",)
    cube = open_results(file, algorithm="linear", message_size=256)["alltoall"].to_dataset()
    assert cube.sizes == {"method": 2, "comm_size": 7, "message_size": 1}
    assert float(cube["time"].isel(method=0, comm_size=0, message_size=0)) == pytest.approx(12.7e-6)


def test_a_block_that_stands_twice_is_noted(samples: Path) -> None:
    (note,) = read(FORM, samples / "skampi4" / "ompi-users-2006__alltoall_mpich127.txt").source.notes
    assert "stands more than once" in note


@pytest.mark.parametrize(
    ("family", "name", "expected"),
    [
        ("syncol", "MPI_Alltoall-nodes-short-SM", ("alltoall", None, "nodes")),
        ("col", "MPI_Bcast-length", ("bcast", None, "bytes")),
        ("col", "MPI_Barrier-nodes", ("barrier", None, "nodes")),
        ("col", "MPI_Allreduce", ("allreduce", None, "")),
        ("p2p", "MPI_Send-MPI_Recv", ("pt2pt", "pingpong", "bytes")),
        ("mw", "Waitsome-nodes", (None, None, "nodes")),
    ],
)
def test_names_of_blocks(family: str, name: str, expected: tuple[str | None, str | None, str]) -> None:
    assert skampi4.parse_block(family, name)[1:] == expected


def test_blocks_over_bytes_lack_the_communicator_size(tmp_path: Path) -> None:
    block = "#/*@incol_MPI_{}-length-SM.ski*/\n  64  10.0  0.5  8  10.0  0.5  8\n"
    text = block.format("Bcast") + block.format("Reduce_scatter")
    rows = read_text(FORM, tmp_path, text).rows.set_index("collective")
    assert "comm_size" not in rows
    assert rows.loc["bcast", "message_size"] == rows.loc["reduce_scatter", "total_size"] == 64
    assert rows.loc["bcast"].isna()["total_size"]


def test_what_is_no_row_is_skipped_with_its_line(tmp_path: Path) -> None:
    text = (
        "3 nodes selected\n#/*@insyncol_MPI_Bcast-nodes-short.ski*/\nsrun: warning\n"
        "  2  12.7  0.2  8  12.7  0.2  8\n  3  0.0  0.2  8  0.0  0.2  8\n  4  56.1  0.3  8  56.1  0."
    )
    source = read_text(FORM, tmp_path, text).source
    assert [(s.line, s.reason) for s in source.skips] == [
        (1, "not a row of a block"),
        (3, "not a row of the block"),
        (5, "the time is not positive"),
        (6, "cut off"),
    ]
    assert source.rows == 1


def test_a_file_without_a_usable_block_says_what_would_be_right(tmp_path: Path) -> None:
    reading = read_text(FORM, tmp_path, "#/*@inmw_Waitsome-nodes.ski*/\n  2  12.7  0.2  8\n")
    assert "mw_Waitsome-nodes is no collective that is known" in reading.error
    assert "a block of SKaMPI 4 looks like" in reading.error
