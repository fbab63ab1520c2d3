"""Pages over results alone, as they are made in a notebook: no navigation, no session."""

from collections.abc import Callable
from typing import Any

import pytest
import xarray as xr
from panel.viewable import Viewer

from dashboard.pages.compare.page import ComparePage
from dashboard.pages.decisions.page import DecisionsPage
from dashboard.pages.export.page import ExportPage
from dashboard.pages.frontier import FrontierPage
from dashboard.pages.models.page import ModelsPage
from dashboard.session.state import State
from tests.cubes import synthetic_cube

#: What of each page is there only once it has drawn its results.
SHOWN: dict[type[Viewer], Callable[[Any], Any]] = {
    DecisionsPage: lambda page: page.maps.scene,
    ComparePage: lambda page: page.maps.scene,
    FrontierPage: lambda page: page.frontier,
    ModelsPage: lambda page: page.collective.value,
    ExportPage: lambda page: page.file.written,
}
PAGES = pytest.mark.parametrize("kind", SHOWN, ids=lambda kind: kind.__name__)


@pytest.fixture
def results() -> xr.DataTree:
    return xr.DataTree.from_dict({"bcast": synthetic_cube(5, 6, 3, seed=1)})


@pytest.fixture(autouse=True)
def one_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frontier of all families is `test_frontier`'s and the command's."""
    monkeypatch.setattr("dashboard.decisions.judged.frontier._suitable", lambda _: ["quadtree"])


@PAGES
def test_every_page_shows_results_that_it_is_given(kind: type[Any], results: xr.DataTree) -> None:
    page = kind(results)
    assert page.state.collective == "bcast"
    assert SHOWN[kind](page) is not None


@PAGES
def test_every_page_follows_the_state_of_another_one(kind: type[Any], results: xr.DataTree) -> None:
    first = DecisionsPage(results)
    assert kind(first.state).state is first.state


@PAGES
def test_a_page_that_was_not_navigated_to_computes_nothing(kind: type[Any], results: xr.DataTree) -> None:
    state = State.of(results)
    state.navigated, state.page = True, "Data"
    page = kind(state)
    if kind is not DecisionsPage:  # the page one begins on
        assert SHOWN[kind](page) is None
    state.page = kind.__name__.removesuffix("Page")
    assert SHOWN[kind](page) is not None


def test_the_arrays_of_the_results_stay_their_owners(results: xr.DataTree) -> None:
    page = DecisionsPage(results)
    results["bcast"]["time"].values[:] = 1.0
    assert float(page.state.view.cube()["time"].min()) < 1.0


@pytest.mark.parametrize("given", ["results.nc", None, xr.Dataset()])
def test_what_is_no_results_is_refused_with_what_would_do(given: Any) -> None:
    with pytest.raises(TypeError, match=f"open_results gives them.*not a {type(given).__name__}"):
        DecisionsPage(given)
