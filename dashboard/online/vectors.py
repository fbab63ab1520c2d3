"""From predicted times to probabilities: performance vectors, caps and prefix sums.

Source: Steiner, sections 4.5.2 (Definition 4.5.1) and 4.6.2 (Table 4.2). The performance of a method in a bin is
1 / time; divided by their sum performances are probabilities. The source caps these to [3 %, 50 %] without saying how
the sum is restored: ``clip`` divides by it again, ``exact`` scales those that are free until all lie inside.
"""

from typing import Any

import numpy as np

from dashboard.domain.arrays import BoolArray, Float32, FloatArray, IntArray
from dashboard.online.settings import Learning

_ROUNDS = 200


def probabilities(
    performance: Any,
    allowed: Any = None,
    *,
    floor: float = Learning.floor,
    cap: float = Learning.cap,
    exact: bool = False,
) -> FloatArray:
    """Probabilities of methods.

    Parameters
    ----------
    performance
        ``(…, method)``, positive.
    allowed
        Where it is False the probability is 0; of the same shape.
    floor, cap
        Between which probabilities are kept; the floor is at most 1 / (2 · allowed methods).
    exact
        Whether they keep to both after their sum is made 1 again.

    Returns
    -------
    float64 of the same shape; sums are 1, or 0 where nothing is allowed
    """
    given = np.asarray(performance, dtype=np.float64)
    there = np.ones(given.shape, dtype=np.bool_) if allowed is None else np.broadcast_to(allowed, given.shape)
    count = there.sum(axis=-1, keepdims=True)
    low = np.minimum(floor, 1 / (2 * np.maximum(count, 1)))
    high = np.maximum(cap, 1 / np.maximum(count, 1))
    raw = _normal(np.where(there, given, 0.0))
    if exact:
        return _kept(raw, there, low, high)
    return _normal(np.where(there, np.clip(raw, low, high), 0.0))


def _normal(weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0))


def _kept(raw: FloatArray, there: BoolArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Find for each vector the scale at which what is clipped sums to 1, by bisection: the sum rises with the scale."""
    below, above = np.zeros(low.shape), np.full(low.shape, 1.0)
    most = np.where(there & (raw > 0), raw, np.inf).min(axis=-1, keepdims=True)
    above = np.maximum(above, high / np.where(np.isfinite(most), most, 1.0))
    for _ in range(_ROUNDS):
        middle = (below + above) / 2
        total = np.where(there, np.clip(raw * middle, low, high), 0.0).sum(axis=-1, keepdims=True)
        below, above = np.where(total < 1, middle, below), np.where(total < 1, above, middle)
    return np.where(there, np.clip(raw * above, low, high), 0.0)


def prefix(probability: Any) -> Float32:
    """Prefix sums over methods as the model file has them; from the last method that can be chosen on they are 1."""
    given = np.asarray(probability, dtype=np.float64)
    sums = np.cumsum(given, axis=-1).astype(np.float32)
    # What comes after it has nothing left: a number below 1 never reaches it.
    able = given > 0
    after: BoolArray = np.cumsum(able[..., ::-1], axis=-1)[..., ::-1] - able == 0
    return np.where(after & (given.sum(axis=-1, keepdims=True) > 0), np.float32(1), np.minimum(sums, np.float32(1)))


def chosen(sums: Any, draw: Any) -> IntArray:
    """The first method whose prefix sum is above the draw; -1 where none can be chosen.

    Parameters
    ----------
    sums
        ``(…, method)`` as `prefix` gives them.
    draw
        ``(…)`` in [0, 1).
    """
    above = np.asarray(sums, dtype=np.float64) > np.asarray(draw, dtype=np.float64)[..., None]
    return np.where(above.any(axis=-1), above.argmax(axis=-1), -1).astype(np.int64)
