"""The complete selection file that MPICH's is made from, where another one than is known or installed is uploaded."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.domain.units import format_bytes, format_room
from dashboard.export.rules import RulesError
from dashboard.export.rules.lint import read_text
from dashboard.export.targets.mpich.base import KNOWN, known
from dashboard.pages.parts.widgets import FileInput, Select
from dashboard.session.state import State

#: Larger files are no rules of a library.
MOST_BYTES = 4 << 20


class BaseFile(Viewer):
    """Takes MPICH's own file.

    Parameters
    ----------
    changed
        Called when there is another.
    """

    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed = changed
        self._uploaded: tuple[str, str] | None = None
        self._standing = ""
        self.version = Select(
            label="MPICH",
            options={"as measured": "", **{version: version for version in KNOWN}},
            value=state.base_version,
            width=150,
            description="The version that will read the file, where the results do not tell one that is known.",
        )
        self.version.link(state, value="base_version", bidirectional=True)
        self.version.param.watch(self._choose, "value")
        self.upload = FileInput(
            label="MPICH's own selection file",
            accept=".json",
            margin=(10, 10),
            description="maint/tuning/coll/mpir/generic.json of the very version; the collectives of this file replace "
            "those in it.",
        )
        self.note = pn.pane.HTML("", margin=(4, 10), width=300)
        self.line = pn.Row(self.version, self.upload, self.note, margin=0)
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
        """The file that was uploaded, if one was, else that of the version that was chosen."""
        return known(self.version.value) if self._uploaded is None else self._uploaded[1]

    @property
    def named(self) -> str:
        """What was chosen as a command takes it: a version, or the name of a file; empty: nothing was."""
        return str(self.version.value) if self._uploaded is None else self._uploaded[0]

    def stand_on(self, name: str) -> None:
        """Tell the file that is changed where none is given; an empty name where it is found otherwise."""
        self._standing = name
        self._tell()

    def _choose(self, event: Any) -> None:
        if event.new:
            self._uploaded = None
            self._tell()
        self._changed()

    def _take(self, event: Any) -> None:
        if event.new is None:
            return
        name = str(self.upload.filename or "file")
        try:
            self._uploaded = name, decoded(event.new)
            kind = read_text(self._uploaded[1]).format if event.new else "refused: the file is empty"
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
        elif self.version.value:
            self.note.object = f"Made from that of MPICH {self.version.value}."
        elif self._standing:
            self.note.object = f"Made from {escape(self._standing)} itself; another can be given."
        else:
            self.note.object = (
                f"Made from that of the version measured ({KNOWN[0]} to {KNOWN[-1]} are known), else of the MPICH "
                "that is installed here; another can be given."
            )


def decoded(content: bytes | str) -> str:
    """The text of an uploaded or pasted file; `RulesError` where it is too large."""
    size = len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise RulesError(f"{format_room(size)} are no rules file; at most {format_bytes(MOST_BYTES)} are read")
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else content
