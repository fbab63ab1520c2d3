"""The pictures for a paper: vectors whose text and captions say what the view says."""

from __future__ import annotations

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
from dashboard.report import to_story
from dashboard.report.answer import answer
from dashboard.report.maps import MapFigures
from dashboard.session.choice import Choice
from dashboard.session.state import State
from tests.cubes import cube_of, synthetic_cube
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
    return opened(to_story(state.view))


def test_each_picture_is_written_in_each_format(files: dict[str, bytes]) -> None:
    names = [f"bcast-{number}-{title}.{ending}" for number, title in enumerate(PICTURES, 1) for ending in FORMATS]
    assert [*names, "captions.md"] == list(files)
    image = Image.open(io.BytesIO(files["bcast-1-best.png"]))
    assert image.width == pytest.approx(1210, abs=3)
    assert files["bcast-2-decision.pdf"].startswith(b"%PDF")


def test_codes_in_the_map_are_those_of_the_methods(state: State, files: dict[str, bytes]) -> None:
    figures = MapFigures.of(state.view)
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
    assert all(f"**bcast-{number}-{title}.**" in captions for number, title in enumerate(PICTURES, 1))


@pytest.mark.slow
def test_the_same_view_gives_the_same_file(state: State) -> None:
    assert to_story(state.view) == to_story(state.view)


@pytest.mark.slow
def test_other_collectives_are_drawn_when_asked(state: State) -> None:
    assert {name.partition("-")[0] for name in opened(to_story(state.view, ["reduce"]))} == {"reduce", "captions.md"}


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
