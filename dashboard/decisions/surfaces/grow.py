"""Trees over predicted surfaces: of every number of leaves the best one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import Method, Node, default_of
from dashboard.decisions.function.simplify import simplify
from dashboard.decisions.grown.optimal.costs import Costs
from dashboard.decisions.grown.optimal.leaves import LeafSearch
from dashboard.decisions.grown.optimal.tree import Tree
from dashboard.decisions.surfaces.folding import folding_of
from dashboard.decisions.surfaces.grid import comm_sizes_between, message_sizes_between, shared, weights_between
from dashboard.decisions.surfaces.lines import ALIKE, KINDS, limited_to, scale
from dashboard.decisions.surfaces.order import Order
from dashboard.decisions.surfaces.surface import PREDICTORS, Predictor, Surfaces
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.unmeasured import DOUBLING, UNKNOWN
from loaders.collectives import COLLECTIVES

LINES = (16, 36)
"""Rows and columns of blocks that trees cut between at first."""

COARSE = (10, 24)
"""The same where many trees are judged."""

WINDOW = 3
"""Lines on either side of a cut that it may move to then."""

OWN, SHARED = 6, 2
"""Where there are more than so many times as many message sizes as any communicator size has, these have their own; so
many times as many are taken then, shared by all."""

PAYS = 0.1
"""Points of expected penalty that a question beside the sizes must save."""

SLACK = 0.2
"""Points of expected penalty that further leaves must save where no left-out sizes can judge them,"""

OF_SCATTER = 0.125
"""and of what times scatter by such a part, where that is more: noise gives trees of single times more leaves than
another measurement would bear out."""

CARRIED = 2 * DOUBLING
"""Points that a method must be better by for each doubling to the next size where anything is known, to be taken there
instead of the library's own decision: a rule that loses where nobody measured is worse than none."""


@dataclass(frozen=True, eq=False)
class Table:
    """One table of sizes."""

    #: Seconds, ``(method, comm_size, message_size)``, NaN where not measured.
    times: FloatArray
    #: Ascending.
    comm_sizes: IntArray
    message_sizes: IntArray
    #: Workload, ``(comm_size, message_size)``; None: all sizes count the same.
    calls: FloatArray | None = None
    #: Which methods fold (`surfaces.folding`); None: none.
    folding: BoolArray | None = None
    #: Place of the library's own decision, which is taken where nothing is known unless another method is so much
    #: better at the sizes nearest to it; None: any may be.
    incumbent: int | None = None
    #: Whether message sizes are blocks for each process, so that sizes of as many bytes in all tell of each other.
    blocks: bool = False

    @classmethod
    def of(
        cls, cube: xr.Dataset, times: FloatArray, methods: Sequence[Method], calls: FloatArray | None = None
    ) -> Table:
        """The table of a cube of one number of processes per node, without sizes at which nothing was measured."""
        collective = str(cube.attrs.get("collective"))
        folding = folding_of(collective, [method.algorithm for method in methods])
        blocks = collective in COLLECTIVES and COLLECTIVES[collective].by_block
        rows, columns = (np.asarray(cube[name].values) for name in SIZES)
        return cls(times, rows, columns, calls, folding, default_of(methods), blocks).measured()

    def surfaces(self, predictor: Predictor = PREDICTORS[0]) -> Surfaces:
        """Surfaces over the times."""
        limited = limited_to(np.isfinite(self.times), self.comm_sizes, self.incumbent)
        sizes = self.comm_sizes, self.message_sizes
        return Surfaces(self.times, *sizes, predictor, self.folding, limited, totals=self.blocks)

    def measured(self) -> Table:
        """Without sizes at which nothing was measured."""
        rows, columns = np.nonzero(np.isfinite(self.times).any(axis=0))
        return self.part(np.unique(rows), np.unique(columns))

    def common(self) -> Table:
        """With message sizes that all communicator sizes share, where each has its own, as of blocks for each process.

        Twice as many as the communicator size with most of them has, evenly by the logarithm among the measured ones;
        times between a communicator size's own are predicted, calls go to the nearest size.
        """
        most = int(np.isfinite(self.times).any(axis=0).sum(axis=1).max(initial=0))
        if self.message_sizes.size <= OWN * most:
            return self
        logs = scale(self.message_sizes)
        places = np.unique(np.abs(np.linspace(logs[0], logs[-1], SHARED * most)[:, None] - logs).argmin(axis=1))
        sizes = self.message_sizes[places]
        log_times = self.surfaces().at(self.comm_sizes, sizes).log_time
        calls = None
        if self.calls is not None:
            nearest = np.abs(logs[:, None] - logs[places]).argmin(axis=1)
            calls = np.stack([np.bincount(nearest, row, places.size) for row in self.calls]).astype(np.float64)
        return replace(self, times=np.exp(log_times), message_sizes=sizes, calls=calls)

    def part(self, rows: IntArray, columns: IntArray) -> Table:
        """Some of the sizes."""
        calls = None if self.calls is None else self.calls[np.ix_(rows, columns)]
        times, comm_sizes = self.times[:, rows][:, :, columns], self.comm_sizes[rows]
        sizes = self.message_sizes[columns]
        return replace(self, times=times, comm_sizes=comm_sizes, message_sizes=sizes, calls=calls)


class Growing:
    """Trees over the surfaces of a table, between its sizes as well as at them.

    Parameters
    ----------
    surfaces
        What is predicted of them.
    """

    def __init__(self, table: Table, surfaces: Surfaces) -> None:
        self._rows, self._columns = comm_sizes_between(table.comm_sizes), message_sizes_between(table.message_sizes)
        logs = surfaces.at(self._rows, self._columns).log_time
        best = np.fmin.reduce(logs, axis=0)
        percent = 100.0 * np.expm1(logs - best)
        worst = np.max(np.nan_to_num(percent), axis=0)
        known = np.isfinite(best)
        percent = np.where(np.isfinite(percent), percent, np.where(known, worst + UNKNOWN, 0.0))
        if table.incumbent is not None and known.any() and not known.all():
            sizes = self._rows, self._columns
            percent = _carried(percent, known, sizes, table.incumbent, blocks=table.blocks)
        measured = table.comm_sizes, table.message_sizes
        weights = weights_between((self._rows, self._columns), measured, table.calls)
        weights = shared(weights, surfaces.is_off_kind(self._rows))
        self._weight = float(weights.sum()) or 1.0
        self._cells = percent * weights
        self._useful = {surfaces.kinds[method] for method in np.unique(percent.argmin(axis=0))}

    def useful(self, most: int, step: Callable[[], None]) -> dict[str, Trees]:
        """Trees by what they ask beside the sizes: nothing, or what pays.

        That may be what tells the curves of a method apart that is best somewhere, where for some number of leaves
        it lowers the expected penalty by more than `PAYS`. Calls `step` before each of `KINDS`.
        """
        trees_of = {}
        for kind in KINDS:
            step()
            trees_of[kind] = self.trees(kind, most) if kind == ALIKE or kind in self._useful else None
        there = {kind: trees for kind, trees in trees_of.items() if trees is not None}
        worth = there[ALIKE].means - PAYS
        return {kind: trees for kind, trees in there.items() if kind == ALIKE or (trees.means < worth).any()}

    def trees(self, kind: str, most: int, lines: tuple[int, int] = LINES) -> Trees | None:
        """Search for trees that may ask for a kind of communicator size; None where there is but one kind."""
        order = Order.of(kind, self._rows, self._columns)
        if order is None:
            return None
        return Trees(order, Costs(self._cells[:, order.places], self._weight), most, lines)


class Trees:
    """The best trees of at most 1, 2, … leaves in one order of rows, with cuts at some lines."""

    def __init__(self, order: Order, costs: Costs, most: int, lines: tuple[int, int]) -> None:
        self._order, self._costs, self._most = order, costs, most
        self._starts = [
            _spread(costs.cells, axis, count, order.boundary if axis == 0 else 0) for axis, count in enumerate(lines)
        ]
        self._search = LeafSearch(costs.blocks(self._starts[0][:-1], self._starts[1][:-1]), most)

    @cached_property
    def means(self) -> FloatArray:
        """Expected penalty of the best tree of at most 1, 2, … leaves, percent; of more than blocks that of all."""
        means = self._search.least / self._costs.weight
        return np.pad(means, (0, self._most - means.size), mode="edge")

    def fewest(self, most: int, slack: float) -> int:
        """Fewest leaves, at most so many, whose tree costs no more than so many points above the best of them."""
        means = self.means[:most]
        return 1 + int(np.argmax(means <= means.min() + slack))

    def roots(self) -> Iterator[tuple[int, Node]]:
        """For each number of leaves the tree."""
        methods = np.arange(len(self._costs.cells))
        for leaves in range(1, self._search.most + 1):
            tree = self._search.tree(leaves).spread(*self._starts)
            yield leaves, self._order.node(tree, self._costs, methods)

    def root(self, leaves: int) -> Node:
        """The best tree of at most so many leaves, its cuts where methods cross."""
        methods = np.arange(len(self._costs.cells))
        for fewer in range(min(leaves, self._search.most), 0, -1):
            tree = self._moved(self._search.tree(fewer).spread(*self._starts), fewer)
            node = simplify(FlatTree.from_node(self._order.node(tree, self._costs, methods)))
            if leaves_of(node) <= leaves:
                return node
        raise AssertionError("a tree of one leaf has one leaf")

    def _moved(self, tree: Tree, leaves: int) -> Tree:
        """Search again with the lines around the cuts of a tree."""
        spots = np.array(tree.ends())
        starts = []
        for axis, extent in enumerate(self._costs.shape):
            cuts = np.unique(spots[:, axis])
            near = (cuts[:, None] + np.arange(-WINDOW, WINDOW + 1)).ravel()
            inside = near[(near > 0) & (near < extent)]
            starts.append(np.unique(np.concatenate([[0, extent], inside])).astype(np.int64))
        search = LeafSearch(self._costs.blocks(starts[0][:-1], starts[1][:-1]), leaves)
        return search.tree(leaves).spread(*starts)


def leaves_of(node: Node) -> int:
    """Leaves of a tree."""
    return FlatTree.from_node(node).codes.size - FlatTree.from_node(node).widths.size


def _carried(
    percent: FloatArray, known: BoolArray, sizes: tuple[IntArray, IntArray], incumbent: int, *, blocks: bool
) -> FloatArray:
    """Penalties where nothing is known: those at the nearest size of the row, else of the nearest row that has any.

    Of `blocks` also those at the nearest size of other rows to as many bytes in all; the nearer of both counts more.
    Penalties of all methods but `incumbent` grow by `CARRIED` points with each doubling between.
    """
    rows, columns = (scale(each) / np.log(2) for each in sizes)
    there = np.flatnonzero(known.any(axis=1))
    carried = percent.copy()
    others = np.arange(len(percent)) != incumbent
    for row in np.flatnonzero(~known.all(axis=1)).tolist():
        open_cells = np.flatnonzero(~known[row])
        beside = there[[np.abs(rows[there] - rows[row]).argmin()]]
        sums, shares = np.zeros(carried[:, row, open_cells].shape), np.zeros(open_cells.size)
        for candidates, slope in ((beside, 0), (there[there != row], 1))[: 1 + blocks]:
            away, near_percent = np.full(open_cells.size, np.inf), np.zeros(sums.shape)
            for other in candidates:
                measured = np.flatnonzero(known[other])
                gap = np.abs((columns[open_cells] - slope * (rows[other] - rows[row]))[:, None] - columns[measured])
                doublings = gap.min(axis=1) + np.abs(rows[other] - rows[row])
                nearest = percent[:, other, measured[gap.argmin(axis=1)]]
                near_percent, away = np.where(doublings < away, nearest, near_percent), np.minimum(doublings, away)
            if candidates.size:
                near_percent = near_percent + others[:, None] * CARRIED * away
                sums += (near_percent - near_percent.min(axis=0)) / away
                shares += 1 / away
        carried[:, row, open_cells] = sums / shares
    return carried


def _spread(cells: FloatArray, axis: int, count: int, boundary: int) -> IntArray:
    """First line of each of at most so many blocks, and the number of lines: finest where decisions change most."""
    lines = cells.shape[1 + axis]
    if lines <= count:
        return np.arange(lines + 1)
    moved = np.moveaxis(cells, 1 + axis, 1)
    best = moved.argmin(axis=0)
    here, there = (np.take_along_axis(moved[:, side], best[other][None], axis=0)[0] for side, other in _NEXT)
    lost = (here - moved[:, :-1].min(axis=0) + there - moved[:, 1:].min(axis=0)).sum(axis=1)
    sums = np.concatenate([[0.0], np.cumsum(np.sqrt(lost) + np.sqrt(lost).mean() / 2 + 1e-9)])
    wanted = np.linspace(0, sums[-1], count + 1)
    return np.unique(np.concatenate([[0, lines], [boundary], np.searchsorted(sums, wanted[1:-1])])).astype(np.int64)


_NEXT = ((slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1)))
