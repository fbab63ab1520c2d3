"""The page *Compare*: two trees, their maps and what differs."""

import pytest
from bokeh.document import Document

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export.rules.given import keep
from dashboard.pages.compare.page import ComparePage
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.plots.difference import SAME
from dashboard.session.choice import Choice
from dashboard.session.state import State
from tests.pages.export.showing import image, painted
from tests.states import sample_state


@pytest.fixture
def state() -> State:
    return sample_state(page="Compare")


@pytest.fixture
def page(state: State) -> ComparePage:
    page = ComparePage(state)
    page.maps.__panel__().get_root(Document())
    return page


def test_both_maps_and_their_difference_are_drawn_and_follow(page: ComparePage, state: State) -> None:
    for choice in (Choice.of("exact"), Choice.of("cart", {"max_leaves": 6})):
        page.second._put(choice)
        a, b = state.view.penalty(), state.view.penalty(choice)
        assert (image(page.maps, "a") == painted(page.maps, a["chosen"].values)).all()
        assert (image(page.maps, "b") == painted(page.maps, b["chosen"].values)).all()
        same = painted(page.maps, (a["chosen"].values == b["chosen"].values).astype(int)) == 1
        assert ((image(page.maps, "gap") == SAME) == same).all()
        assert f">B: {choice.described()}<" in page.maps.heads["b"].object
    assert "most leaves" in page.settings.object


def test_a_is_the_tree_of_the_page_decisions(page: ComparePage, state: State) -> None:
    page.first.family.value = "exact"
    assert state.family == "exact"
    assert "the same" in page.settings.object
    assert (image(page.maps, "gap") == SAME).all()


def test_rules_whose_methods_the_results_do_not_have_are_called_by_their_file_with_the_reason(
    page: ComparePage, state: State
) -> None:
    decided = DecisionFunction("bcast", [Method("spread", "spread")], Leaf(0))
    keep("mine.json-0123456789abcdef", "mine.json", decided.to_json())
    page.second._put(Choice.of("rules", {"file": "mine.json-0123456789abcdef"}))
    assert ">B: Rules file, file mine.json<" in page.maps.heads["b"].object
    assert ">mine.json<" in page.settings.object
    assert "Tree B: these results do not have spread;" in page.absent.object.replace("\\", "")
    cells = int((state.view.decision_map()["best"] >= 0).sum())
    assert f'not comparable</td><td class="number">{cells:,}<' in page.maps.legend.object
    page.second._put(Choice.of("exact"))
    assert not page.absent.visible


def test_another_collective_is_drawn_anew(page: ComparePage, state: State) -> None:
    before = page.maps.panes["a"].object
    page.collective.value = "reduce"
    assert page.maps.panes["a"].object is not before
    assert page.maps.scene.data == state.view.drawn_key


def test_without_results_the_page_says_so() -> None:
    page = ComparePage(State(page="Compare"))
    assert page.message.visible
    assert page.message.object == NO_RESULTS
    assert not page.body.visible


def test_options_that_do_not_fit_are_told(page: ComparePage, state: State) -> None:
    state.together = ("reduce",)
    assert page.message.severity == "error"
    state.together = ()
    assert page.body.visible


def test_what_a_rules_file_is_called_is_no_markup(page: ComparePage) -> None:
    page.second._put(Choice.of("rules", {"file": "[mine](?page=Data)"}))
    assert r"the rules file \[mine\]\(\?page\=Data\) is not loaded here" in page.message.object
