"""Campaigns whose ranks end before everything is measured."""

from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import last_words
from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.cli import main
from dashboard.measuring import tunings
from dashboard.tuning.measure import finish, finished
from tests.tuning.machine import work_in

GOES_ON = ("failed", "timed out")


#: What start commands and Slurm wrote when a job was cancelled (`scancel`, srun, Open MPI 5.0.11).
TORN_DOWN = """\
slurmstepd-node01: error: *** JOB 18 ON node01 CANCELLED AT 2026-11-28T00:29:56 ***
Abort is in progress...hit ctrl-c again to forcibly terminate

--------------------------------------------------------------------------
* "--prtemca plm_base_verbose N" where N > 0
--------------------------------------------------------------------------
\0\0
"""


class Ranks:
    """Ranks that end so, one start after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ends: str) -> None:
        self.ends, self.starts, self.now = list(ends), 0, "planned"
        for name in ("status", "start", "wait"):
            monkeypatch.setattr(control, name, getattr(self, name))

    def status(self, *_: Any) -> dict[str, Any]:
        measured = 2 if self.now == "finished" else min(1, self.starts)
        return {"state": self.now, "reason": "so", "exit_code": None, "measured": measured, "refused": 0, "points": 2}

    def start(self, *_: Any) -> None:
        self.starts += 1

    def wait(self, *_: Any) -> dict[str, Any]:
        self.now = self.ends.pop(0)
        return self.status()


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.create(tmp_path, Plan(2, {"bcast": (Method(DEFAULT),)}, (2,), (8, 16)))


@pytest.mark.parametrize("end", GOES_ON)
def test_they_are_started_once_more(monkeypatch: pytest.MonkeyPatch, campaign: Campaign, end: str) -> None:
    ranks = Ranks(monkeypatch, end, "finished")
    finished(campaign, None, None, 60.0, again=GOES_ON)
    assert ranks.starts == 2


@pytest.mark.parametrize(("again", "starts"), [(GOES_ON, 2), (("failed",), 1)])
def test_what_ends_so_again_or_at_a_limit_that_somebody_gave_is_an_error(
    monkeypatch: pytest.MonkeyPatch, campaign: Campaign, again: tuple[str, ...], starts: int
) -> None:
    ranks = Ranks(monkeypatch, "timed out", "timed out")
    with pytest.raises(CampaignError, match="timed out: so; the same command measures what is missing"):
        finished(campaign, None, None, 60.0, again=again)
    assert ranks.starts == starts


def test_a_job_that_waits_in_the_queue_says_so_and_why(
    monkeypatch: pytest.MonkeyPatch, campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work, waits = work_in(tmp_path / "tuned"), "the partition is down (PartitionDown)"
    ranks = Ranks(monkeypatch, "finished")
    queued = {**ranks.status(), "state": "queued", "reason": waits, "now": ""}

    def wait(_campaign: Campaign, _launcher: Any, _every: float, tell: Any) -> dict[str, Any]:
        tell(queued)
        assert main(["tune", str(work.folder.path), "--status"]) == 0
        return ranks.wait()

    monkeypatch.setattr(control, "wait", wait)
    with work.folder.held():
        work.folder.keep_asked(work.asked.to_json())
        work.folder.begin("measure", "")
        finish(work, "measure", campaign, work.installation, 60.0)
        said = next(step.said for step in tunings.standing(work.folder.path).steps if step.name == "measure")
    assert said == f"queued: {waits}"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("end", "log", "told"),
    [
        ("cancelled", TORN_DOWN, ""),
        ("timed out", "a link is down\ncolltune worker: 20 points were measured again\n", r" \(a link is down\)"),
    ],
)
def test_an_end_is_told_neither_by_how_it_was_torn_down_nor_by_what_its_ranks_measured_again(
    monkeypatch: pytest.MonkeyPatch, campaign: Campaign, end: str, log: str, told: str
) -> None:
    Ranks(monkeypatch, end)
    campaign.log.write_text(log, encoding="utf-8")
    with pytest.raises(CampaignError, match=rf"{end}: so{told}; the same command measures what is missing$"):
        finished(campaign, None, None, 60.0)


def test_an_end_is_told_by_the_last_lines_that_say_something(
    monkeypatch: pytest.MonkeyPatch, campaign: Campaign
) -> None:
    Ranks(monkeypatch, "timed out")
    campaign.log.write_text(TORN_DOWN, encoding="utf-8")
    with pytest.raises(CampaignError) as raised:
        finished(campaign, None, None, 60.0)
    words = str(raised.value).partition("timed out: so (")[2].partition("); the same")[0].split("; ")
    assert words == [line for line in TORN_DOWN.splitlines() if any(map(str.isalpha, line))]
    # Those of an array bear the number of their part.
    assert last_words(f"[0] {line}" for line in TORN_DOWN.splitlines()) == [f"[0] {word}" for word in words]
