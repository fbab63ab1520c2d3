"""What the tests on the way down say of the values at a node."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.attributes import attribute
from dashboard.decisions.function.flat import FlatTree, Level
from dashboard.decisions.function.reach import derives, impossible


def bounded_levels(tree: FlatTree) -> Iterator[Level]:
    """Go down `tree` from the bounds that the attributes have by themselves (``even`` is 0 or 1).

    Where tests contradict each other (`dashboard.decisions.function.reach`) no values are left.
    """
    known = [attribute(name) for name in tree.attributes]
    levels = tree.levels([each.minimum - 1 for each in known], [each.maximum for each in known])
    if not derives(tree.attributes):
        yield from levels
        return
    for level in levels:
        nothing = impossible(tree.attributes, level.low, level.high)
        yield replace(level, high=np.where(nothing[:, None], level.low, level.high))


def opened(bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Bounds as floats; the extreme int64 values mean there is none."""
    limits = np.iinfo(np.int64)
    values = bounds.astype(np.float64)
    return np.where(bounds == limits.min, -math.inf, np.where(bounds == limits.max, math.inf, values))
