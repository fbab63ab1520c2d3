"""The complete selection file that MPICH's is made from: the installed library's own, or one that is uploaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.domain.units import format_bytes, format_room
from dashboard.export.rules import RulesError
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.mpich import base as mpich_base
from dashboard.pages.parts.widgets import FileInput

#: Larger files are no rules of a library.
MOST_BYTES = 4 << 20


@cache
def _installed() -> tuple[str, str] | None:
    compiled = mpich_base.installed()
    return None if compiled is None else (compiled[0].name, compiled[1])


class BaseFile(Viewer):
    """Takes MPICH's own file.

    Parameters
    ----------
    changed
        Called when there is another.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed = changed
        self._uploaded: tuple[str, str] | None = None
        self.upload = FileInput(
            label="MPICH's own selection file",
            accept=".json",
            margin=(10, 10),
            description="maint/tuning/coll/mpir/generic.json of the very version; the collectives of this file replace "
            "those in it.",
        )
        self.note = pn.pane.HTML("", margin=(4, 10), width=300)
        self.line = pn.Row(self.upload, self.note, margin=0)
        self.upload.param.watch(self._take, "value")
        self._tell()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.line

    @property
    def visible(self) -> bool:
        """Whether it is on the page."""
        return bool(self.line.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        if visible and self._uploaded is None:
            self._tell()
        self.line.visible = visible

    @property
    def text(self) -> str | None:
        """The file; None while there is none."""
        base = self._uploaded or _installed()
        return None if base is None else base[1]

    def _take(self, event: Any) -> None:
        if not event.new:
            return
        name = str(self.upload.filename or "file")
        try:
            self._uploaded = name, decoded(event.new)
            kind = read_text(self._uploaded[1]).format
        except RulesError as error:
            self._uploaded, kind = None, f"refused: {error}"
        if kind != "mpich":
            self._uploaded = None
            why = kind if kind.startswith("refused") else "it is no selection file of MPICH"
            self.note.object = f'<span style="color: #e53935" role="alert">{escape(name)}: {escape(why)}</span>'
            return
        self._tell()
        self._changed()

    def _tell(self) -> None:
        if self._uploaded is not None:
            self.note.object = f"Made from {escape(self._uploaded[0])}."
        elif (compiled := _installed()) is not None:
            self.note.object = f"Made from what is compiled into the {escape(compiled[0])} here; another can be given."
        else:
            self.note.object = "MPICH reads complete files only: give the one of its version."


def decoded(content: bytes | str) -> str:
    """The text of an uploaded or pasted file; `RulesError` where it is too large."""
    size = len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise RulesError(f"{format_room(size)} are no rules file; at most {format_bytes(MOST_BYTES)} are read")
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else content
