"""``colltune tune-check`` on results that are there already; measuring is in tests/bench."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.benchmarks.libraries.library import Installation
from dashboard.commands.launching import measured_ranks
from dashboard.commands.tune_check import command
from dashboard.commands.tune_check.rules import given
from dashboard.export.form import form_of
from dashboard.export.rules.lint import read_text
from loaders import open_results, save_results
from loaders.facet_names import DOUBTFUL
from tests.cli.command import Run, assert_one_clear_line
from tests.cubes import cube_of, named
from tests.export.trees import halves
from tests.measuring.played import LIBRARY

RULES = "1 # collective\n7 # bcast\n1\n2\n2\n0 1 0 0\n1000 6 0 0\n"


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Twice as fast where small, at half the speed where large."""
    cube = named(cube_of(np.array([[[2.0, 4.0]], [[1.0, 8.0]]]), [8], [8, 4096]), ["default", "tuned"])
    return save_results(xr.DataTree.from_dict({"bcast": cube}), tmp_path / "measured.nc")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.conf"
    path.write_text(RULES)
    return path


def test_improvement_and_rules_are_told(colltune: Run, measured: Path, rules: Path) -> None:
    answer = colltune("tune-check", rules, "--results", measured, "--json")
    assert answer.status == 0
    bcast = answer.json["collectives"]["bcast"]
    counts = {"comm_size": 0, "cells": 2, "faster": 1, "slower": 1, "same": 0}
    assert bcast["table"][-1] == pytest.approx({**counts, "min": -100, "max": 50, "mean": -25})
    assert [(rule["method"], rule["outcome"]) for rule in bcast["rules"]] == [
        ("basic_linear", "faster"),
        ("binomial", "slower"),
    ]
    assert "1 rule is slower than the library's own decision beyond noise" in answer.err
    assert "--han" not in answer.err
    han = rules.with_name("rules-han.conf")
    han.touch()
    answer = colltune("tune-check", rules, "--results", measured)
    assert "SLOWER" in answer.out
    assert "+50.00 %" in answer.out
    assert "bcast: improvement, less time than the library's own decision takes; positive is better\n" in answer.out
    assert f"note: {han} lies beside it: on several nodes both are one decision (--han {han})" in answer.err


def test_the_slower_rule_is_left_to_the_library(colltune: Run, measured: Path, rules: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.conf"
    answer = colltune("tune-check", rules, "--results", measured, "--drop-slower", "-o", kept)
    assert answer.status == 0
    lines = [line.split("#")[0].strip() for line in kept.read_text().splitlines()]
    assert [line for line in lines if line.count(" ") == 3] == ["0 1 0 0", "1000 0 0 0"]
    assert "1 rule that was slower is left to it" in kept.read_text()
    # As many processes take part when it is proven or compared again.
    assert measured_ranks(kept.read_text()) == 8
    assert colltune("lint", kept).status == 0


@pytest.mark.parametrize(("dropped", "cut", "measured_anew"), [(0, 0, False), (1, 0, True), (0, 2, True)])
def test_rules_of_which_nothing_is_gone_are_proven_and_not_measured_once_more(
    rules: Path, monkeypatch: pytest.MonkeyPatch, dropped: int, cut: int, *, measured_anew: bool
) -> None:
    compared: list[Path] = []
    for name, stand_in in (("prove", lambda *_: None), ("_measured", lambda *_: rules), ("_judged", lambda *_: {})):
        monkeypatch.setattr(command, name, stand_in)
    monkeypatch.setattr(command, "_compared", lambda _, files, __: compared.extend(files))
    monkeypatch.setattr(command.cli_launching, "launcher_of", lambda *_: None)
    args = argparse.Namespace(folder="f", ranks=2, output="kept.conf", han=None, rules=str(rules))
    form = form_of("Open MPI", "5.0", nodes=False)
    left = command._Left(given(args, form), {"bcast": dropped}, {"bcast": cut})
    command._once_more(args, left, Installation(Path("mpiexec"), LIBRARY))
    assert bool(compared) == measured_anew


def test_times_that_cannot_be_trusted_drop_no_rule(colltune: Run, rules: Path, tmp_path: Path) -> None:
    cube = named(cube_of(np.array([[[2.0, 4.0]], [[1.0, 8.0]]]), [8], [8, 4096]), ["default", "tuned"])
    late = [{"collective": "bcast", "method": "tuned", "comm_size": 8, "message_size": 4096, "reason": "late starts"}]
    cube.attrs |= {"benchmark": "colltune bench, skampi", DOUBTFUL: json.dumps(late)}
    path = save_results(xr.DataTree.from_dict({"bcast": cube}), tmp_path / "doubtful.nc")
    answer = colltune("tune-check", rules, "--results", path, "--json")
    bcast = answer.json["collectives"]["bcast"]
    assert [(rule["method"], rule["cells"]) for rule in bcast["rules"]] == [("basic_linear", 1), ("binomial", 0)]
    assert "bcast: left out: 1 time that cannot be trusted (tuned, 8 processes, 4096 B: late starts)" in answer.err
    # Where no cell is left there are no tables.
    cube.attrs[DOUBTFUL] = json.dumps([*late, late[0] | {"method": "default", "message_size": 8}])
    nothing = save_results(xr.DataTree.from_dict({"bcast": cube}), tmp_path / "nothing.nc")
    answer = colltune("tune-check", rules, "--results", nothing)
    assert answer.status == 0
    assert answer.out.startswith("bcast: nothing to compare: ")
    assert answer.out.count("\n") == 1
    answer = colltune("tune-check", rules, "--results", path, "--keep-doubtful", "--json")
    assert [rule["outcome"] for rule in answer.json["collectives"]["bcast"]["rules"]] == ["faster", "slower"]


def test_a_saved_decision_function_is_checked_as_rules(colltune: Run, measured: Path, tmp_path: Path) -> None:
    decision = halves("bcast", ["linear", "binomial"], 100)
    path = tmp_path / "decision.json"
    decision.save(path)
    answer = colltune("tune-check", path, "--results", measured, "--json")
    assert [rule["outcome"] for rule in answer.json["collectives"]["bcast"]["rules"]] == ["faster", "slower"]


def test_results_alone_are_compared_without_rules(colltune: Run, measured: Path) -> None:
    answer = colltune("tune-check", "--results", measured, "--json")
    assert answer.json["rules"] is None
    assert answer.json["collectives"]["bcast"]["rules"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["RULES", "--results", "MEASURED", "--drop-slower"], "--drop-slower and -o FILE go together"),
        ([], "name a rules file or a saved decision function"),
        (["RULES", "RULES", "--results", "MEASURED"], "unrecognized arguments"),
        (["RULES", "--results", "MEASURED", "--tree", "optimal"], "unrecognized arguments: --tree"),
        (["nowhere.conf", "--results", "MEASURED"], "nowhere.conf: cannot be read: No such file"),
        (["FOLDER", "--results", "MEASURED"], "cannot be read: Is a directory"),
        (["RULES", "--results", "MEASURED", "-c", "scan"], "-c scan: these results hold bcast"),
        (["RULES", "--results", "MEASURED", "--level", "2"], "--level"),
        (["BROKEN", "--results", "MEASURED"], "colltune lint"),
    ],
)
def test_what_cannot_be_is_one_clear_line(
    colltune: Run, measured: Path, rules: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    broken = tmp_path / "broken.conf"
    broken.write_text(RULES.replace("0 1 0 0", "5 1 0 0"))
    named = {"RULES": rules, "MEASURED": measured, "BROKEN": broken, "FOLDER": tmp_path}
    assert_one_clear_line(colltune("tune-check", *(named.get(word, word) for word in arguments)), words)


def test_ranks_are_those_that_the_rules_were_measured_with(tmp_path: Path, colltune: Run, results: Path) -> None:
    rules = tmp_path / "rules.conf"
    assert colltune("export", results, "-c", "bcast", "--to", "openmpi", "-o", rules).status == 0
    text = rules.read_text()
    most = int(open_results([results])["bcast"]["comm_size"].max())
    assert measured_ranks(text) == most
    assert measured_ranks("# Data: 1 source, 6 measured cells, 4 processes, 8 bytes.") == 4
    assert measured_ranks(RULES) is None
    assert "Beyond measured: as at the nearest measured sizes" in text


def test_an_export_leaves_what_is_beyond_the_measured_sizes_to_the_library(
    tmp_path: Path, colltune: Run, results: Path
) -> None:
    rules = tmp_path / "rules.conf"
    answer = colltune("export", results, "-c", "bcast", "--to", "openmpi", "--beyond", "default", "-o", rules)
    assert answer.status == 0
    decision = read_text(rules.read_text()).decisions["bcast"]
    cube = open_results([results])["bcast"]
    most, largest = int(cube["comm_size"].max()), int(cube["message_size"].max())
    for comm_size, message_size in ((most + 1, largest), (most, largest + 1)):
        method = decision.methods[decision.predict_one(comm_size, message_size)]
        assert method.parameters["library_id"] == 0
    assert "Beyond measured: left to the library" in rules.read_text()
