"""The drop area for uploads: what arrives is counted and written to disk piece by piece, never gathered in memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from dashboard.pages.data.files import Uploads

#: Of a piece, as the browser cuts them; the server's bound on messages is a little above.
CHUNK_BYTES = 5_000_000
_LONGEST_NAME = 300


class Dropper(JSComponent):
    """A place to drop files, with one row that sums up all of them, however many they are.

    The bounds that the browser is told of are for honest ones; `Uploads` keeps them.

    Parameters
    ----------
    report
        Called with the name of a file, and why it was refused or None where it was taken or removed.
    """

    chunk = param.Integer(default=CHUNK_BYTES, constant=True, doc="Bytes of a piece.")
    kept = param.Integer(default=0, doc="Files that have come and were taken.")
    loads = param.Integer(default=0, doc="Times that loading was asked for: files that come later replace.")
    answered = param.Integer(default=0, doc="Files of which it is known whether they were taken.")

    _esm = Path(__file__).with_name("dropping.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar[list[str]] = [
        """
.drop { border: 1px dashed color-mix(in srgb, currentColor 45%, transparent); border-radius: 6px; padding: 12px 16px;
  color: var(--panel-on-background-color, #222); font-size: 14px; }
.drop.over { border-style: solid; }
.drop label { display: block; padding: 16px; text-align: center; cursor: pointer; }
.drop input { position: absolute; opacity: 0; width: 1px; height: 1px; }
.drop label:focus-within { outline: 2px solid; }
.drop p { margin: 4px 0; }
.drop progress { width: 100%; }
.drop ul { max-height: 240px; overflow: auto; list-style: none; margin: 4px 0 0; padding: 0; }
.drop li button { border: 0; background: none; color: inherit; font-size: 16px; cursor: pointer; }
"""
    ]

    def __init__(self, uploads: Uploads, report: Callable[[str, str | None], None], **params: Any) -> None:
        self._uploads, self._report = uploads, report
        self._answered: set[str] = set()
        super().__init__(**params)

    def _handle_msg(self, data: Any) -> None:
        if not isinstance(data, dict):
            return
        name = str(data.get("name", ""))[:_LONGEST_NAME]
        if data.get("removed"):
            self._uploads.remove(name)
            self._answer(name, None, removed=True)
            return
        chunk, chunks, piece = data.get("chunk"), data.get("total_chunks"), data.get("data")
        if not (
            isinstance(chunk, int) and isinstance(chunks, int) and isinstance(piece, bytes | bytearray | memoryview)
        ):
            return
        if chunk == 1:
            self._answered.discard(name)
        refused = self._uploads.begin(name) if chunk == 1 else None
        refused = refused or self._uploads.add(name, bytes(piece), last=chunk >= chunks)
        # The last piece of a file that was refused before says nothing new.
        if refused or self._uploads.holds(name):
            self._answer(name, refused)

    def _answer(self, name: str, refused: str | None, *, removed: bool = False) -> None:
        self._report(name, refused)
        (self._answered.discard if removed else self._answered.add)(name)
        self.answered = len(self._answered)
