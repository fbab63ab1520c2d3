"""How many bytes a computed value holds in memory, near enough to bound a store by it."""

import pickle
from typing import Any

#: Of what cannot be looked through, or is too deep, or changes meanwhile.
_UNKNOWN = 1 << 20


def footprint(value: Any) -> int:
    """Bytes that a value says of itself, else those that it would be sent in: what it refers to twice counts once."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    # Arrays are asked for their size, not copied.
    arrays: list[pickle.PickleBuffer] = []
    try:
        text = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    except (AttributeError, TypeError, RuntimeError, pickle.PicklingError):
        return _UNKNOWN
    return len(text) + sum(each.raw().nbytes for each in arrays)
