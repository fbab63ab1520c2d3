"""Jacobi's iteration of one rank: x_i ← (b_i − Σ_{j≠i} a_ij x_j) / a_ii, by rows or by columns (K 5.1)."""

import numpy as np

from dashboard.benchmarks.applications.communication import Communication, empty
from dashboard.benchmarks.applications.order import Order, shares
from dashboard.benchmarks.applications.systems import linear
from dashboard.domain.arrays import FloatArray


class Jacobi:
    """One rank's part; a variant says how it is cut and what is exchanged.

    ``row`` has rows and an allgather; ``column`` columns, an allreduce and an allgather; ``reduce_bcast`` columns, a
    reduction and a broadcast; ``gather_scatter`` columns, a gather and a scatter.

    Attributes
    ----------
    mine
        Components of this rank after a step.
    """

    def __init__(self, order: Order, communication: Communication) -> None:
        n, rank = order.size, communication.rank
        lengths = shares(n, communication.size)
        here = slice(sum(lengths[:rank]), sum(lengths[: rank + 1]))
        matrix, self._right = linear(n, order.seed)
        self._diagonal = matrix.diagonal().copy()
        np.fill_diagonal(matrix, 0)
        self._here, self._root = here, rank == 0
        self.mine = empty(lengths[rank])
        self._x, self._before = empty(n), empty(n)
        self._part, self._sum = empty(n), empty(n)
        rows = order.variant == "row"
        self._matrix = np.ascontiguousarray(matrix[here] if rows else matrix[:, here])
        bound = communication.bound
        if order.variant in ("row", "column"):
            self._gather = bound("allgatherv", self.mine, self._x, lengths)
        if order.variant == "column":
            self._reduce = bound("allreduce", self._part, self._sum)
        elif order.variant == "reduce_bcast":
            self._reduce = bound("reduce", self._part, self._sum)
            self._bcast = bound("bcast", self._x, self._x)
        elif order.variant == "gather_scatter":
            self._parts = empty(n * communication.size) if self._root else None
            # Each block carries what the iteration ends by, which only the root knows.
            blocks = [length + 1 for length in lengths]
            self._cuts = np.cumsum(lengths)
            self._blocks = empty(sum(blocks)) if self._root else None
            self._block = empty(blocks[rank])
            self._collect = bound("gather", self._part, self._parts, [n] * communication.size)
            self._spread = bound("scatterv", self._blocks, self._block, blocks)
        self._step = {
            "row": self._row,
            "column": self._column,
            "reduce_bcast": self._reduce_bcast,
            "gather_scatter": self._gather_scatter,
        }[order.variant]

    def step(self) -> float:
        """One iteration; the largest change of a component."""
        return self._step()

    def _new(self, products: FloatArray, place: slice) -> FloatArray:
        return np.asarray((self._right[place] - products) / self._diagonal[place])

    def _change(self) -> float:
        change = float(np.abs(self._x - self._before).max())
        self._before[:] = self._x
        return change

    def _row(self) -> float:
        self.mine[:] = self._new(self._matrix @ self._x, self._here)
        self._gather()
        return self._change()

    def _column(self) -> float:
        np.dot(self._matrix, self.mine, out=self._part)
        self._reduce()
        self.mine[:] = self._new(self._sum[self._here], self._here)
        self._gather()
        return self._change()

    def _reduce_bcast(self) -> float:
        np.dot(self._matrix, self.mine, out=self._part)
        self._reduce()
        if self._root:
            self._x[:] = self._new(self._sum, slice(None))
        self._bcast()
        self.mine[:] = self._x[self._here]
        return self._change()

    def _gather_scatter(self) -> float:
        np.dot(self._matrix, self.mine, out=self._part)
        self._collect()
        if self._parts is not None and self._blocks is not None:
            self._x[:] = self._new(self._parts.reshape(-1, self._x.size).sum(axis=0), slice(None))
            change = self._change()
            blocks = [[*part, change] for part in np.split(self._x, self._cuts[:-1])]
            self._blocks[:] = np.concatenate(blocks)
        self._spread()
        self.mine[:] = self._block[:-1]
        return float(self._block[-1])
