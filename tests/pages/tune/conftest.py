"""The page *Tune* over a folder of tunings that were made on a machine of formulas."""

import shutil
from pathlib import Path

import pytest

from dashboard.pages.measure import watching as module
from dashboard.server.permission import Permission
from tests.measuring.played import HERE
from tests.tuning.conftest import finished, machine

__all__ = ["finished", "machine"]


@pytest.fixture
def root(tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the tunings, with a finished one; whoever asks may launch."""
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(tmp_path / "kept"))
    monkeypatch.setattr(module, "look_around", lambda again=False: HERE)
    monkeypatch.setattr(module, "may_launch", lambda: Permission(allowed=True, reason=""))
    shutil.copytree(finished, tmp_path / "kept" / "tuned")
    return tmp_path / "kept"
