"""Undo and redo of views."""

from hypothesis import given
from hypothesis import strategies as st

from dashboard.session.history import KEPT, History


def test_it_goes_back_and_forward() -> None:
    history = History()
    for depth in "123":
        history.note({"depth": depth})
    assert (history.undoable, history.redoable) == (True, False)
    assert history.undo() == {"depth": "2"}
    assert history.undo() == {"depth": "1"}
    assert history.undo() is None
    assert history.redo() == {"depth": "2"}
    history.note({"depth": "2"})
    assert history.redo() == {"depth": "3"}


def test_another_way_forgets_what_was_gone_back_from() -> None:
    history = History()
    for depth in "12":
        history.note({"depth": depth})
    history.undo()
    history.note({"depth": "9"})
    assert history.redo() is None
    assert history.undo() == {"depth": "1"}


@given(st.lists(st.sampled_from(["undo", "redo", *"abc"]), max_size=400))
def test_it_is_what_a_list_and_a_place_would_be(steps: list[str]) -> None:
    history, views, at = History(), [], -1
    for step in steps:
        if step == "undo":
            at -= at > 0
            history.undo()
        elif step == "redo":
            at += at + 1 < len(views)
            history.redo()
        elif not views or views[at] != step:
            views = [*views[: at + 1], step][-KEPT:]
            at = len(views) - 1
            history.note({"view": step})
        assert (history.undoable, history.redoable) == (at > 0, at + 1 < len(views))
