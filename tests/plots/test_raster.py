"""Cells as pixels."""

import numpy as np
import pytest

from dashboard.plots.axes import Axes, size_axis
from dashboard.plots.raster import FINEST, Raster


def axes(messages: object, processes: object) -> Axes:
    return Axes(size_axis("message_size", messages), size_axis("comm_size", processes))


def test_even_sizes_need_one_pixel_a_cell() -> None:
    raster = Raster.of(axes(2 ** np.arange(10), [2, 4, 8, 16]))
    cells = np.arange(40).reshape(4, 10)
    assert raster.complete
    assert (raster.paint(cells) == cells).all()


def test_uneven_sizes_get_pixels_in_proportion() -> None:
    raster = Raster.of(axes([1, 2, 4, 16], [2, 3]))
    # Borders at -0.5, 0.5, 1.5, 3, 5 on the axis of logarithms: eleven half steps.
    assert np.bincount(raster.columns).tolist() == [2, 2, 3, 4]


@pytest.mark.parametrize(
    "sizes", [[2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16], [1, 1448, 1500, 65536], [8, 64, 512, 4096, 8192]]
)
def test_each_pixel_shows_the_cell_that_its_centre_lies_in(sizes: list[int]) -> None:
    drawn = axes(sizes, sizes)
    raster = Raster.of(drawn)
    low, high = drawn.x.limits
    centres = low + (np.arange(raster.columns.size) + 0.5) * (high - low) / raster.columns.size
    assert raster.columns.tolist() == [drawn.x.index(at) for at in centres]


def test_a_map_of_more_cells_than_pixels_says_so() -> None:
    raster = Raster.of(axes(np.arange(1, 2049), [2, 3]))
    assert not raster.complete
    assert raster.columns.size == FINEST
    assert raster.paint(np.arange(4096).reshape(2, 2048)).shape == (2, FINEST)


def test_a_moving_map_has_no_more_pixels_than_a_screen_shows() -> None:
    """Each of them shows what the finest map shows there."""
    raster = Raster.of(axes(np.unique(np.rint(2 ** np.linspace(0, 24, 300))), np.arange(2, 400)))
    assert (raster.columns.size, raster.rows.size) == (FINEST, 398)
    quick = raster.quick
    assert (quick.columns.size, quick.rows.size) == (512, 199)
    assert (quick.columns == raster.columns[1::2]).all()
    assert quick.bounds == raster.bounds


def test_a_small_map_moves_with_all_its_pixels() -> None:
    raster = Raster.of(axes([1, 2, 4, 16], [2, 3]))
    assert raster.quick is raster
