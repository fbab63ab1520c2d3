"""Rules files as decisions on the command line: judged, improved, compared, on the frontier, written for others."""

from pathlib import Path

import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction
from dashboard.export.rules.lint import read_text
from loaders import save_results
from tests.cli.command import Run, assert_one_clear_line

RULES = "1\n7\n1\n0\n2\n0 6 0 0\n4096 3 0 8192\n"


@pytest.fixture(scope="module")
def measured(fast_ethernet: xr.DataTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data in one file."""
    return save_results(fast_ethernet, tmp_path_factory.mktemp("measured") / "fast-ethernet.nc")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "mine.conf"
    path.write_text(RULES)
    return path


def test_rules_are_judged_and_improved_like_a_tree(colltune: Run, measured: Path, rules: Path) -> None:
    asked = ["decide", measured, "-c", "bcast", "--tree", "rules", "--file", rules, "--json"]
    plain, better = colltune(*asked).json, colltune(*asked, "--improve").json
    assert (plain["leaves"], better["leaves"]) == (2, 2)
    assert better["penalty"]["mean"] < plain["penalty"]["mean"]
    assert plain["options"] == {"file": str(rules)}
    over = colltune("lint", rules, "--over", measured, "--json").json
    assert over["penalty"]["bcast"]["acted"]["mean"] == pytest.approx(plain["penalty"]["mean"])


def test_rules_are_compared_with_trees(colltune: Run, measured: Path, rules: Path) -> None:
    answer = colltune(
        "compare", measured, "-c", "bcast", "--trees", f"rules:file={rules}", "quadtree:max_depth=2", "--json"
    ).json
    assert [row["leaves"] for row in answer["rows"]] == [2, 16]
    # What follows a comma is of the name.
    named = rules.rename(rules.with_name("mine, of May.conf"))
    trees = [f"rules:file={named}", f"rules:file={named},improve=yes"]
    rows = colltune("compare", measured, "-c", "bcast", "--trees", *trees, "--json").json["rows"]
    assert rows[0]["penalty_mean"] > rows[1]["penalty_mean"]
    assert answer["difference"]["cells"] == answer["rows"][0]["cells"]


def test_rules_stand_on_the_frontier(colltune: Run, measured: Path, rules: Path) -> None:
    asked = ["frontier", measured, "-c", "bcast", "--family", "quadtree", "--held-out", "none", "--json"]
    answer = colltune(*asked, "--with-rules", rules).json
    tried = [point for point in answer["points"] if point["family"] == "rules"]
    assert [point["options"] for point in tried] == [{"file": str(rules)}, {"file": str(rules), "improve": True}]
    assert len(colltune(*asked).json["points"]) == len(answer["points"]) - 2


def test_rules_are_written_for_another_library_with_the_best_substitutes(
    colltune: Run, measured: Path, rules: Path
) -> None:
    done = colltune("export", measured, "-c", "bcast", "--tree", "rules", "--file", rules, "--to", "ucc")
    assert "@knomial" in done.out
    assert "It has no 'pipeline 8KiB'" in done.err
    assert not read_text(done.out).errors


def test_a_saved_decision_is_taken_as_well(colltune: Run, measured: Path, tmp_path: Path) -> None:
    made = colltune("decide", measured, "-c", "bcast", "--max-depth", "2", "--json").json
    path = tmp_path / "saved.json"
    DecisionFunction.from_dict(made["decision"]).save(path)
    again = colltune("decide", measured, "-c", "bcast", "--tree", "rules", "--file", path, "--json").json
    assert again["penalty"] == made["penalty"]


def test_mpich_s_own_selection_is_a_decision(colltune: Run, measured: Path, samples: Path) -> None:
    path = samples / "mpich_json" / "mpich-main__mpir_generic.json"
    answer = colltune("decide", measured, "-c", "allgather", "--tree", "rules", "--file", path, "--json").json
    # As the file says: recursive doubling for powers of two and Bruck for others while it is little, a ring for much.
    assert {"recursive_doubling", "bruck", "ring"} <= set(answer["methods"])
    assert answer["penalty"]["mean"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tree", "rules"], "no rules file is chosen"),
        (["--tree", "rules", "--file", "/nowhere/x.conf"], "cannot be read"),
        (["--tree", "default"], "own decision was not measured here"),
    ],
)
def test_what_is_lacking_is_one_clear_line(colltune: Run, measured: Path, words: list[str], message: str) -> None:
    assert_one_clear_line(colltune("decide", measured, "-c", "bcast", *words), message)


def test_rules_without_the_collective_say_what_they_have(colltune: Run, measured: Path, rules: Path) -> None:
    done = colltune("decide", measured, "-c", "reduce", "--tree", "rules", "--file", rules)
    assert_one_clear_line(done, "mine.conf has no rules for reduce; it has them for bcast")


def test_the_workload_weighs_what_rules_cost(colltune: Run, measured: Path, rules: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls.csv"
    calls.write_text("collective,comm_size,message_size,calls\nbcast,8,65536,10\n")
    answer = colltune("lint", rules, "--over", measured, "--weights", calls, "--json").json
    figures = answer["penalty"]["bcast"]["acted"]
    assert figures["cells"] == 1
    assert figures["min"] == figures["mean"] == figures["max"]
    asked = ["export", measured, "-c", "bcast", "--weights", calls, "--to", "openmpi", "--max-rules", "1"]
    done = colltune(*asked, "--tree", "exact")
    assert "The best 1 rule over the measured sizes by the workload's calls is written" in " ".join(done.out.split())
    (read,) = read_text(done.out).meant.values()
    assert read.leaves == 1
