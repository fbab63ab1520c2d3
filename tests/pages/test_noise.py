"""Ties, outliers, missing cells and workload on the page *Decisions*."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from bokeh.document import Document

from dashboard.pages.decisions.page import DecisionsPage
from dashboard.pages.frame.weighed import Weighed
from dashboard.pages.parts.reports import plain
from dashboard.session.choice import Choice
from dashboard.session.state import State
from tests.cubes import cube_of
from tests.states import state_of


@pytest.fixture(scope="module")
def drawn() -> DecisionsPage:
    """The page of most tests, each of which finds the choices as they were at first."""
    time = 1e-5 * 2.0 ** np.arange(8) * np.ones((3, 3, 8))
    time[1] *= 1.04
    time[2] *= 3
    time[0, 1, 4] *= 20
    time[:, 2, 3] = np.nan
    cube = cube_of(time, [2, 4, 8], 4 ** np.arange(8))
    page = DecisionsPage(state_of(bcast=cube.assign_attrs(digest="of the noise tests")))
    page.maps.__panel__().get_root(Document())
    return page


@pytest.fixture
def page(drawn: DecisionsPage) -> Iterator[DecisionsPage]:
    yield drawn
    drawn.state.deferred, drawn.state.notice = False, ""
    drawn.state.from_query({})


@pytest.fixture
def state(page: DecisionsPage) -> State:
    return page.state


@pytest.mark.slow
def test_ties_are_hatched_and_counted(page: DecisionsPage, state: State) -> None:
    assert "tied" not in page.maps.methods.object
    page.noise.tolerance.param.update(value=5.0, value_throttled=5.0)
    assert state.tolerance == 5
    tied = int(state.view.needed().tied[0].sum())
    assert f"{tied} of 23 measured cells are ties: methods within 5 % of the best" in page.maps.methods.object
    (plot,) = page.maps.live._plots["exact ties"]
    assert len(next(iter(plot.handles["source"].data.values()))) > 0
    page.noise.choices["statistical"].value = 0.05
    assert "test" in page.maps.methods.object


def test_outliers_are_listed_and_leaving_them_out_is_said(page: DecisionsPage, state: State) -> None:
    page.tabs.active = 4
    assert "not left out" in page.noise.table.object
    assert not page.message.visible
    page.noise.choices["outliers"].value = True
    # The one that was planted; its neighbours are none.
    assert "Outliers are left out: 1 cell of" in page.message.object.replace("\\", "")
    assert page.message.severity == "warning"
    assert "; left out" in page.noise.table.object


def test_interpolated_cells_are_dotted_and_said(page: DecisionsPage, state: State) -> None:
    page.noise.choices["interpolate"].value = True
    assert "1 cell: the best time is interpolated" in page.maps.methods.object
    assert "Missing times are interpolated" in page.message.object
    (plot,) = page.maps.live._plots["exact estimates"]
    assert len(next(iter(plot.handles["source"].data.values()))) == 1
    page.tabs.active = 2
    assert page.table.view.object.count("≈") == 1
    csv = asyncio.run(page.table.downloads["csv"].callback()).read().decode()
    assert csv.splitlines()[0].endswith(",chosen measured,best measured")
    assert sum(line.endswith(",False") for line in csv.splitlines()) == 1


@pytest.mark.slow
def test_a_workload_is_taken_from_a_file_and_a_bad_one_is_refused(page: DecisionsPage, state: State) -> None:
    page.noise.workload.param.update(
        filename="calls.csv", value=b"collective,comm_size,message_size,calls\nbcast,2,4,9\n"
    )
    assert state.workload
    assert "9 calls" in page.message.object
    assert page.noise.workload.uploaded_label == "Workload: calls.csv"
    weighed = state.workload
    page.noise.workload.param.update(filename="bad.csv", value=b"nothing of use\n1\n")
    assert (state.workload, page.noise.workload.uploaded_label) == (weighed, "Workload: calls.csv")
    assert "bad.csv" in state.notice
    page.noise.workload.param.update(
        filename="other.csv", value=b"collective,comm_size,message_size,calls\nbcast,4,4,9\n"
    )
    assert (state.notice, page.noise.workload.uploaded_label) == ("", "Workload: other.csv")
    state.weigh(None)
    assert page.noise.workload.uploaded_label == "Workload"
    page.noise.workload.param.update(filename="bad.csv", value=b"nothing of use\n1\n")
    assert state.workload == ""
    assert "bad.csv" in state.notice


def test_a_tree_is_judged_where_it_has_not_looked(page: DecisionsPage, state: State) -> None:
    assert "Held out" not in page.statistics.table.object
    page.statistics.judge.clicks += 1
    assert "Held out" in page.statistics.table.object
    assert not page.statistics.judge.visible
    assert "at sizes left out" in page.answer.html.object, "the tiles as well"
    state.max_depth = 1
    assert page.statistics.judge.visible


def calls(collective: str) -> pd.DataFrame:
    return pd.DataFrame({"collective": [collective], "comm_size": [4], "message_size": [64], "calls": [7]})


def test_a_workload_that_never_calls_the_collective_is_said_and_taken_back(page: DecisionsPage, state: State) -> None:
    # As in a browser, where trees are grown elsewhere: what comes first is what is said of the measurements.
    state.deferred = True
    state.choose(Choice.of("optimal", {"leaves": 3}))
    state.weigh(calls("reduce"))
    assert plain("the workload does not call bcast, only reduce") in page.message.object
    assert not page.body.visible
    state.weigh(calls("bcast"))
    assert "Sizes are weighed by 7 calls" in page.message.object
    assert page.body.visible
    state.weigh(calls("reduce"))
    bar = Weighed(state)
    assert bar.body.visible
    bar.unweigh.clicks += 1
    assert (page.body.visible, bar.body.visible, state.workload) == (True, False, "")


def test_an_empty_workload_is_said_to_be_empty(page: DecisionsPage, state: State) -> None:
    page.noise.workload.value = b""
    assert "holds no line of a workload" in state.notice
    # The same file may be chosen again.
    assert page.noise.workload.value is None
