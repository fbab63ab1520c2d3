"""How many errors C4.5 predicts for unseen cases: a pessimistic estimate from those it saw."""

import math

import numpy as np

from dashboard.decisions.grown.c45.kernel import kernel

_CONFIDENCES = np.array([0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1], dtype=np.float32)
_QUANTILES = np.array([4, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0], dtype=np.float32)


def squared_quantile(confidence: np.float32) -> np.float32:
    """Square the normal quantile of a confidence level (0 to 1), interpolated in the table of Release 8."""
    upper = max(int(np.searchsorted(_CONFIDENCES, confidence)), 1)
    rise = _QUANTILES[upper] - _QUANTILES[upper - 1]
    quantile = np.float32(
        _QUANTILES[upper - 1]
        + rise * (confidence - _CONFIDENCES[upper - 1]) / (_CONFIDENCES[upper] - _CONFIDENCES[upper - 1])
    )
    return np.float32(quantile * quantile)


@kernel
def extra_errors(cases: np.float32, errors: np.float32, confidence: np.float32, squared: np.float32) -> np.float32:
    """Give the errors to add to those seen: upper confidence limit of a binomial share.

    Parameters
    ----------
    cases, errors
        Training cases at a leaf, and how many of them it gets wrong.
    confidence, squared
        Confidence level from 0 to 1, and `squared_quantile` of it.
    """
    if errors >= np.float64(0.9999):
        return _of_errors(cases, errors, squared)
    count = np.float64(cases)
    none = np.float32(count * (1 - math.exp(math.log(np.float64(confidence)) / count)))
    if errors < np.float64(1e-6):
        return none
    return np.float32(none + np.float32(errors * np.float32(_of_errors(cases, np.float32(1), squared) - none)))


@kernel
def _of_errors(cases: np.float32, errors: np.float32, squared: np.float32) -> np.float32:
    seen = errors + np.float64(0.5)
    if seen >= cases:
        return np.float32(np.float64(0.67) * np.float32(cases - errors))
    spread = seen * (1 - seen / cases) + squared / np.float32(4)
    upper = seen + squared / np.float32(2) + math.sqrt(squared * spread)
    share = np.float32(upper / np.float32(cases + squared))
    return np.float32(np.float32(cases * share) - errors)
