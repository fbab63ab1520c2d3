"""``colltune decide-time`` and what ``colltune export`` writes beside a C file."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.command import Run, assert_one_clear_line


def test_each_tree_is_timed_over_all_sizes(colltune: Run, results: Path, tmp_path: Path, gcc: str) -> None:
    workload = tmp_path / "workload.csv"
    workload.write_text("collective,comm_size,message_size,calls\nbcast,3,16,3\nbcast,2,1,1\n")
    trees = ("--trees", "quadtree:max_depth=1", "cart:max_leaves=3")
    answer = colltune("decide-time", results, "-c", "bcast", *trees, "--rounds", 1, "--weights", workload, "--json")
    assert answer.status == 0, answer.err
    document = answer.json
    assert document["sizes"] == ["uniform", "log-uniform", "workload"]
    assert [row["tree"] for row in document["rows"]] == list(trees[1:])
    quadtree, cart = document["rows"]
    assert (quadtree["leaves"], quadtree["nodes"], cart["leaves"] <= 3) == (4, 5, True)
    names = [variant["name"] for variant in quadtree["variants"]]
    assert names == ["nested ifs", "tables", "tree in memory", "Python function", "Python object", "empty call"]
    for variant in quadtree["variants"]:
        assert set(variant["nanoseconds"]) == set(document["sizes"])
        # Time per level is time / (mean depth + 1), as under Table 4.
        assert variant["per_level"]["uniform"] == pytest.approx(variant["nanoseconds"]["uniform"] / 2)


def test_the_text_has_a_table_for_each_kind_of_sizes(colltune: Run, results: Path, gcc: str) -> None:
    out = colltune("decide-time", results, "-c", "bcast", "--trees", "quadtree:max_depth=1", "--rounds", 1).out
    assert "uniform sizes" in out
    assert "log-uniform sizes" in out
    assert "tree in memory" in out


def test_without_a_compiler_there_is_one_clear_line(
    colltune: Run, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert_one_clear_line(colltune("decide-time", results, "-c", "bcast"), "no C compiler", "install gcc")


@pytest.mark.parametrize("text", ["5", "9-2", "1-x"])
def test_a_range_that_is_none_is_one_clear_line(colltune: Run, results: Path, gcc: str, text: str) -> None:
    assert_one_clear_line(colltune("decide-time", results, "-c", "bcast", "--comm-range", text), "--comm-range")


def test_header_and_self_test_stand_beside_the_c_file(colltune: Run, results: Path, tmp_path: Path, gcc: str) -> None:
    made = tmp_path / "bcast.c"
    assert colltune("export", results, "-c", "bcast", "--to", "c", "-o", made, "--header", "--self-test").status == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bcast.c", "bcast.h", "bcast_test.c"]
    program = tmp_path / "test"
    subprocess.run([gcc, "-std=c99", "-o", program, made, tmp_path / "bcast_test.c"], check=True)
    assert subprocess.run([program], capture_output=True, check=False).returncode == 0


def test_they_need_a_c_file(colltune: Run, results: Path, tmp_path: Path) -> None:
    for arguments in (("--to", "c"), ("--to", "json", "-o", tmp_path / "x.json")):
        assert_one_clear_line(colltune("export", results, "-c", "bcast", *arguments, "--header"), "--header goes with")
