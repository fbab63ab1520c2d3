"""``colltune compare``: decision functions side by side, and two of them cell by cell."""

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

from dashboard.commands.trees import read
from dashboard.decisions import DecisionFunction, Leaf, Method, decision_map, quadtree
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.compare import compare, difference
from dashboard.decisions.measured.problem import Problem
from dashboard.export import TARGETS
from dashboard.models.family import FAMILY
from dashboard.session.choice import Choice
from dashboard.session.recipes import compact
from loaders import open_results
from tests.cli.command import Run, assert_one_clear_line

TREES = ("quadtree:max_depth=1", "c45:min_cases=4,pruned=no")


@pytest.fixture
def problem(results: Path) -> Problem:
    return Problem.of(open_results(results)["reduce"].to_dataset())


def test_it_is_the_library_s(colltune: Run, results: Path, problem: Problem) -> None:
    answer = colltune("compare", results, "-c", "reduce", "--trees", *TREES, "--json").json
    first = FAMILIES["quadtree"].grow(problem, max_depth=1)
    second = FAMILIES["c45"].grow(problem, min_cases=4, pruned=False)
    table = compare(problem, dict(zip(TREES, (first, second), strict=True)))
    assert [row["tree"] for row in answer["rows"]] == list(TREES)
    for name in ("leaves", "penalty_mean", "penalty_max", "wrong"):
        assert [row[name] for row in answer["rows"]] == table[name].tolist()
    apart = difference(problem, first, second)
    assert answer["difference"]["outcome"] == apart["outcome"].values.tolist()
    np.testing.assert_allclose(answer["difference"]["difference"], apart["difference"].values)
    assert answer["difference"]["first_faster"] == apart.attrs["first_faster"]


def test_two_are_drawn_cell_by_cell(colltune: Run, results: Path) -> None:
    answer = colltune("compare", results, "-c", "reduce", "--trees", *TREES, "--json").json["difference"]
    lines = colltune("compare", results, "-c", "reduce", "--trees", *TREES).out.splitlines()
    drawn = [line.split() for line in lines]
    rows = {int(words[0]): words[1:] for words in drawn if words and words[0].isdigit() and len(words) == 10}
    assert [rows[p] for p in answer["comm_size"]] == [["=AB~?"[kind] for kind in row] for row in answer["outcome"]]
    assert f"A = {TREES[0]}, B = {TREES[1]}" in lines


def test_several_are_a_table(colltune: Run, results: Path) -> None:
    answer = colltune(
        "compare", results, "-c", "reduce", "--trees", *TREES, "exact", "--held-out", "lines", "--json"
    ).json
    assert "difference" not in answer
    assert [row["penalty_max"] == 0 for row in answer["rows"]] == [False, False, True]
    assert all(row["held_out"]["mean"] > 0 for row in answer["rows"])
    text = colltune("compare", results, "-c", "reduce", "--trees", *TREES, "exact", "--held-out", "lines").out
    assert "held out: mean (%)" in text


@pytest.mark.parametrize(
    ("trees", "fitted"),
    [
        (["exact", "model:model=loggp,parameters=grig-tcp"], False),
        (["exact", "model:model=loggp"], True),
        (["model:model=loggp", "model:model=loggp,parameters=grig-tcp"], True),
    ],
)
def test_only_models_without_parameters_of_their_own_are_said_to_be_fitted(
    colltune: Run, results: Path, trees: list[str], *, fitted: bool
) -> None:
    answer = colltune("compare", results, "-c", "reduce", "--trees", *trees)
    assert answer.status == 0
    assert ("fitted to the measurements" in answer.err) is fitted


def test_saved_decisions_take_part(colltune: Run, results: Path, tmp_path: Path) -> None:
    quadtree(decision_map(open_results(results)["reduce"].to_dataset())).save(tmp_path / "mine.json")
    # A name in another encoding than UTF-8.
    saved = str((tmp_path / "mine.json").rename(tmp_path / os.fsdecode(b"m\xfcller.json")))
    answer = colltune("compare", results, "-c", "reduce", "--trees", saved, "exact", "--json").json
    assert [row["penalty_max"] for row in answer["rows"]] == [0, 0]
    assert answer["difference"]["same_method"] == answer["difference"]["cells"]
    assert_one_clear_line(colltune("compare", results, "-c", "reduce", "--trees", "no.json"), "no.json", "no such file")


def test_what_was_exported_as_json_is_read_again_by_the_command_that_is_printed(
    colltune: Run, results: Path, tmp_path: Path
) -> None:
    names, saved = list(colltune("info", results, "--json").json["collectives"]), tmp_path / "saved.json"
    assert len(names) > 1
    how = ["-c", ",".join(names), "--tree", "exact"]
    answer = colltune("export", results, *how, "--to", "json", "-o", saved)
    assert answer.status == 0, answer.err
    command, _ = TARGETS["json"].steps(str(saved), names)
    words = shlex.split(command.command.replace("RESULTS", str(results)))[1:]
    assert colltune(*words, "--json").json["rows"][0]["penalty_mean"] == 0


def test_methods_that_the_results_do_not_have_are_named(colltune: Run, results: Path, tmp_path: Path) -> None:
    decided = DecisionFunction("reduce", [Method("spread", "spread")], Leaf(0))
    decided.save(tmp_path / "mine.json")
    names = ["compare", results, "-c", "reduce", "--trees", "exact", tmp_path / "mine.json"]
    row = colltune(*names, "--json").json["rows"][1]
    assert (row["absent"], row["wrong"], row["cells"]) == (["spread"], 0, 0)
    assert f"{tmp_path / 'mine.json'}: these results do not have spread; cells where" in colltune(*names).out


def test_values_of_options_may_have_commas() -> None:
    network = "mine: hockney alpha=0.0001,beta=8.5e-08|loggp latency=0.0001,overhead=1e-05,gap=1e-06,gap_per_byte=8e-08"
    wanted = {
        "parameters": network,
        "trust": "hockney=1,loggp=2",
        "methods": "binomial,pipeline 8KiB",
        "model": "loggp",
    }
    with FAMILIES.also(FAMILY):
        written = compact(Choice.of("model", wanted))
        assert read(written) == ("model", wanted)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ("bush", ["bush", "known are quadtree"]),
        ("quadtree:depth=3", ["no option depth", "did you mean max_depth?"]),
        ("quadtree:max_depth", ["'max_depth'", "option=value"]),
        ("quadtree:max_depth=deep", ["max_depth", "'deep'", "whole number from 0"]),
        ("c45:pruned=maybe", ["pruned", "yes or no"]),
        ("cart:attributes=comm_size+bytes", ["attributes", "message_size"]),
    ],
)
def test_trees_that_cannot_be(colltune: Run, tree: str, words: list[str]) -> None:
    assert_one_clear_line(colltune("compare", "not loaded", "--trees", tree), *words)
