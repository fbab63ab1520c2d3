"""The attributes a decision function may test: given with the call, or derived from the two sizes.

All attributes are whole numbers, so that a test ``attribute <= cut`` means the same in Python and in
generated integer code. Yes/no attributes are 1 for yes and 0 for no. An attribute of named values
(such as ``collective`` in a tree for several collectives) is the position of the name in the decision
function's ``categories``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.decisions.errors import DecisionError

IntArray = npt.NDArray[np.int64]

COMM_SIZE = "comm_size"
MESSAGE_SIZE = "message_size"
SIZES = (COMM_SIZE, MESSAGE_SIZE)


@dataclass(frozen=True)
class Attribute:
    """One attribute of a collective call.

    Attributes
    ----------
    name
        As in tests and in saved decision functions.
    title
        What it is, with its unit.
    minimum, maximum
        The smallest and largest value it can take; None where there is no bound.
    one
        Computes it from one ``(comm_size, message_size)``; None when the caller must give it.
    many
        The same for int64 arrays.
    """

    name: str
    title: str
    minimum: int | None = None
    maximum: int | None = None
    one: Callable[[int, int], int] | None = None
    many: Callable[[IntArray, IntArray], IntArray] | None = None


def _total_sizes(comm_size: IntArray, message_size: IntArray) -> IntArray:
    """Multiply without wrapping round: beyond int64 the result is the largest (smallest) int64."""
    product = comm_size * message_size
    limits = np.iinfo(np.int64)
    estimate = comm_size.astype(np.float64) * message_size.astype(np.float64)
    product = np.where(estimate >= float(limits.max), limits.max, product)
    return np.asarray(np.where(estimate <= float(limits.min), limits.min, product), dtype=np.int64)


def _powers_of_two(comm_size: IntArray, _message_size: IntArray) -> IntArray:
    return np.asarray((comm_size > 0) & (comm_size & (comm_size - 1) == 0), dtype=np.int64)


ATTRIBUTES: dict[str, Attribute] = {
    attribute.name: attribute
    for attribute in (
        Attribute(COMM_SIZE, "communicator size (processes)", one=lambda p, _m: p, many=lambda p, _m: p),
        Attribute(MESSAGE_SIZE, "message size (bytes)", one=lambda _p, m: m, many=lambda _p, m: m),
        Attribute(
            "total_size",
            "communicator size times message size (bytes)",
            one=lambda p, m: p * m,
            many=_total_sizes,
        ),
        Attribute(
            "even",
            "communicator size is even (0, 1)",
            minimum=0,
            maximum=1,
            one=lambda p, _m: 1 - p % 2,
            many=lambda p, _m: 1 - p % 2,
        ),
        Attribute(
            "power_of_two",
            "communicator size is a power of two (0, 1)",
            minimum=0,
            maximum=1,
            one=lambda p, _m: int(p > 0 and p & (p - 1) == 0),
            many=_powers_of_two,
        ),
        Attribute("ppn", "processes per node"),
        Attribute("collective", "the collective, as position in the decision function's categories", minimum=0),
    )
}


def attribute(name: str) -> Attribute:
    """Look up an attribute; `DecisionError` lists the known ones if there is none of this name."""
    try:
        return ATTRIBUTES[name]
    except KeyError:
        raise DecisionError(f"no attribute {name!r}; known are {', '.join(ATTRIBUTES)}") from None


def whole(values: Any, name: str) -> IntArray:
    """Turn `values` into int64, or raise `DecisionError` when they are not whole numbers."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
            raise DecisionError(f"{name} must be below 2**63")
        return np.asarray(array, dtype=np.int64)
    if array.dtype.kind == "b":
        return np.asarray(array, dtype=np.int64)
    if array.dtype.kind == "f":
        rounded = np.rint(array)
        if (rounded == array).all() and (np.abs(rounded) < 2.0**63).all():
            return np.asarray(rounded, dtype=np.int64)
    raise DecisionError(f"{name} must be whole numbers below 2**63, not {array.dtype} such as {array.ravel()[:1]}")
