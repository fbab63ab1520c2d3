"""What a browser sends when files are dropped."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from dashboard.pages.data.dropping import Dropper


def drop(dropper: Dropper, files: Mapping[str, bytes], piece: int = 1 << 20) -> None:
    """Send files, in pieces, as Panel's browser side does."""
    for name, content in files.items():
        pieces = [content[at : at + piece] for at in range(0, max(len(content), 1), piece)]
        for number, each in enumerate(pieces, 1):
            send(dropper, name=name, chunk=number, total_chunks=len(pieces), type="", data=each)


def send(dropper: Dropper, event: str = "upload_event", **data: Any) -> None:
    """Send one event, whatever is in it."""
    dropper._process_event(SimpleNamespace(event_name=event, data=data))
