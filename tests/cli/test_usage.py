"""The command: what can be said, and one clear line when it is said wrongly."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.command import Run, assert_one_clear_line


def test_several_collectives_need_a_choice(colltune: Run, results: Path) -> None:
    assert_one_clear_line(colltune("map", results), "bcast, reduce", "-c")
    assert_one_clear_line(colltune("decide", results, "-c", "redcue"), "bcast, reduce", "did you mean reduce?")
    assert_one_clear_line(colltune("export", results, "--to", "c"), "bcast, reduce", "-c")


def test_results_of_several_systems_need_a_choice(colltune: Run, shared: Path) -> None:
    answer = colltune("map", shared / "data" / "pico" / "pico_consolidated.csv", "-c", "bcast")
    assert_one_clear_line(answer, "fugaku", "mare_nostrum", "system")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["COMMAND", "--help"]),
        (["frob"], ["frob", "info"]),
        (["map"], ["PATH"]),
        (["map", "x", "--frob"], ["--frob"]),
        (["map", "/no/such/file"], ["/no/such/file"]),
        (["decide", "x", "--max-depth", "-1"], ["--max-depth", "'-1'", "whole number from 0"]),
        (["decide", "x", "--threshold", "nan"], ["--threshold", "'nan'", "from 0 to 1"]),
        (["decide", "x", "--tree", "c45", "-m", "0"], ["-m", "'0'", "whole number from 1"]),
        (
            ["decide", "x", "--tree", "c45", "--attributes", "comm_size,size"],
            ["--attributes", "comm_size, message_size"],
        ),
        (["decide", "x", "--tree=cart", "--leaves", "8"], ["--leaves", "optimal", "cart takes", "--max-leaves"]),
        (["decide", "x", "--max-leaves", "8"], ["--max-leaves", "cart", "recommended takes --leaves"]),
        (["decide", "x", "--tree", "exact", "--no-pruned"], ["--no-pruned", "c45", "exact takes no options"]),
        (["decide", "x", "--ppn", "some"], ["--ppn", "'some'", "or all"]),
        (["decide", "x", "--held-out", "leaves"], ["--held-out", "leaves", "repetitions"]),
        (["decide", "x", "--folds", "1"], ["--folds", "at least 2"]),
        (["decide", "x", "--tolerance", "-1"], ["--tolerance", "'-1'", "from 0 to 1000"]),
        (["map", "x", "--statistical", "5"], ["--statistical", "'5'", "to 0.5"]),
        (["map", "x", "--ppn", "all"], ["--ppn", "one number of processes per node", "'colltune decide --ppn all'"]),
        (["portability", "x", "--against", "y", "--ppn", "all"], ["--ppn", "such as --ppn 2"]),
        (["compare", "x"], ["--trees"]),
        (["decide", "x", "--tree", "bush"], ["bush", "quadtree"]),
        (["decide", "x", "--tree", "exact", "--max-depth", "3"], ["exact", "--max-depth"]),
        (["convert", "x", "-o", "y.xlsx"], ["y.xlsx", ".nc"]),
        (["convert", "x", "-o", "y.nc", "--column", "time"], ["time", "OURS=THEIRS"]),
        (["serve", "--port", "99999"], ["--port", "65535"]),
    ],
)
def test_bad_usage_is_one_clear_line(colltune: Run, arguments: list[str], words: list[str]) -> None:
    assert_one_clear_line(colltune(*arguments), *words)


def test_output_that_cannot_be_written(colltune: Run, results: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "where"
    assert_one_clear_line(
        colltune("export", results, "-c", "bcast", "--to", "c", "-o", f"{nowhere}.c"), "cannot be written"
    )
    assert_one_clear_line(colltune("convert", results, "-o", f"{nowhere}.nc"), "cannot be written")


def test_debug_shows_the_traceback(colltune: Run) -> None:
    answer = colltune("map", "/no/such/file", "--debug")
    assert answer.status == 2
    assert "Traceback" in answer.err


def test_a_fault_of_the_program_is_status_1(colltune: Run, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.decisions.decision_map", lambda *_, **__: 1 // 0)
    answer = colltune("map", results, "-c", "bcast")
    assert answer.status == 1
    assert answer.err.startswith("colltune: error: unexpected ZeroDivisionError")


def test_files_of_no_use_are_not_counted_as_skipped_rows(
    colltune: Run, bcast_files: Sequence[Path], tmp_path: Path
) -> None:
    (tmp_path / bcast_files[0].name).write_bytes(bcast_files[0].read_bytes())
    (tmp_path / "prices.csv").write_text("apples,pears\n1,2\n3,4\n")
    answer = colltune("map", tmp_path, "--json")
    assert answer.status == 0
    assert "note: 1 of 2 files was not used (prices.csv)" in answer.err
    assert "skipped" not in answer.err


@pytest.mark.parametrize("words", ["-c foo", "--comm-sizes 0-foo", "--ranks 1"])
def test_a_tuning_that_cannot_be_leaves_no_folder(colltune: Run, tmp_path: Path, words: str) -> None:
    answer = colltune("tune", tmp_path / "tuned", *words.split())
    assert answer.status == 2
    assert len(answer.err.splitlines()) == 1
    assert not (tmp_path / "tuned").exists()


def test_help_says_first_what_must_be_said(colltune: Run) -> None:
    said = colltune("export", "--help").out
    assert said.splitlines()[0] == "usage: colltune export [options] --to TARGET PATH [PATH ...]"
    assert [line[:-1] for line in said.splitlines() if line.endswith(":") and line[0] != " "][-3:] == [
        "measurements",
        "models",
        "hints",
    ]
    assert "Show the Python traceback" in said
    assert "  quadtree, exact, " in said, "names that are to be typed stay as they are"
