"""A tuning that several tests go on from."""

import shutil
from pathlib import Path

import pytest

from dashboard.tuning import tune
from tests.tuning.machine import Machine, work_in


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine().put(monkeypatch)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tuning that was done at one go; not to be changed."""
    folder = tmp_path_factory.getbasetemp() / "finished" / "tuned"
    # A fixture that several modules import is another one in each of them.
    if not folder.exists():
        with pytest.MonkeyPatch.context() as patch:
            Machine().put(patch)
            tune(work_in(folder))
    return folder


@pytest.fixture
def tuned(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(finished, tmp_path / "tuned"))
