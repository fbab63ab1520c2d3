"""What a browser sends when files are dropped."""

from collections.abc import Mapping
from typing import Any

from dashboard.pages.data.dropping import Dropper
from dashboard.pages.parts.widgets import FileInput


def drop(dropper: Dropper, files: Mapping[str, bytes], piece: int = 1 << 20) -> None:
    """Send files, in pieces, as the browser's side does."""
    for name, content in files.items():
        pieces = [content[at : at + piece] for at in range(0, max(len(content), 1), piece)]
        for number, each in enumerate(pieces, 1):
            send(dropper, name=name, chunk=number, total_chunks=len(pieces), data=each)


def upload(field: FileInput, name: str, content: bytes) -> None:
    """Choose a file in a field: its pieces, of which an empty file has none, and that they were all."""
    if content:
        send(field, status="upload_event", name=name, chunk=1, total_chunks=1, mime_type="", data=content)
    send(field, status="finished")


def send(dropper: Dropper | FileInput, **data: Any) -> None:
    """Send one message, whatever is in it."""
    dropper._handle_msg(data)
