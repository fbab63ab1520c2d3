"""Growing the tree, all nodes of a level at a time."""

import numpy as np

from dashboard.decisions.grown.c45.choose import Options, choose_tests
from dashboard.decisions.grown.c45.classify import branch_of
from dashboard.decisions.grown.c45.kernel import kernel, run
from dashboard.decisions.grown.c45.table import Level, Nodes, TrainingTable
from dashboard.decisions.grown.family import Progress
from dashboard.domain.arrays import BoolArray, Float32, Int32, IntArray

COLLAPSE_SLACK = np.float64(0.001)


def grow(table: TrainingTable, options: Options, progress: Progress | None = None) -> Nodes:
    """Grow the tree before pruning.

    A test that saves no training error is taken back, as Release 8 does while it grows.

    Parameters
    ----------
    options
        ``min_cases`` (-m): a test needs two branches of at least so many cases; ``gain_ratio``: choose by gain
        ratio, else by gain (-g); ``group_values``: test groups of values of discrete attributes (-s).
    progress
        Told the share of cases that have reached their leaf.
    """
    level = _first_level(table)
    upper = np.zeros((1, table.class_count), dtype=np.float32), np.zeros(1, dtype=np.int32)
    levels: list[Nodes] = []
    below = 1
    while level.above.size:
        nodes = choose_tests(table, level, upper, options)
        nodes.first[:] = below + np.cumsum(nodes.width) - nodes.width
        below += int(nodes.width.sum())
        levels.append(nodes)
        level = run(divide)(table, level, nodes)
        upper = nodes.counts, nodes.label
        if progress is not None:
            share = max(0.0, 1 - level.rows.shape[1] / table.classes.size)
            progress(share, f"level {len(levels)}: {below:,} nodes")
    nodes = Nodes._make(np.concatenate(parts) for parts in zip(*levels, strict=True))
    run(collapse)(nodes)
    return compacted(nodes)


def _first_level(table: TrainingTable) -> Level:
    continuous = np.flatnonzero(table.list_of >= 0)
    count = table.classes.size
    rows = np.empty((max(continuous.size, 1), count), dtype=np.int32)
    rows[0] = np.arange(count)
    for number, attribute in enumerate(continuous):
        rows[number] = np.argsort(table.values[attribute], kind="stable")
    weighted = bool(np.isnan(table.values).any())
    return Level(
        np.array([0, count], dtype=np.int64),
        rows,
        np.ones((rows.shape[0], count if weighted else 0), dtype=np.float32),
        np.zeros(1, dtype=np.int32),
        np.zeros((1, table.declared.size), dtype=np.bool_),
    )


@kernel
def divide(table: TrainingTable, level: Level, nodes: Nodes) -> Level:
    """Send the cases of a level down the tests of its nodes.

    A case whose value is unknown goes down every branch, its weight times the share of the known cases there.
    """
    above, tested, start, shares, branches = count_branches(table, nodes, level)
    rows = np.empty((level.rows.shape[0], start[-1]), dtype=np.int32)
    weights = np.empty((rows.shape[0], start[-1] if level.weights.size else 0), dtype=np.float32)
    by_row = np.empty(table.classes.size, dtype=np.int32)
    fill_branches(nodes.width, level, branches, by_row, start, shares, rows, weights)
    return Level(start, rows, weights, above, tested)


@kernel
def count_branches(
    table: TrainingTable, nodes: Nodes, level: Level
) -> tuple[Int32, BoolArray, IntArray, Float32, Int32]:
    """Look where the cases of a level go.

    Returns
    -------
    (node above, what was tested on the way, start of the cases, share of the known cases), of each branch, and the
    branch that each case takes, -1 for all
    """
    start, tested = level.start, level.tested
    number = 0
    for node in range(nodes.width.size):
        number += nodes.width[node]
    above, tested_below = np.zeros(number, dtype=np.int32), np.zeros((number, tested.shape[1]), dtype=np.bool_)
    below, shares = np.zeros(number + 1, dtype=np.int64), np.zeros(number, dtype=np.float32)
    branches = np.zeros(level.rows.shape[1], dtype=np.int32)
    first = 0
    for node in range(nodes.width.size):
        width, attribute, unknown = nodes.width[node], nodes.attribute[node], 0
        known = np.float32(0)
        for place in range(start[node], start[node + 1] if width else start[node]):
            value = table.values[attribute, level.rows[0, place]]
            branch = branch_of(value, table.declared[attribute], nodes, node)
            branches[place] = branch
            if branch < 0:
                unknown += 1
                continue
            weight = level.weights[0, place] if level.weights.size else np.float32(1)
            below[first + branch + 1] += 1
            shares[first + branch] += weight
            known = np.float32(known + weight)
        for branch in range(first, first + width):
            above[branch] = node
            for column in range(tested.shape[1]):
                tested_below[branch, column] = tested[node, column] or (
                    column == attribute and table.declared[column] > 0
                )
            shares[branch] = np.float32(shares[branch] / known)
            below[branch + 1] += below[branch] + (unknown if shares[branch] > 0 else 0)
        first += width
    return above, tested_below, below, shares, branches


@kernel
def fill_branches(
    widths: Int32,
    level: Level,
    branches: Int32,
    by_row: Int32,
    below: IntArray,
    shares: Float32,
    rows: Int32,
    weights: Float32,
) -> None:
    """Fill in the cases below; `by_row` is room for the branch of each training case."""
    cursor = np.empty_like(below)
    first = 0
    for node in range(widths.size):
        width, begin = widths[node], level.start[node]
        end = level.start[node + 1] if width else begin
        for place in range(begin, end):
            by_row[level.rows[0, place]] = branches[place]
        for order in range(rows.shape[0]):
            for branch in range(first, first + width):
                cursor[branch] = below[branch]
            for place in range(begin, end):
                row = level.rows[order, place]
                branch = by_row[row]
                for target in range(max(branch, 0), branch + 1 if branch >= 0 else width):
                    share = np.float32(1) if branch >= 0 else shares[first + target]
                    if share > 0:
                        into = cursor[first + target]
                        rows[order, into] = row
                        if weights.size:
                            weights[order, into] = level.weights[order, place] * share
                        cursor[first + target] += 1
        first += width


@kernel
def collapse(nodes: Nodes) -> None:
    """Make leaves of the tests whose branches have together no fewer errors than a leaf would."""
    for node in range(nodes.width.size - 1, -1, -1):
        if not nodes.width[node]:
            continue
        errors = np.float32(0)
        for branch in range(nodes.first[node], nodes.first[node] + nodes.width[node]):
            errors = np.float32(errors + nodes.errors[branch])
        if errors >= nodes.errors[node] - COLLAPSE_SLACK:
            nodes.attribute[node] = -1
            nodes.width[node] = 0
        else:
            nodes.errors[node] = errors


def compacted(nodes: Nodes) -> Nodes:
    """Leave out the nodes that cannot be reached from the root, and number the others level by level."""
    levels = [np.zeros(1, dtype=np.int64)]
    while levels[-1].size:
        width = nodes.width[levels[-1]]
        ends = np.cumsum(width)
        levels.append(np.arange(ends[-1]) + np.repeat(nodes.first[levels[-1]] - ends + width, width))
    kept = np.concatenate(levels)
    fewer = Nodes._make(part[kept] for part in nodes)
    inner = fewer.width > 0
    first = np.where(inner, 1 + np.cumsum(fewer.width) - fewer.width, 0).astype(np.int32)
    return fewer._replace(first=first, cut=np.where(inner, fewer.cut, np.float32(0)))
