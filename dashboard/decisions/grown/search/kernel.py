"""The best tree of up to two levels, compiled: where nearly all of a search's time goes.

For a first test on one attribute and a second one on another, what all leaves lose follows from sums
over the grid of both attributes' values. They are made once, and every pair of cuts is a look-up then:
the idea of the solver for two levels of MurTree (Demirović et al., *MurTree: optimal decision trees
via dynamic programming and search*, JMLR 23, 2022), with sums along sorted values in place of counts of
pairs of yes/no attributes. First cuts that cannot give a better tree are passed over as in ConTree
(Brita, van der Linden, Demirović, *Optimal classification trees for continuous feature data using
dynamic programming with branch-and-bound*, AAAI 2025): the more cases a side has, the more it loses.
"""

# ruff: noqa: C901, PLR0912, PLR0913, PLR0917 - compiled code is loops over plain arrays

from typing import Any

import numpy as np

from dashboard.decisions.grown.kept import Function, kept


def compiled(function: Function) -> Function:
    """Compile at the first call. Losses are never NaN."""
    return kept(function, fastmath={"nnan", "nsz"})


@compiled
def _local_ranks(ranks: Any, cases: Any, sizes: Any) -> Any:
    """Ranks among the values that these cases have, and the whole ranks of those."""
    count, attributes = cases.size, sizes.size
    local = np.empty((attributes, count), dtype=np.int64)
    places = np.zeros((attributes, sizes.max()), dtype=np.int64)
    there = np.zeros(attributes, dtype=np.int64)
    for a in range(attributes):
        seen = np.zeros(sizes[a], dtype=np.int64)
        for position in range(count):
            seen[ranks[cases[position], a]] = 1
        for rank in range(sizes[a]):
            if seen[rank]:
                places[a, there[a]] = rank
                seen[rank] = there[a]
                there[a] += 1
        for position in range(count):
            local[a, position] = seen[ranks[cases[position], a]]
    return local, places, there


@compiled
def _sums(local: Any, table: Any, cases: Any, there: Any) -> Any:
    """``(attribute, rank, method)``: what the cases up to each rank lose together."""
    methods = table.shape[1]
    sums = np.zeros((there.size, there.max(), methods))
    for a in range(there.size):
        for position in range(cases.size):
            for m in range(methods):
                sums[a, local[a, position], m] += table[cases[position], m]
        for rank in range(1, there[a]):
            for m in range(methods):
                sums[a, rank, m] += sums[a, rank - 1, m]
    return sums


@compiled
def _pair_sums(first: int, local: Any, table: Any, cases: Any, there: Any) -> Any:
    """``(rank of first, ranks of the others one after the other, method)``: sums up to both ranks."""
    methods = table.shape[1]
    starts = np.zeros(there.size, dtype=np.int64)
    width = 0
    for b in range(there.size):
        starts[b] = width
        if b != first:
            width += there[b]
    sums = np.zeros((there[first], width, methods))
    for position in range(cases.size):
        row = local[first, position]
        for b in range(there.size):
            if b != first:
                for m in range(methods):
                    sums[row, starts[b] + local[b, position], m] += table[cases[position], m]
    for row in range(there[first]):
        for b in range(there.size):
            if b != first:
                for place in range(starts[b] + 1, starts[b] + there[b]):
                    for m in range(methods):
                        sums[row, place, m] += sums[row, place - 1, m]
        if row > 0:
            for place in range(width):
                for m in range(methods):
                    sums[row, place, m] += sums[row - 1, place, m]
    return sums, starts


@compiled
def _two_sides(upper: Any, lower: Any, total: Any) -> float:
    """What is lost by two leaves: the cases up to `upper` but not up to `lower`, and the rest of `total`."""
    least_upper, least_lower = np.inf, np.inf
    for m in range(total.size):
        value = upper[m] - lower[m]
        least_upper = min(least_upper, value)
        least_lower = min(least_lower, total[m] - value)
    return least_upper + least_lower


@compiled
def _second_tests(first: int, row: int, sums: Any, pairs: Any, starts: Any, there: Any, tests: Any) -> Any:
    """The best second test on either side of a first one.

    Returns what the left (right) side loses as a leaf and as two; `tests` gets attribute and rank of both tests.
    """
    methods = sums.shape[2]
    nothing = np.zeros(methods)
    left = sums[first, row]
    right = np.empty(methods)
    for m in range(methods):
        right[m] = sums[first, there[first] - 1, m] - left[m]
    left_one, right_one = left.min(), right.min()
    left_two, right_two = left_one, right_one
    for b in range(there.size):
        for rank in range(there[b] - 1):
            if b != first:
                inside = pairs[row, starts[b] + rank]
                on_left = _two_sides(inside, nothing, left)
                on_right = _two_sides(sums[b, rank], inside, right)
            else:
                on_left = _two_sides(sums[b, rank], nothing, left) if rank < row else np.inf
                on_right = _two_sides(sums[b, rank], left, right) if rank > row else np.inf
            if on_left < left_two:
                left_two = on_left
                tests[0], tests[1] = b, rank
            if on_right < right_two:
                right_two = on_right
                tests[2], tests[3] = b, rank
    return left_one, left_two, right_one, right_two


@compiled
def two_levels(
    ranks: Any, table: Any, cases: Any, sizes: Any, leaves: int, limit: float, tolerance: float
) -> tuple[float, Any]:
    """Find the best tree of at most two levels.

    Parameters
    ----------
    ranks
        int ``(case, attribute)``, from 0.
    table
        float64 ``(case, method)``, what is lost.
    cases
        Which of the cases to look at, at least one.
    sizes
        ``(attribute,)`` number of ranks.
    leaves
        Most leaves, 1 to 4.
    limit
        Only trees that lose less (by more than `tolerance`) are looked for.

    Returns
    -------
    lost
        What the best one loses; `limit` when there is none.
    tests
        int64 ``(3, 3)``: for the first test, the one where it holds and the other one: attribute (-1 = none),
        and the whole ranks that the cut is between.
    """
    local, places, there = _local_ranks(ranks, cases, sizes)
    sums = _sums(local, table, cases, there)
    total = sums[0, there[0] - 1]
    tests = np.full((3, 3), -1, dtype=np.int64)
    best = limit
    if total.min() < best - tolerance:
        best = total.min()
    if leaves == 1 or best <= tolerance:
        return best, tests
    chosen = np.full((3, 2), -1, dtype=np.int64)
    nothing = np.zeros(table.shape[1])
    for a in range(there.size):
        for rank in range(there[a] - 1):
            lost = _two_sides(sums[a, rank], nothing, total)
            if lost < best - tolerance:
                best = lost
                chosen[0, 0], chosen[0, 1] = a, rank
    if leaves > 2:
        for a in range(there.size):
            best = _first_tests(a, local, table, cases, there, sums, leaves, best, tolerance, chosen)
    for test in range(3):
        a, rank = chosen[test]
        if a >= 0:
            tests[test, 0], tests[test, 1], tests[test, 2] = a, places[a, rank], places[a, rank + 1]
    return best, tests


@compiled
def _first_tests(
    first: int,
    local: Any,
    table: Any,
    cases: Any,
    there: Any,
    sums: Any,
    leaves: int,
    best: float,
    tolerance: float,
    chosen: Any,
) -> float:
    """Go through the cuts of one attribute as first test, halving the range that may still hold a better one."""
    if there[first] < 2:
        return best
    pairs, starts = _pair_sums(first, local, table, cases, there)
    second_tests = np.full(4, -1, dtype=np.int64)
    waiting = [(0, there[first] - 2, 0.0, 0.0)]
    while len(waiting) > 0:
        low, high, least_left, least_right = waiting.pop()
        if low > high or least_left + least_right >= best - tolerance:
            continue
        row = (low + high) // 2
        second_tests[:] = -1
        left_one, left_two, right_one, right_two = _second_tests(first, row, sums, pairs, starts, there, second_tests)
        if leaves > 3:
            lost = left_two + right_two
        elif left_two + right_one <= left_one + right_two:
            lost = left_two + right_one
            second_tests[2] = -1
        else:
            lost = left_one + right_two
            second_tests[0] = -1
        if lost < best - tolerance:
            best = lost
            chosen[0, 0], chosen[0, 1] = first, row
            chosen[1, 0], chosen[1, 1] = second_tests[0], second_tests[1]
            chosen[2, 0], chosen[2, 1] = second_tests[2], second_tests[3]
        waiting.append((low, row - 1, least_left, right_two))
        waiting.append((row + 1, high, left_two, least_right))
    return best
