"""The page *Export* while something is under way: what comes late is not shown under what is asked for by then."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import pytest

from dashboard.pages.compare.page import ComparePage
from dashboard.pages.export.check import MOST_BYTES
from dashboard.pages.export.page import ExportPage
from dashboard.pages.parts.growing import Background, _run, _Task
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.session.state import State

RULES = "1\n7\n1\n0\n2\n0 6 0 0\n4096 3 0 8192\n"


def held(background: Background, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Have what is started from now on end when the test says so."""
    ends: list[Callable[[], None]] = []

    def start(title: str, work: Any, done: Any, dropped: Any = None) -> None:
        background.stop()
        background._task = task = _Task(title, done, dropped)
        future: Future[Any] = Future()
        _run(future, work, lambda *_: None)
        ends.append(partial(background._finish, task, future))

    monkeypatch.setattr(background, "start", start)
    return ends


def test_a_file_that_was_refused_is_not_covered_by_the_one_before(
    page: ExportPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = held(page.check.checking, monkeypatch)
    page.check.give("slow.conf", RULES)
    page.check.give("large.conf", b"1" * (MOST_BYTES + 1))
    ends[0]()
    assert "are too much for a rules file" in page.check.message.object
    assert not page.check.body.visible


@pytest.mark.parametrize(
    ("field", "value"), [("target", "openmpi-json"), ("version", "4.1"), ("blocks", True)], ids=str
)
def test_a_translation_is_of_the_choices_on_show(
    page: ExportPage, monkeypatch: pytest.MonkeyPatch, field: str, value: Any
) -> None:
    page.check.give("mine.conf", RULES)
    translate = page.check.translate
    translate._translate()
    assert translate.result.visible
    ends = held(translate.working, monkeypatch)
    translate._translate()
    getattr(translate, field).value = value
    assert not translate.result.visible
    ends[0]()
    assert not translate.result.visible


def test_a_translation_of_another_file_is_not_shown(page: ExportPage, monkeypatch: pytest.MonkeyPatch) -> None:
    page.check.give("mine.conf", RULES)
    ends = held(page.check.translate.working, monkeypatch)
    page.check.translate._translate()
    page.check.give("other.conf", RULES.replace("8192", "4096"))
    ends[0]()
    assert not page.check.translate.result.visible


def test_the_gain_comes_back_with_its_tree(page: ExportPage, state: State) -> None:
    assert "own decision was not measured here" in page.gain.message.object
    shown, state.shown = state.shown, None
    assert "no tree to compare" in page.gain.message.object
    state.shown = shown
    assert "own decision was not measured here" in page.gain.message.object


def test_without_results_each_place_leads_to_where_they_are_loaded() -> None:
    state = State()
    state.page = "Export"
    places = [ExportPage(state).gain, ComparePage(state)]
    state.page = "Compare"
    assert [place.message.object for place in places] == [NO_RESULTS] * 2


def test_a_cancelled_comparison_can_be_asked_for_again(page: ExportPage, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = held(page.gain.working, monkeypatch)
    page.gain._again()
    page.gain.working._cancel()
    assert page.gain.working.again.visible
    page.gain.working.again.param.trigger("clicks")
    assert len(ends) == 2


def test_the_file_comes_back_with_its_measurements(page: ExportPage, state: State) -> None:
    text, tree, digest = page.file.written.text, state.results, state.results_id
    state.param.update(results=None, results_id="")
    assert not page.body.visible
    state.param.update(results=tree, results_id=digest)
    assert page.body.visible
    assert page.file.written.text == text


def test_maps_of_a_file_are_of_the_measurements_it_was_made_from(
    page: ExportPage, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.collectives.value = ["reduce", "bcast"]
    ends = held(page.writing, monkeypatch)
    state.tolerance = 5.0
    other = next(name for name in ("reduce", "bcast") if name != page.file.part.value)
    page.file.part.value = other
    assert not page.file.drawing.visible
    assert "have changed since" in page.file.unread.object
    ends[-1]()
    assert page.file.drawing.visible
    assert page.file.unread.object == ""
