"""Axes in real sizes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.plots.axes import Axes, size_axis
from tests.cubes import cube_of

POWERS = 2 ** np.arange(21)


def test_sizes_that_double_are_on_a_logarithmic_axis() -> None:
    axis = size_axis("message_size", POWERS)
    assert axis.log
    assert np.diff(axis.edges) == pytest.approx(1.0)


def test_sizes_in_even_steps_are_on_a_linear_axis() -> None:
    axis = size_axis("comm_size", [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16])
    assert not axis.log
    assert axis.limits == (1.5, 17.0)


def test_processes_that_double_are_on_a_logarithmic_axis() -> None:
    assert size_axis("comm_size", [2, 8, 64, 512, 4096, 8192]).log


def test_size_0_has_a_place_before_the_smallest_size() -> None:
    axis = size_axis("message_size", [0, 4, 8, 16])
    assert axis.positions([0, 4]) == pytest.approx([1.0, 2.0])
    assert axis.ticks()[0][1] == "0 B"


def test_a_barrier_has_one_cell() -> None:
    axis = size_axis("message_size", [0])
    assert axis.edges.size == 2
    assert axis.index(float(axis.positions([0])[0])) == 0
    assert axis.ticks() == [(pytest.approx(axis.positions([0])[0]), "0 B")]


def test_ticks_are_measured_sizes_with_byte_units_in_even_steps() -> None:
    labels = [label for _, label in size_axis("message_size", POWERS).ticks()]
    assert labels == ["1 B", "4 B", "16 B", "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]


@given(st.lists(st.integers(0, 1 << 30), min_size=1, max_size=60, unique=True))
def test_every_size_lies_in_its_own_cell(sizes: list[int]) -> None:
    axis = size_axis("message_size", sorted(sizes))
    assert [axis.index(float(at)) for at in axis.positions(axis.sizes)] == list(range(len(sizes)))
    assert (np.diff(axis.edges) > 0).all()
    assert axis.ticks()


def test_a_cut_divides_after_the_last_size_that_passes() -> None:
    axis = size_axis("message_size", [1, 2, 4, 8])
    assert axis.borders([2, 3, 8, np.inf, -np.inf]) == pytest.approx([1.5, 1.5, 3.5, 3.5, -0.5])


def test_a_position_is_the_cell_that_is_drawn_there() -> None:
    axes = Axes.of(cube_of(np.ones((1, 3, 4)), [2, 4, 8], [1, 2, 4, 8]))
    assert axes.shape == (3, 4)
    assert axes.cell(2.4, 1.1) == (2, 4)
    assert axes.cell(9.0, 1.0) is None
    assert axes.centre((2, 4)) == (pytest.approx(2.0), pytest.approx(1.0))
    assert np.isnan(axes.centre((3, 4))).all()
    assert np.isnan(axes.centre(None)).all()


def test_long_labels_stand_as_far_apart_as_they_are_wide() -> None:
    axis = size_axis("message_size", np.unique(np.geomspace(1, 1 << 24, 200).round().astype(int)))
    ticks = axis.ticks()
    # Of short labels eleven have room beside each other, of seven signs each.
    sign = (axis.limits[1] - axis.limits[0]) / (11 * 8)
    for (left, short), (right, long) in itertools.pairwise(ticks):
        assert right - left >= sign * (len(short) + len(long)) / 2
    assert max(len(label) for _, label in ticks) > 8
