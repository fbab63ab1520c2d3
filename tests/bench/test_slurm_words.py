"""Slurm's words turned into ours, by what Slurm 22.05 printed, and the launcher when Slurm forgets or is silent."""

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import slurm_words as words
from dashboard.benchmarks.launchers.launch import Job, Status, end_of
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher, available
from dashboard.benchmarks.launchers.slurm_words import Told

# Printed by `scontrol -o show job`; fields that nothing is read of are left out.
QUEUED = (
    "JobId=4 JobName=s.sh UserId=root(0) JobState=PENDING Reason=Resources Dependency=(null) ExitCode=0:0 "
    "TimeLimit=01:00:00 Partition=debug AllocNode:Sid=head:0 NodeList= SchedNodeList=node[01-02] NumNodes=2-2"
)
DOWN = (
    "JobId=6 JobState=PENDING "
    "Reason=Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions NodeList="
)
ARRAY = (
    "JobId=1 ArrayJobId=1 ArrayTaskId=2-4%1 ArrayTaskThrottle=1 JobState=PENDING Reason=JobArrayTaskLimit NodeList=\n"
    "JobId=5 ArrayJobId=1 ArrayTaskId=0 ArrayTaskThrottle=1 JobState=RUNNING Reason=None ExitCode=0:0 NodeList=node01\n"
)
FAILED = "JobId=2 JobState=FAILED Reason=NonZeroExitCode ExitCode=7:0 TimeLimit=01:00:00 NodeList=node01"
KILLED = "JobId=3 JobState=FAILED Reason=JobLaunchFailure ExitCode=0:9 TimeLimit=01:00:00 NodeList=node01"
LOST = "JobId=1 JobState=NODE_FAIL Reason=NodeDown ExitCode=1:0 NodeList=node[01-02]"
LATE = "JobId=1 JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15 TimeLimit=00:01:00 NodeList=node[01-02]"
ENDING = "JobId=2 JobState=COMPLETING Reason=None ExitCode=0:0 NodeList=node01"
DONE = "JobId=2 JobState=COMPLETED Reason=None ExitCode=0:0 NodeList=node01"
FORGOTTEN = "slurm_load_jobs error: Invalid job id specified"
SILENT = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"

Says = Callable[..., None]


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Give ``says(name, out, err, code)``: a command of Slurm that prints this; the others are not there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def say(name: str, out: str = "", err: str = "", code: int = 0) -> None:
        for stream, text in (("out", out), ("err", err)):
            (folder / f"{name}.{stream}").write_text(text, encoding="utf-8")
        text = f"#!/bin/sh\n/bin/cat {folder}/{name}.out\n/bin/cat {folder}/{name}.err >&2\nexit {code}\n"
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)

    return say


def job_of(says: Says, text: str) -> Told:
    says("scontrol", text)
    answer = words.ask("1")
    assert isinstance(answer, dict)
    return answer[None]


@pytest.mark.parametrize(
    ("record", "state", "reason", "code"),
    [
        (QUEUED, "queued", "waits for free nodes (Resources)", None),
        (
            DOWN,
            "queued",
            "waits (Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority",
            None,
        ),
        (ENDING, "running", "is ending", None),
        (DONE, "finished", "", 0),
        (FAILED, "failed", "exit code 7", 7),
        (KILLED, "failed", "ended by signal 9 (JobLaunchFailure)", -9),
        (KILLED.replace("0:9", "0:53"), "failed", "Slurm could not begin its log: nodes must see the campaign's", -53),
        (LOST, "failed", "a node of the job failed (NODE_FAIL, node[01-02])", 1),
        (LATE, "timed out", "ended by Slurm at its time limit of 00:01:00 (TIMEOUT)", -15),
        (LATE.replace("TIMEOUT", "OUT_OF_MEMORY"), "failed", "the job ran out of memory (OUT_OF_MEMORY)", -15),
        (LATE.replace("TIMEOUT", "CANCELLED"), "cancelled", "cancelled in Slurm (job 1)", -15),
        (LATE.replace("TIMEOUT", "WORD_OF_TOMORROW"), "failed", "WORD_OF_TOMORROW", -15),
    ],
)
def test_a_state_with_its_reason(says: Says, record: str, state: str, reason: str, code: int | None) -> None:
    job = job_of(says, record)
    assert (job.state, job.code) == (state, code)
    assert job.reason.startswith(reason)


def test_jobs_of_an_array_are_told_apart(says: Says) -> None:
    says("scontrol", ARRAY)
    answer = words.ask("1")
    assert isinstance(answer, dict)
    assert {index: job.state for index, job in answer.items()} == {0: "running", 2: "queued", 3: "queued", 4: "queued"}
    assert answer[3] == Told(
        "1_3", "PENDING", "queued", "waits for other jobs of its array (JobArrayTaskLimit)", "", None
    )


def test_all_jobs_of_an_array_are_asked_for_however_many_numbers_there_are(says: Says, tmp_path: Path) -> None:
    says("scontrol")
    # As scontrol does by its manual: without the variable it cuts the list after 64 characters.
    listed = '$([ "$SLURM_BITSTR_LEN" = 0 ] && echo 1,3,5 || echo 1,...)'
    record = f"JobId=1 ArrayJobId=1 ArrayTaskId={listed} JobState=PENDING"
    (tmp_path / "bin" / "scontrol").write_text(f'#!/bin/sh\necho "{record}"\n', encoding="utf-8")
    assert list(words.ask("1")) == [1, 3, 5]


def test_that_an_array_was_cancelled_names_no_single_job(says: Says) -> None:
    says("scontrol", LATE.replace("TIMEOUT", "CANCELLED").replace("JobId=1", "JobId=63 ArrayJobId=62 ArrayTaskId=1"))
    answer = words.ask("62")
    assert isinstance(answer, dict)
    assert (answer[1].id, answer[1].reason) == ("62_1", "cancelled in Slurm")


@pytest.mark.parametrize(("error", "answer"), [(FORGOTTEN, "forgotten"), (SILENT, "no answer")])
def test_a_forgotten_job_is_not_a_silent_slurm(says: Says, error: str, answer: str) -> None:
    says("scontrol", err=error, code=1)
    assert words.ask("1") == answer


def test_partitions_and_their_limits(says: Says) -> None:
    says("sinfo", "debug*|up|2|4|1:00:00\nlong|down|100+|64+|2-12:00:00\nfree|up|1|8|infinite\n".replace("100+", "100"))
    fields = ("name", "default", "up", "cores", "seconds")
    assert [tuple(partition[field] for field in fields) for partition in words.partitions()] == [
        ("debug", True, True, 4, 3600),
        ("long", False, False, 64, 216000),
        ("free", False, True, 8, None),
    ]
    texts = {"30": 1800, "30:00": 1800, "1-0": 86400, "1-12": 129600, "1-12:30": 131400}
    assert {text: words.seconds_of(text) for text in texts} == texts


def test_more_nodes_than_a_partition_has_are_refused_before_the_job_would_wait_for_ever(
    says: Says, tmp_path: Path
) -> None:
    # Nodes of two kinds are two lines.
    says("sinfo", "debug*|up|2|4|1:00:00\ndebug*|up|2|8|1:00:00\nlong|up|9|64|infinite\n")
    job = Job(tmp_path, 9, ("program",), {}, 100.0, tmp_path / "log.txt")
    with pytest.raises(CampaignError, match="partition debug has 4 of the 9 nodes asked for"):
        SlurmLauncher(Request(nodes=9, tasks_per_node=1)).prepare([job])
    enough = [Request(nodes=9, tasks_per_node=1, partition=name) for name in ("debug,long", "unheard-of")]
    for fits in (*enough, Request(nodes=4)):
        SlurmLauncher(fits).prepare([job])


def launched(says: Says, folder: Path) -> tuple[SlurmLauncher, dict[str, object], Path]:
    """A job that was submitted as number 17, and the order of its supervisor."""
    launcher = SlurmLauncher(Request(nodes=2, tasks_per_node=1))
    handle = launcher.prepare([Job(folder, 2, ("program",), {}, 100.0, folder / "log.txt")])
    says("sbatch", "17\n")
    launcher.launch(handle)
    return launcher, json.loads(json.dumps(handle)), Path(handle["groups"][0]["tasks"][0]["order"])


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_FRESH_S", "_SILENT_S"):
        monkeypatch.setattr(f"dashboard.benchmarks.launchers.slurm.{name}", -1.0)


def test_a_silent_slurm_is_no_end_of_the_job(says: Says, tmp_path: Path) -> None:
    launcher, handle, order = launched(says, tmp_path)
    says("scontrol", err=SILENT, code=1)
    assert launcher.status(handle).state == "queued"
    order.with_name(f"{order.stem}-supervisor.json").write_text("{}", encoding="utf-8")
    assert launcher.status(handle).state == "running"
    end_of(order).write_text('{"state": "failed", "reason": "exit code 5", "exit_code": 5}', encoding="utf-8")
    now = launcher.status(handle)
    assert (now.state, now.reason, now.exit_code) == ("failed", "exit code 5", 5)
    # Nothing is settled before Slurm has spoken: it may know of a node that failed.
    says("scontrol", LOST.replace("JobId=1", "JobId=17"))
    assert "NODE_FAIL" in launcher.status(handle).reason


def test_of_a_forgotten_job_its_own_word_counts_or_the_accounts(says: Says, tmp_path: Path) -> None:
    launcher, handle, order = launched(says, tmp_path)
    says("scontrol", err=FORGOTTEN, code=1)
    says("sacct", "17|CANCELLED by 0|0:15|node[01-02]\n17.batch|CANCELLED|0:15|node01\n")
    assert launcher.status(handle).state == "cancelled"
    (tmp_path / "other").mkdir()
    launcher, handle, order = launched(says, tmp_path / "other")
    says("sacct", code=1)
    end_of(order).write_text('{"state": "finished", "reason": "", "exit_code": 0}', encoding="utf-8")
    assert launcher.status(handle).state == "finished"
    (tmp_path / "third").mkdir()
    launcher, handle, _ = launched(says, tmp_path / "third")
    now = launcher.status(handle)
    assert (now.state, "knows nothing of job 17" in now.reason) == ("failed", True)
    # It stays so, whatever Slurm says later of a job that got the same number.
    says("scontrol", DONE)
    assert launcher.status(handle).state == "failed"


def test_on_a_full_disk_it_is_said_all_the_same_how_a_job_ended(
    says: Says, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher, handle, order = launched(says, tmp_path)
    says("scontrol", FAILED.replace("JobId=2", "JobId=17"))

    def full(path: Path, _: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patched:
        patched.setattr("dashboard.benchmarks.launchers.slurm.write_json", full)
        now = launcher.status(handle)
    assert (now.state, now.reason) == ("failed", f"exit code 7; {order.parent}: No space left on device")
    # Once there is room it is kept, as of any other job.
    assert launcher.status(handle).reason == "exit code 7"
    says("scontrol", err=FORGOTTEN, code=1)
    assert launcher.status(handle).reason == "exit code 7"


def test_a_job_whose_submitter_was_killed_is_found_by_its_name(says: Says, tmp_path: Path) -> None:
    launcher, handle, _ = launched(says, tmp_path)
    Path(handle["groups"][0]["submitted"]).unlink()  # type: ignore[index]
    says("squeue")
    assert launcher.status(handle) == Status("queued", "is being submitted", None, launcher.status(handle).jobs)
    handle["prepared"] = time.time() - 3600
    says("squeue", err=SILENT, code=1)
    assert launcher.status(handle).state == "queued"
    with pytest.raises(CampaignError, match="cancel again"):
        launcher.cancel(handle)
    says("squeue", "17\n")
    says("scontrol", QUEUED)
    assert launcher.status(handle).jobs[0]["id"] == "17"


def test_a_job_that_was_never_submitted_has_failed(says: Says, tmp_path: Path) -> None:
    launcher, handle, _ = launched(says, tmp_path)
    Path(handle["groups"][0]["submitted"]).unlink()  # type: ignore[index]
    says("squeue")
    now = launcher.status({**handle, "prepared": time.time() - 3600})
    assert (now.state, now.reason) == ("failed", "what submitted the job was killed before it could")


def test_without_slurm_it_says_what_is_missing(says: Says, tmp_path: Path) -> None:
    assert "sbatch, scontrol" in available()
    launcher = SlurmLauncher()
    handle = launcher.prepare([Job(tmp_path, 2, ("program",), {}, 100.0, tmp_path / "log.txt")])
    with pytest.raises(CampaignError, match="sbatch is not on the PATH"):
        launcher.launch(handle)
    assert launcher.status(handle).state == "failed"
    for name in words.COMMANDS:
        says(name)
    assert available() == ""
    assert os.environ["PATH"].endswith("bin")
