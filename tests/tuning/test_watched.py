"""Tunings as somebody watches them: by what the command writes, whoever started it; started and ended from afar."""

import json
import os
import platform
import time
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import processes
from dashboard.measuring import tunings
from dashboard.tuning import Asked, Folder, again, tune
from tests.cli.command import Run
from tests.conftest import until
from tests.tuning.machine import Machine, Times, better, default_best, work_in

pytestmark = pytest.mark.slow


def test_a_finished_one_says_what_came_of_it_and_has_its_bundle(tuned: Path) -> None:
    (seen,), faults = tunings.tunings(tuned.parent)
    assert faults == []
    assert (seen.name, seen.state, seen.over) == ("tuned", "proven", True)
    assert {step.state for step in seen.steps} == {"done"}
    assert [step.name for step in seen.steps] == list(tunings.stages())
    assert seen.bundle == tuned / "bundle.zip"
    assert seen.campaign == tuned / "measure"
    assert seen.facts["gain"]["allreduce"]["mean"] > 0


def test_where_its_times_are_gone_it_says_so_and_measures_them_anew(
    tuned: Path, machine: Machine, refused: Run
) -> None:
    (tuned / "measure" / "results.jsonl").unlink()
    seen = tunings.look(tuned)
    assert (seen.state, seen.reason) == ("failed", "measure: its results are gone; the same command measures anew")
    assert "proven, and nothing" not in refused("tune", tuned, "--status").out
    assert not Campaign(tuned / "measure").settled(Campaign(tuned / "measure").plan().goal)
    assert tune(work_in(tuned))["measure"]
    assert tunings.look(tuned).state == "proven"
    (tuned / "measure" / "results.jsonl").unlink()
    assert again(work_in(tuned))["anew"] == ["bcast", "allreduce"]
    assert tunings.look(tuned).state == "proven"


def test_the_stage_at_work_says_how_far_it_is(tmp_path: Path, machine: Machine) -> None:
    work, looks = work_in(tmp_path / "one"), []

    def look(stage: str, share: float | None, _words: str) -> None:
        if share is not None:
            looks.append((stage, tunings.look(tmp_path / "one")))

    tune(type(work)(work.folder, work.asked, work.installation, work.launcher, look))
    for stage, seen in looks:
        assert seen.state == "running"
        at_work = next(step for step in seen.steps if step.state == "running")
        assert stage in (at_work.name, "look")
    assert {stage for stage, _ in looks} == set(tunings.stages())
    assert tunings.look(tmp_path / "one").state == "proven"


def test_one_that_failed_says_why_and_one_whose_process_is_gone_was_interrupted(
    tmp_path: Path, machine: Machine
) -> None:
    machine.fails = ["measure"]
    with pytest.raises(CampaignError):
        tune(work_in(tmp_path / "one"))
    seen = tunings.look(tmp_path / "one")
    assert (seen.state, seen.reason) == ("failed", "measure: the node is gone")
    folder = Folder(tmp_path / "one")
    folder.begin("measure", "")
    assert tunings.look(tmp_path / "one").state == "interrupted"
    # A process of that id that began at another time is another one.
    gone = {"pid": os.getpid(), "started": 1, "host": platform.node()}
    (tmp_path / "one" / ".lock").write_text(json.dumps(gone))
    assert tunings.look(tmp_path / "one").state == "interrupted"
    (tmp_path / "one" / ".lock").write_text(json.dumps({**gone, "host": "elsewhere"}))
    assert tunings.look(tmp_path / "one").state == "running"
    with pytest.raises(CampaignError, match="runs on elsewhere"):
        tunings.cancel(tmp_path / "one")
    folder.fail("measure", "", "interrupted", "interrupted", 1.0)
    (tmp_path / "one" / ".lock").write_text("")
    assert tunings.look(tmp_path / "one").state == "cancelled"


@pytest.mark.parametrize(("times", "status"), [(better, 0), (default_best, 3)])
def test_the_command_that_looks_ends_as_the_one_that_tuned(
    tmp_path: Path, machine: Machine, times: Times, status: int, colltune: Run, refused: Run
) -> None:
    path, looking = tmp_path / "one", ["tune", str(tmp_path / "one"), "--status"]
    machine.times, machine.fails = times, ["measure"]
    with pytest.raises(CampaignError):
        tune(work_in(path))
    assert f"next: colltune tune {path} " in refused(*looking).err
    # Killed while it measured, and while it works there again.
    Folder(path).begin("measure", "")
    ended = refused(*looking)
    assert "running" not in ended.out
    assert ended.out.splitlines()[-1].startswith(f"{tunings.ENDED} in measure: {tunings.SAID[tunings.ENDED]}")
    assert f"next: colltune tune {path} " in ended.err
    now = refused(*looking, "--json").json
    assert (now["state"], now["stages"]["measure"]["state"]) == (tunings.ENDED, tunings.ENDED)
    with Folder(path).held():
        running = colltune(*looking)
    assert running.status == 0
    assert "measure  running" in running.out
    tune(work_in(path))
    assert colltune(*looking).status == status


def test_one_that_was_killed_between_two_stages_was_interrupted(tuned: Path) -> None:
    state = json.loads((tuned / "state.json").read_text())
    del state["stages"]["bundle"]
    (tuned / "state.json").write_text(json.dumps(state))
    assert tunings.look(tuned).state == tunings.ENDED


def test_what_cannot_be_read_is_named_and_the_others_are_listed(tuned: Path) -> None:
    other = tuned.parent / "other"
    other.mkdir()
    (other / "asked.json").write_text("{}")
    (other / "state.json").write_text('{"colltune_tune": 99}')
    (tuned.parent / "link").symlink_to(tuned)
    there, faults = tunings.tunings(tuned.parent)
    assert [tuning.name for tuning in there] == ["tuned"]
    assert len(faults) == 1
    assert "not of this version" in faults[0]


@pytest.mark.parametrize("name", ["bundle.zip", "state.json", "tune.log"])
def test_a_link_out_of_the_folder_is_neither_read_nor_given_away(tuned: Path, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("{}")
    (tuned / name).unlink(missing_ok=True)
    (tuned / name).symlink_to(secret)
    there, faults = tunings.tunings(tuned.parent)
    assert there == []
    assert "leads out" in faults[0]
    with pytest.raises(CampaignError, match="leads out"):
        tunings.go_on(tuned)
    assert secret.read_text() == "{}"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["asked.json", "state.json", "now.json", ".lock", ".begun", "tune.log", "bundle.zip"])
def test_a_pipe_in_the_folder_holds_up_nobody_who_looks(tuned: Path, name: str) -> None:
    (tuned / name).unlink(missing_ok=True)
    os.mkfifo(tuned / name)
    there, faults = tunings.tunings(tuned.parent)
    assert len(there) + len(faults) <= 1
    assert tunings.tail(tuned) == []


def test_a_process_that_is_no_tuning_is_not_ended(tuned: Path) -> None:
    started = processes.started_at(os.getpid())
    (tuned / ".lock").write_text(json.dumps({"pid": os.getpid(), "started": started, "host": platform.node()}))
    with pytest.raises(CampaignError, match="is no colltune tune"):
        tunings.cancel(tuned)


def test_a_real_one_is_started_ended_with_its_ranks(tmp_path: Path, mpiexec: str) -> None:
    asked = Asked(collectives=("allgather",), ranks=2, message_sizes="64,4KiB", seconds=8.0, launches=2, launch="here")
    path = tunings.start(tmp_path, "one", asked)
    assert tunings.look(path).state == "running"
    until((path / "measure" / "state.json").exists)
    seen = tunings.look(path)
    assert (seen.state, seen.stage and seen.stage.name) == ("running", "measure")
    with pytest.raises(CampaignError, match="is running already"):
        tunings.go_on(path)
    with pytest.raises(CampaignError, match="there is a folder one already"):
        tunings.start(tmp_path, "one", asked)
    tunings.cancel(path)
    assert tunings.look(path).state == "cancelled"
    mark = Campaign(path / "measure").state()["handle"]["mark"]
    assert not processes.marked(mark)
    assert Asked.of({}, Folder(path).asked()) == asked


def test_one_that_cannot_begin_says_what_the_command_said(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.mkdir()
    (path / "asked.json").write_text("{}")
    assert tunings.look(path).state == "planned"
    (path / tunings.LOG).write_text("colltune: error: there is no MPI\n")
    seen = tunings.look(path)
    assert (seen.state, seen.reason) == ("failed", "there is no MPI")


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_one_that_has_only_begun_runs_once_and_is_ended_when_asked(tmp_path: Path, seconds: float) -> None:
    path = tunings.start(tmp_path, "one", Asked(ranks=2, collectives=("bcast",)))
    pid = json.loads((path / ".begun").read_text())["pid"]
    time.sleep(seconds)
    assert tunings.look(path).state == "running"
    with pytest.raises(CampaignError, match="one is running already"):
        tunings.go_on(path)
    tunings.cancel(path)
    assert processes.started_at(pid) is None
    assert tunings.look(path).state == "cancelled"
    tunings.go_on(path)
    tunings.cancel(path)
    assert tunings.look(path).state == "cancelled"
