"""Lowering what rectangles are worth to what their cuts give, compiled: nearly all of a large search's time."""

from __future__ import annotations

from typing import Any

from dashboard.decisions.grown.search.kernel import compiled


@compiled
def _take_lower(target: Any, first: Any, second: Any) -> None:
    for place in range(target.size):
        target[place] = min(target[place], first[place] + second[place])


@compiled
def lower(values: Any, below: Any, offset: Any, height: int, rows: int, columns: int, many: int) -> None:
    """Do so for all rectangles of one height, the narrow ones first.

    Parameters
    ----------
    values, below
        Flat, ``many`` numbers for each rectangle; sides are looked up in `below`. None is NaN.
    offset
        Number of the first rectangle of each shape, as `Rectangles.offset`.
    """
    for width in range(1, columns + 1):
        across = columns - width + 1
        count = across * many
        for top in range(rows - height + 1):
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
