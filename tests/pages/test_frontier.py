"""The page *Frontier*: what is computed, marked, recommended and adopted."""

import dataclasses
import html

import numpy as np
import pytest

from dashboard.pages import frontier as module
from dashboard.pages.frontier import FrontierPage
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.plots.frontier import positions
from dashboard.session.state import State
from tests.cubes import synthetic_cube
from tests.states import state_of


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> State:
    monkeypatch.setattr("dashboard.decisions.judged.frontier._suitable", lambda _: ["quadtree", "exact", "cart"])
    return state_of(bcast=synthetic_cube(5, 7, 4, seed=9, noise=0.6))


@pytest.fixture
def page(state: State) -> FrontierPage:
    page = FrontierPage(state)
    state.page = "Frontier"
    return page


def test_nothing_is_computed_before_the_page_is_asked_for(state: State) -> None:
    state.navigated = True
    assert FrontierPage(state).frontier is None


def test_all_families_are_there_in_sample_and_held_out(page: FrontierPage) -> None:
    assert set(page.frontier.table["family"]) == {"quadtree", "exact", "cart"}
    assert page.panes["held out"].object is not None
    assert page.panes["in sample"].object is not None
    assert page.advice.object.startswith("Take ")
    assert "On the frontier" in page.front.object


@pytest.mark.usefixtures("state")
def test_where_the_tree_on_show_does_not_suit_the_measurements_the_others_are_drawn() -> None:
    cubes = {name: synthetic_cube(3, 4, 3, seed=1, noise=0.6) for name in ("bcast", "reduce")}
    both = state_of(**cubes)
    both.param.update(page="Frontier", together=("reduce",), family="quadtree")
    page = FrontierPage(both)
    assert set(page.frontier.table["family"]) == {"cart"}
    assert page.panes["in sample"].object is not None
    assert page.advice.object.startswith("Take ")


def test_a_tap_on_a_point_adopts_it(page: FrontierPage, state: State) -> None:
    table = page.frontier.table
    row = int(np.flatnonzero(table["family"] == "cart")[0])
    x, y = positions(table["leaves"], table["penalty_mean"])
    page._taps[1].event(x=float(x[row]), y=float(y[row]))
    assert state.view.decision().leaves == table["leaves"][row]
    assert state.view.statistics()["penalty"]["mean"] == pytest.approx(table["penalty_mean"][row])
    assert "Adopted" in page.message.object
    assert page.message.object.endswith("The page [Decisions](?page=Decisions) shows it.")


def test_a_tap_beside_the_points_does_nothing(page: FrontierPage, state: State) -> None:
    before = state.choice()
    page._taps[0].event(x=-50.0, y=50.0)
    page._taps[0].event(x=None, y=None)
    assert state.choice() == before


def test_the_recommended_tree_is_adopted_with_one_press(page: FrontierPage, state: State) -> None:
    page.adopt.clicks += 1
    assert state.view.decision().leaves == page._advice.decision.leaves


def test_the_recommended_tree_is_in_the_table_also_where_others_beat_it(
    page: FrontierPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    beaten = int(np.flatnonzero(page.frontier.table["dominated"])[0])
    advice = dataclasses.replace(page._advice, row=beaten)
    monkeypatch.setattr(module, "recommend", lambda _: advice)
    page._show()
    words = page._choice(beaten).described()
    assert f"{html.escape(words)} <strong>(recommended)" in page.front.object


def test_nothing_held_out_leaves_one_chart(page: FrontierPage) -> None:
    page.scheme.value = "none"
    assert not page._columns["held out"].visible
    assert page._columns["in sample"].visible
    assert page.frontier.value == "penalty_mean"


@pytest.mark.slow
def test_many_cells_wait_for_the_button(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 10)
    state.page = "Frontier"
    state.tolerance = 0.125
    page = FrontierPage(state)
    assert page.frontier is None
    assert "35 cells" in page.message.object
    page.compute.clicks += 1
    assert page.frontier is not None


def test_without_results_the_page_says_so() -> None:
    page = FrontierPage(State(page="Frontier"))
    assert page.message.object == NO_RESULTS
    assert not any(column.visible for column in page._columns.values())


def test_what_cannot_be_left_out_is_told_and_nothing_more_is_waited_for(page: FrontierPage) -> None:
    page.scheme.value = "repetitions"
    assert "repetition" in page.background.text.object
    assert not page.message.visible


def test_of_a_single_size_nothing_is_left_out() -> None:
    single = state_of(bcast=synthetic_cube(1, 1, 4, seed=9))
    single.page = "Frontier"
    page = FrontierPage(single)
    assert "on the page Frontier: nothing" in page.background.text.object
    assert not page.message.visible
    page.scheme.value = "none"
    assert not page.background.line.visible
    assert page.advice.object.startswith("Take ")
