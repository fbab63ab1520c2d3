"""Bins as section 4.6.1 of the source has them, and those that follow what was seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.online.bins import Bins
from dashboard.online.errors import OnlineError

HYDRA = Bins.regular(36, 32)


def test_the_grid_of_the_source_has_18_by_17_by_9_bins() -> None:
    assert HYDRA.shape == (18, 17, 9)
    assert HYDRA.count == 2754
    # S: the best methods, one number of four bytes a bin, take 10.76 KiB; the vectors of 52 methods 559.4 KiB.
    assert round(HYDRA.count * 4 / 1024, 2) == 10.76
    assert round(HYDRA.count * 4 * 52 / 1024, 1) == 559.4


@pytest.mark.parametrize(
    ("size", "expected"), [(0, 0), (3, 0), (4, 1), (15, 1), (16, 2), (4**17 - 1, 16), (4**17, 17), (2**62, 17)]
)
def test_a_bin_holds_its_lower_border_and_the_last_one_is_open(size: int, expected: int) -> None:
    assert HYDRA.places([size], [1], [1])[0][0] == expected


def test_points_are_geometric_means_of_sizes_and_arithmetic_ones_of_processes() -> None:
    sizes, nodes, ppn = HYDRA.points
    assert sizes[:3].tolist() == [2.0, 8.0, 32.0]
    assert sizes[-1] == 4**17
    assert nodes[[0, 1, -1]].tolist() == [1.125, 3.375, 36.0]
    assert ppn[[0, 1, -1]].tolist() == [2.0, 6.0, 32.0]


@given(st.integers(0, 2**62), st.integers(1, 40), st.integers(1, 40))
def test_a_call_lies_between_the_borders_of_its_bin(size: int, nodes: int, ppn: int) -> None:
    for borders, place, value in zip(
        HYDRA.borders, HYDRA.places([size], [nodes], [ppn]), (size, nodes, ppn), strict=True
    ):
        assert borders[place[0]] <= float(value)
        assert place[0] == borders.size - 1 or float(value) < borders[place[0] + 1]


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=30))
def test_bins_that_follow_what_was_seen_have_one_for_each_value(sizes: list[int]) -> None:
    made = Bins.seen(sizes, [1, 4, 64], [1, 4])
    distinct = sorted(set(sizes))
    assert made.places(distinct, [1] * len(distinct), [1] * len(distinct))[0].tolist() == list(range(len(distinct)))
    assert made.points[0].tolist() == distinct


def test_of_many_values_so_many_bins_are_at_their_quantiles() -> None:
    bins = Bins.seen(np.arange(1, 102), [1], [1], most=5)
    assert bins.points[0].tolist() == [1, 26, 51, 76, 101]
    assert bins.borders[0].tolist() == pytest.approx([0, *np.sqrt([1 * 26, 26 * 51, 51 * 76, 76 * 101])])


def test_borders_ascend_from_0_and_each_bin_has_a_point() -> None:
    sizes, nodes, ppn = HYDRA.borders
    with pytest.raises(OnlineError, match="borders of nodes must ascend from 0"):
        Bins((sizes, nodes[1:], ppn), HYDRA.points)
    with pytest.raises(OnlineError, match="nodes has 16 bins and 17 points"):
        Bins((sizes, nodes[:-1], ppn), HYDRA.points)


def test_what_lies_between_seen_bins_or_next_to_them_counts_as_seen() -> None:
    bins = Bins.regular(16, 8)
    near = bins.near([64, 64], [4, 12], [8, 8]).reshape(bins.shape)
    size = bins.places([64], [4], [8])[0][0]
    assert near[size, :, 8].tolist() == [2 < n < 14 for n in range(17)]
    assert not near[size, 8, :7].any()
