"""The page *Export* over the sample measurements."""

from __future__ import annotations

import pytest

from dashboard.pages.export.page import ExportPage
from dashboard.session.registry import load_results
from dashboard.session.samples import sample_start
from dashboard.session.state import State


@pytest.fixture
def state() -> State:
    state, start = State(), sample_start()
    state.show(load_results(start.paths, **start.hints))
    state.page = "Export"
    return state


@pytest.fixture
def page(state: State) -> ExportPage:
    return ExportPage(state)
