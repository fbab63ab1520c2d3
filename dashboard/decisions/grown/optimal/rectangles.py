"""All rectangles of a grid, numbered so that those of one shape stand together."""

import numpy as np

from dashboard.domain.arrays import FloatArray, IntArray

LONGEST = 500
"""Rows (columns) of blocks at most."""


class Rectangles:
    """Numbers the rectangles of a grid.

    Several rectangles are an int64 array ``(4, n)`` of top row, left column, height and width.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        heights, widths = np.arange(1, rows + 1)[:, None], np.arange(1, columns + 1)
        counts = ((rows - heights + 1) * (columns - widths + 1)).ravel()
        self.offset = np.zeros((rows + 1, columns + 1), dtype=np.int64)
        self.offset[1:, 1:] = (np.cumsum(counts) - counts).reshape(rows, columns)
        self.count = int(counts.sum())
        self.grid = np.array([[0], [0], [rows], [columns]])

    @staticmethod
    def number_of(rows: int, columns: int) -> int:
        """How many rectangles a grid has."""
        return rows * (rows + 1) // 2 * (columns * (columns + 1) // 2)

    def index(self, spots: IntArray) -> IntArray:
        """Number each of several rectangles; the whole grid is the last one."""
        top, left, height, width = spots
        return np.asarray(self.offset[height, width] + top * (self.columns - width + 1) + left)

    def spot(self, number: int) -> tuple[int, int, int, int]:
        """Top row, left column, height and width of the rectangle of a number."""
        shape = int(np.searchsorted(self.offset[1:, 1:].ravel(), number, side="right")) - 1
        height, width = shape // self.columns + 1, shape % self.columns + 1
        top, left = divmod(number - int(self.offset[height, width]), self.columns - width + 1)
        return top, left, height, width

    def of_shape(self, table: FloatArray, height: int, width: int) -> FloatArray:
        """View what a table ``(rectangle, …)`` has for one shape as ``(top, left, …)``."""
        shape = self.rows - height + 1, self.columns - width + 1
        start = self.offset[height, width]
        return table[start : start + shape[0] * shape[1]].reshape(*shape, *table.shape[1:])


def halves(spots: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Cut rectangles in two in every way there is.

    Returns
    -------
    parent
        For each cut the position in `spots` of what it cuts; for each parent in the order: cuts between
        rows, then cuts between columns, each ascending.
    first, second
        The two sides, the one of smaller sizes first.
    """
    count = spots.shape[1]
    ways = (spots[2] - 1) + (spots[3] - 1)
    parent = np.repeat(np.arange(count), ways)
    way = np.arange(parent.size) - np.repeat(np.cumsum(ways) - ways, ways)
    between_rows = spots[2, parent] - 1
    column_cut = way >= between_rows
    at = np.where(column_cut, way - between_rows, way) + 1
    first, second = spots[:, parent], spots[:, parent]
    for axis, chosen in enumerate((~column_cut, column_cut)):
        first[2 + axis, chosen] = at[chosen]
        second[axis, chosen] += at[chosen]
        second[2 + axis, chosen] -= at[chosen]
    return parent, first, second


def lines_of(rows: int, columns: int, most: int) -> tuple[int, int]:
    """How many rows and columns of blocks have no more than `most` rectangles: of a short axis all."""
    side = int(np.sqrt(2 * np.sqrt(most)))
    few, many = sorted((rows, columns))
    few = min(few, side)
    many = min(many, LONGEST, int(np.sqrt(2 * most / (few * (few + 1) / 2))))
    return (few, many) if rows <= columns else (many, few)
