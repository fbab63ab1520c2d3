"""Changes that had to wait for a busy websocket, all of them sent, and as soon as it is free.

Panel keeps such changes aside, and one task sends them. Where the websocket is still busy it looks again after
10 ms: the receipt of a slider's move was mostly still being written when what follows from the move was there. And what
comes in while that task waits for its last one to be written stays where it is until something else changes: a button
that was free again was shown as disabled for as long as nobody did anything.
"""

import asyncio
from typing import Any

from bokeh.document import Document
from panel.io import document

_send = document._dispatch_msgs  # noqa: SLF001 - there is no public way
#: After so long Panel looks again.
_AGAIN_SECONDS = 0.01
#: Panel 1.9 keeps messages by connections, 1.10 lists of connections each with changes.
_waiting: Any = getattr(document, "_WRITE_MSGS" if hasattr(document, "_WRITE_MSGS") else "_WRITE_EVENTS")
_busy = document._WRITE_BLOCK  # noqa: SLF001 - likewise


async def _send_all(doc: Document) -> None:
    await _free(doc)
    await _send(doc)
    while doc in _waiting and doc not in _busy:
        # As whoever adds a message does.
        _busy[doc] = True
        await _free(doc)
        await _send(doc)


async def _free(doc: Document) -> None:
    """Wait for the websockets that something is being written to.

    While the document is locked, what is written may be the first of several changes that belong together, and came
    before those that wait here: then it is as with Panel alone.
    """
    kept = _waiting.get(doc, {})
    for connection in list(kept) if isinstance(kept, dict) else {each for several, _ in kept for each in several}:
        lock: Any = getattr(connection._socket, "write_lock", None)  # noqa: SLF001 - Panel asks for it by that name
        if lock is not None and not _locked(doc):
            async with lock:
                pass
    if _locked(doc):
        await asyncio.sleep(_AGAIN_SECONDS)


def _locked(doc: Document) -> bool:
    session: Any = doc.session_context and getattr(doc.session_context, "session", None)
    if session is None:
        return False
    lock = session._lock  # noqa: SLF001 - there is no public way
    # Bokeh 3.9 has Tornado's, which has to be asked as Panel asks a websocket's.
    return lock.locked() if isinstance(lock, asyncio.Lock) else lock._block._value == 0  # noqa: SLF001


def install() -> None:
    """Have every server of this process send all."""
    document._dispatch_msgs = _send_all  # noqa: SLF001 - Panel calls it by that name
