"""Filling of cells that were not measured."""

import numpy as np
import pytest

from dashboard.decisions import NothingMeasuredError
from dashboard.decisions.measured.fill import fill_missing


@pytest.mark.parametrize(
    ("row", "filled"),
    [
        ([1, -1, -1, 2], [1, 1, 2, 2]),  # each takes its nearest
        ([1, -1, 2], [1, 1, 2]),  # equally near: the smaller message size
        ([-1, -1, 3], [3, 3, 3]),
        ([4, -1, -1], [4, 4, 4]),
        ([0, 1, 2], [0, 1, 2]),
    ],
)
def test_a_missing_cell_takes_the_nearest_along_the_message_size(row: list[int], filled: list[int]) -> None:
    assert fill_missing(np.array([row])).tolist() == [filled]


def test_a_row_without_any_takes_the_nearest_row_the_smaller_of_two() -> None:
    grid = np.array([[-1, -1], [1, -1], [-1, -1], [2, 3], [-1, -1]])
    assert fill_missing(grid).tolist() == [[1, 1], [1, 1], [1, 1], [2, 3], [2, 3]]


def test_nothing_measured_is_a_clear_error() -> None:
    with pytest.raises(NothingMeasuredError, match="no cell of the decision map is measured"):
        fill_missing(np.full((2, 3), -1))
