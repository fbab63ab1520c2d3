"""The page *Models*: models beside measurements, parameters that move the curves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr
from bokeh.document import Document

from dashboard.decisions import DecisionFunction
from dashboard.models import MODEL_NAMES, MODELS
from dashboard.models.fit import residual_table
from dashboard.models.observations import observe
from dashboard.models.parameter_set import write_set
from dashboard.pages.models import TABS, ModelsPage
from dashboard.registry import Results, load_results, register
from dashboard.samples import sample_start
from dashboard.state import State
from tests.conftest import FAST_ETHERNET


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


def test_collectives_fill_every_tab(page: ModelsPage, state: State) -> None:
    """One that was measured, one that was not, and the one without messages."""
    for collective in ("bcast", "scan", "barrier"):
        known = MODELS[collective]
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
    part = open_tab(page, "Segment size")
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


def test_the_decision_of_models_stands_beside_the_measured_one(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Decision")
    part.by.value = "loggp"
    wanted = page.choice.decision()
    decision, table = state.decision(wanted), state.penalty(wanted)
    assert decision is not None
    assert table is not None
    assert decision.kind == "model"
    for row, count in enumerate(table["comm_size"].values):
        for column, size in enumerate(table["message_size"].values):
            label = decision.methods[decision.predict_one(int(count), int(size))].label
            assert str(table["method"].values[table["chosen"].values[row, column]]) == label
    drawn = part.panes["model"].object
    part.by.value = "hockney"
    # Moved where it is, not drawn anew.
    assert part.panes["model"].object is drawn
    assert "no model covers chain" in part.note.object.lower()
    assert "LogP / LogGP" in part.figures.object
    assert "chosen by the models" in part.methods.object


def test_models_are_taken_as_the_decision_everywhere(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Decision")
    page.panel.sliders["hockney", "alpha"].value = -4.5
    part.by.value, part.encode.value = "weight", "cart"
    part.trust.value = "hockney=9,loggp=1,plogp=1"
    part._take()
    assert state.family == "model"
    assert state.shown == page.choice.decision()
    decision = state.decision()
    assert decision is not None
    told = decision.provenance["models"]
    assert told["parameters"]["hockney"]["alpha"] == pytest.approx(10**-4.5, rel=1e-3)
    assert told["encoded"]["tree"] == "cart"
    # The same view, and the same tree, from its address.
    other = State()
    other.show(Results(state.results, state.results_id))
    assert other.from_query(state.to_query()) == []
    assert other.choice() == state.choice()
    assert other.decision() == decision
    part._set_beside()
    assert (state.other, state.page) == (state.choice(), "Compare")


def test_bad_weights_are_told(page: ModelsPage) -> None:
    part = open_tab(page, "Decision")
    part.trust.value = "hockney=none"
    assert "weights above 0" in part.message.object
    part.trust.value = "hockney=2,loggp=1,plogp=1"
    part.by.value = "weight"
    assert part.found.visible


def test_methods_that_were_not_measured_can_be_chosen(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Decision")
    part.candidates.value = ["binomial", "linear", "split_binary 64KiB"]
    assert page.choice.candidates == ("binomial", "linear", "split_binary 64KiB")
    assert "split_binary 64KiB" in part.methods.object
    assert state.penalty(page.choice.decision()).attrs["unmeasured"] > 0
    part.candidates.value = ["split_binary_tree 8KiB", "linear"]
    assert state.penalty(page.choice.decision()).attrs["unmeasured"] == 0


def test_what_models_complete_is_marked(results: Results) -> None:
    cube = results.tree["bcast"].to_dataset().copy(deep=True)
    cube["time"][:, 1::2, 1::2] = np.nan
    state = State(page="Models")
    state.show(register(xr.DataTree.from_dict({"bcast": cube.assign_attrs(digest="sparse")})))
    page = shown(state)
    part = open_tab(page, "Decision")
    part.fill.value = True
    assert "times predicted by the loggp model" in part.note.object
    missing = cube["time"].isnull().all("method").values
    assert f"Dotted: {int(missing.sum())} of {missing.size}" in part.methods.object
    boxes = source(part.live, "model marks")
    assert len(boxes["left"]) >= missing.any(axis=1).sum()


def test_collectives_that_were_not_measured_are_decided_alone(page: ModelsPage) -> None:
    page.collective.value = "scatter"
    part = open_tab(page, "Decision")
    assert not part.take.visible
    assert "Nothing of this collective was measured" in part.note.object
    assert "linear" in part.methods.object


def test_optimal_implementations(page: ModelsPage) -> None:
    part = open_tab(page, "Optimal")
    assert "binomial" in part.algorithms.object
    assert "not segmented" in part.segments.object
    pixels = source(part.live, "optimal")["image"][0]
    decision = DecisionFunction.from_json(part.save.callback().read().decode())
    large = decision.methods[decision.predict_one(16, 256 << 10)]
    assert large.segment_size == part.optimal["segment_size"].sel(comm_size=16, message_size=256 << 10)
    part.model.value = "loggp"
    assert (source(part.live, "optimal")["image"][0] != pixels).any()
    page.collective.value = "barrier"
    assert "no message to cut" in part.message.object


def test_formulas_as_published(page: ModelsPage) -> None:
    page.collective.value = "reduce"
    page.methods.value, page.models.value = ["flat_tree"], ["loggp"]
    right = source(page.parts[0].live, "curves loggp")["ys"][0].copy()
    page.variant.value = "as_published"
    printed = source(page.parts[0].live, "curves loggp")["ys"][0]
    assert (printed != right).any()
    assert "formulas as published" in page.parts[0].title.object
    assert "as printed: an erratum" in page.parts[0].legend.object


def test_best_cases(page: ModelsPage) -> None:
    assert not page.best.visible
    page.collective.value = "barrier"
    assert page.best.visible
    page.methods.value = ["flat_tree"]
    worst = source(page.parts[0].live, "curves loggp")["ys"][0].copy()
    page.best.value = True
    assert (source(page.parts[0].live, "curves loggp")["ys"][0] <= worst).all()
    assert "best case" in page.parts[0].title.object


def test_the_view_comes_back_from_the_address(page: ModelsPage, state: State, results: Results) -> None:
    assert state.model_view == ""
    page.methods.value = ["pipeline 8KiB", "binomial"]
    page.models.value = ["loggp", "plogp"]
    page.parts[0].axis.value = "comm_size"
    page.panel.machine.value = "boba"
    page.panel.sliders["loggp", "gap"].value = -4.0
    page.variant.value = "as_published"
    page.tabs.active = TABS.index("Decision")
    page.parts[TABS.index("Decision")].by.value = "loggp"
    query = state.to_query()
    other = State()
    other.show(results)
    assert other.from_query(query) == []
    again = shown(other)
    for name in ("axis", "methods", "models", "variant", "by", "tab", "comm_size", "message_size"):
        assert getattr(again.choice, name) == getattr(page.choice, name)
    assert write_set(again.choice.current()) == write_set(page.choice.current())
    assert again.tabs.active == TABS.index("Decision")
    assert other.to_query() == query


def test_a_bad_view_is_told_and_the_rest_is_used(results: Results) -> None:
    state = State()
    state.show(results)
    view = "axis:bush;p:-1;m:1024;models:magic;parameters:/etc/passwd;tab:99;methods:linear,chain;bush:1"
    state.from_query({"page": "Models", "models": view})
    page = shown(state)
    for word in (
        "axis = 'bush'",
        "comm_size = '-1'",
        "models = 'magic'",
        "no machine '/etc/passwd'",
        "chain",
        "'bush'",
    ):
        assert word in state.notice
    assert page.choice.message_size == 1024
    assert [each.algorithm for each in page.choice.methods] == ["linear"]


def test_what_a_fit_knows_is_shown(page: ModelsPage) -> None:
    part = open_tab(page, "Fit")
    assert "not fitted here" in part.message.object
    page.panel._fit()
    assert not part.message.visible
    assert "95 % confidence intervals" in part.intervals.object
    assert "alpha" in part.intervals.object
    part.model.value = "loggp"
    assert "not determined" in part.intervals.object
    assert part.methods.object.count("<tr>") == 1 + len(page.choice.methods)


def test_parameters_are_saved_and_loaded(page: ModelsPage, state: State) -> None:
    page.panel.machine.value = "boba"
    page.panel.sliders["hockney", "alpha"].value = -4.0
    text = page.panel.save.callback().read().decode()
    saved = json.loads(text)
    assert saved["provenance"]["how"] == "changed by hand"
    assert saved["provenance"]["from"]["sources"] == ["dissertation, Tables 4.12 and 4.13"]
    other = shown(state)
    other.panel.file.param.update(filename="mine.json", value=text.encode())
    assert other.choice.parameters == page.choice.parameters
    table = FAST_ETHERNET / "pointtopoint.csv"
    other.panel.file.param.update(filename=table.name, value=table.read_bytes())
    assert other.choice.name_of_set == "pointtopoint"
    assert set(other.choice.parameters) == set(MODEL_NAMES)
    for content, words in ((b"{", "not JSON"), (b"\xff\xfe", "UTF-8"), (b"x" * (2 << 20), "at most")):
        other.panel.file.param.update(filename="bad.json", value=content)
        assert words in other.panel.message.object
        assert other.choice.name_of_set == "pointtopoint"


def test_models_without_parameters_can_be_typed_in(page: ModelsPage) -> None:
    page.panel.machine.value = "thunderbird"
    page.models.value = list(MODEL_NAMES)
    page.panel.typed["plogp"].value = "latency=5e-5,sizes=0/1024,gap=1e-5/9e-5,send_overhead=5e-6/6e-6"
    assert "receive_overhead" in page.panel.message.object
    page.panel.typed[
        "plogp"
    ].value = "latency=5e-5,sizes=0/1024,gap=1e-5/9e-5,send_overhead=5e-6/6e-6,receive_overhead=5e-6/7e-6"
    assert not page.panel.message.visible
    assert page.choice.view().models == ("hockney", "plogp")
