"""Looking again and again: never two looks at once, nothing once it was stopped or the session has ended."""

import threading
from typing import Any

import pytest

from dashboard.measuring.kept import campaigns
from dashboard.pages.measure import page as measure
from dashboard.pages.measure import rhythm as module
from dashboard.pages.measure.page import MeasurePage
from dashboard.pages.measure.rhythm import Rhythm
from dashboard.pages.parts.reports import plain
from tests.pages.loops import Loop


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr(module, "live_session", lambda: loop)
    return loop


def test_outside_a_session_it_looks_when_asked() -> None:
    seen: list[Any] = []
    rhythm = Rhythm(
        lambda: 2, lambda asked: asked + 1, lambda asked, answer: seen.append((asked, answer)), 0.5, pytest.fail
    )
    rhythm.start()
    rhythm.now()
    assert seen == [(2, 3), (2, 3)]


def test_one_look_follows_the_end_of_the_other(loop: Loop) -> None:
    seen: list[int] = []
    looks = iter(range(100))
    rhythm = Rhythm(lambda: None, lambda _: next(looks), lambda _, answer: seen.append(answer), 0.5, pytest.fail)
    rhythm.start()
    for _ in range(6):
        loop.step()
        assert len(loop.waiting) <= 1
    assert seen == [0, 1, 2]
    assert loop.delays == [500] * 3


def test_a_look_on_another_thread_is_shown_on_the_sessions_own(loop: Loop) -> None:
    threads: dict[str, int] = {}
    rhythm = Rhythm(
        lambda: None,
        lambda _: threads.setdefault("look", threading.get_ident()),
        lambda *_: threads.setdefault("show", threading.get_ident()),
        0.5,
        pytest.fail,
    )
    rhythm.start()
    loop.step()
    assert threads["show"] == threading.get_ident() != threads["look"]


def test_when_it_is_stopped_nothing_more_comes(loop: Loop) -> None:
    seen: list[int] = []
    rhythm = Rhythm(lambda: None, lambda _: 1, lambda _, answer: seen.append(answer), 0.5, pytest.fail)
    rhythm.start()
    loop.step()
    rhythm.stop()
    loop.step()
    assert (seen, loop.waiting) == ([1], [])
    rhythm.start()
    loop.step()
    assert seen == [1, 1]


def test_what_was_asked_before_is_not_shown_after(loop: Loop) -> None:
    seen: list[str] = []
    asked, go = iter(["old", "new"]), threading.Event()

    def look(name: str) -> str:
        assert name == "new" or go.wait(30)
        return name

    rhythm = Rhythm(lambda: next(asked), look, lambda _, answer: seen.append(answer), 0.5, pytest.fail)
    rhythm.start()
    rhythm.now()
    loop.step()
    go.set()
    assert seen == ["new"]


def test_a_session_that_has_ended_is_left_alone(loop: Loop) -> None:
    looked = threading.Event()
    rhythm = Rhythm(lambda: None, lambda _: looked.set(), lambda *_: pytest.fail("shown"), 0.5, pytest.fail)
    loop.session_context = None
    rhythm.start()
    assert looked.wait(30)
    assert loop.waiting == []


def test_a_look_that_fails_does_not_end_the_later_ones(loop: Loop, caplog: pytest.LogCaptureFixture) -> None:
    looks = iter([OSError("gone"), "there"])
    seen: list[Any] = []

    def look(_: Any) -> Any:
        answer = next(looks)
        if isinstance(answer, Exception):
            raise answer
        return answer

    said: list[Exception] = []
    rhythm = Rhythm(lambda: None, look, lambda _, answer: seen.append(answer), 0.5, said.append)
    rhythm.start()
    for _ in range(3):
        loop.step()
    assert seen == ["there"]
    assert [str(error) for error in said] == ["gone"]
    assert "a look at the campaigns failed" in caplog.text


def test_the_page_says_that_a_look_failed_until_one_succeeds(
    page: MeasurePage, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Any) -> Any:
        raise OSError(f"{page.root}/bcast: stale <b>handle</b>")

    monkeypatch.setattr(measure, "campaigns", look)
    page.rhythm.now()
    loop.step()
    assert page.doing.message.visible
    assert page.doing.message.object == plain(
        "Reading the campaigns failed (OSError: bcast: stale <b>handle</b>); the page keeps trying."
    )
    page.doing.message.closed = True
    for _ in range(2):
        loop.step()
    assert page.doing.message.closed
    monkeypatch.setattr(measure, "campaigns", campaigns)
    for _ in range(2):
        loop.step()
    assert not page.doing.message.visible


def test_the_page_says_that_what_was_seen_could_not_be_shown(
    page: MeasurePage, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences: list[str] = []

    def show(*_: Any) -> None:
        raise IndexError("list index out of range")

    page.doing.message.param.watch(lambda event: sentences.append(event.new), "object")
    monkeypatch.setattr(page.list, "show", show)
    page.rhythm.now()
    for _ in range(5):
        loop.step()
    # Once, not at every look.
    (sentence,) = sentences
    assert "IndexError" in sentence
