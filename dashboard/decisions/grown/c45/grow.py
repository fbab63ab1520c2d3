"""Growing the tree, all nodes of a level at a time."""

import numpy as np

from dashboard.decisions.grown.c45.choose import Level, Options, choose_tests
from dashboard.decisions.grown.c45.kernel import kernel, run
from dashboard.decisions.grown.c45.table import Cases, Nodes, TrainingTable, Tree
from dashboard.decisions.grown.family import Progress
from dashboard.domain.arrays import BoolArray, Float32, Int32, IntArray

COLLAPSE_SLACK = np.float64(0.001)


def grow(table: TrainingTable, options: Options, progress: Progress | None = None) -> Tree:
    """Grow the tree before pruning.

    A test that saves no training error is taken back, as Release 8 does while it grows.

    Parameters
    ----------
    table
        What to learn from.
    options
        ``min_cases`` (-m): a test needs two branches of at least so many cases; ``gain_ratio``: choose by gain
        ratio, else by gain (-g); ``group_values``: test groups of values of discrete attributes (-s).
    progress
        Told the share of cases that have reached their leaf.
    """
    cases = table.prepared
    level = _first_level(cases)
    upper = np.zeros((1, table.class_count), dtype=np.float32), np.zeros(1, dtype=np.int32)
    levels: list[Nodes] = []
    below = 1
    while level.above.size:
        nodes = choose_tests(cases, level, upper, options)
        nodes.first[:] = below + np.cumsum(nodes.width) - nodes.width
        below += int(nodes.width.sum())
        levels.append(nodes)
        level = run(divide)(cases, level, nodes)
        upper = nodes.counts, nodes.label
        if progress is not None:
            share = max(0.0, 1 - level.rows.shape[1] / len(table))
            progress(share, f"level {len(levels)}: {below:,} nodes")
    nodes = Nodes._make(np.concatenate(parts) for parts in zip(*levels, strict=True))
    run(collapse)(nodes)
    return Tree(compacted(nodes))


def _first_level(cases: Cases) -> Level:
    continuous = np.flatnonzero(cases.list_of >= 0)
    count = cases.classes.size
    rows = np.empty((max(continuous.size, 1), count), dtype=np.int32)
    rows[0] = np.arange(count)
    for number, attribute in enumerate(continuous):
        rows[number] = np.argsort(cases.values[attribute], kind="stable")
    weighted = bool(np.isnan(cases.values).any())
    return Level(
        np.array([0, count], dtype=np.int64),
        rows,
        np.ones((rows.shape[0], count if weighted else 0), dtype=np.float32),
        np.zeros(1, dtype=np.int32),
        np.zeros((1, cases.declared.size), dtype=np.bool_),
    )


@kernel
def branch_of(value: np.float32, declared: int, nodes: Nodes, node: int) -> int:
    """Give the branch that a value takes at the test of a node, -1 when it is unknown."""
    if np.isnan(value):
        return -1
    if not declared:
        return 0 if value <= nodes.cut[node] else 1
    return nodes.groups[node, int(value)] if nodes.groups.shape[1] else int(value)


@kernel
def divide(cases: Cases, level: Level, nodes: Nodes) -> Level:
    """Send the cases of a level down the tests of its nodes.

    A case whose value is unknown goes down every branch, its weight times the share of the known cases there.
    """
    above, tested, start, shares, branches = count_branches(
        cases, nodes, level.start, level.rows[0], level.weights[0], level.tested
    )
    rows = np.empty((level.rows.shape[0], start[-1]), dtype=np.int32)
    weights = np.empty((rows.shape[0], start[-1] if level.weights.size else 0), dtype=np.float32)
    by_row = np.empty(cases.classes.size, dtype=np.int32)
    fill_branches(nodes.width, level, branches, by_row, start, shares, rows, weights)
    return Level(start, rows, weights, above, tested)


@kernel
def count_branches(
    cases: Cases, nodes: Nodes, start: IntArray, rows: Int32, weights: Float32, tested: BoolArray
) -> tuple[Int32, BoolArray, IntArray, Float32, Int32]:
    """Look where the cases of a level go.

    Returns
    -------
    (node above, what was tested on the way, start of the cases, share of the known cases), of each branch, and the
    branch that each case takes, -1 for all
    """
    number = 0
    for node in range(nodes.width.size):
        number += nodes.width[node]
    above, tested_below = np.zeros(number, dtype=np.int32), np.zeros((number, tested.shape[1]), dtype=np.bool_)
    below, shares = np.zeros(number + 1, dtype=np.int64), np.zeros(number, dtype=np.float32)
    branches = np.zeros(rows.size, dtype=np.int32)
    first = 0
    for node in range(nodes.width.size):
        width, attribute, unknown = nodes.width[node], nodes.attribute[node], 0
        known = np.float32(0)
        for place in range(start[node], start[node + 1] if width else start[node]):
            value = cases.values[attribute, rows[place]]
            branch = branch_of(value, cases.declared[attribute], nodes, node)
            branches[place] = branch
            if branch < 0:
                unknown += 1
                continue
            weight = weights[place] if weights.size else np.float32(1)
            below[first + branch + 1] += 1
            shares[first + branch] += weight
            known = np.float32(known + weight)
        for branch in range(first, first + width):
            above[branch] = node
            for column in range(tested.shape[1]):
                tested_below[branch, column] = tested[node, column] or (
                    column == attribute and cases.declared[column] > 0
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


@kernel
def _kept(first: Int32, width: Int32) -> Int32:
    """List the nodes that can be reached from the root, level by level."""
    kept = np.empty(first.size, dtype=np.int32)
    kept[0] = 0
    count = 1
    place = 0
    while place < count:
        node = kept[place]
        for branch in range(width[node]):
            kept[count] = first[node] + branch
            count += 1
        place += 1
    return kept[:count]


def compacted(nodes: Nodes) -> Nodes:
    """Leave out the nodes that cannot be reached, and number the others level by level."""
    kept = run(_kept)(nodes.first, nodes.width)
    fewer = Nodes._make(part[kept] for part in nodes)
    first = (1 + np.cumsum(fewer.width) - fewer.width).astype(np.int32)
    return fewer._replace(first=np.where(fewer.width > 0, first, 0).astype(np.int32), cut=_cuts(fewer))


def _cuts(nodes: Nodes) -> Float32:
    return np.where(nodes.width > 0, nodes.cut, 0).astype(np.float32)
