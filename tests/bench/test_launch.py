"""Jobs on this machine: how they end, and that nothing of them stays. The start command is played by a script."""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns.campaign import read_json
from dashboard.benchmarks.errors import CampaignError, NotLaunchedError
from dashboard.benchmarks.launchers import launch as launch_module
from dashboard.benchmarks.launchers import processes, supervise
from dashboard.benchmarks.launchers.launch import CANNOT_SWITCH, Job, Start, Status, finish_job, start_job
from dashboard.benchmarks.launchers.local import LocalLauncher
from tests.conftest import until
from tests.measuring.played import Played

FAKE = (sys.executable, str(Path(__file__).with_name("fake_mpiexec.py")))
RANKS = 3


@dataclass
class Launched:
    """A job that was started, and where its ranks tell their ids."""

    launcher: LocalLauncher
    handle: dict[str, Any]
    folder: Path

    def ranks(self) -> list[int]:
        return [int(path.name.removeprefix("rank-")) for path in self.folder.glob("rank-*")]

    def running(self) -> list[int]:
        return [pid for pid in self.ranks() if processes.started_at(pid) is not None]

    def end(self) -> Status:
        return until(lambda: (now := self.launcher.status(self.handle)).state != "running" and now)


def started(launcher: LocalLauncher, job: Job) -> Launched:
    return Launched(launcher, start_job(launcher, job), job.folder)


def job_in(folder: Path, *program: str, **further: Any) -> Job:
    """A job of so many ranks that tell their ids in a folder, with a minute for them."""
    return Job(folder, RANKS, (*program, str(folder)), {}, 60.0, folder / "log.txt", **further)


def launch(folder: Path, code: str, seconds: float = 60.0, **starts: tuple[Start, ...]) -> Launched:
    program, log = (code, str(folder)), folder / "log.txt"
    job = started(LocalLauncher(FAKE), Job(folder, RANKS, program, {"GIVEN": "1"}, seconds, log, **starts))
    if code in ("stay", "deaf") and seconds > 10:
        until(lambda: len(job.ranks()) == RANKS)
        assert job.launcher.status(job.handle) == Status("running")
    return job


def test_more_ranks_than_the_machine_has_memory_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.benchmarks.launchers.local.memory", lambda: 71 << 20)
    with pytest.raises(
        CampaignError, match=r"^3 ranks take at least 0\.1 GiB; 0\.1 GiB are to be used here: start fewer"
    ):
        LocalLauncher().prepare([job_in(tmp_path, "0")])
    # Of other machines nothing is known.
    assert LocalLauncher(FAKE).prepare([job_in(tmp_path, "0")])
    monkeypatch.setattr("dashboard.benchmarks.launchers.local.memory", lambda: 72 << 20)
    assert LocalLauncher().prepare([job_in(tmp_path, "0")])


def test_a_job_that_ends_well_has_finished(tmp_path: Path) -> None:
    job = launch(tmp_path, "0")
    assert job.end() == Status("finished", "", 0)
    assert len(job.ranks()) == RANKS
    assert (tmp_path / "log.txt").read_text(encoding="utf-8") == "the ranks have ended\n"


@pytest.mark.parametrize(
    ("code", "starts", "end"), [("0", 3, Status("finished", "", 0)), ("7", 1, Status("failed", "exit code 7", 7))]
)
def test_ranks_are_started_as_often_as_asked_until_they_fail(
    tmp_path: Path, code: str, starts: int, end: Status
) -> None:
    job = launch(tmp_path, code, starts=(Start(),) * 3)
    assert job.end() == end
    assert len(job.ranks()) == starts * RANKS


def test_where_methods_cannot_be_switched_other_starts_follow_each_with_its_variables(tmp_path: Path) -> None:
    otherwise = (Start({"CODE": "0"}), Start({"CODE": "7"}), Start({"CODE": "0"}))
    job = launch(tmp_path, str(CANNOT_SWITCH), starts=(Start(),) * 2, otherwise=otherwise)
    assert job.end() == Status("failed", "exit code 7", 7)
    assert len(job.ranks()) == 3 * RANKS
    assert (tmp_path / "log.txt").read_text(encoding="utf-8").count("a launch of its own instead") == 1
    assert launch(tmp_path, str(CANNOT_SWITCH)).end().exit_code == CANNOT_SWITCH


def test_a_command_that_is_not_there_is_said(tmp_path: Path) -> None:
    job = Job(tmp_path, 2, ("x",), {}, 60.0, tmp_path / "log.txt")
    ended = started(LocalLauncher((str(tmp_path / "mpiexec"),)), job).end()
    assert ended.state == "failed"
    assert "cannot be run: No such file" in ended.reason


@pytest.mark.parametrize("code", ["stay", "deaf"])
def test_cancel_ends_every_rank(tmp_path: Path, code: str) -> None:
    job = launch(tmp_path, code)
    assert job.launcher.cancel(job.handle).state == "cancelled"
    assert job.running() == []
    assert job.launcher.cancel(job.handle).state == "cancelled"


def test_the_time_limit_ends_every_rank(tmp_path: Path) -> None:
    job = launch(tmp_path, "deaf", seconds=0.5)
    ended = job.end()
    assert (ended.state, ended.reason) == ("timed out", "ended at its time limit of 0.5 s")
    assert job.running() == []


def test_a_job_that_writes_nothing_for_too_long_hangs_and_is_ended(tmp_path: Path) -> None:
    hanging = started(LocalLauncher(FAKE), job_in(tmp_path, "stay", watched=(tmp_path / "results",), quiet=0.5))
    ended = hanging.end()
    assert ended.state == "failed"
    assert ended.reason.startswith("nothing was measured for 0.5 s")
    assert hanging.running() == []


def test_cancelled_before_its_supervisor_came_up_it_never_runs(tmp_path: Path) -> None:
    launcher = LocalLauncher(FAKE)
    handle = launcher.prepare([job_in(tmp_path, "stay")])
    assert launcher.status(handle).state == "queued"
    assert launcher.cancel(handle).state == "cancelled"
    launcher.launch(handle)
    pid = read_json(launch_module.supervisor_of(Path(handle["order"])))["pid"]
    until(lambda: processes.started_at(pid) is None)
    assert launcher.status(handle).state == "cancelled"
    assert not list(tmp_path.glob("rank-*"))


def test_a_job_that_is_started_anew_while_it_runs_does_not_run_twice(tmp_path: Path) -> None:
    job = launch(tmp_path, "stay")
    assert supervise.main([job.handle["order"], *job.handle["command"]]) == 1
    assert len(job.ranks()) == RANKS
    assert job.launcher.cancel(job.handle).state == "cancelled"


def test_a_supervisor_that_cannot_be_started_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = LocalLauncher()
    handle = launcher.prepare([Job(tmp_path, 1, ("true",), {}, 60.0, tmp_path / "log.txt")])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(NotLaunchedError, match=r"^/nowhere/python cannot be started: No such file"):
        launcher.launch(handle)


def test_a_launcher_that_was_killed_before_it_launched_leaves_a_failure(tmp_path: Path) -> None:
    launcher = LocalLauncher(FAKE)
    handle = launcher.prepare([job_in(tmp_path, "stay")])
    assert launcher.status({**handle, "prepared": 0.0}).state == "failed"


def test_a_job_of_another_host_is_not_said_to_be_dead(tmp_path: Path) -> None:
    launcher = LocalLauncher()
    handle = launcher.prepare([job_in(tmp_path, "stay")])
    now = launcher.status({**handle, "host": "login2"})
    assert (now.state, "login2" in now.reason) == ("running", True)


def test_a_launcher_of_another_process_can_watch_and_cancel(tmp_path: Path) -> None:
    job = launch(tmp_path, "stay")
    other = LocalLauncher()
    assert other.status(dict(job.handle)) == Status("running")
    assert other.cancel(dict(job.handle)).state == "cancelled"
    assert job.running() == []


def test_when_the_supervisor_is_killed_the_ranks_end_and_the_job_has_failed(tmp_path: Path) -> None:
    job = launch(tmp_path, "deaf")
    os.kill(read_json(launch_module.supervisor_of(Path(job.handle["order"])))["pid"], signal.SIGKILL)
    ended = job.end()
    assert ended.state == "failed"
    assert "killed" in ended.reason
    assert job.running() == []


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (signal.SIGRTMIN + 1, "35")])
def test_when_the_start_command_is_killed_its_ranks_end(tmp_path: Path, number: int, name: str) -> None:
    job = launch(tmp_path, "stay")
    first = next(pid for pid in processes.marked(job.handle["mark"]) if pid not in job.ranks())
    os.kill(first, number)
    assert job.end() == Status("failed", f"ended by signal {name}", -number)
    assert job.running() == []


def test_a_process_of_the_same_id_is_not_taken_for_the_old_one() -> None:
    started = processes.started_at(os.getpid())
    assert started is not None
    assert processes.alive(os.getpid(), started)
    assert not processes.alive(os.getpid(), started - 1)
    gone = 2**22 + 1
    assert processes.started_at(gone) is None
    # Nor does one that has ended meanwhile keep others from being ended.
    processes.send([gone], signal.SIGTERM)


AGAIN = """
import os, pathlib, sys, time
file = pathlib.Path(sys.argv[-1])
before = file.read_text().splitlines() if file.exists() else []
file.write_text("\\n".join([*before, os.environ.get("COLLTUNE_ENDED", "first")]))
if not before:
    time.sleep(60)
sys.exit(7 if len(before) == 1 else 0)
"""


def test_a_start_that_hangs_or_fails_is_made_again_and_told_how_the_one_before_ended(tmp_path: Path) -> None:
    script, written = tmp_path / "again.py", tmp_path / "written"
    script.write_text(AGAIN)
    starts, files = (Start(again=5, quiet=2.0),), (written,)
    job = Job(tmp_path, 1, (str(written),), {}, 60.0, tmp_path / "log.txt", files, starts=starts)
    assert started(LocalLauncher((sys.executable, str(script))), job).end().state == "finished"
    first, hung, failed = written.read_text().splitlines()
    assert first == "first"
    assert hung == "hangs: nothing came back for 2 s"
    assert failed == "takes the job down: exit code 7"


def test_a_start_that_does_nothing_is_not_made_again(tmp_path: Path) -> None:
    ended = started(LocalLauncher(FAKE), job_in(tmp_path, "3", starts=(Start(again=5),))).end()
    assert (ended.state, ended.exit_code) == ("failed", 3)
    assert len(list(tmp_path.glob("rank-*"))) == RANKS


def test_who_waits_for_a_job_in_the_queue_is_told_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_module, "_LOOK_S", 0.0)
    launcher, said = Played(), []

    def begins(share: float, words: str) -> None:
        said.append((share, words))
        launcher.now = Status("running") if not share else launcher.now

    def ends() -> tuple[float, str]:
        launcher.now = Status("finished")
        return 1.0, "done"

    job = job_in(tmp_path)
    assert finish_job(launcher, job, begins, ends) == Status("finished")
    assert said == [(0.0, "queued: waits for resources (Resources)"), (1.0, "done")]
