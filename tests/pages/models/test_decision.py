"""What models decide, on the page *Models*: beside measurements, in their gaps, without any."""

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction
from dashboard.domain.units import format_percent
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.page import TABS, ModelsPage
from dashboard.session.recipes import as_command, as_python, tree_words
from dashboard.session.registry import Results
from dashboard.session.state import State
from tests.cli.command import Run
from tests.cubes import synthetic_cube
from tests.pages.models.viewing import open_tab, source
from tests.states import by_python, state_of


def test_the_decision_of_models_stands_beside_the_measured_one(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Decision")
    part.by.value = "loggp"
    wanted = page.choice.decision()
    decision, table = state.view.decision(wanted), state.view.penalty(wanted)
    assert decision is not None
    assert table is not None
    assert decision.kind == "model"
    for row, count in enumerate(table["comm_size"].values):
        for column, size in enumerate(table["message_size"].values):
            label = decision.methods[decision.predict_one(int(count), int(size))].label
            assert str(table["method"].values[table["chosen"].values[row, column]]) == label
    # All of it was measured, and nothing is hatched as if it were not.
    assert not np.isnan(table["penalty"].values).any()
    assert len(next(iter(part.panes["penalty"].object))) == 0
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
    decision = state.view.decision()
    assert decision is not None
    models = decision.provenance["models"]
    assert models["parameters"]["hockney"]["alpha"] == pytest.approx(10**-4.5, rel=1e-3)
    assert models["encoded"]["tree"] == "cart"
    # The same view, and the same tree, from its address.
    other = State.of(Results(state.results, state.results_id))
    assert other.from_query(state.to_query()) == []
    assert other.choice() == state.choice()
    assert other.view.decision() == decision
    part._set_beside()
    assert (state.other, state.page) == (state.choice(), "Compare")


def test_its_command_and_python_decide_as_the_models_do_here(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Decision")
    part.by.value = "loggp"
    page._write()
    wanted = page.choice.decision()
    state.page = "Models"
    command, python = as_command(state), as_python(state)
    assert command.endswith(shlex.join(["-c", state.collective, *tree_words(wanted)]))
    lines = "\n".join(line for line in python.splitlines() if not line.startswith("results ="))
    assert by_python(lines, results=state.results) == state.view.statistics(wanted)


def test_the_penalty_on_show_is_that_of_the_command(page: ModelsPage, state: State, done: Run) -> None:
    part = open_tab(page, "Decision")
    page.panel.machine.value = "boba"
    for encode, fill in itertools.product(("exact", "c45"), (False, True)):
        part.by.value, part.encode.value, part.fill.value = "loggp", encode, fill
        page._write()
        told = done(*shlex.split(as_command(state))[1:], "--json").json["penalty"]
        first, _, others = part.figures.object.partition("<td>decision on show</td>")[2].partition("</tr>")
        figures = re.findall(r"<td[^>]*>([^<]*)", first)[3:6]
        assert figures == [format_percent(told[name]) for name in ("mean", "median", "max")]
        # What the models choose exactly is below, whatever the decision on show is made of.
        assert "among all measured methods" in others
        row = others.partition("<td>LogP / LogGP</td>")[2].partition("</tr>")[0]
        assert (row == first) == (encode == "exact" and not fill)


def test_plogp_that_is_converted_has_its_figures_and_no_vote(page: ModelsPage, state: State) -> None:
    page.choice.take("grig-tcp")
    part = open_tab(page, "Decision")
    assert "PLogP is converted from LogP / LogGP (Table 4.1), so it has no vote" in part.figures.object
    part.by.value = "plogp"
    mean = float(state.view.penalty(page.choice.decision())["penalty"].mean())
    row = part.figures.object.partition("<td>PLogP</td>")[2].partition("</tr>")[0]
    assert format_percent(mean) in row


def test_bad_weights_are_told(page: ModelsPage) -> None:
    part = open_tab(page, "Decision")
    part.trust.value = "hockney=none"
    assert "weights above 0" in part.message.object
    part.trust.value = "hockney=2,loggp=1,plogp=1"
    part.by.value = "weight"
    assert part.results.visible


def test_where_no_method_has_a_model_nothing_stands_beside_the_reason(shared: Path) -> None:
    state = State()
    state.load([shared / "data" / "pico" / "pico_consolidated.csv"], select="system=fugaku")
    state.param.update(page="Models", collective="bcast")
    state.deferred = True
    part = open_tab(ModelsPage(state), "Decision")
    said = r"no model covers any of ([^,]+, ){9}[^,]+ and \d+ more; of bcast there are .*: name some of these"
    assert re.search(said, part.growing.text.object)
    assert (part.coming.visible, part.results.visible) == (False, False)
    assert part.take.disabled
    assert part.beside.disabled
    part.candidates.value = ["binomial", "linear"]
    assert part.results.visible
    assert not part.take.disabled


def test_methods_that_were_not_measured_can_be_chosen(page: ModelsPage, state: State) -> None:
    part = open_tab(page, "Decision")
    part.candidates.value = ["binomial", "linear", "split_binary 64KiB"]
    assert page.choice.candidates == ("binomial", "linear", "split_binary 64KiB")
    assert "split_binary 64KiB" in part.methods.object
    assert state.view.penalty(page.choice.decision()).attrs["unmeasured"] > 0
    assert "the chosen method was not measured there" in part.classes.object
    part.candidates.value = ["split_binary_tree 8KiB", "linear"]
    assert state.view.penalty(page.choice.decision()).attrs["unmeasured"] == 0


def test_a_chain_of_fan_out_one_is_the_pipeline_that_models_know_and_is_offered_once() -> None:
    cube = synthetic_cube(4, 5, 3, seed=1)
    names = ["chain", "binomial", "linear"]
    chains = cube.assign_coords(
        method=["chain fan_out=1", *names[1:]], algorithm=("method", names), segment_size=("method", [0, 0, 0])
    ).assign_coords(fan_out=("method", [1, 0, 0]))
    labels = [each.label for each in ModelChoice(state_of(bcast=chains)).could_choose()]
    assert labels[:3] == ["chain fan_out=1", "binomial", "linear"]
    assert "pipeline" not in labels
    assert "pipeline 8KiB" in labels


def test_what_models_complete_is_marked(state: State) -> None:
    cube = state.results["bcast"].to_dataset().copy(deep=True)
    cube["time"][:, 1::2, 1::2] = np.nan
    state = state_of(bcast=cube.assign_attrs(digest="sparse"))
    state.page = "Models"
    page = ModelsPage(state)
    part = open_tab(page, "Decision")
    part.fill.value = True
    assert "times predicted by the loggp model" in part.note.object
    missing = cube["time"].isnull().all("method").values
    assert f"Dotted: {int(missing.sum())} of {missing.size}" in part.methods.object
    boxes = source(part, "model marks")
    assert len(boxes["left"]) >= missing.any(axis=1).sum()


def test_where_nothing_is_missing_models_decide_nothing(page: ModelsPage) -> None:
    part = open_tab(page, "Decision")
    part.fill.value = True
    assert "Nothing is missing, so that the models decide nothing and all is as measured" in part.note.object


def test_collectives_that_were_not_measured_are_decided_alone(page: ModelsPage) -> None:
    page.collective.value = "scatter"
    part = open_tab(page, "Decision")
    assert not part.take.visible
    assert "Nothing of this collective was measured" in part.note.object
    assert "linear" in part.methods.object


def test_optimal_implementations(page: ModelsPage) -> None:
    part = page.parts[TABS.index("Optimal")]
    assert part.coming.visible
    assert not part.results.visible
    open_tab(page, "Optimal")
    assert part.results.visible
    assert not part.coming.visible
    assert "binomial" in part.algorithms.object
    assert "not segmented" in part.segments.object
    pixels = source(part, "optimal")["image"][0]
    decision = DecisionFunction.from_json(part.save.callback().read().decode())
    large = decision.methods[decision.predict_one(16, 256 << 10)]
    assert large.segment_size == part.optimal["segment_size"].sel(comm_size=16, message_size=256 << 10)
    part.model.value = "loggp"
    assert (source(part, "optimal")["image"][0] != pixels).any()
    page.collective.value = "barrier"
    assert "no message to cut" in part.message.object
