"""Pages that show more than one tree, said as a command and as Python: each gives the figures of the page."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dashboard.export.rules.given import keep
from dashboard.pages.compare.campaigns import CampaignsView
from dashboard.session.choice import Choice
from dashboard.session.recipes import as_command, as_python
from dashboard.session.registry import load_results
from dashboard.session.state import State
from loaders import save_results
from tests.cli.command import Run
from tests.states import by_python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, fast_ethernet: xr.DataTree) -> Path:
    """A part of the broadcasts of the sample campaign, in a file that says everything."""
    every = {"method": 6, "comm_size": 2, "message_size": 4}
    cube = fast_ethernet["bcast"].to_dataset().isel({dim: slice(0, None, step) for dim, step in every.items()})
    return save_results(xr.DataTree.from_dict({"bcast": cube}), tmp_path_factory.mktemp("sample") / "results.nc")


@pytest.fixture
def state(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    """A page over the sample, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    shown = State.of(load_results([sample]))
    shown.param.update(collective="bcast", tolerance=2.0)
    shown.choose(Choice.of("cart", {"max_leaves": 4}))
    return shown


def answer(state: State, done: Run) -> Any:
    """What the command of the page on show says."""
    *before, last = (shlex.split(line)[1:] for line in as_command(state).split(" &&\n"))
    for words in before:
        done(*words)
    return done(*last, "--json").json


def checked(state: State, name: str, collective: int) -> Choice:
    """A rules file of Open MPI in this folder, as one that was checked on the page Export."""
    text = f"1\n{collective}\n1\n0\n2\n0 5 0 0\n4096 6 0 0\n"
    Path(name).write_text(text)
    keep(f"{name}-0123", name, text)
    state.give(f"{name}-0123", name)
    return Choice.of("rules", {"file": f"{name}-0123"})


def test_rules_files_are_said_by_their_names(state: State, done: Run) -> None:
    state.choose(checked(state, "mine.conf", 7))
    page = state.view.statistics()
    assert answer(state, done)["penalty"] == by_python(as_python(state))["penalty"] == page["penalty"]
    state.param.update(page="Compare", other=Choice.of("cart", {"max_leaves": 2}))
    rows = answer(state, done)["rows"]
    assert rows[0]["penalty_mean"] == by_python(as_python(state))["penalty_mean"].iloc[0] == page["penalty"]["mean"]


def test_rules_files_of_one_name_are_told_apart(state: State) -> None:
    for key, name in (
        ("one-01", "mine.conf"),
        ("two-02", "mine.conf"),
        ("one-01", "mine.conf"),
        ("three-03", "mine.conf"),
    ):
        state.give(key, name)
    assert state.rules == {"two-02": "mine (2).conf", "one-01": "mine.conf", "three-03": "mine (3).conf"}


def test_models_as_they_were_chosen_stand_on_the_frontier(state: State, done: Run) -> None:
    state.choose(Choice.of("model", {"model": "hockney", "parameters": "grig-mx"}))
    state.choose(Choice.of("cart"))
    state.param.update(page="Frontier", held_out="none")
    page = state.view.frontier_job(None, "mean")(None).table
    points = answer(state, done)["points"]
    assert (
        [each["leaves"] for each in points] == page["leaves"].tolist() == by_python(as_python(state))["leaves"].tolist()
    )
    assert {"model": "hockney", "parameters": "grig-mx"} in [each["options"] for each in points]


def test_two_trees(state: State, done: Run) -> None:
    state.param.update(page="Compare", other=Choice.of("cart", {"max_leaves": 2}))
    rows, made = answer(state, done)["rows"], by_python(as_python(state))
    for row, (_, python), choice in zip(rows, made.iterrows(), (state.choice(), state.other), strict=True):
        page = state.view.prepared.decided(choice).statistics  # type: ignore[union-attr]
        assert row["leaves"] == python["leaves"] == page["leaves"]
        assert row["penalty_mean"] == python["penalty_mean"] == page["penalty"]["mean"]


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize("campaign", ["another file", "fast-ethernet-16"], ids=["same-hints", "other-hints"])
def test_two_campaigns(state: State, sample: Path, campaign: str, common: bool, done: Run) -> None:
    if campaign == "another file":
        cube = xr.load_datatree(sample)["bcast"].to_dataset()
        factors = np.linspace(0.5, 2.0, cube.sizes["method"] - 1)
        other = cube.isel(method=slice(1, None))
        other["time"] = other["time"] * xr.DataArray(factors, dims="method")
        loaded = load_results([save_results(xr.DataTree.from_dict({"bcast": other}), Path("other.nc"))])
        state.loaded = {**state.loaded, loaded.digest: "other"}
        campaign = loaded.digest
    state.param.update(page="Compare", compare="campaigns", against=campaign, common=common)
    page = CampaignsView(state)._work()(None).ported.table
    assert ("--all-methods" in as_command(state)) is not common
    pd.testing.assert_frame_equal(by_python(as_python(state)), page)
    said = pd.DataFrame(answer(state, done)["penalties"])
    pd.testing.assert_frame_equal(said[page.columns], page, check_dtype=False)


def test_nothing_is_said_of_a_campaign_that_is_not_chosen(state: State) -> None:
    state.param.update(page="Compare", compare="campaigns")
    assert as_command(state).startswith("# Campaign B is not chosen")
    assert as_python(state) == as_command(state)


@pytest.mark.parametrize("page", ["Decisions", "Export", "Data"])
def test_without_results_there_is_nothing_to_run(page: str) -> None:
    empty = State(page=page)
    assert as_command(empty) == as_python(empty) == "# No results are loaded yet: there is nothing to decide."


def test_the_frontier(state: State, done: Run) -> None:
    state.param.update(page="Frontier", held_out="none", criterion="median")
    for name, collective in (("mine.conf", 7), ("of_alltoall.conf", 3)):
        checked(state, name, collective)
    page = state.view.frontier_job(None, "median")(None).table
    assert page["family"].tolist().count("rules") == 2
    said, made = pd.DataFrame(answer(state, done)["points"]), by_python(as_python(state))
    for name in ("family", "leaves", "penalty_median"):
        assert made[name].tolist() == page[name].tolist()
        np.testing.assert_array_equal(said[name].tolist(), page[name].tolist())
