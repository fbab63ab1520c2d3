"""The drop area for uploads: what arrives is counted and written to disk piece by piece, never gathered in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from dashboard.pages.data.files import Uploads

#: Of a piece, as the browser cuts them; the server's bound on messages is a little above.
CHUNK_BYTES = 5_000_000
_LONGEST_NAME = 300


class Dropper(pn.widgets.FileDropper):
    """Panel's, which keeps what the browser sends until a file is complete, however much it is.

    The bounds that the browser is told of are for honest ones; `Uploads` keeps them.

    Parameters
    ----------
    uploads
        Where the files go.
    told
        Called with the name of a file, and why it was refused or None where it was taken or removed.
    """

    def __init__(self, uploads: Uploads, told: Callable[[str, str | None], None], **params: Any) -> None:
        self._uploads, self._told = uploads, told
        super().__init__(
            multiple=True,
            max_files=uploads.most_files,
            max_total_file_size=f"{uploads.most_bytes // 1_000_000}MB",
            previews=[],
            chunk_size=CHUNK_BYTES,
            **params,
        )

    def _process_event(self, event: Any) -> None:
        data = event.data
        name = str(data.get("name", ""))[:_LONGEST_NAME]
        if event.event_name == "delete_event":
            self._uploads.remove(name)
            self._told(name, None)
            return
        chunk, chunks, piece = data.get("chunk"), data.get("total_chunks"), data.get("data")
        if not (
            isinstance(chunk, int) and isinstance(chunks, int) and isinstance(piece, bytes | bytearray | memoryview)
        ):
            return
        refused = self._uploads.begin(name) if chunk == 1 else None
        refused = refused or self._uploads.add(name, bytes(piece), last=chunk >= chunks)
        # The last piece of a file that was refused before says nothing new.
        if refused or self._uploads.holds(name):
            self._told(name, refused)
