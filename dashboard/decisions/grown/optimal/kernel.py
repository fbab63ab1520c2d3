"""What takes nearly all of a large search's time, compiled."""

from typing import Any

import numpy as np

from dashboard.decisions.grown.search.kernel import compiled


@compiled
def _take_lower(target: Any, first: Any, second: Any) -> None:
    for place in range(target.size):
        target[place] = min(target[place], first[place] + second[place])


@compiled
def lower(values: Any, below: Any, offset: Any, height: int, first_top: int, end: int, columns: int, many: int) -> None:
    """Lower what rectangles of one height are worth to what their cuts give, the narrow ones first.

    Parameters
    ----------
    values, below
        Flat, ``many`` numbers for each rectangle; sides are looked up in `below`. None is NaN.
    offset
        Number of the first rectangle of each shape, as `Rectangles.offset`.
    first_top, end
        Their top rows are from the one to before the other; others may be lowered at the same time.
    """
    for width in range(1, columns + 1):
        across = columns - width + 1
        count = across * many
        for top in range(first_top, end):
            start = (offset[height, width] + top * across) * many
            target = values[start : start + count]
            for at in range(1, height):
                first = (offset[at, width] + top * across) * many
                second = (offset[height - at, width] + (top + at) * across) * many
                _take_lower(target, below[first : first + count], below[second : second + count])
            for at in range(1, width):
                first = (offset[height, at] + top * (columns - at + 1)) * many
                second = (offset[height, width - at] + top * (columns - width + at + 1) + at) * many
                _take_lower(target, below[first : first + count], below[second : second + count])


@compiled
def _thin(band: Any, start: int, end: int, highest: Any, best: float, sides: Any) -> float:
    """Lower `best` to the least of a leaf between two of these places of a band; `sides` gets which."""
    methods = band.shape[1]
    highest[:] = band[start]
    for right in range(start + 1, end):
        low = np.inf
        for m in range(methods):
            low = min(low, band[right, m] - highest[m])
            highest[m] = max(highest[m], band[right, m])
        if low < best:
            best = low
            for left in range(start, right):
                for m in range(methods):
                    if band[right, m] - band[left, m] == low:
                        sides[0], sides[1] = left, right
    return best


@compiled
def _lower_by_windows(band: Any, starts: Any, least: Any, most: Any) -> None:
    """Take the least and the most of each method in each window."""
    methods = band.shape[1]
    for window in range(starts.size - 1):
        least[window], most[window] = band[starts[window]], band[starts[window]]
        for at in range(starts[window] + 1, starts[window + 1]):
            for m in range(methods):
                least[window, m] = min(least[window, m], band[at, m])
                most[window, m] = max(most[window, m], band[at, m])


@compiled
def fold(sums: Any, rows: Any, starts: Any, offset: Any, leaves: Any, thin: Any) -> float:
    """Find the least cost of leaves by the windows that their sides are in.

    Parameters
    ----------
    sums
        ``(place, place, method)``: sums of costs up to each place of the two axes.
    rows
        For each place of the first axis its window.
    starts
        First place of each window of the second axis and, at last, the number of places.
    offset
        Number of the first rectangle of windows of each shape, as `Rectangles.offset`.
    leaves
        ``(rectangle,)``, infinite; lowered to the least cost.
    thin
        Gets top, left, bottom and right of the least leaf that has two sides in one window.

    Returns
    -------
    float
        What that leaf costs; infinite when there is none.
    """
    methods, windows = sums.shape[2], starts.size - 1
    least, most, highest = np.empty((windows, methods)), np.empty((windows, methods)), np.empty(methods)
    band, sides, best = np.empty(sums.shape[1:]), np.zeros(2, dtype=np.int64), np.inf
    for top in range(rows.size - 1):
        for bottom in range(top + 1, rows.size):
            band[:] = sums[bottom] - sums[top]
            height = rows[bottom] - rows[top]
            before = best
            for window in range(windows if height > 0 else 1):
                end = starts[window + 1] if height > 0 else starts[windows]
                best = _thin(band, starts[window], end, highest, best, sides)
            if best < before:
                thin[0], thin[1], thin[2], thin[3] = top, sides[0], bottom, sides[1]
            if height == 0:
                continue
            _lower_by_windows(band, starts, least, most)
            for left in range(windows - 1):
                for right in range(left + 1, windows):
                    low = np.inf
                    for m in range(methods):
                        low = min(low, least[right, m] - most[left, m])
                    across = windows - (right - left)
                    number = offset[height, right - left] + rows[top] * across + left
                    leaves[number] = min(leaves[number], low)
    return best
