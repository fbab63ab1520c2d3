"""The page *Measure* over a launcher that the test plays."""

from pathlib import Path

import pytest

from dashboard.pages.measure import watching as module
from dashboard.pages.measure.page import MeasurePage
from dashboard.server.permission import Permission
from tests.measuring.played import HERE, Played, play
from tests.pages.measure.opened import page_of, press


@pytest.fixture(autouse=True)
def on_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks may launch: what this process listens on besides is another test's."""
    monkeypatch.setattr(module, "may_launch", lambda: Permission(allowed=True, reason=""))


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    monkeypatch.setattr(module, "look_around", lambda again=False: HERE)
    return play(monkeypatch, tmp_path)


@pytest.fixture
def page(launcher: Played) -> MeasurePage:
    return page_of()


@pytest.fixture
def started(page: MeasurePage) -> MeasurePage:
    press(page.start)
    assert page.state.campaign == "bcast-2-ranks"
    return page
