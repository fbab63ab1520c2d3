"""Tables of how often collectives are called."""

from pathlib import Path

import pytest

from loaders import LoadError
from loaders.workload import read_workload

HEADER = "collective,comm_size,message_size,calls\n"


def write(folder: Path, text: str, name: str = "calls.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_names_are_the_projects_and_equal_calls_are_summed(tmp_path: Path) -> None:
    path = write(tmp_path, f"# of a run\n{HEADER}\nMPI_Allreduce,4,8,3\nbroadcast,4,8,1\nallreduce,4,8,2.5\n")
    workload = read_workload(path)
    assert workload.to_numpy().tolist() == [["allreduce", 4, 8, 5.5], ["bcast", 4, 8, 1.0]]
    assert workload.attrs == {"path": str(path), "lines": 3}


def test_columns_may_stand_in_any_order_with_tabs_and_others_between(tmp_path: Path) -> None:
    text = "calls\tppn\tseconds\tMessage_Size\tcomm_size\tcollective\n7\t2\t0.1\t1e3\t4\tbcast\n7\t\t0.1\t0\t4\tbcast\n"
    workload = read_workload(write(tmp_path, "\ufeff" + text, "calls.tsv"))
    assert workload[["collective", "comm_size", "message_size", "calls", "ppn"]].to_numpy().tolist() == [
        ["bcast", 4, 1000, 7, 2],
        ["bcast", 4, 0, 7, 0],
    ]


def test_a_barrier_needs_no_message_size(tmp_path: Path) -> None:
    assert read_workload(write(tmp_path, f"{HEADER}barrier,4,,3\n"))["message_size"].tolist() == [0]


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (f"{HEADER}bcast,4,8,3\nbcast,4,8\n", ":3", "has 3 columns, expected as many as the header"),
        (f'{HEADER}bcast,"4"x,8,3\n', ":2", "is not a line of a table"),
        (f"{HEADER}bcast,0,8,3\n", ":2", "comm_size is '0', expected a whole number from 1"),
        (f"{HEADER}bcast,4,8.5,3\n", ":2", "message_size is '8.5', expected a whole number from 0"),
        (f"{HEADER}bcast,4,,3\n", ":2", "message_size is '', expected"),
        (f"{HEADER}bcast,4,inf,3\n", ":2", "message_size is 'inf', expected"),
        (f"{HEADER}\nbcast,4,8,-3\n", ":3", "calls is '-3', expected a number, 0 or more"),
        (f"{HEADER}bcast,4,8,many\n", ":2", "calls is 'many'"),
        (f"{HEADER}bcast,4,8,nan\n", ":2", "calls is 'nan'"),
        (f"{HEADER}b/c,4,8,1\n", ":2", "collective is 'b/c', expected a name such as bcast"),
        (f"{HEADER}bcast,4,8,0\n", "", "the calls of all lines are 0"),
        (HEADER, "", "holds no line of a workload"),
        ("", "", "holds no line of a workload"),
        ("collective,comm_size,message_size,calls,ppn\nbcast,4,8,1,0\n", ":2", "ppn is '0', expected a whole number"),
        ("collective,comm_size,message_sizes,count\n", ":1", "no column message_size, calls, only collective"),
        ("collective,comm_size,message_sizes,calls\n", ":1", "(message_sizes for message_size?)"),
        ("collective,comm_size,message_size,calls,calls\n", ":1", "the column calls twice"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_remedy(tmp_path: Path, text: str, where: str, what: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(LoadError) as caught:
        read_workload(path)
    assert str(caught.value).startswith(f"{path}{where}: ")
    assert what in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"nothing\.csv: cannot be read: No such file"):
        read_workload(tmp_path / "nothing.csv")
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LoadError, match="is not text in UTF-8"):
        read_workload(path)
