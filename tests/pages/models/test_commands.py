"""The commands of the tabs of the page *Models*: run, they give the figures that the tabs show."""

import shlex
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dashboard.pages.models.page import ModelsPage
from dashboard.plots.models.curves import evaluate
from dashboard.session.recipes import as_command
from dashboard.session.registry import load_results
from dashboard.session.state import State
from tests.cli.command import Run
from tests.conftest import ROOT
from tests.pages.models.test_grids import measured
from tests.pages.models.viewing import open_tab
from tests.states import sample_state

Answers = Callable[[State], list[Any]]


@pytest.fixture
def answers(done: Run) -> Answers:
    """What the commands that a page says give."""
    return lambda state: [done(*shlex.split(line)[1:], "--json").json for line in as_command(state).splitlines()]


def test_of_segments_and_fits(page: ModelsPage, state: State, answers: Answers) -> None:
    part = open_tab(page, "Segment size")
    part.algorithm.value = "binary"
    assert {answer["algorithm"] for answer in answers(state)} == {"binary"}
    for answer in answers(state):
        assert f"{round(answer['segment_size']):,} B" in part.table.object
    open_tab(page, "Fit")
    assert as_command(state) == "# There is no command for the tab Fit; the link shows it."
    page.panel._fit()
    (fitted,) = answers(state)
    known = page.choice.fits["hockney"].parameters
    assert fitted["parameters"]["hockney"]["alpha"] == pytest.approx(known.alpha)
    assert fitted["parameters"]["hockney"]["beta"] == pytest.approx(known.beta)


def test_of_a_fit_by_formulas_as_published(page: ModelsPage, state: State, answers: Answers) -> None:
    page.variant.value = "as_published"
    state.collective = "reduce"
    page.choice.models = ("loggp",)
    open_tab(page, "Fit")
    page.panel._fit()
    (fitted,) = answers(state)
    known = page.choice.fits["loggp"].parameters
    assert fitted["parameters"]["loggp"]["latency"] == pytest.approx(known.latency)
    assert "as published" in page.panel.source.object
    # Fitted by other formulas, they are others.
    page.variant.value = "corrected"
    assert page.choice.fits == {}
    page.panel._fit()
    assert page.choice.fits["loggp"].parameters != known


@pytest.mark.parametrize("treatment", [{"outliers": True}, {"without": ("pipeline *",)}])
def test_of_a_fit_to_measurements_without_some(answers: Answers, treatment: dict[str, Any]) -> None:
    state = State.of(load_results([ROOT / "sample_data" / "one-machine" / "results.jsonl"]))
    state.collective = "bcast"
    page = ModelsPage(state)
    state.page = "Models"
    open_tab(page, "Fit")
    page.panel._fit()
    before = page.choice.fits["hockney"].parameters
    state.param.update(**treatment)
    assert page.choice.fits == {}
    page.panel._fit()
    known = page.choice.fits["hockney"].parameters
    assert known.alpha != before.alpha
    assert answers(state)[0]["parameters"]["hockney"]["alpha"] == pytest.approx(known.alpha)


@pytest.mark.parametrize("variant", ["corrected", "as_published"])
def test_of_curves_at_the_sizes_that_are_held(page: ModelsPage, state: State, answers: Answers, variant: str) -> None:
    page.variant.value = variant
    page.choice.param.update(axis="message_size", message_size=4096, comm_size=8)
    view = page.choice.view()
    curves = evaluate(view, page.choice.effective(), page.choice.cube()).curves
    slots = [slot for slot, method in enumerate(view.methods) if method.modelled]
    drawn = [curves[name, slot] for slot in slots for name in view.models]
    given = answers(state)
    assert {(answer["comm_size"], answer["message_size"], answer["variant"]) for answer in given} == {
        (8, 4096, variant)
    }
    for answer, (sizes, times) in zip(given, drawn, strict=True):
        assert np.interp(4096, sizes, times) == pytest.approx(answer["time"], rel=0.02)


def test_of_one_method_on_several_numbers_of_processes(page: ModelsPage, state: State, answers: Answers) -> None:
    part = open_tab(page, "Processes")
    page.choice.message_size = 65536
    page.choice.fit_to_results()
    assert [answer["comm_size"] for answer in answers(state)] == part._sizes()
    assert {answer["message_size"] for answer in answers(state)} == {65536}
    page.choice.show("barrier")
    assert "barrier has no message sizes" in part.message.object
    page._say()
    assert "model predict" not in as_command(state)


@pytest.mark.parametrize("tab", ["Curves", "Processes", "Segment size", "Optimal"])
def test_of_plogp_that_is_converted(page: ModelsPage, state: State, answers: Answers, tab: str) -> None:
    page.choice.take("grig-tcp")
    page.models.value = ["plogp"]
    part = open_tab(page, tab)
    if tab in ("Processes", "Optimal"):
        part.model.value = "plogp"
    page._say()
    assert {answer["model"] for answer in answers(state)} == {"plogp"}


def test_of_the_optimal_implementation(page: ModelsPage, state: State, answers: Answers) -> None:
    part = open_tab(page, "Optimal")
    part.multiple.value = 1024
    (answer,) = answers(state)
    assert part.optimal is not None
    assert answer["time"] == part.optimal["time"].values.tolist()
    assert answer["segment_size"] == part.optimal["segment_size"].values.tolist()


def test_of_a_schedule_and_of_texts(page: ModelsPage, state: State, answers: Answers) -> None:
    part = open_tab(page, "Schedule")
    part.algorithm.value = "pipeline"
    part.processes.value, part.segments.value = 5, 3
    (answer,) = answers(state)
    assert {edge["to"] for edge in answer["edges"]} == {1, 2, 3, 4}
    assert f"<code>{as_command(state)}</code>" in part.counts.object
    open_tab(page, "Formulas")
    assert {each["collective"] for each in answers(state)[0]["models"]} == {"bcast"}
    errata = open_tab(page, "Errata")
    of_bcast = answers(state)[0]["errata"]
    assert {each["collective"] for each in of_bcast} == {"bcast", ""}
    errata.all.value = True
    assert len(answers(state)[0]["errata"]) > len(of_bcast)


def test_of_grids_that_were_measured_and_of_published_ones(
    page: ModelsPage, state: State, answers: Answers, tmp_path: Any
) -> None:
    over = ModelsPage(measured(tmp_path))
    part = open_tab(over, "Grids")
    part.original.value, part.low.value = "linear", 10_000
    (rows,) = [answer["layouts"] for answer in answers(over.state)]
    assert all(f"{row['average']:.1f}" in part.figures.object for row in rows)
    over.state.without = ("orthogonal grid=4x4 inner=linear provider=orthogonal",)
    assert {(4, 4)} == {tuple(row["layout"]) for row in rows} - {
        tuple(row["layout"]) for row in answers(over.state)[0]["layouts"]
    }
    part = open_tab(page, "Grids")
    assert part.times.value != "these results"
    low, high = answers(state)
    assert (low["message_size"], high["message_size"]) == (part.low.value, part.high.value)


def test_the_address_brings_back_what_a_tab_has_of_its_own_and_the_one_before_what_it_began_with(
    page: ModelsPage, state: State
) -> None:
    for tab, chosen in {
        "Segment size": {"algorithm": "binary", "cut": 8192},
        "Optimal": {"model": "hockney", "multiple": 1},
        "Schedule": {"algorithm": "pipeline", "processes": 10, "root": 1, "segments": 3, "times": True},
        "Processes": {"total": False, "model": "loggp"},
        "Grids": {"processes": 48, "from": 2000, "to": 100_000},
        "Errata": {"all": True},
    }.items():
        part = open_tab(page, tab)
        assert part.kept() == {}
        before, began = state.to_query(), {name: widget.value for name, widget in part.own().items()}
        for name, value in chosen.items():
            part.own()[name].value = value
        page._write()
        other = sample_state(page="Models")
        assert other.from_query(state.to_query()) == []
        again = ModelsPage(other)
        shown = again.parts[again.tabs.active].own()
        assert {name: shown[name].value for name in chosen} == chosen
        assert other.model_view == state.model_view
        assert other.notice == ""
        assert state.from_query(before) == []
        assert {name: widget.value for name, widget in part.own().items()} == began
        assert part.kept() == {}
        assert state.to_query() == before
