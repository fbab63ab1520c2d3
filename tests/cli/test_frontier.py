"""``colltune frontier``: all ways of deciding by size and penalty, and which one to take."""

import shlex
from pathlib import Path

import pytest

from dashboard.decisions.judged.frontier import frontier
from dashboard.decisions.judged.recommend import falls_below, recommend
from dashboard.decisions.measured.problem import Problem
from loaders import open_results
from tests.cli.command import Run, assert_one_clear_line

FAMILIES = ("quadtree", "cart")


@pytest.mark.slow
def test_it_is_the_library_s(colltune: Run, results: Path) -> None:
    answer = colltune("frontier", results, "-c", "reduce", "--family", *FAMILIES, "--folds", 3, "--json").json
    problem = Problem.of(open_results(results)["reduce"].to_dataset())
    expected = frontier(problem, families=FAMILIES, held_out="lines", folds=3)
    assert (answer["held_out"], answer["folds"], answer["criterion"]) == ("lines", 3, "held_out_mean")
    assert [
        (point["family"], point["leaves"], point["held_out_mean"], point["dominated"]) for point in answer["points"]
    ] == [
        tuple(row) for row in expected.table[["family", "leaves", "held_out_mean", "dominated"]].itertuples(index=False)
    ]
    chosen = recommend(expected)
    assert answer["recommendation"]["reason"] == chosen.reason
    assert answer["recommendation"]["point"] == chosen.row
    assert [row["family"] for row in answer["below"]] == falls_below(expected)["family"].tolist()


@pytest.mark.slow
def test_what_it_recommends_can_be_typed(colltune: Run, results: Path) -> None:
    answer = colltune("frontier", results, "-c", "reduce", "--family", *FAMILIES, "--json").json
    point = answer["points"][answer["recommendation"]["point"]]
    lines = colltune("frontier", results, "-c", "reduce", "--family", *FAMILIES).out.splitlines()
    assert lines[-2] == f"* recommended: {answer['recommendation']['reason']}"
    typed = shlex.split(lines[-1].partition("…")[2])
    again = colltune("decide", results, "-c", "reduce", *typed, "--json").json
    assert (again["leaves"], again["penalty"]["mean"]) == (point["leaves"], point["penalty_mean"])


def test_those_that_others_beat_are_listed_when_asked_for(colltune: Run, results: Path) -> None:
    common = ["frontier", results, "-c", "reduce", "--family", *FAMILIES, "--held-out", "none"]
    points = colltune(*common, "--json").json["points"]
    few, many = colltune(*common).out, colltune(*common, "--all").out
    beaten = sum(point["dominated"] for point in points)
    assert beaten > 0
    assert f"{beaten} trees that others beat" in few
    assert len(many.splitlines()) == len(few.splitlines()) + beaten - 1


def test_what_the_rule_is_can_be_said(colltune: Run, results: Path) -> None:
    common = ["frontier", results, "-c", "reduce", "--family", "quadtree", "--held-out", "none", "--json"]
    best = colltune(*common, "--within", 0).json
    assert best["recommendation"]["point"] == best["recommendation"]["best"]
    assert colltune(*common, "--criterion", "max").json["criterion"] == "penalty_max"
    timed = colltune(*common, "--timed").json["points"]
    assert all(1e-8 < point["decide_time"] < 1e-2 for point in timed)


def test_families_that_do_not_suit_are_told(colltune: Run, results: Path) -> None:
    both = ["frontier", results, "-c", "bcast", "-c", "reduce", "--combined", "--held-out", "none"]
    answer = colltune(*both, "--family", *FAMILIES)
    assert "quadtree was not tried: quadtree decides over communicator and message size only" in answer.out
    assert_one_clear_line(colltune(*both, "--family", "quadtree"), "2 tables")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--family", "bush"], ["bush", "known are quadtree"]),
        (["--criterion", "least"], ["--criterion", "p95"]),
        (["--within", "-1"], ["--within", "at least 0"]),
    ],
)
def test_what_cannot_be_asked_for(colltune: Run, results: Path, options: list[str], words: list[str]) -> None:
    assert_one_clear_line(colltune("frontier", results, "-c", "reduce", *options), *words)
