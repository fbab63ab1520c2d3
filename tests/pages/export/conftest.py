"""The page *Export* over the sample measurements."""

from __future__ import annotations

import pytest

from dashboard.pages.export import ExportPage
from dashboard.registry import load_results
from dashboard.samples import sample_start
from dashboard.state import State


@pytest.fixture
def state() -> State:
    state, start = State(), sample_start()
    state.show(load_results(start.paths, **start.hints))
    state.page = "Export"
    return state


@pytest.fixture
def page(state: State) -> ExportPage:
    return ExportPage(state)
