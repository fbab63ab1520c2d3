"""File systems without locks, as parallel ones often are: work begins there all the same."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.tuning.folder import Folder
from tests.measuring.played import LIBRARY, Played

PLAN = Plan(2, {"bcast": (Method("a"),)}, (2,), (8,))
HERE = Installation(Path("/nowhere/mpiexec"), LIBRARY)


def refuses(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(_file: object, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_where_there_are_no_locks_work_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    refuses(monkeypatch, number)
    assert control.start(Campaign.create(tmp_path / "campaign", PLAN), Played(), HERE, 100.0)["state"] == "queued"
    with Folder(tmp_path / "tuning").held():
        assert Folder(tmp_path / "tuning").worker()["pid"] == os.getpid()


def test_any_other_fault_of_a_lock_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses(monkeypatch, errno.EIO)
    with pytest.raises(CampaignError, match="Input/output error"):
        control.start(Campaign.create(tmp_path / "campaign", PLAN), Played(), HERE, 100.0)
