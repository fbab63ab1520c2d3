"""Changes that had to wait for a busy websocket, all of them sent.

Panel 1.9 keeps such changes aside, and one task sends them. What comes in while that task waits for its last one to be
written stays where it is until something else changes: a button that was free again was shown as disabled for as long
as nobody did anything.
"""

from __future__ import annotations

from bokeh.document import Document
from panel.io import document

_send = document._dispatch_msgs  # noqa: SLF001 - there is no public way


async def _send_all(doc: Document) -> None:
    await _send(doc)
    while doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:  # noqa: SLF001
        document._WRITE_BLOCK[doc] = True  # noqa: SLF001 - as whoever adds a message does
        await _send(doc)


def install() -> None:
    """Have every server of this process send all; may be called again."""
    document._dispatch_msgs = _send_all  # noqa: SLF001 - Panel calls it by that name
