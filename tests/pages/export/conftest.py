"""The page *Export* over the sample measurements."""

from collections.abc import Iterator

import pytest
from bokeh.document import Document

from dashboard.pages.export.page import ExportPage
from dashboard.session.state import State
from tests.states import sample_state


@pytest.fixture(scope="module")
def opened() -> ExportPage:
    """The page of most tests of a module, with its maps as a browser would have them."""
    page = ExportPage(sample_state(page="Export"))
    for maps in (page.file.maps, page.check.maps):
        maps.__panel__().get_root(Document())
    return page


@pytest.fixture
def drawn(opened: ExportPage) -> Iterator[ExportPage]:
    """The page; each test finds the choices as they were at first."""
    yield opened
    opened.state.from_query({"page": "Export", "collective": "bcast"})


@pytest.fixture
def page(drawn: ExportPage) -> ExportPage:
    return drawn


@pytest.fixture
def state(drawn: ExportPage) -> State:
    return drawn.state
