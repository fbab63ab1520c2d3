"""Sizes of messages as they are typed and as files have them."""

import re

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d+)\s*(?:([kmg]?)(?:i?b)?)?", re.IGNORECASE)
#: Sizes in bytes are below this, so that sums and products with a few processes are whole numbers of 64 bits.
_TOO_LARGE = 2**62
_DIGITS = 19


def parse_size(text: str) -> int:
    """Bytes of a size such as ``8192``, ``8K``, ``8KiB`` or ``1 MiB`` (powers of 1024).

    Raises
    ------
    ValueError
        The text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size; write 8192, 8K or 8KiB (K, M or G)")
    size = int(match[1]) * _UNITS[(match[2] or "").lower()] if len(match[1]) <= _DIGITS else _TOO_LARGE
    if size >= _TOO_LARGE:
        raise ValueError(f"{text.strip()[:40]!r} is no size of a message; sizes are below 2^62 bytes")
    return size
