"""The page *Models*: models beside measurements, parameters that move the curves."""

import json
from html import escape

import numpy as np
import pytest
import xarray as xr

from dashboard.models import MODELS
from dashboard.models.fit import fit_all
from dashboard.models.observations import observe
from dashboard.models.parameter_text import write_set
from dashboard.pages.models.page import TABS, ModelsPage
from dashboard.pages.parts.reports import plain
from dashboard.session.recipes import as_command
from dashboard.session.registry import register
from dashboard.session.state import State
from tests.cubes import cube_of
from tests.pages.models.viewing import drawn, open_tab, source
from tests.states import sample_state, state_of
from tests.uploading import upload


def test_a_slider_moves_the_curves_where_they_are(page: ModelsPage) -> None:
    curves = drawn(page.parts[0])
    chart = curves.time.object
    slot = [each.algorithm for each in page.choice.methods].index("binomial")
    page.panel.sliders["hockney", "alpha"].value = -3.0
    xs, ys = (source(curves, "curves hockney")[name][slot] for name in ("xs", "ys"))
    beta = page.choice.parameters["hockney"].beta
    assert page.choice.parameters["hockney"].alpha == 1e-3
    assert ys == pytest.approx(4 * (1e-3 + beta * xs))
    assert curves.time.object is chart
    assert "1.000 ms" in page.panel.sliders["hockney", "alpha"].label
    assert page.panel.sliders["hockney", "alpha"].value_label == "1.000 ms"


def test_of_one_process_tabs_say_that_there_is_nothing_to_show() -> None:
    page = ModelsPage(state_of(bcast=cube_of(np.ones((1, 1, 3)), [1], [8, 16, 32])))
    assert "One process sends nothing" in open_tab(page, "Optimal").message.object
    assert open_tab(page, "Processes").chart.object is not None


def test_held_sizes_move_measurements_too(page: ModelsPage, state: State) -> None:
    curves = drawn(page.parts[0])
    chart = curves.time.object
    curves.held.sliders["comm_size"].value = 8
    times = source(curves, "points")["time"]
    cube = state.view.cube().sel(comm_size=8)
    first = cube.sel({"method": page.choice.methods[0].measured})["time"].values
    assert times[: first.size] == pytest.approx(first)
    assert curves.time.object is chart
    assert "8 processes" in curves.title.object


def test_the_axis_comes_back_after_a_barrier(page: ModelsPage) -> None:
    curves = page.parts[0]
    page.collective.value = "barrier"
    assert (curves.axis.value, curves.axis.disabled, page.choice.view().axis) == ("comm_size", True, "comm_size")
    page.collective.value = "bcast"
    assert (curves.axis.value, curves.axis.disabled, page.choice.view().axis) == ("message_size", False, "message_size")


def test_where_nothing_is_cut_there_is_nothing_to_choose(page: ModelsPage) -> None:
    part = open_tab(page, "Segment size")
    widgets = (part.algorithm, part.cut, *part.held.sliders.values())
    for collective, there in (("barrier", False), ("bcast", True)):
        page.collective.value = collective
        assert {each.visible for each in widgets} == {there}


@pytest.mark.slow
def test_the_axis_can_be_any_size(page: ModelsPage) -> None:
    for axis in ("comm_size", "segment_size", "message_size"):
        page.parts[0].axis.value = axis
        xs = source(page.parts[0], "curves hockney")["xs"]
        assert all((np.diff(each) > 0).all() for each in xs)
        assert len(source(page.parts[0], "points")["at"])
    page.parts[0].log.value = False
    assert not page.choice.view().log


@pytest.mark.soak
def test_collectives_fill_every_tab(page: ModelsPage, state: State) -> None:
    """One that was measured, one that was not, and the one without messages."""
    for collective in ("bcast", "scan", "barrier"):
        known = MODELS[collective]
        page.collective.value = collective
        assert state.collective == collective or collective not in state.param.collective.objects
        for title in TABS:
            part = open_tab(page, title)
            # Those of what was measured are drawn by each tab's own tests; what is drawn follows from then on.
            if collective == "scan":
                drawn(part)
            if title == "Formulas":
                assert part.text.object.count("<h3>") == len(known)
        assert not page.message.visible
        page.tabs.active = 0
        slots = range(len(page.choice.view().drawn))
        assert slots
        if collective != "bcast":
            assert all(source(page.parts[0], "curves loggp")["ys"][slot].size > 1 for slot in slots)


def test_segments_tab_marks_the_optimum(page: ModelsPage) -> None:
    part = open_tab(page, "Segment size")
    part.algorithm.value = "pipeline"
    hockney, size = page.choice.parameters["hockney"], page.choice.message_size
    (best,) = source(part, "hockney best")["at"]
    formula = np.sqrt(size * hockney.alpha / (14 * hockney.beta))
    assert best in {np.ceil(size / np.floor(size / formula)), np.ceil(size / np.ceil(size / formula))}
    assert f"{round(formula):,} B: " in part.table.object


def test_without_results_models_stand_alone() -> None:
    page = ModelsPage(State(page="Models"))
    assert not page.message.visible
    assert not page.panel.fit.visible
    assert not page.parts[0].below.visible
    assert all(len(ys) for ys in source(page.parts[0], "curves hockney")["ys"])


def test_nothing_chosen_is_told(page: ModelsPage) -> None:
    page.methods.value = []
    assert page.message.visible
    page.methods.value = ["binomial"]
    assert not page.message.visible


def test_another_collective_elsewhere_is_followed(page: ModelsPage, state: State) -> None:
    state.collective = "reduce"
    assert page.choice.collective == page.collective.value == "reduce"
    assert all(each.algorithm in MODELS["reduce"] for each in page.choice.methods)


def test_formulas_as_published(page: ModelsPage) -> None:
    page.collective.value = "reduce"
    page.methods.value, page.models.value = ["flat_tree"], ["loggp"]
    right = source(page.parts[0], "curves loggp")["ys"][0].copy()
    page.variant.value = "as_published"
    printed = source(page.parts[0], "curves loggp")["ys"][0]
    assert (printed != right).any()
    assert "formulas as published" in page.parts[0].title.object
    assert "as printed: an erratum" in page.parts[0].legend.object


def test_best_cases(page: ModelsPage) -> None:
    assert not page.best.visible
    page.collective.value = "barrier"
    assert page.best.visible
    page.methods.value = ["flat_tree"]
    worst = source(page.parts[0], "curves loggp")["ys"][0].copy()
    page.best.value = True
    assert (source(page.parts[0], "curves loggp")["ys"][0] <= worst).all()
    assert "best case" in page.parts[0].title.object


def test_the_view_comes_back_from_the_address(page: ModelsPage, state: State) -> None:
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
    other = sample_state()
    assert other.from_query(query) == []
    again = ModelsPage(other)
    for name in ("axis", "methods", "models", "variant", "by", "tab", "comm_size", "message_size"):
        assert getattr(again.choice, name) == getattr(page.choice, name)
    assert write_set(again.choice.current()) == write_set(page.choice.current())
    assert again.tabs.active == TABS.index("Decision")
    assert other.to_query() == query


def test_an_address_without_a_view_brings_back_how_the_page_begins(page: ModelsPage, state: State) -> None:
    choice = page.choice
    names = ("collective", "methods", "parameters", "name_of_set", "comm_size", "message_size", "by")
    began, before = {name: getattr(choice, name) for name in names}, state.to_query()
    page.panel.typed["hockney"].value = "alpha=1e-4,beta=8e-8"
    page.methods.value = ["linear"]
    choice.param.update(comm_size=2, message_size=1024, by="loggp")
    page.collective.value = "barrier"
    page._write()
    assert "models" not in before
    assert "changed" in state.to_query()["models"]
    assert state.from_query(before) == []
    assert {name: getattr(choice, name) for name in names} == began
    assert state.to_query() == before


def test_an_address_keeps_that_no_model_is_on_show(page: ModelsPage, state: State) -> None:
    page.models.value = []
    page._write()
    other = sample_state(page="Models")
    assert other.from_query(state.to_query()) == []
    assert ModelsPage(other).choice.models == ()
    assert other.notice == ""


def test_a_bad_view_is_told_and_the_rest_is_used() -> None:
    state = sample_state()
    view = "axis:bush;p:-1;m:1024;models:magic;parameters:/etc/passwd;tab:-1;methods:linear,garland;bush:1"
    state.from_query({"page": "Models", "models": view})
    page = ModelsPage(state)
    for word in (
        "axis = 'bush': possible are message_size, comm_size",
        "comm_size = '-1': possible are 1 to 16,777,216.",
        "tab = '-1': possible are 0 or more.",
        "models = 'magic'",
        "no machine '/etc/passwd'",
        "garland",
        "'bush'",
    ):
        assert word in state.notice
    # Nobody who reads an address knows the program's own parts.
    assert "ModelChoice" not in state.notice
    assert ".." not in state.notice
    assert page.choice.message_size == 1024
    assert [each.algorithm for each in page.choice.methods] == ["linear"]
    # The link has what is shown.
    assert "bush" not in state.model_view
    assert "m:1024" in state.model_view


def test_what_a_fit_knows_is_shown(page: ModelsPage) -> None:
    part = open_tab(page, "Fit")
    assert "not fitted to the measurements on show" in part.message.object
    page.panel._fit()
    assert not part.message.visible
    assert "95 % confidence intervals" in part.intervals.object
    assert "α, latency" in part.intervals.object
    part.model.value = "loggp"
    assert "not determined" in part.intervals.object
    assert part.methods.object.count("<tr>") == 1 + len(page.choice.methods)


def test_the_link_of_a_fit_fits_again(page: ModelsPage, state: State) -> None:
    page.choice.methods = page.choice.methods[:2]
    part = open_tab(page, "Fit")
    page.panel._fit()
    part.model.value = "loggp"
    # Which methods are drawn since is another choice.
    page.choice.methods = page.choice.methods[:1]
    page._write()
    other = sample_state()
    other.from_query(state.to_query())
    again = ModelsPage(other)
    shown = again.parts[again.tabs.active]
    assert not shown.message.visible
    assert shown.model.value == "loggp"
    assert shown.intervals.object == part.intervals.object
    assert shown.methods.object.count("<tr>") == 1 + 2
    again._write()
    assert other.model_view == state.model_view


def test_a_fit_to_other_measurements_is_not_told_of_these(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Fit")
    page.panel._fit()
    command = as_command(state)
    assert "-c bcast" in command
    state.collective = "reduce"
    assert "not fitted to the measurements on show" in part.message.object
    assert as_command(state) == "# There is no command for the tab Fit; the link shows it."
    page._write()
    assert "linear" not in state.model_view
    state.collective = "bcast"
    assert not part.message.visible
    assert as_command(state) == command


def test_times_that_rest_on_what_was_not_fitted_are_warned_of(page: ModelsPage, state: State) -> None:
    parts = {title: open_tab(page, title) for title in ("Optimal", "Segment size")}
    page.choice.add("mine", fit_all(observe(state.view.cube()), ("hockney", "plogp"), name="mine")[0])
    page.models.value = ["hockney", "plogp"]
    parts["Segment size"].algorithm.value = "pipeline"
    page.choice.param.update(comm_size=8, message_size=1 << 20)
    assert "PLogP: this rests on gap at 32 B" in parts["Segment size"].warning.text
    assert "Hockney" not in parts["Segment size"].warning.text
    open_tab(page, "Optimal").model.value = "plogp"
    assert "209 of 209 cells rest on gap at 0 B" in parts["Optimal"].warning.text
    parts["Optimal"].model.value = "hockney"
    assert not parts["Optimal"].warning.visible


def test_what_an_address_or_a_file_calls_things_is_text(page: ModelsPage, state: State) -> None:
    name = "<img src=x onerror=alert(1)>"
    state.model_view = f"parameters:{name}: hockney alpha=0.0001,beta=1e-08;tab:{TABS.index('Parameters')}"
    title = page.parts[page.tabs.active].title.object
    assert title == f"<strong>Parameters of {escape(name)}</strong>"
    known = json.loads(page.choice.current().to_json())
    upload(page.panel.file, "mine.json", json.dumps({**known, "parameters": {name: {}}}).encode())
    assert page.panel.message.visible
    assert plain(name) in page.panel.message.object


def test_what_a_file_calls_a_method_is_text(page: ModelsPage, state: State) -> None:
    name = "<img src=x onerror=alert(1)>"
    cube = cube_of(np.full((1, 2, 2), 1e-5), [2, 4], [8, 64])
    cube = cube.assign_coords(method=[name], algorithm=("method", [name]))
    state.show(register(xr.DataTree.from_dict({"/bcast": cube})))
    part = open_tab(page, "Processes")
    part.method.value = next(each for each in page.choice.offered() if each.label == name)
    assert part.title.object == f"<strong>bcast {escape(name)} over message size</strong>"
