"""The page *Models*: models beside measurements, parameters that move the curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.document import Document

from dashboard.models import MODEL_NAMES, MODELS
from dashboard.models.fit import residual_table
from dashboard.models.observations import observe
from dashboard.pages.models import TABS, ModelsPage
from dashboard.registry import Results, load_results
from dashboard.samples import sample_start
from dashboard.state import State


@pytest.fixture(scope="module")
def results() -> Results:
    start = sample_start()
    return load_results(start.paths, **start.hints)


@pytest.fixture
def state(results: Results) -> State:
    state = State()
    state.show(results)
    state.page = "Models"
    return state


def shown(state: State) -> ModelsPage:
    page = ModelsPage(state)
    page.__panel__().get_root(Document())
    return page


@pytest.fixture
def page(state: State) -> ModelsPage:
    return shown(state)


def source(live: Any, name: str) -> dict[str, Any]:
    (plot,) = live._plots[name]
    return plot.handles["source"].data


def open_tab(page: ModelsPage, title: str) -> Any:
    page.tabs.active = TABS.index(title)
    return page.parts[page.tabs.active]


def test_a_slider_moves_the_curves_where_they_are(page: ModelsPage) -> None:
    curves = page.parts[0]
    drawn = curves.time.object
    slot = [each.algorithm for each in page.choice.methods].index("binomial")
    page.panel.sliders["hockney", "alpha"].value = -3.0
    xs, ys = (source(curves.live, "curves hockney")[name][slot] for name in ("xs", "ys"))
    beta = page.choice.parameters["hockney"].beta
    assert page.choice.parameters["hockney"].alpha == 1e-3
    assert ys == pytest.approx(4 * (1e-3 + beta * xs))
    assert curves.time.object is drawn
    assert "1.000 ms" in page.panel.sliders["hockney", "alpha"].label


def test_held_sizes_move_measurements_too(page: ModelsPage, state: State) -> None:
    curves = page.parts[0]
    drawn = curves.time.object
    curves.held.sliders["comm_size"].value = 8
    times = source(curves.live, "points")["time"]
    cube = state.cube().sel(comm_size=8)
    first = cube.sel({"method": page.choice.methods[0].measured})["time"].values
    assert times[: first.size] == pytest.approx(first)
    assert curves.time.object is drawn
    assert "8 processes" in curves.title.object


def test_a_machine_sets_all_sliders(page: ModelsPage) -> None:
    page.panel.machine.value = "boba"
    assert page.panel.sliders["hockney", "alpha"].label.endswith("47.60 µs")
    assert page.panel.sliders["loggp", "gap_per_byte"].label.endswith("15 ns/B")


def test_a_machine_without_loggp_leaves_hockney_alone(page: ModelsPage) -> None:
    page.panel.machine.value = "thunderbird"
    assert page.choice.view().models == ("hockney",)
    assert not page.panel.sliders["loggp", "gap"].visible
    assert "no parameters" in page.panel.notes["loggp"].object


def test_plogp_follows_loggp_where_it_has_no_parameters_of_its_own(page: ModelsPage) -> None:
    page.panel.machine.value = "grig-mx"
    page.models.value = list(MODEL_NAMES)
    slot = [each.algorithm for each in page.choice.methods].index("linear")
    loggp, plogp = (source(page.parts[0].live, f"curves {name}")["ys"][slot] for name in ("loggp", "plogp"))
    # Table 4.1 keeps the time of a message, and so that of all of them one after the other.
    assert plogp == pytest.approx(loggp)


def test_typed_parameters_are_taken_or_refused_with_the_reason(page: ModelsPage) -> None:
    page.panel.typed["hockney"].value = "alpha=50,beta=1e-8"
    assert page.panel.message.visible
    assert "microseconds" in page.panel.message.object
    assert page.choice.parameters["hockney"].alpha == pytest.approx(110.65e-6)
    page.panel.typed["hockney"].value = "alpha=5e-5,beta=1e-8"
    assert not page.panel.message.visible
    assert page.choice.parameters["hockney"].alpha == 5e-5


def test_a_fit_comes_nearer_to_the_measurements(page: ModelsPage, state: State) -> None:
    observed = observe(state.cube(), ["binomial"])

    def off() -> float:
        told = residual_table(observed, page.choice.parameters["hockney"])
        return float(np.abs(np.log(told["predicted"] / told["measured"])).mean())

    page.models.value, page.methods.value = ["hockney"], ["binomial"]
    page.panel.machine.value = "boba"
    before = off()
    page.panel._fit()
    assert page.choice.name_of_set == "fitted, bcast"
    assert off() < 0.3 * before
    assert "median error" in page.panel.source.object
    assert page.panel.machine.value == "fitted, bcast"


def test_the_ping_pong_gives_parameters_of_all_models(page: ModelsPage) -> None:
    page.panel._pingpong()
    assert set(page.choice.parameters) == set(MODEL_NAMES)
    page.models.value = list(MODEL_NAMES)
    before = page.choice.parameters["plogp"].gap[-1]
    page.panel.stretch.value = 0.3
    assert page.choice.parameters["plogp"].gap[-1] == pytest.approx(before * 10**0.3)


def test_the_axis_can_be_any_size(page: ModelsPage) -> None:
    for axis in ("comm_size", "segment_size", "message_size"):
        page.parts[0].axis.value = axis
        xs = source(page.parts[0].live, "curves hockney")["xs"]
        assert all((np.diff(each) > 0).all() for each in xs)
        assert len(source(page.parts[0].live, "points")["at"])
    page.parts[0].log.value = False
    assert not page.choice.view().log


def test_every_collective_fills_every_tab(page: ModelsPage, state: State) -> None:
    """Those that were measured and those that were not."""
    for collective, known in MODELS.items():
        page.collective.value = collective
        assert state.collective == collective or collective not in state.param.collective.objects
        for title in TABS:
            part = open_tab(page, title)
            if title == "Formulas":
                assert part.text.object.count("<h3>") == len(known)
        assert not page.message.visible
        page.tabs.active = 0
        slots = range(len(page.choice.view().drawn))
        assert slots
        assert all(source(page.parts[0].live, "curves loggp")["ys"][slot].size > 1 for slot in slots)


def test_segments_tab_marks_the_optimum(page: ModelsPage) -> None:
    part = open_tab(page, "Optimal segment size")
    part.algorithm.value = "pipeline"
    hockney, size = page.choice.parameters["hockney"], page.choice.message_size
    best = source(part.live, "hockney best")["at"]
    assert best == pytest.approx([np.sqrt(size * hockney.alpha / (14 * hockney.beta))], abs=1)


def test_the_time_line_says_where_an_algorithm_does_not_work(page: ModelsPage) -> None:
    page.collective.value = "allgather"
    part = open_tab(page, "Time line")
    part.algorithm.value = "recursive_doubling"
    assert "powers of two" in part.message.object
    assert not part.found.visible
    part.processes.value = 8
    assert part.found.visible


def test_too_many_messages_are_not_drawn(page: ModelsPage) -> None:
    page.collective.value = "allreduce"
    part = open_tab(page, "Time line")
    part.algorithm.value = "ring_segmented"
    part.processes.value = 16
    part.segments.value = 16
    assert "too many" in part.message.object


def test_without_results_models_stand_alone() -> None:
    page = shown(State(page="Models"))
    assert not page.message.visible
    assert not page.panel.fit.visible
    assert not page.parts[0].below.visible
    assert all(len(ys) for ys in source(page.parts[0].live, "curves hockney")["ys"])


def test_nothing_chosen_is_told(page: ModelsPage) -> None:
    page.methods.value = []
    assert page.message.visible
    page.methods.value = ["binomial"]
    assert not page.message.visible


def test_another_collective_elsewhere_is_followed(page: ModelsPage, state: State) -> None:
    state.collective = "reduce"
    assert page.choice.collective == page.collective.value == "reduce"
    assert all(each.algorithm in MODELS["reduce"] for each in page.choice.methods)
