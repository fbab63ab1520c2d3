"""Undo and redo of views."""

from hypothesis import given
from hypothesis import strategies as st

from dashboard.session.history import KEPT, History


@given(st.lists(st.sampled_from(["undo", "redo", *"abc"]), min_size=40, max_size=400))
def test_it_is_what_a_list_and_a_place_would_be(steps: list[str]) -> None:
    history, views, at = History(), [], -1
    for step in steps:
        if step == "undo":
            at -= (moves := at > 0)
            assert history.undo() == ({"view": views[at]} if moves else None)
        elif step == "redo":
            at += (moves := at + 1 < len(views))
            assert history.redo() == ({"view": views[at]} if moves else None)
        else:
            if not views or views[at] != step:
                views = [*views[: at + 1], step][-KEPT:]
                at = len(views) - 1
            history.note({"view": step})
        assert (history.undoable, history.redoable) == (at > 0, at + 1 < len(views))
