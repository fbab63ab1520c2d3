"""The axes of a cube, and where every row stands on them."""

import math
from collections.abc import Sequence

import numpy as np

from loaders.errors import LoadError
from loaders.rows import CollectiveRows, Ints, Part

MAX_CELLS = 1 << 27


class Axes:
    """Sorted axes of a cube and the flat place of every row.

    Raises
    ------
    LoadError
        The grid would be absurdly large.
    """

    def __init__(self, rows: CollectiveRows) -> None:
        self.methods = len(rows.methods.values)
        self.comm_sizes, self._comm = _sorted(rows.comm_sizes.values)
        self.message_sizes, self._message = _sorted(rows.message_sizes.values)
        self.ppns, self._ppn = _sorted(rows.ppns.values)
        self.shape = (self.methods, len(self.comm_sizes), len(self.message_sizes), len(self.ppns))
        self.size = math.prod(self.shape)
        if self.size > MAX_CELLS:
            raise LoadError(
                f"{rows.collective}: {self.shape} methods × communicator sizes × message sizes × processes per node "
                f"would make {self.size:.2g} cells; are the columns mapped rightly?"
            )

    def places(self, part: Part) -> Ints:
        """Flat place in the cube of every row of a part."""
        places = part.method.astype(np.int64)
        for ranks, codes in ((self._comm, part.comm_size), (self._message, part.message_size), (self._ppn, part.ppn)):
            places *= len(ranks)
            places += ranks[codes]
        return places


def _sorted(values: Sequence[int]) -> tuple[Ints, Ints]:
    """Different values in their order, and the place of each in it."""
    return np.unique(np.array(values, dtype=np.int64), return_inverse=True)
