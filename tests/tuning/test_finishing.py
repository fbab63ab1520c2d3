"""Campaigns whose ranks end before everything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.tuning.measure import finished

GOES_ON = ("failed", "timed out")


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
