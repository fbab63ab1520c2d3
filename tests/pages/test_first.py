"""The first minute, and the report: what someone finds who has nothing yet, and what can be sent."""

import asyncio
import io
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from dashboard.app import App
from dashboard.pages.decisions.details import Table
from dashboard.pages.frame.first import First
from dashboard.pages.frame.report import Report
from dashboard.pages.parts.loading import load_sample
from dashboard.session.registry import register
from dashboard.session.samples import Start
from dashboard.session.state import State
from loaders import open_results
from tests.pages.test_campaigns import campaign

# Bokeh's, where it meets the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")


def downloaded(table: Table, kind: str) -> io.BytesIO:
    return asyncio.run(table.downloads[kind].callback())


@pytest.fixture
def state() -> State:
    return State.of(register(campaign(1, "frodo")))


def test_without_data_every_page_offers_the_next_step(tmp_path: Path) -> None:
    app = App(Start((tmp_path,)))
    first = app.first
    for page in ("Data", "Decisions", "Compare", "Frontier", "Models", "Export"):
        app.state.page = page
        assert (first.body.visible, first.begin.visible) == (True, True)
    assert first.steps["Decisions"].disabled
    app.state.page = "Decisions"
    first.upload.param.trigger("clicks")
    assert app.state.page == "Data"
    assert app._pages["Data"].chooser.kind == "Upload"


def test_the_sample_data_are_one_press_away() -> None:
    state = State(page="Data")
    first = First(state, lambda: None)
    asyncio.run(load_sample(state))
    assert state.page == "Decisions"
    assert state.collective == "bcast"
    assert not first.body.visible
    state.page = "Data"
    assert (first.body.visible, first.begin.visible) == (True, False)
    assert first.steps["Data"].label.endswith("✓")


@pytest.mark.slow
def test_the_report_is_of_the_view_and_goes_when_the_view_does(state: State) -> None:
    report = Report(state)
    report.frontier.value, report.models.value = False, True
    report._write()
    assert report.download.visible
    text = report.download.callback().read().decode()
    assert "bcast" in text
    assert "Communication models" in text
    assert text.count("<html") == 1
    state.max_depth = 1
    assert not report.download.visible
    assert "write the report again" in report.message.object
    report._draw()
    assert report.download.visible
    assert report.download.filename.endswith(".zip")
    assert zipfile.is_zipfile(report.download.callback())
    report.frontier.value = True
    assert not report.download.visible, "nor is it what is asked for now"


def test_the_table_is_filtered_and_taken_away_in_three_formats(state: State, tmp_path: Path) -> None:
    table = Table(state)
    table.filter.value = "no such method"
    assert pd.read_csv(downloaded(table, "csv")).empty
    table.filter.value = str(state.view.cube()["method"].values[0])
    csv, parquet = pd.read_csv(downloaded(table, "csv")), pd.read_parquet(downloaded(table, "parquet"))
    assert (csv["best"] + csv["chosen"]).str.contains(table.filter.value, regex=False).all()
    assert parquet["penalty [%]"].tolist() == pytest.approx(csv["penalty [%]"].tolist())
    (tmp_path / "results.nc").write_bytes(downloaded(table, "nc").read())
    loaded = open_results([tmp_path / "results.nc"])["bcast"].to_dataset()
    assert loaded["time"].equals(state.view.cube()["time"])
