"""Medians of raw repetitions."""

import numpy as np
import pytest

from dashboard.decisions.measured.samples import summed_up


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_repetitions_are_summed_up_as_loaders_do(count: int) -> None:
    samples = np.random.default_rng(count).random((2, 5))
    samples[:, count:] = np.nan
    for width in (count, 5):
        median, deviation, number = summed_up(samples[:, :width])
        assert median == pytest.approx(np.median(samples[:, :count], axis=1))
        assert number.tolist() == [count, count]
        if count > 1:
            assert deviation == pytest.approx(samples[:, :count].std(axis=1, ddof=1))
        else:
            assert np.isnan(deviation).all()
    nothing = summed_up(np.full((1, 3), np.nan))
    assert np.isnan(nothing).all()
