"""The page *Models* over the sample measurements."""

from __future__ import annotations

import pytest

from dashboard.pages.models.page import ModelsPage
from dashboard.session.registry import Results, load_results
from dashboard.session.samples import sample_start
from dashboard.session.state import State


@pytest.fixture(scope="session")
def results() -> Results:
    """What the page is opened on."""
    start = sample_start()
    return load_results(start.paths, **start.hints)


@pytest.fixture
def state(results: Results) -> State:
    """Choices of a session that looks at the page."""
    state = State()
    state.show(results)
    state.page = "Models"
    return state


@pytest.fixture
def page(state: State) -> ModelsPage:
    """The page; what a test looks at is rendered by `viewing`."""
    return ModelsPage(state)
