"""Views that are saved by name: what is replaced or deleted is said, and can be taken back."""

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


def test_a_view_that_is_replaced_is_said_to_be_and_can_be_taken_back(bar: ViewBar, now: View) -> None:
    now["depth"] = "2"
    save(bar, "mine")
    assert (bar.note.object, bar.back.visible) == ("Saved.", False)
    now["depth"] = "3"
    save(bar, "mine")
    assert (bar.note.object, bar.back.visible) == ("Saved in place of the one of this name.", True)
    assert bar.browser.views == {"mine": {"depth": "3"}}
    bar.back.clicks += 1
    assert bar.browser.views == {"mine": {"depth": "2"}}
    assert bar.browser.keeping["view"] == {"depth": "2"}
    # Taking back is taken back, too.
    bar.back.clicks += 1
    assert bar.browser.views == {"mine": {"depth": "3"}}


def test_a_view_that_is_deleted_can_be_taken_back(bar: ViewBar, now: View) -> None:
    now["depth"] = "2"
    save(bar, "<mine>")
    bar.delete.clicks += 1
    assert (bar.note.object, bar.browser.views) == ("Deleted: &lt;mine&gt;.", {})
    bar.back.clicks += 1
    assert bar.browser.views == {"<mine>": {"depth": "2"}}
    assert (bar.views.value, bar.back.visible) == ("<mine>", False)
