"""Pruning by predicted errors: leaves instead of tests, and branches raised into the place of the test above."""

from typing import NamedTuple

import numpy as np

from dashboard.decisions.grown.c45.classify import branch_of
from dashboard.decisions.grown.c45.grow import compacted
from dashboard.decisions.grown.c45.kernel import kernel, run
from dashboard.decisions.grown.c45.predicted import extra_errors, squared_quantile
from dashboard.decisions.grown.c45.table import Nodes, TrainingTable
from dashboard.domain.arrays import Float32, Int32, IntArray

SLACK = np.float64(0.1)
"""A smaller tree may have so many more predicted errors."""


class Work(NamedTuple):
    """What pruning keeps for each node."""

    #: ``(node,)`` where the node's cases are in the room.
    low: IntArray
    high: IntArray
    #: ``(node,)`` predicted errors.
    estimates: Float32
    #: ``(node,)`` room for the nodes of the subtree in hand.
    order: Int32
    #: Room for the counts of one node, by class; for its branches; and for its cases.
    counts: Float32
    sizes: IntArray
    shares: Float32
    branches: Int32
    copy: Int32
    #: As for `extra_errors`.
    confidence: np.float32
    squared: np.float32


class Room(NamedTuple):
    """The cases: those of a node are in one piece, those of its branches are pieces of it.

    Only where a value is unknown do branches get pieces of their own, for cases that go down several.
    """

    #: Positions in the training table.
    rows: Int32
    #: Share of each case; empty when every case is whole.
    weights: Float32
    #: Number of entries in use.
    used: int | np.int64


def prune(table: TrainingTable, tree: Nodes, confidence: float) -> Nodes:
    """Prune a tree.

    Parameters
    ----------
    table, tree
        The training cases, and what `grow` made of them.
    confidence
        Option -c in percent, 0.001 to 100; less prunes more.
    """
    share = np.float32(np.float32(confidence) / np.float32(100))
    nodes = Nodes._make(part.copy() for part in tree)
    count, branches = table.classes.size, int(nodes.width.max())
    work = Work(
        np.zeros(tree.size, dtype=np.int64),
        np.zeros(tree.size, dtype=np.int64),
        np.zeros(tree.size, dtype=np.float32),
        np.zeros(tree.size, dtype=np.int32),
        np.zeros(table.class_count, dtype=np.float32),
        np.zeros(branches, dtype=np.int64),
        np.zeros(branches, dtype=np.float32),
        np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int32),
        share,
        squared_quantile(share),
    )
    weights = np.ones(count if np.isnan(table.values).any() else 0, dtype=np.float32)
    run(prune_nodes)(table, nodes, work, Room(np.arange(count, dtype=np.int32), weights, count))
    if nodes.groups.size:
        _leave_out_impossible(nodes, table.declared)
    return compacted(nodes)


@kernel
def prune_nodes(table: TrainingTable, nodes: Nodes, work: Work, room: Room) -> None:
    """Prune in place, from the deepest nodes up; what is cut off stays in the arrays.

    `waiting` holds the nodes to decide on, each before those below it. A raised branch is put there again.
    """
    waiting = np.empty(nodes.width.size, dtype=np.int32)
    waiting[0] = 0
    work.high[0] = room.used
    left, room = spread(table, nodes, work, room, waiting, np.int64(0), np.bool_(1))
    while left:
        left -= 1
        node = int(waiting[left])
        leaf = leaf_estimate(nodes.counts[node], work)
        if not nodes.width[node]:
            work.estimates[node] = nodes.errors[node] = leaf
            continue
        tree = _sum_of_branches(nodes, work, node)
        largest = _largest_branch(nodes, work, room, node)
        work.low[largest], work.high[largest] = work.low[node], work.high[node]
        branch = _estimate(table, nodes, work, room, largest)
        if leaf <= branch + SLACK and leaf <= tree + SLACK:
            nodes.attribute[node], nodes.width[node] = -1, 0
            work.estimates[node] = nodes.errors[node] = leaf
        elif branch <= tree + SLACK:
            _raise(nodes, node, largest)
            left, room = spread(table, nodes, work, room, waiting, left, np.bool_(1))
        else:
            work.estimates[node] = nodes.errors[node] = tree


@kernel
def _raise(nodes: Nodes, node: int, branch: int) -> None:
    nodes.attribute[node], nodes.cut[node] = nodes.attribute[branch], nodes.cut[branch]
    nodes.first[node], nodes.width[node] = nodes.first[branch], nodes.width[branch]
    nodes.label[node] = nodes.label[branch]
    for value in range(nodes.groups.shape[1]):
        nodes.groups[node, value] = nodes.groups[branch, value]


@kernel
def leaf_estimate(counts: Float32, work: Work) -> np.float32:
    """Give the errors predicted for a leaf with so many cases of each class."""
    cases, most = np.float32(0), np.float32(0)
    for count in counts:
        cases = np.float32(cases + count)
        most = max(most, count)
    errors = np.float32(cases - most)
    return np.float32(errors + extra_errors(cases, errors, work.confidence, work.squared))


@kernel
def _sum_of_branches(nodes: Nodes, work: Work, node: int) -> np.float32:
    """Sum the estimates of the branches that have cases."""
    total = np.float32(0)
    for branch in range(nodes.first[node], nodes.first[node] + nodes.width[node]):
        if work.low[branch] < work.high[branch]:
            total = np.float32(total + work.estimates[branch])
    return total


@kernel
def _largest_branch(nodes: Nodes, work: Work, room: Room, node: int) -> int:
    """Find the branch with most cases, the last one of several."""
    largest, most = -1, np.float32(0)
    for branch in range(nodes.first[node], nodes.first[node] + nodes.width[node]):
        size = np.float32(work.high[branch] - work.low[branch])
        if room.weights.size:
            size = np.float32(0)
            for place in range(work.low[branch], work.high[branch]):
                size = np.float32(size + room.weights[place])
        if size >= most:
            largest, most = branch, size
    return largest


@kernel
def _estimate(table: TrainingTable, nodes: Nodes, work: Work, room: Room, root: int) -> np.float32:
    """Give the predicted errors of a subtree for the cases that `work` has at its root."""
    work.order[0] = root
    count, _ = spread(table, nodes, work, room, work.order, np.int64(0), np.bool_(0))
    for place in range(count - 1, -1, -1):
        node = int(work.order[place])
        if nodes.width[node]:
            work.estimates[node] = _sum_of_branches(nodes, work, node)
    return np.float32(work.estimates[root])


@kernel
def spread(
    table: TrainingTable, nodes: Nodes, work: Work, room: Room, order: Int32, place: int | np.int64, update: np.bool
) -> tuple[int | np.int64, Room]:
    """Send the cases of the node ``order[place]`` down its subtree.

    Parameters
    ----------
    order
        To be filled, from `place` on, with the nodes that cases come to, level by level.
    update
        Whether the nodes are to keep what they find, else only estimates are wanted: at leaves, and at nodes that
        get no other cases than they have, which are not listed.

    Returns
    -------
    (end of the nodes listed, the room, which is another one when the first was too small)
    """
    end = place + 1
    while place < end:
        node = int(order[place])
        place += 1
        if update or not nodes.width[node]:
            _count(table, work, room, node)
        if update:
            _update(nodes, node, work.counts)
        elif not nodes.width[node]:
            work.estimates[node] = leaf_estimate(work.counts, work)
        if not nodes.width[node]:
            continue
        room = _divide(table, nodes, work, room, node)
        for branch in range(nodes.first[node], nodes.first[node] + nodes.width[node]):
            count = work.high[branch] - work.low[branch]
            if not update and not room.weights.size and count == nodes.cases[branch]:
                work.estimates[branch] = nodes.errors[branch]
            elif count:
                order[end] = branch
                end += 1
    return end, room


@kernel
def _count(table: TrainingTable, work: Work, room: Room, node: int) -> None:
    for number in range(work.counts.size):
        work.counts[number] = 0
    for place in range(work.low[node], work.high[node]):
        weight = room.weights[place] if room.weights.size else np.float32(1)
        work.counts[table.classes[room.rows[place]]] += weight


@kernel
def _update(nodes: Nodes, node: int, counts: Float32) -> None:
    """Keep the counts; the class changes only if another one is strictly more frequent."""
    nodes.cases[node] = 0
    label = nodes.label[node]
    for number in range(counts.size):
        nodes.counts[node, number] = counts[number]
        nodes.cases[node] += counts[number]
        if counts[number] > counts[label]:
            label = number
    nodes.label[node] = label


@kernel
def _branch_sizes(table: TrainingTable, nodes: Nodes, work: Work, room: Room, node: int) -> tuple[int, np.int64]:
    """Note each case with its branch, number of cases and share of each branch; give those unknown, and in all."""
    begin, end, width = work.low[node], work.high[node], nodes.width[node]
    attribute, known, unknown, total = nodes.attribute[node], np.float32(0), 0, np.int64(0)
    for branch in range(width):
        work.sizes[branch], work.shares[branch] = 0, 0
    for place in range(begin, end):
        row = room.rows[place]
        value = table.values[attribute, row]
        branch = branch_of(value, table.declared[attribute], nodes, node)
        work.copy[place - begin], work.branches[place - begin] = row, branch
        if branch < 0:
            unknown += 1
            continue
        weight = room.weights[place] if room.weights.size else np.float32(1)
        work.sizes[branch] += 1
        work.shares[branch] += weight
        known = np.float32(known + weight)
    for branch in range(width):
        if work.sizes[branch]:
            work.sizes[branch] += unknown
            work.shares[branch] = np.float32(work.shares[branch] / known)
        total += work.sizes[branch]
    return unknown, total


@kernel
def _divide(table: TrainingTable, nodes: Nodes, work: Work, room: Room, node: int) -> Room:
    """Give each branch of a test its cases, in place unless a value is unknown."""
    begin, end, first, width = work.low[node], work.high[node], nodes.first[node], nodes.width[node]
    unknown, total = _branch_sizes(table, nodes, work, room, node)
    old, into = room.weights[begin:end].copy() if room.weights.size else room.weights, begin
    if unknown:
        into = room.used
        room = _with_space(room, total)
    for branch in range(width):
        work.low[first + branch] = work.high[first + branch] = into
        into += work.sizes[branch]
    for place in range(end - begin):
        branch = work.branches[place]
        for target in range(max(branch, 0), branch + 1 if branch >= 0 else width):
            share = np.float32(1) if branch >= 0 else work.shares[target]
            if share > 0:
                at = work.high[first + target]
                room.rows[at] = work.copy[place]
                if room.weights.size:
                    room.weights[at] = old[place] * share
                work.high[first + target] += 1
    return room


@kernel
def _with_space(room: Room, more: int | np.int64) -> Room:
    """Take space for more entries into use, in twice as large a room if need be."""
    used = room.used + more
    if used <= room.rows.size:
        return Room(room.rows, room.weights, used)
    rows, weights = np.empty(2 * used, dtype=np.int32), np.empty(2 * used, dtype=np.float32)
    for place in range(room.used):
        rows[place], weights[place] = room.rows[place], room.weights[place]
    return Room(rows, weights, used)


def _leave_out_impossible(nodes: Nodes, declared: Int32) -> None:
    """Take out of each test's last group of values those that tests above exclude, and the group if none is left."""
    possible: dict[int, dict[int, set[int]]] = {0: {}}
    while possible:
        node, known = possible.popitem()
        tested, width = int(nodes.attribute[node]), int(nodes.width[node])
        if not width:
            continue
        first = int(nodes.first[node])
        if declared[tested]:
            values = known.get(tested, set(range(int(declared[tested]))))
            groups = nodes.groups[node]
            last = {value for value in range(int(declared[tested])) if groups[value] == width - 1}
            if declared[tested] > 2:
                groups[list(last - values)] = -1
                nodes.width[node] = width = width if last & values else width - 1
            for branch in range(width):
                own = {value for value in values if groups[value] == branch}
                possible[first + branch] = {**known, tested: own}
        else:
            possible.update({first + branch: known for branch in range(width)})
