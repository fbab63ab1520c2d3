"""Points for which a start has too few nodes, or too few processes on each."""

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.reach import Reach, reach_of, why_beyond
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import Launcher, Status
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from tests.bench.campaigns import record, write
from tests.cli.command import Run
from tests.measuring.played import LIBRARY, Played, start_all_by

HERE = Installation(Path("/nowhere/mpiexec"), LIBRARY)
PLAN = Plan(4, {"bcast": (Method("a"), Method("b"))}, (2, 4), (8,), ppns=(1, 2))
#: Communicator size and processes per node.
ALL = {(2, 1), (2, 2), (4, 1), (4, 2)}
PLACING = ("mpiexec", "-n", "{ranks}", "--map-by", "ppr:{ppn}:node")


@pytest.mark.parametrize(
    ("launcher", "lacking"),
    [
        (SlurmLauncher(Request(tasks_per_node=2)), {(4, 1)}),
        (SlurmLauncher(Request(nodes=4, tasks_per_node=1)), {(2, 2), (4, 2)}),
        (SlurmLauncher(Request(nodes=2)), {(4, 1)}),
        # How Slurm fills these is not known before.
        (SlurmLauncher(Request(nodes=4, tasks_per_node=2)), set()),
        (SlurmLauncher(), set()),
        (LocalLauncher(), {(2, 1), (4, 1), (4, 2)}),
        (LocalLauncher(PLACING, 2), {(4, 1)}),
        (LocalLauncher(("srun", "-n", "{ranks}"), 2), set()),
    ],
)
def test_what_nodes_and_processes_on_each_can_not_hold_is_known_before(
    launcher: Launcher, lacking: set[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.benchmarks.launchers.local.allocated_nodes", lambda: 1)
    beyond = reach_of(PLAN, launcher).beyond(PLAN)
    assert {(key[2], key[4]) for key in beyond} == lacking
    assert len(beyond) == 2 * len(lacking)


def test_what_a_start_found_counts_for_the_next_one_in_the_same_way(tmp_path: Path) -> None:
    campaign, launcher = Campaign.create(tmp_path, PLAN), SlurmLauncher(Request(nodes=4))
    write_json(campaign.progress_file, {"nodes": [3, 1], "ended": "complete"})
    write_json(campaign.state_file, {"launcher": launcher.record()})
    reach = reach_of(PLAN, launcher, campaign)
    assert {(key[2], key[4]) for key in reach.beyond(PLAN)} == {(4, 1), (4, 2)}
    needed = "4 points at 2 × 2, 4 × 1 (nodes × processes on each) cannot be measured on 2 nodes"
    assert why_beyond(reach.beyond(PLAN), reach) == f"{needed} with at most 3 processes on each"
    assert not reach_of(PLAN, SlurmLauncher(), campaign).filled


def test_what_is_beyond_says_what_it_needs() -> None:
    reach = Reach(2, 2)
    assert why_beyond(reach.beyond(PLAN), reach) == (
        "2 points at 4 × 1 (nodes × processes on each) cannot be measured on 2 nodes with at most 2 processes on each"
    )


def test_a_resume_that_could_measure_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, launcher = Campaign.create(tmp_path, PLAN), Played()
    start_all_by(monkeypatch, launcher)
    write(campaign.results, *(record(Method(name), 2, 8, 1e-6, ppn=2) for name in ("a", "b")))
    with pytest.raises(CampaignError, match="nothing that is missing can be measured so: 6 points at 2 × 1"):
        control.start(campaign, launcher, HERE, 100.0)
    assert launcher.jobs == []
    # What it has may be measured again all the same.
    monkeypatch.setattr(control, "doubts_of", lambda campaign: control.Doubtful(2, 1.0))
    assert control.start(campaign, launcher, HERE, 100.0, again=True)["attempt"] == 1
    wider = Campaign.create(tmp_path / "wider", replace(PLAN, ppns=()))
    launcher.launched = Status("running")
    assert control.start(wider, launcher, HERE, 100.0)["attempt"] == 1


def test_a_job_of_an_array_has_as_many_nodes_as_its_fewest_processes_on_each_take(tmp_path: Path) -> None:
    plan = replace(PLAN, ranks=16, comm_sizes=(2, 4, 8), ppns=(2, 4))
    campaign = Campaign.create(tmp_path, plan)
    launcher = SlurmLauncher(Request(nodes=4, tasks_per_node=4, array=1))
    parts = [campaign.part(index, launcher.ppn).plan() for index in range(3)]
    assert [launcher.nodes(part.ranks) for part in parts] == [1, 2, 4]
    assert {point for part in parts for point in part.points()} == set(plan.points())
    assert not any(reach_of(part, launcher).beyond(part) for part in parts)
    # Left to Slurm, how ranks are spread is not known before: all of them may be needed.
    assert [campaign.part(index).plan().ranks for index in range(3)] == [16, 16, 16]


def test_a_plan_and_a_submission_leave_out_what_cannot_be_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Run
) -> None:
    monkeypatch.setattr(library, "find", lambda: HERE)
    folder = str(tmp_path / "c")
    asked = ("-c", "bcast", "--ranks", "4", "--comm-sizes", "2,4", "--ppn", "1,2", "--message-sizes", "8")
    asked = (*asked, "--algorithms", "default,binomial", "--segment-sizes", "0", "--unchecked")
    left_out = "2 points at 4 × 1 (nodes × processes on each) cannot be measured on 2 nodes"
    out, err = done("bench", "plan", folder, "--launch", "slurm", *asked).both
    assert "6 points in 3 cells" in out
    assert left_out in err
    err = done("bench", "submit", folder, "--nodes", "2", "--tasks-per-node", "2", "--dry-run").err
    assert left_out in err
    assert "6 points, estimated" in err
