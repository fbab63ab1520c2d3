"""What the header offers on any page: undo, redo, and views kept under a name in the reader's own browser."""

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import param
from panel.custom import JSComponent
from panel.viewable import Viewer

from dashboard.pages.parts.views import once_loaded
from dashboard.pages.parts.widgets import Button, Select, TextInput
from dashboard.session.history import History, View

MOST_VIEWS = 50
LONGEST_NAME = 60
_ON_HEADER = {"color": "text.secondary", "minWidth": "36px", "&.Mui-disabled": {"opacity": 0.45}}


class BrowserSide(JSComponent):
    """What of it is in the browser: its storage, which keeps the views, and the keys that undo and close."""

    views = param.Dict(default={}, doc="Views as names and values of an address, by their names.")
    keeping = param.Dict(default={}, doc="Last one to be kept: ``name``, ``view`` (None: no more), and its ``number``.")
    asked = param.String(default="", doc="Last key that was pressed: ``undo``, ``redo`` or ``close`` with a number.")

    _esm = Path(__file__).with_name("views.js").read_text(encoding="utf-8")


class ViewBar(Viewer):
    """Undo and redo for the header, and a line to keep views by name that opens on demand.

    Parameters
    ----------
    history
        Views of this session.
    show
        Shows a view.
    now
        Gives the view on show.
    """

    #: Of buttons on the header.
    STYLE: ClassVar[dict[str, Any]] = {"label": "", "variant": "text", "margin": 0, "sx": _ON_HEADER}

    def __init__(self, history: History, show: Callable[[View], None], now: Callable[[], View]) -> None:
        super().__init__()
        self._history, self._show, self._now = history, show, now
        icon = self.STYLE
        self.undo = Button(icon="undo", description="Undo (Ctrl+Z)", disabled=True, on_click=self._undo, **icon)
        self.redo = Button(icon="redo", description="Redo (Ctrl+Y)", disabled=True, on_click=self._redo, **icon)
        self.more = Button(icon="bookmark", description="Saved views", on_click=self._toggle, **icon)
        self.browser = BrowserSide(width=0, height=0, margin=0)
        self.title = TextInput(label="Name of this view", max_length=LONGEST_NAME, width=260)
        self.save = Button(label="Save", variant="outlined", on_click=self._save, align="center")
        self.views = Select(label="Saved views, in this browser", options=[], width=300)
        self.open = Button(label="Open", variant="outlined", on_click=self._open, align="center")
        self.delete = Button(label="Delete", variant="text", on_click=self._delete, align="center")
        self.note = pn.pane.HTML("", align="center")
        kept = (self.title, self.save, self.views, self.open, self.delete)
        self.line = pn.FlexBox(*kept, self.note, align_items="center", visible=False)
        #: What the header has opened below it, and Escape closes.
        self.lines: list[pn.viewable.Viewable] = [self.line]
        self.title.param.watch(self._save, "enter_pressed")
        self.browser.param.watch(self._kept, "views")
        self.browser.param.watch(self._key, "asked")
        history.param.watch(self._follow, ["undoable", "redoable"])
        self._list()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Row(self.undo, self.redo, self.more, self.browser, margin=0, align="center")

    def _follow(self, *_: Any) -> None:
        self.undo.disabled, self.redo.disabled = not self._history.undoable, not self._history.redoable

    def _undo(self, *_: Any) -> None:
        # What was changed just now may not have been noted yet.
        self._history.note(self._now())
        view = self._history.undo()
        if view is not None:
            self._show(view)

    def _redo(self, *_: Any) -> None:
        view = self._history.redo()
        if view is not None:
            self._show(view)

    def _key(self, event: Any) -> None:
        {"undo": self._undo, "redo": self._redo, "close": self._close}[event.new.partition(" ")[0]]()

    def _close(self) -> None:
        for line in self.lines:
            line.visible = False

    def _toggle(self, *_: Any) -> None:
        self.line.visible = not self.line.visible

    def _kept(self, *_: Any) -> None:
        once_loaded(self._list)

    def _list(self) -> None:
        names = sorted(self._known())
        chosen = self.views.value if self.views.value in names else next(iter(names), None)
        self.views.param.update(options=names, value=chosen)
        self.open.disabled = self.delete.disabled = not names

    def _known(self) -> dict[str, View]:
        # Whatever is in the browser's storage: only what looks like a view is one.
        return {
            str(name): {str(key): str(value) for key, value in view.items()}
            for name, view in list(self.browser.views.items())[:MOST_VIEWS]
            if isinstance(view, Mapping)
        }

    def _save(self, *_: Any) -> None:
        name = (self.title.value_input or self.title.value or "").strip()
        if not name:
            self.note.object = "Give the view a name first."
            return
        known = self._known()
        if len(known) >= MOST_VIEWS and name not in known:
            self.note.object = f"There are {MOST_VIEWS} already; delete one first."
            return
        self._keep(name, self._now())
        self.views.value = name
        self.note.object = "Saved in place of the earlier one of this name." if name in known else "Saved."

    def _open(self, *_: Any) -> None:
        view = self._known().get(self.views.value or "")
        if view is None:
            self.note.object = "Choose a saved view first."
            return
        self.note.object = ""
        self._show(view)

    def _delete(self, *_: Any) -> None:
        name = str(self.views.value)
        self._keep(name, None)
        self.note.object = f"Deleted: {escape(name)}."

    def _keep(self, name: str, view: View | None) -> None:
        """Keep a view under a name, or none any more; the browser does so beside what other tabs have kept."""
        others = {each: known for each, known in self._known().items() if each != name}
        self.browser.views = others if view is None else {**others, name: view}
        self.browser.keeping = {"name": name, "view": view, "number": self.browser.keeping.get("number", 0) + 1}
