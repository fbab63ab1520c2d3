"""The page *Decisions*, driven by its state; what it shows is looked at as data."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from bokeh.document import Document
from bokeh.models import HoverTool
from bokeh.plotting import figure

from dashboard.decisions import decision_map
from dashboard.export import source_lines
from dashboard.pages.decisions.answer import answer
from dashboard.pages.decisions.maps import MAPS
from dashboard.pages.decisions.page import DecisionsPage
from dashboard.pages.frame.first import First
from dashboard.pages.parts.reports import plain
from dashboard.session.choice import Choice
from dashboard.session.registry import Results, register
from dashboard.session.state import State
from tests.conftest import FAST_ETHERNET_PATTERN
from tests.cubes import cube_of, opposed_cubes, synthetic_cube
from tests.pages.export.showing import painted
from tests.states import state_of


@pytest.fixture(scope="module")
def results(fast_ethernet: xr.DataTree) -> Results:
    return register(fast_ethernet)


class Drawn:
    """A page whose maps are drawn: the sources of each of their layers."""

    def __init__(self, page: DecisionsPage) -> None:
        self.page = page
        self.root = page.maps.__panel__().get_root(Document())

    def column(self, layer: str, column: str) -> Any:
        (plot,) = self.page.maps.live._plots[layer]
        return plot.handles["source"].data[column]

    def image(self, layer: str) -> np.ndarray:
        return self.column(layer, "image")[0]


def state_over(results: Results) -> State:
    """Choices of a session that looks at the broadcast."""
    state = State.of(results)
    state.collective = "bcast"
    return state


@pytest.fixture(scope="module")
def drawn(results: Results) -> Drawn:
    """The page of most tests, each of which finds the choices as they were at first."""
    return Drawn(DecisionsPage(state_over(results)))


@pytest.fixture
def page(drawn: Drawn) -> Iterator[DecisionsPage]:
    yield drawn.page
    drawn.page.state.from_query({"collective": "bcast"})


@pytest.fixture
def state(page: DecisionsPage) -> State:
    return page.state


def show(cube: xr.Dataset) -> State:
    """State with the results of one cube."""
    return state_of(bcast=cube.assign_attrs(digest="of a test"))


def test_both_maps_show_the_methods_of_their_cells(page: DecisionsPage, drawn: Drawn, state: State) -> None:
    assert (drawn.image("exact") == painted(page.maps, state.view.decision_map()["best"].values)).all()
    assert (drawn.image("tree") == painted(page.maps, state.view.penalty()["chosen"].values)).all()


def test_the_rendered_plots_follow_the_sliders(page: DecisionsPage, drawn: Drawn, state: State) -> None:
    plots = {name: id(page.maps.panes[name].object) for name in MAPS}
    before, first = drawn.image("tree"), {"max_depth": 3, "threshold": 1.0, "limit_depth": True}
    for choice in ({"max_depth": 1}, {"max_depth": 5}, {"threshold": 0.4}, {"limit_depth": False}, {"max_depth": 0}):
        state.param.update(**first | choice)
        assert (drawn.image("tree") == painted(page.maps, state.view.penalty()["chosen"].values)).all(), choice
        assert (drawn.image("tree") != before).any(), choice
        crossed = np.isfinite(drawn.column("tree regions", "message_size_at")).sum() / 2
        assert crossed == np.isfinite(drawn.column("exact regions", "message_size_at")).sum() / 2
        assert (crossed == 0) == (state.view.decision().leaves == 1), choice
    assert {name: id(page.maps.panes[name].object) for name in MAPS} == plots


def test_the_penalty_map_follows_too(drawn: Drawn, state: State) -> None:
    assert (drawn.image("penalty") > 0).any()
    state.limit_depth = False
    assert (drawn.image("penalty") == 0).all()
    assert set(drawn.column("penalty text", "text")) == {""}


def test_letters_in_the_cells_follow(page: DecisionsPage, drawn: Drawn, state: State) -> None:
    state.max_depth = 4
    key = page.maps.scene.key
    chosen = state.view.penalty()["chosen"].values.ravel()
    texts = drawn.column("tree text", "text")
    said = {(text, method) for text, method in zip(texts, chosen, strict=True) if text}
    assert {method for _, method in said} == set(chosen)
    assert all(text in (key.letters[method], key.letters[method][0]) for text, method in said)


@pytest.mark.slow
def test_uncertainty_is_a_layer_that_the_address_tells(results: Results) -> None:
    page = DecisionsPage(state_over(results))
    assert "exact veil 0" not in Drawn(page).page.maps.live._plots
    page.controls.uncertainty.value = True
    assert page.state.to_query()["uncertainty"] == "true"
    assert "Probability that the method is the fastest" in page.maps.methods.object
    assert "exact veil 0" in Drawn(page).page.maps.live._plots
    page.controls.uncertainty.value = False
    assert "Probability" not in page.maps.methods.object


def test_regions_can_be_left_out(page: DecisionsPage, drawn: Drawn) -> None:
    page.controls.regions.value = False
    assert np.isnan(drawn.column("tree regions", "message_size_at")).all()
    assert np.isnan(drawn.column("exact regions", "message_size_at")).all()
    page.controls.regions.value = True
    assert np.isfinite(drawn.column("tree regions", "message_size_at")).any()


def test_controls_and_state_follow_each_other(page: DecisionsPage, state: State) -> None:
    controls = page.controls
    controls.depth.value = 2
    controls.threshold.value = 0.75
    controls.limit.value = False
    assert (state.max_depth, state.threshold, state.limit_depth) == (2, 0.75, False)
    assert controls.depth.disabled
    state.param.update(max_depth=4, threshold=0.5, limit_depth=True)
    assert (controls.depth.value, controls.threshold.value, controls.limit.value) == (4, 0.5, True)
    other = DecisionsPage(state_of(**opposed_cubes()))
    other.controls.collective.value = "reduce"
    assert other.state.collective == "reduce"


def test_the_depth_slider_ends_at_the_exact_tree_and_leaves_a_deeper_choice_alone(
    page: DecisionsPage, state: State
) -> None:
    state.max_depth = 9
    assert page.controls.depth.end == 5
    assert page.controls.depth.value == 5
    assert state.max_depth == 9


def test_exact_is_one_press(page: DecisionsPage, state: State) -> None:
    page.controls.exact.clicks += 1
    assert (state.limit_depth, state.threshold) == (False, 1.0)
    assert state.view.decision().leaves == 397


def test_processes_per_node_are_asked_for_where_results_differ_in_them(page: DecisionsPage) -> None:
    assert not page.controls.ppn.visible
    time = np.random.default_rng(1).random((3, 2, 4, 2))
    time[0, 0, 0, 0] = np.nan
    state = show(cube_of(time, [2, 4], [1, 2, 4, 8]))
    other = DecisionsPage(state)
    other.controls.ppn.value = 2
    assert state.ppn == 2
    assert (other.maps.scene.dmap["best_time"].values == time[..., 1].min(axis=0)).all()


def test_a_method_has_one_color_for_all_processes_per_node() -> None:
    state = show(cube_of(np.random.default_rng(2).random((5, 4, 4, 3)), [2, 4, 8, 16], [1, 2, 4, 8]))
    page = DecisionsPage(state)
    keys = set()
    for ppn in (1, 2, 3):
        state.ppn = ppn
        keys.add(page.maps.scene.key.colors)
    assert len(keys) == 1


def test_statistics_are_the_issues(page: DecisionsPage) -> None:
    text = re.sub(r"<[^>]+>", " ", page.statistics.table.object)
    words = text.split()
    assert {"46", "61", "2.87", "10.76", "176.8"} <= set(words)
    assert words[-4:] == ["lines", "of", "source", str(source_lines(page.state.view.decision()))]


def test_a_tap_pins_a_cell_on_every_map_and_a_second_one_unpins(
    page: DecisionsPage, drawn: Drawn, state: State
) -> None:
    axes = page.maps.scene.axes
    x, y = axes.centre((10, 2048))
    page.maps._taps[0].event(x=x, y=y)
    assert state.pinned == (10, 2048)
    for name in MAPS:
        assert (drawn.column(f"{name} pin", "message_size_at")[0], drawn.column(f"{name} pin", "comm_size_at")[0]) == (
            x,
            y,
        )
    assert "Pinned: 10 processes, 2 KiB. 25 methods measured" in page.maps.pinned.object
    assert page.unpin.visible
    page.maps._taps[2].event(x=x + 0.01, y=y)
    assert state.pinned is None
    assert np.isnan(drawn.column("tree pin", "message_size_at")).all()


def test_a_tap_beside_the_map_does_nothing(page: DecisionsPage, state: State) -> None:
    page.maps._taps[0].event(x=-99.0, y=3.0)
    page.maps._taps[0].event(x=None, y=None)
    assert state.pinned is None


def test_the_pinned_list_marks_what_the_tree_takes_now(page: DecisionsPage, state: State) -> None:
    state.pinned = (10, 2048)
    first = page.maps.pinned.object
    state.max_depth = 0
    assert first != page.maps.pinned.object
    place = int(state.view.penalty()["chosen"].sel(comm_size=10, message_size=2048))
    chosen = str(state.view.cube()["method"].values[place])
    assert f"{chosen} <strong>◀ chosen" in page.maps.pinned.object


def test_where_no_time_can_be_trusted_the_page_says_why_and_decides_when_told_to() -> None:
    torn = [1e-6, 1e-6, 1e-6, 9e-6, 10e-6, 80e-6, 90e-6, 90e-6]
    cube = cube_of(np.full((2, 1, 2), 1e-5), [4], [8, 64], benchmark="colltune bench, skampi")
    sample = ("method", "comm_size", "message_size", "repetition"), np.broadcast_to(torn, (2, 1, 2, 8))
    # What a file calls a method is no markup of the page.
    state = show(cube.assign(sample=sample).assign_coords(method=["<img src=x>", "b"]))
    page = DecisionsPage(state)
    assert not page.body.visible
    said = plain("no time can be trusted: left out 4 times that cannot be trusted (<img src=x>")
    assert page.message.object.startswith(said)
    assert "page Measure" in page.message.object
    page.keep.param.trigger("clicks")
    assert state.keep_doubtful
    assert (page.body.visible, page.keep.visible) == (True, False)


def test_figures_are_under_the_pointer_on_every_map_and_follow(drawn: Drawn, state: State) -> None:
    figures = [model for model in drawn.root.select({"type": figure}) if len(model.title.text) > 5]
    assert len(figures) == 3
    cells = []
    for drawing in figures:
        (tool,) = [tool for tool in drawing.tools if isinstance(tool, HoverTool)]
        cells.append(tool.formatters["@image"].args["cells"])
        assert len(cells[-1].data["best"]) == 209
    assert all(each.data["chosen"].tolist() != each.data["best"].tolist() for each in cells)
    state.limit_depth = False
    assert all(each.data["chosen"].tolist() == each.data["best"].tolist() for each in cells)


def test_without_results_the_page_says_what_to_do() -> None:
    page = DecisionsPage(State())
    assert not page.body.visible
    assert page.message.visible
    assert "No results" in page.message.object
    page.state.error = "x_1.txt: not a <b>result</b> file"
    assert (page.message.severity, page.message.object) == ("error", plain(page.state.error))
    page.state.param.update(error="", busy="Loading, 40 %")
    assert page.message.object == plain("Loading, 40 %")


def test_in_the_dashboard_what_stands_above_every_page_says_so_alone() -> None:
    state = State()
    state.navigated, state.page = True, "Decisions"
    page, above = DecisionsPage(state), First(state, lambda: None)
    for busy in ("", "Loading, 40 %"):
        state.busy = busy
        assert not page.message.visible
        assert above.text.visible


@pytest.mark.slow
def test_results_may_come_later_and_be_replaced(fast_ethernet_files: list[Path]) -> None:
    state = State()
    page = DecisionsPage(state)
    drawn = Drawn(page)
    state.load(fast_ethernet_files, pattern=FAST_ETHERNET_PATTERN)
    assert page.body.visible
    assert not page.message.visible
    state.show(register(xr.DataTree.from_dict({"reduce": synthetic_cube(4, 6, 3, seed=2)})))
    assert page.controls.collective.options == ["reduce"]
    assert page.maps.scene.axes.shape == (4, 6)
    assert drawn.image("exact").shape == (4, 6)
    state.max_depth = 1
    assert (drawn.image("tree") == painted(page.maps, state.view.penalty()["chosen"].values)).all()


def test_a_cube_in_which_nothing_was_measured_is_told_not_raised() -> None:
    cube = synthetic_cube(3, 3, 2, seed=1)
    cube["time"][:] = np.nan
    page = DecisionsPage(show(cube))
    assert page.message.visible
    assert page.message.severity == "error"
    assert not page.body.visible


def test_75_methods_and_8192_processes_are_drawn(shared: Path) -> None:
    state = State()
    state.load([shared / "data" / "pico" / "pico_consolidated.csv"], system="fugaku")
    state.collective = "allreduce"
    page = DecisionsPage(state)
    assert len(page.maps.scene.key.labels) == 75
    assert len(set(page.maps.scene.key.colors)) == 75
    assert page.maps.scene.axes.y.sizes[-1] == 8192
    assert [label for _, label in page.maps.scene.axes.y.ticks()][-1] == "8,192"
    listed = len(re.findall("<tr>", page.maps.methods.object)) - 1
    best = decision_map(state.view.cube())["best"].values
    assert listed == np.unique(best[best >= 0]).size < 75


def test_more_cells_than_pixels_are_said_to_be_too_many() -> None:
    cube = cube_of(np.random.default_rng(1).random((2, 2, 1100)), [2, 3], np.arange(1, 1101))
    page = DecisionsPage(show(cube))
    assert "2 × 1,100 cells" in page.message.object
    assert page.body.visible


def test_leaf_and_region_are_marked_together_by_a_pin_and_by_a_click(
    page: DecisionsPage, drawn: Drawn, state: State
) -> None:
    assert 'class="on"' not in page.tree.view.html
    assert np.isnan(drawn.column("exact lit", "message_size_at")).all()
    state.pinned = (10, 2048)
    assert 'class="on"' in page.tree.view.html
    axes, lit = page.maps.scene.axes, drawn.column("tree lit", "message_size_at")
    assert np.nanmin(lit) < axes.centre((10, 2048))[0] < np.nanmax(lit)
    leaf = int(re.search(r'data-leaf="(\d+)"><rect class="leaf on"', page.tree.view.html)[1])
    state.pinned = None
    assert np.isnan(drawn.column("tree lit", "message_size_at")).all()
    page.tree.view.clicked = [leaf, 1]
    assert np.array_equal(drawn.column("tree lit", "message_size_at"), lit, equal_nan=True)
    page.tree.view.clicked = [leaf, 2]
    assert 'class="on"' not in page.tree.view.html


def test_the_page_opens_with_the_figures_and_says_where_they_are_bad(page: DecisionsPage, state: State) -> None:
    # Of the 46 leaves that the published table counts, 14 are on the map, some beside others that say the same.
    tiles = {tile.title: tile for tile in answer(state.view)}
    assert (tiles["Rules"].figure, tiles["Rules"].alarm) == ("11", "")
    assert (tiles["Lost on average"].figure, bool(tiles["Lost on average"].alarm)) == ("10.76 %", True)
    assert (tiles["Lost at worst"].figure, bool(tiles["Lost at worst"].alarm)) == ("176.8 %", True)
    assert "not measured" in tiles["Against the library's default"].note
    assert "176.8 %" in page.answer.html.object
    state.family = "exact"
    tiles = {tile.title: tile for tile in answer(state.view)}
    assert tiles["Rules"].alarm.startswith("101 rules on 209 cells")
    assert not tiles["Lost on average"].alarm
    assert tiles["Lost at worst"].figure == "0 %"
    assert "processes" not in tiles["Lost at worst"].note


def test_what_a_tree_of_two_sizes_asks_for_is_a_control_of_the_page() -> None:
    state = state_of(**opposed_cubes())
    state.param.update(across=True, together=("reduce",))
    page = DecisionsPage(state)
    state.choose(Choice.of("optimal", {"leaves": 2}))
    controls = page.controls.across.label, page.controls.together.label
    assert plain(f"page Decisions: without {' and '.join(controls)}") in page.message.object
