"""Bytes in a message that a browser sends: packed ones unpack to a bounded size.

Bokeh unpacks whatever text stands for bytes; 16 MB of it may be 16 GB, and one message would end the server. Its own
pages send bytes as they are.
"""

import base64
import zlib
from typing import Any

from bokeh.core.serialization import Deserializer

#: Bytes that one such text may unpack to; the pieces of an upload have less.
MOST_BYTES = 16 << 20
#: zlib's word for what gzip writes.
_GZIP = 31
_decode = Deserializer._decode_bytes  # noqa: SLF001 - there is no public way


def unpacked(text: str) -> bytes:
    """Bytes that a text of base64 and gzip stands for.

    Raises
    ------
    ValueError
        When it is none, or unpacks to more than `MOST_BYTES`.
    """
    packed = zlib.decompressobj(_GZIP)
    try:
        content = packed.decompress(base64.b64decode(text), MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"bytes in a message are no gzip: {error}") from error
    if not packed.eof:
        raise ValueError(f"bytes in a message unpack to more than {MOST_BYTES:,}, or end too early")
    return content


def _bounded(self: Deserializer, obj: Any) -> Any:
    data = obj["data"]
    return unpacked(data) if isinstance(data, str) else _decode(self, obj)


def install() -> None:
    """Bound what every server of this process unpacks."""
    Deserializer._decode_bytes = _bounded  # noqa: SLF001 - Bokeh calls it by that name
