"""``colltune lint``, and the export of what it checks."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.mpich import base
from dashboard.export.targets.mpich.selection import to_mpich
from dashboard.session.samples import sample_data
from loaders import save_results
from tests.cli.command import Run, assert_one_clear_line
from tests.cubes import cube_of
from tests.files import run_file

GOOD = "1 # collectives\n7 # bcast\n1\n0\n2\n0 6 0 0\n512 3 0 1024\n"
OWN = base.known("5.0")
ALL_RIGHT = "0 errors, 0 warnings, 0 notes"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.conf"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.conf"
    path.write_text(GOOD.replace("0 6 0 0\n", ""))
    return path


def test_a_good_file_is_success(colltune: Run, good: Path) -> None:
    answer = colltune("lint", good)
    assert (answer.status, answer.err) == (0, f"colltune: next: colltune prove {good}\n")
    assert "bcast: 2 rules" in answer.out
    assert answer.out.endswith("0 errors, 0 warnings, 0 notes\n")


def test_a_proof_of_version_3_comes_next_only_where_the_library_is_to_be_one_that_reads_it(
    colltune: Run, samples: Path
) -> None:
    rules = samples / "rules_ompi" / "own_v3.json"
    assert "next:" not in colltune("lint", rules).err
    assert f"next: colltune prove {rules}" in colltune("lint", rules, "--for", "6.0").err


def test_rules_that_go_by_more_than_sizes_are_listed(colltune: Run, samples: Path) -> None:
    rules = samples / "nccl_tuner" / "nccl_tuner.conf"
    answer = colltune("lint", rules).out
    assert "allreduce: 3 rules, 3 methods; 3 not by sizes alone" in answer
    assert "reduce: 1 rule, 1 method\n" in answer
    assert "8 of its 9 rules go by nodes, pipeline operations or registered buffers as well" in answer
    there = colltune("lint", rules, "--json").json["collectives"]
    assert list(there) == ["allreduce", "bcast", "allgather", "reduce_scatter", "reduce"]
    assert [each["rules"] for each in there.values()] == [3, 2, 1, 2, 1]
    assert there["allreduce"]["methods"] == ["tree simple channels=2", "ring simple channels=4", "ring ll128"]
    measured = samples / "nccl_tuner" / "sample_performance_data.csv"
    assert_one_clear_line(colltune("lint", rules, "--over", measured), "--over", "are listed, not decided with: 8 of")


def test_errors_are_printed_with_their_lines_and_are_exit_status_2(colltune: Run, bad: Path) -> None:
    answer = colltune("lint", bad)
    assert answer.status == 2
    assert f"{bad}:5: error: bcast from 0 processes: 2 rules declared and 1 following, 1 too many" in answer.out
    assert "expected size 0" in answer.out
    assert answer.err.splitlines()[-1].startswith(f"colltune: error: {bad}: ")


def test_json_tells_every_fault_and_what_was_read(colltune: Run, bad: Path) -> None:
    answer = colltune("lint", bad, "--json")
    assert answer.status == 2
    document = answer.json
    assert document["format"] == "openmpi-1"
    assert document["errors"] == sum(fault["severity"] == "error" for fault in document["faults"]) > 0
    assert set(document["faults"][0]) == {"line", "severity", "text", "effect"}
    assert document["collectives"]["bcast"]["accepted"] is False


def test_over_measurements_the_penalty_is_shown(colltune: Run, good: Path, results: Path) -> None:
    answer = colltune("lint", good, "--over", results, "--json").json
    figures = answer["penalty"]["bcast"]
    assert figures["acted"] == figures["meant"]
    assert figures["as_blocks"] is None
    assert "pipeline 1KiB" in figures["not_measured"]
    assert "penalty as the library acts: mean" in colltune("lint", good, "--over", results).out


def test_one_collective_can_be_chosen_to_be_judged(colltune: Run, tmp_path: Path, results: Path) -> None:
    rules = tmp_path / "rules.conf"
    rules.write_text("2\n7\n1\n0\n1\n0 6 0 0\n11\n1\n0\n1\n0 5 0 0\n", encoding="utf-8")
    assert list(colltune("lint", rules, "--over", results, "--json").json["penalty"]) == ["bcast", "reduce"]
    answer = colltune("lint", rules, "--over", results, "-c", "reduce", "--json").json
    assert list(answer["penalty"]) == ["reduce"]
    refused = colltune("lint", rules, "--over", results, "-c", "scan")
    assert_one_clear_line(refused, "-c scan: ", "has no rules for it; it has them for bcast, reduce")


def test_the_version_of_the_library_counts(colltune: Run, good: Path) -> None:
    good.write_text("1\n1\n1\n0\n1\n0 6 0 0\n")
    assert colltune("lint", good).status == 0
    assert "has no algorithm 6 in Open MPI 4.1" in colltune("lint", good, "--for", "4.1").out


def test_an_algorithm_that_is_known_to_give_wrong_results_is_an_error(colltune: Run, good: Path) -> None:
    good.write_text("1\n0\n1\n0\n1\n0 7 0 0\n")
    answer = colltune("lint", good)
    assert answer.status == 2
    assert "sparbit of Open MPI 5.0.0 and newer is at fault" in answer.out
    assert "in place" in answer.out
    assert "has no algorithm 7 in Open MPI 4.1" in colltune("lint", good, "--for", "4.1").out


def test_what_is_no_rules_file_is_one_clear_line(colltune: Run, tmp_path: Path, results: Path) -> None:
    assert_one_clear_line(colltune("lint", tmp_path / "none.conf"), "cannot be read")
    assert_one_clear_line(colltune("lint", results), "no")
    good = tmp_path / "good.conf"
    good.write_text(GOOD)
    assert_one_clear_line(colltune("lint", good, "--for", "17"), "known are the versions 4.1, 5.0, 6.0")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["openmpi", "openmpi-json"])
def test_exported_rules_have_no_fault(colltune: Run, results: Path, tmp_path: Path, target: str) -> None:
    made = tmp_path / "rules"
    assert colltune("export", results, "-c", "bcast", "--to", target, "-o", made).status == 0
    checked = colltune("lint", made, "--over", results, "--json")
    assert checked.status == 0
    decided = colltune("decide", results, "-c", "bcast", "--json").json["penalty"]
    assert checked.json["penalty"]["bcast"]["acted"]["mean"] == pytest.approx(decided["mean"])


def test_export_of_at_most_so_many_rules(colltune: Run, results: Path) -> None:
    text = colltune("export", results, "-c", "bcast", "--to", "openmpi", "--max-rules", 3).out
    assert read_text(text).decisions["bcast"].leaves <= 3
    assert "at most 3 may be written" in " ".join(text.replace("\n#", "").split())


def test_methods_of_other_names_get_substitutes(colltune: Run, results: Path) -> None:
    # The library has no pipeline for allgather; with the measurements at hand the best other is taken.
    answer = colltune("export", results, "-c", "reduce", "--to", "openmpi", "--for", "4.1")
    assert answer.status == 0
    assert read_text(answer.out, version="4.1").errors == 0


def test_options_that_mean_nothing_to_a_target_say_so(colltune: Run, results: Path, tmp_path: Path) -> None:
    assert_one_clear_line(colltune("export", results, "-c", "bcast", "--to", "c", "--max-rules", 3), "--max-rules")
    base = ["--to", "mpich", "--base", tmp_path / "none.json"]
    assert_one_clear_line(colltune("export", results, "-c", "bcast", *base), "cannot be read")
    assert_one_clear_line(colltune("export", results, "-c", "bcast", "--to", "mpich"), "complete files only")


def test_the_version_is_the_one_that_was_measured_and_lint_reads_it_from_the_head(
    colltune: Run, tmp_path: Path
) -> None:
    point = {"collective": "bcast", "algorithm": "binomial", "comm_size": 4, "samples": [1e-5]}
    points = ({**point, "message_size": size} for size in (8, 64))
    run = run_file(tmp_path / "results.jsonl", *points, library="Open MPI", library_version="4.1.4")
    rules = tmp_path / "rules.conf"
    assert colltune("export", run, "-c", "bcast", "--tree", "quadtree", "--to", "openmpi", "-o", rules).status == 0
    assert "algorithm numbers of 4.1" in rules.read_text()
    assert "as read by Open MPI 4.1" in colltune("lint", rules).out
    assert "as read by Open MPI 5.0" in colltune("lint", rules, "--for", "5.0").out


def test_results_of_another_collective_are_said_to_be(colltune: Run, tmp_path: Path) -> None:
    rules, results = tmp_path / "bcast.conf", tmp_path / "t.csv"
    rules.write_text("1\n7\n1\n2\n1\n0 6 0 0\n", encoding="utf-8")
    results.write_text("collective,algorithm,comm_size,message_size,time\nreduce,binomial,4,8,1e-5\n", encoding="utf-8")
    answer = colltune("lint", rules, "--over", results)
    assert "the results hold reduce, but no bcast" in answer.out


def test_of_several_processes_per_node_those_asked_for_judge(colltune: Run, tmp_path: Path) -> None:
    times = np.random.default_rng(2).lognormal(size=(3, 2, 5, 2))
    results, rules = tmp_path / "results.nc", tmp_path / "rules.conf"
    save_results(xr.DataTree.from_dict({"bcast": cube_of(times, [4, 8], 4 ** np.arange(5))}), results)
    words = ["-c", "bcast", "--ppn", 2, "--tree", "exact", "--to", "openmpi", "-o", rules, "--allow-loss", 1000]
    made = colltune("export", results, *words)
    assert f"lint {rules} --over {results} -c bcast --ppn 2" in made.err
    costs = [colltune("lint", rules, "--over", results, *ppn, "--json") for ppn in (("--ppn", 2), ("--ppn", 1), ())]
    means = [answer.json["penalty"]["bcast"]["acted"]["mean"] for answer in costs]
    assert means[0] < means[1] == means[2]
    assert "1 process per node (most measured cells) of 1, 2; --ppn chooses" in costs[2].err
    assert "--ppn chooses" not in costs[0].err


def test_the_rules_of_sixteen_cores_cost_less_than_the_library_in_launches_that_they_do_not_know(
    colltune: Run, tmp_path: Path
) -> None:
    folder, results = sample_data("sixteen-cores"), tmp_path / "results.nc"
    assert colltune("convert", folder, "-o", results).status == 0
    penalties = colltune("lint", folder / "rules.conf", "--over", results, "--json").json["penalty"]
    said = {"bcast": (19.9, 17.6), "reduce": (12.8, 7.6), "allreduce": (8.7, 5.8), "allgather": (14.4, 11.5)}
    for name, (alone, with_rules) in said.items():
        default = colltune("decide", results, "-c", name, "--tree", "default", "--json").json
        assert default["penalty"]["mean"] == pytest.approx(alone, abs=0.06)
        assert penalties[name]["acted"]["mean"] == pytest.approx(with_rules, abs=0.06)
        assert f"{alone} %" in (readme := (folder / "README.md").read_text())
        assert f"{with_rules} %" in readme


def test_what_an_mpich_s_file_leaves_as_it_was_is_counted_alone(colltune: Run, tmp_path: Path) -> None:
    rules, results = tmp_path / "mine.json", tmp_path / "t.csv"
    rules.write_text(to_mpich(DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0)), base=OWN))
    results.write_text("collective,algorithm,comm_size,message_size,time\nbcast,binomial,4,8,1e-5\n", encoding="utf-8")
    told = colltune("lint", rules).out.splitlines()[1:]
    assert told == ["  bcast: 1 rule, 1 method", "  43 collectives as MPICH has them by itself", ALL_RIGHT]
    assert colltune("lint", rules, "--over", results).out.endswith(f"(1 cell)\n{ALL_RIGHT}\n")
    known = colltune("lint", rules, "--json").json["collectives"]
    assert [name for name, each in known.items() if not each["unchanged"]] == ["bcast"]
