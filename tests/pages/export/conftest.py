"""The page *Export* over the sample measurements."""

import pytest
from bokeh.document import Document

from dashboard.pages.export.page import ExportPage
from dashboard.session.state import State
from tests.states import sample_state


@pytest.fixture
def state() -> State:
    return sample_state(page="Export")


@pytest.fixture
def page(state: State) -> ExportPage:
    return ExportPage(state)


@pytest.fixture
def drawn(page: ExportPage) -> ExportPage:
    """The page with its maps as a browser would have them."""
    for maps in (page.file.maps, page.check.maps):
        maps.__panel__().get_root(Document())
    return page
