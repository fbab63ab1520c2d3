"""The page *Models* over the sample measurements."""

import pytest

from dashboard.pages.models.page import ModelsPage
from dashboard.session.state import State
from tests.states import sample_state


@pytest.fixture
def state() -> State:
    """Choices of a session that looks at the page."""
    return sample_state(page="Models")


@pytest.fixture
def page(state: State) -> ModelsPage:
    """The page; what a test looks at is rendered by `viewing`."""
    return ModelsPage(state)
