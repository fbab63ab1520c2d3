"""Campaigns on a real Slurm over emulated nodes: every state with its reason, cancelling, arrays, nodes that fail."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard import cli
from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, read_json, write_json
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import processes
from dashboard.benchmarks.launchers import slurm as slurm_launcher
from dashboard.benchmarks.launchers.launch import end_of
from dashboard.benchmarks.launchers.slurm import SlurmLauncher
from dashboard.benchmarks.libraries.library import Installation
from loaders import open_results
from tests.cluster.conftest import NODES, Running, asked
from tests.cluster.scheduler import ENVIRONMENT, Slurm
from tests.conftest import until

Submitted = Callable[..., Running]
#: A campaign that does not end by itself while a test looks at it.
LONG = {"message_sizes": tuple(range(8, 4008, 8))}


def word_of(cluster: Slurm, job: str) -> str:
    """Slurm's own word for a job's state."""
    fields = cluster.ask("scontrol", "-o", "show", "job", job).split()
    return next((field.removeprefix("JobState=") for field in fields if field.startswith("JobState=")), "")


def test_submitted_it_runs_on_all_nodes_and_is_seen_within_two_seconds(slurm: Slurm, submitted: Submitted) -> None:
    first = submitted(ranks=NODES)
    job, seen, known = first.job(), {}, {}
    while "COMPLETED" not in known or "finished" not in seen:
        known.setdefault(word_of(slurm, job), time.monotonic())
        now = first.status()
        seen.setdefault(now["state"], time.monotonic())
        assert now["state"] in ("queued", "running", "finished"), (now, first.campaign.tail())
        # Each look starts processes.
        time.sleep(0.1)
    assert seen["running"] - known["RUNNING"] < 2
    assert seen["finished"] - known["COMPLETED"] < 2
    assert now["measured"] == now["points"] == 2
    assert now["exit_code"] == 0
    cube = open_results(first.campaign.result_files())["bcast"].to_dataset()
    assert cube["time"].notnull().all()
    assert json.loads(first.campaign.results.read_text(encoding="utf-8").splitlines()[0])["attrs"]["nodes"] == NODES


@pytest.mark.soak
def test_one_launch_for_each_method_is_one_job(slurm: Slurm, submitted: Submitted) -> None:
    apart = submitted(wish={"apart": True})
    assert apart.end()["state"] == "finished", (apart.status(), apart.campaign.tail())
    assert len(apart.status()["jobs"]) == 1
    results = [json.loads(line) for line in apart.campaign.results.read_text(encoding="utf-8").splitlines()]
    assert [record["attrs"]["nodes"] for record in results if "attrs" in record] == [2, 2]
    graphs = {record["algorithm"]: record["graph"]["digest"] for record in results if "graph" in record}
    assert set(graphs) == {"basic_linear", "binomial"}


@pytest.mark.soak
def test_two_campaigns_at_once_each_have_their_nodes(slurm: Slurm, submitted: Submitted) -> None:
    both = [submitted(name, extra=("--exclusive",)) for name in ("one", "two")]
    until(lambda: all(each.status()["state"] == "running" for each in both), lambda: [each.status() for each in both])
    places = {running.status()["jobs"][0]["nodes"] for running in both}
    assert places == {"node[01-02]", "node[03-04]"}
    for running in both:
        assert running.end()["state"] == "finished"
        assert running.campaign.done().all == set(running.campaign.plan().points())


@pytest.mark.slow
def test_a_job_that_must_wait_tells_slurms_reason_and_can_be_cancelled(slurm: Slurm, submitted: Submitted) -> None:
    waiting = submitted(partition="closed")
    now = until(lambda: (status := waiting.status())["reason"].endswith("(PartitionDown)") and status, waiting.status)
    assert (now["state"], now["reason"]) == ("queued", "the partition is down (PartitionDown)")
    with pytest.raises(CampaignError, match="queued already"):
        waiting.submit()
    assert control.cancel(waiting.campaign)["state"] == "cancelled"
    waiting.launcher = SlurmLauncher(asked(2), waiting.launcher.mpiexec)
    waiting.submit()
    assert waiting.end()["state"] == "finished"
    assert waiting.status()["attempt"] == 2


def test_what_slurm_refuses_is_said_in_its_words(slurm: Slurm, submitted: Submitted, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"Slurm refused the job: .*[Ii]nvalid partition"):
        submitted("refused", partition="nowhere")
    now = control.status(Campaign(tmp_path / "refused"))
    assert now["state"] == "failed"
    assert "invalid partition" in now["reason"]


def test_more_nodes_than_there_are_are_refused_before_anything_is_submitted(
    slurm: Slurm, submitted: Submitted, tmp_path: Path
) -> None:
    with pytest.raises(CampaignError, match=r"partition \w+ has 4 of the 9 nodes asked for"):
        submitted("many", ranks=9)
    assert Campaign(tmp_path / "many").state()["state"] == "planned"


def test_a_job_that_fails_tells_why(slurm: Slurm, installation: Installation, tmp_path: Path) -> None:
    failing = Running(tmp_path / "failing", installation, {})
    record = read_json(failing.campaign.plan_file)
    write_json(failing.campaign.plan_file, {**record, "library_version": "9.9.9"})
    failing.submit()
    now = failing.end()
    assert (now["state"], now["exit_code"]) == ("failed", 3)
    assert now["reason"].startswith("the plan was made for Open MPI 9.9.9")
    assert word_of(slurm, now["jobs"][0]["id"]) == "FAILED"


@pytest.mark.slow
def test_cancelled_no_process_is_left_after_five_seconds(slurm: Slurm, submitted: Submitted) -> None:
    running = submitted(wish=LONG, ranks=NODES)
    mark = running.campaign.state()["handle"]["mark"]
    running.measures()
    assert len(processes.marked(mark)) > NODES
    begin = time.monotonic()
    now = control.cancel(running.campaign)
    until(lambda: not processes.marked(mark))
    assert time.monotonic() - begin < 5
    (job,) = now["jobs"]
    assert (now["state"], now["reason"]) == ("cancelled", f"cancelled in Slurm (job {job['id']})")
    measured = set(running.campaign.done().measured)
    running.submit()
    until(lambda: set(running.campaign.done().measured) > measured, running.status)


@pytest.mark.soak
def test_a_time_limit_holds_to_the_second(slurm: Slurm, submitted: Submitted) -> None:
    # The worker would stop by itself before: it is held up, as by a network that hangs.
    late = submitted(wish=LONG, seconds=12.0)
    mark = late.campaign.state()["handle"]["mark"]
    late.measures()
    for pid in processes.marked(mark):
        os.kill(pid, signal.SIGSTOP)
    now = late.end()
    assert (now["state"], now["reason"]) == ("timed out", "ended at its time limit of 12 s")
    until(lambda: not processes.marked(mark))


@pytest.mark.slow
def test_the_command_submits_an_array_with_a_job_for_each_size(
    slurm: Slurm, installation: Installation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ["--comm-sizes", "2,3,4", "--message-sizes", "8,1KiB", "-c", "bcast", "--algorithms", "binomial"]
    plan += ["--segment-sizes", "0", "--repetitions", "2-3", "--nodes", "4", "--tasks-per-node", "1", "--array", "2"]
    # So few points are what each job of an adaptive campaign begins with.
    plan += ["--adaptive", "--budget", "1min"]
    variables = [word for name, value in ENVIRONMENT.items() for word in ("--env", f"{name}={value}")]
    assert cli.main(["bench", "submit", str(tmp_path), *plan, *variables, "--follow", "--json"]) == 0
    out, err = capsys.readouterr()
    now = json.loads(out)
    assert (now["state"], len(now["jobs"])) == ("finished", 3)
    assert now["measured"] == now["points"] == 6
    assert "submitted as job" in err
    assert f"{tmp_path}: running" in err
    campaign = Campaign(tmp_path)
    assert campaign.settled(campaign.plan().goal)
    cube = open_results(campaign.result_files())["bcast"].to_dataset()
    assert cube["comm_size"].values.tolist() == [2, 3, 4]
    assert cube["time"].notnull().all()
    assert cli.main(["bench", "resume", str(tmp_path)]) == 2
    assert "nothing is missing" in capsys.readouterr().err
    assert cli.main(["bench", "status", str(tmp_path), "--log", "3"]) == 0
    assert "parts/2/results.jsonl" in capsys.readouterr().out


@pytest.mark.soak
def test_what_slurm_has_forgotten_the_job_itself_has_written_down(own_cluster: Slurm, submitted: Submitted) -> None:
    done = submitted(wish={"message_sizes": tuple(range(8, 88, 8))})
    job, order = done.job(), Path(done.campaign.state()["handle"]["groups"][0]["tasks"][0]["order"])
    # Until then the controller is needed to start the ranks.
    done.measures()
    own_cluster.kill_controller()
    slurm_launcher._answers.clear()
    now = done.status()
    assert now["state"] == "finished" or "Slurm does not answer" in now["reason"]
    until(end_of(order).exists, done.campaign.tail)
    own_cluster.start_controller(forget=True)
    until(lambda: own_cluster.ask("sinfo", "-h"))
    assert word_of(own_cluster, job) == ""
    now = done.end()
    assert (now["state"], now["exit_code"]) == ("finished", 0)
    assert now["measured"] == now["points"]


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["power_off", "unplug"])
def test_a_node_or_a_link_that_dies_ends_in_a_failure(own_cluster: Slurm, submitted: Submitted, fault: str) -> None:
    running = submitted(wish=LONG)
    running.measures()
    getattr(own_cluster.network.nodes[1], fault)()
    now = running.end()
    assert now["state"] == "failed"
    assert "node" in now["reason"]
