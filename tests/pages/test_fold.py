"""What is shown only when it is asked for."""

import panel as pn
from bokeh.document import Document

from dashboard.pages.parts.fold import open_tabs


def test_what_a_tab_holds_is_made_when_it_is_first_opened_and_kept() -> None:
    first, second = pn.pane.HTML("first"), pn.pane.HTML("second")
    opened = open_tabs({"First": first, "Second": second})
    document = Document()
    opened.get_root(document)
    assert first._models
    assert not second._models
    opened.active = 1
    (model,) = (model for model, _ in second._models.values())
    opened.active = 0
    opened.active = 1
    assert [kept for kept, _ in second._models.values()] == [model]
