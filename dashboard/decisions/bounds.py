"""What the tests on the way down say of the values at a node."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dashboard.decisions.attributes import attribute
from dashboard.decisions.flat import FlatTree, Level


def bounded_levels(tree: FlatTree) -> Iterator[Level]:
    """Go down `tree` from the bounds that the attributes have by themselves (``even`` is 0 or 1)."""
    ends = np.iinfo(np.int64)
    known = [attribute(name) for name in tree.attributes]
    return tree.levels(
        [ends.min if a.minimum is None else a.minimum - 1 for a in known],
        [ends.max if a.maximum is None else a.maximum for a in known],
    )
