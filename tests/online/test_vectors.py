"""Probabilities and the choice by a draw: Table 4.2 of the source, caps, and what cannot be chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dashboard.online.draws import SAMPLED, draws, mixed, stream
from dashboard.online.vectors import chosen, prefix, probabilities

TABLE_4_2 = [6.0, 4, 2, 2, 4, 2]
VECTORS = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60)


def test_the_example_of_the_source() -> None:
    share = probabilities(TABLE_4_2)
    assert share.tolist() == pytest.approx([0.3, 0.2, 0.1, 0.1, 0.2, 0.1])
    sums = prefix(share)
    assert sums.tolist() == pytest.approx([0.3, 0.5, 0.6, 0.7, 0.9, 1.0])
    assert chosen(sums, 0.645) == 3


@given(performance=VECTORS, exact=st.booleans())
def test_probabilities_sum_to_1(performance: list[float], *, exact: bool) -> None:
    assert probabilities(performance, exact=exact).sum() == pytest.approx(1)


@given(VECTORS)
def test_exact_ones_keep_to_both_ends(performance: list[float]) -> None:
    share = probabilities(performance, exact=True)
    count = len(performance)
    low, high = min(0.03, 1 / (2 * count)), max(0.5, 1 / count)
    assert (share >= low - 1e-9).all()
    assert (share <= high + 1e-9).all()


@given(VECTORS, st.data())
def test_what_is_not_allowed_is_never_chosen(performance: list[float], data: st.DataObject) -> None:
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(performance), max_size=len(performance))))
    sums = prefix(probabilities(performance, allowed))
    numbers = np.append(np.linspace(0, 1, 65, endpoint=False), 1 - 2**-53)
    choices = chosen(np.broadcast_to(sums, (66, sums.size)), numbers)
    if allowed.any():
        assert allowed[choices].all()
    else:
        assert (choices == -1).all()


def test_draws_choose_each_method_as_often_as_its_probability_says() -> None:
    share = probabilities(TABLE_4_2)
    choices = chosen(np.broadcast_to(prefix(share), (100_000, 6)), draws(stream(7, 3), 0, np.arange(100_000)))
    assert chisquare(np.bincount(choices, minlength=6), share * 100_000).pvalue > 0.001


def test_draws_are_splitmix64() -> None:
    # First outputs for the state 0 (and so on by the increment): the reference implementation by S. Vigna.
    golden = 0x9E3779B97F4A7C15
    states = np.array([0, golden, 2 * golden % 2**64], dtype=np.uint64)
    assert mixed(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_calls_collectives_communicators_and_purposes_have_draws_of_their_own() -> None:
    calls = np.arange(1000)
    several = [draws(stream(1, 1), 0, calls), draws(stream(1, 1), 1, calls), draws(stream(1, 2), 0, calls)]
    several += [draws(stream(2, 1), 0, calls), draws(stream(1, 1), 0, calls, SAMPLED)]
    assert np.abs(np.corrcoef(several) - np.eye(5)).max() < 0.12
    assert len({row[0] for row in several}) == 5


def test_a_floor_leaves_half_of_the_tries_to_what_is_faster_and_all_are_divided_by_their_sum() -> None:
    # 1000 of 1003 parts, and three methods at an eighth each: half of an equal share, however high the floor.
    shares = probabilities([[1000.0, 1.0, 1.0, 1.0]], floor=0.4, cap=1)[0]
    assert shares == pytest.approx(np.array([1000 / 1003, 0.125, 0.125, 0.125]) / (1000 / 1003 + 0.375))
