"""Penalty maps in the classes of Figure 6.8."""

import numpy as np
import pytest

from dashboard.decisions import decision_map, exact, penalty, quadtree
from dashboard.plots.axes import Axes
from dashboard.plots.penalty import COLORS, LABELS, class_shares, figures, penalty_classes, penalty_image
from dashboard.plots.raster import Raster
from tests.cubes import synthetic_cube


@pytest.mark.parametrize(
    ("percent", "label"),
    [
        (0, "below 5 %"),
        (4.99, "below 5 %"),
        (5, "5 – 10 %"),
        (10, "10 – 25 %"),
        (49.9, "25 – 50 %"),
        (50, "50 – 100 %"),
        (1e9, "100 % and above"),
    ],
)
def test_classes(percent: float, label: str) -> None:
    assert LABELS[penalty_classes(np.array([percent]))[0]] == label


def test_white_dimmed_on_a_dark_page_is_below_5_percent_and_nothing_is_no_class() -> None:
    assert COLORS[0].startswith("#ffffff")
    assert penalty_classes(np.array([np.nan])).tolist() == [-1]


def test_cells_whose_choice_was_not_measured_are_left_open() -> None:
    cube = synthetic_cube(8, 8, 4, seed=2, missing=0.4)
    dmap = decision_map(cube)
    penalties = penalty(cube, quadtree(dmap, max_depth=1))
    image = penalty_image(penalties["penalty"].values, Raster.of(Axes.of(dmap))).draw()
    open_cells = (image.dimension_values(2, flat=False) == 255).sum()
    assert open_cells == np.isnan(penalties["penalty"].values).sum() > 0


def test_figures_are_written_from_5_percent_on() -> None:
    cube = synthetic_cube(4, 5, 4, seed=2)
    axes = Axes.of(cube)
    percent = np.zeros(axes.shape)
    percent[1, 2], percent[0, 0], percent[2, 2] = 12.4, 4.9, np.nan
    assert [figure for figure in figures(percent, axes) if figure] == ["12"]


def test_shares_count_every_measured_cell_once() -> None:
    cube = synthetic_cube(8, 8, 4, seed=2, missing=0.4)
    dmap = decision_map(cube)
    shares = class_shares(penalty(cube, quadtree(dmap, max_depth=1)))
    assert shares["cells"].sum() == (dmap["best"] >= 0).sum()
    assert shares["share"].sum() == pytest.approx(1)


def test_an_exact_tree_is_white_everywhere() -> None:
    cube = synthetic_cube(8, 8, 4, seed=2)
    assert class_shares(penalty(cube, exact(decision_map(cube))))["cells"].tolist() == [64, 0, 0, 0, 0, 0, 0]
