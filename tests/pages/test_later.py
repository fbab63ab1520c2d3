"""Work that follows events: at once outside a session, never stale inside one."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import panel as pn
import pytest

from dashboard.pages.parts import later as _later
from dashboard.pages.parts.later import Newest, Rested
from tests.pages.loops import Loop


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr(_later, "live_session", lambda: loop)
    return loop


def test_outside_a_session_everything_is_done_at_once() -> None:
    done: list[Any] = []
    assert pn.state.curdoc is None
    for _ in range(3):
        Newest(lambda: done.append("drawn"), gap=60).ask()
    Rested(done.append, 60, lambda: "prepared").ask()
    assert done == ["drawn", "drawn", "drawn", "prepared"]


@pytest.mark.parametrize(("waits", "at_once"), [({"gap": 60}, [1]), ({"gap": 0, "lag": 60}, [])])
def test_the_first_event_is_drawn_at_once_unless_there_is_a_lag_and_of_the_others_only_the_newest(
    loop: Loop, waits: dict[str, float], at_once: list[int]
) -> None:
    slider, drawn = {"at": 0}, []
    newest = Newest(lambda: drawn.append(slider["at"]), **waits)
    for at in (1, 2, 3, 4):
        slider["at"] = at
        newest.ask()
    assert drawn == at_once
    loop.run()
    assert drawn == [*at_once, 4]


def test_work_that_failed_does_not_stop_what_follows(loop: Loop) -> None:
    newest = Newest(lambda: 1 / 0, gap=60)
    with pytest.raises(ZeroDivisionError):
        newest.ask()
    newest.ask()
    with pytest.raises(ZeroDivisionError):
        loop.run()
    newest.ask()
    assert len(loop.waiting) == 1


def test_rested_work_waits_for_the_last_event(loop: Loop) -> None:
    done: list[Any] = []
    rested = Rested(lambda _: done.append("done"), 1)
    for _ in range(5):
        rested.ask()
    assert done == []
    assert len(loop.waiting) == 1
    loop.run()
    assert done == ["done"]


def test_what_was_prepared_for_an_older_state_is_dropped(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[Future[Any]] = []

    class Workers:
        def submit(self, work: Callable[[], Any]) -> Future[Any]:
            submitted.append(Future())
            return submitted[-1]

    monkeypatch.setattr(_later, "_WORKERS", Workers())
    shown: list[Any] = []
    rested = Rested(shown.append, 1, lambda: None)
    rested.ask()
    loop.run()
    rested.ask()
    loop.run()
    submitted[0].set_result("old")
    submitted[1].set_result("new")
    loop.run()
    assert shown == ["new"]
