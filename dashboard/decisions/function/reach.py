"""What bounds on several attributes say of each other: which places of a tree no call can reach.

Where derived attributes are tested beside those that they derive from, tests may contradict each other:
more than 8 processes with more than 100 bytes each are never 64 bytes in all. What is called impossible
here is so for any whole numbers, negative ones included; the reverse does not hold:

- A derived attribute is compared with the range that the bounds on each of its base attributes leave it,
  not with other derived attributes of the same base (but even and power-of-two sizes are).
- Holes are not seen: no product of 3 and a whole number is 100.
- Without a lower bound on one of the sizes, a product of two negative numbers may be as large as it likes.
"""

from collections.abc import Sequence
from itertools import product as combinations

import numpy as np

from dashboard.decisions.function.attributes import ATTRIBUTES, COMM_SIZE
from dashboard.domain.arrays import BoolArray, IntArray

Bounds = tuple[IntArray, IntArray]
"""Least and greatest value, both included."""

_ENDS = np.iinfo(np.int64)
_POWERS = np.left_shift(1, np.arange(63, dtype=np.int64))


def derives(names: Sequence[str]) -> bool:
    """Tell whether any attribute is derived from others."""
    return any(ATTRIBUTES[name].base for name in names)


def impossible(names: Sequence[str], low: IntArray, high: IntArray) -> BoolArray:
    """Tell which bounds contradict each other.

    Parameters
    ----------
    names
        The attributes, of which some are derived.
    low, high
        ``(places, attributes)``: ``low < value <= high``, the extreme int64 values for "no bound".
    """
    unreachable = np.asarray((low >= high).any(axis=1))
    known = {
        name: (np.where(low[:, column] == _ENDS.min, _ENDS.min, low[:, column] + 1), high[:, column])
        for column, name in enumerate(names)
    }
    everything = np.full(unreachable.size, _ENDS.min), np.full(unreachable.size, _ENDS.max)
    least, greatest = known[COMM_SIZE] = _comm_sizes(known, everything)
    unreachable |= least > greatest
    for name in names:
        wanted = ATTRIBUTES[name]
        if wanted.monotone and wanted.many is not None:
            bases = [known.get(base, everything) for base in wanted.base]
            corners = np.stack([wanted.many(*corner) for corner in combinations(*bases)])
            unreachable |= (corners.max(axis=0) < known[name][0]) | (corners.min(axis=0) > known[name][1])
    return unreachable


def _comm_sizes(known: dict[str, Bounds], everything: Bounds) -> Bounds:
    """The least and greatest communicator size that is even and a power of two as it is said to be."""
    least, greatest = known.get(COMM_SIZE, everything)
    even, odd = _said(known.get("even"), least)
    power, other = _said(known.get("power_of_two"), least)
    above = np.searchsorted(_POWERS, least)
    below = np.searchsorted(_POWERS, greatest, side="right") - 1
    least = np.where(power, np.where(above < 63, _POWERS[np.minimum(above, 62)], _ENDS.max), least)
    greatest = np.where(power, np.where(below >= 0, _POWERS[np.maximum(below, 0)], _ENDS.min), greatest)
    greatest = np.where(power & odd, np.minimum(greatest, 1), greatest)  # 1 is the only odd power of two
    least = np.where(power & even, np.maximum(least, 2), least)

    def unfit(value: IntArray) -> BoolArray:
        is_odd = value & 1 == 1
        is_power = (value > 0) & (value & (value - 1) == 0)
        return np.asarray((even & is_odd) | (odd & ~is_odd) | (other & is_power))

    for _ in range(3):  # two steps get past 2 and 4, even powers of two in a row
        least = np.where(unfit(least) & (least < _ENDS.max), least + 1, least)
        greatest = np.where(unfit(greatest) & (greatest > _ENDS.min), greatest - 1, greatest)
    return least, greatest


def _said(bounds: Bounds | None, like: IntArray) -> tuple[BoolArray, BoolArray]:
    """Where a yes/no attribute is bound to be yes, and where to be no."""
    if bounds is None:
        nowhere = np.zeros(like.shape, dtype=np.bool_)
        return nowhere, nowhere
    return bounds[0] >= 1, bounds[1] <= 0
