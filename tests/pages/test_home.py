"""The page *Home*: three ways on, and what is open."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.app import App
from dashboard.measuring import tunings
from dashboard.pages.home import HomePage
from dashboard.pages.parts.loading import load_sample
from dashboard.session.samples import Start, sample_start
from dashboard.session.state import State
from tests.tuning.conftest import finished

__all__ = ["finished"]
# Bokeh 3.9 makes the sources of tables with a keyword that pandas 3.1 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")


def open_page(state: State | None = None) -> HomePage:
    state = state or State()
    state.navigated, state.page = True, "Home"
    return HomePage(state)


@pytest.fixture(autouse=True)
def nothing_tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(tmp_path / "kept"))


def test_with_nothing_open_the_cards_lead_on() -> None:
    page = open_page()
    assert not page.drawn.visible
    page.state.busy = "Loading, 40 %: large.nc"
    assert page.under_way.visible
    page.state.busy = ""
    assert not page.under_way.visible
    page.tune.clicks += 1
    assert page.state.page == "Tune"
    page.bring.clicks += 1
    assert page.state.page == "Data"
    asyncio.run(load_sample(page.state))
    assert (page.state.page, page.state.collective) == ("Decisions", "bcast")
    # What was opened meanwhile is there when one comes back.
    page.state.page = "Home"
    assert page.drawn.visible
    assert page.map.object is not None


def test_what_is_open_is_told_with_its_sizes() -> None:
    app = App(sample_start())
    app.state.page = "Home"
    page = app._pages["Home"]
    assert "fast-ethernet-16" in page.facts.object
    assert "<td>bcast</td>" in page.facts.object
    assert "SKaMPI" in page.facts.object
    page.bring.clicks += 1
    assert app.state.page == "Data"
    assert app._pages["Data"].chooser.kind == "Upload"


def test_a_file_that_was_refused_at_the_start_is_named(tmp_path: Path) -> None:
    file = tmp_path / "empty.csv"
    file.write_text("")
    app = App(Start((file,)))
    app.state.page = "Home"
    page = app._pages["Home"]
    assert page.refused.visible
    assert "empty" in page.refused.object
    app.state.error = ""
    assert not page.refused.visible


def test_files_that_gave_nothing_beside_others_are_named(tmp_path: Path) -> None:
    rows = "".join(f"bcast,linear,0,{2**n},1024,0.001\n" for n in range(1, 4))
    (tmp_path / "good.csv").write_text(f"collective,algorithm,segment_size,comm_size,message_size,time\n{rows}")
    for name in "abcd":
        (tmp_path / f"{name}.csv").write_text("collective,algorithm,processes,bytes,time\n")
    app = App(Start((tmp_path,)))
    app.state.page = "Home"
    page = app._pages["Home"]
    assert page.drawn.visible
    assert page.refused.visible
    assert page.refused.object.replace("\\", "").startswith("4 files refused: a.csv, b.csv, c.csv and 1 more.")


def test_tunings_are_listed_and_one_that_runs_is_news(tmp_path: Path, finished: Path) -> None:
    assert open_page().tunings is None
    shutil.copytree(finished, tmp_path / "kept" / "tuned")
    page = open_page()
    (item,) = page.tunings.menu.items
    assert item["secondary"].startswith("proven, nothing slower")
    assert page.news.object == ""
    page._tell_news([replace(page.tunings.entries[0], state=tunings.RUNNING)])
    assert "tuned: running" in page.news.object
    page.tunings._click(item)
    assert (page.state.page, page.state.tuning) == ("Tune", "tuned")


def test_the_guide_for_the_first_minute_does_not_stand_above_it(tmp_path: Path) -> None:
    app = App(Start((tmp_path,)))
    for name, seen in (("Home", False), ("Tune", False), ("Decisions", True)):
        app.state.page = name
        assert app.first.body.visible is seen
