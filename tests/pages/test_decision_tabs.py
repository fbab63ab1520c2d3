"""Around the maps of the page *Decisions*: source, sweeps, table, rules, slices between the sizes, how sure it is."""

import asyncio
import re

import holoviews as hv
import numpy as np
import pytest
from bokeh.document import Document

from dashboard.domain.units import format_share
from dashboard.pages.decisions.answer import answer
from dashboard.pages.decisions.page import DecisionsPage
from dashboard.session.address import TABS
from dashboard.session.choice import Choice
from dashboard.session.registry import Results
from dashboard.session.state import State
from tests.cubes import cube_of, synthetic_cube
from tests.pages.test_decisions import drawn, page, results, show, state, state_over

__all__ = ["drawn", "page", "results", "state"]


def test_the_table_is_the_twin_of_the_maps(page: DecisionsPage, state: State) -> None:
    page.tabs.active = 2
    assert "Cells 1 to 50 of 209" in page.table.view.object
    page.table.pages.value = 4
    assert "Cells 201 to 209 of 209" in page.table.view.object
    page.table.order.value = "largest penalty first"
    page.table.pages.value = 0
    assert "176.8 %" in page.table.view.object
    csv = asyncio.run(page.table.downloads["csv"].callback()).read().decode()
    assert len(csv.splitlines()) == 210
    assert "penalty [%]" in csv.splitlines()[0]


def test_the_address_names_the_open_tab_of_the_page_on_show(page: DecisionsPage, state: State) -> None:
    state.navigated, state.page = True, "Decisions"
    page.tabs.active = 3
    assert (state.tab, state.to_query()["tab"]) == ("Rules", "Rules")
    state.page = "Frontier"
    assert "tab" not in state.to_query()
    # Back on the page it is as it was left.
    state.page = "Decisions"
    assert (page.tabs.active, state.tab) == (3, "Rules")
    assert state.from_query({"page": "Decisions", "tab": "noise"}) == []
    assert page.tabs.active == 4
    state.from_query({"page": "Decisions"})
    assert page.tabs.active == 0
    assert DecisionsPage(state).tabs.active == 0
    state.tab = "Table"
    assert DecisionsPage(state).tabs.active == 2


def test_rules_are_listed(page: DecisionsPage, state: State) -> None:
    page.tabs.active = 3
    state.family = "exact"
    assert "397 leaves" in page.tree.note.object
    assert "Rules 1 to 50 of 134" in page.rules.rules.object


def test_beside_the_recommended_tree_stands_what_left_out_sizes_say_of_it(page: DecisionsPage, state: State) -> None:
    state.family = "recommended"
    decision = state.view.decision()
    assert decision is not None
    (table,) = decision.provenance["recommended"]
    assert f"Left out: {table['said']}." in page.tree.note.object
    state.family = "exact"
    assert "Left out" not in page.tree.note.object


def test_a_slice_shows_what_the_tree_takes_between_the_sizes(page: DecisionsPage, state: State) -> None:
    page.tabs.active = TABS["Decisions"].index("Between the sizes")
    between = page.between
    assert between.held.value == 16
    chosen, fastest = (each for each in reversed(list(between.pane.object)) if isinstance(each, hv.Rectangles))
    decision = state.view.decision()
    assert decision is not None
    for who, low, high in zip(chosen["who"], chosen["slice_message_size"], chosen["slice_to"], strict=True):
        at = round(np.sqrt(low * high))
        assert who == f"chosen: {decision.methods[decision.predict_one(16, at)].label}"
    assert all(str(who).startswith("fastest: ") for who in fastest["who"])
    assert "expected to cost" in between.note.object
    state.pinned = (8, 1024)
    assert between.held.value == 8
    between.axis.value = "comm_size"
    assert between.held.value == 1024
    assert "over processes, 1 KiB" in hv.renderer("bokeh").get_plot(between.pane.object).state.title.text


def test_a_slice_of_a_tree_over_processes_per_node_is_at_those_of_the_map() -> None:
    times = np.random.default_rng(3).random((3, 5, 6, 2)) + 1
    state = show(cube_of(times, [2, 4, 6, 8, 16], [1, 8, 64, 512, 4096, 32768]))
    state.param.update(family="cart", across=True)
    page = DecisionsPage(state)
    page.tabs.active = TABS["Decisions"].index("Between the sizes")
    assert isinstance(page.between.pane.object, hv.Overlay)
    assert "bcast over message size" in hv.renderer("bokeh").get_plot(page.between.pane.object).state.title.text


def test_where_the_map_is_faded_the_figure_of_certainty_is_that_of_the_fading(results: Results) -> None:
    state = state_over(results)
    tiles = {tile.title: tile.figure for tile in answer(state.view)}
    assert "Certain" not in tiles
    assert tiles["Not tied"] == format_share(1 - state.view.needed().tied[0].mean())
    state.uncertainty = True
    sureness = state.view.sureness()
    sure = (sureness[np.isfinite(sureness)] >= 0.9).mean()
    tiles = {tile.title: tile.figure for tile in answer(state.view)}
    assert "Not tied" not in tiles
    assert 0 < sure < 1
    assert tiles["Certain"] == format_share(sure)


def test_the_source_is_what_the_command_exports(page: DecisionsPage, state: State) -> None:
    page.tabs.active = 1
    text = page.source.holder.value
    assert "int colltune_bcast(int comm_size, long long message_size)" in text
    assert page.source.download.filename == "colltune_bcast.c"
    assert page.source.download.callback().read().decode() == text
    assert "colltune_bcast" in page.source.view.object
    state.max_depth = 1
    assert page.source.holder.value != text


def test_sweeps_are_drawn_and_their_mark_follows(page: DecisionsPage, state: State) -> None:
    page.sweeps.__panel__().get_root(Document())
    live = page.sweeps.live

    def mark(column: str) -> float:
        (plot,) = live._plots["depth mark"]
        return float(plot.handles["source"].data[column][0])

    assert mark("max_depth") == 3
    assert mark("penalty_mean") == pytest.approx(10.76, abs=0.005)
    chart = page.sweeps.panes["depth"].object
    state.max_depth = 4
    assert mark("max_depth") == 4
    assert mark("penalty_mean") == pytest.approx(5.30, abs=0.005)
    assert page.sweeps.panes["depth"].object is chart
    assert "depth 4" in page.sweeps.titles["threshold depth"].object


def test_sweeps_over_many_cells_wait_to_be_asked_for() -> None:
    page = DecisionsPage(show(synthetic_cube(257, 256, 2, seed=1)))
    assert page.sweeps.button.visible
    assert "65,792 cells" in page.sweeps.note.object
    assert page.sweeps.panes["depth"].object is None


def test_only_the_open_tab_is_worked_for(results: Results) -> None:
    page = DecisionsPage(state_over(results))
    assert page.source.holder.value == ""
    assert page.table.view.object == ""


def test_sweeps_are_over_the_chosen_tree_s_own_parameter(page: DecisionsPage, state: State) -> None:
    state.family = "exact"
    assert page.sweeps.panes["depth"].object is None
    assert not page.sweeps.button.visible
    assert "no size to choose" in page.sweeps.note.object
    state.choose(Choice.of("intervals"))
    assert page.sweeps.button.visible
    page.sweeps.button.clicks += 1
    assert page.sweeps.own.visible
    heads = [re.sub("<[^>]*>", "", chart[0].object) for chart in page.sweeps.own]
    assert heads == ["Penalty of Intervals over most intervals", "Leaves of Intervals over most intervals"]
    chart = page.sweeps.own[0][1].object
    drawn = next(each for each in chart if isinstance(each, hv.Scatter))
    limit, penalty = drawn.dimension_values("x"), drawn.dimension_values("penalty_mean")
    assert list(limit) == list(range(1, limit.size + 1))
    assert (np.diff(penalty) <= 1e-9).all()
    assert penalty[0] == pytest.approx(
        state.view.statistics(Choice.of("intervals", {"max_intervals": 1}))["penalty"]["mean"]
    )
    state.family = "quadtree"
    assert not page.sweeps.own.visible
    assert page.sweeps.panes["depth"].object is not None
    assert not page.sweeps.note.visible
