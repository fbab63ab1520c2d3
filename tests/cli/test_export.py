"""``colltune export``: decision functions written for a target."""

import re
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.problem import Problem
from loaders import open_results
from tests.cli.command import Run, assert_one_clear_line


def test_export_writes_what_the_library_writes(colltune: Run, results: Path, tmp_path: Path) -> None:
    made = tmp_path / "decision.c"
    answer = colltune("export", results, "-c", "bcast", "-c", "reduce", "--max-depth", 2, "--to", "c", "-o", made)
    assert (answer.status, answer.out) == (0, "")
    assert str(made) in answer.err
    source = made.read_text()
    assert re.findall(r"^int (\w+)\(int .*\)$", source, re.MULTILINE) == ["colltune_bcast", "colltune_reduce"]
    assert "Performance penalty" in source
    assert colltune("export", results, "-c", "bcast", "-c", "reduce", "--max-depth", 2, "--to", "c").out == source


def test_both_files_of_rules_across_nodes_are_named(colltune: Run, results: Path, tmp_path: Path) -> None:
    made, han = tmp_path / "x.rules", tmp_path / "x-han.rules"
    words = ["export", results, "-c", "bcast", "--tree", "exact", "--to", "openmpi-nodes", "-o", made]
    answer = colltune(*words, "--allow-loss", 1000)
    assert answer.status == 0
    assert f"wrote {made} and {han}: bcast (" in answer.err
    assert f"next: colltune lint {made} --han {han} --over" in answer.err
    assert f"coll_han_dynamic_rules_filename {han.name}" in made.read_text()
    lines = [file.read_text().count("\n") for file in (made, han)]
    assert f"{lines[0]} and {lines[1]} lines" in answer.err


def test_export_takes_the_options_of_every_tree(colltune: Run, results: Path) -> None:
    out = colltune("export", results, "-c", "reduce", "--tree", "optimal", "--leaves", 3, "--to", "json", "-o", "-").out
    problem = Problem.of(open_results(results)["reduce"].to_dataset())
    assert DecisionFunction.from_json(out) == FAMILIES["optimal"].grow(problem, leaves=3)


def test_one_tree_for_several_collectives_is_a_function_for_each(colltune: Run, results: Path) -> None:
    both = ["-c", "bcast", "-c", "reduce", "--combined", "--tree", "cart", "--max-leaves", 4, "--cost-sensitive"]
    source = colltune("export", results, *both, "--to", "c").out
    assert re.findall(r"^int (\w+)\(int .*\)$", source, re.MULTILINE) == ["colltune_bcast", "colltune_reduce"]


@pytest.mark.parametrize("target", ["c", "c-table", "python"])
def test_source_says_of_itself_alone_what_holds_beyond_the_measured_sizes(
    colltune: Run, results: Path, target: str
) -> None:
    words = ["export", results, "-c", "bcast", "--max-depth", 2, "--to", target]
    for beyond, holds in (("default", "left to the library"), ("nearest", "as at the nearest measured sizes")):
        text = colltune(*words, "--beyond", beyond).out
        assert f"Beyond measured: {holds}." in text
        assert "of the nearest measured size" not in text


def test_targets_that_there_are_not_are_refused_before_anything_is_loaded(colltune: Run) -> None:
    assert_one_clear_line(colltune("export", "/no/such/file", "--to", "cobol"), "--to cobol", "c, c-table", "json")


def test_a_file_says_how_its_measurements_were_treated_and_weighed(
    colltune: Run, results: Path, tmp_path: Path
) -> None:
    calls = tmp_path / "calls.csv"
    calls.write_text("collective,comm_size,message_size,calls\nbcast,8,1024,1500\n")
    words = ["export", results, "-c", "bcast", "--to", "c"]
    plain = colltune(*words).out
    assert "Treatment" not in plain
    assert "workload" not in plain

    def text(*further: object) -> str:
        return " ".join(colltune(*words, *further).out.replace("\n *", "\n").split())

    given = ("--tolerance", 5, "--without-outliers", "--weights", calls)
    treated = text("--tree", "c45", *given)
    assert "Treatment: --tolerance 5 --without-outliers." in treated
    # It weighs times: ties change nothing.
    assert "Treatment: --without-outliers." in text(*given)
    penalty = "Performance penalty at measured sizes against the best"
    assert f"{penalty} measured method, by 1,500 calls of a workload: mean" in treated
    assert f"{penalty} of the methods not left out: mean" in text("--without", "linear")


def test_a_file_says_what_the_recommendation_loses_at_sizes_left_out(colltune: Run, results: Path) -> None:
    words = (results, "-c", "bcast", "--leaves", 3)
    (judged,) = colltune("decide", *words, "--json").json["decision"]["provenance"]["recommended"]
    assert judged["left_out"]["figure"] in judged["said"]
    text = " ".join(colltune("export", *words, "--to", "openmpi").out.replace("\n#", "\n").split())
    assert f"{judged['said'].replace('±', '+/-')}. Data:" in text


def test_why_rules_cannot_say_all_of_it_names_the_collective_once(colltune: Run, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    times = {"basic_linear": (1, 9), "pairwise": (2, 3)}
    rows = (f"alltoallv,{name},4,{8**place},{time}" for name, of in times.items() for place, time in enumerate(of, 1))
    path.write_text("\n".join(["collective,algorithm,comm_size,message_size,time_us", *rows, ""]), encoding="utf-8")
    order = ("export", path, "--tree", "exact", "--to", "openmpi")
    assert "alltoallv: Approximated: the library compares no" in colltune(*order, "--allow-loss", "99").err
    assert "error: alltoallv: the library compares no" in colltune(*order, "--beyond", "default").err
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"bcast,{name},4,8,{time}\n" for name, time in (("binomial", 1), ("chain", 2)))
    both = colltune(*order, "-c", "alltoallv,bcast", "--beyond", "default").err
    assert "error: alltoallv: the library compares no" in both
