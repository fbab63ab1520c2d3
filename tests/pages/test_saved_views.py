"""Views that are saved by name: what is replaced or deleted is said."""

import pytest

from dashboard.pages.frame.views import ViewBar
from dashboard.session.history import History, View


@pytest.fixture
def now() -> View:
    """The view on show."""
    return {}


@pytest.fixture
def bar(now: View) -> ViewBar:
    return ViewBar(History(), now.update, lambda: dict(now))


def save(bar: ViewBar, name: str) -> None:
    bar.title.value = name
    bar.save.clicks += 1


def test_a_view_that_is_replaced_or_deleted_is_said_to_be(bar: ViewBar, now: View) -> None:
    now["depth"] = "2"
    save(bar, "<mine>")
    assert bar.note.object == "Saved."
    now["depth"] = "3"
    save(bar, "<mine>")
    assert bar.note.object == "Saved in place of the earlier one of this name."
    assert (bar.views.value, bar.browser.views) == ("<mine>", {"<mine>": {"depth": "3"}})
    assert bar.browser.keeping["view"] == {"depth": "3"}
    bar.delete.clicks += 1
    assert (bar.note.object, bar.browser.views) == ("Deleted: &lt;mine&gt;.", {})
    assert bar.browser.keeping["view"] is None
