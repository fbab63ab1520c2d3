"""A dashboard that is served, and a page that has time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.conftest import WatchedPage
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def server(serve_dashboard: Callable[..., Served]) -> Served:
    return serve_dashboard()


@pytest.fixture
def page(watched_page: WatchedPage) -> Page:
    """Whatever is waited for on it may take three minutes."""
    watched_page.page.set_default_timeout(180_000)
    return watched_page.page
