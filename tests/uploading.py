"""What a browser sends when files are dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.pages.data.dropping import Dropper


def drop(dropper: Dropper, files: Mapping[str, bytes], piece: int = 1 << 20) -> None:
    """Send files, in pieces, as the browser's side does."""
    for name, content in files.items():
        pieces = [content[at : at + piece] for at in range(0, max(len(content), 1), piece)]
        for number, each in enumerate(pieces, 1):
            send(dropper, name=name, chunk=number, total_chunks=len(pieces), data=each)


def send(dropper: Dropper, **data: Any) -> None:
    """Send one message, whatever is in it."""
    dropper._handle_msg(data)
