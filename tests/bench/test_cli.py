"""``colltune bench`` without MPI: plans, their cost, and one clear line when something is missing."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.allowed import processors
from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.slurm import SlurmLauncher
from dashboard.benchmarks.launchers.slurm_script import Request
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from tests.bench.campaigns import prints, record, write
from tests.cli.command import Run, assert_one_clear_line
from tests.conftest import ROOT

OPEN_MPI = OpenMpi(
    "5.0.11",
    {"bcast": {1: "basic_linear", 3: "pipeline"}, "barrier": {1: "linear"}},
    {"coll_tuned_priority": 30, "coll_tuned_bcast_algorithm": 0, "coll_tuned_bcast_algorithm_segmentsize": 0},
)
PLAN = ("--ranks", "4", "-c", "bcast", "--comm-sizes", "2,4", "--message-sizes", "8-8KiB:x32")


@pytest.fixture(autouse=True)
def open_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    """An MPI as `find` would find it; nothing can be started with it."""
    monkeypatch.setattr(library, "find", lambda: Installation(Path("/nowhere/mpiexec"), OPEN_MPI))


@pytest.fixture
def one_line(colltune: Run) -> Any:
    """Give ``one_line(*arguments)``: the clear line of a command that ends with 2."""

    def run(*arguments: str) -> str:
        answer = colltune("bench", *arguments)
        assert_one_clear_line(answer)
        return answer.err.splitlines()[-1]

    return run


def test_a_plan_tells_what_it_costs(tmp_path: Path, done: Run) -> None:
    answer = done("bench", "plan", tmp_path / "c", *PLAN, "--segment-sizes", "0,1KiB", "--json").json
    assert answer["methods"] == {"bcast": 4}
    # Sizes 8, 256 and 8192 for two communicators; the segment of 1 KiB is measured at 8192 only.
    assert (answer["cells"], answer["points"]) == (6, 2 * (3 + 3 + 4))
    assert 0 < answer["seconds"] <= answer["at_most"]
    assert answer["core_hours"] == pytest.approx(answer["seconds"] * min(4, processors()) / 3600, abs=1e-3)
    now = done("bench", "status", tmp_path / "c", "--json").json
    assert (now["state"], now["points"], now["measured"]) == ("planned", answer["points"], 0)
    # Without 8 KiB nothing is cut.
    shorter = [*PLAN, "--segment-sizes", "0,1KiB", "--message-sizes", "8"]
    assert done("bench", "plan", tmp_path / "s", *shorter, "--json").json["methods"] == {"bcast": 3}


@pytest.mark.parametrize(
    ("command", "fault"),
    [("mpiexec -n {rank}", "'{rank}'; known are"), ("mpiexec --map-by ppr:{ppn}:node", "asks for {ppn}: say how many")],
)
def test_a_start_command_that_cannot_be_right_is_said_before_a_plan_is_written(
    tmp_path: Path, one_line: Any, command: str, fault: str
) -> None:
    assert fault in one_line("plan", str(tmp_path / "c"), *PLAN, "--launch", command)
    assert not (tmp_path / "c").exists()


def test_a_start_command_that_is_not_here_is_said_with_the_plan(tmp_path: Path, done: Run) -> None:
    assert (
        "note: there is no start command 'slrum' here"
        in done("bench", "plan", tmp_path / "c", *PLAN, "--launch", "slrum").err
    )


def test_the_algorithms_that_the_guide_names_beside_grids_are_there(tmp_path: Path, done: Run) -> None:
    guide = (ROOT / "dashboard/docs/guide/own_methods.md").read_text(encoding="utf-8")
    (words,) = re.findall(r"`(--provider all -c allgather --algorithms [^`]+)`", guide)
    done("bench", "plan", tmp_path, "--ranks", "4", *words.split())
    assert {method.algorithm for method in Campaign(tmp_path).plan().timed["allgather"]} == {
        "default",
        "ring",
        "gather_bcast",
        "orthogonal",
    }


def test_a_plan_is_told_as_text(tmp_path: Path, done: Run) -> None:
    sizes = ("--message-sizes", "8", "--memory", "8")
    out = done("bench", "plan", tmp_path, *PLAN[:4], "-c", "barrier", *sizes).out
    assert "4 ranks, Open MPI 5.0.11" in out
    assert "core-hours" in out
    assert "(the safety check comes on top)" in out
    assert "left out: 2 cells, buffers above the limit of 8 B" in out


def test_what_was_planned_is_never_replaced_in_silence(tmp_path: Path, one_line: Any, done: Run) -> None:
    folder = str(tmp_path)
    done("bench", "plan", folder, *PLAN)
    planned = Campaign(tmp_path).plan()
    for order in ("run", "submit"):
        fault = one_line(order, folder, "--rounds", "4")
        assert f"{folder} holds another plan than these options make: run that one without them" in fault
        assert f"colltune bench {order} {folder})" in fault
    assert Campaign(tmp_path).plan() == planned
    # The options that it was made of ask for the same.
    assert "held another plan" not in done("bench", "submit", folder, *PLAN, "--dry-run").err
    assert (
        f"note: {folder} held another plan, which this one replaces"
        in done("bench", "plan", folder, *PLAN, "--rounds", "4").err
    )
    assert Campaign(tmp_path).plan() != planned


def test_a_plan_of_which_points_are_there_is_told_by_them(tmp_path: Path, done: Run) -> None:
    folder = str(tmp_path / "c")
    assert "a guess that knows nothing of the network" in done("bench", "plan", folder, *PLAN).out
    campaign = Campaign(tmp_path / "c")
    points = list(campaign.plan().points())
    write(campaign.results, *(record(*key[1:4], 1e-6, seconds=30.0) for key in points[::2]))
    measured = len(points[::2])
    cost = f"about {(len(points) - measured) // 2} min (by the {measured} points measured)"
    assert cost in done("bench", "plan", folder, *PLAN).out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--ranks", "1"), "expected a whole number from 2"),
        (("--ranks", "4", "--comm-sizes", "8"), "2 to 4"),
        (("-c", "bkast"), "expected some of"),
        (("--algorithms", "binomail"), "basic_linear"),
        (("--message-sizes", "8-4"), "below its start"),
        (("--protocol", "osu"), "skampi, occ"),
        (("--datatype", "half"), "float32"),
        (("--ranks", "x"), "expected a whole number"),
        (("--wish", "x"), "unrecognized arguments: --wish x (see"),
        (("-c", "bcast", "reduce"), "unrecognized arguments: reduce; several by commas: -c NAME,reduce (see"),
        (("-c", "bcast", "--memory", "0"), "nothing would be measured: buffers above the limit"),
        (("--ranks", "2", "--provider", "orthogonal"), "communicators of 2 processes have no grids"),
    ],
)
def test_a_wrong_plan_is_one_clear_line(tmp_path: Path, one_line: Any, arguments: tuple[str, ...], fault: str) -> None:
    assert fault in one_line("plan", str(tmp_path / "c"), *arguments)
    assert not (tmp_path / "c").exists()


def test_a_run_that_cannot_start_ends_with_the_reason(tmp_path: Path, colltune: Run, done: Run) -> None:
    answer = colltune("bench", "run", tmp_path, *PLAN)
    assert answer.status == 2
    assert "time limit 2 min" in answer.err
    assert "/nowhere/mpiexec cannot be run" in answer.err
    assert "holds no plan" not in answer.err
    assert "failed" in done("bench", "cancel", tmp_path).out
    answer = colltune("bench", "run", tmp_path / "none")
    assert answer.status == 2
    note, cost = answer.err.splitlines()[:2]
    assert "none holds no plan and no option says what to measure" in note
    assert "points, estimated about" in cost


def test_orders_that_do_not_fit_the_folder(tmp_path: Path, one_line: Any, done: Run) -> None:
    for order in ("status", "cancel", "resume"):
        assert "bench plan" in one_line(order, str(tmp_path / "none"))
    done("bench", "plan", tmp_path, *PLAN)
    # What never ran may be planned anew.
    done("bench", "plan", tmp_path, *PLAN, "--seed", "2")
    assert "never started" in one_line("cancel", str(tmp_path))
    assert "above 0" in one_line("resume", str(tmp_path), "--time-limit", "0")


def test_an_adaptive_plan_ends_at_its_goal(tmp_path: Path, one_line: Any, colltune: Run, done: Run) -> None:
    folder = tmp_path / "c"
    words = ("bench", "plan", str(folder), *PLAN)
    done(*words, "--adaptive", "--budget", "2min", "--until", "1.5")
    plan = Campaign(folder).plan()
    assert (plan.goal, plan.protocol.race) == (Goal(120.0, 1.5), True)
    chosen = {"goal": {"seconds": 120.0, "percent": 1.5}, "loss": {"bcast": 1.25}, "spent": 9.0, "ended": "enough"}
    (folder / "chosen.json").write_text(json.dumps(chosen))
    (folder / "results.jsonl").touch()
    assert "bcast 1.25 % after 9 s of measuring; ended: enough" in done("bench", "status", folder).out
    assert "nothing is missing" in one_line("run", str(folder))
    # What is given alone is another end of the same plan; without a budget it keeps its own.
    done("bench", "plan", folder, "--budget", "1h")
    assert Campaign(folder).plan() == replace(plan, goal=Goal(3600.0, 1.5))
    answer = colltune("bench", "run", folder, "--until", "1")
    assert (answer.status, "/nowhere/mpiexec cannot be run" in answer.err) == (2, True)
    assert Campaign(folder).plan() == replace(plan, goal=Goal(3600.0, 1.0))
    assert "needs an end" in one_line("plan", str(tmp_path / "d"), *PLAN, "--adaptive")
    assert "go with --adaptive" in one_line("plan", str(tmp_path / "d"), *PLAN, "--budget", "2min")
    assert "one launch" in one_line("plan", str(tmp_path / "d"), *PLAN, "--adaptive", "--until", "1", "--launches", "2")
    calls = tmp_path / "calls.csv"
    calls.write_text("collective,comm_size,message_size,calls\nbcast,2,70,3\nscan,2,64,1\n")
    weighed = ("--weights", str(calls))
    err = done("bench", "plan", tmp_path / "w", *PLAN, "--adaptive", "--until", "1", *weighed).err
    assert "workload of 3 calls: 0 at sizes of the plan, the others at the nearest" in err
    goal = Campaign(tmp_path / "w").plan().goal
    assert goal is not None
    (call,) = goal.calls
    assert (call[0], call[1], call[3]) == ("bcast", 2, 3.0)
    assert call[2] in Campaign(tmp_path / "w").plan().message_sizes
    assert "goes with --adaptive" in one_line("plan", str(tmp_path / "d"), *PLAN, *weighed)


def test_without_mpi_it_says_what_to_install(tmp_path: Path, one_line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Here `find` itself is asked.
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "pip install -c .ci/constraints.txt '.[mpi]'" in one_line("plan", str(tmp_path / "c"), *PLAN)
    (tmp_path / "mpiexec").touch(mode=0o755)
    monkeypatch.setattr(library.importlib.util, "find_spec", lambda name: None)
    assert "pip install mpi4py" in one_line("plan", str(tmp_path / "c"), *PLAN)


@pytest.mark.parametrize(
    ("printed", "name", "version"),
    [
        ("HYDRA build details:\n    Version:           5.0.2\n", "MPICH", "5.0.2"),
        ("Some MPI, version 3.1", "Some MPI, version 3.1", "3.1"),
    ],
)
def test_a_library_that_is_not_known_is_measured_as_it_decides(
    tmp_path: Path, printed: str, name: str, version: str
) -> None:
    mpi = library.library_of(prints(tmp_path / "mpiexec", f"{printed}\n"))
    assert isinstance(mpi, Fixed)
    assert (mpi.name, mpi.version) == (name, version)
    assert "own decision" in mpi.why


def test_what_would_be_submitted_is_shown(tmp_path: Path, done: Run) -> None:
    words = "--nodes 4 --tasks-per-node 1 --partition debug --env UCX_TLS=rc --time-limit 1:30"
    asked = words.split()
    out, err = done("bench", "submit", tmp_path / "c", *PLAN, *asked, "--dry-run").both
    assert out.startswith("#!/bin/bash\n#SBATCH --job-name=colltune-0\n#SBATCH --partition=debug\n#SBATCH --nodes=4\n")
    assert "#SBATCH --time=2\n" in out
    assert "/nowhere/mpiexec -n 4 " in out
    assert "at most what the time limit allows; " in err
    assert "time limit 90 s" in err
    assert "warning" not in err
    assert (
        "warning: the time limit of 1 s is shorter than the estimate: "
        in done("bench", "submit", tmp_path / "c", *PLAN, *asked[:-1], "1", "--dry-run").err
    )
    assert str(tmp_path / "c" / "log.txt") in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "ranks", "said"),
    [
        ("--nodes 2 --tasks-per-node 3", 6, False),
        ("--tasks-per-node 5", 5, False),
        ("--nodes 3", 3, False),
        ("--nodes 1", 7, True),
        ("", 7, True),
        ("--ranks 4", 4, False),
    ],
)
def test_ranks_of_a_cluster_are_those_that_are_asked_of_slurm_and_where_none_are_it_is_said(
    tmp_path: Path, done: Run, monkeypatch: pytest.MonkeyPatch, asked: str, ranks: int, said: bool
) -> None:
    monkeypatch.setattr("dashboard.commands.bench.command.default_ranks", lambda: 7)
    out, err = done("bench", "submit", tmp_path / "c", "-c", "bcast", *asked.split(), "--dry-run").both
    assert f"#SBATCH --ntasks={ranks}\n" in out
    assert ("note: 7 ranks, as would be started here" in err) == said


@pytest.mark.parametrize("nodes", ["1", "4"])
def test_of_a_node_that_is_not_this_machine_nothing_is_asked_that_this_one_would_need(
    tmp_path: Path, done: Run, nodes: str
) -> None:
    asked = ("--nodes", nodes, "--tasks-per-node", str(4 // int(nodes)), "--dry-run")
    out = done("bench", "submit", tmp_path / "c", *PLAN, *asked).out
    assert "export OMPI_ALLOW_RUN_AS_ROOT=1\n" in out
    assert not [line for line in out.splitlines() if "rmaps" in line or "_btl" in line or "_pml=" in line]


def test_of_a_plan_of_which_nothing_is_missing_the_results_come_next(tmp_path: Path, done: Run) -> None:
    words = ["bench", "plan", str(tmp_path / "c"), *PLAN]
    assert f"next: colltune bench run {tmp_path / 'c'}" in done(*words).err
    campaign = Campaign(tmp_path / "c")
    write(campaign.results, *(record(*key[1:4], 1e-6, seconds=1.0) for key in campaign.plan().points()))
    out, err = done(*words).both
    assert ": nothing is missing, 4 ranks" in out
    assert f"next: colltune info {campaign.results}" in err


def test_what_was_submitted_before_is_kept_but_for_what_is_given(tmp_path: Path, done: Run) -> None:
    folder = tmp_path / "c"
    done("bench", "plan", folder, *PLAN)
    request = Request(nodes=2, tasks_per_node=2, partition="closed", extra=("--exclusive",))
    launcher = SlurmLauncher(request, "/nowhere/mpiexec")
    write_json(folder / "state.json", {"launcher": launcher.record()})
    out, err = done("bench", "submit", folder, "--partition", "debug", "--dry-run").both
    for line in ("--partition=debug", "--nodes=2", "--ntasks-per-node=2", "--exclusive"):
        assert f"#SBATCH {line}\n" in out
    assert "placed otherwise" not in err
    other = ["bench", "submit", str(folder), "--nodes", "1", "--tasks-per-node", "4", "--dry-run"]
    assert "placed otherwise" not in done(*other).err
    write(folder / "results.jsonl")
    assert "--nodes is 1, was 2: what is measured from now on is placed otherwise" in done(*other).err


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_of_what_is_refused_or_only_shown_nothing_stays_but_what_was_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, colltune: Run, dry: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = tmp_path / "c"
    status = 0 if dry else 2
    for further in ((), ("--rounds", "4")):
        assert colltune("bench", "submit", folder, *PLAN, *further, *dry).status == status
        assert not folder.exists()
    assert colltune("bench", "plan", folder, *PLAN).status == 0
    answer = colltune("bench", "submit", folder, *dry)
    assert (answer.status, "no Slurm here" in answer.err) == (status, not dry)
    assert [path.name for path in folder.iterdir()] == ["plan.json"]


def test_a_campaign_that_cannot_be_launched_goes_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_line: Any, done: Run
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CampaignError("Slurm refused the job: invalid partition")

    monkeypatch.setattr(control, "start", refuse)
    planned = tmp_path / "planned"
    done("bench", "plan", planned, *PLAN)
    for folder in (planned, tmp_path / "new"):
        assert "invalid partition" in one_line("run", str(folder), *PLAN)
    assert list(tmp_path.iterdir()) == [planned]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--partition", "a b"), "partition 'a b'"),
        (("--env", "LD_PRELOAD=x"), "variable 'LD_PRELOAD'"),
        (("--env", "UCX_TLS"), "NAME=value"),
        (("--env", "UCX_TLS=tcp", "--env", "UCX_TLS=ib"), "UCX_TLS is given twice"),
        (("--sbatch=--wrap=id",), "not allowed"),
        (("--nodes", "1", "--tasks-per-node", "2", "--dry-run"), "at least 2 nodes"),
        ((), "no Slurm here"),
    ],
)
def test_a_wrong_submission_is_one_clear_line(
    tmp_path: Path, one_line: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert message in one_line("submit", str(tmp_path / "c"), *PLAN, *arguments)
