"""A page *Data* that has not loaded anything yet."""

import pytest

from dashboard.pages.data.page import DataPage
from dashboard.session.samples import sample_start
from dashboard.session.state import State


@pytest.fixture
def page() -> DataPage:
    return DataPage(State(), sample_start())
