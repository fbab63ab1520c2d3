"""Frontier charts: what is on the front, what a tap means, what the tables say."""

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
from bokeh.models import Scatter
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions.grown.families import FAMILIES
from dashboard.domain.held_out import EVERY
from dashboard.plots.frontier import (
    FLOOR,
    family_looks,
    family_table,
    front,
    front_table,
    frontier_chart,
    nearest,
    positions,
)

TITLES = {"cart": "CART", "c45": "C4.5"}


@pytest.fixture
def points() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "family": ["cart", "cart", "c45", "c45"],
            "told": ["one", "two", "three", "four"],
            "leaves": [1, 4, 4, 16],
            "expected_depth": [0.0, 2.0, 2.5, 4.0],
            "penalty_mean": [50.0, 5.0, 8.0, 0.0],
            "held_out_mean": [60.0, 9.0, np.nan, 12.0],
            "held_out_leaves": [1.0, 5.0, 4.0, 15.0],
            "cells": 10,
        }
    )


def test_the_front_is_what_no_other_beats(points: pd.DataFrame) -> None:
    assert list(front(points, "penalty_mean").index) == [0, 1, 3]
    assert list(front(points, "held_out_mean").index) == [0, 1]


def test_a_tree_whose_folds_grow_much_larger_ones_is_on_the_front_in_sample_only(points: pd.DataFrame) -> None:
    grown = points.assign(held_out_leaves=[12.0, 5.0, 4.0, 15.0])
    assert list(front(grown, "held_out_mean").index) == [1]
    assert list(front(grown, "penalty_mean").index) == [0, 1, 3]


@given(st.integers(0, 2**32 - 1))
def test_a_tap_on_a_point_means_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = pd.DataFrame({"leaves": random.integers(1, 300, 20), "value": random.random(20) * 100})
    x, y = positions(points["leaves"], points["value"])
    for row in range(20):
        place = nearest(points, "value", x[row], y[row])
        assert place is not None
        assert (points.loc[place] == points.loc[row]).all()
    assert nearest(points, "value", x.max() + 9, y.max()) is None


def test_dominated_points_are_faint_and_each_family_keeps_its_look(points: pd.DataFrame) -> None:
    plot = hv.render(frontier_chart("t", points, "penalty_mean", TITLES, (4, 5.0), 1), backend="bokeh")
    drawn = [glyph for glyph in plot.renderers if isinstance(glyph.glyph, Scatter)]
    markers = [glyph.glyph.marker for glyph in drawn]
    assert markers[2:] == ["circle", "square"]
    assert [(drawn[at].glyph.marker, drawn[at].glyph.fill_color) for at in (0, 1)] == [
        (family_looks()[name][0], family_looks()[name][2]) for name in TITLES
    ]
    assert [list(glyph.data_source.data["alpha"]) for glyph in drawn[:2]] == [[1, 1], [0.45, 1]]
    (leaves, penalty) = (drawn[3].data_source.data[name][0] for name in ("at_leaves", "at_penalty"))
    assert (leaves, penalty) == pytest.approx((2, np.log10(5)))
    assert len(set(family_looks().values())) == len(FAMILIES)


def test_a_penalty_of_zero_has_a_place() -> None:
    _, y = positions([1, 2], [0.0, FLOOR])
    assert y[0] == y[1]


def test_tables_tell_the_front_and_where_families_fall_below(points: pd.DataFrame) -> None:
    text = front_table(points, "penalty_mean", TITLES)
    assert "one" in text
    assert "three" not in text
    assert "recommended" not in text
    assert "three <strong>(recommended)</strong>" in front_table(points, "penalty_mean", TITLES, recommended=2)
    assert EVERY not in text
    assert EVERY in front_table(points, "penalty_mean", TITLES, "lines")
    assert EVERY not in front_table(points, "penalty_mean", TITLES, "repetitions")
    falls = pd.DataFrame({"family": ["cart"], "below_5": [pd.NA], "least": [5.0], "least_leaves": [4]})
    table = family_table(falls, TITLES, {"octree": "needs <ppn>"})
    assert "leaves for &lt; 5 %" in table
    assert "needs &lt;ppn&gt;" in table
