"""The page *Export* over the sample measurements."""

import pytest

from dashboard.pages.export.page import ExportPage
from dashboard.session.state import State
from tests.states import sample_state


@pytest.fixture
def state() -> State:
    return sample_state(page="Export")


@pytest.fixture
def page(state: State) -> ExportPage:
    return ExportPage(state)
