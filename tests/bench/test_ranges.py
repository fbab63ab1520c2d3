"""Grids of sizes in words, and the order from coarse to fine."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.campaigns.ranges import levels, parse_size, parse_sizes
from dashboard.benchmarks.errors import PlanError


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("2-5", (2, 3, 4, 5)),
        ("1-1KiB:x4", (1, 4, 16, 64, 256, 1024)),
        ("4-100:x1.5", (4, 6, 9, 14, 20, 30, 46, 68)),
        ("2-9:+3", (2, 5, 8)),
        ("1-100:3", (1, 10, 100)),
        ("10-1000:3", (10, 100, 1000)),
        ("8,1KiB,8", (8, 1024)),
        ("1M", (1 << 20,)),
        ("2-3,16B", (2, 3, 16)),
        ("0,1KiB", (0, 1024)),
    ],
)
def test_a_grid_is_said_in_a_few_words(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "5-2",
        "1-",
        "1-8:x1",
        "1-8:+0",
        "0-8:x2",
        "1-8:1",
        "1-1GiB",
        "8QB",
        "-3",
        "1-8:",
        "1-8:y",
        "1-8:x",
        "4-64:x1.0001",
    ],
)
def test_what_is_no_grid_is_refused_with_what_would_be(text: str) -> None:
    with pytest.raises(PlanError, match=r"right would be|right is|write 8192|below its start|use steps"):
        parse_sizes(text)


@given(st.integers(0, 2**30))
def test_a_number_is_its_own_size(size: int) -> None:
    assert parse_size(str(size)) == size
    assert parse_size(f"{size}KiB") == size * 1024


@given(st.integers(1, 200))
def test_each_level_halves_the_gaps_of_the_ones_before(count: int) -> None:
    depths = levels(count)
    assert depths[0] == depths[-1] == min(depths) == 0
    for level in range(max(depths) + 1):
        places = [place for place, depth in enumerate(depths) if depth <= level]
        widest = max((b - a for a, b in pairwise(places)), default=0)
        assert widest <= max(1, -(-(count - 1) // 2**level))
