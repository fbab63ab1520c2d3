"""Difference maps and comparison tables."""

import re

import numpy as np

from dashboard.decisions import decision_map, quadtree, statistics
from dashboard.plots.axes import Axes
from dashboard.plots.comparison import figures_table, settings_table
from dashboard.plots.difference import LABELS, SAME, difference_classes, difference_legend, gap_figures
from tests.cubes import cube_of, synthetic_cube


def test_classes_tell_who_is_better_and_by_how_much() -> None:
    first = np.array([[0.0, 30.0, 3.0, 0.0, 1.0, np.nan]])
    second = np.array([[30.0, 0.0, 0.0, 0.5, 1.0, 4.0]])
    same = np.array([[False, False, False, False, True, False]])
    labels = [LABELS[each] if each >= 0 else "" for each in difference_classes(first, second, same)[0]]
    assert labels == [
        "A better by 25 and more",
        "B better by 25 and more",
        "B better by 1 – 5",
        "other method, within 1",
        "the same method",
        "",
    ]


def test_the_legend_counts_every_cell() -> None:
    classes = np.array([[0, SAME, SAME], [-1, 3, 3]])
    text = difference_legend(classes, np.array([[True, True, True], [False, True, True]]))
    assert text.count("<tr>") == len(LABELS) + 3
    assert ">2<" in text
    compared, none = (
        re.search(rf"{label}</td><td[^>]*>(\d)<", text)[1] for label in ("not comparable", "not measured")
    )
    assert (compared, none) == ("0", "1")


def test_the_table_of_figures_has_both_and_the_difference() -> None:
    cube = synthetic_cube(5, 6, 4, seed=1, noise=1)
    dmap = decision_map(cube)
    figures = [statistics(cube, tree) for tree in (quadtree(dmap, max_depth=1), quadtree(dmap))]
    text = figures_table(*figures)
    assert f">{figures[1]['leaves'] - figures[0]['leaves']:+,}<" in text
    assert f">−{figures[0]['penalty']['mean']:,.2f}<" in text
    assert ">0<" in text


def test_equal_settings_are_said_to_be_equal() -> None:
    assert "the same" in settings_table([])
    assert "&lt;x&gt;" in settings_table([("a", "<x>", "y")])


def test_figures_wider_than_their_cell_are_left_out() -> None:
    """Beside cells of a power of two each, those of a step of 1 KiB are narrow."""
    axes = Axes.of(decision_map(cube_of(np.ones((1, 1, 6)), [2], [1, 8, 64, 512, 513, 514])))
    gap = np.full((1, 6), -126.0)
    assert list(gap_figures(gap, axes)) == ["−126", "−126", "−126", "−126", "", ""]
