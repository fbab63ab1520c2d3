"""The whole: what is opened at the start, the pages, the address."""

import gc
import shutil
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import panel as pn
import param
import pytest
import xarray as xr
from bokeh.document import Document
from panel.io.state import set_curdoc

import dashboard.pages
from dashboard.app import App, create_app
from dashboard.pages.frame.permalink import Permalink
from dashboard.session.choice import RECOMMENDED
from dashboard.session.registry import load_results
from dashboard.session.samples import Start, sample_start
from dashboard.session.state import PAGES, State
from loaders import save_results
from tests.conftest import FAST_ETHERNET, ROOT, ran
from tests.cubes import synthetic_cube

# Bokeh 3.9 makes the sources of tables with a keyword that pandas 3.1 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")


class Location(param.Parameterized):
    """An address as Panel's location holds it."""

    search = param.String()

    @property
    def query_params(self) -> dict[str, Any]:
        return pn.util.parse_query(self.search)


def test_the_sample_data_are_there_with_the_first_page() -> None:
    app = App(sample_start())
    assert app.state.collective == "bcast"
    assert [page.name for page in app.main] == ["Decisions"]
    assert not app.notice.visible


def test_pages_are_made_when_asked_for_and_kept() -> None:
    app = App(sample_start())
    app.navigation.value = "Data"
    assert {page.name: page.visible for page in app.main} == {"Decisions": False, "Data": True}
    data = app.main[1]
    app.state.page = "Decisions"
    app.state.page = "Data"
    assert app.main[1] is data
    assert app.navigation.value == "Data"


def test_where_the_start_fails_the_data_page_says_why(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(
        "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1                       6.57\n"
    )
    app = App(Start((tmp_path,)))
    assert app.state.page == "Data"
    page = app._pages["Data"]
    assert page.error.visible
    assert page.overview.files["result"].tolist() == ["needs hints"]


@pytest.mark.parametrize("there", [True, False], ids=["empty folder", "no folder"])
def test_nothing_to_open_is_no_failure_of_the_dashboard(tmp_path: Path, *, there: bool) -> None:
    app = App(Start((tmp_path if there else tmp_path / "nowhere",)))
    assert app.state.page == "Data"
    assert app.state.error != ""


def test_an_unforeseen_error_is_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    app = App(sample_start())
    app.fail(ZeroDivisionError("secret detail"))
    assert app.notice.visible
    assert "ZeroDivisionError" in app.state.notice
    assert "secret detail" not in app.state.notice
    assert "ZeroDivisionError" in caplog.text


def test_the_address_follows_the_view(state: State) -> None:
    location = Location(search="?tree=quadtree")
    Permalink(state, location).open()
    assert location.search == "?collective=bcast&tree=quadtree"
    state.max_depth = 5
    state.pinned = (16, 1024)
    assert location.query_params == {"collective": "bcast", "tree": "quadtree", "depth": 5, "pinned": "16,1024"}


def test_a_page_that_is_made_anew_for_its_websocket_shows_the_view_of_its_address(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(pn.state), "session_args", {"tree": [b"quadtree"], "depth": [b"5"]})
    location = Location()
    Permalink(state, location).open()
    assert (state.family, state.max_depth) == ("quadtree", 5)
    assert location.query_params["tree"] == "quadtree"


def test_the_address_is_left_as_it_came_until_the_browser_has_said_it(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(pn.state, "onload", waiting.append)
    location = Location()
    Permalink(state, location).open()
    # Where nothing can be opened the page turns to Data before its browser is there: written now, the address that
    # the browser comes with would be a wish for another page.
    state.page = "Data"
    assert location.search == ""
    for begin in waiting:
        begin()
    assert location.query_params["page"] == "Data"


@pytest.mark.parametrize(("name", "value"), [("version", "5.0"), ("base", "5.0"), ("campaign", "1e3"), ("rows", "[1]")])
def test_what_looks_like_a_number_stays_a_name(state: State, name: str, value: str) -> None:
    location = Location(search=f"?page=Export&{name}={value}")
    Permalink(state, location).open()
    assert (getattr(state, name), state.notice) == (value, "")
    assert state.to_query()[name] == value


def test_the_view_follows_the_address(state: State) -> None:
    location = Location(search="?collective=reduce&depth=2")
    Permalink(state, location).open()
    assert (state.collective, state.max_depth) == ("reduce", 2)
    location.search = "?collective=alltoall&threshold=0.5"
    assert (state.collective, state.max_depth, state.threshold) == ("alltoall", 3, 0.5)


def test_capitals_do_not_matter_in_an_address(state: State) -> None:
    location = Location(search="?page=frontier&collective=REDUCE")
    Permalink(state, location).open()
    assert (state.page, state.collective, state.notice) == ("Frontier", "reduce", "")


def test_names_and_trees_that_there_are_not_are_said(state: State) -> None:
    location = Location(search="?tree=nonsense&colour=red&collective=reduce")
    Permalink(state, location).open()
    assert (state.collective, state.family) == ("reduce", RECOMMENDED)
    assert "colour: no name of an address" in state.notice
    assert "tree = 'nonsense'" in state.notice


def test_a_bad_value_in_the_address_is_said_and_leaves(state: State) -> None:
    location = Location(search="?depth=99&threshold=0.5")
    Permalink(state, location).open()
    assert "depth" in state.notice
    assert state.threshold == 0.5
    assert location.query_params == {"collective": "bcast", "threshold": 0.5, "tree": "quadtree"}


def test_the_address_names_results_loaded_later_and_brings_them_back(state: State) -> None:
    home = state.results_id
    location = Location()
    Permalink(state, location).open()
    state.load([FAST_ETHERNET / "reduce__linear__seg0.sko"])
    other, address = state.results_id, location.search
    assert other != home
    location.search = "?collective=bcast"
    assert state.results_id == home
    location.search = address
    assert state.results_id == other


def test_an_address_of_results_that_are_gone_is_said(state: State) -> None:
    home = state.results_id
    Permalink(state, Location(search="?data=0123456789abcdef&depth=4")).open()
    assert "other results" in state.notice
    assert (state.results_id, state.max_depth) == (home, 4)
    # Of results that are opened instead nothing of that is so.
    state.load([FAST_ETHERNET / "reduce__linear__seg0.sko"])
    assert state.notice == ""


def test_an_address_brings_the_campaign_beside_it_from_what_others_have_loaded(state: State) -> None:
    other = load_results([FAST_ETHERNET / "reduce__linear__seg0.sko"]).digest
    assert other not in state.loaded
    Permalink(state, Location(search=f"?collective=reduce&compare=campaigns&against={other}")).open()
    assert (state.notice, state.against) == ("", other)
    assert "reduce__linear__seg0.sko" in state.loaded[other]


@pytest.mark.slow
def test_sessions_share_no_choice() -> None:
    with set_curdoc(Document()):
        first = App(sample_start())
        first.state.max_depth = 7
        assert App(sample_start()).state.max_depth == 7, "the address of a session is its own"
    with set_curdoc(Document()):
        second = App(sample_start())
    assert (first.state.max_depth, second.state.max_depth) == (7, 3)


@pytest.mark.soak
def test_a_closed_session_is_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    states: list[State] = []
    monkeypatch.setattr("dashboard.app.State", lambda: states.append(state := State()) or state)
    save_results(xr.DataTree.from_dict({"bcast": synthetic_cube(4, 5, 3, seed=1)}), tmp_path / "few.nc")
    document = Document()
    with set_curdoc(document):
        create_app(Start((tmp_path / "few.nc",))).server_doc(document)
        for name in PAGES:
            states[-1].page = name
    assert document.roots
    # What the server does when a session ends: models are emptied, then all are told who asked to be.
    document.models.destroy()
    for callback in document.session_destroyed_callbacks:
        callback(SimpleNamespace(id="session", _document=document))
    gone = weakref.ref(states.pop())
    del document, callback
    gc.collect()
    assert states == []
    assert gone() is None


@pytest.mark.soak
def test_panel_serve_can_run_a_copy_of_main_from_elsewhere(tmp_path: Path) -> None:
    # `panel serve dashboard` executes main.py; the packages come from where they are installed.
    shutil.copy(ROOT / "dashboard" / "main.py", tmp_path / "main.py")
    ran([sys.executable, "main.py"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""}, timeout=120)


@pytest.fixture
def further_page() -> Iterator[str]:
    """Name of a page that can be chosen beside the known ones."""
    known = list(State.param.page.objects)
    State.param.page.objects = [*known, "Trial"]
    yield "Trial"
    State.param.page.objects = known


def test_a_page_is_a_module_and_its_name(further_page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "trial.py").write_text(
        "import panel as pn\nfrom panel.viewable import Viewer\n\n\nclass TrialPage(Viewer):\n"
        "    def __init__(self, state):\n        super().__init__()\n        self.state = state\n\n"
        "    def __panel__(self):\n        return pn.pane.Markdown(self.state.collective)\n"
    )
    monkeypatch.setattr(dashboard.pages, "__path__", [*dashboard.pages.__path__, str(tmp_path)])
    monkeypatch.setattr("dashboard.app.PAGES", (*PAGES, further_page))
    app = App(sample_start())
    assert app.navigation.options[-1] == further_page
    app.navigation.value = further_page
    assert app.main[-1].visible
    assert app.main[-1][0].object == app.state.collective
