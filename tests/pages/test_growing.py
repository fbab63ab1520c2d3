"""Work beside the session: progress, cancel, the newest request wins."""

import math
import threading
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import panel as pn
import pytest

from dashboard.decisions import DecisionError
from dashboard.decisions.grown.family import Progress
from dashboard.pages.parts import growing as _growing
from dashboard.pages.parts.growing import Background, Growing
from dashboard.session import registry, treated
from dashboard.session import view as viewed
from dashboard.session.choice import Choice
from dashboard.session.registry import Bounded
from dashboard.session.state import State
from tests.pages.loops import Loop
from tests.states import sample_state


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr(_growing, "live_session", lambda: loop)
    monkeypatch.setattr(_growing, "TELL_SECONDS", 0.0)
    monkeypatch.setattr(type(pn.state), "loaded", property(lambda _: True))
    return loop


class Slow:
    """Work that goes on until it is let go, telling its progress."""

    def __init__(self, gives: Any) -> None:
        self.gives, self.go, self.stopped = gives, threading.Event(), threading.Event()

    def __call__(self, progress: Progress) -> Any:
        try:
            while not self.go.wait(0.001):
                progress(0.5, "half way")
            progress(1.0, "")
        except BaseException:
            self.stopped.set()
            raise
        return self.gives


def test_outside_a_session_work_is_done_at_once() -> None:
    done: list[Any] = []
    Background(again=lambda: None).start("Work", lambda progress: "given", done.append)
    assert done == ["given"]


def test_progress_is_shown_and_goes_when_work_is_done(loop: Loop) -> None:
    background, work, done = Background(again=lambda: None), Slow("tree"), []
    background.start("Growing", work, done.append)
    loop.run_until(lambda: "half way" in background.text.object)
    assert background.bar.visible
    assert background.cancel.visible
    assert background.bar.value == 50
    work.go.set()
    loop.run_until(lambda: bool(done))
    assert done == ["tree"]
    assert not background.line.visible


def test_how_long_it_takes_still_is_told_once_it_is_more_than_a_guess() -> None:
    assert _growing._remaining(_growing.GUESS_SECONDS / 2, 0.5) == ""
    assert _growing._remaining(600.0, 0.0) == ""
    assert _growing._remaining(20.0, 0.25) == ", about 60 s left"
    assert _growing._remaining(600.0, 0.5) == ", about 10 min left"
    assert _growing._remaining(60.0, 1.0) == ""


def test_how_long_a_further_part_takes_goes_by_its_own_pace(loop: Loop) -> None:
    background, told = Background(again=lambda: None), []

    def prove(progress: Progress) -> None:
        for share in (0.9, 0.1, 0.3):
            progress(share, "")
            told.append((background._task.share, background._task.since))

    background.start("Proving", prove, lambda _: None)
    loop.run_until(lambda: len(told) == 3)
    assert told == [(0.9, 0.0), (0.1, 0.1), (0.3, 0.1)]
    assert _growing._remaining(10.0, 0.3, 0.1) == ", about 35 s left"


def test_work_stands_still_while_nobody_looks_at_it(loop: Loop) -> None:
    background, work, looking, done = Background(again=lambda: None), Slow("tree"), threading.Event(), []
    work.go.set()
    background.start("Growing", work, done.append, looked_at=looking.is_set)
    loop.run_until(lambda: background.bar.visible)
    assert not done
    looking.set()
    loop.run_until(lambda: bool(done))
    looking.clear()
    background.start("Growing", other := Slow("other"), done.append, looked_at=looking.is_set)
    loop.run_until(lambda: background.bar.visible)
    background.stop()
    assert other.stopped.wait(30)


def test_the_time_in_which_work_stands_still_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10.0

    def looked_at() -> bool:
        nonlocal now
        now += 300.0
        return now > 900

    monkeypatch.setattr(_growing, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(_growing, "TELL_SECONDS", 0.0)
    background = Background(again=lambda: None)
    background._session = Loop()
    task = _growing._Task("Growing", print, looked_at=looked_at, reported=math.inf, gave_way=math.inf, begun=now)
    now += 5
    background._progress(task, 0.5, "")
    assert now - task.begun == 5


def test_the_newest_request_wins_and_the_older_one_stops(loop: Loop) -> None:
    background, old, new, done = Background(again=lambda: None), Slow("old"), Slow("new"), []
    background.start("Old", old, done.append)
    loop.run_until(lambda: "half way" in background.text.object)
    background.start("New", new, done.append)
    assert old.stopped.wait(30)
    new.go.set()
    loop.run_until(lambda: bool(done))
    assert done == ["new"]


def test_cancelled_work_stops_and_can_be_asked_for_again(loop: Loop) -> None:
    asked, work = [], Slow("tree")
    background = Background(again=lambda: asked.append("again"))
    background.start("Growing", work, asked.append, dropped=lambda why: asked.append(f"dropped {why}".strip()))
    loop.run_until(lambda: background.cancel.visible)
    background.cancel.clicks += 1
    assert work.stopped.wait(30)
    assert "cancelled" in background.text.object
    assert background.again.visible
    background.again.clicks += 1
    assert asked == ["dropped", "again"]


def test_what_cannot_be_done_is_told(loop: Loop) -> None:
    def refuse(progress: Progress) -> None:
        raise DecisionError("<depth> is -1")

    background = Background(again=lambda: None)
    background.start("Growing", refuse, lambda _: None)
    loop.run_until(lambda: background.line.visible and "depth" in background.text.object)
    assert "&lt;depth&gt; is -1" in background.text.object
    assert not background.bar.visible


def test_a_state_shows_the_last_tree_until_the_new_one_has_come(loop: Loop) -> None:
    state = sample_state()
    Growing(state)
    before = state.shown
    state.choose(Choice.of("cart", {"max_leaves": 13}))
    assert state.shown == before
    loop.run_until(lambda: state.shown == state.choice())
    assert state.view.decision().leaves == 13


@pytest.fixture
def treating(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> tuple[State, Growing, list[threading.Thread]]:
    """A state in a session, and the threads on which outliers, tests and labels are worked out."""
    monkeypatch.setattr(registry, "COMPUTED", fresh := Bounded[Any](100, 1 << 30))
    monkeypatch.setattr(viewed, "COMPUTED", fresh)
    threads: list[threading.Thread] = []
    for name in ("outliers", "simplest", "indistinguishable"):
        monkeypatch.setattr(treated, name, partial(_noted, threads, getattr(treated, name)))
    state = sample_state()
    return state, Growing(state), threads


def _noted(threads: list[threading.Thread], work: Callable[..., Any], *args: Any, **named: Any) -> Any:
    threads.append(threading.current_thread())
    return work(*args, **named)


def test_measurements_are_treated_off_the_event_loop(
    loop: Loop, treating: tuple[State, Growing, list[threading.Thread]]
) -> None:
    state, _, threads = treating
    state.ask(outliers=True)
    assert not state.outliers, "nothing waits for it"
    # Asked for before the first is there: both come, together.
    state.ask(statistical=0.05)
    state.ask(tolerance=5.0)
    state.ask(ties="fastest")
    state.max_depth = 2
    loop.run_until(lambda: state.outliers)
    assert (state.statistical, state.tolerance, state.ties) == (0.05, 5.0, "fastest")
    assert state.view.needed().tied
    assert state.view.needed().learnt
    assert threads
    assert threading.main_thread() not in threads


def test_what_is_worked_out_once_is_there_at_once(
    loop: Loop, treating: tuple[State, Growing, list[threading.Thread]]
) -> None:
    state, _, _ = treating
    state.ask(outliers=True)
    loop.run_until(lambda: state.outliers)
    state.ask(outliers=False)
    assert not state.outliers
    state.ask(outliers=True)
    assert state.outliers


def test_a_treatment_that_is_cancelled_leaves_all_as_it_was(
    loop: Loop, treating: tuple[State, Growing, list[threading.Thread]]
) -> None:
    state, growing, _ = treating
    events: list[Any] = []
    state.param.watch(events.append, "outliers", onlychanged=False)
    state.ask(outliers=True)
    growing.background.cancel.clicks += 1
    assert not state.outliers
    assert events, "the switch is told to go back"
    state.ask(interpolate=True)
    loop.run_until(lambda: state.interpolate)
    assert not state.outliers


def test_why_a_treatment_is_refused_is_told_also_where_a_tree_is_grown_then(
    loop: Loop, treating: tuple[State, Growing, list[threading.Thread]]
) -> None:
    state, growing, _ = treating
    state.choose(Choice.of("optimal", {"leaves": 3}))
    state.ask(complete="hockney", parameters="nonsense")
    loop.run_until(lambda: not growing.background.running)
    assert (state.complete, state.parameters) == (None, None)
    assert "there is no machine 'nonsense'" in state.notice


def test_a_default_that_was_not_measured_leaves_the_exact_map(loop: Loop) -> None:
    state = sample_state()
    grower = Growing(state)
    state.family = "default"
    assert state.shown is None
    assert "the library's own decision was not measured here".replace("'", "&#x27;") in grower.background.text.object
    assert state.view.decision() is None
    state.family = "exact"
    assert state.shown == Choice.of("exact")
    assert not grower.background.line.visible
