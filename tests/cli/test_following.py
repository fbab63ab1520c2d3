"""What comes next: one line that can be typed as it stands, and leads from files to a proof."""

import argparse
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.launchers import site
from dashboard.benchmarks.launchers.slurm_script import Request
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed, Method
from dashboard.commands.following import _after_bench as after_bench
from dashboard.commands.following import say_following
from dashboard.commands.options import parse
from loaders import RunWriter, save_results
from tests.cli.command import Run, following
from tests.conftest import FAST_ETHERNET, FAST_ETHERNET_PATTERN
from tests.cubes import cube_of, opposed_cubes
from tests.files import run_file

Next = Callable[..., list[str]]


@pytest.fixture
def after(done: Run) -> Next:
    """Run the command to its success; what it says that comes next."""
    return lambda *words: following(done(*words).err)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Next:
    """What is said to come after a command of these arguments, which is not run."""

    def said(args: argparse.Namespace) -> list[str]:
        say_following(args)
        return following(capsys.readouterr().err)

    return said


@pytest.mark.slow
def test_each_line_that_is_said_can_be_typed_until_the_rules_are_linted(
    bcast_files: Sequence[Path], tmp_path: Path, after: Next, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [str(file) for file in bcast_files if "__seg0" in file.name]
    words, gone = ["info", *files, "--pattern", FAST_ETHERNET_PATTERN], []
    while words[0] != "prove":
        gone.append(words[0])
        words = after(*words)
    assert gone == ["info", "map", "decide", "export", "lint"]
    assert words == ["prove", "bcast.conf"]


def test_many_files_are_named_by_what_a_shell_makes_of_a_wildcard(
    bcast_files: Sequence[Path], tmp_path: Path, done: Run
) -> None:
    folder = tmp_path / "my files"
    folder.mkdir()
    files = [Path(shutil.copy(file, folder)) for file in bcast_files]
    reading = ["--pattern", FAST_ETHERNET_PATTERN]
    said = done("info", *files, *reading).err
    assert f"'{folder}/bcast__'*" in said
    assert sorted(following(said)[1 : 1 + len(files)]) == sorted(map(str, files))
    # No wildcard stands for all but one of them.
    assert following(done("info", *files[:-1], *reading).err)[1 : len(files)] == list(map(str, files[:-1]))


def test_a_program_that_reads_the_answer_is_told_nothing_more(colltune: Run, bcast_files: Sequence[Path]) -> None:
    assert "next:" not in colltune("map", *bcast_files, "--json").err


def test_the_tree_that_was_shown_is_the_one_that_is_exported(results: Path, after: Next) -> None:
    said = after("decide", results, "-c", "reduce", "--max-depth", 2, "--tolerance", 5)
    assert said[:4] == ["export", str(results), "-c", "reduce"]
    assert "--tree quadtree --max-depth 2 --tolerance 5" in " ".join(said)


def test_the_file_is_judged_over_results_that_do_not_say_their_collective(tmp_path: Path, after: Next) -> None:
    table = tmp_path / "times.csv"
    sizes = [(comm_size, message_size) for comm_size in (4, 8) for message_size in (8, 512)]
    rows = [("linear", *size, 1e-6 * size[1]) for size in sizes] + [("binomial", *size, 6e-5) for size in sizes]
    lines = ["algorithm,comm_size,message_size,time", *(",".join(map(str, row)) for row in rows)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    how = ["-c", "bcast", "--tree", "exact", "--to", "openmpi", "-o", tmp_path / "o.conf"]
    words = after("export", table, *how, "--allow-loss", 1000)
    assert words[-2:] == ["-c", "bcast"]
    after(*words)


def test_rules_of_tuned_and_han_s_beside_them_are_looked_at_as_one_decision(
    tmp_path: Path, after: Next, told: Next
) -> None:
    tuned, han = tmp_path / "nodes.conf", tmp_path / "nodes-han.conf"
    han.write_text("1\n7\n1\n2\n1\n1\n1\n0 tuned\n", encoding="utf-8")
    assert after("lint", han) == []
    tuned.write_text("1\n7\n1\n2\n1\n0 6 0 0\n", encoding="utf-8")
    both = ["lint", str(tuned), "--han", str(han)]
    for file in (tuned, han):
        assert after("lint", file) == both
    assert after(*both) == ["prove", *both[1:]]
    # Proven alone, as on one node, what comes next is for both.
    assert told(parse(["prove", str(tuned)])) == ["tune-check", *both[1:]]


@pytest.mark.parametrize(
    ("library", "written"),
    [
        ("MPICH", ["mpich", "-o", "bcast.json"]),
        ("Intel MPI", ["intel", "-o", "bcast.sh"]),
        ("NCCL", ["nccl", "-o", "bcast.conf"]),
        ("Open MPI", ["openmpi", "-o", "bcast.conf"]),
    ],
)
def test_what_was_decided_is_exported_for_the_library_that_was_measured(
    library: str, written: list[str], tmp_path: Path, after: Next
) -> None:
    table = tmp_path / "times.csv"
    rows = [f"bcast,{name},4,{size},{time},{library}" for name, time in (("a", 1e-6), ("b", 2e-6)) for size in (1, 64)]
    table.write_text("\n".join(["collective,algorithm,comm_size,message_size,time,library", *rows]))
    decide = ("decide", table, "-c", "bcast", "--tree", "exact")
    assert after(*decide)[-3:] == written
    # Of a single method there is nothing to choose.
    table.write_text("\n".join(["collective,algorithm,comm_size,message_size,time,library", *rows[:2]]))
    assert after(*decide) == []


def test_what_was_decided_across_nodes_is_exported_with_the_rules_of_han(
    tmp_path: Path, after: Next, colltune: Run
) -> None:
    run = tmp_path / "results.jsonl"
    with RunWriter(run, {"library": "Open MPI", "library_version": "5.0.11", "nodes": 4}) as writer:
        for name, time in (("default", 3e-6), ("han", 2e-6), ("binomial", 1e-6)):
            point = {"collective": "bcast", "algorithm": name, "comm_size": 8, "message_size": 64, "ppn": 2}
            writer.append({**point, "component": "tuned" if name == "binomial" else "han", "samples": [time]})
    *words, to, _, file = after("decide", run, "-c", "bcast", "--tree", "exact")
    assert (to, file) == ("openmpi-nodes", "bcast.conf")
    both = colltune(*words, to, "-o", tmp_path / file)
    assert (both.status, (tmp_path / "bcast-han.conf").exists()) == (0, True)
    assert "HAN answers before" not in both.err
    alone = colltune(*words, "openmpi", "-o", tmp_path / file)
    assert "HAN answers before these rules, which act where it is switched off" in alone.err


def test_own_methods_are_exported_as_a_library_to_preload(tmp_path: Path, after: Next) -> None:
    point = {"collective": "bcast", "comm_size": 4, "message_size": 64}
    own = {**point, "algorithm": "binomial", "parameters": {"provider": "own"}, "samples": [1e-6]}
    chain = {**point, "algorithm": "chain", "samples": [2e-6]}
    run = run_file(tmp_path / "results.jsonl", own, chain, library="Open MPI")
    assert after("decide", run, "-c", "bcast", "--tree", "exact")[-3:] == ["preload", "-o", "bcast.c"]


def test_after_a_ping_pong_there_is_nothing_to_export(fast_ethernet_files: Sequence[Path], after: Next) -> None:
    files = [file for file in fast_ethernet_files if "pt2pt" in file.name]
    assert after("decide", *files, "--pattern", FAST_ETHERNET_PATTERN, "--tree", "exact") == []


def test_after_measuring_parameters_comes_what_the_models_make_of_them() -> None:
    # It has no folder, unlike the other orders of `bench`.
    args = argparse.Namespace(command="bench", order="parameters", output="net.csv", modelled=True)
    assert after_bench(args) == ["model", "parameters", "net.csv", "-o", "net.json"]


def test_what_is_refined_is_measured_as_its_campaign_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UCX_TLS", "rc")
    file = tmp_path / "site.toml"
    file.write_text('launch = "mpiexec --hostfile hosts"\n[environment]\nUCX_TLS = "rc"\n[slurm]\naccount = "us"\n')
    said, installation = site.read(file), Installation(Path("mpiexec"), Fixed("MPICH", "4.2.3", "fixed"))
    campaign = Campaign.create(tmp_path / "old", Plan(4, {"bcast": (Method("a"),)}, (2, 4), (8,)))
    args = argparse.Namespace(command="bench", order="refine", planned=True, output="new", paths=[])
    assert after_bench(args) == ["bench", "run", "new"]
    args.paths = [str(campaign.part(0).results)]
    assert after_bench(args) == ["bench", "run", "new"]
    array = said.request(array=1, modules=("ompi/5",), environment={"UCX_TLS": "tcp"})
    commands = [
        (
            said.launcher(installation, request=array),
            ["submit", "new", "--site", str(file), "--module=ompi/5", "--env=UCX_TLS=tcp", "--array", "1"],
        ),
        (said.launcher(installation), ["run", "new", "--site", str(file)]),
        (replace(said, launch="here").launcher(installation), ["run", "new", "--site", str(file), "--launch", "here"]),
        (site.Site(launch="srun -n {ranks}").launcher(installation), ["run", "new", "--launch", "srun -n '{ranks}'"]),
    ]
    for launcher, words in commands:
        write_json(campaign.state_file, {"launcher": launcher.record()})
        assert after_bench(args) == ["bench", *words]
    # Of one process per node twice as many nodes are needed.
    on_nodes = said.request(nodes=2, tasks_per_node=2, partition="debug")
    write_json(campaign.state_file, {"launcher": said.launcher(installation, request=on_nodes).record()})
    args.planned_ppn = 1
    placed = ["--site", str(file), "--partition", "debug", "--tasks-per-node", "1"]
    assert after_bench(args) == ["bench", "submit", "new", *placed]


def test_a_job_that_will_not_start_is_cancelled_and_asked_for_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now: dict[str, object] = {"state": "queued", "measured": 0, "refused": 0, "points": 2}
    now["reason"] = "a longer time limit than the partition allows: it will not start (PartitionTimeLimit)"
    args = argparse.Namespace(command="bench", order="status", folder=str(tmp_path), ended=now)
    say_following(args)
    said = capsys.readouterr().err
    assert following(said) == ["bench", "cancel", str(tmp_path)]
    assert f"(and then: colltune bench submit {tmp_path}\n" in said
    assert "--time-limit" in said
    args.ended = {**now, "reason": "waits for free nodes (Resources)"}
    say_following(args)
    assert capsys.readouterr().err == ""


def test_what_was_planned_alone_is_run(tmp_path: Path, after: Next) -> None:
    Campaign.create(tmp_path, Plan(2, {"bcast": (Method("a"),)}, (2,), (8,)))
    assert after("bench", "status", tmp_path) == ["bench", "run", str(tmp_path)]


@pytest.mark.parametrize("jobs", [2, 12])
def test_after_an_array_the_results_of_all_its_jobs_are_looked_at(
    tmp_path: Path, jobs: int, told: Next, done: Run
) -> None:
    campaign = Campaign.create(tmp_path, Plan(16, {"bcast": (Method("a"),)}, tuple(range(2, 2 + jobs)), (8,)))
    for number, size in enumerate(campaign.plan().comm_sizes):
        point = {"collective": "bcast", "algorithm": "a", "segment_size": 0, "comm_size": size, "message_size": 8}
        run_file(campaign.part(number).results, {**point, "samples": [1e-6]})
    # Of an adaptive campaign not all points of its plan are measured.
    ended = {"state": "finished", "reason": "", "measured": jobs, "refused": 0, "points": 20}
    for order in ("submit", "status"):
        words = told(argparse.Namespace(command="bench", order=order, folder=str(tmp_path), ended=ended))
        assert sorted(words[1:]) == sorted(map(str, campaign.result_files()))
    done(*words, "--json")


def test_a_check_of_methods_leads_into_no_folder_that_may_hold_another_tuning(told: Next) -> None:
    assert told(parse(["check-methods", "-c", "reduce", "--algorithm", "chain"])) == []


def test_rules_are_proven_and_checked_with_the_ranks_that_were_asked_for(told: Next) -> None:
    how = ["--ranks", "4", "--site", "site.toml", "--ppn", "2"]
    words = ["tune-check", "bcast.conf", *how, "--folder", "checked"]
    for given in ([*words, "--drop-slower", "-o", "kept.conf"], words):
        said = told(argparse.Namespace(**vars(parse(given)), slower=1))
        assert all(word in said for word in how)
        parse(said)
    # Where nothing is slower there is nothing to drop.
    assert told(argparse.Namespace(**vars(parse(words)), slower=0)) == []
    assert told(parse(["prove", "kept.conf", *how])) == ["tune-check", "kept.conf", *how]


def test_of_a_table_of_times_models_predict_by_the_lines_that_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run, after: Next
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(FAST_ETHERNET / "pointtopoint.csv", "net.csv")
    predict = ["model", "predict", "-c", "bcast", "--algorithm", "linear", "--model", "hockney", "--comm-size", "4"]
    remedy = refused(*predict, "--message-size", 8, "--parameters", "net.csv").err.strip().rpartition("colltune ")[2]
    assert remedy == "model parameters net.csv -o net.json"
    words = after(*remedy.split())
    assert words[:2] == ["model", "predict"]
    after(*words)


def test_what_a_decision_is_judged_by_is_said_again(results: Path, tmp_path: Path, after: Next) -> None:
    calls, rules = tmp_path / "calls.csv", tmp_path / "bcast.conf"
    calls.write_text("collective,comm_size,message_size,calls\nbcast,2,8,1\n")
    judged = ["--without-outliers", "--keep-doubtful", "--weights", str(calls)]
    words = ["-c", "bcast", "--tree", "exact", *judged, "--to", "openmpi", "-o", rules, "--allow-loss", 1000]
    said = after("export", results, *words)
    assert said == ["lint", str(rules), "--over", str(results), "-c", "bcast", *judged]


def test_one_tree_for_several_collectives_is_exported_as_one(results: Path, after: Next) -> None:
    said = after("decide", results, "-c", "bcast", "-c", "reduce", "--combined", "--tree", "cart")
    assert said[2:6] == ["-c", "bcast,reduce", "--combined", "--tree"]


def test_the_processes_per_node_are_said_again(tmp_path: Path, after: Next) -> None:
    results = tmp_path / "results.nc"
    time = np.random.default_rng(1).uniform(1, 2, (2, 3, 3, 2))
    save_results(xr.DataTree.from_dict({"/bcast": cube_of(time, [2, 4, 8], [8, 64, 512])}), results)
    for words in (["map"], ["decide", "--tree", "exact"]):
        assert "--ppn 2" in " ".join(after(words[0], results, "--ppn", 2, *words[1:]))


def test_processes_per_node_that_the_files_do_not_tell_are_said_again(results: Path, after: Next) -> None:
    words = after("info", results, "--ppn", 2)
    assert words[0] == "map"
    assert after(*words)[-2:] == ["--ppn", "2"]


def test_rules_are_judged_at_the_processes_per_node_that_they_were_written_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: Next, done: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    save_results(xr.DataTree.from_dict(opposed_cubes()), Path("results.nc"))
    words = ["-c", "bcast", "--ppn", "all", "--tree", "cart", "--allow-loss", "1000"]
    ucc = ["--name", "linear=knomial", "--name", "binomial=sag_knomial"]
    intel = ["--name", "linear=binomial", "--name", "binomial=ring"]
    for target, further in {"openmpi": [], "mpich": ["--base", "5.0"], "ucc": ucc, "intel": intel}.items():
        judged = after("export", "results.nc", *words, "--to", target, "-o", target, *further)
        assert judged == ["lint", target, "--over", "results.nc", "-c", "bcast", "--ppn", "2"]
        assert done(*judged, "--json").json["penalty"]


@pytest.mark.parametrize("order", [["map"], ["compare", "--trees", "exact"], ["frontier", "--family", "exact"]])
def test_what_was_made_of_the_measurements_is_said_again(results: Path, order: list[str], after: Next) -> None:
    treated = ["--tolerance", "5", "--statistical", "0.05", "--without", "linear"]
    said = after(order[0], results, "-c", "bcast", *order[1:], *treated)
    assert said == ["decide", str(results), "-c", "bcast", *treated]


def test_trees_of_models_are_exported_with_their_parameters(bcast_files: Sequence[Path], after: Next) -> None:
    files = [file for file in bcast_files if "binomial" in file.name]
    words = ["--tree", "model", "--model", "hockney", "--parameters", "grig-tcp"]
    said = after("decide", *files, "--pattern", FAST_ETHERNET_PATTERN, "-c", "bcast", *words)
    assert " ".join(words) in " ".join(said)


def test_a_job_of_slurm_that_failed_may_be_asked_for_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign.create(tmp_path, Plan(4, {"bcast": (Method("a"),)}, (2, 4), (8,)))
    launcher = site.Site().launcher(Installation(Path("mpiexec"), Fixed("MPICH", "4.2.3", "fixed")), request=Request())
    counts = {"measured": 0, "refused": 0, "points": 2}
    for state, of_slurm, otherwise in (("failed", True, True), ("cancelled", True, False), ("failed", False, False)):
        write_json(campaign.state_file, {"launcher": launcher.record()} if of_slurm else {})
        ended = {"state": state, "reason": "", **counts}
        say_following(argparse.Namespace(command="bench", order="status", folder=str(tmp_path), ended=ended))
        err = capsys.readouterr().err
        assert f"next: colltune bench resume {tmp_path}\n" in err
        assert (f"colltune bench submit {tmp_path}\n" in err) == otherwise
    # What Slurm did not take it would not take again.
    ended = {"state": "failed", "reason": "Slurm refused the job: invalid partition", **counts}
    say_following(argparse.Namespace(command="bench", order="status", folder=str(tmp_path), ended=ended))
    err = capsys.readouterr().err
    assert f"next: colltune bench submit {tmp_path}\n" in err
    assert "with other options" in err
    assert "resume" not in err
