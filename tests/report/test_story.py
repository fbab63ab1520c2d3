"""The pictures for a paper: vectors whose text and captions say what the view says."""

import io
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from dashboard.decisions import DecisionError
from dashboard.domain.units import format_percent
from dashboard.plots.story import FORMATS
from dashboard.plots.view_maps import Scene
from dashboard.report import to_story
from dashboard.report.answer import AGAINST_DEFAULT, answer
from dashboard.session.choice import Choice
from dashboard.session.state import State
from tests.cubes import cube_of, named, synthetic_cube
from tests.states import state_of

PICTURES = ["best", "decision", "penalty", "times"]


def opened(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def state() -> State:
    return state_of(bcast=synthetic_cube(6, 9, 5, seed=1, missing=0.1), reduce=synthetic_cube(5, 7, 3, seed=2))


@pytest.fixture(scope="module")
def files(state: State) -> dict[str, bytes]:
    return opened(to_story(state.view, ["bcast"]))


def test_each_picture_is_written_in_each_format(files: dict[str, bytes]) -> None:
    names = [f"bcast-{number}-{title}.{ending}" for number, title in enumerate(PICTURES, 1) for ending in FORMATS]
    assert [*names, "captions.md"] == list(files)
    image = Image.open(io.BytesIO(files["bcast-1-best.png"]))
    assert image.width == pytest.approx(1210, abs=3)
    assert files["bcast-2-decision.pdf"].startswith(b"%PDF")


def test_codes_in_the_map_are_those_of_the_methods(state: State, files: dict[str, bytes]) -> None:
    figures = Scene.of(state.view)
    assert figures is not None
    texts = re.findall(r"<text[^>]*>([A-Z][0-9A-Z/]*)</text>", files["bcast-1-best.svg"].decode())
    best = set(figures.dmap["best"].values.ravel().tolist())
    assert {text[0] for text in texts} == {figures.key.letters[method][0] for method in best}
    assert set(texts) <= {
        code for method in best for code in (figures.key.letters[method], figures.key.letters[method][0])
    }


def test_captions_have_the_figures_of_the_page(state: State, files: dict[str, bytes]) -> None:
    captions = files["captions.md"].decode()
    for tile in answer(state.view)[:3]:
        assert tile.figure in captions
    assert "6 communicator sizes and 9 message sizes" in captions
    assert "Statistics" not in captions, "there are none in the archive"
    assert all(f"**bcast-{number}-{title}.**" in captions for number, title in enumerate(PICTURES, 1))


@pytest.mark.slow
def test_the_same_view_gives_the_same_file(state: State) -> None:
    assert to_story(state.view, ["bcast"]) == to_story(state.view, ["bcast"])


@pytest.mark.slow
@pytest.mark.parametrize("asked", [["reduce"], []])
def test_other_collectives_are_drawn_when_asked_and_all_where_none_is_named(state: State, asked: list[str]) -> None:
    drawn = {name.partition("-")[0] for name in opened(to_story(state.view, asked))}
    assert drawn == {*(asked or ["bcast", "reduce"]), "captions.md"}


def test_nothing_measured_is_said(state: State) -> None:
    cube = synthetic_cube(3, 3, 2, seed=1)
    empty = state_of(bcast=cube.assign(time=cube["time"] * np.nan))
    with pytest.raises(DecisionError, match="nothing is measured"):
        to_story(empty.view)


def test_the_tiles_say_what_the_statistics_say() -> None:
    """Of what a workload calls, and of all processes per node that the tree decides for."""
    time = np.random.default_rng(1).lognormal(size=(4, 3, 5, 2))
    for cube in (cube_of(time[..., 0], [2, 4, 8], 4 ** np.arange(5)), cube_of(time, [2, 4, 8], 4 ** np.arange(5))):
        state = state_of(bcast=cube)
        state.choose(Choice.of("cart", {"max_leaves": 2}))
        state.across = time.ndim == cube["time"].ndim
        sizes = {"comm_size": [2, 8], "message_size": [4, 64]}
        for workload in (None, pd.DataFrame({"collective": "bcast", **sizes, "calls": [3, 1]})):
            state.weigh(workload)
            figures = {tile.title: tile.figure for tile in answer(state.view)}
            penalty = state.view.statistics()["penalty"]
            assert figures["Lost at worst"] == format_percent(penalty["max"])
            assert figures["Lost on average"] == format_percent(penalty["mean"])
    state.choose(Choice.of("exact"))
    state.across = False
    assert {tile.title: tile.note for tile in answer(state.view)}["Lost at worst"].endswith("everywhere that is called")


def test_what_is_lost_is_told_of_sizes_left_out_first_where_these_were_judged() -> None:
    state = state_of(bcast=synthetic_cube(6, 9, 5, seed=1))
    state.choose(Choice.of("recommended", {"leaves": 4}))
    (tile,) = (each for each in answer(state.view) if each.title == "Lost on average")
    assert tile.figure in state.view.decision().provenance["recommended"][0]["said"]
    in_sample = format_percent(state.view.statistics()["penalty"]["mean"])
    assert tile.note == f"expected at sizes left out; {in_sample} in sample"
    assert tile.figure != in_sample
    few = state_of(bcast=synthetic_cube(2, 3, 5, seed=1))
    few.choose(Choice.of("recommended", {"leaves": 1}))
    (tile,) = (each for each in answer(few.view) if each.title == "Lost on average")
    assert tile.note == "in sample"


def with_default(ppns: int = 1) -> State:
    """Results in which the library's default is the fastest at one cell of four, and slower by half elsewhere."""
    time = np.stack([np.full((2, 2, ppns), 3.0), np.full((2, 2, ppns), 2.0)])
    time[0, 0, 0, 0] = 1.0
    cube = cube_of(time if ppns > 1 else time[..., 0], [2, 4], [1, 8])
    return state_of(bcast=named(cube, ["default", "linear"]))


def test_with_the_default_left_out_the_tiles_say_so_and_still_compare_with_it() -> None:
    state = with_default()
    state.without = ("default",)
    tiles = {tile.title: tile for tile in answer(state.view)}
    assert tiles["Lost on average"].figure == "0 %"
    assert "against the best of the methods not left out" in tiles["Lost on average"].note
    assert tiles["Lost at worst"].note == "the best of the methods not left out is chosen everywhere"
    # By hand: twice the time at one cell, a third less at the three others.
    assert (tiles[AGAINST_DEFAULT].figure, tiles[AGAINST_DEFAULT].note) == (
        "0.0 % less time",
        "in sample, mean of cells; 1 of 4 cells slower",
    )
    assert any("penalties are against the best of the methods not left out" in said for said in state.view.remarks())
    state.without = ()
    assert "not left out" not in " ".join(tile.note for tile in answer(state.view))


def test_against_the_default_stand_only_cells_where_it_was_measured() -> None:
    """Nowhere at the processes per node that were measured most; of the cells at another one, in half."""
    time = np.full((2, 2, 2, 2), 2.0)
    time[0] = 3.0
    time[0, :, :, 1] = time[:, 1, :, 0] = np.nan
    cube = cube_of(time, [2, 4], [1, 8]).assign_coords(ppn=[1, 4])
    names = ["default", "linear"]
    state = state_of(bcast=named(cube, names))
    notes = {}
    for ppn in (1, 4):
        state.ppn = ppn
        (notes[ppn],) = [tile.note for tile in answer(state.view) if tile.title == AGAINST_DEFAULT]
    assert notes == {1: "in sample, mean of cells; 0 of 2 cells slower", 4: "no cell has both"}


def test_all_tiles_are_over_what_the_tree_decides_or_say_of_which_it_is() -> None:
    """One tree for all processes per node; with a workload, of the cells that it calls."""
    state = with_default(2)
    state.choose(Choice.of("cart", {"max_leaves": 1}))
    state.param.update(across=True, ppn=2)
    tiles = {tile.title: tile for tile in answer(state.view)}
    assert tiles[AGAINST_DEFAULT].note == "in sample, mean of cells; 1 of 8 cells slower"
    assert tiles["Not tied"].note.startswith("of the cells of this map")
    state.weigh(pd.DataFrame({"collective": "bcast", "comm_size": [2, 4], "message_size": [1, 8], "calls": [3, 1]}))
    against = {tile.title: tile for tile in answer(state.view)}[AGAINST_DEFAULT]
    assert "called cells slower" in against.note


def test_cells_of_which_none_can_be_tested_are_not_said_to_have_one_fastest_method() -> None:
    cube = synthetic_cube(3, 4, 2, 1)
    titles = []
    for shown in (cube, cube.drop_vars("repetitions")):
        state = state_of(bcast=shown)
        state.statistical = 0.05
        (tile,) = [tile for tile in answer(state.view) if tile.title == "Not tied"]
        titles.append((tile.figure == "–", tile.alarm.startswith("no cell can be tested: one repetition")))
    assert titles == [(False, False), (True, True)]
