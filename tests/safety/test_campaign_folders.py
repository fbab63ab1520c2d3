"""A campaign's folder into which others may write: nothing outside of it is read, replaced, emptied or ended."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, read_json, write_json
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import leftovers
from dashboard.benchmarks.launchers.launch import Job
from dashboard.benchmarks.launchers.local import LocalLauncher, supervisor_alive
from dashboard.benchmarks.launchers.processes import started_at
from dashboard.benchmarks.launchers.slurm import SlurmLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.cli import main
from loaders import disk
from tests.conftest import until
from tests.measuring.played import LIBRARY

THEIRS = "a line for nobody else\n"
PLAN = Plan(2, {"bcast": (Method("a"), Method("b"))}, (2,), (8, 64))
HERE = Installation(Path("/nowhere/mpiexec"), LIBRARY)
FAKE = (str(Path(__file__).resolve().parents[1] / "bench/fake_mpiexec.py"),)
FILES = ("plan.json", "state.json", "progress.json", "results.jsonl", "safety.jsonl", "log.txt", ".lock")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text(THEIRS)
    return path


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.create(tmp_path / "campaign", PLAN)


@pytest.mark.parametrize("name", [*FILES, "jobs", "parts"])
def test_a_link_out_of_the_folder_is_neither_read_nor_written(
    campaign: Campaign, outside: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    link = campaign.folder / name
    link.unlink(missing_ok=True)
    link.symlink_to(outside.parent if name in ("jobs", "parts") else outside)
    statuses = [main(["bench", "status", str(campaign.folder), "--log", "9"])]
    with pytest.raises(CampaignError) as raised:
        control.start(campaign, LocalLauncher(FAKE), HERE, 5.0)
    statuses.append(main(["bench", "status", str(campaign.folder), "--log", "9"]))
    output = capsys.readouterr()
    assert f"{link} is a link that leads out of the campaign's folder" in f"{raised.value}{output.err}"
    assert set(statuses) <= {0, 2}
    assert THEIRS.strip() not in output.out + output.err
    assert outside.read_text() == THEIRS
    assert list(outside.parent.iterdir()) == [outside]


def test_links_within_the_folder_and_to_it_are_followed(campaign: Campaign, tmp_path: Path) -> None:
    campaign.plan_file.rename(campaign.folder / "kept.json")
    campaign.plan_file.symlink_to("kept.json")
    (tmp_path / "link").symlink_to(campaign.folder)
    assert Campaign(tmp_path / "link").plan() == PLAN
    assert control.status(Campaign(tmp_path / "link"))["state"] == "planned"


def _record(**handle: object) -> dict[str, object]:
    given = {"mark": "0" * 32, "host": os.uname().nodename, "prepared": 0.0, **handle}
    return {"launcher": LocalLauncher(FAKE).record(), "attempt": 1, "started": 1.0, "seconds": 5.0, "handle": given}


def test_a_state_that_names_files_elsewhere_reads_and_writes_its_own(campaign: Campaign, outside: Path) -> None:
    files = [outside.with_name(f"order{name}.json") for name in ("", "-end", "-supervisor")]
    for file in files:
        file.write_text(THEIRS)
    write_json(campaign.state_file, _record(order=str(files[0])))
    (campaign.folder / "jobs").mkdir()
    assert control.status(campaign)["state"] == "failed"
    assert {file.read_text() for file in files} == {THEIRS}
    assert [path.name for path in (campaign.folder / "jobs").iterdir()] == ["order-end.json"]


@pytest.mark.parametrize(("launcher", "file"), [(LocalLauncher(FAKE), "end"), (SlurmLauncher(), "final")])
def test_how_a_job_ended_is_neither_read_nor_written_through_a_link_that_leads_out(
    campaign: Campaign, outside: Path, monkeypatch: pytest.MonkeyPatch, launcher: Any, file: str
) -> None:
    monkeypatch.setenv("PATH", "")
    handle = launcher.prepare([Job(campaign.folder, 2, ("program",), {}, 5.0, campaign.log)])
    order = Path(handle["order"] if file == "end" else handle["groups"][0]["tasks"][0]["order"])
    order.with_name(f"{order.stem}-{file}.json").symlink_to(outside)
    write_json(campaign.state_file, {"launcher": launcher.record(), "handle": handle | {"prepared": 0.0}})
    with pytest.raises(CampaignError, match="leads out"):
        control.status(campaign)
    assert outside.read_text() == THEIRS


def test_a_process_that_watches_over_no_job_is_not_ended(campaign: Campaign) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        # One that is only now begun has no arguments yet, and counts as told.
        until(Path(f"/proc/{other.pid}/cmdline").read_bytes)
        order = {"order": str(campaign.folder / "jobs" / "order.json")}
        (campaign.folder / "jobs").mkdir()
        supervisor = campaign.folder / "jobs" / "order-supervisor.json"
        write_json(supervisor, {"pid": other.pid, "started": started_at(other.pid)})
        write_json(campaign.state_file, _record(**order))
        assert not supervisor_alive(order)
        assert control.cancel(campaign)["state"] == "cancelled"
        assert other.poll() is None
        other.kill()


def test_a_folder_that_was_moved_tells_how_it_ended(campaign: Campaign) -> None:
    control.start(campaign, LocalLauncher(FAKE), HERE, 5.0)
    now = until(lambda: (now := control.status(campaign))["state"] not in ("queued", "running") and now)
    moved = Campaign(campaign.folder.rename(campaign.folder.with_name("moved")))
    assert control.status(moved) == now


def test_what_is_remembered_of_a_job_goes_into_its_own_folder(campaign: Campaign, outside: Path) -> None:
    (campaign.folder / "shared-memory.json").symlink_to(outside)
    with pytest.raises(CampaignError, match="leads out"):
        leftovers.remember(campaign.folder, ["name"])
    assert outside.read_text() == THEIRS


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files to any group")
def test_a_file_in_the_place_of_another_keeps_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, group = tmp_path / "rules.txt", 12345
    target.write_text("old")
    os.chown(target, -1, group)
    target.chmod(0o660)
    disk.write_text(target, "new")
    assert (target.stat().st_gid, target.stat().st_mode & 0o777) == (group, 0o660)

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    disk.write_text(target, "newer")
    assert target.stat().st_mode & 0o777 == 0o600
    assert read_json(target) == {}
