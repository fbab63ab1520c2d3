"""Predicted errors by figures of Quinlan's book (1993, section 4.2: the votes tree, confidence level 25 %)."""

import numpy as np
import pytest

from dashboard.decisions.grown.c45.predicted import extra_errors, squared_quantile


def limit(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Upper limit U of the share of errors."""
    share = np.float32(confidence)
    extra = extra_errors(np.float32(cases), np.float32(errors), share, squared_quantile(share))
    return float(errors + extra) / cases


@pytest.mark.parametrize(("cases", "errors", "share"), [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)])
def test_the_limits_that_the_book_gives(cases: int, errors: int, share: float) -> None:
    assert limit(cases, errors) == pytest.approx(share, abs=6e-4)


def test_a_leaf_replaces_the_subtree_of_the_book() -> None:
    """6 U(0, 6) + 9 U(0, 9) + 1 U(0, 1) = 3.273 errors for the subtree, 16 U(1, 16) = 2.512 for the leaf."""
    subtree = 6 * limit(6, 0) + 9 * limit(9, 0) + limit(1, 0)

    assert subtree == pytest.approx(3.273, abs=2e-3)
    assert 16 * limit(16, 1) == pytest.approx(2.512, abs=1e-2)


@pytest.mark.parametrize(("percent", "quantile"), [(25, 0.6925), (15, 1.06), (5, 1.65), (0.1, 3.09), (100, 0.0)])
def test_the_quantile_is_interpolated(percent: float, quantile: float) -> None:
    assert squared_quantile(np.float32(percent / 100)) == pytest.approx(quantile**2, rel=1e-5)


def test_more_errors_or_less_confidence_give_a_higher_limit() -> None:
    shares = [limit(40, errors) for errors in np.linspace(0, 30, 61)]

    assert shares == sorted(shares)
    assert limit(40, 3, 0.05) > limit(40, 3, 0.25) > limit(40, 3, 0.75)


def test_where_nearly_all_are_wrong_two_thirds_of_the_rest_are_added() -> None:
    assert limit(8, 7.6) == pytest.approx((7.6 + 0.67 * 0.4) / 8, rel=1e-5)
