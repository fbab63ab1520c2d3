"""Changes that had to wait for a busy websocket, all of them sent.

Panel 1.9 keeps such changes aside, and one task sends them. What comes in while that task waits for its last one to be
written stays where it is until something else changes: a button that was free again was shown as disabled for as long
as nobody did anything.
"""

from __future__ import annotations

from bokeh.document import Document
from panel.io import document

_send = document._dispatch_msgs  # noqa: SLF001 - there is no public way
_waiting, _busy = document._WRITE_MSGS, document._WRITE_BLOCK  # noqa: SLF001 - likewise


async def _send_all(doc: Document) -> None:
    await _send(doc)
    while doc in _waiting and doc not in _busy:
        # As whoever adds a message does.
        _busy[doc] = True
        await _send(doc)


def install() -> None:
    """Have every server of this process send all."""
    document._dispatch_msgs = _send_all  # noqa: SLF001 - Panel calls it by that name
