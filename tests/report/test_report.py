"""The report: one file that opens without a network and shows everything."""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from playwright.sync_api import Browser, BrowserContext, Page

from dashboard.decisions import DecisionError, DecisionFunction
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.units import format_percent
from dashboard.export.writing import Order, write
from dashboard.models.deciding import model_penalties
from dashboard.models.family import fitted_parameters
from dashboard.models.predicting import Covered, candidates, predicted_cube
from dashboard.plots.backend import FONT
from dashboard.plots.view_maps import Scene
from dashboard.report import Contents, to_html
from dashboard.report.models import _curves
from dashboard.session.choice import Choice
from dashboard.session.state import State
from dashboard.session.treatment import Workload
from tests.cubes import cube_of, named, synthetic_cube
from tests.models.networks import HOCKNEY
from tests.states import state_of

QUICK = Contents(frontier=False)
MODELS = Contents(frontier=False, models=True)
EVIL = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def sample() -> State:
    return state_of(bcast=synthetic_cube(6, 9, 5, seed=1, missing=0.1), reduce=synthetic_cube(5, 7, 3, seed=2))


@pytest.fixture
def offline(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    yield context
    context.close()


def opened(context: BrowserContext, path: Path) -> tuple[Page, list[str]]:
    wrong: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    page.goto(path.as_uri())
    return page, wrong


_DRAWN = """(count) => {
    const all = (root) => [...root.querySelectorAll('*')].flatMap(
        (e) => [...(e.tagName === 'CANVAS' && e.width > 200 ? [e] : []), ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    return all(document).length >= count
}"""


@pytest.mark.slow
def test_it_opens_without_a_network_and_draws_every_figure(
    sample: State, offline: BrowserContext, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(to_html(sample.view, Contents(held_out=None)), encoding="utf-8")
    page, wrong = opened(offline, path)
    # Three maps and a frontier for each of two collectives.
    page.wait_for_function(_DRAWN, arg=8)
    assert wrong == []
    assert page.locator("h2").all_inner_texts() == ["Summary", "bcast", "reduce", "Measurements"]
    # Judged by what they were made from, trees are not recommended.
    assert "Recommended:" not in page.inner_text("main")
    pages = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type /Page\b", pages)) == page.locator("h2").count()


@pytest.mark.slow
def test_the_pointer_tells_a_cell_without_a_server(sample: State, offline: BrowserContext, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(to_html(sample.view, Contents(("bcast",), frontier=False)), encoding="utf-8")
    page, wrong = opened(offline, path)
    page.wait_for_function(_DRAWN, arg=3)
    figure = page.locator(".figures > div").first.bounding_box()
    page.mouse.move(figure["x"] + figure["width"] / 2, figure["y"] + figure["height"] / 2)
    page.get_by_text("methods measured").first.wait_for()
    assert wrong == []


@pytest.mark.slow
def test_its_figures_are_those_of_the_command(sample: State) -> None:
    html = to_html(sample.view, QUICK)
    assert "Communication models" not in html
    for name in ("bcast", "reduce"):
        mean = sample.view.beside(name).statistics()["penalty"]["mean"]
        assert f"{mean:.2f}"[:3] in html
    held = {
        name: base64.b64decode(data)
        for name, data in re.findall(r'download="([^"]+)" href="data:[^;]+;base64,([^"]+)"', html)
    }
    loaded = DecisionFunction.from_dict(json.loads(held["bcast_decision.json"]))
    view = sample.view.beside("bcast")
    sizes = np.array([2, 3, 7, 64]), np.array([1, 100, 5000, 1 << 20])
    assert (loaded.predict(*sizes) == view.decision(view.choice).predict(*sizes)).all()
    assert held["bcast_decisions.csv"].count(b"\n") == 1 + view.decision_map()["best"].size
    assert b"colltune_bcast" in held["colltune_bcast.c"]


def test_the_tree_is_judged_held_out_where_that_is_asked_for(sample: State) -> None:
    view = sample.view.beside("reduce")
    held = view.needed().held_out(view.choice, "comm_size", 3)
    html = to_html(sample.view, Contents(("reduce",), frontier=False, held_out="comm_size", folds=3))
    row = html.partition('<th scope="row">Held out</th>')[2].partition("</tr>")[0]
    assert f">{format_percent(held.mean)}</td>" in row
    assert "Held out: comm_size, 3 folds" in html


def test_what_a_target_lacks_is_said_and_figures_have_a_font_that_every_browser_has(sample: State) -> None:
    html = to_html(sample.view, Contents(("reduce",), frontier=False, target="ucc"))
    assert f'"axis_label_text_font":"{FONT}"' in html
    assert re.search(r"cannot be written so|It has no ", html)


def test_what_the_file_costs_is_said_as_by_the_export() -> None:
    names = ["sparbit", "ring"]
    cube = cube_of(np.array([[[1.0]], [[2.0]]]), [8], [64], collective="allgather")
    view = state_of(allgather=named(cube, names)).view
    problem = view.problem()
    assert problem is not None
    # Sparbit of 5.0 gives wrong results in place, so that it is not written.
    (part,) = write(Order.of("preload", [view.decision()], problem.slices)).parts
    assert part.loss == pytest.approx(100)
    assert part.costs[1:] in to_html(view, Contents(("allgather",), frontier=False, target="preload"))


@pytest.mark.slow
def test_names_from_files_are_text(offline: BrowserContext, tmp_path: Path) -> None:
    cube = synthetic_cube(4, 5, 3, seed=3)
    labels = [f"{EVIL}{number}" for number in range(3)]
    cube = named(cube, labels).assign_attrs(system=EVIL)
    path = tmp_path / "report.html"
    path.write_text(to_html(state_of(bcast=cube).view, Contents(frontier=False)), encoding="utf-8")
    page, wrong = opened(offline, path)
    page.wait_for_function(_DRAWN, arg=3)
    assert "script" in page.title()
    assert wrong == []
    assert page.locator("main script").count() == 0


def test_a_collective_that_is_not_there(sample: State) -> None:
    with pytest.raises(DecisionError, match="a report on scan: these results hold bcast, reduce"):
        to_html(sample.view, Contents(("scan",)))


def test_what_is_in_sample_is_said_to_be_and_left_out_sizes_beside_it(sample: State) -> None:
    view = sample.view.changed(choice=Choice.of("recommended"), shown=Choice.of("recommended"))
    html = to_html(view, Contents(("bcast",), frontier=False))
    assert "Decisions: penalties in sample" in html
    assert "Penalty in sample" in html
    (fact,) = view.decision().provenance["recommended"]
    assert f"Left out: {escape(fact['said'])}." in html
    assert re.search(rf"mean, at sizes left out</th>.*?{escape(fact['left_out']['figure'])}</td>", html, re.DOTALL)


def test_what_a_workload_does_not_call_has_no_chapter_unless_it_is_asked_for(sample: State) -> None:
    view = sample.view
    calls = pd.DataFrame({"collective": ["reduce"], "comm_size": [4], "message_size": [64], "calls": [7]})
    weighed = view.changed(treatment=replace(view.treatment, workload=Workload.of(calls)))
    html = to_html(weighed, Contents(frontier=False))
    assert "since the workload does not call them: bcast" in html
    assert re.findall(r"<h2[^>]*>([^<]+)", html) == ["Summary", "reduce", "Measurements"]
    with pytest.raises(DecisionError, match="the workload does not call bcast"):
        to_html(weighed, Contents(("bcast",), frontier=False))


def test_what_is_interpolated_is_dotted_and_said_as_on_the_page() -> None:
    state = state_of(bcast=cube_of([[[1e-4, np.nan, 4e-4]], [[9e-4, 9e-4, 9e-4]]], [4], [1024, 4096, 16384]))
    state.interpolate = True
    assert "1 cell: the best time is interpolated" in to_html(state.view, QUICK)
    scene = Scene.of(state.view)
    layers = scene.layers("exact", state.view, state.view.penalty(), np.empty((0, 4)))
    assert len(layers["exact estimates"].draw()) == 1


def test_nothing_measured_is_said() -> None:
    cube = synthetic_cube(3, 4, 2, seed=1)
    cube["time"][:] = np.nan
    with pytest.raises(DecisionError, match="nothing is measured"):
        to_html(state_of(bcast=cube).view, QUICK)


@pytest.mark.slow
def test_models_stand_beside_measurements_with_the_parameters_that_they_were_given(
    offline: BrowserContext, tmp_path: Path
) -> None:
    known = Covered.of("bcast", candidates("bcast", ["linear", "binomial", "pipeline"], (0, 8192)))
    cube = predicted_cube(known, [2, 4, 8, 15], [64, 1024, 30_000, 100_000, 1 << 20], HOCKNEY)
    path = tmp_path / "report.html"
    path.write_text(to_html(state_of(bcast=cube).view, MODELS), encoding="utf-8")
    page, wrong = opened(offline, path)
    # Three maps, times and residuals.
    page.wait_for_function(_DRAWN, arg=5)
    assert wrong == []
    assert "The parameters are fitted to these measurements of bcast" in page.inner_text("main")
    penalties = page.get_by_role("table", name=re.compile("^Penalty: against the best method that models cover"))
    # What was measured is what Hockney's model says: it is fitted exactly, and decides without a fault.
    assert penalties.get_by_role("row", name=re.compile("^Hockney 0 % 0 % 0 %")).count() == 1
    figures = model_penalties(Problem.of(cube), fitted_parameters(Problem.of(cube)))
    for fair, _ in figures.values():
        assert format_percent(fair.mean) in penalties.inner_text()
    curves = page.get_by_role("table", name="Lines, and how far the models are off")
    assert {name for name in ("linear", "binomial", "pipeline") if name in curves.inner_text()} != set()


@pytest.mark.slow
def test_what_models_do_not_cover_is_said() -> None:
    cube = synthetic_cube(4, 5, 7, seed=4)
    uncovered = cube.isel(method=np.flatnonzero(np.isin(cube["algorithm"], ["chain", "scatter_allgather"])))
    html = to_html(state_of(bcast=uncovered, alltoallv=synthetic_cube(3, 4, 2, seed=5)).view, MODELS)
    assert "no model covers any of chain, scatter_allgather" in html
    assert "There are no models of alltoallv" in html


def test_curves_are_of_processes_that_the_methods_on_show_were_measured_with() -> None:
    known = Covered.of("bcast", candidates("bcast", ["linear", "binomial"], (0,)))
    cube = predicted_cube(known, [2, 4, 8], [64, 1024], HOCKNEY)
    parameters, labels = fitted_parameters(Problem.of(cube)), [str(label) for label in cube["method"].values]
    further = named(cube.isel(method=[0]), ["chain"])
    missing = cube.assign(time=cube["time"].where(cube["comm_size"] < 8))
    part = _curves("bcast", xr.concat([missing, further], "method"), labels, parameters)
    assert "4 processes" in part.html
